//! Decides which of PDNN's readers a file is for.

/// The formats of files that PDNN reads, and numpy's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataFormat {
    /// `.pfile`
    PFile,
    /// `.pickle` or `.pkl`; numpy's `.npy` is read by the same reader.
    Pickle,
    /// `.npz`
    Npz,
    /// `.scp`
    Kaldi,
}

/// Extensions of other files, whatever stands before them.
const OTHERS: [&str; 7] = [".toml", ".json", ".cntk", ".config", ".ctf", ".ark", ".mlf"];

impl DataFormat {
    /// The format of a file by its name, which may be a pattern. The extension decides; `.gz`,
    /// `.bz2` or `.zst` may stand behind it. If it is unknown, the last known extension inside the
    /// file's name decides: `train.pfile.3.gz` is a `PFile`. Directories do not count.
    ///
    /// ```
    /// use seqfeed::data_spec::DataFormat;
    ///
    /// assert_eq!(DataFormat::of("a.pkl/train.pfile.gz"), Some(DataFormat::PFile));
    /// assert_eq!(DataFormat::of("train.pfile.*.gz"), Some(DataFormat::PFile));
    /// assert_eq!(DataFormat::of("x.pfile.pkl"), Some(DataFormat::Pickle));
    /// assert_eq!(DataFormat::of("x.pfiles"), None);
    /// assert_eq!(DataFormat::of("x.pfile.toml"), None);
    /// ```
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let name = name.rsplit('/').next().unwrap_or_default();
        let plain = [".gz", ".bz2", ".zst"].iter().find_map(|end| name.strip_suffix(end));
        let plain = plain.unwrap_or(name);
        if OTHERS.iter().any(|end| plain.ends_with(end)) {
            return None;
        }
        let words = plain.split(['.', '*', '?', '[', ']']).skip(1);
        words.filter_map(Self::of_extension).last()
    }

    fn of_extension(extension: &str) -> Option<Self> {
        match extension {
            "pfile" => Some(Self::PFile),
            "pickle" | "pkl" | "npy" => Some(Self::Pickle),
            "npz" => Some(Self::Npz),
            "scp" => Some(Self::Kaldi),
            _ => None,
        }
    }
}

//! What is written, and under which names.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use seqfeed_core::{Error, Result};
use seqfeed_io::{WxFilename, name_from_text, name_to_text};
use seqfeed_kaldi::Wspecifier;

/// The formats that corpora are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TargetFormat {
    /// Kaldi's tables.
    Kaldi,
    /// HTK's files: an archive of frames, a script, labels, states.
    Htk,
    /// HTK's files, with one parameter file an utterance.
    HtkFiles,
    /// CNTK's text format.
    Ctf,
    /// An ICSI PFile.
    PFile,
    /// A pickle of (features, labels).
    Pickle,
    /// A `.npy` file.
    Npy,
    /// A `.npz` file.
    Npz,
    /// PDNN's alignments.
    Alignments,
    /// A Parquet file (needs the cargo feature `arrow`).
    Parquet,
    /// An Arrow IPC file (needs the cargo feature `arrow`).
    Arrow,
}

impl TargetFormat {
    /// Names, and the ends of file names (before `.gz`) that stand for them.
    const ALL: [(Self, &'static str, &'static [&'static str]); 11] = [
        (Self::Kaldi, "kaldi", &[]),
        (Self::Htk, "htk", &["htk"]),
        (Self::HtkFiles, "htk-files", &[]),
        (Self::Ctf, "ctf", &["ctf"]),
        (Self::PFile, "pfile", &["pfile"]),
        (Self::Pickle, "pickle", &["pickle", "pkl"]),
        (Self::Npy, "npy", &["npy"]),
        (Self::Npz, "npz", &["npz"]),
        (Self::Alignments, "ali", &["ali"]),
        (Self::Parquet, "parquet", &["parquet"]),
        (Self::Arrow, "arrow", &["arrow", "feather", "ipc"]),
    ];

    /// The name that stands before a colon: `htk-files`.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(format, ..)| *format == self).map_or("", |(_, name, _)| name)
    }

    /// Whether it is several files, named by what they begin with.
    pub(super) fn is_family(self) -> bool {
        matches!(self, Self::Kaldi | Self::Htk | Self::HtkFiles)
    }

    /// Whether it is a table of rows, with a column a stream.
    #[must_use]
    pub fn is_columnar(self) -> bool {
        matches!(self, Self::Parquet | Self::Arrow)
    }

    /// Whether the file may be compressed as a whole.
    fn packs(self) -> bool {
        matches!(self, Self::Ctf | Self::Pickle | Self::Npy | Self::Alignments)
    }
}

/// What is written: a format and a name.
///
/// | name | what |
/// | --- | --- |
/// | `ark:`, `ark,scp:`, `ark,t:` ... | a table of Kaldi's, of one stream |
/// | `x.ctf`, `x.pfile`, `x.pickle`, `x.pkl`, `x.npy`, `x.npz`, `x.ali` | a file; with `.gz` behind it, compressed |
/// | `x.parquet`, `x.arrow` (or `.feather`, `.ipc`) | a file of rows, with a column a stream |
/// | `x.htk` | `x.htk`, `x.scp`, and with labels `x.mlf` and `x.states` |
/// | `FORMAT:NAME` | the same under any name; `kaldi:x` (`x.STREAM.ark`, `x.STREAM.scp`), `htk-files:x` (`x/KEY.htk`, `x.scp`, ...) |
///
/// ```
/// use seqfeed::{Target, TargetFormat};
///
/// assert_eq!(Target::parse("out.pickle.gz")?.format(), TargetFormat::Pickle);
/// assert_eq!(Target::parse("ark,scp:f.ark,f.scp")?.format(), TargetFormat::Kaldi);
/// assert_eq!(Target::parse("htk-files:out")?.format(), TargetFormat::HtkFiles);
/// # Ok::<(), seqfeed::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    format: TargetFormat,
    /// A wspecifier; what a family's names begin with; or the name of a file.
    name: String,
    wspecifier: bool,
}

impl Target {
    /// Reads a name.
    ///
    /// # Errors
    ///
    /// Fails if it does not tell a format, or is no wspecifier that can be written.
    pub fn parse(name: &(impl AsRef<OsStr> + ?Sized)) -> Result<Self> {
        let text = &*name_to_text(name);
        let (before, behind) = text.split_once(':').unwrap_or(("", text));
        if before.split(',').any(|word| word == "ark" || word == "scp") {
            Wspecifier::parse(&name_from_text(text))?;
            return Ok(Self {
                format: TargetFormat::Kaldi,
                name: text.to_owned(),
                wspecifier: true,
            });
        }
        let named = TargetFormat::ALL.iter().find(|(_, name, _)| *name == before);
        let (format, name) = match named {
            Some(&(format, ..)) => (format, behind),
            None => (Self::by_end(text)?, text),
        };
        if name.is_empty() {
            return Err(Error::usage(format!("{text}: there is no name behind the colon")));
        }
        if is_packed(name) && !format.packs() {
            return Err(Error::usage(format!("{} is not written compressed", format.name()))
                .in_file(name)
                .with_help("leave .gz out"));
        }
        let stem = match format {
            TargetFormat::Htk => name.strip_suffix(".htk").unwrap_or(name),
            _ => name,
        };
        if format.is_family() && (stem == "-" || stem.ends_with('/') || stem.starts_with('|')) {
            return Err(Error::usage(format!("{text}: several files begin with this name"))
                .with_help("give what their names begin with, such as out/train"));
        }
        if !format.is_family() {
            WxFilename::parse(&name_from_text(name))?;
        }
        Ok(Self { format, name: stem.to_owned(), wspecifier: false })
    }

    fn by_end(text: &str) -> Result<TargetFormat> {
        let lower = text.to_ascii_lowercase();
        let name = lower.strip_suffix(".gz").unwrap_or(&lower);
        let end = Path::new(name).extension().and_then(OsStr::to_str).unwrap_or_default();
        let known = TargetFormat::ALL.iter().find(|(.., ends)| ends.contains(&end));
        if let Some(&(format, ..)) = known {
            return Ok(format);
        }
        let error = Error::usage(format!("{text}: the name does not tell what shall be written"));
        Err(error.with_help(match end {
            "ark" => format!("for an archive of Kaldi's, write ark:{text}"),
            "scp" => {
                "for an archive and a script file of Kaldi's, write ark,scp:NAME.ark,NAME.scp; \
                      for HTK's files, NAME.htk"
                    .to_owned()
            }
            "mlf" => {
                "labels in a master label file come with HTK's other files: NAME.htk".to_owned()
            }
            "arrows" => "streams of Arrow are read; what is written is its file format: NAME.arrow"
                .to_owned(),
            _ => {
                "names end with .ctf, .pfile, .pickle, .npy, .npz, .ali, .htk, .parquet or .arrow, \
                  or begin with ark:, ark,scp:, kaldi:, htk-files: or another format and a colon"
                    .to_owned()
            }
        }))
    }

    /// The format.
    #[must_use]
    pub fn format(&self) -> TargetFormat {
        self.format
    }

    /// The file, what names of a family begin with, or the wspecifier, as text
    /// ([`name_to_text`](seqfeed_io::name_to_text)).
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The wspecifier, if it is one.
    #[must_use]
    pub fn wspecifier(&self) -> Option<&str> {
        self.wspecifier.then_some(self.name.as_str())
    }

    /// Whether values stand as Kaldi's text, which has seven digits.
    pub(super) fn is_kaldi_text(&self) -> bool {
        self.wspecifier().is_some_and(|name| {
            Wspecifier::parse(&name_from_text(name)).is_ok_and(|table| table.text)
        })
    }

    /// Whether it goes to standard output.
    #[must_use]
    pub fn is_standard_output(&self) -> bool {
        match self.wspecifier() {
            Some(name) => is_to_standard_output(name),
            None => WxFilename::parse(&name_from_text(&self.name))
                .is_ok_and(|name| name == WxFilename::Stdout),
        }
    }

    /// The name of the file that describes what was written, for those who read it.
    #[must_use]
    pub fn description_file(&self) -> Option<PathBuf> {
        self.file_beside("toml")
    }

    /// A file beside what is written: its name, with another end.
    pub(super) fn file_beside(&self, end: &str) -> Option<PathBuf> {
        let name = match self.wspecifier() {
            Some(name) => {
                let table = Wspecifier::parse(&name_from_text(name)).ok()?;
                table.script.or(table.archive)?
            }
            None => name_from_text(&self.name),
        };
        let WxFilename::File(path) = WxFilename::parse(&name).ok()? else { return None };
        let name = name_to_text(path.file_name()?);
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let stem = match self.format.is_family() && !self.wspecifier {
            true => name,
            false => name.rsplit_once('.').map_or(name, |(stem, _)| stem),
        };
        // The number of a shard is no part of what they have in common.
        let stem = stem.replace(".JOB", "").replace("JOB", "");
        let stem = if stem.is_empty() { "corpus" } else { stem.as_str() };
        Some(path.with_file_name(name_from_text(&format!("{stem}.{end}"))))
    }

    /// The same for shard `number` (from 0) of `count`.
    pub(super) fn shard(&self, number: usize, count: usize) -> Result<Self> {
        if count == 1 {
            return Ok(self.clone());
        }
        let name = match self.wspecifier() {
            Some(name) => numbered_wspecifier(name, number, count)?,
            None => numbered(&self.name, number, count, !self.format.is_family())?,
        };
        Ok(Self { name, ..self.clone() })
    }
}

/// Whether something of a table goes to standard output: the archive, or its script file.
pub(super) fn is_to_standard_output(wspecifier: &str) -> bool {
    let Ok(table) = Wspecifier::parse(&name_from_text(wspecifier)) else { return false };
    let script = table.archive.is_some().then_some(table.script).flatten();
    let mut names = table.archive.into_iter().chain(script);
    names.any(|name| WxFilename::parse(&name).is_ok_and(|name| name == WxFilename::Stdout))
}

fn is_packed(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(".gz")
}

/// A wspecifier for one of several tables: `JOB` in its names becomes the number, from 1, as with
/// Kaldi's scripts; without `JOB` the number stands before the ends of the names.
pub(crate) fn numbered_wspecifier(text: &str, number: usize, count: usize) -> Result<String> {
    let table = Wspecifier::parse(&name_from_text(text))?;
    let (words, names) = text.split_once(':').unwrap_or_default();
    if names.contains("JOB") {
        return Ok(format!("{words}:{}", names.replace("JOB", &(number + 1).to_string())));
    }
    if table.archive.is_none() {
        return Err(Error::usage(format!("{text}: a script file alone says where objects go"))
            .with_help("write an archive (ark: or ark,scp:)"));
    }
    let names: Vec<String> = [table.archive, table.script]
        .into_iter()
        .flatten()
        .map(|name| numbered(&name_to_text(name), number, count, true))
        .collect::<Result<_>>()?;
    Ok(format!("{words}:{}", names.join(",")))
}

/// The name of one of several files: `out-00003-of-00008.ctf`.
fn numbered(name: &str, number: usize, count: usize, with_end: bool) -> Result<String> {
    if !matches!(WxFilename::parse(&name_from_text(name))?, WxFilename::File(_)) {
        return Err(Error::usage(format!("`{name}` is no file, so there cannot be several of it"))
            .with_help("give the name of a file, or leave out --shards"));
    }
    let number = format!("{:05}-of-{count:05}", number + 1);
    if name.contains("JOB") {
        return Ok(name.replace("JOB", &number));
    }
    let start = name.rfind('/').map_or(0, |slash| slash + 1);
    let packed = if with_end && is_packed(name) { 3 } else { 0 };
    let end = match name[start..name.len() - packed].rfind('.') {
        Some(dot) if with_end && dot > 0 => start + dot,
        _ => name.len(),
    };
    Ok(format!("{}-{number}{}", &name[..end], &name[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_formats() {
        let cases = [
            ("a/b.ctf", TargetFormat::Ctf, "a/b.ctf"),
            ("b.CTF.gz", TargetFormat::Ctf, "b.CTF.gz"),
            ("b.pkl", TargetFormat::Pickle, "b.pkl"),
            ("pickle:-", TargetFormat::Pickle, "-"),
            ("b.htk", TargetFormat::Htk, "b"),
            ("b.parquet", TargetFormat::Parquet, "b.parquet"),
            ("b.feather", TargetFormat::Arrow, "b.feather"),
            ("kaldi:a/b", TargetFormat::Kaldi, "a/b"),
            ("ark,t:-", TargetFormat::Kaldi, "ark,t:-"),
            ("ctf:| gzip -c > x", TargetFormat::Ctf, "| gzip -c > x"),
        ];
        for (text, format, name) in cases {
            let target = Target::parse(text).unwrap();
            assert_eq!((target.format(), target.name()), (format, name), "{text}");
        }
        for text in [
            "b",
            "b.ark",
            "b.scp",
            "b.mlf",
            "b.pfile.gz",
            "b.parquet.gz",
            "b.arrows",
            "kaldi:",
            "htk:a/",
            "ark,ark:b",
            "kaldi:-",
        ] {
            let error = Target::parse(text).unwrap_err();
            assert!(error.is_usage(), "{text}: {error}");
        }
        assert!(Target::parse("ark:-").unwrap().is_standard_output());
        assert!(!Target::parse("ark:b").unwrap().is_standard_output());
    }

    #[test]
    fn shards_have_numbers() {
        let name = |text: &str| Target::parse(text).and_then(|t| t.shard(2, 8)).map(|t| t.name);
        assert_eq!(name("a.b/out.ctf").unwrap(), "a.b/out-00003-of-00008.ctf");
        assert_eq!(name("a.b/out.ctf.gz").unwrap(), "a.b/out-00003-of-00008.ctf.gz");
        assert_eq!(name("ctf:a.b/out").unwrap(), "a.b/out-00003-of-00008");
        assert_eq!(name("kaldi:x.y").unwrap(), "x.y-00003-of-00008");
        let both = "ark,scp:f.ark,f.scp";
        assert_eq!(name(both).unwrap(), "ark,scp:f-00003-of-00008.ark,f-00003-of-00008.scp");
        assert_eq!(name("ark,scp:f.JOB.ark,f.JOB.scp").unwrap(), "ark,scp:f.3.ark,f.3.scp");
        assert!(name("ark:-").unwrap_err().is_usage());
        assert!(name("scp:x.scp").unwrap_err().is_usage());
    }

    #[test]
    fn descriptions_stand_beside() {
        let file = |text: &str| Target::parse(text).unwrap().description_file();
        assert_eq!(file("a/b.ctf.gz"), Some("a/b.toml".into()));
        assert_eq!(file("kaldi:a/b.c"), Some("a/b.c.toml".into()));
        assert_eq!(file("a/b.htk"), Some("a/b.toml".into()));
        assert_eq!(file("ark,scp:x/f.ark,y/f.scp"), Some("y/f.toml".into()));
        assert_eq!(file("ark:x/f.JOB.ark"), Some("x/f.toml".into()));
        assert_eq!(file("ark:-"), None);
    }
}

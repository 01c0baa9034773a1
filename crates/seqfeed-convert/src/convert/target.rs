//! The target of a conversion: format and names.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use seqfeed_core::{Error, Result};
use seqfeed_io::{WxFilename, name_from_text, name_to_text};

use seqfeed::written_format;
use seqfeed::{Format, is_packed};

/// The target of a conversion: a format and a name.
///
/// | name | target |
/// | --- | --- |
/// | `ark:`, `ark,scp:`, `ark,t:` ... | a table of Kaldi's, of one stream |
/// | `x.ctf`, `x.pfile`, `x.pickle`, `x.pkl`, `x.npy`, `x.npz`, `x.ali` | a file; with `.gz` behind it, compressed |
/// | `x.parquet`, `x.arrow` (or `.feather`, `.ipc`) | a file of rows, with a column a stream |
/// | `x.htk` | `x.htk`, `x.scp`, and with labels `x.mlf` and `x.states` |
/// | `FORMAT:NAME` | the same under any name; `kaldi:x` (`x.STREAM.ark`, `x.STREAM.scp`), `htk-files:x` (`x/KEY.htk`, `x.scp`, ...) |
///
/// ```
/// use seqfeed_convert::Target;
///
/// assert_eq!(Target::parse("out.pickle.gz")?.format().name(), "pickle");
/// assert_eq!(Target::parse("ark,scp:f.ark,f.scp")?.format().name(), "kaldi");
/// assert_eq!(Target::parse("htk-files:out")?.format().name(), "htk-files");
/// # Ok::<(), seqfeed::Error>(())
/// ```
#[derive(Clone)]
pub struct Target {
    format: &'static dyn Format,
    /// The name as the format takes it: a wspecifier, a prefix of several files, a file.
    name: String,
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.format.name(), self.name)
    }
}

impl PartialEq for Target {
    fn eq(&self, other: &Self) -> bool {
        (self.format.name(), &self.name) == (other.format.name(), &other.name)
    }
}

impl Target {
    /// Parses a name.
    ///
    /// # Errors
    ///
    /// Fails if the name does not tell a format, or if nothing can be written to it.
    pub fn parse(name: &(impl AsRef<OsStr> + ?Sized)) -> Result<Self> {
        let text = &*name_to_text(name);
        let Some((format, name)) = written_format(text)? else { return Err(unknown(text)) };
        if name.is_empty() {
            return Err(Error::usage(format!("{text}: there is no name behind the colon")));
        }
        let capabilities = format.capabilities();
        if is_packed(name) && !capabilities.packed && !capabilities.file_a_stream {
            return Err(Error::usage(format!("{} is not written compressed", format.name()))
                .in_file(name)
                .with_help("leave .gz out"));
        }
        let name = format.check_target(name)?.to_owned();
        Ok(Self { format, name })
    }

    /// The format.
    #[must_use]
    pub fn format(&self) -> &'static dyn Format {
        self.format
    }

    /// The file, the prefix of several files, or the wspecifier, as text
    /// ([`name_to_text`](seqfeed_io::name_to_text)).
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it goes to standard output.
    #[must_use]
    pub fn is_standard_output(&self) -> bool {
        self.stands_for_stdout(&self.name)
    }

    /// Whether a name in its format means standard output.
    pub(super) fn stands_for_stdout(&self, name: &str) -> bool {
        let stands =
            |files: Vec<WxFilename>| files.iter().any(|file| file.location().is_standard());
        self.format.files(name).is_ok_and(stands)
    }

    /// The name of the file that describes the written files, for readers.
    #[must_use]
    pub fn description_file(&self) -> Option<PathBuf> {
        self.file_beside("toml")
    }

    /// A file beside the target: its name with another ending.
    pub(super) fn file_beside(&self, end: &str) -> Option<PathBuf> {
        let name = self.format.main_file(&self.name)?;
        let target = WxFilename::parse(&name).ok()?;
        let path = target.path()?;
        let name = name_to_text(path.file_name()?);
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let stem = match self.format.capabilities().several_files {
            true => name,
            false => name.rsplit_once('.').map_or(name, |(stem, _)| stem),
        };
        // The number of a shard does not belong to a name for all shards.
        let stem = stem.replace(".JOB", "").replace("JOB", "");
        let stem = if stem.is_empty() { "corpus" } else { stem.as_str() };
        Some(path.with_file_name(name_from_text(&format!("{stem}.{end}"))))
    }

    /// Its name as table `number` (from 0) of `count`, as bytes.
    pub(crate) fn numbered_table(&self, number: usize, count: usize) -> Result<OsString> {
        self.format.numbered(&self.name, number, count).map(|text| name_from_text(&text))
    }

    /// The same for shard `number` (from 0) of `count`.
    pub(super) fn shard(&self, number: usize, count: usize) -> Result<Self> {
        let name = self.numbered(&self.name, number, count)?;
        Ok(Self { name, ..self.clone() })
    }

    /// A name in its format for shard `number` (from 0) of `count`.
    pub(super) fn numbered(&self, name: &str, number: usize, count: usize) -> Result<String> {
        match count {
            1 => Ok(name.to_owned()),
            _ => self.format.numbered(name, number, count),
        }
    }
}

/// The error for a name that does not tell a format.
fn unknown(text: &str) -> Error {
    let lower = text.to_ascii_lowercase();
    let name = lower.strip_suffix(".gz").unwrap_or(&lower);
    let end = Path::new(name).extension().and_then(OsStr::to_str).unwrap_or_default();
    let error = Error::usage(format!("{text}: the name does not tell what shall be written"));
    error.with_help(match end {
        "ark" => format!("for an archive of Kaldi's, write ark:{text}"),
        "scp" => "for an archive and a script file of Kaldi's, write ark,scp:NAME.ark,NAME.scp; \
                  for HTK's files, NAME.htk"
            .to_owned(),
        "mlf" => "labels in a master label file come with HTK's other files: NAME.htk".to_owned(),
        "arrows" => {
            "streams of Arrow are read; what is written is its file format: NAME.arrow".to_owned()
        }
        _ => "names end with .ctf, .pfile, .pickle, .npy, .npz, .ali, .htk, .parquet or .arrow, \
             or begin with ark:, ark,scp:, kaldi:, htk-files: or another format and a colon"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_formats() {
        let cases = [
            ("a/b.ctf", "ctf", "a/b.ctf"),
            ("b.CTF.gz", "ctf", "b.CTF.gz"),
            ("b.pkl", "pickle", "b.pkl"),
            ("pickle:-", "pickle", "-"),
            ("b.htk", "htk", "b"),
            ("b.parquet", "parquet", "b.parquet"),
            ("b.feather", "arrow", "b.feather"),
            ("kaldi:a/b", "kaldi", "a/b"),
            ("ark,t:-", "kaldi", "ark,t:-"),
            ("ctf:| gzip -c > x", "ctf", "| gzip -c > x"),
        ];
        let is_built = |format| cfg!(feature = "arrow") || !matches!(format, "parquet" | "arrow");
        for (text, format, name) in cases.into_iter().filter(|(_, format, _)| is_built(*format)) {
            let target = Target::parse(text).unwrap();
            assert_eq!((target.format().name(), target.name()), (format, name), "{text}");
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

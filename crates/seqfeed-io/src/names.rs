//! Kaldi's extended filenames.
//!
//! The rules and their order are those of `ClassifyRxfilename` and `ClassifyWxfilename` in Kaldi's
//! `util/kaldi-io.cc`.

use std::fmt;
use std::path::{Path, PathBuf};

use seqfeed_core::{Error, Result};

use crate::specifier::looks_like_specifier;

/// A name to read from (Kaldi's *rxfilename*).
///
/// [`Display`](fmt::Display) writes it as it was parsed, except that standard input is always `-`.
///
/// ```
/// use seqfeed_io::RxFilename;
///
/// assert_eq!(RxFilename::parse("-").unwrap(), RxFilename::Stdin);
/// assert_eq!(RxFilename::parse("cat x |").unwrap(), RxFilename::Pipe("cat x ".into()));
/// assert_eq!(RxFilename::parse("x.ark:17").unwrap(), RxFilename::Offset("x.ark".into(), 17));
/// assert_eq!(RxFilename::parse("x.ark").unwrap(), RxFilename::File("x.ark".into()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RxFilename {
    /// Standard input: `-` or nothing.
    Stdin,
    /// The output of a command of the shell: `command|`.
    Pipe(String),
    /// A file from its start.
    File(PathBuf),
    /// A file from an offset: `file:123`.
    Offset(PathBuf, u64),
}

/// A name to write to (Kaldi's *wxfilename*).
///
/// [`Display`](fmt::Display) writes it as it was parsed, except that standard output is always `-`.
///
/// ```
/// use seqfeed_io::WxFilename;
///
/// assert_eq!(WxFilename::parse("").unwrap(), WxFilename::Stdout);
/// assert_eq!(WxFilename::parse("|gzip > x").unwrap(), WxFilename::Pipe("gzip > x".into()));
/// assert_eq!(WxFilename::parse("x.ark").unwrap(), WxFilename::File("x.ark".into()));
/// assert!(WxFilename::parse("x.ark:17").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum WxFilename {
    /// Standard output: `-` or nothing.
    Stdout,
    /// The input of a command of the shell: `|command`.
    Pipe(String),
    /// A file.
    File(PathBuf),
}

impl RxFilename {
    /// Tells what a name means, by Kaldi's rules and in their order.
    ///
    /// # Errors
    ///
    /// A usage error for what Kaldi refuses too: white space at either end, a pipe symbol anywhere
    /// but at the end, a table specifier such as `ark:x`, an offset that does not fit 63 bits.
    pub fn parse(text: &str) -> Result<Self> {
        if text.is_empty() || text == "-" {
            return Ok(Self::Stdin);
        }
        if text.starts_with('|') {
            return Err(refused(text, "to read from", "it begins with `|`").with_help(
                "a command to read from ends with `|`, one to write to begins with it",
            ));
        }
        if let Some(command) = text.strip_suffix('|') {
            return Ok(Self::Pipe(command.to_owned()));
        }
        check_common(text, "to read from")?;
        if let Some((path, digits)) = split_offset(text) {
            let offset = digits.parse().ok().filter(|offset| i64::try_from(*offset).is_ok());
            let offset = offset.ok_or_else(|| {
                refused(text, "to read from", "the offset after the last `:` is too large")
            })?;
            return Ok(Self::Offset(path.into(), offset));
        }
        check_no_pipe(text, "to read from", "a command to read from ends with `|`")?;
        Ok(Self::File(text.into()))
    }

    /// The same name with a relative path taken from a directory; commands and standard input stay
    /// as they are.
    #[must_use]
    pub fn relative_to(self, directory: &Path) -> Self {
        match self {
            Self::File(path) => Self::File(directory.join(path)),
            Self::Offset(path, offset) => Self::Offset(directory.join(path), offset),
            Self::Stdin | Self::Pipe(_) => self,
        }
    }

    /// Whether it names a file, which can be opened again and read at any place (if it is a
    /// regular file), rather than a stream that passes once.
    #[must_use]
    pub fn is_seekable_name(&self) -> bool {
        matches!(self, Self::File(_) | Self::Offset(..))
    }
}

impl WxFilename {
    /// Tells what a name means, by Kaldi's rules and in their order.
    ///
    /// # Errors
    ///
    /// A usage error for what Kaldi refuses too: white space at either end, a pipe symbol anywhere
    /// but at the start, a table specifier such as `ark:x`, a name with an offset.
    pub fn parse(text: &str) -> Result<Self> {
        if text.is_empty() || text == "-" {
            return Ok(Self::Stdout);
        }
        if let Some(command) = text.strip_prefix('|') {
            return Ok(Self::Pipe(command.to_owned()));
        }
        let pipe_help = "a command to write to begins with `|`";
        if text.ends_with('|') {
            return Err(refused(text, "to write to", "it ends with `|`").with_help(pipe_help));
        }
        check_common(text, "to write to")?;
        if split_offset(text).is_some() {
            return Err(refused(text, "to write to", "it ends like an offset, `:` and digits"));
        }
        check_no_pipe(text, "to write to", pipe_help)?;
        Ok(Self::File(text.into()))
    }

    /// The same name with a relative path taken from a directory; commands and standard output
    /// stay as they are.
    #[must_use]
    pub fn relative_to(self, directory: &Path) -> Self {
        match self {
            Self::File(path) => Self::File(directory.join(path)),
            Self::Stdout | Self::Pipe(_) => self,
        }
    }
}

impl fmt::Display for RxFilename {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdin => f.write_str("-"),
            Self::Pipe(command) => write!(f, "{command}|"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Offset(path, offset) => write!(f, "{}:{offset}", path.display()),
        }
    }
}

impl fmt::Display for WxFilename {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdout => f.write_str("-"),
            Self::Pipe(command) => write!(f, "|{command}"),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

fn refused(text: &str, purpose: &str, why: &str) -> Error {
    Error::usage(format!("`{}` is not a name {purpose}: {why}", text.escape_debug()))
}

/// White space at the ends and specifiers, refused in this order for both kinds of names.
fn check_common(text: &str, purpose: &str) -> Result<()> {
    // C's isspace, narrower than Unicode's white space.
    let space = |c: char| c == '\x0b' || c.is_ascii_whitespace();
    if text.starts_with(space) || text.ends_with(space) {
        return Err(refused(text, purpose, "it begins or ends with white space"));
    }
    if looks_like_specifier(text) {
        return Err(refused(text, purpose, "it is a table specifier")
            .with_help("here the name alone is meant, without `ark:` or `scp:` and options"));
    }
    Ok(())
}

fn check_no_pipe(text: &str, purpose: &str, help: &'static str) -> Result<()> {
    if text.contains('|') {
        return Err(refused(text, purpose, "it has a `|` in the wrong place").with_help(help));
    }
    Ok(())
}

/// The parts before and after the last `:` where only digits follow it, at least one.
fn split_offset(text: &str) -> Option<(&str, &str)> {
    let (path, digits) = text.rsplit_once(':')?;
    let numeric = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    numeric.then_some((path, digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_move_and_others_stay() {
        let base = Path::new("/data");
        let moved = |text| RxFilename::parse(text).unwrap().relative_to(base).to_string();
        assert_eq!(moved("a/b.ark:7"), "/data/a/b.ark:7");
        assert_eq!(moved("b.ark"), "/data/b.ark");
        assert_eq!(moved("/x/b.ark"), "/x/b.ark");
        assert_eq!(moved("cat b.ark |"), "cat b.ark |");
        assert_eq!(moved(""), "-");
        let moved = |text| WxFilename::parse(text).unwrap().relative_to(base).to_string();
        assert_eq!(moved("b.ark"), "/data/b.ark");
        assert_eq!(moved("| cat"), "| cat");
        assert_eq!(moved("-"), "-");
    }

    #[test]
    fn refusals_say_why() {
        let help = |text| RxFilename::parse(text).unwrap_err().to_string();
        assert!(help("ark,t:foo").contains("table specifier"));
        assert!(help("foo\n").contains("`foo\\n`"));
        assert!(help("a|b").contains("ends with `|`"));
        assert!(help("x:9223372036854775808").contains("too large"));
        assert_eq!(
            RxFilename::parse("x:9223372036854775807").unwrap(),
            RxFilename::Offset("x".into(), i64::MAX as u64)
        );
        assert!(WxFilename::parse("foo|").unwrap_err().to_string().contains("begins with `|`"));
    }

    #[test]
    fn only_files_are_seekable() {
        let seekable = |text| RxFilename::parse(text).unwrap().is_seekable_name();
        assert!(seekable("a") && seekable("a:1"));
        assert!(!seekable("-") && !seekable("cat a|"));
    }
}

//! Kaldi's extended filenames.
//!
//! The rules and their order are those of `ClassifyRxfilename` and `ClassifyWxfilename` in Kaldi's
//! `util/kaldi-io.cc`. In place of a file there may be a URL here.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use seqfeed_core::{Error, Result};

use crate::location::Location;
use crate::name_text::shown_name;
use crate::specifier::looks_like_specifier;

/// A name to read from (Kaldi's *rxfilename*): a location, and for a file an optional offset.
///
/// [`Display`](fmt::Display) is for messages; [`name`](Self::name) can be parsed again.
///
/// ```
/// use std::path::Path;
/// use seqfeed_io::RxFilename;
///
/// let name = RxFilename::parse("x.ark:17")?;
/// assert_eq!((name.location().path(), name.offset()), (Some(Path::new("x.ark")), Some(17)));
/// assert!(RxFilename::parse("-")?.location().is_standard());
/// assert_eq!(RxFilename::parse("cat x |")?.location().command(), Some("cat x ".as_ref()));
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RxFilename {
    location: Location,
    offset: Option<u64>,
}

/// A name to write to (Kaldi's *wxfilename*): a location.
///
/// [`Display`](fmt::Display) is for messages; [`name`](Self::name) can be parsed again.
///
/// ```
/// use std::path::Path;
/// use seqfeed_io::WxFilename;
///
/// assert!(WxFilename::parse("")?.location().is_standard());
/// assert_eq!(WxFilename::parse("|gzip > x")?.location().command(), Some("gzip > x".as_ref()));
/// assert_eq!(WxFilename::parse("x.ark")?.location().path(), Some(Path::new("x.ark")));
/// assert!(WxFilename::parse("x.ark:17").is_err());
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WxFilename(Location);

impl RxFilename {
    /// Parses a name by Kaldi's rules, in their order.
    ///
    /// # Errors
    ///
    /// A usage error for names that Kaldi refuses too: white space at either end, a pipe symbol
    /// anywhere but at the end, a table specifier such as `ark:x`, an offset that does not fit 63
    /// bits.
    pub fn parse(name: &(impl AsRef<OsStr> + ?Sized)) -> Result<Self> {
        let text = name.as_ref().as_bytes();
        if text.is_empty() || text == b"-" {
            return Ok(Location::Standard.into());
        }
        if text.starts_with(b"|") {
            return Err(refused(text, "to read from", "it begins with `|`").with_help(
                "a command to read from ends with `|`, one to write to begins with it",
            ));
        }
        if let Some(command) = text.strip_suffix(b"|") {
            return Ok(Location::Command(OsStr::from_bytes(command).to_owned()).into());
        }
        check_common(text, "to read from")?;
        if let Some((file, digits)) = split_offset(text) {
            let offset = digits.parse().ok().filter(|offset| i64::try_from(*offset).is_ok());
            let offset = offset.ok_or_else(|| {
                refused(text, "to read from", "the offset after the last `:` is too large")
            })?;
            return Ok(Self::at(file_of(file), offset));
        }
        check_no_pipe(text, "to read from", "a command to read from ends with `|`")?;
        Ok(file_of(text).into())
    }

    /// The bytes of a file from an offset on: `file:123`.
    #[must_use]
    pub fn at(location: Location, offset: u64) -> Self {
        Self { location, offset: Some(offset) }
    }

    /// The location of the bytes.
    #[must_use]
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The offset, if the name has one. Without it the bytes begin at the start of the file.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        self.offset
    }

    /// The file, and the offset at which the bytes begin. `None` for commands and standard input.
    #[must_use]
    pub fn file_and_offset(&self) -> Option<(&Location, u64)> {
        self.location.is_seekable().then_some((&self.location, self.offset.unwrap_or(0)))
    }

    /// The same name for another location, with the same offset.
    #[must_use]
    pub fn with_location(&self, location: Location) -> Self {
        Self { location, offset: self.offset }
    }

    /// The name that [`parse`](Self::parse) turns into the same value, byte by byte; `-` for
    /// standard input.
    #[must_use]
    pub fn name(&self) -> OsString {
        let mut name = self.location.as_os_str().to_owned();
        if self.location.command().is_some() {
            name.push("|");
        }
        if let Some(offset) = self.offset {
            name.push(format!(":{offset}"));
        }
        name
    }

    /// The same name, with a relative path resolved as by [`Location::relative_to`].
    #[must_use]
    pub fn relative_to(self, directory: Option<&Location>) -> Self {
        Self { location: self.location.relative_to(directory), ..self }
    }
}

impl From<Location> for RxFilename {
    fn from(location: Location) -> Self {
        Self { location, offset: None }
    }
}

impl From<PathBuf> for RxFilename {
    fn from(path: PathBuf) -> Self {
        Location::from(path).into()
    }
}

impl From<&Path> for RxFilename {
    fn from(path: &Path) -> Self {
        Location::from(path).into()
    }
}

impl WxFilename {
    /// Parses a name by Kaldi's rules, in their order.
    ///
    /// # Errors
    ///
    /// A usage error for names that Kaldi refuses too: white space at either end, a pipe symbol
    /// anywhere but at the start, a table specifier such as `ark:x`, a name with an offset.
    pub fn parse(name: &(impl AsRef<OsStr> + ?Sized)) -> Result<Self> {
        let text = name.as_ref().as_bytes();
        if text.is_empty() || text == b"-" {
            return Ok(Self(Location::Standard));
        }
        if let Some(command) = text.strip_prefix(b"|") {
            return Ok(Self(Location::Command(OsStr::from_bytes(command).to_owned())));
        }
        let pipe_help = "a command to write to begins with `|`";
        if text.ends_with(b"|") {
            return Err(refused(text, "to write to", "it ends with `|`").with_help(pipe_help));
        }
        check_common(text, "to write to")?;
        if split_offset(text).is_some() {
            return Err(refused(text, "to write to", "it ends like an offset, `:` and digits"));
        }
        check_no_pipe(text, "to write to", pipe_help)?;
        Ok(Self(file_of(text)))
    }

    /// The destination of the bytes.
    #[must_use]
    pub fn location(&self) -> &Location {
        &self.0
    }

    /// The path, if this is a file of the file system.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.0.path()
    }

    /// The name that [`parse`](Self::parse) turns into the same value, byte by byte; `-` for
    /// standard output.
    #[must_use]
    pub fn name(&self) -> OsString {
        let mut name = OsString::from(if self.0.command().is_some() { "|" } else { "" });
        name.push(self.0.as_os_str());
        name
    }
}

impl From<Location> for WxFilename {
    fn from(location: Location) -> Self {
        Self(location)
    }
}

impl From<PathBuf> for WxFilename {
    fn from(path: PathBuf) -> Self {
        Self(path.into())
    }
}

impl From<&Path> for WxFilename {
    fn from(path: &Path) -> Self {
        Self(path.into())
    }
}

impl fmt::Display for RxFilename {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown_name(self.name()))
    }
}

impl fmt::Display for WxFilename {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown_name(self.name()))
    }
}

fn file_of(bytes: &[u8]) -> Location {
    Location::of_file(OsStr::from_bytes(bytes))
}

fn refused(text: &[u8], purpose: &str, why: &str) -> Error {
    Error::usage(format!(
        "`{}` is not a name {purpose}: {why}",
        shown_name(OsStr::from_bytes(text))
    ))
}

/// Refuses white space at the ends and specifiers, in this order, for both kinds of names.
fn check_common(text: &[u8], purpose: &str) -> Result<()> {
    // C's isspace, narrower than Unicode's white space.
    let space =
        |byte: Option<&u8>| byte.is_some_and(|byte| *byte == b'\x0b' || byte.is_ascii_whitespace());
    if space(text.first()) || space(text.last()) {
        return Err(refused(text, purpose, "it begins or ends with white space"));
    }
    if looks_like_specifier(text) {
        return Err(refused(text, purpose, "it is a table specifier")
            .with_help("here the name alone is meant, without `ark:` or `scp:` and options"));
    }
    Ok(())
}

fn check_no_pipe(text: &[u8], purpose: &str, help: &'static str) -> Result<()> {
    if text.contains(&b'|') {
        return Err(refused(text, purpose, "it has a `|` in the wrong place").with_help(help));
    }
    Ok(())
}

/// The parts before and after the last `:`, if at least one digit and only digits follow it.
fn split_offset(text: &[u8]) -> Option<(&[u8], &str)> {
    let colon = text.iter().rposition(|&byte| byte == b':')?;
    let (path, digits) = (&text[..colon], &text[colon + 1..]);
    let numeric = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    Some((path, std::str::from_utf8(digits).ok().filter(|_| numeric)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Opener;

    #[test]
    fn relative_paths_move_and_others_stay() {
        let opener = Opener::default().in_directory(Some(Location::of_file("/data")));
        let moved = |text| opener.rxfilename(text).unwrap().to_string();
        assert_eq!(moved("a/b.ark:7"), "/data/a/b.ark:7");
        assert_eq!(moved("b.ark"), "/data/b.ark");
        assert_eq!(moved("/x/b.ark"), "/x/b.ark");
        assert_eq!(moved("cat b.ark |"), "cat b.ark |");
        assert_eq!(moved(""), "-");
        assert_eq!(opener.of_contents().place("b.ark").to_string(), "b.ark");
    }

    #[test]
    fn names_are_bytes() {
        let latin = OsStr::from_bytes(b"\xe4/o\xff.mat:7");
        let read = RxFilename::parse(latin).unwrap();
        let file = Location::of_file(OsStr::from_bytes(b"\xe4/o\xff.mat"));
        assert_eq!(read, RxFilename::at(file, 7));
        assert_eq!(
            (read.name().as_os_str(), read.to_string()),
            (latin, "\\xe4/o\\xff.mat:7".into())
        );
        let command = OsStr::from_bytes(b"| cat > \xe4");
        assert_eq!(WxFilename::parse(command).unwrap().name(), command);
        assert!(RxFilename::parse(OsStr::from_bytes(b"\xe4|x")).is_err());
    }

    #[test]
    fn refusals_say_why() {
        let help = |text| RxFilename::parse(text).unwrap_err().to_string();
        assert!(help("ark,t:foo").contains("table specifier"));
        assert!(help("foo\n").contains("`foo\\n`"));
        assert!(help("a|b").contains("ends with `|`"));
        assert!(help("x:9223372036854775808").contains("too large"));
        let largest = RxFilename::parse("x:9223372036854775807").unwrap();
        assert_eq!(largest.offset(), Some(i64::MAX as u64));
        assert!(WxFilename::parse("foo|").unwrap_err().to_string().contains("begins with `|`"));
    }

    #[test]
    fn only_files_are_seekable() {
        let seekable = |text| RxFilename::parse(text).unwrap().location().is_seekable();
        assert!(seekable("a") && seekable("a:1") && seekable("s3://b/a:1"));
        assert!(!seekable("-") && !seekable("cat a|"));
    }

    #[test]
    fn urls_have_offsets_too() {
        let name = RxFilename::parse("s3://b/x.ark:17").unwrap();
        assert_eq!(
            (name.location().to_string().as_str(), name.offset()),
            ("s3://b/x.ark", Some(17))
        );
        assert_eq!(name.to_string(), "s3://b/x.ark:17");
        assert!(WxFilename::parse("s3://b/x.ark").unwrap().location().url().is_some());
    }
}

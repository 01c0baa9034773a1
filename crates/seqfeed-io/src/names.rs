//! Kaldi's extended filenames.
//!
//! The rules and their order are those of `ClassifyRxfilename` and `ClassifyWxfilename` in Kaldi's
//! `util/kaldi-io.cc`.
//!
//! Names are bytes (`OsStr`), as the file system has them: corpora with names in GBK or Latin-1 are
//! common. They become text only to be shown ([`shown_name`]), or where a text must say them
//! ([`name_to_text`]), and that can be undone.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use seqfeed_core::{Error, Result};

use crate::specifier::looks_like_specifier;

/// A name to read from (Kaldi's *rxfilename*).
///
/// [`Display`](fmt::Display) shows it; what it is parsed from again is its [`name`](Self::name).
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
    Pipe(OsString),
    /// A file from its start.
    File(PathBuf),
    /// A file from an offset: `file:123`.
    Offset(PathBuf, u64),
}

/// A name to write to (Kaldi's *wxfilename*).
///
/// [`Display`](fmt::Display) shows it; what it is parsed from again is its [`name`](Self::name).
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
    Pipe(OsString),
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
    pub fn parse(name: &(impl AsRef<OsStr> + ?Sized)) -> Result<Self> {
        let text = name.as_ref().as_bytes();
        if text.is_empty() || text == b"-" {
            return Ok(Self::Stdin);
        }
        if text.starts_with(b"|") {
            return Err(refused(text, "to read from", "it begins with `|`").with_help(
                "a command to read from ends with `|`, one to write to begins with it",
            ));
        }
        if let Some(command) = text.strip_suffix(b"|") {
            return Ok(Self::Pipe(OsStr::from_bytes(command).to_owned()));
        }
        check_common(text, "to read from")?;
        if let Some((path, digits)) = split_offset(text) {
            let offset = digits.parse().ok().filter(|offset| i64::try_from(*offset).is_ok());
            let offset = offset.ok_or_else(|| {
                refused(text, "to read from", "the offset after the last `:` is too large")
            })?;
            return Ok(Self::Offset(path_of(path), offset));
        }
        check_no_pipe(text, "to read from", "a command to read from ends with `|`")?;
        Ok(Self::File(path_of(text)))
    }

    /// The name from which [`parse`](Self::parse) makes the same, byte by byte; of standard input,
    /// `-`.
    #[must_use]
    pub fn name(&self) -> OsString {
        match self {
            Self::Stdin => "-".into(),
            Self::Pipe(command) => joined(&[command, "|".as_ref()]),
            Self::File(path) => path.clone().into_os_string(),
            Self::Offset(path, offset) => {
                joined(&[path.as_os_str(), format!(":{offset}").as_ref()])
            }
        }
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
    pub fn parse(name: &(impl AsRef<OsStr> + ?Sized)) -> Result<Self> {
        let text = name.as_ref().as_bytes();
        if text.is_empty() || text == b"-" {
            return Ok(Self::Stdout);
        }
        if let Some(command) = text.strip_prefix(b"|") {
            return Ok(Self::Pipe(OsStr::from_bytes(command).to_owned()));
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
        Ok(Self::File(path_of(text)))
    }

    /// The name from which [`parse`](Self::parse) makes the same, byte by byte; of standard output,
    /// `-`.
    #[must_use]
    pub fn name(&self) -> OsString {
        match self {
            Self::Stdout => "-".into(),
            Self::Pipe(command) => joined(&["|".as_ref(), command]),
            Self::File(path) => path.clone().into_os_string(),
        }
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
        f.write_str(&shown_name(self.name()))
    }
}

impl fmt::Display for WxFilename {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown_name(self.name()))
    }
}

/// A name for messages: bytes that are not UTF-8 are shown as `\xe4`, and control characters
/// escaped. Not to open anything by.
///
/// ```
/// use std::ffi::OsStr;
/// use std::os::unix::ffi::OsStrExt;
///
/// assert_eq!(seqfeed_io::shown_name(OsStr::from_bytes(b"caf\xe9.scp")), "caf\\xe9.scp");
/// ```
#[must_use]
pub fn shown_name(name: impl AsRef<OsStr>) -> String {
    let mut shown = String::new();
    for chunk in name.as_ref().as_bytes().utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter.is_control() {
                true => shown.extend(letter.escape_debug()),
                false => shown.push(letter),
            }
        }
        shown.extend(chunk.invalid().escape_ascii().map(char::from));
    }
    shown
}

/// Where the characters begin that stand for bytes: the last plane of Unicode, for private use.
const BYTES: u32 = 0x10_FE00;

/// A name as it stands in texts that must be Unicode: `corpus.toml`, data specifications, options
/// that become keys of a description. Nothing is lost: [`name_from_text`] gives the same bytes.
///
/// A byte that is not UTF-8 stands as a character for private use, `U+10FE00` and the byte
/// (`"\U0010FEE4"` in TOML for the byte `E4`). Should a name hold such a character already, its own
/// bytes stand so.
///
/// ```
/// use std::ffi::OsStr;
/// use std::os::unix::ffi::OsStrExt;
/// use seqfeed_io::{name_from_text, name_to_text};
///
/// let name = OsStr::from_bytes(b"sp\xe4h.scp");
/// assert_eq!(name_to_text(name), "sp\u{10fee4}h.scp");
/// assert_eq!(name_from_text("sp\u{10fee4}h.scp"), name);
/// assert_eq!(name_to_text("späh.scp"), "späh.scp");
/// ```
#[must_use]
pub fn name_to_text(name: impl AsRef<OsStr>) -> String {
    let mut text = String::new();
    for chunk in name.as_ref().as_bytes().utf8_chunks() {
        for letter in chunk.valid().chars() {
            match byte_of(letter) {
                None => text.push(letter),
                Some(_) => push_bytes(&mut text, letter.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        push_bytes(&mut text, chunk.invalid());
    }
    text
}

fn push_bytes(text: &mut String, bytes: &[u8]) {
    text.extend(bytes.iter().filter_map(|&byte| char::from_u32(BYTES + u32::from(byte))));
}

/// The byte that a character of [`name_to_text`] stands for. Bytes below 0x80 are always UTF-8.
fn byte_of(letter: char) -> Option<u8> {
    let byte = u8::try_from(u32::from(letter).checked_sub(BYTES)?).ok()?;
    (byte >= 0x80).then_some(byte)
}

/// The name that a text of [`name_to_text`] stands for.
#[must_use]
pub fn name_from_text(text: &str) -> OsString {
    let mut bytes = Vec::with_capacity(text.len());
    for letter in text.chars() {
        match byte_of(letter) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    OsString::from_vec(bytes)
}

/// The path that a text of [`name_to_text`] stands for.
#[must_use]
pub fn path_from_text(text: &str) -> PathBuf {
    name_from_text(text).into()
}

fn path_of(bytes: &[u8]) -> PathBuf {
    OsStr::from_bytes(bytes).into()
}

fn joined(parts: &[&OsStr]) -> OsString {
    let mut name = OsString::new();
    parts.iter().for_each(|part| name.push(part));
    name
}

fn refused(text: &[u8], purpose: &str, why: &str) -> Error {
    Error::usage(format!(
        "`{}` is not a name {purpose}: {why}",
        shown_name(OsStr::from_bytes(text))
    ))
}

/// White space at the ends and specifiers, refused in this order for both kinds of names.
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

/// The parts before and after the last `:` where only digits follow it, at least one.
fn split_offset(text: &[u8]) -> Option<(&[u8], &str)> {
    let colon = text.iter().rposition(|&byte| byte == b':')?;
    let (path, digits) = (&text[..colon], &text[colon + 1..]);
    let numeric = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    Some((path, std::str::from_utf8(digits).ok().filter(|_| numeric)?))
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
    fn names_are_bytes() {
        let latin = OsStr::from_bytes(b"\xe4/o\xff.mat:7");
        let read = RxFilename::parse(latin).unwrap();
        assert_eq!(read, RxFilename::Offset(OsStr::from_bytes(b"\xe4/o\xff.mat").into(), 7));
        assert_eq!(
            (read.name().as_os_str(), read.to_string()),
            (latin, "\\xe4/o\\xff.mat:7".into())
        );
        let command = OsStr::from_bytes(b"| cat > \xe4");
        assert_eq!(WxFilename::parse(command).unwrap().name(), command);
        assert!(RxFilename::parse(OsStr::from_bytes(b"\xe4|x")).is_err());
    }

    #[test]
    fn texts_lose_nothing_of_names() {
        let mut names: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![b'a', byte, b'z']).collect();
        names.push("späh 汉字 \u{10fee4} \u{10fe00}".as_bytes().to_vec());
        names.push(b"\xc4\xe3\xba\xc3 \xf4\x8f\xbb".to_vec());
        for name in names {
            let name = OsString::from_vec(name);
            assert_eq!(name_from_text(&name_to_text(&name)), name);
        }
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

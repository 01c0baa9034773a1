//! The one error type of the workspace: what happened, where, and how to cure it.

use std::borrow::Cow;
use std::sync::Arc;
use std::{error, fmt, io};

use crate::{Key, Printable, PrintableLines, Quote, system};

/// A result with the workspace's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, where, and how to cure it. It is one word wide.
///
/// [`Display`](fmt::Display) gives one line, `place: what happened (cure)`. A program that prints
/// several lines uses [`message`](Error::message), [`place`](Error::place) and
/// [`help`](Error::help).
///
/// ```
/// use seqfeed_core::{Error, Key, Problem};
///
/// let error = Error::format(
///     "Kaldi matrix",
///     Problem::UnexpectedEnd { inside: "data", missing: Some(12) },
/// )
/// .in_file("feats.ark")
/// .at_byte(1034)
/// .of_key(Key(b"utt1"));
/// assert_eq!(
///     error.to_string(),
///     "feats.ark @ 1034 (key utt1): Kaldi matrix: the file ends inside data, 12 bytes are \
///      missing",
/// );
/// ```
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    place: Place,
    quote: Option<Quote>,
    help: Option<Cow<'static, str>>,
}

/// The kinds of error, by who can act.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file is missing, is of another kind, or cannot be decoded.
    Io {
        /// The attempt: "opening", "reading", "writing".
        action: &'static str,
        /// The error of the operating system or the decoder.
        source: Arc<io::Error>,
    },
    /// The environment refused: no room, no file handles, no permission, no memory, a failing
    /// device. This says nothing about the data, so no tolerance excuses it.
    System {
        /// The attempt: "opening", "reading", "writing".
        action: &'static str,
        /// The error of the operating system.
        source: Arc<io::Error>,
    },
    /// The file is wrong.
    Format {
        /// The format that was being read: "Kaldi matrix", "script file".
        format: &'static str,
        /// What is wrong with it.
        problem: Problem,
    },
    /// A command of a pipe failed.
    Command {
        /// The command as given to the shell.
        command: String,
        /// How it ended ("exit status 1").
        status: String,
    },
    /// The sources of a corpus do not fit together.
    Corpus(String),
    /// The caller's request is wrong or contradicts itself.
    Usage(String),
    /// The caller's policy does not allow it.
    Forbidden(String),
    /// The caller's limit was exceeded.
    Limit {
        /// The limited quantity.
        what: &'static str,
        /// The amount that was wanted.
        wanted: u64,
        /// The amount that is allowed.
        limit: u64,
    },
}

/// The ways in which a file can be wrong: about a dozen for all formats.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The file ends too early.
    UnexpectedEnd {
        /// The part of the format in which it ends.
        inside: &'static str,
        /// How many bytes are missing, if known.
        missing: Option<u64>,
    },
    /// The file holds something else than it must.
    Unexpected {
        /// What must stand there.
        expected: Cow<'static, str>,
        /// What stands there (at most 32 bytes; escaped when printed).
        found: Vec<u8>,
    },
    /// A number is malformed, or does not fit its type.
    InvalidNumber {
        /// The meaning of the number.
        what: &'static str,
        /// What stands there.
        found: Vec<u8>,
    },
    /// A number lies outside its range.
    OutOfRange {
        /// The meaning of the number.
        what: &'static str,
        /// The number.
        found: i64,
        /// The range.
        allowed: Cow<'static, str>,
    },
    /// Two counts that must agree differ.
    CountMismatch {
        /// What is counted.
        what: &'static str,
        /// The number there must be.
        expected: u64,
        /// The number there is.
        found: u64,
    },
    /// A key stands twice where it must be unique.
    DuplicateKey,
    /// The data are legal, but not for this use.
    Unsupported(Cow<'static, str>),
}

/// The place of an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The name by which the file was opened.
    pub file: Option<String>,
    /// The position in the file.
    pub position: Option<Position>,
    /// The key of the sequence, as shown.
    pub key: Option<String>,
    /// The file that names this one, and the line there (from 1).
    pub named_in: Option<(String, u64)>,
}

/// A position in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Bytes from the start, from 0.
    Byte(u64),
    /// Lines, from 1.
    Line(u64),
    /// Lines and bytes in the line, both from 1.
    Column {
        /// The line.
        line: u64,
        /// The byte in it.
        column: u64,
    },
}

impl Error {
    /// An error of a kind, without a place.
    #[must_use]
    pub fn new(kind: ErrorKind) -> Self {
        Self(Box::new(Inner { kind, place: Place::default(), quote: None, help: None }))
    }

    /// An error of the operating system or of a decoder. Its code decides whether the fault is in
    /// the data ([`ErrorKind::Io`]) or in the environment ([`ErrorKind::System`]). An [`Error`]
    /// that came through a reader as an [`io::Error`] stays unchanged.
    #[must_use]
    pub fn io(action: &'static str, source: io::Error) -> Self {
        let source = match source.downcast::<Self>() {
            Ok(error) => return error,
            Err(source) => source,
        };
        if system::is_environment(&source) {
            return Self::system(action, source);
        }
        Self::new(ErrorKind::Io { action, source: Arc::new(source) })
    }

    /// An error of the environment, whatever its code: for files that no data name, such as
    /// temporary files.
    #[must_use]
    pub fn system(action: &'static str, source: io::Error) -> Self {
        Self::new(ErrorKind::System { action, source: Arc::new(source) })
    }

    /// A file is wrong.
    #[must_use]
    pub fn format(format: &'static str, problem: Problem) -> Self {
        Self::new(ErrorKind::Format { format, problem })
    }

    /// A request is wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage(message.into()))
    }

    /// A decoder refused. The data are damaged, as `damaged` says, unless reading failed because of
    /// the environment.
    pub fn decoding(source: io::Error, damaged: impl FnOnce(&io::Error) -> Self) -> Self {
        let environment = system::is_environment(&source)
            || source.get_ref().and_then(|inner| inner.downcast_ref::<Self>()).is_some();
        if environment { Self::io("reading", source) } else { damaged(&source) }
    }

    /// Sources do not fit together.
    pub fn corpus(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corpus(message.into()))
    }

    /// Adds the file, unless an inner layer has done so.
    #[must_use]
    pub fn in_file(mut self, file: impl Into<String>) -> Self {
        self.0.place.file.get_or_insert_with(|| file.into());
        self
    }

    /// Adds the byte offset, unless an inner layer has given a position.
    #[must_use]
    pub fn at_byte(mut self, byte: u64) -> Self {
        self.0.place.position.get_or_insert(Position::Byte(byte));
        self
    }

    /// Adds the line (from 1), unless an inner layer has given a position.
    #[must_use]
    pub fn at_line(mut self, line: u64) -> Self {
        self.0.place.position.get_or_insert(Position::Line(line));
        self
    }

    /// Adds the line (from 1) of a file that names others, such as a script file. This is the place
    /// of the error, unless an inner layer has given another file. Then it is the line that names
    /// that file.
    #[must_use]
    pub fn in_line_of(mut self, file: impl Into<String>, line: u64) -> Self {
        let file = file.into();
        let place = &mut self.0.place;
        if place.file.as_ref().is_none_or(|other| *other == file) {
            return self.in_file(file).at_line(line);
        }
        place.named_in.get_or_insert((file, line));
        self
    }

    /// Replaces the byte offset by line and column (from 1) in a text. The quote shows the text
    /// there.
    #[must_use]
    pub fn at_column(mut self, line: u64, column: u64, quote: Option<Quote>) -> Self {
        if let None | Some(Position::Byte(_)) = self.0.place.position {
            self.0.place.position = Some(Position::Column { line, column });
            self.0.quote = quote;
        }
        self
    }

    /// Adds the key, unless an inner layer has done so.
    #[must_use]
    pub fn of_key(mut self, key: Key<'_>) -> Self {
        self.0.place.key.get_or_insert_with(|| key.to_string());
        self
    }

    /// Adds the cure, unless an inner layer has given one.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<Cow<'static, str>>) -> Self {
        self.0.help.get_or_insert_with(|| help.into());
        self
    }

    /// Takes over the place and the cure of the error's cause.
    #[must_use]
    pub(crate) fn placed_as(mut self, cause: Self) -> Self {
        let Inner { place, quote, help, .. } = *cause.0;
        (self.0.place, self.0.quote, self.0.help) = (place, quote, help);
        self
    }

    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The place of the error.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.0.place
    }

    /// The text at the place, if the file is text.
    #[must_use]
    pub fn quote(&self) -> Option<&Quote> {
        self.0.quote.as_ref()
    }

    /// The cure, if known.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        let of_system = || match &self.0.kind {
            ErrorKind::System { source, .. } => system::cure(source),
            _ => None,
        };
        self.0.help.as_deref().or_else(of_system)
    }

    /// What happened, without place and cure.
    #[must_use]
    pub fn message(&self) -> String {
        self.0.kind.to_string()
    }

    /// Whether the caller asked for something impossible. Otherwise the data are wrong.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Usage(_))
    }

    /// Whether it is a failure of the environment ([`ErrorKind::System`]), which says nothing about
    /// the data.
    #[must_use]
    pub fn is_environment(&self) -> bool {
        matches!(self.0.kind, ErrorKind::System { .. })
    }

    /// Whether a file does not exist.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(&self.0.kind, ErrorKind::Io { source, .. }
            if source.kind() == io::ErrorKind::NotFound)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.0.place.to_string();
        if !place.is_empty() {
            write!(f, "{place}: ")?;
        }
        write!(f, "{}", self.0.kind)?;
        if let Some(help) = self.help() {
            write!(f, " ({})", PrintableLines(help))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("place", &self.0.place)
            .field("help", &self.0.help)
            .finish()
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match &self.0.kind {
            ErrorKind::Io { source, .. } | ErrorKind::System { source, .. } => {
                Some(source.as_ref())
            }
            _ => None,
        }
    }
}

/// The most letters of a key that are printed.
const LONGEST_KEY: usize = 256;

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Printable(self.file.as_deref().unwrap_or_default()))?;
        let gap = if self.file.is_some() { " " } else { "" };
        match self.position {
            Some(Position::Byte(byte)) => write!(f, "{gap}@ {byte}")?,
            Some(Position::Line(line)) if self.file.is_some() => write!(f, ":{line}")?,
            Some(Position::Line(line)) => write!(f, "line {line}")?,
            Some(Position::Column { line, column }) if self.file.is_some() => {
                write!(f, ":{line}:{column}")?;
            }
            Some(Position::Column { line, column }) => write!(f, "line {line}, column {column}")?,
            None => {}
        }
        if let Some(key) = &self.key {
            let gap = if self.file.is_some() || self.position.is_some() { " " } else { "" };
            match key.char_indices().nth(LONGEST_KEY) {
                None => write!(f, "{gap}(key {})", Printable(key))?,
                Some((end, _)) => {
                    let (start, bytes) = (Printable(&key[..end]), key.len());
                    write!(f, "{gap}(key {start}..., {bytes} bytes)")?;
                }
            }
        }
        if let Some((file, line)) = &self.named_in {
            write!(f, " (named in {}:{line})", Printable(file))?;
        }
        Ok(())
    }
}

/// What happened. Names and contents are escaped as by [`PrintableLines`].
impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", PrintableLines(Raw(self)))
    }
}

/// A kind without escapes, with its control characters.
struct Raw<'a>(&'a ErrorKind);

impl fmt::Display for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ErrorKind::Io { action, source } => write!(f, "{action} failed: {source}"),
            ErrorKind::System { action, source } => {
                write!(f, "{action} failed: {}", system::words(source))
            }
            ErrorKind::Format { format, problem } => write!(f, "{format}: {problem}"),
            ErrorKind::Command { command, status } => {
                write!(f, "the command `{command}` failed: {status}")
            }
            ErrorKind::Corpus(message)
            | ErrorKind::Usage(message)
            | ErrorKind::Forbidden(message) => f.write_str(message),
            ErrorKind::Limit { what, wanted, limit } => {
                write!(f, "{what}: {wanted} wanted, but at most {limit} allowed")
            }
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::UnexpectedEnd { inside, missing: Some(1) } => {
                write!(f, "the file ends inside {inside}, 1 byte is missing")
            }
            Problem::UnexpectedEnd { inside, missing: Some(missing) } => {
                write!(f, "the file ends inside {inside}, {missing} bytes are missing")
            }
            Problem::UnexpectedEnd { inside, missing: None } => {
                write!(f, "the file ends inside {inside}")
            }
            Problem::Unexpected { expected, found } => {
                write!(f, "expected {expected}, found {}", Excerpt(found))
            }
            Problem::InvalidNumber { what, found } => {
                write!(f, "{what} is not a number that fits: {}", Excerpt(found))
            }
            Problem::OutOfRange { what, found, allowed } => {
                write!(f, "{what} is {found}, expected {allowed}")
            }
            Problem::CountMismatch { what, expected, found } => {
                write!(f, "{what}: expected {expected}, found {found}")
            }
            Problem::DuplicateKey => f.write_str("the key stands twice"),
            Problem::Unsupported(what) => write!(f, "{what}"),
        }
    }
}

/// Bytes of a file for a message: escaped, at most 32.
struct Excerpt<'a>(&'a [u8]);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => f.write_str("the end"),
            bytes if bytes.len() > 32 => write!(f, "\"{}...\"", bytes[..32].escape_ascii()),
            bytes => write!(f, "\"{}\"", bytes.escape_ascii()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_short_and_say_where_a_file_is_named() {
        let error = |key: &[u8]| Error::usage("no").of_key(Key(key)).place().to_string();
        assert_eq!(error(&b"k".repeat(256)), format!("(key {})", "k".repeat(256)));
        let long = error(&b"k".repeat(70_000));
        assert_eq!(long, format!("(key {}..., 70000 bytes)", "k".repeat(256)));
        let named = |error: Error| error.in_line_of("f.scp", 11).place().to_string();
        assert_eq!(named(Error::usage("no")), "f.scp:11");
        assert_eq!(named(Error::usage("no").in_file("f.scp")), "f.scp:11");
        assert_eq!(named(Error::usage("no").in_file("o.ark")), "o.ark (named in f.scp:11)");
        let inside = Error::usage("no").in_file("o.ark").at_byte(3);
        assert_eq!(named(inside), "o.ark @ 3 (named in f.scp:11)");
    }

    #[test]
    fn is_one_word_wide_and_crosses_threads() {
        fn sendable<T: Send + Sync + 'static>() {}
        sendable::<Error>();
        assert_eq!(size_of::<Error>(), size_of::<usize>());
    }

    #[test]
    fn messages_say_what_where_and_how() {
        let end = |missing| Problem::UnexpectedEnd { inside: "a header", missing };
        let cases: [(Error, &str); 7] = [
            (Error::usage("no streams"), "no streams"),
            (
                Error::io("opening", io::Error::from(io::ErrorKind::NotFound)).in_file("a.scp"),
                "a.scp: opening failed: entity not found",
            ),
            (
                Error::format("script file", end(None)).in_file("a.scp").at_line(3),
                "a.scp:3: script file: the file ends inside a header",
            ),
            (
                Error::format("Kaldi matrix", end(Some(1))).at_byte(7).of_key(Key(b"u\xff")),
                "@ 7 (key u\\xff): Kaldi matrix: the file ends inside a header, 1 byte is missing",
            ),
            (
                Error::format(
                    "Kaldi matrix",
                    Problem::Unexpected { expected: "\"[\"".into(), found: b"\0BFM ".to_vec() },
                )
                .with_help("is this a binary file?"),
                "Kaldi matrix: expected \"[\", found \"\\x00BFM \" (is this a binary file?)",
            ),
            (
                Error::new(ErrorKind::Limit { what: "memory", wanted: 9, limit: 8 }),
                "memory: 9 wanted, but at most 8 allowed",
            ),
            (
                Error::new(ErrorKind::Command { command: "false".into(), status: "exit 1".into() })
                    .of_key(Key(b"u1")),
                "(key u1): the command `false` failed: exit 1",
            ),
        ];
        for (error, expected) in cases {
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn the_innermost_place_wins() {
        let error = Error::usage("x").in_file("inner").at_byte(1).in_file("outer").at_line(9);
        assert_eq!(error.place().to_string(), "inner @ 1");
        let quote = Quote::new(b"a line", 2, false);
        let error = error.at_column(3, 4, Some(quote)).at_byte(7).at_column(8, 9, None);
        assert_eq!(error.place().to_string(), "inner:3:4");
        assert_eq!(error.quote().unwrap().to_string(), "a line\n  ^");
        assert_eq!(Error::usage("x").at_column(3, 4, None).place().to_string(), "line 3, column 4");
    }
}

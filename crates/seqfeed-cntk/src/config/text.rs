//! Text that knows for each byte the line of its file.

use std::ops::Range;
use std::sync::Arc;

use seqfeed_core::{Error, ErrorKind, Problem};

/// The name of the language in errors.
pub(crate) const FORMAT: &str = "CNTK configuration";

/// A part of a configuration, joined from lines of files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text {
    string: String,
    /// Sorted by `start`. A mark holds up to the next one.
    marks: Vec<Mark>,
}

#[derive(Clone, Debug)]
struct Mark {
    start: usize,
    origin: Origin,
}

/// A line of a file.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) file: Arc<str>,
    /// From 1.
    pub(crate) line: u64,
}

impl Origin {
    /// An error in this line.
    pub(crate) fn error(&self, message: String) -> Error {
        fault(message).in_file(&*self.file).at_line(self.line)
    }
}

/// An error of the language without a place.
pub(crate) fn fault(message: String) -> Error {
    Error::format(FORMAT, Problem::Unsupported(message.into()))
}

/// An error about an exceeded limit, without a place.
pub(crate) fn limit(what: &'static str, wanted: u64, limit: usize) -> Error {
    Error::new(ErrorKind::Limit { what, wanted, limit: limit as u64 })
}

impl Text {
    pub(crate) fn as_str(&self) -> &str {
        &self.string
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.string.as_bytes()
    }

    pub(crate) fn len(&self) -> usize {
        self.string.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.string.is_empty()
    }

    /// Appends a string from a line.
    pub(crate) fn push_line(&mut self, string: &str, origin: &Origin) {
        self.marks.push(Mark { start: self.len(), origin: origin.clone() });
        self.string.push_str(string);
    }

    /// Appends a string, with its origin if known.
    pub(crate) fn push_string(&mut self, string: &str, origin: Option<&Origin>) {
        match origin {
            Some(origin) => self.push_line(string, origin),
            None => self.string.push_str(string),
        }
    }

    /// Appends a separator, which has no origin.
    pub(crate) fn push_separator(&mut self, separator: char) {
        self.string.push(separator);
    }

    /// Appends a part of another text. An empty part keeps its line.
    pub(crate) fn push_part(&mut self, other: &Text, range: Range<usize>) {
        if range.is_empty() {
            if self.marks.is_empty()
                && let Some(origin) = other.origin(range.start)
            {
                self.push_line("", origin);
            }
            return;
        }
        let base = self.len();
        let first = other.marks.partition_point(|mark| mark.start <= range.start).saturating_sub(1);
        for mark in &other.marks[first..] {
            if mark.start >= range.end {
                break;
            }
            let start = base + mark.start.saturating_sub(range.start);
            self.marks.push(Mark { start, origin: mark.origin.clone() });
        }
        self.string.push_str(other.string.get(range).unwrap_or_default());
    }

    pub(crate) fn part(&self, range: Range<usize>) -> Text {
        let mut part = Text::default();
        part.push_part(self, range);
        part
    }

    /// The line of a byte.
    pub(crate) fn origin(&self, byte: usize) -> Option<&Origin> {
        let after = self.marks.partition_point(|mark| mark.start <= byte);
        self.marks.get(after.saturating_sub(1)).map(|mark| &mark.origin)
    }

    /// An error at a byte.
    pub(crate) fn error(&self, byte: usize, message: String) -> Error {
        self.locate(byte, fault(message))
    }

    /// Adds the place of a byte to an error.
    pub(crate) fn locate(&self, byte: usize, error: Error) -> Error {
        match self.origin(byte) {
            Some(origin) => error.in_file(&*origin.file).at_line(origin.line),
            None => error,
        }
    }
}

/// The range without blanks and tabs at its ends.
pub(crate) fn trim(bytes: &[u8], range: Range<usize>) -> Range<usize> {
    let blank = |at: &usize| matches!(bytes[*at], b' ' | b'\t');
    let Some(start) = range.clone().find(|at| !blank(at)) else { return range.start..range.start };
    let end = range.rev().find(|at| !blank(at)).map_or(start, |last| last + 1);
    start..end
}

/// A text for a message: one line, not too long.
pub(crate) fn excerpt(text: &str) -> String {
    const SHOWN: usize = 120;
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_keep_their_lines() {
        let file: Arc<str> = "a".into();
        let mut text = Text::default();
        for line in 1..4 {
            text.push_line("abc", &Origin { file: file.clone(), line });
            text.push_separator('\n');
        }
        let line = |text: &Text, byte| text.origin(byte).unwrap().line;
        assert_eq!([0, 3, 4, 11, 99].map(|byte| line(&text, byte)), [1, 1, 2, 3, 3]);
        let part = text.part(5..9);
        assert_eq!(part.as_str(), "bc\na");
        assert_eq!([0, 2, 3].map(|byte| line(&part, byte)), [2, 2, 3]);
        assert!(Text::default().origin(0).is_none());
    }

    #[test]
    fn trims_blanks_and_tabs_only() {
        for (text, expected) in [(" \ta b\t", "a b"), ("  ", ""), ("", ""), ("\n", "\n")] {
            assert_eq!(&text[trim(text.as_bytes(), 0..text.len())], expected);
        }
    }
}

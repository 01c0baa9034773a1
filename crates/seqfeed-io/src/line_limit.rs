//! How long lines and words of a text may be, whatever way it is read.

use std::io::BufRead;
use std::path::Path;

use seqfeed_core::{Error, ErrorKind, Result};

use crate::{Input, Opener, RxFilename, refuse_named_pipe};

/// Most bytes of a key, a word or a line, unless [another limit](Opener::with_line_limit) is set.
/// What is longer is none, and would only fill the memory.
pub const LINE_LIMIT: usize = 64 << 10;

/// The error that something (`what`: "bytes of a key") is longer than the limit.
#[must_use]
pub fn too_long(what: &'static str, found: usize, limit: usize) -> Error {
    Error::new(ErrorKind::Limit { what, wanted: found as u64, limit: limit as u64 }).with_help(
        "is this a file of that format? if so, the setting `line-limit` allows longer lines",
    )
}

/// Watches a text that passes in pieces: none of its lines, or of its words, may be longer than
/// the limit.
///
/// ```
/// use seqfeed_io::LineLimit;
///
/// let mut lines = LineLimit::of_lines(4);
/// lines.pass(b"abcd\nab")?;
/// assert!(lines.pass(b"cde").is_err());
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LineLimit {
    limit: usize,
    what: &'static str,
    is_end: fn(u8) -> bool,
    /// Bytes since the last end.
    open: usize,
    /// The line of the next byte, from 1.
    line: u64,
}

impl LineLimit {
    /// Lines end with `\n` or `\r`, and have `limit` bytes at most.
    #[must_use]
    pub fn of_lines(limit: usize) -> Self {
        let is_end = |byte| matches!(byte, b'\n' | b'\r');
        Self { limit, what: "bytes of a line", is_end, open: 0, line: 1 }
    }

    /// Words end with white space, and have `limit` bytes at most. Lines have no limit.
    #[must_use]
    pub fn of_words(limit: usize) -> Self {
        let is_end = |byte| matches!(byte, b' ' | b'\t'..=b'\r');
        Self { is_end, what: "bytes of a word", ..Self::of_lines(limit) }
    }

    /// Goes over the next bytes of the text. Only a few of them are looked at.
    ///
    /// # Errors
    ///
    /// Fails if a line, or a word, goes on for too long, with the number of its line.
    pub fn pass(&mut self, bytes: &[u8]) -> Result<()> {
        let mut rest = bytes;
        while self.open + rest.len() > self.limit {
            // If nothing ends here, it is too long.
            let window = &rest[..(self.limit - self.open + 1).min(rest.len())];
            let Some(end) = window.iter().rposition(|&byte| (self.is_end)(byte)) else {
                let before = &bytes[..bytes.len() - rest.len()];
                let line = self.line + newlines(before);
                let found = self.open + window.len();
                return Err(too_long(self.what, found, self.limit).at_line(line));
            };
            rest = &rest[end + 1..];
            self.open = 0;
        }
        self.open = match rest.iter().rposition(|&byte| (self.is_end)(byte)) {
            Some(end) => rest.len() - end - 1,
            None => self.open + rest.len(),
        };
        self.line += newlines(bytes);
        Ok(())
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// Reads a list of names or the like whole, decompressed. What `limit` makes of the
/// [limit](Opener::line_limit) holds for it: [`LineLimit::of_lines`] or [`LineLimit::of_words`].
///
/// # Errors
///
/// When it cannot be read, is a named pipe or a device, or has a line, or a word, that is too long.
pub fn read_list(path: &Path, limit: fn(usize) -> LineLimit, opener: &Opener) -> Result<Vec<u8>> {
    refuse_named_pipe(path)?;
    let mut input = Input::open(&RxFilename::from(path), opener)?;
    let mut limit = limit(input.line_limit());
    input.refuse_device()?;
    let mut text = Vec::new();
    loop {
        let bytes = match input.fill_buf() {
            Ok(bytes) => bytes,
            Err(error) => return Err(input.error(error)),
        };
        if bytes.is_empty() {
            return Ok(text);
        }
        let passed = limit.pass(bytes);
        text.extend_from_slice(bytes);
        let count = bytes.len();
        passed.map_err(|error| error.in_file(input.name()))?;
        input.consume(count);
    }
}

impl Input {
    /// Reads a line with its end, in the place of what `line` holds; `false` at the end of the
    /// data. The last line may have no end.
    ///
    /// # Errors
    ///
    /// Fails if reading does, or if the line without its end is longer than the
    /// [limit](Opener::line_limit). Then no more than that was taken into memory.
    ///
    /// ```
    /// use seqfeed_io::Input;
    ///
    /// let mut input = Input::from_reader("memory", &b"a\nb"[..]);
    /// let mut line = Vec::new();
    /// assert!(input.next_line(&mut line)? && line == b"a\n");
    /// assert!(input.next_line(&mut line)? && line == b"b");
    /// assert!(!input.next_line(&mut line)?);
    /// # Ok::<(), seqfeed_core::Error>(())
    /// ```
    pub fn next_line(&mut self, line: &mut Vec<u8>) -> Result<bool> {
        line.clear();
        let limit = self.line_limit();
        loop {
            let buffer = match self.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) => return Err(self.error(error)),
            };
            let end = memchr::memchr(b'\n', buffer);
            let more = end.map_or(buffer, |end| &buffer[..=end]);
            let found = line.len() + more.len() - usize::from(end.is_some());
            if found > limit {
                return Err(too_long("bytes of a line", found, limit).in_file(self.name()));
            }
            line.extend_from_slice(more);
            let taken = more.len();
            self.consume(taken);
            if end.is_some() || taken == 0 {
                return Ok(!line.is_empty());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_a_limit() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "abc\n\nabcd\nabcde\n").unwrap();
        let name = RxFilename::from(file.path());
        let mut input = Input::open(&name, &Opener::default().with_line_limit(4)).unwrap();
        let mut line = Vec::new();
        for expected in ["abc\n", "\n", "abcd\n"] {
            assert!(input.next_line(&mut line).unwrap());
            assert_eq!(line, expected.as_bytes());
        }
        let error = input.next_line(&mut line).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Limit { wanted: 5, limit: 4, .. }), "{error}");
    }

    /// Whatever the pieces are, the same lines are too long.
    #[test]
    fn pieces_make_no_difference() {
        let text = b"abcd\nab cd\n\nabc d\rabcd ab\nx";
        for limit in 1..10 {
            let longest = |ends: &[u8]| {
                let lines = text.split(|byte| ends.contains(byte));
                lines.map(<[u8]>::len).max().unwrap()
            };
            for piece in 1..text.len() {
                let passes = |mut limit: LineLimit| {
                    text.chunks(piece).try_for_each(|piece| limit.pass(piece)).is_ok()
                };
                assert_eq!(passes(LineLimit::of_lines(limit)), longest(b"\n\r") <= limit);
                assert_eq!(passes(LineLimit::of_words(limit)), longest(b"\n\r ") <= limit);
            }
        }
        let error = LineLimit::of_lines(5).pass(text).unwrap_err();
        assert_eq!(error.place().to_string(), "line 4");
    }
}

//! The limit for lines and words of a text, in all ways of reading.

use seqfeed_core::{Error, ErrorKind, Result};

/// The most bytes of a key, a word or a line, unless [another
/// limit](crate::Opener::with_line_limit) is set. Longer ones are not real and would only fill the
/// memory.
pub const LINE_LIMIT: usize = 64 << 10;

/// The error for a thing (`what`: "bytes of a key") that is longer than the limit.
#[must_use]
pub fn too_long(what: &'static str, found: usize, limit: usize) -> Error {
    Error::new(ErrorKind::Limit { what, wanted: found as u64, limit: limit as u64 }).with_help(
        "is this a file of that format? if so, the setting `line-limit` allows longer lines",
    )
}

/// Checks a text that passes in parts: no line, or no word, may be longer than the limit.
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
    /// The number of bytes since the last end.
    open: usize,
    /// The line of the next byte, from 1.
    line: u64,
}

impl LineLimit {
    /// Lines end with `\n` or `\r`, and may have `limit` bytes.
    #[must_use]
    pub fn of_lines(limit: usize) -> Self {
        let is_end = |byte| matches!(byte, b'\n' | b'\r');
        Self { limit, what: "bytes of a line", is_end, open: 0, line: 1 }
    }

    /// Words end with white space, and may have `limit` bytes. Lines have no limit.
    #[must_use]
    pub fn of_words(limit: usize) -> Self {
        let is_end = |byte| matches!(byte, b' ' | b'\t'..=b'\r');
        Self { is_end, what: "bytes of a word", ..Self::of_lines(limit) }
    }

    /// Checks the next bytes of the text. It looks at only a few of them.
    ///
    /// # Errors
    ///
    /// Fails if a line, or a word, is too long. The error has the number of its line.
    pub fn pass(&mut self, bytes: &[u8]) -> Result<()> {
        let mut rest = bytes;
        while self.open + rest.len() > self.limit {
            // If no line or word ends in this window, it is too long.
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

#[cfg(test)]
mod tests {
    use super::*;

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

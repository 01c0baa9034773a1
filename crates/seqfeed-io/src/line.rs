//! Lines of a length that is bounded.

use std::io::BufRead;

use seqfeed_core::{Error, ErrorKind, Result};

use crate::Input;

/// Most bytes of a key, a word or a line, unless [another limit](crate::Opener::with_line_limit) is
/// set. What is longer is none, and would only fill the memory.
pub const LINE_LIMIT: usize = 64 << 10;

/// The error that something (`what`: "bytes of a key") is longer than the limit.
#[must_use]
pub fn too_long(what: &'static str, found: usize, limit: usize) -> Error {
    Error::new(ErrorKind::Limit { what, wanted: found as u64, limit: limit as u64 }).with_help(
        "is this a file of that format? if so, the setting `line-limit` allows longer lines",
    )
}

impl Input {
    /// Reads a line with its end, in the place of what `line` holds; `false` at the end of the
    /// data. The last line may have no end.
    ///
    /// # Errors
    ///
    /// Fails if reading does, or if the line without its end is longer than the
    /// [limit](crate::Opener::line_limit). Then no more than that was taken into memory.
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
    use crate::{Opener, RxFilename};

    #[test]
    fn lines_have_a_limit() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "abc\n\nabcd\nabcde\n").unwrap();
        let name = RxFilename::File(file.path().to_owned());
        let mut input = Input::open(&name, &Opener::default().with_line_limit(4)).unwrap();
        let mut line = Vec::new();
        for expected in ["abc\n", "\n", "abcd\n"] {
            assert!(input.next_line(&mut line).unwrap());
            assert_eq!(line, expected.as_bytes());
        }
        let error = input.next_line(&mut line).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Limit { wanted: 5, limit: 4, .. }), "{error}");
    }
}

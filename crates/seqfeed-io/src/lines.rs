//! Lines of at most the limit's length.

use std::io::BufRead;

use seqfeed_core::Result;

use crate::{Input, LineLimit, Location, Opener, too_long};

impl Opener {
    /// Reads a whole list, such as a list of names, decompressed. `limit` makes the check out of
    /// the opener's [limit](Self::line_limit): [`LineLimit::of_lines`] or [`LineLimit::of_words`].
    ///
    /// # Errors
    ///
    /// If it cannot be read, is a named pipe or a device, or has a line (or a word) that is too
    /// long.
    pub fn read_list(&self, location: &Location, limit: fn(usize) -> LineLimit) -> Result<Vec<u8>> {
        self.refuse_named_pipe(location)?;
        let mut input = Input::open(&location.clone().into(), self)?;
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
}

impl Input {
    /// Reads a line with its end, and replaces the content of `line`. Returns `false` at the end of
    /// the data. The last line may have no end.
    ///
    /// # Errors
    ///
    /// Fails if reading fails, or if the line without its end is longer than the
    /// [limit](Opener::line_limit). No more than the limit is then in memory.
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
    use seqfeed_core::ErrorKind;

    use super::*;
    use crate::RxFilename;

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
}

//! The lines of a file, with their places.

use seqfeed_core::Result;
use seqfeed_io::{DataFile, too_long};

/// Bytes to read at once.
const READ: usize = 256 << 10;

/// A line of a file, without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The number of bytes before it.
    pub offset: u64,
    /// Its number, from 1.
    pub number: u64,
    /// Its text.
    pub text: &'a [u8],
}

/// Reads the lines of a file one after another.
pub struct Lines<'a> {
    file: &'a DataFile,
    limit: usize,
    buffer: Vec<u8>,
    /// The part of the buffer that was given out already.
    used: usize,
    /// The place of the buffer in the file.
    offset: u64,
    number: u64,
}

impl<'a> Lines<'a> {
    /// Starts at the beginning of a file. Lines may have `limit` bytes.
    #[must_use]
    pub fn new(file: &'a DataFile, limit: usize) -> Self {
        Self { file, limit, buffer: Vec::new(), used: 0, offset: 0, number: 0 }
    }

    /// The next line that is not blank.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, or if a line is too long.
    pub fn next_line(&mut self) -> Result<Option<Line<'_>>> {
        loop {
            let Some((from, to)) = self.find()? else { return Ok(None) };
            self.number += 1;
            if !self.buffer[from..to].trim_ascii().is_empty() {
                let (offset, number) = (self.offset + from as u64, self.number);
                return Ok(Some(Line { offset, number, text: &self.buffer[from..to] }));
            }
        }
    }

    /// The place of the next line in the buffer.
    fn find(&mut self) -> Result<Option<(usize, usize)>> {
        let mut searched = self.used;
        loop {
            let end = memchr::memchr(b'\n', &self.buffer[searched..]).map(|end| searched + end);
            let open = end.unwrap_or(self.buffer.len()) - self.used;
            if open > self.limit {
                let error = too_long("bytes of a line", open, self.limit);
                return Err(error.in_file(self.file.name()).at_line(self.number + 1));
            }
            if let Some(end) = end {
                let line = (self.used, end);
                self.used = end + 1;
                return Ok(Some(line));
            }
            self.buffer.drain(..self.used);
            self.offset += self.used as u64;
            self.used = 0;
            searched = self.buffer.len();
            self.buffer.resize(searched + READ, 0);
            let at = self.offset + searched as u64;
            let read = self.file.read_at(&mut self.buffer[searched..], at)?;
            self.buffer.truncate(searched + read);
            if read == 0 {
                self.used = searched;
                return Ok((searched > 0).then_some((0, searched)));
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_their_places() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let long = "x".repeat(READ);
        std::fs::write(file.path(), format!("a 1\n\n \r\n{long}\nb")).unwrap();
        let data = DataFile::open(file.path()).unwrap();
        let mut lines = Lines::new(&data, READ);
        let mut found = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            found.push((line.offset, line.number, line.text.len()));
        }
        assert_eq!(found, [(0, 1, 3), (8, 4, READ), (READ as u64 + 9, 5, 1)]);
        let mut lines = Lines::new(&data, READ - 1);
        assert!(lines.next_line().unwrap().is_some());
        let error = lines.next_line().unwrap_err();
        assert!(error.place().to_string().ends_with(":4"), "{error}");
    }
}

//! Reading objects from a stream of bytes, with the place of everything.

use std::io::BufRead;

use seqfeed_core::{Error, Key, Problem, Result};
use seqfeed_io::Input;

use crate::header::{Header, LONGEST_HEADER};
use crate::{ARCHIVE, OBJECT};

/// Memory is taken in steps of this size, so that a size that lies costs no more than the data that
/// are there.
const STEP: usize = 1 << 20;

/// Keys, headers and data from a stream.
pub(crate) struct ObjectReader {
    input: Input,
}

impl ObjectReader {
    pub(crate) fn new(input: Input) -> Self {
        Self { input }
    }

    pub(crate) fn name(&self) -> &str {
        self.input.name()
    }

    pub(crate) fn position(&self) -> u64 {
        self.input.position()
    }

    /// Ends reading: a command that failed is an error here.
    pub(crate) fn finish(self) -> Result<()> {
        self.input.finish()
    }

    /// What is buffered; empty at the end.
    pub(crate) fn fill(&mut self) -> Result<&[u8]> {
        // Borrowed again on success, since the borrow checker does not see that an error ends it.
        match self.input.fill_buf() {
            Ok(_) => {}
            Err(error) => return Err(self.input.error(error)),
        }
        Ok(self.input.fill_buf().unwrap_or_default())
    }

    pub(crate) fn consume(&mut self, bytes: usize) {
        self.input.consume(bytes);
    }

    pub(crate) fn peek(&mut self) -> Result<Option<u8>> {
        Ok(self.fill()?.first().copied())
    }

    pub(crate) fn next(&mut self) -> Result<Option<u8>> {
        let byte = self.peek()?;
        if byte.is_some() {
            self.consume(1);
        }
        Ok(byte)
    }

    /// An error at the current position.
    pub(crate) fn error(&self, format: &'static str, problem: Problem) -> Error {
        Error::format(format, problem).in_file(self.name()).at_byte(self.position())
    }

    pub(crate) fn unexpected(
        &mut self,
        format: &'static str,
        expected: &'static str,
    ) -> Result<Error> {
        let buffer = self.fill()?;
        let found = buffer[..buffer.len().min(16)].to_vec();
        Ok(self.error(format, Problem::Unexpected { expected: expected.into(), found }))
    }

    /// Skips white space; whether something follows.
    pub(crate) fn skip_space(&mut self) -> Result<bool> {
        loop {
            let buffer = self.fill()?;
            if buffer.is_empty() {
                return Ok(false);
            }
            let space = buffer.iter().take_while(|&&byte| is_space(byte)).count();
            let more = space == buffer.len();
            self.consume(space);
            if !more {
                return Ok(true);
            }
        }
    }

    /// The next key of an archive with the blank behind it, or `false` at the end.
    pub(crate) fn read_key(&mut self, key: &mut Vec<u8>) -> Result<bool> {
        key.clear();
        if !self.skip_space()? {
            return Ok(false);
        }
        loop {
            match self.peek()? {
                None => {
                    let problem = Problem::UnexpectedEnd { inside: "a key", missing: None };
                    return Err(self.error(ARCHIVE, problem).of_key(Key(key)));
                }
                Some(byte) if is_space(byte) => break,
                Some(byte) => {
                    key.push(byte);
                    self.consume(1);
                }
            }
        }
        match self.peek()? {
            Some(b' ' | b'\t') => self.consume(1),
            // The object begins with the line's end: an empty vector, for instance.
            Some(b'\n') => {}
            _ => {
                let error = self.unexpected(ARCHIVE, "a space behind the key")?;
                return Err(error.of_key(Key(key)));
            }
        }
        Ok(true)
    }

    /// The header of a binary object.
    pub(crate) fn read_header(&mut self, scalar: bool) -> Result<Header> {
        let start = self.position();
        let mut bytes = Vec::with_capacity(LONGEST_HEADER);
        loop {
            let parsed = Header::parse(&bytes, scalar);
            let whole = parsed.as_ref().is_ok_and(|header| header.len <= bytes.len());
            if whole || bytes.len() == LONGEST_HEADER {
                let place = |error: Error| error.in_file(self.name()).at_byte(start);
                return parsed.map_err(place);
            }
            match self.next()? {
                Some(byte) => bytes.push(byte),
                None => {
                    let problem = Problem::UnexpectedEnd { inside: "a header", missing: None };
                    return Err(self.error(OBJECT, problem));
                }
            }
        }
    }

    /// Reads `len` bytes of data.
    pub(crate) fn read_data(&mut self, len: u64, data: &mut Vec<u8>) -> Result<()> {
        data.clear();
        let mut left = len;
        while left > 0 {
            let buffer = self.fill()?;
            if buffer.is_empty() {
                let problem = Problem::UnexpectedEnd { inside: "data", missing: Some(left) };
                return Err(self.error(OBJECT, problem));
            }
            let taken = buffer.len().min(STEP).min(usize::try_from(left).unwrap_or(usize::MAX));
            data.extend_from_slice(&buffer[..taken]);
            self.consume(taken);
            left -= taken as u64;
        }
        Ok(())
    }
}

/// White space in Kaldi's sense: C's `isspace`.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

//! The index of a binary archive in a plain file: keys and headers are read, data are skipped.

use seqfeed_core::{Error, Key, Problem, Result};
use seqfeed_io::{DataFile, too_long};

use super::header::{Header, LONGEST_HEADER, Object};
use crate::ARCHIVE;
use crate::object_reader::is_space;
use crate::objects::compressed_header::SURPLUS;

/// The bytes to read at a time: enough for a key and a header.
const STEP: usize = 512;

/// An archive, object by object.
pub(crate) struct ArchiveScan<'a> {
    file: &'a DataFile,
    scalar: bool,
    line_limit: usize,
    position: u64,
    /// Bytes of the file from `start` on.
    buffer: Vec<u8>,
    start: u64,
}

/// The result of a scan step.
pub(crate) enum Found {
    /// A binary object, and its position.
    Binary { header: Header, offset: u64 },
    /// A text object, with the position of its key. It cannot be skipped.
    Text { key_offset: u64 },
}

impl<'a> ArchiveScan<'a> {
    pub(crate) fn new(file: &'a DataFile, offset: u64, scalar: bool, line_limit: usize) -> Self {
        Self { file, scalar, line_limit, position: offset, buffer: Vec::new(), start: 0 }
    }

    /// Reads the next key into `key`; `None` at the end.
    ///
    /// After an object that fails nothing more can be found.
    pub(crate) fn next(&mut self, key: &mut Vec<u8>) -> Result<Option<Found>> {
        key.clear();
        while let Some(byte) = self.byte(self.position)? {
            if !is_space(byte) {
                break;
            }
            self.position += 1;
        }
        let key_offset = self.position;
        loop {
            match self.byte(self.position)? {
                None if key.is_empty() => return Ok(None),
                None => {
                    let problem = Problem::UnexpectedEnd { inside: "a key", missing: None };
                    return Err(self.error(problem).of_key(Key(key)));
                }
                Some(byte) if is_space(byte) => break,
                Some(_) if key.len() == self.line_limit => {
                    let error = too_long("bytes of a key", key.len() + 1, self.line_limit);
                    return Err(error.in_file(self.file.name()).at_byte(key_offset));
                }
                Some(byte) => {
                    key.push(byte);
                    self.position += 1;
                }
            }
        }
        self.object(key_offset).map(Some).map_err(|error| error.of_key(Key(key)))
    }

    fn object(&mut self, key_offset: u64) -> Result<Found> {
        match self.byte(self.position)? {
            Some(b' ' | b'\t') => self.position += 1,
            Some(b'\n') => return Ok(Found::Text { key_offset }),
            other => {
                let expected = "a space behind the key".into();
                let found = other.into_iter().collect();
                return Err(self.error(Problem::Unexpected { expected, found }));
            }
        }
        let offset = self.position;
        if self.byte(offset)? != Some(0) {
            return Ok(Found::Text { key_offset });
        }
        let scalar = self.scalar;
        let header = header_at(self.bytes(offset, LONGEST_HEADER)?, scalar)
            .map_err(|error| error.in_file(self.file.name()).at_byte(offset))?;
        inside(self.file, &header, offset)?;
        self.position = offset + header.len as u64 + header.data_len;
        if matches!(header.object, Object::Compressed(matrix) if matrix.cols == 0)
            && self.bytes(self.position, SURPLUS.len())? == SURPLUS
        {
            self.position += SURPLUS.len() as u64;
        }
        Ok(Found::Binary { header, offset })
    }

    fn error(&self, problem: Problem) -> Error {
        Error::format(ARCHIVE, problem).in_file(self.file.name()).at_byte(self.position)
    }

    fn byte(&mut self, at: u64) -> Result<Option<u8>> {
        Ok(self.bytes(at, 1)?.first().copied())
    }

    /// Up to `len` bytes from `at` on; fewer only at the end of the file.
    fn bytes(&mut self, at: u64, len: usize) -> Result<&[u8]> {
        let buffered = self.start..self.start + self.buffer.len() as u64;
        if !(buffered.contains(&at) && at + len as u64 <= buffered.end) {
            self.buffer.resize(STEP, 0);
            let read = self.file.read_at(&mut self.buffer, at)?;
            self.buffer.truncate(read);
            self.start = at;
        }
        let from = (at - self.start) as usize;
        let end = self.buffer.len().min(from + len);
        Ok(&self.buffer[from.min(end)..end])
    }
}

/// The header at the front of `bytes`. They end early only at the end of the file.
pub(crate) fn header_at(bytes: &[u8], scalar: bool) -> Result<Header> {
    let header = Header::parse(bytes, scalar)?;
    if header.len > bytes.len() {
        let missing = Some((header.len - bytes.len()) as u64);
        let problem = Problem::UnexpectedEnd { inside: "a header", missing };
        return Err(Error::format(crate::OBJECT, problem));
    }
    Ok(header)
}

/// Checks that an object lies inside its file.
pub(crate) fn inside(file: &DataFile, header: &Header, offset: u64) -> Result<()> {
    let data = offset + header.len as u64;
    let there = file.len().saturating_sub(data);
    if header.data_len > there {
        let missing = Some(header.data_len - there);
        let problem = Problem::UnexpectedEnd { inside: "data", missing };
        return Err(Error::format(crate::OBJECT, problem)
            .in_file(file.name())
            .at_byte(data)
            .with_help("the file is cut short, or its header is damaged"));
    }
    Ok(())
}

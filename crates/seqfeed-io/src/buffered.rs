//! A buffer over a reader that counts and can look ahead.

use std::io::{self, BufRead, Read};

/// How much is read at once.
pub(crate) const CAPACITY: usize = 64 * 1024;

/// A buffer over a reader. Unlike the one of the standard library it can [look
/// ahead](Self::look_ahead) over several short reads, and knows its position.
pub(crate) struct Buffered {
    reader: Box<dyn Read + Send>,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    position: u64,
}

impl Buffered {
    pub(crate) fn new(reader: Box<dyn Read + Send>, position: u64) -> Self {
        let buffer = vec![0; CAPACITY].into_boxed_slice();
        Self { reader, buffer, start: 0, end: 0, position }
    }

    /// The offset of the next byte that will be read.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// The bytes that are buffered.
    pub(crate) fn buffered(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Adds to the buffer with one read; false at the end, or when the buffer is full.
    pub(crate) fn look_ahead(&mut self) -> io::Result<bool> {
        let count = read_once(&mut self.reader, &mut self.buffer[self.end..])?;
        self.end += count;
        Ok(count > 0)
    }
}

impl Read for Buffered {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let count = if self.start == self.end && buf.len() >= CAPACITY {
            read_once(&mut self.reader, buf)?
        } else {
            let available = self.fill_buf()?;
            let count = available.len().min(buf.len());
            buf[..count].copy_from_slice(&available[..count]);
            self.start += count;
            count
        };
        self.position += count as u64;
        Ok(count)
    }
}

impl BufRead for Buffered {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            self.end = read_once(&mut self.reader, &mut self.buffer)?;
        }
        Ok(self.buffered())
    }

    fn consume(&mut self, amount: usize) {
        let amount = amount.min(self.end - self.start);
        self.start += amount;
        self.position += amount as u64;
    }
}

/// One read, repeated where a signal came between.
pub(crate) fn read_once(reader: &mut dyn Read, buf: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(buf) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

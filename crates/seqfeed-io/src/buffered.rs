//! A buffer over a reader, with a position and look-ahead.

use std::io::{self, BufRead, IoSliceMut, Read, SeekFrom};

use crate::read_at::Seekable;

/// The most bytes of one read.
pub(crate) const CAPACITY: usize = 64 * 1024;

/// A buffer over a reader. Unlike the buffer of the standard library it knows its position, and can
/// [look ahead](Self::look_ahead) over several short reads.
pub(crate) struct Buffered {
    reader: Reader,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    position: u64,
    /// The bytes that the next read fills: few after a seek, more with every further read.
    window: usize,
}

enum Reader {
    /// A regular file or an object of a store, which can seek, with its last known length.
    Seekable(Box<dyn Seekable>, u64),
    Stream(Box<dyn Read + Send>),
}

/// The bytes to read ahead behind a large object or a seek: enough for the next key and header.
const AHEAD: usize = 4 * 1024;

impl Buffered {
    pub(crate) fn new(reader: Box<dyn Read + Send>, position: u64) -> Self {
        Self::with(Reader::Stream(reader), position)
    }

    /// A buffer over a file or an object that can seek, at a position.
    pub(crate) fn of_seekable(file: impl Seekable + 'static, len: u64, position: u64) -> Self {
        Self::with(Reader::Seekable(Box::new(file), len), position)
    }

    fn with(reader: Reader, position: u64) -> Self {
        let buffer = vec![0; CAPACITY].into_boxed_slice();
        Self { reader, buffer, start: 0, end: 0, position, window: CAPACITY }
    }

    /// Fails if a file ends before the position, because it was cut short after its length was
    /// read.
    fn check_end(&self) -> io::Result<()> {
        let Reader::Seekable(file, _) = &self.reader else { return Ok(()) };
        let len = file.len()?;
        // Files that the system makes up (`/proc`) have a length of 0.
        if len == 0 || self.position <= len {
            return Ok(());
        }
        Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the file was cut short while it was read",
        ))
    }

    /// The bytes left in a regular file. If they are fewer than `wanted`, the length is read again.
    pub(crate) fn remaining(&mut self, wanted: u64) -> Option<u64> {
        let Reader::Seekable(file, len) = &mut self.reader else { return None };
        if len.saturating_sub(self.position) < wanted {
            *len = file.len().ok()?;
        }
        // Files that the system makes up (`/proc`) have a length of 0, but do have contents.
        if *len == 0 {
            return None;
        }
        Some(len.saturating_sub(self.position))
    }

    /// Goes to a position, if this is a regular file.
    pub(crate) fn seek(&mut self, position: u64) -> io::Result<bool> {
        let Reader::Seekable(file, _) = &mut self.reader else { return Ok(false) };
        let buffered =
            self.position - self.start as u64..self.position + (self.end - self.start) as u64;
        if buffered.contains(&position) {
            self.start = (position - buffered.start) as usize;
        } else {
            file.seek(SeekFrom::Start(position))?;
            (self.start, self.end) = (0, 0);
            self.window = AHEAD;
        }
        self.position = position;
        Ok(true)
    }

    /// Skips up to `count` bytes. Returns how many; zero only at the end.
    pub(crate) fn skip(&mut self, count: u64) -> io::Result<u64> {
        let buffered = (self.end - self.start) as u64;
        if count > buffered
            && let Some(remaining) = self.remaining(count)
        {
            let skipped = count.min(remaining);
            self.seek(self.position + skipped)?;
            return Ok(skipped);
        }
        let skipped = (self.fill_buf()?.len() as u64).min(count);
        self.consume(skipped as usize);
        Ok(skipped)
    }

    /// The offset of the next byte that will be read.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// The bytes in the buffer.
    pub(crate) fn buffered(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// At least `count` contiguous bytes; fewer only at the end. The buffer grows if necessary.
    pub(crate) fn ensure(&mut self, count: usize) -> io::Result<&[u8]> {
        while self.end - self.start < count {
            if self.start + count > self.buffer.len() || self.start == self.end {
                self.buffer.copy_within(self.start..self.end, 0);
                (self.start, self.end) = (0, self.end - self.start);
            }
            if count > self.buffer.len() {
                let mut larger = vec![0; count.next_power_of_two()];
                larger[..self.end].copy_from_slice(&self.buffer[..self.end]);
                self.buffer = larger.into_boxed_slice();
            }
            if !self.look_ahead()? {
                break;
            }
        }
        Ok(self.buffered())
    }

    /// Adds to the buffer with one read. Returns false at the end, or if the buffer is full.
    pub(crate) fn look_ahead(&mut self) -> io::Result<bool> {
        let count = self.reader.read(&mut self.buffer[self.end..])?;
        self.end += count;
        Ok(count > 0)
    }
}

impl Read for Buffered {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let count = if self.start == self.end && buf.len() >= AHEAD {
            (self.start, self.end) = (0, 0);
            // One call reads the wanted bytes and the following ones. So few bytes are copied twice
            // when objects follow one another.
            let count = self.reader.read_two(buf, &mut self.buffer[..AHEAD])?;
            self.end = count.saturating_sub(buf.len());
            count.min(buf.len())
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
            self.end = self.reader.read(&mut self.buffer[..self.window])?;
            self.window = (4 * self.window).min(CAPACITY);
            if self.end == 0 {
                self.check_end()?;
            }
        }
        Ok(self.buffered())
    }

    fn consume(&mut self, amount: usize) {
        let amount = amount.min(self.end - self.start);
        self.start += amount;
        self.position += amount as u64;
    }
}

impl Reader {
    /// One read, repeated after a signal.
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            let result = match self {
                Self::Seekable(file, _) => file.read(buf),
                Self::Stream(reader) => reader.read(buf),
            };
            match result {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    /// One read into two buffers. Only files need fill the second one.
    fn read_two(&mut self, first: &mut [u8], second: &mut [u8]) -> io::Result<usize> {
        let Self::Seekable(file, _) = self else { return self.read(first) };
        loop {
            match file.read_vectored(&mut [IoSliceMut::new(first), IoSliceMut::new(second)]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }
}

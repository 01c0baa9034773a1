//! Reads a master label file as a stream: lines outside of entries, and the ends of entries.

use std::io::{self, Read};
use std::ops::Range;

use memchr::memmem::Finder;
use seqfeed_core::{Error, Result};
use seqfeed_io::{LineLimit, too_long};

const PIECE: usize = 1 << 20;

/// A stream with a buffer for a part of it.
///
/// Entries are not read line by line. An entry ends with a line that has only a dot. This line is
/// searched for directly, and the lines before it are counted. Both run at the speed of memory.
pub(super) struct StreamBuffer<R> {
    reader: R,
    name: String,
    buffer: Vec<u8>,
    /// The range of the buffer that has not been passed yet.
    held: Range<usize>,
    /// The offset of the first byte in this range.
    offset: u64,
    /// The line of the first byte in this range, from 1.
    line: u64,
    ended: bool,
    dot: Finder<'static>,
    /// Whether blanks may stand around the dot.
    blanks: bool,
    /// The most bytes of a line.
    limit: usize,
    /// Checks the lines that were passed.
    passed: LineLimit,
}

/// The parts of an entry that are wanted beside its end.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Keep {
    Nothing,
    /// Its last line that is not empty.
    LastLine,
}

/// The end of an entry's lines.
pub(super) struct BodyEnd {
    /// The start of the dot's line, or the end of the file.
    pub(super) offset: u64,
    /// Whether there is a dot.
    pub(super) dot: bool,
    /// The last line that is not empty, without its end.
    pub(super) last_line: Vec<u8>,
    /// Its number.
    pub(super) last_line_number: u64,
}

/// A search in the buffered bytes.
enum Search {
    /// A dot: the position of the newline before it, and the end of its line (before its newline).
    Found(usize, usize),
    /// None up to this position. The search continues there when there are more bytes.
    GoOn(usize),
}

impl<R: Read> StreamBuffer<R> {
    pub(super) fn new(name: &str, reader: R, blanks: bool, limit: usize) -> Self {
        Self {
            reader,
            name: name.to_owned(),
            buffer: vec![0; PIECE],
            held: 0..0,
            offset: 0,
            line: 1,
            ended: false,
            dot: Finder::new(b"\n."),
            blanks,
            limit,
            passed: LineLimit::of_lines(limit),
        }
    }

    /// The offset of the next byte.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// The number of the next byte's line, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    fn bytes(&self) -> &[u8] {
        &self.buffer[self.held.clone()]
    }

    /// Reads more, unless the file has ended. Returns whether there may be more.
    fn fill(&mut self) -> Result<bool> {
        if self.ended {
            return Ok(false);
        }
        if self.held.start > 0 {
            self.buffer.copy_within(self.held.clone(), 0);
            self.held = 0..self.held.len();
        }
        if self.held.end == self.buffer.len() {
            // A line that is needed whole stays in the buffer, with the bytes that show its end.
            self.check(self.buffer.len().saturating_sub(2))?;
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        loop {
            match self.reader.read(&mut self.buffer[self.held.end..]) {
                Ok(0) => self.ended = true,
                Ok(count) => self.held.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    let at = self.offset + self.held.len() as u64;
                    return Err(Error::io("reading", error).in_file(&self.name).at_byte(at));
                }
            }
            return Ok(!self.ended);
        }
    }

    /// Refuses a line of `bytes` bytes if this is too long.
    fn check(&self, bytes: usize) -> Result<()> {
        if bytes <= self.limit {
            return Ok(());
        }
        let error = too_long("bytes of a line", bytes, self.limit);
        Err(error.in_file(&self.name).at_line(self.line))
    }

    /// The next line without its newline; `None` at the end. [`pass`](StreamBuffer::pass) consumes
    /// it.
    pub(super) fn peek_line(&mut self) -> Result<Option<&[u8]>> {
        let mut from = 0;
        let len = loop {
            if let Some(at) = memchr::memchr(b'\n', &self.bytes()[from..]) {
                break from + at;
            }
            from = self.held.len();
            self.check(from)?;
            if !self.fill()? {
                if from == 0 {
                    return Ok(None);
                }
                break from;
            }
        };
        self.check(len)?;
        Ok(Some(&self.bytes()[..len]))
    }

    /// Consumes buffered bytes. Fails if they contain a line that is too long.
    pub(super) fn pass(&mut self, count: usize) -> Result<()> {
        let count = count.min(self.held.len());
        let bytes = &self.buffer[self.held.start..self.held.start + count];
        self.passed.pass(bytes).map_err(|error| error.in_file(&self.name))?;
        self.line += memchr::memchr_iter(b'\n', &self.bytes()[..count]).count() as u64;
        self.offset += count as u64;
        self.held.start += count;
        Ok(())
    }

    /// Consumes the lines of an entry and the dot's line. Call it at the newline before the first
    /// of them.
    pub(super) fn body(&mut self, keep: Keep) -> Result<BodyEnd> {
        // Nothing has been searched from here on.
        let mut from = 0;
        loop {
            match self.search(from) {
                Search::Found(newline, end) => {
                    let mut body = self.body_end(newline, keep);
                    body.dot = true;
                    self.pass(end + 1)?;
                    return Ok(body);
                }
                Search::GoOn(next) if self.ended => {
                    let len = self.held.len();
                    let mut body = self.body_end(len, keep);
                    // At the end there is no newline to consume.
                    body.offset = self.offset + len as u64;
                    debug_assert!(next <= len);
                    self.pass(len)?;
                    return Ok(body);
                }
                Search::GoOn(next) => {
                    let kept = match keep {
                        Keep::Nothing => next,
                        Keep::LastLine => {
                            next.min(last_line(&self.bytes()[..next]).start.saturating_sub(1))
                        }
                    };
                    self.pass(kept)?;
                    from = next - kept;
                    self.fill()?;
                }
            }
        }
    }

    /// The end of an entry before the newline at `newline`.
    fn body_end(&self, newline: usize, keep: Keep) -> BodyEnd {
        let bytes = &self.bytes()[..newline];
        let (mut line, mut number) = (Vec::new(), 0);
        if keep == Keep::LastLine {
            let range = last_line(bytes);
            number = self.line + memchr::memchr_iter(b'\n', &bytes[..range.start]).count() as u64;
            line.extend_from_slice(&bytes[range]);
        }
        BodyEnd {
            offset: self.offset + newline as u64 + 1,
            dot: false,
            last_line: line,
            last_line_number: number,
        }
    }

    fn search(&self, mut from: usize) -> Search {
        let bytes = self.bytes();
        if self.blanks {
            return self.search_with_blanks(from);
        }
        while let Some(at) = self.dot.find(&bytes[from..]) {
            let newline = from + at;
            match &bytes[newline + 2..] {
                [b'\n', ..] => return Search::Found(newline, newline + 2),
                [b'\r', b'\n', ..] => return Search::Found(newline, newline + 3),
                [] | [b'\r'] if self.ended => return Search::Found(newline, bytes.len()),
                [] | [b'\r'] => return Search::GoOn(newline),
                _ => from = newline + 2,
            }
        }
        // A newline at the end may be the one before the dot.
        let last = bytes.len().saturating_sub(usize::from(bytes.ends_with(b"\n")));
        Search::GoOn(last.max(from.min(bytes.len())))
    }

    /// The same with blanks around the dot, line by line.
    fn search_with_blanks(&self, from: usize) -> Search {
        let bytes = self.bytes();
        let Some(first) = memchr::memchr(b'\n', &bytes[from..]) else {
            return Search::GoOn(bytes.len());
        };
        let mut newline = from + first;
        loop {
            let line = &bytes[newline + 1..];
            match memchr::memchr(b'\n', line) {
                Some(len) if line[..len].trim_ascii() == b"." => {
                    return Search::Found(newline, newline + 1 + len);
                }
                Some(len) => newline += 1 + len,
                None if self.ended && line.trim_ascii() == b"." => {
                    return Search::Found(newline, bytes.len());
                }
                None => return Search::GoOn(newline),
            }
        }
    }
}

/// The last line that is not empty, if it is whole, that is, after a newline.
fn last_line(bytes: &[u8]) -> Range<usize> {
    let end =
        bytes.len() - bytes.iter().rev().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
    memchr::memrchr(b'\n', &bytes[..end]).map_or(0..0, |newline| newline + 1..end)
}

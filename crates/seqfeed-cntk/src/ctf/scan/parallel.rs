//! Makes the index of a file with several threads, if the file can be read at any place.

use std::thread;

use memchr::memchr;
use seqfeed_core::{Error, Problem, Result};

use super::body::{Body, ScannedPart};
use super::head::{Head, Start};
use super::{ScanOptions, index};
use crate::ctf::{CTF, CtfIndex, KeyKind, Names};

/// The bytes to read at once.
const PIECE: u64 = 1 << 20;

/// Makes the index of a file of `len` bytes, the same as from a [`Scanner`](super::Scanner).
///
/// The file is cut at starts of lines into one part for each thread. `read_at(offset, buffer)`
/// fills a buffer, or its beginning, from an offset on, and returns the number of bytes. Zero means
/// the end of the file.
///
/// # Errors
///
/// As [`Scanner::push`](super::Scanner::push) and [`Scanner::finish`](super::Scanner::finish); the
/// errors of `read_at`; and if the file ends before `len`.
pub fn scan_in_parallel<R>(
    read_at: R,
    len: u64,
    threads: usize,
    options: &ScanOptions,
    names: &mut Names,
) -> Result<CtfIndex>
where
    R: Fn(u64, &mut [u8]) -> Result<usize> + Sync,
{
    let file = File { read_at, len, piece: PIECE };
    file.scan(threads, options, names)
}

struct File<R> {
    read_at: R,
    len: u64,
    piece: u64,
}

impl<R: Fn(u64, &mut [u8]) -> Result<usize> + Sync> File<R> {
    fn scan(&self, threads: usize, options: &ScanOptions, names: &mut Names) -> Result<CtfIndex> {
        let start = self.head(options)?;
        let parts = threads.max(1) as u64;
        let from = start.position();
        let cut = |number: u64| {
            let share = u128::from(self.len - from) * u128::from(number) / u128::from(parts);
            // The first line belongs to the first part.
            (from + (share as u64).max(u64::from(number > 0))).min(self.len)
        };
        let scan = |number: u64| {
            let mut names = Names::new();
            let part = self.part(&start, number, cut(number)..cut(number + 1), options, &mut names);
            (part, names)
        };
        let found: Vec<_> = thread::scope(|scope| {
            let start = |number| thread::Builder::new().spawn_scoped(scope, move || scan(number));
            let others: Vec<_> = (1..parts).map(|number| (number, start(number))).collect();
            let first = scan(0);
            let others = others.into_iter().map(|(number, thread)| match thread {
                Ok(thread) => match thread.join() {
                    Ok(found) => found,
                    Err(panic) => std::panic::resume_unwind(panic),
                },
                // There is no thread for it, so this thread does it.
                Err(_) => scan(number),
            });
            std::iter::once(first).chain(others).collect()
        });
        let mut parts: Vec<ScannedPart> = Vec::with_capacity(found.len());
        for (part, its_names) in found {
            let mut part = part?;
            if options.keys == KeyKind::Symbolic {
                let keys: Vec<u64> = its_names.iter().map(|name| names.number(name)).collect();
                part.rename(&keys);
            }
            if let Some(before) = parts.last()
                && start.line_mode
            {
                part.number_lines(before.lines);
            }
            parts.push(part);
        }
        index(parts, self.len, options.keys, names)
    }

    /// Skips the head.
    fn head(&self, options: &ScanOptions) -> Result<Start> {
        let mut head = Head::default();
        let mut buffer = Vec::new();
        let mut position = 0;
        while position < self.len {
            let bytes = self.read(&mut buffer, position)?;
            if let Some((start, _)) = head.push(bytes, options)? {
                return Ok(start);
            }
            position += bytes.len() as u64;
        }
        head.finish(options)
    }

    /// Scans the lines that start in a range.
    fn part(
        &self,
        start: &Start,
        number: u64,
        range: std::ops::Range<u64>,
        options: &ScanOptions,
        names: &mut Names,
    ) -> Result<ScannedPart> {
        let mut buffer = Vec::new();
        let mut body: Body;
        if number == 0 {
            body = Body::new(options, start);
            body.push(start.held(), names)?;
        } else {
            body = match self.next_line(&mut buffer, range.start - 1)? {
                Some(line) if line < range.end => Body::part(options, start, line),
                _ => return Ok(ScannedPart::nothing()),
            };
        }
        while body.position() < self.len {
            let bytes = self.read(&mut buffer, body.position())?;
            // The last line may go on after the range. It ends where the range does, or later.
            let inside = (range.end - 1).saturating_sub(body.position());
            let behind = usize::try_from(inside).ok().and_then(|inside| bytes.get(inside..));
            if let Some(len) = behind.and_then(|behind| memchr(b'\n', behind)) {
                body.push(&bytes[..inside as usize + len + 1], names)?;
                break;
            }
            body.push(bytes, names)?;
        }
        body.finish()
    }

    /// The start of a line after a byte, which may be the line feed before it.
    fn next_line(&self, buffer: &mut Vec<u8>, mut position: u64) -> Result<Option<u64>> {
        while position < self.len {
            let bytes = self.read(buffer, position)?;
            if let Some(at) = memchr(b'\n', bytes) {
                return Ok(Some(position + at as u64 + 1));
            }
            position += bytes.len() as u64;
        }
        Ok(None)
    }

    /// Reads at least one byte.
    fn read<'b>(&self, buffer: &'b mut Vec<u8>, position: u64) -> Result<&'b [u8]> {
        let want = self.piece.min(self.len - position) as usize;
        buffer.resize(want, 0);
        let got = (self.read_at)(position, buffer)?.min(want);
        if got == 0 {
            let missing = Some(self.len - position);
            return Err(Error::format(CTF, Problem::UnexpectedEnd { inside: "lines", missing })
                .at_byte(position)
                .with_help("was it cut short while it was read?"));
        }
        Ok(&buffer[..got])
    }
}

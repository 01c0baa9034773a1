//! Standard input, shared by all names `-` of a process.
//!
//! As in Kaldi, a second reader of `-` continues where the first stopped.

use std::io::{self, BufRead, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Compression;
use crate::buffered::{Buffered, CAPACITY};
use crate::decode::decode;
use crate::interrupts::Waiting;
use crate::same_file::note_stdin;

/// The name of standard input in messages.
pub(crate) const NAME: &str = "standard input";

static STDIN: Mutex<Option<Shared>> = Mutex::new(None);

/// Standard input, decoded, shared by all its readers.
struct Shared {
    stream: Buffered,
    compression: Compression,
    /// The part of the stream that is being read, and its position.
    piece: Arc<Vec<u8>>,
    piece_start: u64,
    position: u64,
}

/// A reader of standard input.
///
/// It shares a part of the stream with the others, and asks for the shared position each time.
/// Bytes that one reader consumes are skipped by the others.
pub(crate) struct Stdin {
    compression: Compression,
    piece: Arc<Vec<u8>>,
}

impl Stdin {
    pub(crate) fn open() -> io::Result<Self> {
        let mut shared = lock();
        let compression = open_shared(&mut shared)?.compression;
        Ok(Self { compression, piece: Arc::default() })
    }

    pub(crate) fn compression(&self) -> Compression {
        self.compression
    }

    /// At least `count` contiguous bytes; fewer only at the end.
    pub(crate) fn ensure(&mut self, count: usize) -> io::Result<&[u8]> {
        let mut shared = lock();
        let shared = open_shared(&mut shared)?;
        self.piece = Arc::default();
        shared.ensure(count)?;
        self.piece = Arc::clone(&shared.piece);
        Ok(&self.piece[shared.offset()..])
    }

    pub(crate) fn position(&self) -> u64 {
        lock().as_ref().map_or(0, |shared| shared.position)
    }
}

fn lock() -> MutexGuard<'static, Option<Shared>> {
    // A panic elsewhere leaves the position where it was.
    STDIN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn open_shared(shared: &mut Option<Shared>) -> io::Result<&mut Shared> {
    if shared.is_none() {
        note_stdin();
        let (compression, stream) = decode(Box::new(Waiting(io::stdin())))?;
        let piece = Arc::default();
        *shared = Some(Shared { stream, compression, piece, piece_start: 0, position: 0 });
    }
    Ok(shared.as_mut().expect("it was opened just now"))
}

impl Shared {
    /// The offset of the next byte in the part.
    fn offset(&self) -> usize {
        // The position lies inside the part or at its end.
        (self.position - self.piece_start) as usize
    }

    /// Extends the part to at least `count` bytes beyond the position, if the stream has them.
    fn ensure(&mut self, count: usize) -> io::Result<()> {
        self.refill()?;
        if self.piece.len() - self.offset() >= count {
            return Ok(());
        }
        let mut piece = self.piece[self.offset()..].to_vec();
        let read = loop {
            match self.stream.fill_buf() {
                Ok([]) => break Ok(()),
                Ok(more) => {
                    piece.extend_from_slice(more);
                    let taken = more.len();
                    self.stream.consume(taken);
                }
                Err(error) => break Err(error),
            }
            if piece.len() >= count {
                break Ok(());
            }
        };
        (self.piece, self.piece_start) = (Arc::new(piece), self.position);
        read
    }

    /// Gets the next part if this one is used up.
    fn refill(&mut self) -> io::Result<()> {
        if self.offset() < self.piece.len() {
            return Ok(());
        }
        let available = self.stream.fill_buf()?;
        let count = available.len();
        match Arc::get_mut(&mut self.piece) {
            Some(piece) => {
                piece.clear();
                piece.extend_from_slice(available);
            }
            None => self.piece = Arc::new(available.to_vec()),
        }
        self.piece_start = self.position;
        self.stream.consume(count);
        Ok(())
    }
}

impl Read for Stdin {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let mut shared = lock();
        let shared = open_shared(&mut shared)?;
        if shared.offset() == shared.piece.len() && buf.len() >= CAPACITY {
            let count = shared.stream.read(buf)?;
            shared.position += count as u64;
            shared.piece = Arc::default();
            shared.piece_start = shared.position;
            return Ok(count);
        }
        self.piece = Arc::default();
        shared.refill()?;
        let available = &shared.piece[shared.offset()..];
        let count = available.len().min(buf.len());
        buf[..count].copy_from_slice(&available[..count]);
        shared.position += count as u64;
        Ok(count)
    }
}

impl BufRead for Stdin {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let mut shared = lock();
        let shared = open_shared(&mut shared)?;
        // It is released first, so that a part that nobody else holds is used again.
        self.piece = Arc::default();
        shared.refill()?;
        self.piece = Arc::clone(&shared.piece);
        Ok(&self.piece[shared.offset()..])
    }

    fn consume(&mut self, amount: usize) {
        if let Some(shared) = lock().as_mut() {
            let left = shared.piece.len() - shared.offset();
            shared.position += amount.min(left) as u64;
        }
    }
}

//! The body of a record batch: its buffers, uncompressed or compressed.

use std::io::{self, Read};
use std::sync::Arc;

use arrow_buffer::Buffer;
use seqfeed_core::{Error, Problem, Result};
use seqfeed_io::{DataFile, Spool, UntilFailed};

use crate::ARROW;
use crate::store::{Store, beyond};

/// Bytes to decompress at a time.
const STEP: usize = 1 << 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Codec {
    Lz4,
    Zstd,
}

/// The metadata of a record batch. All its ranges lie inside the file.
pub(crate) struct Body {
    pub(crate) file: Arc<DataFile>,
    pub(crate) rows: usize,
    /// Length and number of nulls of each array, depth first.
    pub(crate) nodes: Vec<(u64, u64)>,
    /// The position and the length of each buffer in the file.
    pub(crate) buffers: Vec<(u64, u64)>,
    /// For arrays of views, their numbers of data buffers.
    pub(crate) variadic: Vec<u64>,
    pub(crate) codec: Option<Codec>,
}

impl Body {
    pub(crate) fn is_compressed(&self) -> bool {
        self.codec.is_some()
    }

    /// A buffer in place, or in the spool if it is compressed. It must have `needed` bytes.
    pub(crate) fn store(
        &self,
        buffer: usize,
        needed: u64,
        spool: &mut Option<Spool>,
    ) -> Result<Store> {
        let (start, len) = self.place(buffer)?;
        let plain = |start, len| {
            let file = Arc::clone(&self.file);
            Store::File { file, start, len }
        };
        let store = match self.compressed(buffer)? {
            None => plain(start, len),
            Some(None) => plain(start + 8, len - 8),
            Some(Some((codec, size))) => {
                if size < needed {
                    return Err(self.at(beyond("a buffer", size, needed), start));
                }
                let spool = match spool {
                    Some(spool) => spool,
                    None => spool.insert(Spool::new()?),
                };
                let first = spool.position();
                self.decode(buffer, codec, needed, |bytes| spool.write_all(bytes))?;
                Store::Spooled { start: first, len: needed }
            }
        };
        if store.len() < needed {
            return Err(self.at(beyond("a buffer", store.len(), needed), start));
        }
        Ok(store)
    }

    /// The bytes of a buffer; at most `most` of them, if that is known.
    pub(crate) fn bytes(&self, buffer: usize, most: Option<u64>) -> Result<Buffer> {
        let (start, len) = self.place(buffer)?;
        let most = most.unwrap_or(u64::MAX);
        let read = |start: u64, len: u64| {
            let mut bytes = vec![0; len.min(most) as usize];
            self.file.read_exact_at(&mut bytes, start, "a buffer")?;
            // Aligned for numbers of any size.
            Ok(aligned(&bytes))
        };
        match self.compressed(buffer)? {
            None => read(start, len),
            Some(None) => read(start + 8, len - 8),
            Some(Some((codec, size))) => {
                let mut all = Vec::new();
                self.decode(buffer, codec, size.min(most), |bytes| {
                    all.extend_from_slice(bytes);
                    Ok(())
                })?;
                Ok(aligned(&all))
            }
        }
    }

    fn place(&self, buffer: usize) -> Result<(u64, u64)> {
        self.buffers.get(buffer).copied().ok_or_else(|| {
            let found = self.buffers.len() as u64;
            let what = "buffers of a record batch";
            let problem = Problem::CountMismatch { what, expected: buffer as u64 + 1, found };
            Error::format(ARROW, problem).in_file(self.file.name())
        })
    }

    /// The compression of a buffer, and its decompressed length. `Some(None)` if it is uncompressed
    /// after eight bytes that say so.
    fn compressed(&self, buffer: usize) -> Result<Option<Option<(Codec, u64)>>> {
        let (start, len) = self.place(buffer)?;
        let Some(codec) = self.codec else { return Ok(None) };
        if len == 0 {
            return Ok(None);
        }
        let mut size = [0; 8];
        if len < 8 {
            return Err(self.at(beyond("a compressed buffer", len, 8), start));
        }
        self.file.read_exact_at(&mut size, start, "a compressed buffer")?;
        match i64::from_le_bytes(size) {
            -1 => Ok(Some(None)),
            size => match u64::try_from(size) {
                Ok(size) => Ok(Some(Some((codec, size)))),
                Err(_) => {
                    let allowed = "0 at least, or -1".into();
                    let what = "the size of a compressed buffer";
                    let problem = Problem::OutOfRange { what, found: size, allowed };
                    Err(self.at(Error::format(ARROW, problem), start))
                }
            },
        }
    }

    /// Decompresses the first `size` bytes of a buffer.
    fn decode(
        &self,
        buffer: usize,
        codec: Codec,
        size: u64,
        mut each: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let (start, len) = self.place(buffer)?;
        let source = Section { file: &self.file, at: start + 8, end: start + len };
        let wrong = |error: io::Error| {
            let error = Error::decoding(error, |error| {
                let what = format!("a compressed buffer is damaged: {error}").into();
                Error::format(ARROW, Problem::Unsupported(what))
            });
            self.at(error, start)
        };
        let decoder: Box<dyn Read + '_> = match codec {
            Codec::Lz4 => Box::new(lz4_flex::frame::FrameDecoder::new(source)),
            Codec::Zstd => Box::new(zstd::stream::read::Decoder::new(source).map_err(wrong)?),
        };
        let mut decoder = UntilFailed::new(decoder);
        let (mut left, mut step) = (size, vec![0; STEP]);
        while left > 0 {
            let wanted = left.min(STEP as u64) as usize;
            let count = decoder.read(&mut step[..wanted]).map_err(wrong)?;
            if count == 0 {
                return Err(self.at(beyond("a compressed buffer", size - left, size), start));
            }
            each(&step[..count])?;
            left -= count as u64;
        }
        Ok(())
    }

    fn at(&self, error: Error, byte: u64) -> Error {
        error.in_file(self.file.name()).at_byte(byte)
    }
}

/// Copies bytes to memory that is aligned for any number.
fn aligned(bytes: &[u8]) -> Buffer {
    Buffer::from_slice_ref(bytes)
}

/// A part of a file, read from front to back.
struct Section<'a> {
    file: &'a DataFile,
    at: u64,
    end: u64,
}

impl Read for Section<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let there = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let wanted = there.min(buf.len());
        let count = self.file.read_at(&mut buf[..wanted], self.at).map_err(io::Error::other)?;
        self.at += count as u64;
        Ok(count)
    }
}

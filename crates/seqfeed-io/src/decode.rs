//! Undoing compression on the way in.

use std::io::{self, BufRead, Read};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::GzDecoder;
use zstd::stream::read::Decoder as ZstdDecoder;

use crate::buffered::Buffered;
use crate::{Compression, UntilFailed};

/// Looks at the first bytes of a stream and puts the decoder they ask for before it.
pub(crate) fn decode(reader: Box<dyn Read + Send>) -> io::Result<(Compression, Buffered)> {
    let mut raw = Buffered::new(reader, 0);
    while Compression::is_undecided(raw.buffered()) && raw.look_ahead()? {}
    let compression = Compression::detect(raw.buffered());
    let decoder: Box<dyn Read + Send> = match compression {
        Compression::None => return Ok((compression, raw)),
        Compression::Gzip => Box::new(Gzip::new(raw)),
        Compression::Bzip2 => Box::new(MultiBzDecoder::new(raw)),
        Compression::Zstd => Box::new(ZstdDecoder::with_buffer(raw)?),
    };
    Ok((compression, Buffered::new(Box::new(UntilFailed::new(decoder)), 0)))
}

/// gzip of several members, as `gunzip` reads it: zeros after the last member (from block devices)
/// are skipped, anything else there is an error.
enum Gzip<R> {
    Member(Box<GzDecoder<R>>),
    Ended,
}

impl<R: BufRead> Gzip<R> {
    fn new(reader: R) -> Self {
        Self::Member(Box::new(GzDecoder::new(reader)))
    }

    fn read_on(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(self, Self::Ended) {
                Self::Member(mut member) => {
                    match member.read(buf) {
                        Ok(0) => {}
                        Ok(count) => {
                            *self = Self::Member(member);
                            return Ok(count);
                        }
                        Err(error) => {
                            *self = Self::Member(member);
                            return Err(error);
                        }
                    }
                    if !skip_padding(member.get_mut())? {
                        *self = Self::new(member.into_inner());
                    }
                }
                Self::Ended => return Ok(0),
            }
        }
    }
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() { Ok(0) } else { self.read_on(buf) }
    }
}

/// Skips zeros behind a member; true at the end of the file.
fn skip_padding(reader: &mut impl BufRead) -> io::Result<bool> {
    let mut padded = false;
    loop {
        let available = reader.fill_buf()?;
        let zeros = available.iter().take_while(|byte| **byte == 0).count();
        let (empty, all_zeros) = (available.is_empty(), zeros == available.len());
        reader.consume(zeros);
        if empty {
            return Ok(true);
        }
        padded |= zeros > 0;
        if !all_zeros {
            return if padded {
                let message = "data follow the padding after the last gzip member";
                Err(io::Error::new(io::ErrorKind::InvalidData, message))
            } else {
                Ok(false)
            };
        }
    }
}

//! Decompression of gzip.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

/// A reader of gzip with several members, as `gunzip` reads it. Zeros after the last member (from
/// block devices) are skipped; any other byte there is an error.
pub(crate) enum Gzip<R> {
    Member(Box<GzDecoder<R>>),
    Ended,
}

impl<R: BufRead> Gzip<R> {
    pub(crate) fn new(reader: R) -> Self {
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

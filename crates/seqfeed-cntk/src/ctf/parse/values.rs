//! The values of a sample.

use seqfeed_core::{Error, ErrorKind};

use super::fault::Fault;
use super::{Cursor, is_non_printable, plain};
use crate::ctf::number::{digits, number};
use crate::ctf::{CtfFloat, CtfInput, StreamSamples};

impl Cursor<'_, '_> {
    /// Reads the values of a dense sample after its name.
    pub(super) fn dense<T: CtfFloat>(
        &mut self,
        input: &CtfInput,
        stream: &mut StreamSamples<T>,
    ) -> Result<(), Fault> {
        let start = stream.values.len();
        let dim = input.dim as usize;
        stream.values.try_reserve(dim).map_err(|_| Fault::Memory(no_memory::<T>(dim)))?;
        stream.values.resize(start + dim, T::default());
        match self.dense_values(&mut stream.values[start..]) {
            Ok(found) => {
                if found < dim {
                    self.parser.incidents.warn(self.offset + self.at as u64, || {
                        format!("a sample of '{}' has {found} values instead of {dim}: padded with zeros", input.name)
                    });
                }
                stream.samples += 1;
                Ok(())
            }
            Err(fault) => {
                stream.values.truncate(start);
                Err(fault)
            }
        }
    }

    /// Reads values into a row. Returns their number.
    fn dense_values<T: CtfFloat>(&mut self, row: &mut [T]) -> Result<usize, Fault> {
        let bytes = self.bytes;
        let mut at = self.at;
        let mut found = 0;
        let result = loop {
            found += plain::numbers(bytes, &mut at, row.get_mut(found..).unwrap_or_default());
            let Some(&byte) = bytes.get(at) else {
                // CNTK accepts no empty sample here.
                break if found == 0 { Err(Fault::NoValues) } else { Ok(()) };
            };
            if byte == b' ' || byte == b'\t' {
                at += 1;
                continue;
            }
            if byte == b'|' || is_non_printable(byte) {
                break Ok(());
            }
            let Some((value, len)) = number(&bytes[at..]) else { break Err(Fault::Number) };
            if let Some(place) = row.get_mut(found) {
                *place = value;
            }
            found += 1;
            at += len;
            // Mostly there is one blank between values.
            at += usize::from(bytes.get(at) == Some(&b' '));
        };
        self.at = at;
        result?;
        if found > row.len() {
            return Err(Fault::TooManyValues { found, dim: row.len() as u32 });
        }
        Ok(found)
    }

    /// Reads the pairs of a sparse sample after its name.
    pub(super) fn sparse<T: CtfFloat>(
        &mut self,
        input: &CtfInput,
        stream: &mut StreamSamples<T>,
    ) -> Result<(), Fault> {
        let start = stream.values.len();
        let result = self.sparse_pairs(input.dim, stream);
        match result {
            Ok(()) => stream.end_sparse(),
            Err(_) => {
                stream.values.truncate(start);
                stream.indices.truncate(start);
            }
        }
        result
    }

    fn sparse_pairs<T: CtfFloat>(
        &mut self,
        dim: u32,
        stream: &mut StreamSamples<T>,
    ) -> Result<(), Fault> {
        let bytes = self.bytes;
        loop {
            let StreamSamples { indices, values, .. } = &mut *stream;
            plain::pairs(bytes, &mut self.at, dim, indices, values);
            let Some(&byte) = bytes.get(self.at) else { break };
            if byte == b' ' || byte == b'\t' {
                self.at += 1;
                continue;
            }
            if byte == b'|' || is_non_printable(byte) {
                return Ok(());
            }
            let (index, colon) = self.index(dim)?;
            let Some((value, len)) = number(&bytes[colon + 1..]) else {
                return Err(Fault::Number);
            };
            stream.indices.push(index);
            stream.values.push(value);
            let end = colon + 1 + len;
            // Mostly there is one blank between pairs.
            self.at = end + usize::from(bytes.get(end) == Some(&b' '));
        }
        // As in CNTK, one value in the sequence is enough, even if this sample has none.
        if stream.values.is_empty() { Err(Fault::NoValues) } else { Ok(()) }
    }

    /// Reads an index. Returns its value, and the position of the colon after it.
    fn index(&self, dim: u32) -> Result<(u32, usize), Fault> {
        let (index, len) = digits(&self.bytes[self.at..]);
        if len == 0 {
            return Err(Fault::Index);
        }
        let at = self.at + len;
        if index >= u64::from(dim) {
            return Err(Fault::LargeIndex { dim });
        }
        if self.bytes.get(at) != Some(&b':') {
            return Err(Fault::Colon);
        }
        Ok((index as u32, at))
    }
}

#[cold]
fn no_memory<T>(dim: usize) -> Error {
    Error::new(ErrorKind::Limit {
        what: "bytes of memory for a sample",
        wanted: dim as u64 * size_of::<T>() as u64,
        limit: 0,
    })
}

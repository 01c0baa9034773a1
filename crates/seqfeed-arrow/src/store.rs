//! The positions of buffers.

use std::sync::Arc;

use arrow_buffer::Buffer;
use seqfeed_core::{Error, Problem, Result};
use seqfeed_io::{DataFile, Spool};

use crate::ARROW;

/// The bytes of a buffer: in a file, in the spool that is being written, or in memory.
#[derive(Clone, Debug)]
pub(crate) enum Store {
    File { file: Arc<DataFile>, start: u64, len: u64 },
    Spooled { start: u64, len: u64 },
    Memory(Buffer),
}

impl Store {
    pub(crate) fn len(&self) -> u64 {
        match self {
            Store::File { len, .. } | Store::Spooled { len, .. } => *len,
            Store::Memory(buffer) => buffer.len() as u64,
        }
    }

    /// Fills `out` with the bytes from `at` on.
    pub(crate) fn read(&self, at: u64, out: &mut [u8]) -> Result<()> {
        let end = at.checked_add(out.len() as u64);
        if end.is_none_or(|end| end > self.len()) {
            return Err(beyond("values", self.len(), end.unwrap_or(u64::MAX)));
        }
        match self {
            Store::File { file, start, .. } => file.read_exact_at(out, start + at, "values"),
            Store::Spooled { .. } => Err(Error::usage("the spool is still being written")),
            Store::Memory(buffer) => {
                let at = at as usize;
                out.copy_from_slice(&buffer[at..at + out.len()]);
                Ok(())
            }
        }
    }

    /// Moves data from memory to the spool.
    pub(crate) fn spool(&mut self, spool: &mut Spool) -> Result<()> {
        if let Store::Memory(buffer) = self {
            let (start, len) = (spool.position(), buffer.len() as u64);
            spool.write_all(buffer)?;
            *self = Store::Spooled { start, len };
        }
        Ok(())
    }

    /// Sets the file that the spool has become.
    pub(crate) fn settle(&mut self, spool: &Arc<DataFile>) {
        if let Store::Spooled { start, len } = *self {
            *self = Store::File { file: Arc::clone(spool), start, len };
        }
    }
}

/// The error for a buffer that is too short for its references.
pub(crate) fn beyond(inside: &'static str, found: u64, expected: u64) -> Error {
    let missing = Some(expected.saturating_sub(found));
    Error::format(ARROW, Problem::UnexpectedEnd { inside, missing })
        .with_help("the file is damaged: lengths or offsets in it are wrong")
}

/// Offsets of lists as stored in a file; `long` ones have 64 bits. They must ascend, and not exceed
/// `most`.
pub(crate) fn offsets(
    bytes: &[u8],
    long: bool,
    most: u64,
    mut each: impl FnMut(u64),
) -> Result<()> {
    let wrong = |found| {
        let allowed = format!("at least the one before, and at most {most}").into();
        let problem = Problem::OutOfRange { what: "the offset of a list", found, allowed };
        Err(Error::format(ARROW, problem).with_help("the file is damaged"))
    };
    let mut last = 0;
    let mut next = |found: i64| {
        if found < last || found as u64 > most {
            return wrong(found);
        }
        last = found;
        each(found as u64);
        Ok(())
    };
    match long {
        true => bytes.as_chunks().0.iter().try_for_each(|&b| next(i64::from_le_bytes(b))),
        false => bytes.as_chunks().0.iter().try_for_each(|&b| next(i32::from_le_bytes(b).into())),
    }
}

//! Decodes frames: big-endian columns with a stride.

use std::ops::Range;

use seqfeed_core::{Error, Problem, Result};

use super::{Header, PFILE};

/// Checks that frames have the number of a sentence, and frame numbers from `first` on.
///
/// # Errors
///
/// Returns the first frame with other numbers.
pub(super) fn check_numbers(
    header: &Header,
    bytes: &[u8],
    sentence: u64,
    first: u64,
) -> Result<(), Misplaced> {
    for (frame, record) in bytes.chunks_exact(header.frame_bytes()).enumerate() {
        let found = (column(record, 0), column(record, 1));
        // Numbers wrap as in QuickNet, beyond the range of a column.
        let expected = (sentence as u32, (first + frame as u64) as u32);
        if found != expected {
            return Err(Misplaced { frame, found, expected });
        }
    }
    Ok(())
}

/// A frame whose numbers do not fit its position.
pub(super) struct Misplaced {
    pub(super) frame: usize,
    found: (u32, u32),
    expected: (u32, u32),
}

impl Misplaced {
    pub(super) fn error(&self) -> Error {
        let (found, expected) = (self.found, self.expected);
        let says = format!(
            "expected frame {} of sentence {}, found frame {} of sentence {}",
            expected.1, expected.0, found.1 as i32, found.0 as i32
        );
        let error = Error::format(PFILE, Problem::Unsupported(says.into()));
        if (found.0.swap_bytes(), found.1.swap_bytes()) == expected {
            return error.with_help("the file is little-endian; PFiles are big-endian");
        }
        error.with_help("the file is damaged, or its sentence table is that of another one")
    }
}

pub(super) fn column(record: &[u8], column: usize) -> u32 {
    let bytes = record.get(4 * column..).and_then(<[u8]>::first_chunk);
    u32::from_be_bytes(bytes.copied().unwrap_or_default())
}

/// Copies some columns of frames, as 32-bit words in the machine's order.
pub(super) fn columns(frames: &[u8], frame_bytes: usize, columns: Range<usize>, out: &mut [u32]) {
    let width = columns.len() / 4;
    if width == 0 {
        return;
    }
    for (record, out) in frames.chunks_exact(frame_bytes).zip(out.chunks_exact_mut(width)) {
        let (values, _) = record[columns.clone()].as_chunks::<4>();
        for (out, value) in out.iter_mut().zip(values) {
            *out = u32::from_be_bytes(*value);
        }
    }
}

//! The positions of utterances in master label files.

use std::ops::Range;

/// The position of an utterance.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileSpan {
    pub(super) offset: u64,
    pub(super) bytes: u32,
    pub(super) line: u32,
    pub(super) file: u32,
}

impl FileSpan {
    /// The range in its file.
    pub(super) fn range(self) -> Range<u64> {
        self.offset..self.offset + u64::from(self.bytes)
    }
}

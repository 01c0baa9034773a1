//! How much memory samples take at most, known before they are loaded.

use crate::{Kind, Stream};

/// The most samples and values that sequences have in a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Most {
    /// Samples.
    pub samples: u64,
    /// Values of all of them: where samples are sparse, those that are given.
    pub values: u64,
}

impl Most {
    /// So many samples of a stream, with all their values.
    #[must_use]
    pub fn all_of(stream: &Stream, samples: u64) -> Self {
        Self { samples, values: samples.saturating_mul(stream.dim as u64) }
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            samples: self.samples.saturating_add(other.samples),
            values: self.values.saturating_add(other.values),
        }
    }

    /// The larger numbers of both.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { samples: self.samples.max(other.samples), values: self.values.max(other.values) }
    }

    /// Bytes that a [`Block`](crate::Block) of the stream takes for them.
    #[must_use]
    pub fn block_bytes(self, stream: &Stream) -> u64 {
        let values = self.values.saturating_mul(stream.element.size() as u64);
        if stream.kind != Kind::Sparse {
            return values;
        }
        // An index for each value and a start for each sample. How much there is shows when it is
        // loaded: memory that grows is twice as large as what it holds, and for a moment the old
        // one is still there.
        let indices = self.values.saturating_mul(size_of::<i32>() as u64);
        let starts = self.samples.saturating_add(1).saturating_mul(size_of::<usize>() as u64);
        values.saturating_add(indices).saturating_add(starts).saturating_mul(3)
    }
}

//! Upper bounds for the memory of samples, known before they are loaded.

use crate::{Kind, Stream};

/// An upper bound for the samples and values of sequences in a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Most {
    /// Samples.
    pub samples: u64,
    /// Values of all these samples. For sparse samples only the given values count.
    pub values: u64,
}

impl Most {
    /// The bound for a number of samples of a stream, with all their values.
    #[must_use]
    pub fn all_of(stream: &Stream, samples: u64) -> Self {
        Self { samples, values: samples.saturating_mul(stream.dim as u64) }
    }

    /// The sum of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            samples: self.samples.saturating_add(other.samples),
            values: self.values.saturating_add(other.values),
        }
    }

    /// The larger numbers of the two.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { samples: self.samples.max(other.samples), values: self.values.max(other.values) }
    }

    /// Bytes of a [`Block`](crate::Block) of the stream that holds them.
    #[must_use]
    pub fn block_bytes(self, stream: &Stream) -> u64 {
        let values = self.values.saturating_mul(stream.element.size() as u64);
        if stream.kind != Kind::Sparse {
            return values;
        }
        // An index for each value and a start for each sample. The amount is known only after
        // loading. Growing memory is up to twice as large as its contents, and for a moment the old
        // memory is still there.
        let indices = self.values.saturating_mul(size_of::<i32>() as u64);
        let starts = self.samples.saturating_add(1).saturating_mul(size_of::<usize>() as u64);
        values.saturating_add(indices).saturating_add(starts).saturating_mul(3)
    }
}

//! The memory of minibatches.

use seqfeed_core::{Array, Extent, Stream};

use crate::first_fit::{Cell, FirstFit};

/// Consecutive samples of one sequence in a minibatch: a frame, a whole sequence, or a part of a
/// truncated one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Number of the sequence in the corpus.
    pub sequence: u32,
    /// Number of the first sample in the sequence, from 0.
    pub first: u32,
    /// Number of samples.
    pub samples: u32,
}

/// The memory of a minibatch. It is used again.
#[derive(Default)]
pub(crate) struct Buffers {
    pub(crate) segments: Vec<Segment>,
    /// The number of samples before each segment; one entry more than segments.
    pub(crate) offsets: Vec<u64>,
    /// Samples of the longest segment.
    pub(crate) longest: usize,
    pub(crate) arrays: Vec<Array>,
    /// For each stream, lengths or positions of segments that hold for this stream only.
    pub(crate) own: Vec<Lengths>,
    /// The positions of segments that hold for all streams.
    pub(crate) places: RowPositions,
    /// For each sparse stream, its rows.
    pub(crate) rows: Vec<SparseRows>,
}

/// Lengths of the segments in one stream.
#[derive(Default)]
pub(crate) struct Lengths {
    /// The number of samples before each segment; one entry more than segments.
    pub(crate) offsets: Vec<u64>,
    pub(crate) longest: usize,
    pub(crate) places: RowPositions,
}

/// The positions of segments in parallel rows.
#[derive(Default)]
pub(crate) struct RowPositions {
    /// For each segment, the number of its first sample, counted over all rows one after another.
    pub(crate) starts: Vec<u64>,
    pub(crate) rows: usize,
    /// Samples in a row, filled or not.
    pub(crate) width: usize,
}

/// The rows of a sparse stream.
#[derive(Default)]
pub(crate) struct SparseRows {
    pub(crate) indices: Vec<i32>,
    /// The number of values before each row; padding counts as rows. One entry more than rows.
    pub(crate) offsets: Vec<u64>,
}

impl Buffers {
    pub(crate) fn new(streams: &[Stream]) -> Self {
        let arrays = streams.iter().map(|stream| Array::new(stream.element)).collect();
        let own = streams.iter().map(|_| Lengths::default()).collect();
        let rows = streams.iter().map(|_| SparseRows::default()).collect();
        Self { arrays, own, rows, ..Self::default() }
    }

    /// The number of samples before each segment of a stream and in all, and the length of the
    /// longest segment.
    pub(crate) fn lengths(&self, stream: &Stream, number: usize) -> (&[u64], usize) {
        match stream.extent {
            Extent::Own => (&self.own[number].offsets, self.own[number].longest),
            Extent::Samples | Extent::Sequence => (&self.offsets, self.longest),
        }
    }
}

impl Lengths {
    /// Notes the lengths of all segments.
    pub(crate) fn measure(&mut self, lengths: impl Iterator<Item = usize>) {
        self.offsets.clear();
        self.offsets.push(0);
        self.longest = 0;
        let mut end = 0;
        for samples in lengths {
            end += samples as u64;
            self.longest = self.longest.max(samples);
            self.offsets.push(end);
        }
    }

    /// Arranges segments in parallel rows, by their own lengths or by other offsets.
    pub(crate) fn lay_out(&mut self, offsets: Option<&[u64]>) {
        let offsets = offsets.unwrap_or(&self.offsets);
        let lengths: Vec<u32> = offsets.windows(2).map(|ends| (ends[1] - ends[0]) as u32).collect();
        let mut found = Vec::new();
        let (rows, width) = FirstFit::default().lay_out(&lengths, &mut found);
        let start = |cell: &Cell| u64::from(cell.row) * u64::from(width) + u64::from(cell.begin);
        self.places.starts.clear();
        self.places.starts.extend(found.iter().map(start));
        (self.places.rows, self.places.width) = (rows, width as usize);
    }
}

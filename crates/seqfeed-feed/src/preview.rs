//! The minibatches that a feed will give, without their data.

use std::collections::HashSet;
use std::sync::Arc;

use seqfeed_core::{Result, Source};

use crate::plan::{Plan, Planner};
use crate::prepared::Prepared;
use crate::settings::{Settings, Unit};
use crate::swept_chunk::SweptChunk;

/// An iterator over the minibatches of a feed that loads nothing. It needs only the index.
///
/// The exception are labels that are ignored frame by frame: they are read to know which frames are
/// left.
pub struct Preview {
    planner: Planner,
    unit: Unit,
    memory_bound: u64,
    source: Arc<dyn Source>,
    /// The chunks that minibatches came from.
    chunks: HashSet<SweptChunk>,
    bytes: u64,
}

/// A minibatch of one rank without its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedMinibatch {
    /// Its sweep, from 0.
    pub sweep: u64,
    /// Whether the sweep ends with it.
    pub end_of_sweep: bool,
    /// The number of frames or sequences, or of segments of sequences.
    pub segments: u64,
    /// Samples without padding.
    pub samples: u64,
    /// Samples of the longest sequence or segment.
    pub longest: u64,
}

impl PlannedMinibatch {
    /// Samples with padding to the longest sequence.
    #[must_use]
    pub fn padded(&self) -> u64 {
        self.segments.saturating_mul(self.longest)
    }
}

impl Preview {
    /// The minibatches of a feed with these settings, from the beginning.
    ///
    /// # Errors
    ///
    /// The same as [`Feed::new`](crate::Feed::new), except that no limit of memory is checked.
    pub fn new(source: Arc<dyn Source>, settings: &Settings) -> Result<Self> {
        let prepared = Prepared::new(Arc::clone(&source), settings, None)?;
        let Prepared { planner, bound, .. } = prepared;
        let (unit, memory_bound, chunks) = (settings.unit, bound.total(), HashSet::new());
        Ok(Self { planner, unit, memory_bound, source, chunks, bytes: 0 })
    }

    /// The number of chunks that the minibatches so far come from. A chunk counts once a sweep.
    #[must_use]
    pub fn chunks(&self) -> u64 {
        self.chunks.len() as u64
    }

    /// Bytes of the samples in these [chunks](Preview::chunks): what the rank loads. For sparse
    /// samples it is the most that they may have.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn note(&mut self, chunk: SweptChunk) {
        if !self.chunks.insert(chunk) {
            return;
        }
        let sequences = self.source.index().chunk(chunk.chunk as usize);
        for (number, stream) in self.source.streams().iter().enumerate() {
            let most = self.source.most(number, sequences.clone());
            let bytes = most.values.saturating_mul(stream.element.size() as u64);
            self.bytes = self.bytes.saturating_add(bytes);
        }
    }

    /// The most bytes of memory that the feed takes.
    #[must_use]
    pub fn memory_bound(&self) -> u64 {
        self.memory_bound
    }
}

impl Iterator for Preview {
    type Item = PlannedMinibatch;

    fn next(&mut self) -> Option<PlannedMinibatch> {
        let Plan { units, .. } = self.planner.next()?;
        let of_items = units.items.iter().map(|item| match self.unit {
            Unit::Frame => 1,
            Unit::Sequence => u64::from(item.samples),
        });
        let (samples, longest) = match units.segments.is_empty() {
            true => sum_and_most(of_items),
            false => sum_and_most(units.segments.iter().map(|segment| u64::from(segment.samples))),
        };
        units.items.iter().for_each(|item| self.note(item.swept()));
        let (sweep, end_of_sweep) = (units.sweep, units.end_of_sweep);
        let segments = units.items.len() as u64;
        Some(PlannedMinibatch { sweep, end_of_sweep, segments, samples, longest })
    }
}

fn sum_and_most(numbers: impl Iterator<Item = u64>) -> (u64, u64) {
    numbers.fold((0, 0), |(sum, most), number| (sum + number, most.max(number)))
}

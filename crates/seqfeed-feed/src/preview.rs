//! The minibatches that a feed will give, without their data.

use std::sync::Arc;

use seqfeed_core::{Result, Source};

use crate::plan::{Plan, Planner};
use crate::prepared::Prepared;
use crate::settings::{Settings, Unit};

/// An iterator over the minibatches of a feed that loads nothing. It needs only the index.
///
/// The exception are labels that are ignored frame by frame: they are read to know which frames are
/// left.
pub struct Preview {
    planner: Planner,
    unit: Unit,
    memory_bound: u64,
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
        let Prepared { planner, bound, .. } = Prepared::new(source, settings, None)?;
        Ok(Self { planner, unit: settings.unit, memory_bound: bound.total() })
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
        let (sweep, end_of_sweep) = (units.sweep, units.end_of_sweep);
        let segments = units.items.len() as u64;
        Some(PlannedMinibatch { sweep, end_of_sweep, segments, samples, longest })
    }
}

fn sum_and_most(numbers: impl Iterator<Item = u64>) -> (u64, u64) {
    numbers.fold((0, 0), |(sum, most), number| (sum + number, most.max(number)))
}

//! The trait of a composition of stages.
//!
//! ```text
//!            whose      like      size, seams   a step for   rows of       buffers
//!            units      lengths   and ends      all ranks    truncation
//! Order ──── Share ──── Pool ──── Cut ───────── Deal ─────── Rows ──────── Arrange
//! ```
//!
//! A composition uses the stages that it needs. [`dealt`](crate::dealt) cuts one order for all
//! ranks; the [presets](crate::preset) follow CNTK and PDNN.

use seqfeed_core::{Index, Result};

use crate::cut::{Largest, Lengths};
use crate::order::OrderedUnit;
use crate::rows::RowSegment;
use crate::state::State;
use crate::swept_chunk::SweptChunk;

/// The units of one minibatch of this rank.
pub(crate) struct Planned {
    pub(crate) sweep: u64,
    /// Whether the sweep ends with it.
    pub(crate) end_of_sweep: bool,
    pub(crate) items: Vec<OrderedUnit>,
    /// For truncated sequences, the segment of each item and its position.
    pub(crate) segments: Vec<RowSegment>,
}

impl Planned {
    pub(crate) fn new(sweep: u64, end_of_sweep: bool, items: Vec<OrderedUnit>) -> Self {
        Self { sweep, end_of_sweep, items, segments: Vec::new() }
    }

    pub(crate) fn of_rows(sweep: u64, end_of_sweep: bool, segments: Vec<RowSegment>) -> Self {
        let items = segments.iter().map(|segment| segment.item).collect();
        Self { sweep, end_of_sweep, items, segments }
    }
}

/// A value that changes when the needed chunks may have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) sweep: u64,
    pub(crate) order: u64,
    pub(crate) pool: usize,
}

/// The most that stages hold and give at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    /// Samples of the chunks that the window of the order, the pool and the rows hold.
    pub(crate) samples: u64,
    /// Samples of all ranks that are passed for one minibatch.
    pub(crate) step: u64,
    /// Bytes of the notes about units.
    pub(crate) bytes: u64,
    pub(crate) largest: Largest,
}

/// Stages from an order of units to minibatches of one rank.
pub(crate) trait Stages: Send {
    /// The next minibatch of this rank. `None` at the end, or if two whole sweeps have nothing for
    /// this rank.
    fn next(&mut self) -> Option<Planned>;

    /// Puts the position of each stage into a state.
    fn save(&self, state: &mut State);

    /// Goes on from a state. `index` has the samples that are dealt out.
    ///
    /// # Errors
    ///
    /// Fails if there is no such position. The stages are useless then.
    fn restore(&mut self, state: &State, index: &Index) -> Result<()>;

    /// The chunks of this rank's next minibatches. A chunk may come more than once.
    fn window(&self) -> Vec<SweptChunk>;

    /// A value that changes when the window may have changed.
    fn position(&self) -> Position;

    /// The most that they hold and give. `index` and `lengths` are those of the source.
    fn needs(&self, index: &Index, lengths: &Lengths) -> Needs;

    /// Mixes the stages' data beyond index and settings into a digest of these. A state belongs to
    /// this digest.
    fn digest(&self, digest: u64) -> u64 {
        digest
    }

    /// The rows and columns of minibatches, if sequences are truncated.
    fn rows(&self) -> Option<(usize, usize)> {
        None
    }
}

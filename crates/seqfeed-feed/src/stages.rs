//! The stages of a feed, composed.
//!
//! ```text
//!            whose      like      size, seams   a step for   rows of       buffers
//!            units      lengths   and ends      all ranks    truncation
//! Order ──── Share ──── Pool ──── Cut ───────── Deal ─────── Rows ──────── Arrange
//! ```
//!
//! A composition uses those that it needs: [`dealt`](crate::dealt) cuts one order for all ranks,
//! the [presets](crate::preset) do as CNTK and PDNN do.

use seqfeed_core::{Index, Result};

use crate::cut::{Largest, Lengths};
use crate::order::Item;
use crate::rows::RowSegment;
use crate::state::State;
use crate::swept_chunk::SweptChunk;

/// What the stages give for one minibatch of this rank.
pub(crate) struct Planned {
    pub(crate) sweep: u64,
    /// Whether the sweep ends with it.
    pub(crate) end_of_sweep: bool,
    pub(crate) items: Vec<Item>,
    /// Where sequences are truncated, what part of each item it is, and where it lies.
    pub(crate) segments: Vec<RowSegment>,
}

impl Planned {
    pub(crate) fn new(sweep: u64, end_of_sweep: bool, items: Vec<Item>) -> Self {
        Self { sweep, end_of_sweep, items, segments: Vec::new() }
    }

    pub(crate) fn of_rows(sweep: u64, end_of_sweep: bool, segments: Vec<RowSegment>) -> Self {
        let items = segments.iter().map(|segment| segment.item).collect();
        Self { sweep, end_of_sweep, items, segments }
    }
}

/// Changes when the chunks that are needed may have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) sweep: u64,
    pub(crate) order: u64,
    pub(crate) pool: usize,
}

/// The most that stages hold and give at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    /// Samples of the chunks that the order's window, the pool and the rows hold.
    pub(crate) samples: u64,
    /// Samples of all ranks that are gone through for one minibatch.
    pub(crate) step: u64,
    /// Bytes of what they note of units.
    pub(crate) bytes: u64,
    pub(crate) largest: Largest,
}

/// Stages from an order of units to minibatches of one rank.
pub(crate) trait Stages: Send {
    /// The next minibatch of this rank, or `None` at the end, or if two whole sweeps have nothing
    /// for this rank.
    fn next(&mut self) -> Option<Planned>;

    /// Puts what each stage knows of where it stands into a state.
    fn save(&self, state: &mut State);

    /// Goes on where a state was taken. `index` is that of what is dealt out.
    ///
    /// # Errors
    ///
    /// Fails if there is no such place. The stages are of no use then.
    fn restore(&mut self, state: &State, index: &Index) -> Result<()>;

    /// The chunks that this rank's next minibatches come from, perhaps more than once.
    fn window(&self) -> Vec<SweptChunk>;

    /// Changes when the window may have changed.
    fn position(&self) -> Position;

    /// The most that they hold and give. `index` and `lengths` are those of the source.
    fn needs(&self, index: &Index, lengths: &Lengths) -> Needs;

    /// What a state belongs to: what the stages know beyond index and settings, mixed into a digest
    /// of these.
    fn digest(&self, digest: u64) -> u64 {
        digest
    }

    /// Rows and columns of minibatches, where sequences are truncated.
    fn rows(&self) -> Option<(usize, usize)> {
        None
    }
}

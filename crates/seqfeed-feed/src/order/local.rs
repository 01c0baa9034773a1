//! CNTK's local-timeline randomizers: each worker has an order and minibatches of its own.
//!
//! ```text
//! an order of this worker's units        cut where the next one would exceed the size
//! ┌────────────┬──────────┬────────┐     ┌──────┬──────┬─────┬──────
//! │ part       │ part     │ part  E│ ... │ mb   │ mb   │ mb E│ mb
//! └────────────┴──────────┴────────┘     └──────┴──────┴─────┴──────
//!                E: end of a sweep, an entry of its own
//! ```
//!
//! Sizes are counted in this worker's own samples, and minibatches run over the ends of windows
//! and sweeps. So workers read only their own chunks and need not agree on anything.
//!
//! CNTK reads past its data when a worker finds nothing of its own in a window, and loses chunk 0
//! in a window with other workers' chunks (or crashes). That is not imitated: what is not one's
//! own is passed over, and no minibatch is empty because of it.

mod sequential;
#[cfg(test)]
mod tests;
mod tumbling;

use std::sync::Arc;

use seqfeed_core::{Error, Index, Result};
use serde::{Deserialize, Serialize};

use super::{Item, largest_chunk, units};
use crate::settings::Unit;
use sequential::Sequential;
use tumbling::Tumbling;

/// In which order a worker's units come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// As they lie in the corpus: every `ranks`th unit.
    Sequential,
    /// Shuffled inside windows that follow one another.
    Tumbling(TumblingWindow),
}

/// How much of its own data a worker shuffles at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TumblingWindow {
    /// So many chunks.
    Chunks(u64),
    /// Chunks until they hold so many samples.
    Samples(u64),
}

/// Where the epoch ends, counted from the very start; without a limit it never does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Sweeps.
    pub(crate) sweeps: Option<u64>,
    /// Samples of all workers together.
    pub(crate) samples: Option<u64>,
}

/// What happened while a minibatch was cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags {
    /// A sweep ended. If its last unit filled a minibatch exactly, the next one says so, as in
    /// CNTK.
    pub(crate) end_of_sweep: bool,
    /// Nothing comes after this minibatch, which may be empty.
    pub(crate) end_of_epoch: bool,
}

/// Where a worker stands. Other workers stand elsewhere: each keeps its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LocalState {
    /// Sweeps that ended.
    pub(crate) sweeps: u64,
    /// Samples delivered to this worker.
    pub(crate) samples: u64,
    /// The part of a sweep under way.
    pub(crate) part: PartState,
    /// Units of the part that were delivered (in sequential order: of the sweep).
    pub(crate) position: u64,
}

/// The part of a sweep that is shuffled together: a window, or as much of it as belongs
/// to one sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartState {
    /// Place in the order of chunks where it begins.
    pub place: u64,
    /// Chunks or samples that the window had collected in earlier sweeps.
    pub collected: u64,
}

/// One worker's units of all sweeps, cut into minibatches.
pub(crate) struct LocalTimeline {
    order: Order,
    rank: u64,
    ranks: u64,
    /// Whether any sweep has anything for this worker.
    has_units: bool,
    limits: Limits,
    sweeps: u64,
    samples: u64,
}

/// What comes next in an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    Unit(Item),
    EndOfSweep,
}

enum Order {
    Sequential(Sequential),
    Tumbling(Tumbling),
}

impl LocalTimeline {
    /// The beginning of the first sweep, for worker `rank` of `ranks` (which must be greater).
    pub(crate) fn new(
        index: Arc<Index>,
        unit: Unit,
        kind: Kind,
        seed: u64,
        (rank, ranks): (usize, usize),
        limits: Limits,
    ) -> Self {
        let (own_rank, workers) = (rank as u64, ranks.max(1) as u64);
        let chunks = index.chunk_count();
        let has_units = match kind {
            Kind::Sequential => own_rank < (0..chunks).map(|c| units(&index, unit, c)).sum(),
            Kind::Tumbling(_) => rank < chunks,
        };
        let mut order = match kind {
            Kind::Sequential => Order::Sequential(Sequential::new(index, unit, own_rank, workers)),
            Kind::Tumbling(window) => {
                Order::Tumbling(Tumbling::new(index, unit, window, seed, rank, ranks.max(1)))
            }
        };
        if has_units {
            order.start(LocalState::default());
        }
        let (sweeps, samples) = (0, 0);
        Self { order, rank: own_rank, ranks: workers, has_units, limits, sweeps, samples }
    }

    /// Sets where the epoch ends.
    pub(crate) fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// A worker's share of so many samples.
    pub(crate) fn share(&self, samples: u64) -> u64 {
        samples / self.ranks + u64::from(self.rank < samples % self.ranks)
    }

    /// Puts the next minibatch of `size` samples into `out`: units are taken until the next would
    /// exceed it, one at least; none after the end of the epoch.
    ///
    /// Without limits there is always more: `size` alone bounds what is taken. Before the end of
    /// the epoch a minibatch is empty only if a whole sweep has no samples for this worker.
    pub(crate) fn next_minibatch(&mut self, size: u64, out: &mut Vec<Item>) -> Flags {
        out.clear();
        let mut flags = Flags::default();
        let (mut loaded, mut empty_sweeps) = (0u64, 0);
        while loaded < size.max(1) && !self.is_over() {
            match self.order.peek() {
                Entry::EndOfSweep => {
                    flags.end_of_sweep = true;
                    self.sweeps = self.sweeps.saturating_add(1);
                    empty_sweeps += u32::from(loaded == 0);
                }
                Entry::Unit(item) => {
                    let samples = u64::from(item.samples);
                    if !out.is_empty() && loaded + samples > size {
                        break;
                    }
                    out.push(item);
                    loaded += samples;
                    self.samples = self.samples.saturating_add(samples);
                }
            }
            self.order.advance();
            // Sweeps without samples would never fill a minibatch.
            if empty_sweeps > 1 {
                break;
            }
        }
        flags.end_of_epoch = self.is_over();
        flags
    }

    /// Whether the epoch has ended.
    pub(crate) fn is_over(&self) -> bool {
        !self.has_units
            || self.limits.sweeps.is_some_and(|sweeps| self.sweeps >= sweeps)
            || self.limits.samples.is_some_and(|samples| self.samples >= self.share(samples))
    }

    /// The chunks that the next units come from, and after them those to load ahead; each with
    /// its place in the order of chunks. A chunk may come twice.
    pub(crate) fn window(&self) -> Vec<(u32, u32)> {
        match &self.order {
            _ if !self.has_units => Vec::new(),
            Order::Sequential(order) => order.window(),
            Order::Tumbling(order) => order.window(),
        }
    }

    /// A number that changes when [`window`](LocalTimeline::window) may have changed.
    pub(crate) fn position(&self) -> u64 {
        match &self.order {
            Order::Sequential(order) => order.changes(),
            Order::Tumbling(order) => order.changes(),
        }
    }

    /// The most samples that the chunks of a window hold, the ones loaded ahead and one still in
    /// use counted in.
    pub(crate) fn most_samples(&self, index: &Index) -> u64 {
        match &self.order {
            Order::Sequential(_) => 3 * largest_chunk(index),
            Order::Tumbling(order) => order.most_samples(),
        }
    }

    /// Where it stands before the next minibatch.
    pub(crate) fn state(&self) -> LocalState {
        let (part, position) = match &self.order {
            Order::Sequential(order) => (PartState::default(), order.position()),
            Order::Tumbling(order) => order.place(),
        };
        LocalState { sweeps: self.sweeps, samples: self.samples, part, position }
    }

    /// Goes on where a state was taken: at once, at the cost of one window's shuffle.
    ///
    /// # Errors
    ///
    /// Fails if no such place exists in this order; then it stands where it stood.
    pub(crate) fn restore(&mut self, state: &LocalState) -> Result<()> {
        let before = self.state();
        let exists = match self.has_units {
            true => self.order.start(*state),
            false => *state == LocalState::default(),
        };
        if !exists {
            if self.has_units {
                self.order.start(before);
            }
            return Err(Error::usage(format!(
                "the state names unit {} of the window that begins at chunk {} of sweep {}, which \
                 this worker does not have",
                state.position, state.part.place, state.sweeps
            ))
            .with_help(
                "each worker must go on with its own state, with the corpus, window and number of \
                 workers that it was saved with",
            ));
        }
        (self.sweeps, self.samples) = (state.sweeps, state.samples);
        Ok(())
    }
}

impl Order {
    /// Goes to a place; whether there is such a place.
    fn start(&mut self, state: LocalState) -> bool {
        match self {
            Order::Sequential(order) => {
                state.part == PartState::default() && order.start(state.position)
            }
            Order::Tumbling(order) => order.start(state),
        }
    }

    #[inline]
    fn peek(&self) -> Entry {
        match self {
            Order::Sequential(order) => order.peek(),
            Order::Tumbling(order) => order.peek(),
        }
    }

    #[inline]
    fn advance(&mut self) {
        match self {
            Order::Sequential(order) => order.advance(),
            Order::Tumbling(order) => order.advance(),
        }
    }
}

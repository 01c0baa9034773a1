//! CNTK's local-timeline randomizers: each rank has an order and minibatches of its own.
//!
//! ```text
//! order of this rank's units ─ cut where the next one would exceed the size ─ (rows)
//!
//! ┌────────────┬──────────┬────────┐     ┌──────┬──────┬─────┬──────
//! │ part       │ part     │ part  E│ ... │ mb   │ mb   │ mb E│ mb
//! └────────────┴──────────┴────────┘     └──────┴──────┴─────┴──────
//!                                    E: end of a sweep
//! ```
//!
//! Sizes are counted in this rank's own samples. Minibatches run over the ends of windows and
//! sweeps. So ranks read only their own chunks and need not agree on anything.
//!
//! If a window has nothing for a worker, CNTK reads past its data. In a window with chunks of other
//! workers it loses chunk 0, or crashes. This is not imitated: units of other ranks are passed
//! over, and no minibatch is empty because of them.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use seqfeed_core::{Index, Result};

use crate::cut::{Cut, Lengths};
use crate::order::{Cursor, OrderedUnit, Sequential, Tumbling, Units, all_units};
use crate::rows::{Fetched, Rows};
use crate::run::Run;
use crate::settings::{BatchSize, Epoch, Order, Settings, Shuffle, Timeline, Unit};
use crate::share::{By, Share};
use crate::stages::{Needs, Planned, Position, Stages};
use crate::state::State;
use crate::swept_chunk::SweptChunk;

pub(crate) struct TimelineStages {
    own: Own,
    unit: Unit,
    /// The rank's own samples in a minibatch.
    size: u64,
    run: Run,
    how: Timeline,
    epoch: u64,
    /// The rows of truncated sequences.
    rows: Option<Rows>,
}

/// One rank's units of all sweeps, cut into minibatches.
struct Own {
    units: Units,
    share: Share,
    /// Whether any sweep has units for this rank.
    has_units: bool,
    /// The end of the current epoch.
    until: Run,
    /// Samples that this rank got.
    samples: u64,
}

/// The events while a minibatch was cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Flags {
    /// A sweep ended. If the last unit of the sweep filled a minibatch exactly, the next minibatch
    /// says so, as in CNTK.
    end_of_sweep: bool,
    /// Nothing comes after this minibatch, which may be empty.
    end_of_epoch: bool,
}

impl Own {
    /// The beginning of the first sweep.
    fn new(
        index: &Arc<Index>,
        unit: Unit,
        order: Order,
        (rank, ranks): (usize, usize),
        until: Run,
    ) -> Self {
        let all = Arc::clone(index);
        let (share, cursor, has_units);
        match order {
            Order::Shuffle(Shuffle { window, seed, .. }) => {
                share = Share::new(By::Chunk, rank, ranks);
                has_units = rank < index.chunk_count();
                let order = Tumbling::new(all, unit, window, seed, share);
                cursor = Cursor::Tumbling(Box::new(order));
            }
            Order::Sequential | Order::Rolling(_) | Order::Blocks(_) => {
                share = Share::new(By::Unit, rank, ranks);
                let order = Sequential::new(all, unit, share);
                has_units = order.total() > 0;
                cursor = Cursor::Sequential(order);
            }
        }
        let units = Units::new(cursor, all_units(index, unit));
        Self { units, share, has_units, until, samples: 0 }
    }

    /// Puts the next minibatch of `size` samples into `out`. Units are taken until the next one
    /// would exceed the size, but at least one. After the end of the epoch there are none.
    ///
    /// A run without an end always has more units, so only `size` bounds the minibatch. Before the
    /// end of the epoch a minibatch is empty only if a whole sweep has no samples for this rank.
    fn next_minibatch(&mut self, size: u64, out: &mut Vec<OrderedUnit>) -> Flags {
        out.clear();
        let mut flags = Flags::default();
        let (mut loaded, mut empty_sweeps) = (0u64, 0);
        // Sweeps without samples would never fill a minibatch.
        while loaded < size.max(1) && empty_sweeps < 2 && !self.is_over() {
            let Some(item) = self.units.peek() else {
                flags.end_of_sweep = true;
                empty_sweeps += u32::from(loaded == 0);
                self.units.next_sweep();
                continue;
            };
            let samples = u64::from(item.samples);
            if !out.is_empty() && loaded + samples > size {
                break;
            }
            out.push(item);
            loaded += samples;
            self.samples = self.samples.saturating_add(samples);
            self.units.take();
        }
        self.units.settle();
        flags.end_of_epoch = self.is_over();
        flags
    }

    /// Whether the epoch has ended.
    fn is_over(&self) -> bool {
        // This rank gets its share of the samples of all ranks.
        let samples = self.until.samples.map(|samples| self.share.of(samples));
        !self.has_units || Run { samples, ..self.until }.is_over(self.units.sweep(), self.samples)
    }

    fn window(&self) -> Vec<(SweptChunk, u32)> {
        if self.has_units { self.units.window().collect() } else { Vec::new() }
    }

    fn save(&self, state: &mut State) {
        (state.order, state.samples) = (self.units.state(), self.samples);
    }

    /// Goes on from a state, at once. This takes the shuffle of one window.
    fn restore(&mut self, state: &State) -> Result<()> {
        let starts = self.units.start(state.order);
        let exists = match self.has_units {
            true => starts,
            false => (state.order, state.samples) == Default::default(),
        };
        self.samples = state.samples;
        if exists { Ok(()) } else { Err(state.without_place()) }
    }
}

impl TimelineStages {
    pub(crate) fn new(index: &Arc<Index>, settings: &Settings, how: Timeline) -> Result<Self> {
        let Settings { unit, order, rank, ranks, .. } = *settings;
        let size = settings.batch.number();
        let run = Run::of(settings);
        let own = Own::new(index, unit, order, (rank, ranks), run);
        let rows = match how.truncated {
            None => None,
            Some(truncation) => Some(Rows::new(size, truncation, own.share)?),
        };
        let size = own.share.of(size).max(1);
        Ok(Self { own, unit, size, run, how, epoch: 0, rows })
    }

    fn next_whole(&mut self) -> Option<Planned> {
        let mut items = Vec::new();
        loop {
            self.enter_epoch()?;
            let sweep = self.own.units.sweep();
            let flags = self.own.next_minibatch(self.size, &mut items);
            if !items.is_empty() {
                return Some(Planned::new(sweep, flags.end_of_sweep, items));
            }
            // The epoch may have had only the end of a sweep left, or nothing more may come.
            if !flags.end_of_epoch {
                return None;
            }
        }
    }

    fn next_of_rows(&mut self, rows: &mut Rows) -> Option<Planned> {
        loop {
            // Rows are emptied before the next epoch begins.
            self.own.until = self.run.until_epoch(self.how.epoch, self.epoch);
            let sweep = self.own.units.sweep();
            let mut segments = Vec::new();
            if let Some(ended) = rows.next_minibatch(|| self.fetch(), &mut segments) {
                return Some(Planned::of_rows(sweep, ended.sweep, segments));
            }
            if !self.own.is_over() {
                return None;
            }
            self.enter_epoch()?;
        }
    }

    /// The next sequence, until the epoch ends.
    fn fetch(&mut self) -> Option<Fetched> {
        let mut items = Vec::new();
        let flags = self.own.next_minibatch(1, &mut items);
        // Sequences without samples may come before it. They have no segment in a row.
        let item = *items.last()?;
        let (end_of_sweep, end_of_epoch) = (flags.end_of_sweep, flags.end_of_epoch);
        Some(Fetched { item, end_of_sweep, end_of_epoch })
    }

    /// Sets the end of the epoch that goes on or begins here; `None` at the end of the run.
    fn enter_epoch(&mut self) -> Option<()> {
        self.own.until = self.run;
        if self.own.is_over() {
            return None;
        }
        let (samples, share) = (self.own.samples, self.own.share);
        self.epoch = match self.how.epoch {
            Epoch::Run => 0,
            Epoch::Sweep => self.own.units.sweep(),
            Epoch::Samples(size) => {
                // A long sequence may span several epochs.
                let mut epoch = self.epoch.max((samples / size).saturating_mul(share.ranks()));
                let end = |epoch: u64| epoch.checked_add(1)?.checked_mul(size);
                while end(epoch).is_some_and(|end| share.of(end) <= samples) {
                    epoch += 1;
                }
                epoch
            }
        };
        self.own.until = self.run.until_epoch(self.how.epoch, self.epoch);
        (!self.own.is_over()).then_some(())
    }
}

impl Stages for TimelineStages {
    fn next(&mut self) -> Option<Planned> {
        let Some(mut rows) = self.rows.take() else { return self.next_whole() };
        let planned = self.next_of_rows(&mut rows);
        self.rows = Some(rows);
        planned
    }

    fn save(&self, state: &mut State) {
        self.own.save(state);
        if let Some(rows) = &self.rows {
            state.rows = rows.state(self.epoch);
        }
    }

    fn restore(&mut self, state: &State, index: &Index) -> Result<()> {
        self.own.restore(state)?;
        if let Some(rows) = &mut self.rows {
            rows.restore(&state.rows, index)?;
        }
        self.epoch = state.rows.epoch;
        Ok(())
    }

    fn window(&self) -> Vec<SweptChunk> {
        let held = self.rows.iter().flat_map(Rows::window);
        held.chain(self.own.window()).map(|(chunk, _)| chunk).collect()
    }

    fn position(&self) -> Position {
        let (sweep, order) = self.own.units.position();
        Position { sweep, order, pool: 0 }
    }

    fn needs(&self, index: &Index, lengths: &Lengths) -> Needs {
        let cursor = &self.own.units.cursor;
        let cut = Cut::new(self.unit, BatchSize::Samples(self.size), 1);
        let whole = cut.largest(lengths, true);
        let largest = self.rows.as_ref().map_or(whole, |rows| rows.largest(lengths));
        let held = self.rows.as_ref().map_or(0, |rows| rows.most_samples(index));
        Needs {
            samples: cursor.most_samples(index).saturating_add(held),
            bytes: cursor.most_bytes(index, self.unit),
            step: largest.samples,
            largest,
        }
    }

    fn rows(&self) -> Option<(usize, usize)> {
        self.rows.as_ref().map(Rows::size)
    }
}

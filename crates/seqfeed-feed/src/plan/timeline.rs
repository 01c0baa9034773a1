//! Minibatches out of an order of the rank's own, as with CNTK's local-timeline randomizers.
//!
//! All is counted in the rank's own samples; other ranks' are never gone through.

use std::sync::Arc;

use seqfeed_core::{Index, Result};

use super::{Plan, digest, own_batch};
use crate::order::Item;
use crate::order::local::{Kind, Limits, LocalState, LocalTimeline, TumblingWindow};
use crate::settings::{Epoch, Order, Settings, Window};
use crate::state::State;
use crate::truncated::{self, Fetched, Truncated};

pub(crate) struct Timeline {
    settings: Settings,
    index: Arc<Index>,
    timeline: LocalTimeline,
    corpus: String,
    /// The rank's own samples in a minibatch.
    share: u64,
    epoch: u64,
    minibatch: u64,
    /// The rows of truncated sequences.
    truncated: Option<Truncated>,
}

impl Timeline {
    pub(crate) fn new(index: Arc<Index>, settings: Settings) -> Result<Self> {
        let size = own_batch(&settings);
        let (rank, ranks) = (settings.rank, settings.ranks);
        let truncated = match settings.truncated {
            None => None,
            Some(truncation) => Some(Truncated::new(size, truncation, rank, ranks)?),
        };
        let kind = match settings.order {
            // Rolling windows are refused before.
            Order::Sequential | Order::Rolling(_) => Kind::Sequential,
            Order::Shuffle(Window::Chunks(chunks)) => {
                Kind::Tumbling(TumblingWindow::Chunks(chunks))
            }
            Order::Shuffle(Window::Samples(samples)) => {
                Kind::Tumbling(TumblingWindow::Samples(samples))
            }
            // What belongs to one sweep is shuffled for itself, however wide the window.
            Order::Shuffle(Window::Corpus) => Kind::Tumbling(TumblingWindow::Chunks(u64::MAX)),
        };
        let (unit, seed) = (settings.unit, settings.seed);
        let timeline = LocalTimeline::new(
            Arc::clone(&index),
            unit,
            kind,
            seed,
            (rank, ranks),
            Limits::default(),
        );
        let share = timeline.share(size).max(1);
        let corpus = format!("{:016x}", digest(&index, &settings));
        let (epoch, minibatch) = (0, 0);
        Ok(Self { settings, index, timeline, corpus, share, epoch, minibatch, truncated })
    }

    pub(crate) fn corpus(&self) -> &str {
        &self.corpus
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn most_samples(&self, index: &Index) -> u64 {
        self.timeline.most_samples(index)
    }

    pub(crate) fn window(&self) -> Vec<u32> {
        let held = self.truncated.iter().flat_map(Truncated::chunks);
        held.chain(self.timeline.window()).map(|(chunk, _)| chunk).collect()
    }

    pub(crate) fn window_position(&self) -> (u64, u64, u64) {
        (0, self.timeline.position(), 0)
    }

    /// Rows and columns of minibatches of truncated sequences.
    pub(crate) fn rows(&self) -> Option<(usize, usize)> {
        self.truncated.as_ref().map(|rows| (rows.rows(), rows.columns() as usize))
    }

    pub(crate) fn state(&self) -> State {
        let LocalState { sweeps, samples, part, position } = self.timeline.state();
        State {
            version: State::VERSION,
            sweep: sweeps,
            item: position,
            within: 0,
            samples,
            minibatch: self.minibatch,
            corpus: self.corpus.clone(),
            pool: None,
            apart: None,
            truncated: self.truncated.as_ref().map(|rows| rows.state(self.epoch)),
            part: Some(part),
        }
    }

    pub(crate) fn restore(&mut self, state: &State) -> Result<()> {
        let before = self.timeline.state();
        self.timeline.restore(&LocalState {
            sweeps: state.sweep,
            samples: state.samples,
            part: state.part.unwrap_or_default(),
            position: state.item,
        })?;
        let rows =
            truncated::restore(self.truncated.as_mut(), state.truncated.as_ref(), &self.index);
        if rows.is_err() {
            self.timeline.restore(&before)?;
            return rows;
        }
        self.minibatch = state.minibatch;
        self.epoch = state.truncated.as_ref().map_or(0, |rows| rows.epoch);
        Ok(())
    }

    /// The next minibatch, or `None` at the end, or if two sweeps have no samples for this rank.
    pub(crate) fn next(&mut self) -> Option<Plan> {
        match self.truncated.take() {
            None => self.next_whole(),
            Some(mut rows) => {
                let plan = self.next_truncated(&mut rows);
                self.truncated = Some(rows);
                // The state is that of rows and order together.
                plan.map(|plan| Plan { after: self.state(), ..plan })
            }
        }
    }

    fn next_whole(&mut self) -> Option<Plan> {
        let (mut items, segments) = (Vec::new(), Vec::new());
        loop {
            self.enter_epoch()?;
            let sweep = self.timeline.state().sweeps;
            let flags = self.timeline.next_minibatch(self.share, &mut items);
            if items.is_empty() {
                // Only the end of a sweep was left of the epoch, or there is nothing to wait for.
                if flags.end_of_epoch {
                    continue;
                }
                return None;
            }
            let index = self.minibatch;
            self.minibatch += 1;
            let (end_of_sweep, after) = (flags.end_of_sweep, self.state());
            return Some(Plan { index, sweep, end_of_sweep, items, segments, after });
        }
    }

    fn next_truncated(&mut self, rows: &mut Truncated) -> Option<Plan> {
        loop {
            // Rows are emptied before the next epoch begins.
            self.timeline.set_limits(self.limits_of(self.epoch));
            let sweep = self.timeline.state().sweeps;
            let mut segments = Vec::new();
            let ended = rows.next_minibatch(|| self.fetch(), &mut segments);
            let Some(ended) = ended else {
                if !self.timeline.is_over() {
                    return None;
                }
                self.enter_epoch()?;
                continue;
            };
            let index = self.minibatch;
            self.minibatch += 1;
            let items: Vec<Item> = segments.iter().map(|segment| segment.item).collect();
            let end_of_sweep = ended.sweep;
            return Some(Plan { index, sweep, end_of_sweep, items, segments, after: self.state() });
        }
    }

    /// The next sequence, until the epoch ends.
    fn fetch(&mut self) -> Option<Fetched> {
        let mut items = Vec::new();
        let flags = self.timeline.next_minibatch(1, &mut items);
        // Sequences without samples may come before it: nothing of them would stand in a row.
        let item = *items.last()?;
        let (end_of_sweep, end_of_epoch) = (flags.end_of_sweep, flags.end_of_epoch);
        Some(Fetched { item, end_of_sweep, end_of_epoch })
    }

    /// Sets the limits of the epoch that goes on or begins here; `None` at the end of the run.
    fn enter_epoch(&mut self) -> Option<()> {
        self.timeline.set_limits(self.run_limits());
        if self.timeline.is_over() {
            return None;
        }
        let LocalState { sweeps, samples, .. } = self.timeline.state();
        let epoch = match self.settings.epoch {
            Epoch::Run => 0,
            Epoch::Sweep => sweeps,
            Epoch::Samples(size) => {
                // A long sequence may have gone through several.
                let ranks = self.settings.ranks as u64;
                let mut epoch = self.epoch.max((samples / size).saturating_mul(ranks));
                let end = |epoch: u64| epoch.checked_add(1)?.checked_mul(size);
                while end(epoch).is_some_and(|end| self.timeline.share(end) <= samples) {
                    epoch += 1;
                }
                epoch
            }
        };
        self.epoch = epoch;
        self.timeline.set_limits(self.limits_of(epoch));
        (!self.timeline.is_over()).then_some(())
    }

    fn run_limits(&self) -> Limits {
        Limits { sweeps: self.settings.sweeps, samples: self.settings.samples }
    }

    fn limits_of(&self, epoch: u64) -> Limits {
        let run = self.run_limits();
        let least = |limit: Option<u64>, end: u64| Some(limit.map_or(end, |limit| limit.min(end)));
        let next = epoch.saturating_add(1);
        match self.settings.epoch {
            Epoch::Run => run,
            Epoch::Sweep => Limits { sweeps: least(run.sweeps, next), ..run },
            Epoch::Samples(size) => {
                Limits { samples: least(run.samples, next.saturating_mul(size)), ..run }
            }
        }
    }
}

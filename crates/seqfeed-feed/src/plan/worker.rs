//! Minibatches that each rank cuts for itself, as CNTK's workers do.
//!
//! Positions are counted in samples of all ranks since the very start. A rank goes through the
//! order, counts all units and takes its own; so ranks that ask for the same sizes stand at
//! different places.

use std::sync::Arc;

use seqfeed_core::{Index, Result};

use super::{Plan, changed_by_hand, digest, own_batch};
use crate::order::{self, Cursor, Item};
use crate::settings::{BatchSize, Epoch, Order, Partial, Settings, Unit};
use crate::state::State;
use crate::truncated::{self, Fetched, Truncated};

pub(crate) struct Worker {
    settings: Settings,
    index: Arc<Index>,
    cursor: Cursor,
    corpus: String,
    /// Most samples that a minibatch goes through, and most of this rank's own in it.
    most_global: u64,
    most_local: u64,
    /// Most units of this rank's own in a minibatch.
    most_units: u64,
    cross_sweeps: bool,
    sweep_samples: u64,
    /// Whether the order deals chunks; otherwise it deals units.
    by_chunk: bool,
    /// Whether there are fewer chunks than ranks, so that none is left for this one.
    without_chunk: bool,
    /// Samples gone through since the very start.
    position: u64,
    /// The sweep that the cursor is in; `item` units of it were taken, not counting `pending`.
    sweep: u64,
    item: u64,
    pending: Option<Item>,
    /// The number by which the next unit is dealt, where units are: it runs on over sweeps.
    dealt: u64,
    epoch: u64,
    minibatch: u64,
    /// The rows of truncated sequences.
    truncated: Option<Truncated>,
}

/// What a request for a minibatch gave.
#[derive(Default)]
struct Taken {
    items: Vec<Item>,
    end_of_sweep: bool,
    end_of_epoch: bool,
}

/// What a request has gone through.
#[derive(Default)]
struct Passed {
    global: u64,
    local: u64,
    units: u64,
    /// Whether a unit of this rank's own is taken even if it does not fit.
    need: bool,
}

impl Worker {
    pub(crate) fn new(
        index: Arc<Index>,
        settings: Settings,
        local_timeline: bool,
        cross_sweeps: bool,
    ) -> Result<Self> {
        let size = own_batch(&settings);
        let (rank, ranks) = (settings.rank as u64, settings.ranks as u64);
        let truncated = match settings.truncated {
            None => None,
            Some(truncation) => {
                let rows = Truncated::new(size, truncation, settings.rank, settings.ranks)?;
                Some(rows.with_one_each(settings.htkmlf_epochs))
            }
        };
        // Rows fetch sequences one by one.
        let fetched = truncated.as_ref().map(|_| (u64::MAX, 1));
        let (most_global, most_local) = fetched.unwrap_or(match local_timeline {
            true => (u64::MAX, (size / ranks + u64::from(size % ranks > rank)).max(1)),
            false => (size, size),
        });
        let by_chunk = matches!(settings.order, Order::Shuffle(_));
        let most_units = match settings.batch {
            BatchSize::Units(units) => units,
            _ => u64::MAX,
        };
        let mut worker = Self {
            corpus: format!("{:016x}", digest(&index, &settings)),
            most_global,
            most_local,
            most_units,
            cross_sweeps,
            sweep_samples: index.total_samples(),
            by_chunk,
            without_chunk: by_chunk && settings.rank >= index.chunk_count(),
            cursor: Cursor::new(Arc::clone(&index), &settings),
            index,
            position: 0,
            sweep: 0,
            item: 0,
            pending: None,
            dealt: 0,
            epoch: 0,
            minibatch: 0,
            truncated,
            settings,
        };
        let start = worker.settings.start;
        worker.epoch = start / worker.epoch_samples();
        worker.seek(start);
        Ok(worker)
    }

    pub(crate) fn corpus(&self) -> &str {
        &self.corpus
    }

    pub(crate) fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn window(&self) -> Vec<u32> {
        let (rank, ranks) = (self.settings.rank, self.settings.ranks);
        let ahead = self.pending.iter().map(|item| (item.chunk, item.shard));
        let own = |place: u32| !self.by_chunk || place as usize % ranks == rank;
        let held = self.truncated.iter().flat_map(Truncated::chunks);
        let window = held.chain(ahead).chain(self.cursor.window());
        window.filter(|&(_, place)| own(place)).map(|(chunk, _)| chunk).collect()
    }

    pub(crate) fn window_position(&self) -> (u64, u64, u64) {
        (self.sweep, self.cursor.position(), 0)
    }

    pub(crate) fn state(&self) -> State {
        State {
            version: State::VERSION,
            sweep: self.sweep,
            item: self.item,
            within: self.dealt,
            samples: self.position,
            minibatch: self.minibatch,
            corpus: self.corpus.clone(),
            pool: None,
            apart: None,
            truncated: self.truncated.as_ref().map(|rows| rows.state(self.epoch)),
            part: None,
        }
    }

    /// Rows and columns of minibatches of truncated sequences.
    pub(crate) fn rows(&self) -> Option<(usize, usize)> {
        self.truncated.as_ref().map(|rows| (rows.rows(), rows.columns() as usize))
    }

    pub(crate) fn restore(&mut self, state: &State) -> Result<()> {
        truncated::restore(self.truncated.as_mut(), state.truncated.as_ref(), &self.index)?;
        self.go_to(state)?;
        (self.position, self.dealt, self.minibatch) =
            (state.samples, state.within, state.minibatch);
        let epoch = self.position / self.epoch_samples();
        self.epoch = match &state.truncated {
            // Rows are emptied before the next epoch begins.
            Some(rows) if rows.slots.iter().any(|slot| !slot.sequences.is_empty()) => rows.epoch,
            _ => epoch,
        };
        // Rows lag behind by what is in them, which is one sequence more than an epoch has.
        let longest =
            (0..self.index.len() as u32).map(|s| self.index.samples(s)).max().unwrap_or(0);
        let end = self.epoch_start(self.epoch.saturating_add(1)).saturating_add(longest.into());
        if self.settings.epoch != Epoch::Run && (self.epoch > epoch || end <= self.position) {
            return Err(changed_by_hand(&format!(
                "the state names epoch {}, but {} samples were gone through",
                self.epoch, self.position
            )));
        }
        Ok(())
    }

    /// Goes to the unit that a state names, if it is the one behind as many samples as the
    /// state names.
    fn go_to(&mut self, state: &State) -> Result<()> {
        let units = match self.settings.unit {
            Unit::Frame => self.sweep_samples,
            Unit::Sequence => self.index.len() as u64,
        };
        let gone_through = match self.settings.unit {
            Unit::Frame => {
                self.start_sweep(state.sweep, state.item);
                state.item
            }
            Unit::Sequence => {
                self.start_sweep(state.sweep, 0);
                let units = (0..state.item).map_while(|_| self.cursor.next());
                let samples = units.map(|item| u64::from(item.samples)).sum();
                self.item = state.item;
                samples
            }
        };
        // Neither overflows: there are at least as many samples before the end of the sweep.
        let position = state.sweep * self.sweep_samples + gone_through;
        let most_dealt = state.sweep.saturating_mul(units).saturating_add(state.item);
        if state.samples == position && state.within <= most_dealt {
            return Ok(());
        }
        Err(changed_by_hand(&format!(
            "the state names {} samples and number {}, but unit {} of sweep {} comes after {position} \
             samples and {most_dealt} units",
            state.samples, state.within, state.item, state.sweep
        )))
    }

    pub(crate) fn next(&mut self) -> Option<Plan> {
        if let Some(mut rows) = self.truncated.take() {
            let plan = self.next_truncated(&mut rows);
            self.truncated = Some(rows);
            // The state is that of rows and order together.
            return plan.map(|plan| Plan { after: self.state(), ..plan });
        }
        while !self.without_chunk && self.epoch_start(self.epoch) < self.run_samples() {
            let sweep = self.position / self.sweep_samples;
            let before = self.position;
            let taken = self.take_minibatch();
            let short = self.settings.partial == Partial::Drop && self.is_short(before, &taken);
            if taken.end_of_epoch {
                self.epoch += 1;
                let start = self.epoch_start(self.epoch);
                if start < self.run_samples() {
                    self.seek(start);
                }
                if taken.items.is_empty() {
                    continue;
                }
            }
            if short {
                continue;
            }
            let index = self.minibatch;
            self.minibatch += 1;
            let (end_of_sweep, items) = (taken.end_of_sweep, taken.items);
            let segments = Vec::new();
            return Some(Plan { index, sweep, end_of_sweep, items, segments, after: self.state() });
        }
        None
    }

    fn next_truncated(&mut self, rows: &mut Truncated) -> Option<Plan> {
        if self.without_chunk {
            return None;
        }
        loop {
            let sweep = self.position / self.sweep_samples;
            let mut segments = Vec::new();
            let ended = rows.next_minibatch(|| self.fetch(), &mut segments);
            // An epoch ends when the rows are empty: only then the next one begins.
            if ended.is_none_or(|ended| ended.epoch) {
                self.epoch += 1;
                let start = self.epoch_start(self.epoch);
                if start < self.run_samples() {
                    self.seek(start);
                } else if ended.is_none() {
                    return None;
                }
            }
            let Some(ended) = ended else { continue };
            let index = self.minibatch;
            self.minibatch += 1;
            let items = segments.iter().map(|segment| segment.item).collect();
            let end_of_sweep = ended.sweep;
            return Some(Plan { index, sweep, end_of_sweep, items, segments, after: self.state() });
        }
    }

    /// The next sequence of this rank, until the epoch ends.
    fn fetch(&mut self) -> Option<Fetched> {
        loop {
            let taken = self.take_minibatch();
            let (end_of_sweep, end_of_epoch) = (taken.end_of_sweep, taken.end_of_epoch);
            if let Some(&item) = taken.items.first() {
                return Some(Fetched { item, end_of_sweep, end_of_epoch });
            }
            if end_of_epoch {
                return None;
            }
        }
    }

    /// Whether a minibatch has fewer samples than it should, though the corpus has as many.
    fn is_short(&self, before: u64, taken: &Taken) -> bool {
        let (found, wanted) = match (self.settings.batch, self.most_global) {
            (BatchSize::Samples(_), u64::MAX) => {
                (taken.items.iter().map(|item| u64::from(item.samples)).sum(), self.most_local)
            }
            (BatchSize::Samples(_), most) => (self.position - before, most),
            (_, _) => (taken.items.len() as u64, self.most_units),
        };
        found < wanted.min(self.sweep_samples)
    }

    /// The samples at which the run ends.
    fn run_samples(&self) -> u64 {
        let by_sweeps =
            self.settings.sweeps.map(|sweeps| sweeps.saturating_mul(self.sweep_samples));
        by_sweeps.into_iter().chain(self.settings.samples).min().unwrap_or(u64::MAX / 2)
    }

    fn epoch_samples(&self) -> u64 {
        match self.settings.epoch {
            Epoch::Run => self.run_samples().max(1),
            Epoch::Sweep => self.sweep_samples,
            Epoch::Samples(samples) => samples,
        }
    }

    fn epoch_start(&self, epoch: u64) -> u64 {
        epoch.saturating_mul(self.epoch_samples())
    }

    /// Goes to the first unit that starts no earlier than a position.
    fn seek(&mut self, position: u64) {
        let sweep = position / self.sweep_samples;
        let before = sweep * self.sweep_samples;
        self.start_sweep(sweep, 0);
        self.position = before;
        while self.position < position {
            match self.peek() {
                Some(item) => self.pass(item),
                None => break,
            }
        }
        if self.position > before && self.position.is_multiple_of(self.sweep_samples) {
            self.start_sweep(sweep + 1, 0);
        }
        self.dealt = self.item;
    }

    fn take_minibatch(&mut self) -> Taken {
        match self.by_chunk {
            true => self.take_shuffled(),
            false => self.take_in_order(),
        }
    }

    /// As CNTK's block randomizer. Going on in the next sweep, nothing is added that
    /// exceeds the size.
    fn take_shuffled(&mut self) -> Taken {
        let mut taken = Taken::default();
        let (mut global, mut local) = (0, 0);
        let mut units = 0;
        loop {
            let goes_on = taken.end_of_sweep;
            let before = self.position;
            let most = (self.most_global - global, self.most_local - local);
            let (own, own_units) = self.take_in_sweep(most, units, !goes_on, &mut taken);
            let passed = self.position - before;
            if goes_on && passed == 0 {
                break;
            }
            (global, local) = (global + passed, local + own);
            units = own_units;
            let has_room =
                global < self.most_global && local < self.most_local && units < self.most_units;
            if !(self.cross_sweeps && taken.end_of_sweep && !taken.end_of_epoch && has_room) {
                break;
            }
        }
        taken
    }

    /// Takes what fits and what is left of the sweep; if `need`, at least one unit of this rank's
    /// own. The samples of its own that were taken, and the units, those before counted in.
    fn take_in_sweep(
        &mut self,
        most: (u64, u64),
        units: u64,
        need: bool,
        taken: &mut Taken,
    ) -> (u64, u64) {
        self.enter_sweep();
        let end = self.epoch_start(self.epoch + 1).min(self.run_samples());
        let start = self.position % self.sweep_samples;
        if self.position >= end {
            taken.end_of_epoch = true;
            taken.end_of_sweep |= self.position >= self.sweep_samples && start == 0;
            return (0, units);
        }
        let most = (most.0.min(self.sweep_samples - start).min(self.most_in_epoch(end)), most.1);
        let mut passed = Passed { need, units, ..Passed::default() };
        while self.take_unit(most, end, &mut passed, &mut taken.items) {}
        taken.end_of_sweep |= start + passed.global >= self.sweep_samples;
        taken.end_of_epoch |= self.position >= end;
        (passed.local, passed.units)
    }

    /// As CNTK without randomization: units are dealt one by one, and sweeps follow one another
    /// without a seam.
    fn take_in_order(&mut self) -> Taken {
        let mut taken = Taken::default();
        let end = self.epoch_start(self.epoch + 1).min(self.run_samples());
        let sweep = self.position / self.sweep_samples;
        let start = self.position % self.sweep_samples;
        if self.position >= end {
            taken.end_of_epoch = true;
            taken.end_of_sweep = self.position >= self.sweep_samples && start == 0;
            return taken;
        }
        let most_global = match self.cross_sweeps {
            true => self.most_global,
            false => self.most_global.min(self.sweep_samples - start),
        };
        let most = (most_global.min(self.most_in_epoch(end)), self.most_local);
        let mut passed = Passed { need: true, ..Passed::default() };
        while passed.global < most.0 && passed.local < most.1 && passed.units < self.most_units {
            self.enter_sweep();
            if !self.take_unit(most, end, &mut passed, &mut taken.items) {
                break;
            }
        }
        taken.end_of_sweep = self.position / self.sweep_samples != sweep;
        taken.end_of_epoch = self.position >= end;
        taken
    }

    /// Goes through the next unit of the sweep, and takes it if it is this rank's own; false if it
    /// does not fit, all and own samples being counted (`most`), or if there is none before `end`.
    fn take_unit(
        &mut self,
        most: (u64, u64),
        end: u64,
        passed: &mut Passed,
        items: &mut Vec<Item>,
    ) -> bool {
        let Some(item) = self.peek() else { return false };
        let samples = u64::from(item.samples);
        let number = if self.by_chunk { u64::from(item.shard) } else { self.dealt };
        let own = number % self.settings.ranks as u64 == self.settings.rank as u64;
        let full = passed.global + samples > most.0
            || own && (passed.local + samples > most.1 || passed.units >= self.most_units);
        if !passed.need && full || self.position >= end {
            return false;
        }
        if own {
            if !self.is_withheld(item) {
                items.push(item);
            }
            passed.local += samples;
            passed.units += 1;
            passed.need = false;
        }
        passed.global += samples;
        self.pass(item);
        self.dealt += u64::from(!self.by_chunk);
        true
    }

    /// The most samples of a minibatch in an epoch that ends at a position.
    fn most_in_epoch(&self, end: u64) -> u64 {
        let by_samples = matches!(self.settings.batch, BatchSize::Samples(_));
        match self.settings.htkmlf_epochs && by_samples {
            true => end - self.position,
            false => u64::MAX,
        }
    }

    /// Whether a unit only keeps its place.
    fn is_withheld(&self, item: Item) -> bool {
        self.index.withholds()
            && self.index.is_withheld(order::sequence(&self.index, self.settings.unit, item))
    }

    /// Begins the next sweep if the last one has ended.
    fn enter_sweep(&mut self) {
        let sweep = self.position / self.sweep_samples;
        if sweep != self.sweep {
            self.start_sweep(sweep, 0);
        }
    }

    fn start_sweep(&mut self, sweep: u64, item: u64) {
        self.cursor.start(sweep, item);
        (self.sweep, self.item, self.pending) = (sweep, item, None);
    }

    fn peek(&mut self) -> Option<Item> {
        if self.pending.is_none() {
            self.pending = self.cursor.next();
        }
        self.pending
    }

    fn pass(&mut self, item: Item) {
        self.pending = None;
        self.item += 1;
        self.position += u64::from(item.samples);
    }
}

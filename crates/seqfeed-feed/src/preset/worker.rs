//! CNTK's workers: each rank cuts its own minibatches out of the order of all ranks.
//!
//! ```text
//! order of all ranks ─ share by chunk or unit ─ cut by all samples and by the rank's own ─ (rows)
//! ```
//!
//! Positions are counted in samples of all ranks since the very start. A rank goes through the
//! order, counts all units and takes its own. So ranks that ask for the same sizes stand at
//! different places.

use std::sync::Arc;

use seqfeed_core::{Index, Result};

use crate::cut::{Cut, Lengths};
use crate::order::{self, Cursor, OrderState, OrderedUnit, Units, all_units};
use crate::refused::changed_by_hand;
use crate::rows::{Fetched, Rows};
use crate::run::Run;
use crate::settings::{BatchSize, Epoch, Order, Settings, Unit, Worker};
use crate::share::{By, Share, ShareState};
use crate::stages::{Needs, Planned, Position, Stages};
use crate::state::State;
use crate::swept_chunk::SweptChunk;

pub(crate) struct WorkerStages {
    how: Worker,
    unit: Unit,
    run: Run,
    index: Arc<Index>,
    units: Units,
    /// A shuffled order deals chunks; a sequential one deals units.
    share: Share,
    most: Most,
    sweep_samples: u64,
    /// Whether there are fewer chunks than ranks, and none is left for this rank.
    without_chunk: bool,
    /// The number of samples passed since the very start.
    position: u64,
    /// The number by which the next unit is dealt, if units are dealt. It runs on over sweeps.
    dealt: u64,
    epoch: u64,
    /// The rows of truncated sequences.
    rows: Option<Rows>,
}

/// The upper limits of a minibatch.
#[derive(Clone, Copy)]
struct Most {
    /// Samples of all ranks that are passed.
    global: u64,
    /// This rank's own samples.
    local: u64,
    /// This rank's own units.
    units: u64,
}

/// The result of a request for a minibatch.
#[derive(Default)]
struct Taken {
    items: Vec<OrderedUnit>,
    end_of_sweep: bool,
    end_of_epoch: bool,
}

/// The samples and units that a request has passed.
#[derive(Default)]
struct Passed {
    global: u64,
    local: u64,
    units: u64,
    /// Whether a unit of this rank is taken even if it does not fit.
    need: bool,
}

impl WorkerStages {
    pub(crate) fn new(index: &Arc<Index>, settings: &Settings, how: Worker) -> Result<Self> {
        let by = if matches!(settings.order, Order::Shuffle(_)) { By::Chunk } else { By::Unit };
        let share = Share::new(by, settings.rank, settings.ranks);
        let (size, units) = match settings.batch {
            BatchSize::Samples(size) | BatchSize::Padded(size) => (size, u64::MAX),
            // Units are counted apart from samples.
            BatchSize::Units(units) => (u64::MAX, units),
        };
        let rows = match how.truncated {
            None => None,
            Some(truncation) => {
                Some(Rows::new(size, truncation, share)?.with_one_each(how.htkmlf_epochs))
            }
        };
        let most = match how.local_timeline {
            // Rows fetch sequences one by one, also those without a sample.
            _ if rows.is_some() => Most { global: u64::MAX, local: 1, units: 1 },
            true => Most { global: u64::MAX, local: share.of(size).max(1), units },
            false => Most { global: size, local: size, units },
        };
        let order = Cursor::of_all(Arc::clone(index), settings);
        let mut worker = Self {
            how,
            unit: settings.unit,
            run: Run::of(settings),
            index: Arc::clone(index),
            units: Units::new(order, all_units(index, settings.unit)),
            share,
            most,
            sweep_samples: index.total_samples(),
            without_chunk: by == By::Chunk && settings.rank >= index.chunk_count(),
            position: 0,
            dealt: 0,
            epoch: 0,
            rows,
        };
        worker.epoch = how.start / worker.epoch_samples();
        worker.seek(how.start);
        Ok(worker)
    }

    /// Goes to the unit that a state names, if the state's number of samples comes before that
    /// unit.
    fn go_to(&mut self, state: &State) -> Result<()> {
        let OrderState { sweep, item, .. } = state.order;
        let by_frames = self.unit == Unit::Frame;
        let start = OrderState { item: if by_frames { item } else { 0 }, ..state.order };
        if !self.units.start(start) {
            return Err(state.without_place());
        }
        let mut gone_through = if by_frames { item } else { 0 };
        // Their samples are known only after passing the sequences.
        while self.units.item() < item
            && let Some(unit) = self.units.peek()
        {
            gone_through += u64::from(unit.samples);
            self.units.take();
        }
        // Neither overflows: at least as many samples come before the end of the sweep.
        let position = sweep * self.sweep_samples + gone_through;
        let most_dealt = sweep.saturating_mul(self.units.total()).saturating_add(item);
        if state.samples == position && state.share.dealt <= most_dealt {
            return Ok(());
        }
        Err(changed_by_hand(&format!(
            "the state names {} samples and number {}, but unit {item} of sweep {sweep} comes after \
             {position} samples and {most_dealt} units",
            state.samples, state.share.dealt
        )))
    }

    fn next_whole(&mut self) -> Option<Planned> {
        while self.epoch_start(self.epoch) < self.run_samples() {
            let sweep = self.position / self.sweep_samples;
            let before = self.position;
            let taken = self.take_minibatch();
            let short = self.how.drops_partial && self.is_short(before, &taken);
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
            if !short {
                return Some(Planned::new(sweep, taken.end_of_sweep, taken.items));
            }
        }
        None
    }

    fn next_of_rows(&mut self, rows: &mut Rows) -> Option<Planned> {
        loop {
            let sweep = self.position / self.sweep_samples;
            let mut segments = Vec::new();
            let ended = rows.next_minibatch(|| self.fetch(), &mut segments);
            // An epoch ends when the rows are empty. Only then the next one begins.
            if ended.is_none_or(|ended| ended.epoch) {
                self.epoch += 1;
                let start = self.epoch_start(self.epoch);
                if start < self.run_samples() {
                    self.seek(start);
                } else if ended.is_none() {
                    return None;
                }
            }
            if let Some(ended) = ended {
                return Some(Planned::of_rows(sweep, ended.sweep, segments));
            }
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

    /// Whether a minibatch has fewer samples than it should, though the corpus has enough.
    fn is_short(&self, before: u64, taken: &Taken) -> bool {
        let Most { global, local, units } = self.most;
        let (found, wanted) = if units < u64::MAX {
            (taken.items.len() as u64, units)
        } else if global < u64::MAX {
            (self.position - before, global)
        } else {
            (taken.items.iter().map(|item| u64::from(item.samples)).sum(), local)
        };
        found < wanted.min(self.sweep_samples)
    }

    /// The number of samples at which the run ends.
    fn run_samples(&self) -> u64 {
        let by_sweeps = self.run.sweeps.map(|sweeps| sweeps.saturating_mul(self.sweep_samples));
        by_sweeps.into_iter().chain(self.run.samples).min().unwrap_or(u64::MAX / 2)
    }

    fn epoch_samples(&self) -> u64 {
        match self.how.epoch {
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
        self.units.start_sweep(sweep);
        self.position = before;
        while self.position < position {
            match self.units.peek() {
                Some(item) => self.pass(item),
                None => break,
            }
        }
        if self.position > before && self.position.is_multiple_of(self.sweep_samples) {
            self.units.start_sweep(sweep + 1);
        }
        self.dealt = self.units.item();
    }

    fn take_minibatch(&mut self) -> Taken {
        match self.share.by() {
            By::Chunk => self.take_shuffled(),
            By::Unit | By::All => self.take_in_order(),
        }
    }

    /// Takes units as CNTK's block randomizer does. When it goes on in the next sweep, it adds
    /// nothing that exceeds the size.
    fn take_shuffled(&mut self) -> Taken {
        let mut taken = Taken::default();
        let Most { mut global, mut local, units: most_units } = self.most;
        let mut units = 0;
        loop {
            let goes_on = taken.end_of_sweep;
            let before = self.position;
            let most = Most { global, local, units: most_units };
            let (own, own_units) = self.take_in_sweep(most, units, !goes_on, &mut taken);
            let passed = self.position - before;
            if goes_on && passed == 0 {
                break;
            }
            // A single unit that does not fit may exceed both.
            (global, local) = (global.saturating_sub(passed), local.saturating_sub(own));
            units = own_units;
            let has_room = global > 0 && local > 0 && units < most_units;
            if !(self.how.cross_sweeps && taken.end_of_sweep && !taken.end_of_epoch && has_room) {
                break;
            }
        }
        taken
    }

    /// Takes units that fit, up to the end of the sweep. With `need`, at least one unit of this
    /// rank is taken. Returns the samples of this rank that were taken, and its units including
    /// earlier ones.
    fn take_in_sweep(
        &mut self,
        most: Most,
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
        let global = most.global.min(self.sweep_samples - start).min(self.most_in_epoch(end));
        let most = Most { global, ..most };
        let mut passed = Passed { need, units, ..Passed::default() };
        while self.take_unit(most, end, &mut passed, &mut taken.items) {}
        taken.end_of_sweep |= start + passed.global >= self.sweep_samples;
        taken.end_of_epoch |= self.position >= end;
        (passed.local, passed.units)
    }

    /// Takes units as CNTK does without randomization: units are dealt one by one, and sweeps
    /// follow one another without a seam.
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
        let global = match self.how.cross_sweeps {
            true => self.most.global,
            false => self.most.global.min(self.sweep_samples - start),
        };
        let most = Most { global: global.min(self.most_in_epoch(end)), ..self.most };
        let mut passed = Passed { need: true, ..Passed::default() };
        while passed.global < most.global && passed.local < most.local && passed.units < most.units
        {
            self.enter_sweep();
            if !self.take_unit(most, end, &mut passed, &mut taken.items) {
                break;
            }
        }
        taken.end_of_sweep = self.position / self.sweep_samples != sweep;
        taken.end_of_epoch = self.position >= end;
        taken
    }

    /// Passes the next unit of the sweep, and takes it if it is this rank's own. Returns false if
    /// it does not fit, or if there is none before `end`.
    fn take_unit(
        &mut self,
        most: Most,
        end: u64,
        passed: &mut Passed,
        items: &mut Vec<OrderedUnit>,
    ) -> bool {
        let Some(item) = self.units.peek() else { return false };
        let samples = u64::from(item.samples);
        let own = self.share.owns(item.place, self.dealt);
        let full = passed.global + samples > most.global
            || own && (passed.local + samples > most.local || passed.units >= most.units);
        if !passed.need && full || self.position >= end {
            return false;
        }
        if own {
            if !self.is_masked(item) {
                items.push(item);
            }
            passed.local += samples;
            passed.units += 1;
            passed.need = false;
        }
        passed.global += samples;
        self.pass(item);
        self.dealt += u64::from(self.share.by() == By::Unit);
        true
    }

    /// The most samples of a minibatch in an epoch that ends at a position.
    fn most_in_epoch(&self, end: u64) -> u64 {
        let by_samples = self.most.units == u64::MAX || self.rows.is_some();
        match self.how.htkmlf_epochs && by_samples {
            true => end - self.position,
            false => u64::MAX,
        }
    }

    /// Whether a unit belongs to a masked sequence. Such a unit counts in CNTK's order, but is not
    /// delivered.
    fn is_masked(&self, item: OrderedUnit) -> bool {
        self.index.has_masked()
            && self.index.is_masked(order::sequence(&self.index, self.unit, item))
    }

    /// Begins the next sweep if the last one has ended.
    fn enter_sweep(&mut self) {
        let sweep = self.position / self.sweep_samples;
        if sweep != self.units.sweep() {
            self.units.start_sweep(sweep);
        }
    }

    fn pass(&mut self, item: OrderedUnit) {
        self.units.take();
        self.position += u64::from(item.samples);
    }
}

impl Stages for WorkerStages {
    fn next(&mut self) -> Option<Planned> {
        if self.without_chunk {
            return None;
        }
        let Some(mut rows) = self.rows.take() else { return self.next_whole() };
        let planned = self.next_of_rows(&mut rows);
        self.rows = Some(rows);
        planned
    }

    fn save(&self, state: &mut State) {
        (state.order, state.samples) = (self.units.state(), self.position);
        state.share = ShareState { dealt: self.dealt };
        if let Some(rows) = &self.rows {
            state.rows = rows.state(self.epoch);
        }
    }

    fn restore(&mut self, state: &State, index: &Index) -> Result<()> {
        state.check_numbers(index, self.unit)?;
        if let Some(rows) = &mut self.rows {
            rows.restore(&state.rows, index)?;
        }
        self.go_to(state)?;
        (self.position, self.dealt) = (state.samples, state.share.dealt);
        let epoch = self.position / self.epoch_samples();
        // Rows are emptied before the next epoch begins. At the end of a run they name the epoch
        // that would begin; a run that has become longer is still in the one before.
        let named = state.rows.epoch;
        let longer = named.checked_sub(1) == Some(epoch)
            && self.position < self.run_samples()
            && state.rows.slots.iter().all(|slot| slot.sequences.is_empty());
        self.epoch = if self.rows.is_some() && !longer { named } else { epoch };
        // Rows lag behind by their contents, which is at most one sequence more than an epoch has.
        let longest = (0..index.len() as u32).map(|s| index.samples(s)).max().unwrap_or(0);
        let end = self.epoch_start(self.epoch.saturating_add(1)).saturating_add(longest.into());
        // At the end of the run, a state names the epoch that would begin next.
        let most = epoch.saturating_add(u64::from(self.position >= self.run_samples()));
        if self.epoch > most || end <= self.position {
            return Err(changed_by_hand(&format!(
                "the state names epoch {}, but {} samples were gone through",
                self.epoch, self.position
            )));
        }
        Ok(())
    }

    fn window(&self) -> Vec<SweptChunk> {
        let held = self.rows.iter().flat_map(Rows::window);
        self.share.of_window(held.chain(self.units.window()))
    }

    fn position(&self) -> Position {
        let (sweep, order) = self.units.position();
        Position { sweep, order, pool: 0 }
    }

    fn needs(&self, index: &Index, lengths: &Lengths) -> Needs {
        let cursor = &self.units.cursor;
        let own = match self.most.units {
            u64::MAX => BatchSize::Samples(self.most.local),
            units => BatchSize::Units(units),
        };
        let whole = Cut::new(self.unit, own, 1).largest(lengths, self.how.cross_sweeps);
        let largest = self.rows.as_ref().map_or(whole, |rows| rows.largest(lengths));
        let held = self.rows.as_ref().map_or(0, |rows| rows.most_samples(index));
        Needs {
            samples: cursor.most_samples(index).saturating_add(held),
            bytes: cursor.most_bytes(index, self.unit),
            step: largest.samples.saturating_mul(self.share.ranks()),
            largest,
        }
    }

    fn rows(&self) -> Option<(usize, usize)> {
        self.rows.as_ref().map(Rows::size)
    }
}

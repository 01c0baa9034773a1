//! Cuts minibatches out of groups of chunks, and deals them to the ranks.
//!
//! The chunks of a sweep are divided into groups ([`Grouped`]). Each group has an order of its own,
//! which is cut into minibatches. The groups take turns: minibatch `t` of the sweep comes from
//! group `t mod groups`. Ranks take turns too: in the step that begins with minibatch `t`, rank `r`
//! gets minibatch `t + r`. If the number of groups is a multiple of the number of ranks, a rank
//! gets all its minibatches out of the same groups. It draws the order of these alone, and reads
//! their chunks alone.
//!
//! ```text
//! groups        0   1   2   3 | 0   1   2   3 | 0   1   2   3 | the rest, group by group
//! minibatches   0   1   2   3   4   5   6   7   8   9  10  11   12 ...
//! of 2 ranks    A   B   A   B   A   B   A   B   A   B   A   B   A ...
//! ```
//!
//! The position is the number of the next minibatch of the sweep, for any number of ranks. Groups
//! do not have quite the same number of minibatches. The turns end before the first group is
//! through. What is left then, a few minibatches of each group, is dealt out as if there were no
//! groups: all ranks know all of it, and the [rule](crate::Partial) for the end of a sweep holds.

use std::collections::VecDeque;
use std::sync::Arc;

use seqfeed_core::{Index, Result};

use crate::cut::{Cut, Lengths};
use crate::deal::Deal;
use crate::order::{Blocks, Cursor, Grouped, OrderState, OrderedUnit, Units};
use crate::random::mix;
use crate::refused::changed_by_hand;
use crate::run::Run;
use crate::settings::{BatchSize, Settings, Steps, Unit, Window};
use crate::similar::Similar;
use crate::stages::{Needs, Planned, Position, Stages};
use crate::state::State;
use crate::swept_chunk::SweptChunk;
use crate::tokens::Tokens;

pub(crate) struct Groups {
    grouped: Arc<Grouped>,
    settings: Settings,
    steps: Steps,
    window: Window,
    cut: Cut,
    deal: Deal,
    run: Run,
    /// The samples of a sweep.
    total_samples: u64,
    /// The longest unit, in samples.
    longest: u64,

    sweep: u64,
    /// The first minibatch of the next step.
    next: u64,
    /// The rounds of turns that are there for sure.
    sure: u64,
    /// This rank's groups, in the order of their turns.
    lanes: VecDeque<Lane>,
    /// The groups whose minibatches are counted, and the one that is being counted.
    counted: Vec<Counted>,
    counting: Option<Lane>,
    rest: Option<Rest>,
}

/// The minibatches of a group in the sweep.
#[derive(Default)]
struct Counted {
    minibatches: u64,
    /// Where those behind the sure ones begin.
    begins: Vec<u64>,
}

/// A group that this rank serves.
struct Lane {
    units: Units,
    similar: Option<Similar>,
}

/// What is left of a sweep when the turns of the groups are over.
struct Rest {
    /// The number of the first minibatch behind the turns, and the end of the sweep.
    first: u64,
    end: u64,
    /// This rank's minibatches of the steps before the last one.
    own: VecDeque<Vec<OrderedUnit>>,
    /// All minibatches of the last step, and this rank's part of them.
    last: Vec<Vec<OrderedUnit>>,
    own_last: Vec<OrderedUnit>,
}

impl Lane {
    /// The next minibatch of the group; `None` at the end of the sweep.
    fn take(&mut self, cut: &Cut) -> Option<Vec<OrderedUnit>> {
        match &mut self.similar {
            Some(similar) => similar.take(&mut self.units),
            None => cut.take(&mut self.units, None),
        }
    }

    /// Passes over minibatches from the beginning of the sweep. Returns whether they are there.
    fn skip(&mut self, count: u64, cut: &Cut) -> bool {
        if let (None, Some(size)) = (&self.similar, cut.units()) {
            let item = count.saturating_mul(size);
            self.units.go_to(item.min(self.units.total()));
            return item <= self.units.total();
        }
        (0..count).all(|_| self.take(cut).is_some())
    }
}

impl Groups {
    /// Deals out an index in blocks of chunks.
    pub(crate) fn new(
        index: &Arc<Index>,
        settings: &Settings,
        steps: Steps,
        tokens: Option<Arc<Tokens>>,
    ) -> Self {
        let (window, seed) = settings.order.shuffled().unwrap_or((Window::Corpus, 0));
        let cut = Cut::new(settings.unit, settings.batch, 1).within(steps.limits, tokens);
        let longest = match settings.unit {
            Unit::Frame => 1,
            Unit::Sequence => {
                let lengths = (0..index.len() as u32).map(|sequence| index.samples(sequence));
                lengths.max().unwrap_or(0).into()
            }
        };
        let mut groups = Self {
            grouped: Arc::new(Grouped::new(Arc::clone(index), seed, steps.groups)),
            settings: settings.clone(),
            steps,
            window,
            cut,
            deal: Deal::new(settings, steps),
            run: Run::of(settings),
            total_samples: index.total_samples(),
            longest,
            sweep: 0,
            next: 0,
            sure: 0,
            lanes: VecDeque::new(),
            counted: Vec::new(),
            counting: None,
            rest: None,
        };
        groups.start(0);
        groups
    }

    fn groups(&self) -> u64 {
        self.grouped.groups() as u64
    }

    fn ranks(&self) -> u64 {
        self.settings.ranks as u64
    }

    /// This rank's minibatch of the next step.
    fn own(&self) -> u64 {
        self.next + self.settings.rank as u64
    }

    /// A group at the beginning of a sweep.
    fn lane(&self, group: usize, sweep: u64) -> Lane {
        let Self { grouped, settings, window, .. } = self;
        let blocks = Blocks::of_group(Arc::clone(grouped), group, settings.unit, *window);
        let mut units = Units::new(Cursor::Blocks(Box::new(blocks)), 0);
        units.start_sweep(sweep);
        let similar = Similar::new(grouped.index(), settings, self.steps, self.cut.clone());
        Lane { units, similar }
    }

    /// Goes to the beginning of a sweep.
    fn start(&mut self, sweep: u64) {
        (self.sweep, self.next, self.rest) = (sweep, 0, None);
        (self.counted, self.counting) = (Vec::new(), None);
        self.sure = self.sure_rounds();
        self.take_lanes();
    }

    /// Makes the groups of this rank, from minibatch `next` on, at the beginning of the sweep.
    fn take_lanes(&mut self) {
        let turns = self.groups() / self.ranks();
        let group = |turn| ((self.own() + turn * self.ranks()) % self.groups()) as usize;
        self.lanes = (0..turns).map(|turn| self.lane(group(turn), self.sweep)).collect();
    }

    /// The number of minibatches of each group that are certain, from its samples alone. The last
    /// one always belongs to the rest, so that this never has fewer minibatches than there are
    /// ranks.
    fn sure_rounds(&self) -> u64 {
        let (lists, index) = (self.grouped.of(self.sweep), self.grouped.index());
        let of_group = |chunks: &Vec<u32>| {
            let chunks = chunks.iter().map(|&chunk| chunk as usize);
            let samples: u64 = chunks.clone().map(|chunk| index.chunk_samples(chunk)).sum();
            match (self.cut.units(), self.settings.batch) {
                (Some(size), _) if self.settings.unit == Unit::Frame => samples / size,
                (Some(size), _) => {
                    let sequences = chunks.map(|chunk| index.chunk(chunk).len() as u64);
                    sequences.sum::<u64>() / size
                }
                // A minibatch is not larger than its size, or than its only unit.
                (None, BatchSize::Samples(size) | BatchSize::Padded(size)) => {
                    samples / size.max(self.longest).max(1)
                }
                (None, BatchSize::Units(size)) => {
                    samples / size.saturating_mul(self.longest).max(1)
                }
            }
        };
        lists.iter().map(of_group).min().unwrap_or(0).saturating_sub(1)
    }

    /// Finds out what the sweep has behind its turns, once that is near.
    fn find_rest(&mut self) {
        if self.rest.is_some() || self.next + self.ranks() <= self.sure * self.groups() {
            return;
        }
        let (rounds, rest) = match (self.steps.bucket, self.cut.units()) {
            (None, Some(size)) => self.rest_of_full(size),
            _ => self.rest_of_any(),
        };
        let first = rounds * self.groups();
        let end = first + rest.len() as u64;
        let ranks = self.ranks();
        // Steps before the last one, which has a minibatch at least.
        let before = end.saturating_sub(self.next).saturating_sub(1) / ranks;
        let last_begin = self.next + before * ranks;
        let at = |minibatch: u64| {
            let behind = minibatch.checked_sub(first)?;
            rest.get(usize::try_from(behind).ok()?)
        };
        let own = (0..before).map(|step| self.own() + step * ranks);
        let own = own.filter(|&minibatch| minibatch >= first);
        let own = own.map(|minibatch| at(minibatch).cloned().unwrap_or_default()).collect();
        let last: Vec<_> =
            (last_begin..end).filter_map(|minibatch| at(minibatch).cloned()).collect();
        let own_last = self.deal.clone().own(last.clone(), &self.cut, true).unwrap_or_default();
        self.rest = Some(Rest { first, end, own, last, own_last });
    }

    /// The rounds of full minibatches of a fixed number of units, and all minibatches behind them.
    /// Only the last of these is not full.
    fn rest_of_full(&self, size: u64) -> (u64, Vec<Vec<OrderedUnit>>) {
        let mut lanes: Vec<Lane> =
            (0..self.grouped.groups()).map(|group| self.lane(group, self.sweep)).collect();
        let full = lanes.iter().map(|lane| lane.units.total() / size).min().unwrap_or(0);
        let rounds = full.saturating_sub(1);
        let mut units = Vec::new();
        for lane in &mut lanes {
            lane.units.go_to(rounds * size);
            lane.units.take_many(u64::MAX, &mut units);
        }
        let mut rest: Vec<Vec<OrderedUnit>> = Vec::new();
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        rest.extend(units.chunks(size).map(<[OrderedUnit]>::to_vec));
        if self.deal.drops() && rest.last().is_some_and(|last| last.len() < size) {
            rest.pop();
        }
        (rounds, rest)
    }

    /// The same for minibatches that hold as much as fits, of which all groups were counted.
    fn rest_of_any(&mut self) -> (u64, Vec<Vec<OrderedUnit>>) {
        while self.count(u64::MAX) {}
        let counts = self.counted.iter().map(|counted| counted.minibatches);
        let rounds = counts.min().unwrap_or(0).saturating_sub(1);
        let mut rest = Vec::new();
        for (group, counted) in self.counted.iter().enumerate() {
            let mut lane = self.lane(group, self.sweep);
            match lane.similar {
                // A pool begins before its minibatches.
                Some(_) => drop(lane.skip(rounds, &self.cut)),
                None => lane.units.go_to(counted.begins[(rounds - self.sure) as usize]),
            }
            rest.extend(std::iter::from_fn(|| lane.take(&self.cut)));
        }
        (rounds, rest)
    }

    /// Counts so many more minibatches of the groups, one group after another. Returns whether
    /// there are more. It costs as much as to draw them, so it is done a bit in each step.
    fn count(&mut self, most: u64) -> bool {
        if self.cut.units().is_some() && self.steps.bucket.is_none() {
            return false;
        }
        for _ in 0..most {
            let Some(lane) = &mut self.counting else {
                if self.counted.len() == self.grouped.groups() {
                    return false;
                }
                self.counting = Some(self.lane(self.counted.len(), self.sweep));
                self.counted.push(Counted::default());
                continue;
            };
            let begin = lane.units.item();
            let is_there = lane.take(&self.cut).is_some();
            if let Some(counted) = self.counted.last_mut() {
                if counted.minibatches >= self.sure {
                    counted.begins.push(begin);
                }
                counted.minibatches += u64::from(is_there);
            }
            if !is_there {
                self.counting = None;
            }
        }
        true
    }

    /// Whether the next step is not there, as far as is known.
    fn is_through(&self) -> bool {
        let Some(rest) = &self.rest else { return false };
        let left = rest.end.saturating_sub(self.next);
        left == 0 || (self.deal.drops() && left < self.ranks())
    }

    /// This rank's minibatch of the next step.
    fn step(&mut self) -> Option<Vec<OrderedUnit>> {
        // In a step all ranks together take as many minibatches as there are ranks.
        self.count(self.ranks() + self.ranks() / 4 + 2);
        self.find_rest();
        if self.is_through() {
            return None;
        }
        let (own, ranks) = (self.own(), self.ranks());
        let ends = self.rest.as_ref().is_some_and(|rest| self.next + ranks >= rest.end);
        self.next += ranks;
        match &mut self.rest {
            Some(rest) if ends => {
                rest.own_last.clear();
                self.deal.own(std::mem::take(&mut rest.last), &self.cut, true)
            }
            Some(rest) if own >= rest.first => rest.own.pop_front(),
            _ => {
                let mut lane = self.lanes.pop_front()?;
                let items = lane.take(&self.cut);
                self.lanes.push_back(lane);
                items
            }
        }
    }
}

impl Stages for Groups {
    fn next(&mut self) -> Option<Planned> {
        let mut sweeps_without = 0;
        while sweeps_without < 2 {
            let sweep = self.sweep;
            if self.run.is_over(sweep, 0) {
                return None;
            }
            let items = self.step();
            self.find_rest();
            let end_of_sweep = self.is_through();
            if end_of_sweep {
                self.start(sweep.saturating_add(1));
            }
            match items {
                Some(items) => return Some(Planned::new(sweep, end_of_sweep, items)),
                None => sweeps_without += u32::from(end_of_sweep),
            }
        }
        None
    }

    fn save(&self, state: &mut State) {
        let Self { sweep, next, .. } = *self;
        state.order = OrderState { sweep, item: next, ..OrderState::default() };
        // A rank does not know what others got of this sweep.
        state.samples = sweep.saturating_mul(self.total_samples);
        state.deal = self.deal.state();
    }

    fn restore(&mut self, state: &State, index: &Index) -> Result<()> {
        state.check_numbers(index, self.settings.unit)?;
        self.deal.restore(state.deal)?;
        let OrderState { sweep, item, part } = state.order;
        if part != Default::default() {
            return Err(state.without_place());
        }
        self.start(sweep);
        self.next = item;
        self.find_rest();
        if let Some(rest) = &self.rest
            && item > rest.end
        {
            return Err(changed_by_hand(&format!(
                "the state names minibatch {item} of a sweep, which has {}",
                rest.end
            )));
        }
        if self.is_through() {
            self.start(sweep.saturating_add(1));
            return Ok(());
        }
        self.take_lanes();
        let (own, ranks, groups) = (self.own(), self.ranks(), self.groups());
        let first = self.rest.as_ref().map_or(u64::MAX, |rest| rest.first);
        for (turn, lane) in self.lanes.iter_mut().enumerate() {
            let minibatch = own + turn as u64 * ranks;
            // Behind the turns no group is asked any more.
            if minibatch < first && !lane.skip(minibatch / groups, &self.cut) {
                return Err(state.without_place());
            }
        }
        Ok(())
    }

    fn window(&self) -> Vec<SweptChunk> {
        let mut window: Vec<(SweptChunk, u32)> = Vec::new();
        let first = self.rest.as_ref().map_or(u64::MAX, |rest| rest.first);
        let is_in_run =
            |(chunk, _): &(SweptChunk, u32)| self.run.sweeps.is_none_or(|most| chunk.sweep < most);
        for (turn, lane) in self.lanes.iter().enumerate() {
            let is_over = self.own() + turn as u64 * self.ranks() >= first;
            if !is_over {
                window.extend(lane.similar.iter().flat_map(Similar::window));
                window.extend(lane.units.window().filter(is_in_run));
            }
        }
        if let Some(rest) = &self.rest {
            // The next minibatch, and one more.
            let waits = self.own().saturating_add(2 * self.ranks()) >= rest.first;
            let own = rest.own.iter().chain([&rest.own_last]).filter(|_| waits).take(2);
            window.extend(own.flatten().map(|item| (item.swept(), item.place)));
        }
        self.deal.of_window(window)
    }

    fn position(&self) -> Position {
        let of_lane = |lane: &Lane| {
            let (sweep, order) = lane.units.position();
            let pool = lane.similar.as_ref().map_or(0, Similar::position) as u64;
            mix(order ^ mix(sweep)).wrapping_add(pool)
        };
        let lanes =
            self.lanes.iter().fold(0, |hash: u64, lane| mix(hash).wrapping_add(of_lane(lane)));
        let rest = self.rest.as_ref().map_or(0, |_| 1 + self.next);
        Position { sweep: self.sweep, order: lanes.wrapping_add(mix(rest)), pool: 0 }
    }

    fn needs(&self, index: &Index, lengths: &Lengths) -> Needs {
        let lanes = self.groups() / self.ranks();
        let (mut samples, mut bytes) = (0u64, 0u64);
        let largest = self.deal.largest(self.cut.largest(lengths, false));
        if let Some(lane) = self.lanes.front() {
            let similar = lane.similar.as_ref();
            let pool = similar.map_or(0, |similar| similar.most_samples(lengths.longest()));
            let of_lane = lane.units.cursor.most_samples(index);
            samples = of_lane.saturating_add(pool).saturating_mul(lanes);
            // Two minibatches of the rest, each of the last blocks of two groups.
            samples = samples.saturating_add(of_lane.saturating_mul(4));
            let lists = similar
                .map_or(0, |similar| similar.most_bytes(index.len() as u64, largest.segments));
            let arranged = lane.units.cursor.most_bytes(index, self.settings.unit);
            bytes = lists.saturating_mul(lanes).saturating_add(arranged);
            // The chunks of two sweeps, and what is left of a sweep: a few minibatches a group.
            let rest = largest.segments.saturating_mul(4).saturating_mul(self.groups());
            let units = rest.saturating_mul(size_of::<OrderedUnit>() as u64);
            bytes = bytes.saturating_add(units).saturating_add(8 * index.chunk_count() as u64);
        }
        let whole = index.total_samples().saturating_mul(2);
        Needs {
            samples: samples.min(whole),
            bytes,
            step: self.deal.in_step(largest.samples),
            largest,
        }
    }
}

//! Minibatches of the global order, dealt to ranks.
//!
//! The global order of a sweep is cut into minibatches without regard to ranks; a *step* is one
//! minibatch for each rank. So a position between two steps means the same to all ranks, and
//! to any number of them.

use std::collections::VecDeque;
use std::sync::Arc;

use seqfeed_core::{Error, Index, Result};

use super::{Plan, changed_by_hand, digest};
use crate::order::{Cursor, Item};
use crate::random;
use crate::settings::{BatchSize, Order, Partial, Settings, Shard, Unit};
use crate::state::{DealtState, PoolState, State};

/// Deals the minibatches of the global order to ranks.
pub(crate) struct Steps {
    settings: Settings,
    cursor: Cursor,
    corpus: String,
    /// Sweep under way; `item` units of it were taken from the cursor, not counting `pending`.
    sweep: u64,
    item: u64,
    pending: Option<Item>,
    /// Minibatches of the pool of like lengths that are still to come.
    pool: VecDeque<Vec<Item>>,
    pool_item: u64,
    pool_taken: u64,
    samples: u64,
    minibatch: u64,
    /// Whether a step had no minibatch for some ranks.
    apart: bool,
}

impl Steps {
    pub(crate) fn new(index: Arc<Index>, settings: Settings) -> Self {
        let corpus = format!("{:016x}", digest(&index, &settings));
        let cursor = Cursor::new(index, &settings);
        let mut steps = Self {
            settings,
            cursor,
            corpus,
            sweep: 0,
            item: 0,
            pending: None,
            pool: VecDeque::new(),
            pool_item: 0,
            pool_taken: 0,
            samples: 0,
            minibatch: 0,
            apart: false,
        };
        steps.start_sweep(0, 0);
        steps
    }

    pub(crate) fn corpus(&self) -> &str {
        &self.corpus
    }

    pub(crate) fn restore(&mut self, state: &State) -> Result<()> {
        DealtState::check(&self.settings, state)?;
        self.start_sweep(state.sweep, state.item);
        (self.samples, self.minibatch) = (state.samples, state.minibatch);
        self.apart = state.apart.is_some();
        if state.within == 0 {
            return Ok(());
        }
        let (here, there) = (self.pool_state(), state.pool);
        if self.settings.bucket.is_some() && there != Some(here) {
            let said = |pool: PoolState| match pool.batch {
                BatchSize::Samples(size) => format!("{} samples", size.saturating_mul(pool.scale)),
                BatchSize::Units(size) => format!("{} sequences", size.saturating_mul(pool.scale)),
                BatchSize::Padded(size) => {
                    format!("{} padded samples", size.saturating_mul(pool.scale))
                }
            };
            let there = there.map_or_else(|| "a size that it does not say".to_owned(), said);
            return Err(Error::usage(format!(
                "the state stands within a pool of sequences that was cut into minibatches of {there}; \
                 here they are of {}",
                said(here)
            ))
            .with_help(
                "keep batch-size and batch-unit (and shard and ranks, where chunks are divided) until \
                 the pool is through: a state between two pools goes on with any",
            ));
        }
        self.fill_pool();
        if state.within >= self.pool.len() as u64 {
            return Err(changed_by_hand(&format!(
                "the state names minibatch {} of a pool, which has {}",
                state.within,
                self.pool.len()
            )));
        }
        self.pool_taken = state.within;
        self.pool.drain(..state.within as usize);
        Ok(())
    }

    fn pool_state(&self) -> PoolState {
        PoolState { batch: self.settings.batch, scale: self.scale() }
    }

    /// By how much a minibatch of the global order is larger than one of a rank.
    fn scale(&self) -> u64 {
        match self.settings.shard {
            Shard::Minibatches => 1,
            Shard::Chunks => self.settings.ranks as u64,
        }
    }

    pub(crate) fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The chunks that this rank's next minibatches come from, perhaps more than once: those of the
    /// pool of like lengths, and those of the order's window.
    pub(crate) fn window(&self) -> Vec<u32> {
        let Settings { shard, rank, ranks, .. } = self.settings;
        let own = |place: u32| shard == Shard::Minibatches || place as usize % ranks == rank;
        let pooled = self.pool.iter().flatten().map(|item| (item.chunk, item.shard));
        let ahead = self.pending.iter().map(|item| (item.chunk, item.shard));
        let window = pooled.chain(ahead).chain(self.cursor.window());
        window.filter(|&(_, place)| own(place)).map(|(chunk, _)| chunk).collect()
    }

    /// A number that changes when [`window`](Planner::window) may have changed.
    pub(crate) fn window_position(&self) -> (u64, u64, u64) {
        (self.sweep, self.cursor.position(), self.pool.len() as u64)
    }

    /// Where the feed stands before the next minibatch.
    pub(crate) fn state(&self) -> State {
        let (item, within) = match self.pool.is_empty() {
            true => (self.item, 0),
            false => (self.pool_item, self.pool_taken),
        };
        State {
            version: State::VERSION,
            sweep: self.sweep,
            item,
            within,
            samples: self.samples,
            minibatch: self.minibatch,
            corpus: self.corpus.clone(),
            pool: (within > 0).then(|| self.pool_state()),
            apart: self.apart.then(|| DealtState::of(&self.settings)),
            truncated: None,
            part: None,
        }
    }

    /// The next minibatch of this rank, or `None` at the end, or if a whole sweep has nothing for
    /// this rank (fewer minibatches than ranks, or none that is full where the rest is dropped).
    pub(crate) fn next(&mut self) -> Option<Plan> {
        let mut sweeps_without = 0;
        while sweeps_without < 2 {
            if self.is_over() {
                return None;
            }
            let sweep = self.sweep;
            let cuts = self.step();
            self.samples += cuts.iter().flatten().map(|item| u64::from(item.samples)).sum::<u64>();
            let end_of_sweep = self.peek().is_none() && self.pool.is_empty();
            if end_of_sweep {
                self.start_sweep(sweep.saturating_add(1), 0);
            }
            let dealt = self.settings.shard == Shard::Chunks || cuts.len() == self.settings.ranks;
            self.apart |= self.settings.partial == Partial::Keep && !dealt;
            let Some(items) = self.own(cuts, end_of_sweep) else {
                sweeps_without += u32::from(end_of_sweep);
                continue;
            };
            let index = self.minibatch;
            self.minibatch += 1;
            let segments = Vec::new();
            return Some(Plan { index, sweep, end_of_sweep, items, segments, after: self.state() });
        }
        None
    }

    fn is_over(&self) -> bool {
        self.settings.sweeps.is_some_and(|sweeps| self.sweep >= sweeps)
            || self.settings.samples.is_some_and(|samples| self.samples >= samples)
    }

    fn start_sweep(&mut self, sweep: u64, item: u64) {
        self.cursor.start(sweep, item);
        (self.sweep, self.item, self.pending) = (sweep, item, None);
        self.pool.clear();
        self.pool_taken = 0;
    }

    /// The minibatches of one step in the global order, as many as there are.
    fn step(&mut self) -> Vec<Vec<Item>> {
        let ranks = self.settings.ranks;
        let scale = self.scale();
        let count = match self.settings.shard {
            Shard::Minibatches => ranks,
            Shard::Chunks => 1,
        };
        let mut left = self.settings.samples.map(|limit| limit.saturating_sub(self.samples));
        let mut cuts = Vec::new();
        for _ in 0..count {
            if left == Some(0) {
                break;
            }
            let Some(cut) = self.cut(scale, left) else { break };
            if let Some(left) = &mut left {
                let samples: u64 = cut.iter().map(|item| u64::from(item.samples)).sum();
                *left = left.saturating_sub(samples);
            }
            cuts.push(cut);
        }
        cuts
    }

    /// This rank's part of a step, or `None` if it has none.
    fn own(&self, mut cuts: Vec<Vec<Item>>, end_of_sweep: bool) -> Option<Vec<Item>> {
        let (rank, ranks) = (self.settings.rank, self.settings.ranks);
        if self.settings.shard == Shard::Chunks {
            let complete = cuts.first().is_some_and(|cut| self.is_full(cut, ranks as u64));
            if end_of_sweep && !complete && self.settings.partial == Partial::Drop {
                return None;
            }
            let cut = cuts.pop()?;
            let own = |item: &Item| item.shard as usize % ranks == rank;
            return Some(cut.into_iter().filter(own).collect());
        }
        let last = cuts.last()?;
        let complete = cuts.len() == ranks && (!end_of_sweep || self.is_full(last, 1));
        match self.settings.partial {
            Partial::Drop if !complete => None,
            Partial::Even if !complete && ranks > 1 => {
                let items: Vec<Item> = cuts.into_iter().flatten().collect();
                let bound = |rank: usize| items.len() * rank / ranks;
                Some(items[bound(rank)..bound(rank + 1)].to_vec())
            }
            _ if rank < cuts.len() => Some(cuts.swap_remove(rank)),
            _ => None,
        }
    }

    /// Whether a minibatch at the end of a sweep is as large as one elsewhere. One that is filled
    /// by sequences of different lengths always counts as full.
    fn is_full(&self, cut: &[Item], scale: u64) -> bool {
        match (self.settings.batch, self.settings.unit) {
            (BatchSize::Units(size), _) | (BatchSize::Samples(size), Unit::Frame) => {
                cut.len() as u64 >= size.saturating_mul(scale)
            }
            _ => true,
        }
    }

    /// The next minibatch of the global order, `scale` times as large as one of a rank.
    fn cut(&mut self, scale: u64, left: Option<u64>) -> Option<Vec<Item>> {
        if self.settings.bucket.is_some() {
            if self.pool.is_empty() {
                self.fill_pool();
            }
            let cut = self.pool.pop_front()?;
            self.pool_taken += 1;
            return Some(cut);
        }
        let mut size = Size::new(self.settings.batch, scale);
        if self.settings.unit == Unit::Frame {
            size.most_units = left.unwrap_or(u64::MAX);
        }
        let mut items = Vec::new();
        while let Some(item) = self.peek() {
            if !size.takes(item.samples) {
                break;
            }
            items.push(item);
            self.take();
        }
        (!items.is_empty()).then_some(items)
    }

    /// Takes the next pool of sequences, sorts them by length, cuts them into minibatches, and
    /// shuffles those.
    fn fill_pool(&mut self) {
        self.pool_item = self.item;
        self.pool_taken = 0;
        let mut items = Vec::new();
        for _ in 0..self.settings.bucket.unwrap_or(0) {
            let Some(item) = self.peek() else { break };
            items.push(item);
            self.take();
        }
        items.sort_by_key(|item| item.samples);
        let scale = self.scale();
        let mut cuts: Vec<Vec<Item>> = Vec::new();
        let mut size = Size::new(self.settings.batch, scale);
        for item in items {
            if cuts.is_empty() || !size.takes(item.samples) {
                size = Size::new(self.settings.batch, scale);
                size.takes(item.samples);
                cuts.push(Vec::new());
            }
            cuts.last_mut().expect("just pushed").push(item);
        }
        if let Order::Shuffle(_) = self.settings.order {
            let seed = random::mix(self.settings.seed.wrapping_add(self.sweep));
            random::shuffle(&mut cuts, seed ^ random::mix(self.pool_item));
        }
        self.pool = cuts.into();
    }

    fn peek(&mut self) -> Option<Item> {
        if self.pending.is_none() {
            self.pending = self.cursor.next();
        }
        self.pending
    }

    fn take(&mut self) {
        self.pending = None;
        self.item += 1;
    }
}

/// How full a minibatch is.
struct Size {
    limit: BatchSize,
    scale: u64,
    most_units: u64,
    units: u64,
    samples: u64,
    longest: u64,
}

impl Size {
    fn new(limit: BatchSize, scale: u64) -> Self {
        Self { limit, scale, most_units: u64::MAX, units: 0, samples: 0, longest: 0 }
    }

    /// Whether one more unit fits; if so, it is counted. The first one always fits.
    fn takes(&mut self, samples: u32) -> bool {
        let units = self.units + 1;
        let total = self.samples + u64::from(samples);
        let longest = self.longest.max(u64::from(samples));
        let fits = match self.limit {
            BatchSize::Samples(limit) => total <= limit.saturating_mul(self.scale),
            BatchSize::Units(limit) => units <= limit.saturating_mul(self.scale),
            BatchSize::Padded(limit) => {
                longest.saturating_mul(units) <= limit.saturating_mul(self.scale)
            }
        };
        if (fits && units <= self.most_units) || self.units == 0 {
            (self.units, self.samples, self.longest) = (units, total, longest);
            return true;
        }
        false
    }
}

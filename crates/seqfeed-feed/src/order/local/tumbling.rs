//! The tumbling window: windows of this worker's chunks, shuffled one after another.
//!
//! The chunks of a sweep come in random order; every `ranks`th is this worker's. Chunks are
//! collected until the window is full, also over the ends of sweeps. What belongs to one sweep, a
//! *part*, is shuffled for itself (Fisher-Yates), with a seed that is the sum of the configured
//! seed, the sweep, and the place in the order of chunks where the part begins.
//!
//! So a part does not depend on the rest of its window, and parts are drawn one at a time: a window
//! may be larger than the corpus, and takes no more memory than a sweep (8 bytes a unit).

use std::sync::Arc;

use seqfeed_core::Index;

use super::{Entry, LocalState, PartState, TumblingWindow};
use crate::order::{Item, largest_chunk, length, units};
use crate::random::CntkRandom;
use crate::settings::Generator;
use crate::settings::Unit;

pub(super) struct Tumbling {
    index: Arc<Index>,
    unit: Unit,
    window: TumblingWindow,
    seed: u64,
    rank: usize,
    ranks: usize,

    /// The order of chunks in the sweep of `part`, and in the next one.
    order: Vec<u32>,
    next_order: Vec<u32>,
    part: Part,
    /// The part's units, shuffled: their places in `order` and numbers in their chunks.
    units: Vec<(u32, u32)>,
    /// Units delivered.
    position: usize,
    changes: u64,
}

/// Chunks of one sweep in one window.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    sweep: u64,
    /// Its places in the order of chunks, this worker's and others'.
    begin: usize,
    end: usize,
    /// Chunks or samples in the window before it, and with it (0 if that makes the window full).
    collected: u64,
    collected_after: u64,
}

impl Tumbling {
    pub(super) fn new(
        index: Arc<Index>,
        unit: Unit,
        window: TumblingWindow,
        seed: u64,
        rank: usize,
        ranks: usize,
    ) -> Self {
        Self {
            index,
            unit,
            window,
            seed,
            rank,
            ranks,
            order: Vec::new(),
            next_order: Vec::new(),
            part: Part::default(),
            units: Vec::new(),
            position: 0,
            changes: 0,
        }
    }

    /// Goes to a unit of a part; whether there is such a unit.
    pub(super) fn start(&mut self, state: LocalState) -> bool {
        let LocalState { sweeps, part: PartState { place, collected }, position, .. } = state;
        let chunks = self.index.chunk_count() as u64;
        // Only a part at the beginning of a sweep can go on with an earlier window.
        if place >= chunks || collected >= self.full() || (place > 0 && collected > 0) {
            return false;
        }
        self.order = self.chunk_order(sweeps);
        self.next_order = self.chunk_order(sweeps.wrapping_add(1));
        self.part = self.part_at(sweeps, place as usize, collected, &self.order);
        self.draw();
        // A part of chunks without samples has no frames.
        while position == 0 && self.units.is_empty() && !self.ends_sweep() {
            self.next_part();
        }
        let entries = self.units.len() + usize::from(self.ends_sweep());
        self.position = usize::try_from(position).unwrap_or(usize::MAX);
        self.position < entries
    }

    /// The part, and the position in it.
    pub(super) fn place(&self) -> (PartState, u64) {
        let Part { begin, collected, .. } = self.part;
        (PartState { place: begin as u64, collected }, self.position as u64)
    }

    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    #[inline]
    pub(super) fn peek(&self) -> Entry {
        let Some(&(shard, number)) = self.units.get(self.position) else {
            return Entry::EndOfSweep;
        };
        let chunk = self.order[shard as usize];
        let samples = length(&self.index, self.unit, chunk, number);
        Entry::Unit(Item { chunk, shard, number, samples })
    }

    #[inline]
    pub(super) fn advance(&mut self) {
        self.position += 1;
        // The end of a sweep is one entry more.
        while self.position >= self.units.len() + usize::from(self.ends_sweep()) {
            self.next_part();
        }
    }

    /// The chunks of this part, and of the next one that has any of this worker's.
    pub(super) fn window(&self) -> Vec<(u32, u32)> {
        let chunks = |part: &Part, order: &[u32]| -> Vec<(u32, u32)> {
            let places = self.own_places(part);
            places.map(|place| (order[place], place as u32)).collect()
        };
        let mut window = chunks(&self.part, &self.order);
        let mut part = self.part;
        loop {
            part = self.part_after(&part);
            let order = if part.sweep == self.part.sweep { &self.order } else { &self.next_order };
            let next = chunks(&part, order);
            // What comes behind the beginning of the next sweep can wait.
            if !next.is_empty() || part.sweep != self.part.sweep {
                window.extend(next);
                return window;
            }
        }
    }

    pub(super) fn most_samples(&self) -> u64 {
        let largest = largest_chunk(&self.index);
        let window = match self.window {
            TumblingWindow::Chunks(chunks) => chunks.max(1).saturating_mul(largest),
            TumblingWindow::Samples(samples) => samples.saturating_add(largest),
        };
        // The part under way, the next one, and a chunk still in use.
        window.saturating_mul(2).saturating_add(largest).min(self.index.total_samples())
    }

    fn next_part(&mut self) {
        let next = self.part_after(&self.part);
        if next.sweep != self.part.sweep {
            self.order = std::mem::take(&mut self.next_order);
            self.next_order = self.chunk_order(next.sweep.wrapping_add(1));
        }
        self.part = next;
        self.draw();
    }

    /// Shuffles the units of the part.
    fn draw(&mut self) {
        let mut list = std::mem::take(&mut self.units);
        list.clear();
        for place in self.own_places(&self.part) {
            let units = units(&self.index, self.unit, self.order[place] as usize);
            list.extend((0..units as u32).map(|number| (place as u32, number)));
        }
        let seed = self.seed.wrapping_add(self.part.sweep).wrapping_add(self.part.begin as u64);
        let mut random = CntkRandom::new(Generator::MersenneTwister, seed);
        for i in 0..list.len() {
            let j = i + random.below((list.len() - i) as u64) as usize;
            list.swap(i, j);
        }
        self.units = list;
        self.position = 0;
        self.changes += 1;
    }

    fn ends_sweep(&self) -> bool {
        self.part.end == self.order.len()
    }

    fn part_after(&self, part: &Part) -> Part {
        if part.end < self.order.len() {
            let order = if part.sweep == self.part.sweep { &self.order } else { &self.next_order };
            self.part_at(part.sweep, part.end, 0, order)
        } else {
            let sweep = part.sweep.wrapping_add(1);
            self.part_at(sweep, 0, part.collected_after, &self.next_order)
        }
    }

    fn part_at(&self, sweep: u64, begin: usize, collected: u64, order: &[u32]) -> Part {
        let mut collected_after = collected;
        let mut end = begin;
        while end < order.len() && collected_after < self.full() {
            if end % self.ranks == self.rank {
                collected_after = collected_after.saturating_add(match self.window {
                    TumblingWindow::Chunks(_) => 1,
                    TumblingWindow::Samples(_) => self.index.chunk_samples(order[end] as usize),
                });
            }
            end += 1;
        }
        if collected_after >= self.full() {
            collected_after = 0;
        }
        Part { sweep, begin, end, collected, collected_after }
    }

    /// This worker's places of a part.
    fn own_places(&self, part: &Part) -> impl Iterator<Item = usize> {
        let (rank, ranks) = (self.rank, self.ranks);
        (part.begin..part.end).filter(move |place| place % ranks == rank)
    }

    /// How much makes a window full.
    fn full(&self) -> u64 {
        match self.window {
            TumblingWindow::Chunks(most) | TumblingWindow::Samples(most) => most.max(1),
        }
    }

    /// The order of chunks in a sweep: the one of CNTK's block randomizer.
    fn chunk_order(&self, sweep: u64) -> Vec<u32> {
        let chunks = self.index.chunk_count();
        let mut random = CntkRandom::new(Generator::MersenneTwister, self.seed.wrapping_add(sweep));
        let mut order: Vec<u32> = (0..chunks as u32).collect();
        for i in 0..chunks {
            order.swap(i, random.below(chunks as u64) as usize);
        }
        order
    }
}

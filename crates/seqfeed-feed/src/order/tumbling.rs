//! The tumbling window of CNTK's local-timeline randomizers: windows of the rank's own chunks,
//! shuffled one after another.
//!
//! The chunks of a sweep come in random order; every `ranks`th chunk is this rank's. Chunks are
//! collected until the window is full, also over the ends of sweeps. The portion of a window that
//! belongs to one sweep is a *part*. Each part is shuffled by itself (Fisher-Yates). Its seed is
//! the sum of the configured seed, the sweep, and the place in the order of chunks where the part
//! begins.
//!
//! So a part does not depend on the rest of its window, and parts are drawn one at a time. A window
//! may be larger than the corpus, and takes no more memory than a sweep (8 bytes a unit).

use std::sync::Arc;

use seqfeed_core::Index;

use super::{OrderedUnit, PartState, largest_chunk, length, units};
use crate::random::{self, CntkRandom};
use crate::settings::{Generator, Unit, Window};
use crate::share::Share;
use crate::swept_chunk::SweptChunk;

pub(crate) struct Tumbling {
    index: Arc<Index>,
    unit: Unit,
    window: Window,
    seed: u64,
    share: Share,

    /// The orders of chunks in the sweep of `part`, and in the next one.
    order: Vec<u32>,
    next_order: Vec<u32>,
    part: Part,
    /// The shuffled units of the part: their places in `order` and their numbers in their chunks.
    units: Vec<(u32, u32)>,
    /// The number of units of the part that were given.
    position: usize,
    changes: u64,
}

/// Chunks of one sweep in one window.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    sweep: u64,
    /// Its range in the order of chunks, with the chunks of other ranks.
    begin: usize,
    end: usize,
    /// Chunks or samples in the window before it, and including it (0 if it fills the window).
    collected: u64,
    collected_after: u64,
}

impl Tumbling {
    pub(crate) fn new(
        index: Arc<Index>,
        unit: Unit,
        window: Window,
        seed: u64,
        share: Share,
    ) -> Self {
        Self {
            index,
            unit,
            window,
            seed,
            share,
            order: Vec::new(),
            next_order: Vec::new(),
            part: Part::default(),
            units: Vec::new(),
            position: 0,
            changes: 0,
        }
    }

    /// Goes to a unit of a part. Returns whether this unit, or this end of a sweep, exists.
    pub(crate) fn start(&mut self, sweep: u64, part: PartState, item: u64) -> bool {
        let PartState { place, collected } = part;
        let chunks = self.index.chunk_count() as u64;
        // Only a part at the beginning of a sweep can continue an earlier window.
        if place >= chunks || collected >= self.full() || (place > 0 && collected > 0) {
            return false;
        }
        self.order = self.chunk_order(sweep);
        self.next_order = self.chunk_order(sweep.wrapping_add(1));
        self.part = self.part_at(sweep, place as usize, collected, &self.order);
        self.draw();
        self.position = usize::try_from(item).unwrap_or(usize::MAX);
        // A part whose chunks have no samples has no frames.
        let exists = item == 0 || self.position < self.units.len() + usize::from(self.ends_sweep());
        if exists {
            self.settle();
        }
        exists
    }

    /// The part of the next unit, and the unit's number there. If the unit `is_given` already,
    /// those of the last unit.
    pub(crate) fn state(&self, is_given: bool) -> (PartState, u64) {
        let Part { begin, collected, .. } = self.part;
        let position = self.position - usize::from(is_given);
        (PartState { place: begin as u64, collected }, position as u64)
    }

    pub(crate) fn position(&self) -> u64 {
        self.changes
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Option<OrderedUnit> {
        self.settle();
        let &(place, number) = self.units.get(self.position)?;
        self.position += 1;
        let chunk = self.order[place as usize];
        let samples = length(&self.index, self.unit, chunk, number);
        Some(OrderedUnit { chunk, place, number, samples, sweep: 0 })
    }

    /// Goes on with the next part if this one is used up, but not over the end of the sweep.
    #[inline]
    pub(crate) fn settle(&mut self) {
        while self.position == self.units.len() && !self.ends_sweep() {
            self.next_part();
        }
    }

    /// Goes on with the next sweep, from the end of this one.
    pub(crate) fn next_sweep(&mut self) {
        self.next_part();
        self.settle();
    }

    /// This rank's chunks of this part, and of the next part that has any.
    pub(crate) fn window(&self) -> Vec<(SweptChunk, u32)> {
        let chunks = |part: &Part, order: &[u32]| -> Vec<(SweptChunk, u32)> {
            let swept = |place: usize| SweptChunk { sweep: part.sweep, chunk: order[place] };
            self.own_places(part).map(|place| (swept(place), place as u32)).collect()
        };
        let mut window = chunks(&self.part, &self.order);
        let mut part = self.part;
        loop {
            part = self.part_after(&part);
            let order = if part.sweep == self.part.sweep { &self.order } else { &self.next_order };
            let next = chunks(&part, order);
            // Chunks behind the beginning of the next sweep can wait.
            if !next.is_empty() || part.sweep != self.part.sweep {
                window.extend(next);
                return window;
            }
        }
    }

    pub(crate) fn most_samples(&self) -> u64 {
        let largest = largest_chunk(&self.index);
        let window = match self.window {
            Window::Chunks(chunks) => chunks.max(1).saturating_mul(largest),
            Window::Samples(samples) => samples.saturating_add(largest),
            Window::Corpus => u64::MAX,
        };
        // The current part, the next one, and a chunk still in use.
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
            if self.share.owns_chunk(end as u32) {
                collected_after = collected_after.saturating_add(match self.window {
                    Window::Samples(_) => self.index.chunk_samples(order[end] as usize),
                    Window::Chunks(_) | Window::Corpus => 1,
                });
            }
            end += 1;
        }
        if collected_after >= self.full() {
            collected_after = 0;
        }
        Part { sweep, begin, end, collected, collected_after }
    }

    /// This rank's places in a part.
    fn own_places(&self, part: &Part) -> impl Iterator<Item = usize> {
        let share = self.share;
        (part.begin..part.end).filter(move |&place| share.owns_chunk(place as u32))
    }

    /// The amount that fills a window.
    fn full(&self) -> u64 {
        match self.window {
            Window::Chunks(most) | Window::Samples(most) => most.max(1),
            // The units of one sweep are shuffled by themselves, however wide the window.
            Window::Corpus => u64::MAX,
        }
    }

    fn chunk_order(&self, sweep: u64) -> Vec<u32> {
        let seed = self.seed.wrapping_add(sweep);
        let mut random = CntkRandom::new(Generator::MersenneTwister, seed);
        random::chunk_order(&mut random, self.index.chunk_count())
    }
}

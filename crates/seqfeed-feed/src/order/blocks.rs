//! Blocks of chunks, each shuffled whole: an order that can be entered anywhere.
//!
//! The chunks of the corpus come in a new random order in each sweep. This order is cut into
//! blocks as wide as the window, all of nearly one size. The units of a block (frames or sequences)
//! are permuted, and blocks follow one another. Both permutations are functions of the seed, the
//! sweep and the block, so no unit is drawn twice to find another one: going to any unit of any
//! sweep costs a pass over the list of chunks.
//!
//! Blocks have new neighbours and new contents in each sweep, so no two chunks are apart for good.

use std::ops::Range;
use std::sync::Arc;

use seqfeed_core::Index;

use super::{Grouped, OrderedUnit, largest_chunk, length, units};
use crate::random::{Permutation, mix};
use crate::settings::{Blocks as Setting, Unit, Window};
use crate::swept_chunk::SweptChunk;

pub(crate) struct Blocks {
    index: Arc<Index>,
    unit: Unit,
    window: Window,
    /// The chunks, and the group whose units these are.
    grouped: Arc<Grouped>,
    group: usize,

    /// The order of chunks in the sweep, and in the next one.
    sweep: Arranged,
    next_sweep: Arranged,
    /// The current block, its units in the sweep, and their permutation.
    block: usize,
    block_units: Range<u64>,
    permutation: Permutation,
    /// The next unit.
    item: u64,
}

/// The chunks of a sweep in their order, in blocks.
#[derive(Default)]
struct Arranged {
    number: u64,
    chunks: Vec<u32>,
    /// The number of units before each place in the order; one entry more than chunks.
    unit_starts: Vec<u64>,
    /// The first place of each block; one entry more than blocks.
    blocks: Vec<u32>,
}

impl Arranged {
    fn places(&self, block: usize) -> Range<usize> {
        self.blocks[block] as usize..self.blocks[block + 1] as usize
    }

    fn block_count(&self) -> usize {
        self.blocks.len() - 1
    }

    /// Chunks of a block with their places, as far as the block exists.
    fn of_block(&self, block: usize) -> impl Iterator<Item = (SweptChunk, u32)> {
        let places = if block < self.block_count() { self.places(block) } else { 0..0 };
        places.map(|place| {
            let chunk = self.chunks[place];
            (SweptChunk { sweep: self.number, chunk }, place as u32)
        })
    }
}

impl Blocks {
    /// The blocks of all chunks.
    pub(crate) fn new(index: Arc<Index>, unit: Unit, setting: Setting) -> Self {
        let grouped = Arc::new(Grouped::new(index, setting.seed, 1));
        Self::of_group(grouped, 0, unit, setting.window)
    }

    /// The blocks of the chunks of a group.
    pub(crate) fn of_group(
        grouped: Arc<Grouped>,
        group: usize,
        unit: Unit,
        window: Window,
    ) -> Self {
        let mut order = Self {
            index: Arc::clone(grouped.index()),
            unit,
            window,
            grouped,
            group,
            sweep: Arranged::default(),
            next_sweep: Arranged::default(),
            block: 0,
            block_units: 0..0,
            permutation: Permutation::new(0, 0),
            item: 0,
        };
        order.start(0, 0);
        order
    }

    /// Goes to unit `item` of a sweep.
    pub(crate) fn start(&mut self, sweep: u64, item: u64) {
        if self.sweep.number != sweep || self.sweep.blocks.is_empty() {
            self.sweep = match self.next_sweep.number == sweep {
                true => std::mem::take(&mut self.next_sweep),
                false => self.arrange(sweep),
            };
            if self.sweep.blocks.is_empty() {
                self.sweep = self.arrange(sweep);
            }
            self.next_sweep = self.arrange(sweep.wrapping_add(1));
        }
        let ends = &self.sweep.blocks[1..];
        let is_before = |&end: &u32| self.sweep.unit_starts[end as usize] <= item;
        let block = ends.partition_point(is_before).min(ends.len().saturating_sub(1));
        self.enter(block);
        self.item = item;
    }

    /// The number of units in the sweep.
    pub(crate) fn total(&self) -> u64 {
        self.sweep.unit_starts.last().copied().unwrap_or(0)
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Option<OrderedUnit> {
        while self.item >= self.block_units.end {
            if self.block + 1 >= self.sweep.block_count() {
                return None;
            }
            self.enter(self.block + 1);
        }
        let first = self.block_units.start;
        let unit = first + self.permutation.at(self.item - first);
        self.item += 1;
        let places = self.sweep.places(self.block);
        let starts = &self.sweep.unit_starts[places.start + 1..=places.end];
        let place = places.start + starts.partition_point(|&start| start <= unit);
        let number = (unit - self.sweep.unit_starts[place]) as u32;
        let chunk = self.sweep.chunks[place];
        let samples = length(&self.index, self.unit, chunk, number);
        Some(OrderedUnit { chunk, place: place as u32, number, samples, sweep: 0 })
    }

    /// The block, and how many chunks of the next one are asked for.
    pub(crate) fn position(&self) -> u64 {
        (self.block as u64) << 32 | self.ahead() as u64
    }

    /// The chunks of this block, and those of the next one that are loaded ahead. Behind the last
    /// block of a sweep comes the first one of the next.
    pub(crate) fn window(&self) -> Vec<(SweptChunk, u32)> {
        let ahead = self.next_block().take(self.ahead());
        self.sweep.of_block(self.block).chain(ahead).collect()
    }

    fn next_block(&self) -> Box<dyn Iterator<Item = (SweptChunk, u32)> + '_> {
        match self.block + 1 < self.sweep.block_count() {
            true => Box::new(self.sweep.of_block(self.block + 1)),
            false => Box::new(self.next_sweep.of_block(0)),
        }
    }

    /// The number of chunks that are loaded ahead. It grows with the units of this block that were
    /// given, so that files are read evenly.
    fn ahead(&self) -> usize {
        let all = match self.block + 1 < self.sweep.block_count() {
            true => self.sweep.places(self.block + 1).len(),
            false => self.next_sweep.blocks.get(1).map_or(0, |&end| end as usize),
        };
        let given = self.item.saturating_sub(self.block_units.start);
        let units = (self.block_units.end - self.block_units.start).max(1);
        let share = (u128::from(given) * all as u128).div_ceil(u128::from(units));
        (share as usize + 1).min(all)
    }

    /// This block, the next one, and a chunk still in use.
    pub(crate) fn most_samples(&self) -> u64 {
        let (largest, total) = (largest_chunk(&self.index), self.index.total_samples());
        let block = match self.window {
            Window::Chunks(chunks) => chunks.max(1).saturating_mul(largest),
            Window::Samples(samples) => samples.saturating_add(largest),
            Window::Corpus => total,
        };
        block.saturating_mul(2).saturating_add(largest).min(total.saturating_mul(2))
    }

    fn enter(&mut self, block: usize) {
        let places = match block < self.sweep.block_count() {
            true => self.sweep.places(block),
            false => 0..0,
        };
        let starts = &self.sweep.unit_starts;
        self.block_units = starts[places.start]..starts[places.end];
        let seed = self.grouped.seed(self.sweep.number, self.group);
        let seed = mix(seed.wrapping_add(block as u64 + 1));
        self.permutation = Permutation::new(self.block_units.end - self.block_units.start, seed);
        self.block = block;
    }

    fn arrange(&self, sweep: u64) -> Arranged {
        let chunks = self.grouped.of(sweep)[self.group].clone();
        let mut unit_starts = vec![0];
        let mut sample_starts = vec![0];
        for (place, &chunk) in chunks.iter().enumerate() {
            let units = units(&self.index, self.unit, chunk as usize);
            unit_starts.push(unit_starts[place] + units);
            let samples = self.index.chunk_samples(chunk as usize);
            sample_starts.push(sample_starts[place] + samples);
        }
        let blocks = blocks(self.window, &sample_starts);
        Arranged { number: sweep, chunks, unit_starts, blocks }
    }
}

/// The first place of each block, and the end of the last one: as few blocks as the window allows,
/// of nearly one size. Of samples, a chunk belongs to the block in which it begins.
fn blocks(window: Window, sample_starts: &[u64]) -> Vec<u32> {
    let chunks = sample_starts.len() - 1;
    let (all, most) = match window {
        Window::Chunks(most) => (chunks as u64, most),
        Window::Samples(most) => (sample_starts[chunks], most),
        Window::Corpus => (0, 1),
    };
    let count = u128::from(all.div_ceil(most.max(1)));
    let block_of = |place: usize| {
        let before = match window {
            Window::Samples(_) => sample_starts[place],
            Window::Chunks(_) | Window::Corpus => place as u64,
        };
        u128::from(before) * count / u128::from(all.max(1))
    };
    let mut starts = vec![0];
    for place in 1..chunks {
        if block_of(place) != block_of(place - 1) {
            starts.push(place as u32);
        }
    }
    if chunks > 0 {
        starts.push(chunks as u32);
    }
    starts
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;
    use seqfeed_core::{IndexBuilder, Key};

    use super::*;

    fn index(lengths: &[u32]) -> Arc<Index> {
        let mut builder = IndexBuilder::new(7);
        for (number, &samples) in lengths.iter().enumerate() {
            builder.push(Key(number.to_string().as_bytes()), samples);
        }
        Arc::new(builder.finish())
    }

    fn units_of(order: &mut Blocks) -> Vec<(u32, u32, u32)> {
        std::iter::from_fn(|| order.next())
            .map(|unit| (unit.chunk, unit.place, unit.number))
            .collect()
    }

    fn window() -> impl Strategy<Value = Window> {
        prop_oneof![
            (0..9u64).prop_map(Window::Chunks),
            (0..60u64).prop_map(Window::Samples),
            Just(Window::Corpus),
        ]
    }

    proptest! {
        #[test]
        fn each_unit_comes_once_and_any_can_be_gone_to(
            lengths in prop::collection::vec(1..12u32, 1..40),
            window in window(),
            frames in any::<bool>(),
            (seed, sweep) in (any::<u64>(), 0..5u64),
        ) {
            let index = index(&lengths);
            let unit = if frames { Unit::Frame } else { Unit::Sequence };
            let setting = Setting { window, seed };
            let mut order = Blocks::new(Arc::clone(&index), unit, setting);
            order.start(sweep, 0);
            let all = units_of(&mut order);
            let total = if frames { index.total_samples() } else { index.len() as u64 };
            prop_assert_eq!(all.len() as u64, total);
            let distinct: HashSet<_> = all.iter().map(|&(chunk, _, number)| (chunk, number)).collect();
            prop_assert_eq!(distinct.len(), all.len());
            // The order after the sweep before it is the same, and so is each rest of it.
            order.start(sweep.wrapping_sub(1), 0);
            order.start(sweep, 0);
            prop_assert_eq!(&units_of(&mut order), &all);
            for item in (0..=all.len()).step_by(3) {
                order.start(sweep, item as u64);
                prop_assert_eq!(&units_of(&mut order)[..], &all[item..]);
            }
            // Units come from the window, which is not larger than was said.
            order.start(sweep, 0);
            let mut at = (order.position(), order.window());
            while let Some(unit) = order.next() {
                let unit = (SweptChunk { sweep, chunk: unit.chunk }, unit.place);
                let now = order.position();
                let is_there = at.1.contains(&unit);
                if now != at.0 {
                    at = (now, order.window());
                }
                prop_assert!(is_there || at.1.contains(&unit));
                let samples = |&(chunk, _): &(SweptChunk, u32)| index.chunk_samples(chunk.chunk as usize);
                prop_assert!(at.1.iter().map(samples).sum::<u64>() <= order.most_samples());
            }
        }
    }

    #[test]
    fn blocks_are_as_wide_as_the_window_and_of_one_size() {
        let starts: Vec<u64> = (0..=33).map(|place| place * 10).collect();
        assert_eq!(blocks(Window::Chunks(32), &starts), [0, 17, 33]);
        assert_eq!(blocks(Window::Chunks(33), &starts), [0, 33]);
        assert_eq!(blocks(Window::Samples(110), &starts), [0, 11, 22, 33]);
        assert_eq!(blocks(Window::Corpus, &starts), [0, 33]);
        assert_eq!(blocks(Window::Samples(10), &[0, 100, 105, 110]), [0, 1, 3]);
        assert_eq!(blocks(Window::Samples(2), &[0, 100, 101, 102, 103, 104]), [0, 1, 3, 5]);
        assert_eq!(blocks(Window::Chunks(4), &[0]), [0]);
    }

    /// What the order is must never change: a run goes on with the next release.
    #[test]
    fn the_order_is_pinned() {
        let index = index(&[3, 5, 2, 6, 1, 4, 7, 2, 2, 5]);
        let setting = Setting { window: Window::Chunks(3), seed: 7 };
        let mut order = Blocks::new(index, Unit::Sequence, setting);
        order.start(1, 0);
        let found: Vec<_> = units_of(&mut order);
        let pinned = [
            (5, 2, 1),
            (5, 2, 0),
            (4, 1, 0),
            (0, 0, 0),
            (2, 4, 1),
            (2, 4, 0),
            (3, 3, 0),
            (1, 5, 0),
            (6, 6, 0),
            (1, 5, 1),
        ];
        assert_eq!(found, pinned);
    }

    #[test]
    fn an_empty_corpus_has_no_units() {
        let setting = Setting { window: Window::Chunks(3), seed: 7 };
        let mut order = Blocks::new(index(&[]), Unit::Frame, setting);
        assert_eq!((order.next(), order.window().len()), (None, 0));
    }
}

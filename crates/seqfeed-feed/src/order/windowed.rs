//! The windowed shuffle of CNTK's block randomizer, bit for bit.
//!
//! The chunks of a sweep come in random order. Each place in that order has a window of chunks
//! around it. Each unit is swapped with a random unit out of the window of its chunk. The swap is
//! made only if both units then lie inside the windows of their new chunks. So units mix over the
//! window, and only the chunks of the window are in memory.
//!
//! When CNTK seeks backwards, it uses the sweep's number as seed, without the configured seed. This
//! is a bug and is not imitated: every sweep is shuffled with `seed + sweep`.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use seqfeed_core::Index;

use super::{OrderedUnit, largest_chunk, length, units};
use crate::random::{self, CntkRandom};
use crate::settings::{Generator, Shuffle, Unit, Window};

/// The number of units that are swapped ahead at a time.
const AHEAD: u64 = 64;

pub(crate) struct Windowed {
    index: Arc<Index>,
    unit: Unit,
    window: Window,
    seed: u64,
    generator: Generator,
    random: CntkRandom,

    /// The sweep's order of chunks.
    order: Vec<u32>,
    /// The number of samples and units before each place in it; one entry more than chunks.
    sample_starts: Vec<u64>,
    unit_starts: Vec<u64>,
    /// For each place, the first place of its window and the one behind the last.
    windows: Vec<(usize, usize)>,

    /// The unit at each position, from the first unit of place `self.place` on.
    entries: VecDeque<Entry>,
    /// The number of the unit at the front of `entries`.
    front: u64,
    /// The place of the next unit, and the number of the unit.
    place: usize,
    item: u64,
    /// Places before this one are final.
    final_places: usize,
    /// The units of places before this one have been swapped.
    swapped: usize,
    /// Units before this one have been swapped.
    swapped_units: u64,
    /// Places before this one are in `entries`.
    paged_in: usize,
}

#[derive(Clone, Copy)]
struct Entry {
    /// The place of its original chunk.
    origin: u32,
    /// Its number in that chunk.
    number: u32,
}

impl Windowed {
    pub(crate) fn new(index: Arc<Index>, unit: Unit, shuffle: Shuffle) -> Self {
        let Shuffle { window, seed, generator } = shuffle;
        Self {
            index,
            unit,
            window,
            seed,
            generator,
            random: CntkRandom::new(generator, 0),
            order: Vec::new(),
            sample_starts: Vec::new(),
            unit_starts: Vec::new(),
            windows: Vec::new(),
            entries: VecDeque::new(),
            front: 0,
            place: 0,
            item: 0,
            final_places: 0,
            swapped: 0,
            swapped_units: 0,
            paged_in: 0,
        }
    }

    /// Goes to unit `item` of a sweep. The shuffle up to there is repeated, which takes some 70 ns
    /// a unit, but nothing is read.
    pub(crate) fn start(&mut self, sweep: u64, item: u64) {
        let seed = self.seed.wrapping_add(sweep);
        self.shuffle_chunks(seed);
        // CNTK seeds `rand` again for each of the two shuffles.
        let second = u64::from(self.generator == Generator::Rand);
        self.random = CntkRandom::new(self.generator, seed.wrapping_add(second));
        self.entries.clear();
        (self.front, self.place, self.item) = (0, 0, 0);
        (self.final_places, self.swapped, self.paged_in) = (0, 0, 0);
        self.swapped_units = 0;
        self.finish_place();
        while self.place < self.order.len() && self.unit_starts[self.place + 1] <= item {
            self.next_place();
        }
        self.item = item;
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Option<OrderedUnit> {
        while self.item >= *self.unit_starts.get(self.place + 1)? {
            self.next_place();
        }
        let entry = self.entries[(self.item - self.front) as usize];
        self.item += 1;
        if self.item.is_multiple_of(AHEAD) {
            self.swap_ahead(AHEAD);
        }
        let chunk = self.order[entry.origin as usize];
        let samples = length(&self.index, self.unit, chunk, entry.number);
        Some(OrderedUnit { chunk, place: entry.origin, number: entry.number, samples, sweep: 0 })
    }

    pub(crate) fn position(&self) -> u64 {
        self.place as u64
    }

    pub(crate) fn window(&self) -> Vec<(u32, u32)> {
        let Some(&(begin, end)) = self.windows.get(self.place) else { return Vec::new() };
        let ahead = (end + 1).min(self.order.len());
        (begin..ahead).map(|place| (self.order[place], place as u32)).collect()
    }

    pub(crate) fn most_samples(&self) -> u64 {
        let largest = largest_chunk(&self.index);
        let window = match self.window {
            Window::Chunks(chunks) => chunks.max(1).saturating_mul(largest),
            // Half of the window lies on each side; each end is rounded up to a chunk.
            Window::Samples(samples) => samples.saturating_add(2 * largest),
            Window::Corpus => u64::MAX,
        };
        window.saturating_add(2 * largest).min(self.index.total_samples())
    }

    fn shuffle_chunks(&mut self, seed: u64) {
        let chunks = self.index.chunk_count();
        let mut random = CntkRandom::new(self.generator, seed);
        self.order = random::chunk_order(&mut random, chunks);
        self.sample_starts = vec![0];
        self.unit_starts = vec![0];
        for (place, &chunk) in self.order.iter().enumerate() {
            let samples = self.index.chunk_samples(chunk as usize);
            let units = units(&self.index, self.unit, chunk as usize);
            self.sample_starts.push(self.sample_starts[place] + samples);
            self.unit_starts.push(self.unit_starts[place] + units);
        }
        self.windows.clear();
        for place in 0..chunks {
            let window = match self.window {
                Window::Samples(samples) => self.window_in_samples(place, samples),
                Window::Chunks(width) => window_in_chunks(place, width, chunks),
                Window::Corpus => (0, chunks),
            };
            self.windows.push(window);
        }
    }

    fn window_in_samples(&self, place: usize, samples: u64) -> (usize, usize) {
        let half = samples / 2;
        let starts = &self.sample_starts;
        let (mut begin, mut end) = self.windows.last().copied().unwrap_or((0, 1));
        while starts[place] - starts[begin] > half {
            begin += 1;
        }
        begin = begin.min(place);
        end = end.max(place + 1);
        while end < self.order.len() && starts[end + 1] - starts[place] < half {
            end += 1;
        }
        (begin, end)
    }

    fn next_place(&mut self) {
        let units = self.unit_starts[self.place + 1] - self.front;
        self.entries.drain(..units as usize);
        self.front += units;
        self.place += 1;
        self.finish_place();
    }

    /// Makes the order of the units at the current place final: swaps the units of all places whose
    /// windows reach here.
    fn finish_place(&mut self) {
        if self.place < self.final_places || self.final_places == self.order.len() {
            return;
        }
        self.swap_ahead(u64::MAX);
        self.final_places += 1;
    }

    /// Swaps up to `most` of the units that must be swapped before the next place is final. This is
    /// done a few units at a time while the current place is delivered, so that no minibatch waits
    /// for the swaps of a whole chunk. Final units are not touched any more.
    fn swap_ahead(&mut self, mut most: u64) {
        let (place, places) = (self.final_places, self.order.len());
        if place == places {
            return;
        }
        let mut target = self.windows[place].1.max(self.swapped);
        while target < places && self.windows[target].0 <= place {
            target += 1;
        }
        let end = self.windows[target - 1].1;
        for place in self.paged_in..end {
            let units = self.unit_starts[place + 1] - self.unit_starts[place];
            let origin = place as u32;
            self.entries.extend((0..units as u32).map(|number| Entry { origin, number }));
        }
        self.paged_in = self.paged_in.max(end);
        while self.swapped < target && most > 0 {
            let last = self.unit_starts[self.swapped + 1];
            let until = last.min(self.swapped_units.saturating_add(most));
            most -= until - self.swapped_units;
            self.swap_units(self.swapped, self.swapped_units..until);
            self.swapped_units = until;
            self.swapped += usize::from(until == last);
        }
    }

    fn swap_units(&mut self, place: usize, units: Range<u64>) {
        let (begin, end) = self.windows[place];
        let first = self.unit_starts[begin];
        let count = self.unit_starts[end] - first;
        let inside = |window: (usize, usize), entry: Entry| {
            (window.0..window.1).contains(&(entry.origin as usize))
        };
        let entries = self.entries.make_contiguous();
        for unit in units {
            let here = (unit - self.front) as usize;
            loop {
                let other = first + self.random.below(count);
                let there = (other - self.front) as usize;
                let starts = &self.unit_starts[begin..=end];
                let other_place = begin + starts.partition_point(|&start| start <= other) - 1;
                if inside((begin, end), entries[there])
                    && inside(self.windows[other_place], entries[here])
                {
                    entries.swap(here, there);
                    break;
                }
            }
        }
    }
}

fn window_in_chunks(place: usize, width: u64, chunks: usize) -> (usize, usize) {
    let width = usize::try_from(width).unwrap_or(usize::MAX).max(1).min(chunks.max(1) * 2);
    let half = width / 2;
    let begin = place.saturating_sub(half);
    if begin + width > chunks {
        (chunks.saturating_sub(width), chunks)
    } else {
        (begin, begin + width)
    }
}

//! PDNN's order: the frames of each file in partitions of a fixed size. Each partition or each file
//! is shuffled as numpy does.
//!
//! ```text
//! file                                    file
//! ┌───────────────┬───────────────┬─────┐ ┌───────────────┬───────┐
//! │ partition     │ partition     │     │ │ partition     │       │
//! ├─────┬─────┬───┼─────┬─────┬───┼─────┤ ├─────┬─────┬───┼─────┬─┤
//! │ mb  │ mb  │ r │ mb  │ mb  │ r │ mb  │ │ mb  │ mb  │ r │ mb  │r│
//! └─────┴─────┴───┴─────┴─────┴───┴─────┘ └─────┴─────┴───┴─────┴─┘
//!               r: the remainder, dropped or a short minibatch
//! ```
//!
//! The end of a partition is a seam: minibatches end there.

use std::ops::Range;

use seqfeed_core::Index;

use super::{OrderedUnit, largest_chunk};
use crate::random;
use crate::settings;
use crate::swept_chunk::SweptChunk;

/// The most frames of a chunk that is loaded ahead. A larger chunk is a whole file (a pickle), and
/// only one of these is in memory.
const MOST_AHEAD: u64 = 1 << 16;

pub(crate) struct Partitions {
    /// The number of frames before each file, and in all.
    files: Vec<u64>,
    /// The number of frames before each chunk, and in all.
    chunks: Vec<u64>,
    cut: settings::Partitions,
    /// The seed of the first sweep, if it is shuffled.
    seed: Option<u64>,
    sweep: u64,
    item: u64,
    /// The chunk of the last frame.
    chunk: usize,
    /// The frames around `item` that are shuffled together, and their seed and order. Partitions of
    /// one size have the same order.
    together: Range<u64>,
    order: (u32, Vec<u32>),
}

impl Partitions {
    /// Partitions for an index of the frames that are dealt out. `files` has the first sequence of
    /// each file. With a seed they are shuffled.
    pub(crate) fn new(
        index: &Index,
        files: &[u32],
        cut: settings::Partitions,
        seed: Option<u64>,
    ) -> Self {
        let mut starts: Vec<u64> = files.iter().map(|&first| index.start(first)).collect();
        starts.push(index.total_samples());
        starts.dedup();
        let chunk_start = |chunk| index.start(index.chunk(chunk).start);
        let mut chunks: Vec<u64> = (0..index.chunk_count()).map(chunk_start).collect();
        chunks.push(index.total_samples());
        Self {
            files: starts,
            chunks,
            cut,
            seed,
            sweep: 0,
            item: 0,
            chunk: 0,
            together: 0..0,
            order: (0, Vec::new()),
        }
    }

    /// Mixes the beginnings of the files into a digest.
    pub(crate) fn digest(&self, digest: u64) -> u64 {
        self.files.iter().fold(digest, |hash, start| random::mix(hash ^ start))
    }

    /// The frames of the longest file, of the longest partition, and the most frames that are
    /// shuffled together.
    pub(crate) fn longest(&self) -> (u64, u64, u64) {
        let file = self.files.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0);
        let partition = file.min(self.cut.frames);
        (file, partition, if self.cut.whole_files { file } else { partition })
    }

    pub(crate) fn start(&mut self, sweep: u64, item: u64) {
        (self.sweep, self.item, self.together) = (sweep, item, 0..0);
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Option<OrderedUnit> {
        let mut frame = self.item;
        if frame >= self.total() {
            return None;
        }
        if self.seed.is_some() {
            if !self.together.contains(&frame) {
                self.shuffle();
            }
            let place = (frame - self.together.start) as usize;
            frame = self.together.start + u64::from(self.order.1[place]);
        }
        self.item += 1;
        if !(self.chunks[self.chunk]..self.chunks[self.chunk + 1]).contains(&frame) {
            self.chunk = self.chunk_of(frame) as usize;
        }
        let number = (frame - self.chunks[self.chunk]) as u32;
        let chunk = self.chunk as u32;
        Some(OrderedUnit { chunk, place: chunk, number, samples: 1, sweep: 0 })
    }

    /// Shuffles the frames around the next frame that belong together.
    fn shuffle(&mut self) {
        let Some(seed) = self.seed else { return };
        self.together =
            if self.cut.whole_files { self.file(self.item) } else { self.partition(self.item) };
        let seed = seed.wrapping_add(if self.cut.reshuffle { self.sweep } else { 0 }) as u32;
        let count = (self.together.end - self.together.start) as u32;
        if self.order.0 != seed || self.order.1.len() != count as usize {
            self.order = (seed, random::numpy_order(seed, count));
        }
    }

    /// The frames that are in memory together at the next frame, or at the beginning of the next
    /// sweep.
    fn here(&self) -> Range<u64> {
        let item = if self.item < self.total() { self.item } else { 0 };
        match (self.cut.whole_files, self.seed) {
            (true, _) => self.file(item),
            (false, Some(_)) => self.partition(item),
            (false, None) => item..item + 1,
        }
    }

    /// The chunks of the frames that are shuffled together (or of a file that is kept), and one
    /// chunk to load ahead.
    pub(crate) fn window(&self, sweep: u64) -> Vec<(SweptChunk, u32)> {
        let here = self.here();
        let first = self.chunk_of(here.start);
        let here_ends = here.end < self.total();
        let next = self.chunk_of(if here_ends { here.end } else { 0 });
        let next_sweep = sweep.saturating_add(u64::from(!here_ends));
        let ahead = (self.chunk_samples(next) <= MOST_AHEAD).then_some((next_sweep, next));
        let window = (first..=self.chunk_of(here.end - 1)).map(|chunk| (sweep, chunk)).chain(ahead);
        window.map(|(sweep, chunk)| (SweptChunk { sweep, chunk }, chunk)).collect()
    }

    pub(crate) fn position(&self) -> u64 {
        match self.cut.whole_files || self.seed.is_some() {
            true => self.here().start,
            false => u64::from(self.chunk_of(self.here().start)),
        }
    }

    /// The most samples that are in memory; `index` is the index of the source.
    pub(crate) fn most_samples(&self, index: &Index) -> u64 {
        let together = match self.cut.whole_files || self.seed.is_some() {
            true => self.longest().2,
            false => 0,
        };
        let largest = largest_chunk(index);
        let chunks = 0..(self.chunks.len() - 1) as u32;
        if self.cut.whole_files
            && chunks.into_iter().all(|chunk| self.chunk_samples(chunk) > MOST_AHEAD)
        {
            // No chunk is loaded ahead, but unfinished minibatches may still need the file before.
            return together.max(largest).saturating_mul(2);
        }
        // The frames that are shuffled together, and those before, which may still be packed. At
        // both ends a chunk holds other frames too; one chunk is loaded ahead, one is still in use.
        together.saturating_mul(2).saturating_add(4 * largest)
    }

    /// The most bytes of the order of `units` units.
    pub(crate) fn most_bytes(&self, units: u64) -> u64 {
        if self.seed.is_some() { units.saturating_mul(8) } else { 0 }
    }

    /// The end of the partition of a frame.
    pub(crate) fn seam(&self, item: u64) -> u64 {
        if item < self.total() { self.partition(item).end } else { self.total() }
    }

    fn total(&self) -> u64 {
        self.files.last().copied().unwrap_or(0)
    }

    fn chunk_samples(&self, chunk: u32) -> u64 {
        self.chunks[chunk as usize + 1] - self.chunks[chunk as usize]
    }

    /// The file of a frame.
    fn file(&self, item: u64) -> Range<u64> {
        let after = self.files.partition_point(|&start| start <= item);
        self.files[after - 1]..self.files[after]
    }

    /// The partition of a frame.
    fn partition(&self, item: u64) -> Range<u64> {
        let file = self.file(item);
        let start = item - (item - file.start) % self.cut.frames;
        start..start.saturating_add(self.cut.frames).min(file.end)
    }

    fn chunk_of(&self, item: u64) -> u32 {
        (self.chunks.partition_point(|&start| start <= item) - 1) as u32
    }
}

//! PDNN's minibatches: files, partitions of so many frames, minibatches inside them.
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
//! A place in a sweep is a number of frames that are dealt out, dropped remainders counted in. What
//! is shuffled together (a partition, or a file) keeps its places, so that a place says all.

use std::ops::Range;
use std::sync::Arc;

use seqfeed_core::{Error, Index, Result};

use super::{Plan, digest};
use crate::order::{Item, largest_chunk};
use crate::random;
use crate::settings::{BatchSize, Cut, Order, Partial, Settings};
use crate::state::{DealtState, State};

/// The most frames of a chunk that is loaded ahead. A larger one is a whole file (a pickle), of
/// which one at a time is in memory.
const MOST_AHEAD: u64 = 1 << 16;

pub(crate) struct Partitions {
    settings: Settings,
    frames: u64,
    whole_files: bool,
    reshuffle: bool,
    size: u64,
    corpus: String,
    /// Frames before each file, and in all.
    files: Vec<u64>,
    /// Frames before each chunk, and in all.
    chunks: Vec<u64>,
    sweep: u64,
    /// The next frame of the sweep.
    item: u64,
    samples: u64,
    minibatch: u64,
    /// Whether a step had no minibatch for some ranks.
    apart: bool,
    /// The last shuffle: seed and order. Partitions of one size have the same.
    order: (u32, Vec<u32>),
}

impl Partitions {
    /// Plans for an index of what is dealt out, and the first sequence of each file.
    pub(crate) fn new(index: Arc<Index>, files: &[u32], settings: Settings) -> Result<Self> {
        let Cut::Partitions { frames, whole_files, reshuffle } = settings.cut else {
            return Err(Error::usage("no partitions are asked for"));
        };
        let (BatchSize::Samples(size) | BatchSize::Units(size) | BatchSize::Padded(size)) =
            settings.batch;
        let mut starts: Vec<u64> = files.iter().map(|&first| index.start(first)).collect();
        starts.push(index.total_samples());
        starts.dedup();
        let chunk_start = |chunk| index.start(index.chunk(chunk).start);
        let mut chunks: Vec<u64> = (0..index.chunk_count()).map(chunk_start).collect();
        chunks.push(index.total_samples());
        let corpus = digest(&index, &settings);
        let corpus = starts.iter().fold(corpus, |hash, start| random::mix(hash ^ start));
        let mut partitions = Self {
            settings,
            frames,
            whole_files,
            reshuffle,
            size,
            corpus: format!("{corpus:016x}"),
            files: starts,
            chunks,
            sweep: 0,
            item: 0,
            samples: 0,
            minibatch: 0,
            apart: false,
            order: (0, Vec::new()),
        };
        partitions.check_sizes()?;
        partitions.settle();
        Ok(partitions)
    }

    pub(crate) fn corpus(&self) -> &str {
        &self.corpus
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn state(&self) -> State {
        State {
            version: State::VERSION,
            sweep: self.sweep,
            item: self.item,
            within: 0,
            samples: self.samples,
            minibatch: self.minibatch,
            corpus: self.corpus.clone(),
            pool: None,
            apart: self.apart.then(|| DealtState::of(&self.settings)),
            truncated: None,
            part: None,
        }
    }

    pub(crate) fn restore(&mut self, state: &State) -> Result<()> {
        if state.item >= self.total() {
            return Err(Error::usage(format!(
                "the state names frame {} of a sweep, which has {}",
                state.item,
                self.total()
            )));
        }
        DealtState::check(&self.settings, state)?;
        self.apart = state.apart.is_some();
        (self.sweep, self.item) = (state.sweep, state.item);
        (self.samples, self.minibatch) = (state.samples, state.minibatch);
        self.settle();
        Ok(())
    }

    /// The chunks of what is shuffled together (or of a file that is kept), and one to load ahead.
    pub(crate) fn window(&self) -> Vec<u32> {
        let here = match self.whole_files {
            true => self.file(self.item),
            false if self.is_shuffled() => self.partition(self.item),
            false => self.item..self.item + 1,
        };
        let first = self.chunk(here.start);
        let mut window: Vec<u32> = (first..=self.chunk(here.end - 1)).collect();
        let next = self.chunk(if here.end < self.total() { here.end } else { 0 });
        if self.chunk_samples(next) <= MOST_AHEAD {
            window.push(next);
        }
        window
    }

    pub(crate) fn window_position(&self) -> (u64, u64, u64) {
        let place = match self.whole_files {
            true => self.file(self.item).start,
            false if self.is_shuffled() => self.partition(self.item).start,
            false => u64::from(self.chunk(self.item)),
        };
        (self.sweep, place, 0)
    }

    /// The most samples that are in memory: `index` is that of the source.
    pub(crate) fn most_samples(&self, index: &Index) -> u64 {
        let longest = self.files.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0);
        let together = match (self.whole_files, self.is_shuffled()) {
            (true, _) => longest,
            (false, true) => longest.min(self.frames),
            (false, false) => 0,
        };
        let largest = largest_chunk(index);
        let chunks = 0..(self.chunks.len() - 1) as u32;
        if self.whole_files
            && chunks.into_iter().all(|chunk| self.chunk_samples(chunk) > MOST_AHEAD)
        {
            // None is loaded ahead; minibatches in the making may still need the file before.
            return together.max(largest).saturating_mul(2);
        }
        // What is shuffled together, and what was before, which may still be packed. At both ends
        // chunks hold frames of others, one is loaded ahead, one still in use.
        together.saturating_mul(2).saturating_add(4 * largest)
    }

    fn chunk_samples(&self, chunk: u32) -> u64 {
        self.chunks[chunk as usize + 1] - self.chunks[chunk as usize]
    }

    /// The next minibatch of this rank, or `None` at the end, or if a whole sweep has
    /// nothing for it.
    pub(crate) fn next(&mut self) -> Option<Plan> {
        let first_sweep = self.sweep;
        while self.sweep - first_sweep < 2 {
            let over = self.settings.sweeps.is_some_and(|sweeps| self.sweep >= sweeps)
                || self.settings.samples.is_some_and(|samples| self.samples >= samples);
            if over {
                return None;
            }
            let (sweep, cuts) = (self.sweep, self.step(self.item, self.samples));
            let end = cuts.last()?.end;
            self.samples += cuts.iter().map(|cut| cut.end - cut.start).sum::<u64>();
            self.apart |= cuts.len() < self.settings.ranks;
            let own = cuts.get(self.settings.rank).cloned();
            let items = own.map(|frames| self.items(frames));
            self.item = end;
            self.settle();
            let end_of_sweep = self.sweep > sweep;
            let Some(items) = items else { continue };
            let (index, segments) = (self.minibatch, Vec::new());
            self.minibatch += 1;
            return Some(Plan { index, sweep, end_of_sweep, items, segments, after: self.state() });
        }
        None
    }

    fn total(&self) -> u64 {
        self.files.last().copied().unwrap_or(0)
    }

    fn is_shuffled(&self) -> bool {
        self.settings.order != Order::Sequential
    }

    /// The file of a frame.
    fn file(&self, item: u64) -> Range<u64> {
        let after = self.files.partition_point(|&start| start <= item);
        self.files[after - 1]..self.files[after]
    }

    /// The partition of a frame.
    fn partition(&self, item: u64) -> Range<u64> {
        let file = self.file(item);
        let start = item - (item - file.start) % self.frames;
        start..start.saturating_add(self.frames).min(file.end)
    }

    fn chunk(&self, item: u64) -> u32 {
        (self.chunks.partition_point(|&start| start <= item) - 1) as u32
    }

    /// The first minibatch of a sweep at or behind a place.
    fn cut(&self, mut item: u64) -> Option<Range<u64>> {
        while item < self.total() {
            let partition = self.partition(item);
            let end = item.saturating_add(self.size);
            if end <= partition.end {
                return Some(item..end);
            }
            if self.settings.partial != Partial::Drop {
                return Some(item..partition.end);
            }
            item = partition.end;
        }
        None
    }

    /// The minibatches of all ranks, of as many as there are: none at the end of the sweep.
    fn step(&self, mut item: u64, mut samples: u64) -> Vec<Range<u64>> {
        let mut cuts = Vec::new();
        while cuts.len() < self.settings.ranks
            && self.settings.samples.is_none_or(|limit| samples < limit)
        {
            let Some(mut cut) = self.cut(item) else {
                // Every rank gets as many.
                if self.settings.partial == Partial::Drop {
                    cuts.clear();
                }
                break;
            };
            if let Some(limit) = self.settings.samples {
                cut.end = cut.end.min(cut.start + (limit - samples));
            }
            samples += cut.end - cut.start;
            item = cut.end;
            cuts.push(cut);
        }
        cuts
    }

    /// Goes on to the next sweep where nothing is left of this one.
    fn settle(&mut self) {
        // Whether the run ends by a number of samples does not count here.
        let ended = match self.settings.partial {
            Partial::Drop => {
                let mut item = self.item;
                (0..self.settings.ranks).any(|_| match self.cut(item) {
                    Some(cut) => {
                        item = cut.end;
                        false
                    }
                    None => true,
                })
            }
            _ => self.item >= self.total(),
        };
        if ended {
            (self.sweep, self.item) = (self.sweep.saturating_add(1), 0);
        }
        if let Some(cut) = self.cut(self.item) {
            self.item = cut.start;
        }
    }

    /// Where the frames at some places lie.
    fn items(&mut self, frames: Range<u64>) -> Vec<Item> {
        let together = match self.whole_files {
            true => self.file(frames.start),
            false => self.partition(frames.start),
        };
        if self.is_shuffled() {
            let sweep = if self.reshuffle { self.sweep } else { 0 };
            let seed = self.settings.seed.wrapping_add(sweep) as u32;
            let count = (together.end - together.start) as u32;
            if self.order.0 != seed || self.order.1.len() != count as usize {
                self.order = (seed, random::numpy_order(seed, count));
            }
        }
        let mut chunk = 0;
        let locate = |place: u64| {
            let frame = match self.is_shuffled() {
                true => together.start + u64::from(self.order.1[(place - together.start) as usize]),
                false => place,
            };
            if !(self.chunks[chunk]..self.chunks[chunk + 1]).contains(&frame) {
                chunk = self.chunk(frame) as usize;
            }
            let number = (frame - self.chunks[chunk]) as u32;
            Item { chunk: chunk as u32, shard: chunk as u32, number, samples: 1 }
        };
        frames.map(locate).collect()
    }

    /// All that would never give a minibatch, or could not be held, is refused at once.
    fn check_sizes(&self) -> Result<()> {
        let longest = self.files.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0);
        let together = if self.whole_files { longest } else { longest.min(self.frames) };
        if self.is_shuffled() && together >= u64::from(u32::MAX) {
            return Err(Error::usage(format!("{together} frames cannot be shuffled together"))
                .with_help("shuffle partitions (stream=True) of fewer than 2^32 frames"));
        }
        if self.step(0, 0).is_empty() && self.settings.samples != Some(0) {
            let longest = longest.min(self.frames);
            let ranks = match self.settings.ranks {
                1 => String::new(),
                ranks => format!(" for each of {ranks} ranks"),
            };
            return Err(Error::usage(format!(
                "no minibatch of {} frames comes out of a sweep{ranks}: the longest partition has \
                 {longest} frames, and what does not fill a minibatch is dropped",
                self.size
            ))
            .with_help(
                "use a smaller batch or larger partitions, or keep remainders (partial = \
                        \"keep\")",
            ));
        }
        Ok(())
    }
}

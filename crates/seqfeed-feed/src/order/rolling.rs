//! The rolling window of CNTK's `HTKMLFReader`, bit for bit.
//!
//! Frames stand in the order of the corpus. Each frame in turn is swapped with a random one at most
//! half a window away. The swap is made only if both frames stay within half a window of their
//! original places. After five failed draws the frame stays. CNTK writes the corpus to a page file
//! to have its frames at hand. Here the chunks around the window are in memory, and nothing is
//! written.

use std::collections::VecDeque;
use std::sync::Arc;

use seqfeed_core::Index;

use super::{OrderedUnit, largest_chunk};
use crate::random::CntkRandom;
use crate::settings::Generator;

/// Draws for one frame.
const TRIES: usize = 5;

pub(crate) struct Rolling {
    index: Arc<Index>,
    half: u64,
    frames: u64,
    /// The number of frames before each chunk; one entry more than chunks.
    starts: Vec<u64>,
    random: CntkRandom,
    /// The frame at each place, from place `item` on.
    frames_at: VecDeque<u64>,
    item: u64,
    /// Places before this one had their turn.
    swapped: u64,
}

impl Rolling {
    pub(crate) fn new(index: Arc<Index>, window: u64) -> Self {
        let mut starts = vec![0];
        for chunk in 0..index.chunk_count() {
            starts.push(starts[chunk] + index.chunk_samples(chunk));
        }
        Self {
            half: (window / 2).min(index.total_samples()),
            frames: index.total_samples(),
            index,
            starts,
            random: CntkRandom::new(Generator::Rand, 0),
            frames_at: VecDeque::new(),
            item: 0,
            swapped: 0,
        }
    }

    /// Goes to a frame of a sweep. The shuffle up to there is repeated, but nothing is read.
    pub(crate) fn start(&mut self, sweep: u64, item: u64) {
        self.random = CntkRandom::new(Generator::Rand, sweep);
        self.frames_at.clear();
        (self.item, self.swapped) = (0, 0);
        while self.item < item && self.next().is_some() {}
    }

    pub(crate) fn next(&mut self) -> Option<OrderedUnit> {
        if self.item == self.frames {
            return None;
        }
        while self.swapped < self.frames && self.swapped <= self.item.saturating_add(self.half) {
            self.swap_next();
        }
        let frame = self.frames_at.pop_front()?;
        self.item += 1;
        let chunk = self.chunk_of(frame);
        let number = (frame - self.starts[chunk as usize]) as u32;
        Some(OrderedUnit { chunk, place: chunk, number, samples: 1, sweep: 0 })
    }

    /// Gives the next place its turn to be swapped.
    fn swap_next(&mut self) {
        let (place, half) = (self.swapped, self.half);
        self.swapped += 1;
        let end = (place + half).min(self.frames);
        let known = self.item + self.frames_at.len() as u64;
        self.frames_at.extend(known..end.max(place + 1));
        let begin = place.saturating_sub(half);
        let within = |frame: u64, place: u64| place <= frame + half && frame < place + half;
        for _ in 0..TRIES {
            if begin == end {
                return;
            }
            let other = begin + self.random.below(end - begin);
            let (here, there) = ((place - self.item) as usize, (other - self.item) as usize);
            if within(self.frames_at[here], other) && within(self.frames_at[there], place) {
                self.frames_at.swap(here, there);
                return;
            }
        }
    }

    fn chunk_of(&self, frame: u64) -> u32 {
        (self.starts.partition_point(|&start| start <= frame) - 1) as u32
    }

    /// The chunks of the frames that the window reaches.
    fn reach(&self) -> (u32, u32) {
        let last = self.frames.saturating_sub(1);
        let first = self.item.saturating_sub(self.half);
        (self.chunk_of(first.min(last)), self.chunk_of((self.item + self.half).min(last)))
    }

    /// A number that changes when the window may have changed.
    pub(crate) fn position(&self) -> u64 {
        let (first, last) = self.reach();
        u64::from(first) + u64::from(last)
    }

    pub(crate) fn window(&self) -> Vec<(u32, u32)> {
        let (first, last) = self.reach();
        let end = (last + 2).min(self.index.chunk_count() as u32);
        (first..end).map(|chunk| (chunk, chunk)).collect()
    }

    pub(crate) fn most_samples(&self) -> u64 {
        (2 * self.half).saturating_add(4 * largest_chunk(&self.index)).min(self.frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seqfeed_core::{IndexBuilder, Key};

    #[test]
    fn every_frame_comes_once_and_near_its_place() {
        let mut builder = IndexBuilder::new(7);
        for frames in [3, 9, 1, 4, 20, 6] {
            builder.push(Key(b"u"), frames);
        }
        let index = Arc::new(builder.finish());
        for window in [0, 1, 2, 5, 12, 1000] {
            let mut order = Rolling::new(Arc::clone(&index), window);
            for sweep in 0..3 {
                order.start(sweep, 0);
                let mut seen = [false; 43];
                let mut items = Vec::new();
                for place in 0..43u64 {
                    let item = order.next().unwrap();
                    let frame = order.starts[item.chunk as usize] + u64::from(item.number);
                    assert!(!std::mem::replace(&mut seen[frame as usize], true), "{window}");
                    assert!(frame.abs_diff(place) <= window / 2, "{window}: {frame} at {place}");
                    items.push(item);
                }
                assert!(order.next().is_none());
                order.start(sweep, 17);
                assert_eq!(order.next().as_ref(), items.get(17));
                assert!(order.window().contains(&(items[18].chunk, items[18].chunk)));
            }
        }
    }
}

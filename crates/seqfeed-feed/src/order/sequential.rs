//! The order of the corpus: all of its units, or the units of one rank.

use std::sync::Arc;

use seqfeed_core::Index;

use super::{OrderedUnit, length, units};
use crate::settings::Unit;
use crate::share::Share;

pub(crate) struct Sequential {
    index: Arc<Index>,
    unit: Unit,
    /// The first unit, and the distance from one to the next.
    stride: (u64, u64),
    /// The number of units before each chunk; one entry more than chunks.
    starts: Vec<u64>,
    /// The number of units in this order.
    own: u64,
    item: u64,
    chunk: usize,
}

impl Sequential {
    pub(crate) fn new(index: Arc<Index>, unit: Unit, share: Share) -> Self {
        let mut starts = vec![0];
        for chunk in 0..index.chunk_count() {
            starts.push(starts[chunk] + units(&index, unit, chunk));
        }
        let stride = share.stride();
        let own = before(stride, starts[starts.len() - 1]);
        Self { index, unit, stride, starts, own, item: 0, chunk: 0 }
    }

    /// The number of units in a sweep.
    pub(crate) fn total(&self) -> u64 {
        self.own
    }

    pub(crate) fn start(&mut self, item: u64) {
        self.item = item;
        self.chunk = self.chunk_of(item);
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Option<OrderedUnit> {
        if self.item >= self.own {
            return None;
        }
        self.settle();
        let unit = self.stride.0 + self.item * self.stride.1;
        let number = (unit - self.starts[self.chunk]) as u32;
        let chunk = self.chunk as u32;
        self.item += 1;
        let samples = length(&self.index, self.unit, chunk, number);
        Some(OrderedUnit { chunk, place: chunk, number, samples, sweep: 0 })
    }

    /// Moves to the chunk of the next unit; behind the last unit there is none.
    #[inline]
    pub(crate) fn settle(&mut self) {
        if self.item >= self.own {
            self.chunk = self.starts.len() - 1;
            return;
        }
        let unit = self.stride.0 + self.item * self.stride.1;
        while unit >= self.starts[self.chunk + 1] {
            self.chunk += 1;
        }
    }

    pub(crate) fn position(&self) -> u64 {
        self.chunk as u64
    }

    /// The chunk of the next unit, and the next other chunk that has units.
    pub(crate) fn window(&self) -> Vec<(u32, u32)> {
        let Some(&end) = self.starts.get(self.chunk + 1) else { return Vec::new() };
        let after = before(self.stride, end);
        let next = (after < self.own).then(|| self.chunk_of(after));
        let chunks = [Some(self.chunk), next].into_iter().flatten();
        chunks.map(|chunk| (chunk as u32, chunk as u32)).collect()
    }

    /// The chunk of a unit; behind the last unit there is none.
    fn chunk_of(&self, item: u64) -> usize {
        match item < self.own {
            true => {
                let unit = self.stride.0 + item * self.stride.1;
                self.starts.partition_point(|&start| start <= unit) - 1
            }
            false => self.starts.len() - 1,
        }
    }
}

/// The number of units of a stride before unit `number` of all.
fn before((first, step): (u64, u64), number: u64) -> u64 {
    number.saturating_sub(first).div_ceil(step)
}

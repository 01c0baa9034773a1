//! The order of the corpus itself.

use std::sync::Arc;

use seqfeed_core::Index;

use super::{Item, length, units};
use crate::settings::Unit;

pub(crate) struct Sequential {
    index: Arc<Index>,
    unit: Unit,
    /// Units before each chunk; one more entry than chunks.
    starts: Vec<u64>,
    chunk: usize,
    item: u64,
}

impl Sequential {
    pub(crate) fn new(index: Arc<Index>, unit: Unit) -> Self {
        let mut starts = vec![0];
        for chunk in 0..index.chunk_count() {
            starts.push(starts[chunk] + units(&index, unit, chunk));
        }
        Self { index, unit, starts, chunk: 0, item: 0 }
    }

    pub(crate) fn start(&mut self, item: u64) {
        self.item = item;
        self.chunk = self.starts.partition_point(|&start| start <= item) - 1;
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Option<Item> {
        while self.item >= *self.starts.get(self.chunk + 1)? {
            self.chunk += 1;
        }
        let number = (self.item - self.starts[self.chunk]) as u32;
        let chunk = self.chunk as u32;
        self.item += 1;
        let samples = length(&self.index, self.unit, chunk, number);
        Some(Item { chunk, shard: chunk, number, samples })
    }

    pub(crate) fn position(&self) -> u64 {
        self.chunk as u64
    }

    pub(crate) fn window(&self) -> Vec<(u32, u32)> {
        let end = (self.chunk + 2).min(self.index.chunk_count());
        (self.chunk..end).map(|chunk| (chunk as u32, chunk as u32)).collect()
    }
}

//! One permutation of the whole corpus.

use std::sync::Arc;

use seqfeed_core::Index;

use super::{OrderedUnit, length};
use crate::random::{Permutation, mix};
use crate::settings::Unit;

/// The distance between entries of the look-up table, as a power of two, in samples.
const STRIDE_BITS: u32 = 10;

pub(crate) struct Permuted {
    index: Arc<Index>,
    unit: Unit,
    seed: u64,
    total: u64,
    permutation: Permutation,
    item: u64,
    /// The chunk of each sequence.
    chunks: Vec<u32>,
    /// The sequence that holds every 2^[`STRIDE_BITS`]th sample. A search begins there.
    table: Vec<u32>,
}

impl Permuted {
    pub(crate) fn new(index: Arc<Index>, unit: Unit, seed: u64) -> Self {
        let mut chunks = Vec::with_capacity(index.len());
        for chunk in 0..index.chunk_count() {
            chunks.extend(index.chunk(chunk).map(|_| chunk as u32));
        }
        let (total, table) = match unit {
            Unit::Frame => (index.total_samples(), frame_table(&index)),
            Unit::Sequence => (index.len() as u64, Vec::new()),
        };
        let permutation = Permutation::new(total, 0);
        Self { index, unit, seed, total, permutation, item: 0, chunks, table }
    }

    pub(crate) fn start(&mut self, sweep: u64, item: u64) {
        self.permutation = Permutation::new(self.total, mix(self.seed.wrapping_add(sweep)));
        self.item = item;
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Option<OrderedUnit> {
        if self.item >= self.total {
            return None;
        }
        let target = self.permutation.at(self.item);
        self.item += 1;
        let sequence = match self.unit {
            Unit::Sequence => target as u32,
            Unit::Frame => self.sequence_of(target),
        };
        let chunk = self.chunks[sequence as usize];
        let first = self.index.chunk(chunk as usize).start;
        let number = match self.unit {
            Unit::Sequence => sequence - first,
            Unit::Frame => (target - self.index.start(first)) as u32,
        };
        let samples = length(&self.index, self.unit, chunk, number);
        Some(OrderedUnit { chunk, place: chunk, number, samples, sweep: 0 })
    }

    pub(crate) fn window(&self) -> Vec<(u32, u32)> {
        (0..self.index.chunk_count() as u32).map(|chunk| (chunk, chunk)).collect()
    }

    #[inline]
    fn sequence_of(&self, sample: u64) -> u32 {
        let entry = (sample >> STRIDE_BITS) as usize;
        let last = self.index.len() as u32 - 1;
        let end = self.table.get(entry + 1).copied().unwrap_or(last);
        self.index.sequence_at(sample, self.table[entry]..end + 1)
    }
}

fn frame_table(index: &Index) -> Vec<u32> {
    let entries = index.total_samples().div_ceil(1 << STRIDE_BITS);
    let mut sequence = 0;
    let mut table = Vec::with_capacity(entries as usize);
    for entry in 0..entries {
        while index.start(sequence + 1) <= entry << STRIDE_BITS {
            sequence += 1;
        }
        table.push(sequence);
    }
    table
}

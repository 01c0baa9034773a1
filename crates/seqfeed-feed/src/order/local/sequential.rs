//! File order: of each sweep's units, every `ranks`th is this worker's.

use std::sync::Arc;

use seqfeed_core::Index;

use super::Entry;
use crate::order::{Item, length, units};
use crate::settings::Unit;

pub(super) struct Sequential {
    index: Arc<Index>,
    unit: Unit,
    rank: u64,
    ranks: u64,
    /// Units before each chunk; one more entry than chunks.
    starts: Vec<u64>,
    /// This worker's units before the next one, and all of them.
    position: u64,
    own: u64,
    /// The chunk of the next one.
    chunk: usize,
    changes: u64,
}

impl Sequential {
    pub(super) fn new(index: Arc<Index>, unit: Unit, rank: u64, ranks: u64) -> Self {
        let mut starts = vec![0];
        for chunk in 0..index.chunk_count() {
            starts.push(starts[chunk] + units(&index, unit, chunk));
        }
        let own = starts[starts.len() - 1].saturating_sub(rank).div_ceil(ranks);
        Self { index, unit, rank, ranks, starts, position: 0, own, chunk: 0, changes: 0 }
    }

    /// Goes to a position of a sweep; whether there is one. The position after the last unit is
    /// that of the sweep's end.
    pub(super) fn start(&mut self, position: u64) -> bool {
        if position > self.own {
            return false;
        }
        self.position = position;
        self.chunk = self.chunk_of(position);
        self.changes += 1;
        true
    }

    pub(super) fn position(&self) -> u64 {
        self.position
    }

    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    #[inline]
    pub(super) fn peek(&self) -> Entry {
        if self.position == self.own {
            return Entry::EndOfSweep;
        }
        let number = (self.unit_number(self.position) - self.starts[self.chunk]) as u32;
        let chunk = self.chunk as u32;
        let samples = length(&self.index, self.unit, chunk, number);
        Entry::Unit(Item { chunk, shard: chunk, number, samples })
    }

    #[inline]
    pub(super) fn advance(&mut self) {
        if self.position == self.own {
            self.position = 0;
        } else {
            self.position += 1;
        }
        let in_chunk = self.position < self.own
            && self.unit_number(self.position) < self.starts[self.chunk + 1]
            && self.position > 0;
        if !in_chunk {
            self.chunk = self.chunk_of(self.position);
            self.changes += 1;
        }
    }

    /// The chunk of the next unit, and the next other chunk that holds units of this worker.
    pub(super) fn window(&self) -> Vec<(u32, u32)> {
        let here = self.chunk as u32;
        // This worker's first unit behind the chunk.
        let after = self.starts[self.chunk + 1].saturating_sub(self.rank).div_ceil(self.ranks);
        let next = self.chunk_of(if after < self.own { after } else { 0 }) as u32;
        if next == here { vec![(here, here)] } else { vec![(here, here), (next, next)] }
    }

    /// Number in the sweep of a unit of this worker.
    fn unit_number(&self, position: u64) -> u64 {
        self.rank + position * self.ranks
    }

    /// The chunk of a unit of this worker; of the first, for the end of the sweep.
    fn chunk_of(&self, position: u64) -> usize {
        let unit = self.unit_number(if position < self.own { position } else { 0 });
        self.starts.partition_point(|&start| start <= unit) - 1
    }
}

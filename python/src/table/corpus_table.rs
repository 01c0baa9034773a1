//! A corpus of any format as a table.

use std::sync::{Arc, OnceLock};

use numpy::IntoPyArray;
use pyo3::prelude::*;
use seqfeed::{Corpus, Extent, Kind, Source, Stream};
use seqfeed_core::{Array, Block, Key};

use crate::table::{Backend, TableValue, Walk};
use crate::values;

/// The samples of one sequence in one stream.
pub(crate) enum Loaded {
    Dense { shape: Vec<usize>, values: Array },
    Sparse { values: Array, indices: Vec<i32>, offsets: Vec<i64>, dim: usize },
}

impl Loaded {
    pub(crate) fn into_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        match self {
            Loaded::Dense { shape, values } => values::any_array(py, &shape, values),
            Loaded::Sparse { values, indices, offsets, dim } => {
                let (count, rows) = (indices.len(), offsets.len() - 1);
                let data = values::any_array(py, &[count], values)?;
                let (indices, indptr) = (indices.into_pyarray(py), offsets.into_pyarray(py));
                values::sparse(py, data, indices.into_any(), indptr.into_any(), (rows, dim))
            }
        }
    }

    /// Samples `start..stop` of a sequence of a block.
    fn of(
        stream: &Stream,
        block: &Block,
        number: usize,
        start: usize,
        stop: usize,
    ) -> seqfeed::Result<Self> {
        let samples = block.sequence_len(number);
        // A sample for the whole sequence belongs to every part of it.
        let whole = stream.extent == Extent::Sequence;
        let stop = if whole { samples } else { stop.min(samples) };
        let start = if whole { 0 } else { start.min(stop) };
        let rows = stop - start;
        if stream.kind == Kind::Sparse {
            let found = block.sparse_samples(number);
            let range = found.values_in(start..stop);
            let size = stream.element.size();
            let ends = (start..=stop).map(|end| found.values_in(start..end).len() as i64);
            return Ok(Loaded::Sparse {
                values: copied(stream, &found.values[range.start * size..range.end * size])?,
                indices: found.indices[range].to_vec(),
                offsets: ends.collect(),
                dim: stream.dim,
            });
        }
        let values = copied(stream, block.samples(number).rows(start..stop))?;
        let mut shape = if whole { Vec::new() } else { vec![rows] };
        if stream.kind != Kind::Label || stream.dim > 1 {
            shape.push(stream.dim);
        }
        Ok(Loaded::Dense { shape, values })
    }
}

fn copied(stream: &Stream, bytes: &[u8]) -> seqfeed::Result<Array> {
    let mut array = Array::new(stream.element);
    array.resize(bytes.len() / stream.element.size())?;
    array.bytes_mut()[..bytes.len()].copy_from_slice(bytes);
    Ok(array)
}

/// A corpus that any number of threads read at once.
#[derive(Clone)]
pub(crate) struct CorpusTable {
    corpus: Arc<Corpus>,
    /// The numbers of sequences, sorted by their keys. Made on demand.
    sorted: Arc<OnceLock<Vec<u32>>>,
}

impl CorpusTable {
    pub(crate) fn new(corpus: Arc<Corpus>) -> Self {
        Self { corpus, sorted: Arc::new(OnceLock::new()) }
    }

    fn find(&self, key: &[u8]) -> Option<u32> {
        let index = self.corpus.index();
        let sorted = self.sorted.get_or_init(|| {
            let mut numbers: Vec<u32> = index.unmasked(0..index.len() as u32).collect();
            // The first of several sequences with one key stays the first.
            numbers.sort_by_key(|&number| index.key(number));
            numbers
        });
        let first = sorted.partition_point(|&number| index.key(number) < Key(key));
        sorted.get(first).copied().filter(|&number| index.key(number) == Key(key))
    }

    fn item(
        &self,
        blocks: &[Block],
        number: usize,
        start: usize,
        stop: usize,
    ) -> seqfeed::Result<TableValue> {
        let streams = self.corpus.streams();
        let mut all = streams
            .iter()
            .zip(blocks)
            .map(|(stream, block)| {
                Ok((stream.name.clone(), Loaded::of(stream, block, number, start, stop)?))
            })
            .collect::<seqfeed::Result<Vec<_>>>()?;
        Ok(match (all.len(), all.pop()) {
            (1, Some((_, loaded))) => TableValue::Stream(loaded),
            (_, last) => TableValue::Streams(all.into_iter().chain(last).collect()),
        })
    }
}

impl Backend for CorpusTable {
    fn get(&self, key: &[u8]) -> seqfeed::Result<Option<TableValue>> {
        self.rows(key, 0, usize::MAX)
    }

    fn rows(&self, key: &[u8], start: usize, stop: usize) -> seqfeed::Result<Option<TableValue>> {
        let Some(sequence) = self.find(key) else { return Ok(None) };
        let mut blocks = self.corpus.new_blocks();
        self.corpus.load(&[sequence], &mut blocks)?;
        self.item(&blocks, 0, start, stop).map(Some)
    }

    fn contains(&self, key: &[u8]) -> seqfeed::Result<bool> {
        Ok(self.find(key).is_some())
    }

    fn count(&self) -> seqfeed::Result<usize> {
        let index = self.corpus.index();
        Ok(index.unmasked(0..index.len() as u32).count())
    }

    fn walk(&self) -> seqfeed::Result<Box<dyn Walk>> {
        let blocks = self.corpus.new_blocks();
        Ok(Box::new(CorpusWalk { table: self.clone(), blocks, next: 0, loaded: 0..0 }))
    }

    fn corpus(&self) -> Option<Arc<Corpus>> {
        Some(Arc::clone(&self.corpus))
    }
}

/// A walk through a corpus, chunk after chunk.
struct CorpusWalk {
    table: CorpusTable,
    blocks: Vec<Block>,
    next: u32,
    /// The sequences in the blocks, one after another.
    loaded: std::ops::Range<u32>,
}

impl CorpusWalk {
    /// The number of the next sequence.
    fn step(&mut self, key: &mut Vec<u8>) -> Option<u32> {
        let index = self.table.corpus.index();
        while (self.next as usize) < index.len() {
            let number = self.next;
            self.next += 1;
            if !index.is_masked(number) {
                key.clear();
                key.extend_from_slice(index.key(number).0);
                return Some(number);
            }
        }
        None
    }

    /// Loads sequences from `first` on: the rest of the chunk.
    fn load(&mut self, first: u32) -> seqfeed::Result<()> {
        let index = self.table.corpus.index();
        let end = match index.chunk_count() {
            0 => first + 1,
            count => {
                // Chunks ascend: a binary search finds the chunk.
                let (mut low, mut high) = (0, count - 1);
                while low < high {
                    let middle = (low + high) / 2;
                    if index.chunk(middle).end > first { high = middle } else { low = middle + 1 }
                }
                index.chunk(low).end
            }
        };
        // A masked sequence ends a run, since it cannot be loaded.
        let end = (first..end).find(|&number| index.is_masked(number)).unwrap_or(end);
        self.loaded = 0..0;
        self.blocks.iter_mut().for_each(Block::clear);
        let sequences: Vec<u32> = (first..end).collect();
        self.table.corpus.load(&sequences, &mut self.blocks)?;
        self.loaded = first..end;
        Ok(())
    }
}

impl Walk for CorpusWalk {
    fn next(&mut self, key: &mut Vec<u8>) -> seqfeed::Result<Option<TableValue>> {
        let Some(number) = self.step(key) else { return Ok(None) };
        if !self.loaded.contains(&number) {
            self.load(number)?;
        }
        let place = (number - self.loaded.start) as usize;
        self.table.item(&self.blocks, place, 0, usize::MAX).map(Some)
    }

    fn next_key(&mut self, key: &mut Vec<u8>) -> seqfeed::Result<bool> {
        Ok(self.step(key).is_some())
    }
}

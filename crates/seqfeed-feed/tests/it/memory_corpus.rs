//! A corpus whose values say which sample they are: for the tests of several crates.

// Each of them uses a part of it.
#![allow(dead_code, unreachable_pub)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use seqfeed_core::{
    Block, Element, Error, Extent, Index, IndexBuilder, Key, Kind, Result, Source, Stream,
};

/// Labels of one sequence and of the next differ by so much.
pub const STEP: i32 = 1000;

/// Features (`[sequence, sample, 0...]`), labels (`sequence * STEP + sample`), one label a sequence
/// (`sequence`), or labels of a length of their own (`sequence % 4` times `sequence`).
pub struct MemoryCorpus {
    streams: Vec<Stream>,
    index: Arc<Index>,
    /// All labels of a sequence are the remainder of its number by this.
    pub classes: Option<i32>,
    /// Loading this sequence fails.
    pub broken: Option<u32>,
    /// Samples that were loaded.
    pub loaded: AtomicU64,
}

impl MemoryCorpus {
    /// Features of dim 2, labels and speakers. Sequences have these lengths, below [`STEP`], and
    /// chunks so many samples at most.
    pub fn new(lengths: &[u32], chunk_samples: u64) -> Self {
        let mut builder = IndexBuilder::new(chunk_samples);
        for (number, &length) in lengths.iter().enumerate() {
            builder.push(Key(format!("utt{number:03}").as_bytes()), length);
        }
        Self::of_index(builder.finish())
    }

    /// The same of sequences whose lengths are given chunk by chunk.
    pub fn of_chunks(chunks: &[Vec<u32>]) -> Self {
        let mut builder = IndexBuilder::new(u64::MAX);
        for chunk in chunks {
            for &length in chunk {
                builder.push(Key(format!("utt{:03}", builder.len()).as_bytes()), length);
            }
            builder.end_chunk();
        }
        Self::of_index(builder.finish())
    }

    fn of_index(index: Index) -> Self {
        let streams = vec![
            dense("features", 2),
            labels("labels", Extent::Samples),
            labels("speaker", Extent::Sequence),
        ];
        Self::of_streams(streams, index)
    }

    /// Any streams, dense ones and labels.
    pub fn of_streams(streams: Vec<Stream>, index: Index) -> Self {
        let (classes, broken) = (None, None);
        Self { streams, index: Arc::new(index), classes, broken, loaded: AtomicU64::new(0) }
    }

    /// With a stream of labels, `words`, that has a length of its own.
    pub fn with_words(mut self) -> Self {
        self.streams.push(labels("words", Extent::Own));
        self
    }
}

/// A stream of floats with a sample a time step.
pub fn dense(name: &str, dim: usize) -> Stream {
    let (kind, element, extent) = (Kind::Dense, Element::F32, Extent::Samples);
    Stream { name: name.to_owned(), kind, element, dim, extent }
}

/// A stream of labels.
pub fn labels(name: &str, extent: Extent) -> Stream {
    let (kind, element) = (Kind::Label, Element::I32);
    Stream { name: name.to_owned(), kind, element, dim: 1, extent }
}

impl Source for MemoryCorpus {
    fn name(&self) -> &str {
        "memory"
    }

    fn streams(&self) -> &[Stream] {
        &self.streams
    }

    fn index(&self) -> &Arc<Index> {
        &self.index
    }

    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
        for &sequence in sequences {
            if self.broken == Some(sequence) {
                return Err(Error::corpus("broken").of_key(self.index.key(sequence)));
            }
            let samples = self.index.samples(sequence) as usize;
            self.loaded.fetch_add(samples as u64, Ordering::Relaxed);
            let number = sequence as i32;
            for (stream, block) in self.streams.iter().zip(&mut *blocks) {
                match (stream.kind, stream.extent) {
                    (Kind::Dense, _) => {
                        let rows = block.push_f32(samples).chunks_exact_mut(stream.dim);
                        for (sample, row) in rows.enumerate() {
                            row.fill(0.0);
                            row[..2].copy_from_slice(&[sequence as f32, sample as f32]);
                        }
                    }
                    (_, Extent::Sequence) => block.push_i32(1)[0] = number,
                    (_, Extent::Own) => block.push_i32(sequence as usize % 4).fill(number),
                    (_, Extent::Samples) => {
                        for (sample, label) in block.push_i32(samples).iter_mut().enumerate() {
                            *label = match self.classes {
                                Some(classes) => number % classes,
                                None => number * STEP + sample as i32,
                            };
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

//! A corpus whose values say which sample they are.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use seqfeed_core::{
    Block, Element, Error, Extent, Index, IndexBuilder, Key, Kind, Result, Source, Stream,
};
use seqfeed_feed::{Feed, Minibatch, Settings, State};

/// Features of dim 2 (`[sequence, sample]`), labels (`sequence * 1000 + sample`), and one number
/// for each sequence.
pub(crate) struct MemoryCorpus {
    streams: Vec<Stream>,
    index: Arc<Index>,
    /// Loading this sequence fails.
    pub(crate) broken: Option<u32>,
    pub(crate) loaded: AtomicU64,
}

impl MemoryCorpus {
    pub(crate) fn new(lengths: &[u32], chunk_samples: u64) -> Self {
        let mut builder = IndexBuilder::new(chunk_samples);
        for (i, &length) in lengths.iter().enumerate() {
            builder.push(Key(format!("utt{i:03}").as_bytes()), length);
        }
        Self::of_index(builder.finish())
    }

    /// Lengths of sequences, chunk by chunk.
    pub(crate) fn of_chunks(chunks: &[Vec<u32>]) -> Self {
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
        let stream = |name: &str, kind, element, dim, extent| Stream {
            name: name.to_owned(),
            kind,
            element,
            dim,
            extent,
        };
        Self {
            streams: vec![
                stream("features", Kind::Dense, Element::F32, 2, Extent::Samples),
                stream("labels", Kind::Label, Element::I32, 1, Extent::Samples),
                stream("speaker", Kind::Label, Element::I32, 1, Extent::Sequence),
            ],
            index: Arc::new(index),
            broken: None,
            loaded: AtomicU64::new(0),
        }
    }
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
            for (t, row) in blocks[0].push_f32(samples).chunks_exact_mut(2).enumerate() {
                row.copy_from_slice(&[sequence as f32, t as f32]);
            }
            for (t, label) in blocks[1].push_i32(samples).iter_mut().enumerate() {
                *label = sequence as i32 * 1000 + t as i32;
            }
            blocks[2].push_i32(1)[0] = sequence as i32;
        }
        Ok(())
    }
}

/// A corpus of 40 sequences of 1 to 30 samples in chunks of 64.
pub(crate) fn corpus() -> Arc<MemoryCorpus> {
    let lengths: Vec<u32> = (0..40).map(|i| 1 + i * 7919 % 30).collect();
    Arc::new(MemoryCorpus::new(&lengths, 64))
}

/// The samples of a minibatch, as labels.
pub(crate) fn samples(minibatch: &Minibatch) -> Vec<i32> {
    let labels = minibatch.stream("labels").unwrap();
    let values = labels.as_i32().unwrap();
    (0..minibatch.len())
        .flat_map(|piece| {
            let (first, rows) = labels.rows_of(piece);
            values[first..first + rows].to_vec()
        })
        .collect()
}

/// Runs a feed to its end; the samples of each minibatch.
pub(crate) fn run(
    corpus: &Arc<MemoryCorpus>,
    settings: &Settings,
    state: Option<&State>,
) -> Vec<Vec<i32>> {
    let source: Arc<dyn Source> = Arc::clone(corpus) as _;
    let feed = Feed::new(source, settings.clone(), state).unwrap();
    feed.map(|minibatch| samples(&minibatch.unwrap())).collect()
}

/// Every sample of the corpus, sorted.
pub(crate) fn all_samples(corpus: &MemoryCorpus) -> Vec<i32> {
    (0..corpus.index().len() as u32)
        .flat_map(|s| (0..corpus.index().samples(s)).map(move |t| (s * 1000 + t) as i32))
        .collect()
}

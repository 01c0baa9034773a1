//! Whole runs of feeds over a corpus in memory, by the labels of the samples they give.

use std::sync::Arc;

use seqfeed_core::Source;
use seqfeed_feed::{Feed, Minibatch, Settings, State};

use crate::memory_corpus::{MemoryCorpus, STEP};

/// A corpus of 40 sequences of 1 to 30 samples in chunks of 64.
pub(crate) fn corpus() -> Arc<MemoryCorpus> {
    let lengths: Vec<u32> = (0..40).map(|i| 1 + i * 7919 % 30).collect();
    Arc::new(MemoryCorpus::new(&lengths, 64))
}

/// The samples of a minibatch, as labels.
pub(crate) fn samples(minibatch: &Minibatch) -> Vec<i32> {
    labels_of(minibatch, "labels")
}

/// The labels of a stream, sample by sample.
pub(crate) fn labels_of(minibatch: &Minibatch, stream: &str) -> Vec<i32> {
    let labels = minibatch.stream(stream).unwrap();
    let values = labels.as_i32().unwrap();
    (0..minibatch.len())
        .flat_map(|segment| {
            let (first, rows) = labels.rows_of(segment);
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
        .flat_map(|s| (0..corpus.index().samples(s)).map(move |t| s as i32 * STEP + t as i32))
        .collect()
}

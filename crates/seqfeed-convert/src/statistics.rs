//! A summary of a corpus in numbers.

mod counts;
mod lengths;
mod moments;
mod values;

use std::collections::BTreeMap;

use seqfeed_core::{Corpus, Extent, Key, Kind, Source, Stream, SymbolTable};
use serde::Serialize;

use seqfeed::Opened;

pub use counts::Counts;
pub use lengths::{Lengths, LengthsBin};
pub use moments::Moments;
pub use values::{Statistics, StreamStatistics};

pub(crate) use moments::{Number, add_rows};

/// A summary of a corpus, for people and as JSON.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Streams, the primary one first.
    pub streams: Vec<StreamSummary>,
    /// Number of sequences.
    pub sequences: u64,
    /// Number of samples.
    pub samples: u64,
    /// Number of chunks.
    pub chunks: u64,
    /// Lengths of the sequences in samples.
    pub lengths: Lengths,
    /// A histogram of the lengths.
    pub length_histogram: Vec<LengthsBin>,
    /// Seconds from one sample to the next, if the files state them (HTK's do).
    pub frame_shift: Option<f64>,
    /// Bytes of one sweep's samples in memory, without context.
    pub bytes: u64,
    /// Bytes decoded into temporary files.
    pub spooled_bytes: u64,
    /// The names of labels by their numbers, for streams that have such names.
    pub symbols: BTreeMap<String, BTreeMap<i32, String>>,
    /// The skipped sequences, by reason.
    pub skipped: Vec<Skipped>,
}

/// A stream of a [`Summary`].
#[derive(Clone, Debug, Serialize)]
pub struct StreamSummary {
    /// Its name.
    pub name: String,
    /// The name by which it was opened.
    pub source: String,
    /// The format of its source.
    pub format: String,
    /// `dense` or `label`.
    pub kind: &'static str,
    /// Type of a value, by numpy's names.
    pub dtype: &'static str,
    /// Values a sample.
    pub dim: usize,
    /// `samples` or `sequence`.
    pub extent: &'static str,
}

/// Sequences skipped for one reason.
#[derive(Clone, Debug, Serialize)]
pub struct Skipped {
    /// The reason.
    pub reason: String,
    /// The number of sequences.
    pub count: u64,
    /// The first few keys.
    pub examples: Vec<String>,
}

impl Summary {
    /// Summarizes an open corpus. Reads nothing but its index.
    #[must_use]
    pub fn of(opened: &Opened) -> Self {
        let corpus: &Corpus = opened.corpus();
        let index = corpus.index();
        let sources = corpus.sources().iter();
        let streams = sources.flat_map(|source| {
            let format = source.about().format;
            let summary = move |stream| StreamSummary::of(stream, source.name(), &format);
            source.streams().iter().map(summary)
        });
        let about = corpus.about();
        let streams_of_samples =
            corpus.streams().iter().filter(|stream| stream.extent != Extent::Sequence);
        let sample_bytes: u64 = match corpus.streams().iter().any(|s| s.kind == Kind::Sparse) {
            true => corpus.held_bytes(),
            false => streams_of_samples.map(|stream| stream.sample_bytes() as u64).sum(),
        };
        let skipped = about.report.dropped.into_iter().map(|group| Skipped {
            reason: group.reason,
            count: group.count,
            examples: group.examples,
        });
        let names = |table: &SymbolTable| {
            table.iter().map(|(number, name)| (number, Key(name).to_text())).collect()
        };
        let symbols = about.symbols.iter().map(|(stream, table)| (stream.clone(), names(table)));
        let lengths: Vec<u32> = (0..index.len() as u32).map(|s| index.samples(s)).collect();
        Self {
            streams: streams.collect(),
            length_histogram: lengths::histogram(&lengths),
            frame_shift: about.frame_shift,
            sequences: index.len() as u64,
            samples: index.total_samples(),
            chunks: index.chunk_count() as u64,
            lengths: Lengths::of(lengths),
            bytes: index.total_samples() * sample_bytes,
            spooled_bytes: about.spooled_bytes,
            symbols: symbols.collect(),
            skipped: skipped.collect(),
        }
    }
}

impl StreamSummary {
    fn of(stream: &Stream, source: &str, format: &str) -> Self {
        Self {
            name: stream.name.clone(),
            source: source.to_owned(),
            format: format.to_owned(),
            kind: stream.kind.name(),
            dtype: stream.element.name(),
            dim: stream.dim,
            extent: stream.extent.name(),
        }
    }
}

//! The settings of a feed.

mod combinations;
mod cut;
mod mixture;
mod order;

use seqfeed_core::{Element, Tolerance};
use serde::{Deserialize, Serialize};

pub(crate) use self::combinations::MOST_RANKS;
pub use self::cut::{
    BatchSize, Cut, Epoch, Limits, Partial, Partitions, Shard, Steps, Timeline, Truncation, Worker,
};
pub(crate) use self::mixture::WEIGHTS_TO_ONE;
pub use self::mixture::{Component, Mixture, ScheduleUnit, Stop, WeightFrom};
pub use self::order::{Blocks, Generator, Order, Shuffle, Window};
use crate::labels::LabelRules;

/// What is shuffled and dealt out: single frames or whole sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// One sample at a time, each with its context.
    Frame,
    /// Whole sequences.
    Sequence,
}

/// The layout of the samples of a minibatch in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// N × dim: one row a frame. The layout of [`Unit::Frame`].
    Frames,
    /// B × T × dim: sequences padded at their ends to the longest one.
    Padded,
    /// N × dim: the samples of the sequences one after another, with offsets.
    Concatenated,
    /// S × T × dim: sequences side by side in S rows as long as the longest one. As in CNTK, each
    /// sequence lies in the first row with room for it. Each stream is packed by its own lengths.
    Packed,
    /// S × T × dim: S sequences side by side, with the next T samples of each, for truncated
    /// backpropagation through time. A [`Truncation`] sets it.
    Truncated,
}

/// Left and right context of the frames of one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// Name of the stream.
    pub stream: String,
    /// Frames to the left.
    pub left: usize,
    /// Frames to the right.
    pub right: usize,
}

/// The padding of one stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Padding {
    /// Name of the stream.
    pub stream: String,
    /// The value; for labels, a whole number.
    pub value: f64,
}

/// The type in which the values of a stream are delivered.
///
/// Values are rounded to the nearest value of the type, ties to the even one. They are rounded
/// once, after all transforms; larger values become infinite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamType {
    /// Name of the stream.
    pub stream: String,
    /// The type: of floats for a dense stream, of integers for labels.
    pub element: Element,
}

/// All settings of a feed.
///
/// The minibatches depend on the corpus and on these settings, but not on `threads` and `queue`.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// What is shuffled and dealt out.
    pub unit: Unit,
    /// The order of units.
    pub order: Order,
    /// The components, if the corpus is a mixture. Each has the order of its own.
    pub mixture: Option<Mixture>,
    /// Size of a minibatch of one rank. If each rank cuts its own, the size for all ranks together.
    pub batch: BatchSize,
    /// Who cuts minibatches, and how.
    pub cut: Cut,
    /// The layout of samples in a minibatch.
    pub layout: Layout,
    /// Seed of random transforms. Their values also depend on the sweep.
    pub transform_seed: u64,
    /// The value for padding of dense streams.
    pub feature_padding: f32,
    /// The label for padding (PyTorch's losses ignore -100).
    pub label_padding: i32,
    /// The padding of single streams, in place of `feature_padding` or `label_padding`.
    pub padding: Vec<Padding>,
    /// The most samples of a sequence in each bin of [`Steps::buckets`] but the last, ascending. If
    /// there are none, bins have about the same number of samples.
    pub bucket_edges: Vec<u32>,
    /// The stream whose samples [`Limits::tokens`] limits. Its lengths must be known before it is
    /// loaded.
    pub tokens_of: Option<String>,
    /// Context of frames, by stream.
    pub context: Vec<Context>,
    /// Types of values, by stream. Other streams keep theirs.
    pub types: Vec<StreamType>,
    /// Rules for the labels of a stream: frames that are left out, labels that change. Frames are
    /// left out after context is taken, so they are still the context of others.
    pub labels: Option<LabelRules>,
    /// This rank, from 0.
    pub rank: usize,
    /// Number of ranks.
    pub ranks: usize,
    /// End after so many sweeps, counted from the very start.
    pub sweeps: Option<u64>,
    /// End after so many samples over all ranks, counted from the very start.
    pub samples: Option<u64>,
    /// Threads that pack minibatches (and as many that load chunks).
    pub threads: usize,
    /// Minibatches that are kept ready.
    pub queue: usize,
    /// The most bytes of memory that a feed may take: chunks, minibatches with all padding that can
    /// occur, and the memory of sources. A feed that may need more does not start.
    pub memory: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            unit: Unit::Frame,
            order: Order::default(),
            mixture: None,
            batch: BatchSize::Samples(256),
            cut: Cut::default(),
            layout: Layout::Frames,
            transform_seed: 0,
            feature_padding: 0.0,
            label_padding: -100,
            padding: Vec::new(),
            context: Vec::new(),
            types: Vec::new(),
            bucket_edges: Vec::new(),
            tokens_of: None,
            labels: None,
            rank: 0,
            ranks: 1,
            sweeps: None,
            samples: None,
            threads: std::thread::available_parallelism().map_or(2, |n| n.get().min(8)),
            queue: 4,
            memory: None,
        }
    }
}

/// Parses a tolerance as settings write it: `stop`, `skip`, or the most errors to skip.
#[must_use]
pub fn tolerance(text: &str) -> Option<Tolerance> {
    match text {
        "stop" => Some(Tolerance::Stop),
        "skip" => Some(Tolerance::Skip),
        number => number.parse().ok().map(Tolerance::SkipUpTo),
    }
}

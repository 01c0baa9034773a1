//! The main crate: opens any corpus and feeds it to a trainer.
//!
//! A [`Description`] describes a corpus. It can be written in Rust, in a `corpus.toml`, or as
//! options of the command line. All three give the same minibatches.
//!
//! ```no_run
//! let description = seqfeed::Description::from_file("examples/digits/train.toml".as_ref())?;
//! let opened = description.open(&seqfeed::io::Opener::default())?;
//! for minibatch in opened.feed(None)? {
//!     let minibatch = minibatch?;
//!     let features: &[f32] = minibatch.dense("features").expect("a stream of that name");
//!     let labels: &[i32] = minibatch.labels("labels").expect("a stream of that name");
//!     // one training step
//!     # let _ = (features, labels);
//! }
//! # Ok::<(), seqfeed::Error>(())
//! ```
//!
//! The cargo feature `arrow`, off by default, adds Arrow IPC and Parquet files. Without it, opening
//! such a file is an error that names the feature.

#![forbid(unsafe_code)]

mod corpus_spool;
mod data;
mod description;
mod format;
mod formats;
mod frames;
mod loss;
mod name;
mod name_text;
mod open;
mod quantity;
mod reader;
mod sequence;
mod transforms;
mod unjoined;

pub use corpus_spool::CorpusSpool;
pub use description::{
    BatchUnit, CorpusOption, CorpusSpec, Description, ExtentName, FeedSpec, FloatName, FormatName,
    InputSpec, KindName, Names, OptionScope, OptionValues, OrderName, PresetName, StreamSpec, Text,
    input_options, options, stream_options,
};
pub use format::{
    Candidate, Capabilities, Certainty, Change, Draft, Format, Keys, Wanted, Writing, WrittenParts,
    is_packed,
};
pub use formats::{formats, kaldi_compression, register, written_format};
pub use loss::{Loss, LossKind};
pub use name::Named;
pub use open::Opened;
pub use seqfeed_core::{
    About, Block, Corpus, Draw, Dropped, Element, Error, ErrorKind, Extent, Fact, Given, Index,
    JoinReport, Key, Kind, Most, Output, Place, Position, Printable, PrintableLines, Problem,
    Quote, Random, Remark, Result, SampleRates, Severity, Sink, Source, Stream, Transform,
    Transformed, Written, float_text, is_hidden, nearest_name,
};
pub use seqfeed_feed::{
    BatchSize, Context, Cut, DealState, DealtState, Epoch, Feed, Generator, LabelMap, LabelRules,
    LabelSet, Layout, Minibatch, Order, OrderState, PartState, Partial, Partitions, PoolState,
    RowsState, Segment, Settings, Shard, ShareState, Shuffle, SparseBatch, State, Steps,
    StreamBatch, Timeline, Unit, Window, Worker,
};
pub use sequence::{Sample, Sequence, SequenceStream};
pub use toml::{Table, Value};
pub use transforms::{MakeTransform, TransformSpec, register_transform};
pub use unjoined::{Refused, Unjoined};

/// Arrow IPC and Parquet files (with the feature `arrow`).
#[cfg(feature = "arrow")]
pub use seqfeed_arrow as arrow;
/// CNTK's text format and configurations.
pub use seqfeed_cntk as cntk;
/// HTK's parameter files, scripts and labels.
pub use seqfeed_htk as htk;
/// Opening names: files, offsets, pipes, compressed files.
pub use seqfeed_io as io;
/// Kaldi's tables.
pub use seqfeed_kaldi as kaldi;
/// PDNN's files and data specifications.
pub use seqfeed_pdnn as pdnn;

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
//! Each format is a cargo feature: `kaldi`, `htk`, `cntk` (CTF files, and readers of CNTK), `pdnn`
//! (with numpy's files), all on by default, and `arrow` (Arrow IPC and Parquet files), which is
//! not. `tokenizers` reads labels by a `tokenizer.json`; it is off by default, too. Names and keys
//! of what was left out are refused with an error that says so. Formats of your own need none of
//! them: see [`register`].

#![forbid(unsafe_code)]
// Some code is for some formats only, and unused without them.
#![cfg_attr(not(all(feature = "kaldi", feature = "cntk", feature = "pdnn")), allow(dead_code))]

mod corpus_key;
mod corpus_keys;
mod corpus_spool;
#[cfg(feature = "pdnn")]
mod data;
mod data_directory;
mod data_options;
pub mod data_spec;
mod description;
mod filter;
mod format;
mod formats;
mod loss;
mod manifest;
mod mixture;
mod name;
mod name_text;
mod open;
mod opened;
mod quantity;
#[cfg(feature = "cntk")]
mod reader;
mod segments;
mod sequence;
mod settle;
mod transforms;
mod unjoined;

pub use corpus_spool::CorpusSpool;
pub use description::{
    BatchUnit, Buckets, ComponentSpec, CorpusOption, CorpusSpec, Description, EndsName, ExtentName,
    FeedSpec, FormatName, InputSpec, KindName, MixSpec, Names, OptionScope, OptionValues,
    OrderName, PresetName, RestName, StreamSpec, Text, TextKeys, TypeName, UnitsName, Weight,
    component_options, input_options, mix_options, options, stream_options,
};
pub use format::{
    Candidate, Capabilities, Certainty, Change, Draft, Format, Keys, Wanted, Writing, WrittenParts,
    is_packed,
};
#[cfg(feature = "kaldi")]
pub use formats::kaldi_compression;
pub use formats::{formats, register, written_format};
pub use loss::{Loss, LossKind};
pub use name::Named;
pub use opened::Opened;
pub use seqfeed_core::{
    About, Block, Corpus, Draw, Dropped, Element, Error, ErrorKind, Extent, Fact, Given, Index,
    JoinReport, Key, Kind, Most, Output, Place, Position, Printable, PrintableLines, Problem,
    Quote, Random, Remark, Result, SampleRates, SamplesMut, Severity, Sink, Source, Stream,
    SymbolTable, Transform, Transformed, Written, bf16, f16, float_text, is_hidden, nearest_name,
    panics,
};
pub use seqfeed_feed::{
    BatchSize, Component, Context, Cut, DealState, DealtState, Delivered, Epoch, Feed, Generator,
    LabelMap, LabelRules, LabelSet, Layout, Limits, Minibatch, Mixture, Order, OrderState, Padding,
    PartState, Partial, Partitions, PlannedMinibatch, PoolState, Preview, RowsState, ScheduleUnit,
    Segment, Settings, Shard, ShareState, Shuffle, SparseBatch, State, Steps, Stop, StreamBatch,
    StreamType, Timeline, Unit, WeightFrom, Window, Worker, units_in_sweep,
};
pub use sequence::{Sample, Sequence, SequenceStream};
pub use toml::{Table, Value};
pub use transforms::{
    MakeTransform, OpenCorpus, TransformContext, TransformSpec, register_transform,
};
pub use unjoined::{Refused, Unjoined};

/// Arrow IPC and Parquet files (with the feature `arrow`).
#[cfg(feature = "arrow")]
pub use seqfeed_arrow as arrow;
/// CNTK's text format and configurations (with the feature `cntk`).
#[cfg(feature = "cntk")]
pub use seqfeed_cntk as cntk;
/// HTK's parameter files, scripts and labels (with the feature `htk`).
#[cfg(feature = "htk")]
pub use seqfeed_htk as htk;
/// Opening names: files, offsets, pipes, compressed files.
pub use seqfeed_io as io;
/// Kaldi's tables (with the feature `kaldi`).
#[cfg(feature = "kaldi")]
pub use seqfeed_kaldi as kaldi;
/// PDNN's files (with the feature `pdnn`).
#[cfg(feature = "pdnn")]
pub use seqfeed_pdnn as pdnn;

//! The front door: open any corpus, feed it to a trainer.
//!
//! A corpus is described by a [`Description`]: in Rust, in a `corpus.toml`, or by the options of
//! the command line; all three mean the same and give the same minibatches.
//!
//! ```no_run
//! let description = seqfeed::Description::from_file("examples/digits/train.toml".as_ref())?;
//! let opened = description.open(seqfeed::io::Policy::default())?;
//! for minibatch in opened.feed(None)? {
//!     let minibatch = minibatch?;
//!     let features: &[f32] = minibatch.dense("features").expect("a stream of that name");
//!     let labels: &[i32] = minibatch.labels("labels").expect("a stream of that name");
//!     // one training step
//!     # let _ = (features, labels);
//! }
//! # Ok::<(), seqfeed::Error>(())
//! ```

#![forbid(unsafe_code)]

mod ctf_sink;
mod description;
mod htk;
mod open;
mod quantity;
mod reader;
mod statistics;

pub use ctf_sink::write_ctf;
pub use description::{Description, FormatName, InputDescription, Names, StreamDescription};
pub use open::Opened;
pub use seqfeed_core::{
    Corpus, Dropped, Element, Error, ErrorKind, Extent, Index, JoinReport, Key, Kind, Place,
    Position, Problem, Quote, Result, Source, Stream,
};
pub use seqfeed_feed::{
    BatchSize, Context, Cut, Epoch, Feed, Layout, Minibatch, Order, PartState, Partial, Piece,
    Settings, Shard, SparseBatch, State, StreamBatch, Unit, Window,
};
pub use statistics::{Lengths, StreamSummary, Summary};
pub use toml::{Table, Value};

/// CNTK's text format and configurations.
pub use seqfeed_cntk as cntk;
/// HTK's parameter files, scripts and labels.
pub use seqfeed_htk as htk_files;
/// Opening names: files, offsets, pipes, compressed files.
pub use seqfeed_io as io;
/// Kaldi's tables.
pub use seqfeed_kaldi as kaldi;

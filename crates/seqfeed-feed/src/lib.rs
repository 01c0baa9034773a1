//! Makes minibatches of a corpus: the stages of a feed, packing, prefetching and exact states.
//!
//! ```text
//! Corpus ── Order ── Share ── Pool ── Cut ── Deal ── Rows ── Arrange ── Minibatch
//! chunks    which    whose    like    size   to      trun-   layout   aligned buffers,
//! loaded    unit     units    lengths        ranks   cation           keys, lengths, state
//! ahead     when
//! ```
//!
//! A [`Feed`] knows nothing of any format: it takes a [`Source`](seqfeed_core::Source) (often a
//! [`Corpus`](seqfeed_core::Corpus)) and [`Settings`], and is an iterator of [`Minibatch`]es.
//!
//! Each stage is a type in a file of its own. It says which chunks it needs, how much memory they
//! take, and its part of the [`State`] between two minibatches. *Residency* keeps the needed chunks
//! in memory, and *packing* copies samples out of them.

#![forbid(unsafe_code)]

mod ahead;
mod arrange;
mod bins;
mod bound;
mod budget;
mod buffers;
mod cut;
mod deal;
mod dealt;
mod delivered;
mod feed;
mod first_fit;
mod groups;
mod labels;
mod minibatch;
mod order;
mod pack;
mod plan;
mod pool;
mod prepared;
mod preset;
mod preview;
mod random;
mod refused;
mod residency;
mod rows;
mod run;
mod selection;
mod settings;
mod share;
mod similar;
mod stages;
mod state;
mod stream_type;
mod sweeps;
mod swept_chunk;
mod tokens;

pub use buffers::Segment;
pub use deal::{DealState, DealtState};
pub use delivered::Delivered;
pub use feed::Feed;
pub use labels::{LabelMap, LabelRules, LabelSet};
pub use minibatch::{Minibatch, SparseBatch, StreamBatch};
pub use order::{OrderState, PartState, units_in_sweep};
pub use pool::PoolState;
pub use preview::{PlannedMinibatch, Preview};
pub use rows::{HeldState, RowsState, SlotState};
pub use settings::{
    BatchSize, Blocks, Component, Context, Cut, Epoch, Generator, Layout, Limits, Mixture, Order,
    Padding, Partial, Partitions, ScheduleUnit, Settings, Shard, Shuffle, Steps, Stop, StreamType,
    Timeline, Truncation, Unit, WeightFrom, Window, Worker, tolerance,
};
pub use share::ShareState;
pub use state::State;

//! Orders, packers, prefetching and exact state: a corpus becomes minibatches.
//!
//! ```text
//! Corpus ── Order ───────── Plan ────────── Packer ──────── Minibatch
//! chunks    which unit      a step for      gather, splice  aligned buffers,
//! loaded    comes when      all ranks       pad             keys, lengths, state
//! ahead
//! ```
//!
//! A [`Feed`] knows nothing of any format: it takes a [`Source`](seqfeed_core::Source) (often a
//! [`Corpus`](seqfeed_core::Corpus)) and [`Settings`], and is an iterator of [`Minibatch`]es.
//!
//! Four threads of thought meet here, each in a file of its own: the *order* of units in a sweep
//! (sequential, CNTK's windowed shuffle, one permutation of everything), the *plan* that cuts it
//! into minibatches and deals them to ranks, *residency* (which chunks are in memory), and
//! *packing*. [`State`] is a position between two steps of the plan.

#![forbid(unsafe_code)]

mod ahead;
mod bound;
mod feed;
mod first_fit;
mod labels;
mod minibatch;
mod order;
mod pack;
mod place;
mod plan;
mod random;
mod residency;
mod selection;
mod settings;
mod state;
mod truncated;

pub use feed::Feed;
pub use labels::{LabelMap, LabelRules, LabelSet};
pub use minibatch::{Minibatch, Piece, SparseBatch, StreamBatch};
pub use order::local::PartState;
pub use settings::{
    BatchSize, Context, Cut, Epoch, Generator, Layout, Order, Partial, Settings, Shard, Truncation,
    Unit, Window, tolerance,
};
pub use state::{DealtState, PoolState, State};
pub use truncated::{HeldState, SlotState, TruncatedState};

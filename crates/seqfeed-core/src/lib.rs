//! The types that all formats share: streams, sequences, sources, and the corpus that joins them.
//!
//! All formats store the same thing: named [sequences](Index) of samples, in one or more
//! [streams](Stream). A format crate turns files into a [`Source`]. A [`Corpus`] joins several
//! sources by key and is itself a source. All later stages (orders, packers, sinks) work on a
//! source and know nothing of files.
//!
//! ```text
//! Source (streams, index, load) ─┐
//! Source ────────────────────────┼─ Corpus (joined by key) ── Block per stream ── the feed
//! Source ────────────────────────┘
//! ```
//!
//! This crate does no I/O and starts no threads.

#![forbid(unsafe_code)]

mod about;
mod aligned;
mod arena;
mod array;
mod block;
mod corpus;
mod draw;
mod error;
pub mod float_text;
mod index;
mod kept;
mod key;
mod keys;
mod most;
mod nearest_name;
pub mod number_text;
mod numbers;
mod offsets;
pub mod panics;
mod printable;
mod quote;
mod sample_rates;
mod segmented;
mod series;
mod sink;
mod source;
mod spans;
mod stream;
mod subset;
mod symbol_table;
mod system;
mod tolerance;
mod transform;
mod transformed;
mod wrapper;

pub use about::{About, Fact, Remark, Severity};
pub use aligned::Aligned;
pub use array::Array;
pub use block::{Block, Samples, SamplesMut, SharedBytes, SparseSamples};
pub use corpus::{Chunking, Corpus, Dropped, JoinPolicy, JoinReport, LengthRule};
pub use draw::{Draw, Random};
pub use error::{Error, ErrorKind, Place, Position, Problem, Result};
pub use half::{bf16, f16};
pub use index::{Index, IndexBuilder};
pub use kept::Kept;
pub use key::Key;
pub use most::Most;
pub use nearest_name::nearest_name;
pub use numbers::numbers;
pub use offsets::Offsets;
pub use printable::{Printable, PrintableLines, is_hidden};
pub use quote::Quote;
pub use sample_rates::SampleRates;
pub use segmented::{SegmentEnds, SegmentRest, SegmentRule, Segmented};
pub use series::{Series, SeriesKeys};
pub use sink::{Sink, Written};
pub use source::Source;
pub use stream::{Element, Extent, Kind, Stream};
pub use subset::Subset;
pub use symbol_table::SymbolTable;
pub use tolerance::{Damage, Tolerance};
pub use transform::{Given, Output, Transform};
pub use transformed::Transformed;
pub use wrapper::Wrapper;

//! What a feed promises, on corpora in memory.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod algebra;
mod budget;
mod cntk;
mod compositions;
mod drawn;
mod groups;
mod layouts;
mod memory_corpus;
mod mixtures;
mod parallel_rows;
mod partitions;
mod ranks;
mod resume;
mod runs;
mod stream_types;
mod timelines;
mod workers;

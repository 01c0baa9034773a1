//! Tables as a [`Source`](seqfeed_core::Source) of sequences for the feed.
//!
//! Opening reads keys and headers only. So [`header`] knows the shape of objects apart from their
//! data, and [`decode`] decodes parts of them straight into the feed's blocks.

mod archive;
mod decode;
mod entry;
mod examined;
mod files;
pub(crate) mod header;
mod headers;
mod lengths;
mod options;
mod placement;
mod sparse_source;
mod spooler;
mod table_source;
mod wave_source;

pub use options::{Role, TableOptions};
pub use sparse_source::SparseSource;
pub use table_source::TableSource;
pub use wave_source::WaveSource;

//! CNTK's text format: its grammar, its index, its cache, its writer.

pub mod cache;
mod index;
mod writer;

pub use index::{CtfChunk, CtfIndex, CtfSequence};
pub use writer::{Floats, StreamSamples, Writer, WriterStream};

/// What errors call the format.
pub(crate) const CTF: &str = "CTF";

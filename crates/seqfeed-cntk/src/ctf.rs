//! CNTK's text format: its grammar, its index, its cache, its writer.

pub mod cache;
mod index;

pub use index::{CtfChunk, CtfIndex, CtfSequence};

/// What errors call the format.
pub(crate) const CTF: &str = "CTF";

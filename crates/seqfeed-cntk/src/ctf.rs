//! CNTK's text format: its grammar, its index, its cache, its writer.

mod index;
mod infer;

pub use index::{CtfChunk, CtfIndex, CtfSequence};
pub use infer::{FoundInput, InputFinder};

/// What errors call the format.
pub(crate) const CTF: &str = "CTF";

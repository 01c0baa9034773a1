//! The key of a chunk in memory: the chunk and its sweep.

/// A chunk in a sweep. Random transforms give it other values in each sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SweptChunk {
    pub(crate) sweep: u64,
    pub(crate) chunk: u32,
}

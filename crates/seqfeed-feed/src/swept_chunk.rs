//! Which chunks are in memory: each as it is in a sweep.

/// A chunk in a sweep: random transforms give it other values in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SweptChunk {
    pub(crate) sweep: u64,
    pub(crate) chunk: u32,
}

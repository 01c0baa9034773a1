//! Which sequences a file holds, where they lie, and how they are grouped into chunks.

use std::ops::Range;

/// A sequence of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CtfSequence {
    /// Its key: the id as a number; the number of its line; the number or hash of its symbolic id.
    pub key: u64,
    /// Where its first byte lies in the (decompressed) file.
    pub offset: u64,
    /// How many bytes it has.
    pub bytes: u32,
    /// How many samples: its lines, or those lines that hold the stream that defines the
    /// minibatch's size.
    pub samples: u32,
}

/// A run of sequences that are loaded together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CtfChunk {
    /// Its sequences.
    pub sequences: Range<u32>,
    /// Its bytes in the file, gaps included.
    pub bytes: Range<u64>,
}

/// The sequences of a file, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CtfIndex {
    /// The sequences.
    pub sequences: Vec<CtfSequence>,
    /// The symbolic ids by their number, where ids are symbolic and not hashed.
    pub names: Vec<Box<[u8]>>,
    /// Length of the (decompressed) file in bytes.
    pub file_bytes: u64,
}

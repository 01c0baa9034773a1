//! The index of a file: sequences, positions, chunks.

use std::ops::Range;

/// A sequence of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CtfSequence {
    /// Its key: the id as a number; the number of its line; the number or hash of its symbolic id.
    pub key: u64,
    /// The offset of its first byte in the (decompressed) file.
    pub offset: u64,
    /// The number of its bytes.
    pub bytes: u32,
    /// The number of its samples: its lines, or those of its lines with the stream that defines the
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
    /// The symbolic ids by their number, if ids are symbolic and not hashed.
    pub names: Vec<Box<[u8]>>,
    /// Length of the (decompressed) file in bytes.
    pub file_bytes: u64,
}

impl CtfIndex {
    /// Groups the sequences into chunks as CNTK does. A chunk ends before the sequence that would
    /// make it larger than `limit` bytes, or than the file. Gaps inside a chunk count. A sequence
    /// larger than the limit is a chunk of its own.
    ///
    /// CNTK's `chunkSizeInBytes` is 32 MiB unless set.
    #[must_use]
    pub fn chunks(&self, limit: u64) -> Vec<CtfChunk> {
        let limit = limit.min(self.file_bytes);
        let mut chunks: Vec<CtfChunk> = Vec::new();
        for (number, sequence) in (0..).zip(&self.sequences) {
            let bytes = u64::from(sequence.bytes);
            let end = sequence.offset.saturating_add(bytes);
            match chunks.last_mut() {
                // The gap before a sequence counts only when the next sequence comes.
                Some(chunk)
                    if (chunk.bytes.end - chunk.bytes.start).saturating_add(bytes) <= limit =>
                {
                    chunk.sequences.end = number + 1;
                    // An index from elsewhere may be false.
                    chunk.bytes.end = end.max(chunk.bytes.end);
                }
                _ => chunks
                    .push(CtfChunk { sequences: number..number + 1, bytes: sequence.offset..end }),
            }
        }
        chunks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(places: &[(u64, u32)]) -> CtfIndex {
        let sequences = places
            .iter()
            .map(|&(offset, bytes)| CtfSequence { key: 0, offset, bytes, samples: 1 })
            .collect();
        CtfIndex { sequences, names: Vec::new(), file_bytes: 1000 }
    }

    #[test]
    fn chunks_end_at_the_limit() {
        let chunks = |limit| {
            index(&[(0, 10), (10, 10), (25, 10), (35, 40), (75, 1)])
                .chunks(limit)
                .into_iter()
                .map(|chunk| (chunk.sequences, chunk.bytes))
                .collect::<Vec<_>>()
        };
        assert_eq!(chunks(1 << 40), [(0..5, 0..76)]);
        // The gap of 5 bytes does not count when the sequence behind it is added.
        assert_eq!(chunks(30), [(0..3, 0..35), (3..4, 35..75), (4..5, 75..76)]);
        assert_eq!(chunks(29), [(0..2, 0..20), (2..3, 25..35), (3..4, 35..75), (4..5, 75..76)]);
        assert_eq!(chunks(0).len(), 5);
        assert_eq!(CtfIndex::default().chunks(5), []);
    }
}

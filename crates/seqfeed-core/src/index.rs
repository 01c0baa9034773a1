//! The list of sequences: keys, lengths, chunks.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::keys::Keys;
use crate::{Key, Offsets};

/// The sequences of a source: keys, lengths, chunks.
///
/// Sequences are numbered from 0 in the order of the source. A *chunk* is a run of sequences that
/// are loaded and dropped together. The index takes about 8 bytes a sequence plus the key, or 4 if
/// all sequences are equally long. An index that is made [like](IndexBuilder::like) another one
/// shares what is the same.
#[derive(Clone)]
pub struct Index {
    keys: Arc<Keys>,
    /// The number of samples before each sequence; one entry more than sequences.
    starts: Arc<Offsets>,
    /// The first sequence of each chunk; one entry more than chunks.
    chunks: Vec<u32>,
    /// The numbers of masked sequences, ascending.
    masked: Vec<u32>,
    /// The digest, once it is known: each feed asks for it.
    digest: OnceLock<u64>,
}

impl PartialEq for Index {
    fn eq(&self, other: &Self) -> bool {
        self.starts == other.starts
            && self.chunks == other.chunks
            && self.masked == other.masked
            && self.keys == other.keys
    }
}

impl Eq for Index {}

impl Index {
    /// Number of sequences.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are no sequences.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The key of a sequence.
    ///
    /// # Panics
    ///
    /// If there is no such sequence. This holds for all methods here.
    #[must_use]
    pub fn key(&self, sequence: u32) -> Key<'_> {
        self.keys.get(sequence as usize)
    }

    /// Length of a sequence in samples.
    #[must_use]
    pub fn samples(&self, sequence: u32) -> u32 {
        let i = sequence as usize;
        (self.starts.get(i + 1) - self.starts.get(i)) as u32
    }

    /// Number of samples before a sequence. For the number of sequences, it is the number of all
    /// samples.
    #[must_use]
    pub fn start(&self, sequence: u32) -> u64 {
        self.starts.get(sequence as usize)
    }

    /// Number of all samples.
    #[must_use]
    pub fn total_samples(&self) -> u64 {
        self.starts.last()
    }

    /// The sequence in `sequences` that holds sample number `sample`, counted from the first sample
    /// of the source.
    #[must_use]
    pub fn sequence_at(&self, sample: u64, sequences: Range<u32>) -> u32 {
        let (low, high) = (sequences.start as usize, sequences.end as usize);
        let after = self.starts.partition_point(low..high + 1, |start| start <= sample);
        (after - 1) as u32
    }

    /// Number of chunks.
    #[must_use]
    pub fn chunk_count(&self) -> usize {
        self.chunks.len() - 1
    }

    /// The sequences of a chunk.
    #[must_use]
    pub fn chunk(&self, chunk: usize) -> Range<u32> {
        self.chunks[chunk]..self.chunks[chunk + 1]
    }

    /// Number of samples in a chunk.
    #[must_use]
    pub fn chunk_samples(&self, chunk: usize) -> u64 {
        let sequences = self.chunk(chunk);
        self.start(sequences.end) - self.start(sequences.start)
    }

    /// Whether a sequence is masked. A masked sequence has a number, a key and a length, and its
    /// samples count in positions. But it has no data, and its blocks are empty.
    #[must_use]
    #[inline]
    pub fn is_masked(&self, sequence: u32) -> bool {
        !self.masked.is_empty() && self.masked.binary_search(&sequence).is_ok()
    }

    /// Whether any sequence is [masked](Index::is_masked).
    #[must_use]
    #[inline]
    pub fn has_masked(&self) -> bool {
        !self.masked.is_empty()
    }

    /// The sequences of a range that have data: all but the [masked](Index::is_masked) ones.
    pub fn unmasked(&self, sequences: Range<u32>) -> impl Iterator<Item = u32> + Clone + use<'_> {
        sequences.filter(|&sequence| !self.is_masked(sequence))
    }

    /// A 64-bit FNV-1a digest of keys, lengths and chunks. Two sources with the same digest give
    /// the same orders.
    #[must_use]
    pub fn digest(&self) -> u64 {
        *self.digest.get_or_init(|| self.compute_digest())
    }

    fn compute_digest(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        let mut add = |bytes: &[u8]| {
            for &byte in bytes {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        };
        add(self.keys.bytes());
        for sequence in 0..self.len() as u32 {
            add(&self.samples(sequence).to_le_bytes());
        }
        for chunk in &self.chunks {
            add(&chunk.to_le_bytes());
        }
        for sequence in &self.masked {
            add(&sequence.to_le_bytes());
        }
        hash
    }
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index")
            .field("sequences", &self.len())
            .field("samples", &self.total_samples())
            .field("chunks", &self.chunk_count())
            .finish_non_exhaustive()
    }
}

/// Makes an [`Index`] sequence by sequence.
///
/// ```
/// use seqfeed_core::{IndexBuilder, Key};
///
/// let mut builder = IndexBuilder::new(100);
/// for (key, samples) in [(b"a", 60), (b"b", 60), (b"c", 40)] {
///     builder.push(Key(key), samples);
/// }
/// let index = builder.finish();
/// assert_eq!(index.total_samples(), 160);
/// assert_eq!(index.chunk(1), 1..3); // "b" would have made the first chunk longer than 100 samples
/// ```
#[derive(Debug)]
pub struct IndexBuilder {
    keys: Building,
    starts: Offsets,
    chunks: Vec<u32>,
    masked: Vec<u32>,
    chunk_samples: u64,
    like: Option<Arc<Index>>,
}

/// The keys of an index that is being built.
#[derive(Debug)]
enum Building {
    /// As many of the first keys of the other index as there are sequences.
    Same,
    Own(Keys),
}

impl IndexBuilder {
    /// Starts an index whose chunks hold at most `chunk_samples` samples. A longer sequence is a
    /// chunk of its own.
    #[must_use]
    pub fn new(chunk_samples: u64) -> Self {
        Self {
            keys: Building::Own(Keys::default()),
            starts: Offsets::from_iter([0]),
            chunks: vec![0],
            masked: Vec::new(),
            chunk_samples: chunk_samples.max(1),
            like: None,
        }
    }

    /// Starts an index that likely has the keys of another one, in the same order. If so, they are
    /// in memory once. The same holds for lengths. Without another one, it is [`new`](Self::new).
    #[must_use]
    pub fn like<'a>(index: impl Into<Option<&'a Arc<Index>>>, chunk_samples: u64) -> Self {
        let new = Self::new(chunk_samples);
        match index.into() {
            Some(index) => Self { keys: Building::Same, like: Some(Arc::clone(index)), ..new },
            None => new,
        }
    }

    /// Adds a sequence.
    ///
    /// # Panics
    ///
    /// If there are 2^32 - 1 sequences already.
    pub fn push(&mut self, key: Key<'_>, samples: u32) {
        let number = u32::try_from(self.len()).expect("fewer than 2^32 sequences");
        assert!(number < u32::MAX, "fewer than 2^32 sequences");
        self.push_key(number, key);
        let end = self.starts.last() + u64::from(samples);
        let chunk_start = *self.chunks.last().expect("one entry at least");
        if number > chunk_start && end - self.starts.get(chunk_start as usize) > self.chunk_samples
        {
            self.chunks.push(number);
        }
        self.starts.push(end);
    }

    fn push_key(&mut self, number: u32, key: Key<'_>) {
        match (&mut self.keys, &self.like) {
            (Building::Same, Some(like))
                if (number as usize) < like.len() && like.key(number) == key => {}
            (Building::Same, Some(like)) => {
                let mut own = like.keys.first(number as usize);
                own.push(key);
                self.keys = Building::Own(own);
            }
            (Building::Same, None) => unreachable!("there is an index like this one"),
            (Building::Own(keys), _) => keys.push(key),
        }
    }

    /// Adds a [masked](Index::is_masked) sequence.
    ///
    /// # Panics
    ///
    /// The same as [`push`](IndexBuilder::push).
    pub fn push_masked(&mut self, key: Key<'_>, samples: u32) {
        self.masked.push(self.len() as u32);
        self.push(key, samples);
    }

    /// Ends the current chunk, unless it is empty. The next sequence begins a new one.
    pub fn end_chunk(&mut self) {
        let sequences = self.len() as u32;
        if *self.chunks.last().expect("one entry at least") < sequences {
            self.chunks.push(sequences);
        }
    }

    /// Number of sequences so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are no sequences yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ends the index.
    #[must_use]
    pub fn finish(mut self) -> Index {
        self.end_chunk();
        let Self { keys, mut starts, mut chunks, masked, like, .. } = self;
        let len = starts.len() - 1;
        let like = like.as_deref();
        let keys = match (keys, like) {
            (Building::Own(mut keys), _) => {
                keys.shrink_to_fit();
                Arc::new(keys)
            }
            (Building::Same, Some(like)) if len == like.len() => Arc::clone(&like.keys),
            (Building::Same, like) => {
                Arc::new(like.map_or_else(Keys::default, |like| like.keys.first(len)))
            }
        };
        let starts = match like {
            Some(like) if *like.starts == starts => Arc::clone(&like.starts),
            _ => {
                starts.shrink_to_fit();
                Arc::new(starts)
            }
        };
        chunks.shrink_to_fit();
        Index { keys, starts, chunks, masked, digest: OnceLock::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(lengths: &[u32], chunk: u64) -> Index {
        let mut builder = IndexBuilder::new(chunk);
        for (i, &samples) in lengths.iter().enumerate() {
            builder.push(Key(format!("u{i}").as_bytes()), samples);
        }
        builder.finish()
    }

    #[test]
    fn chunks_keep_their_size() {
        let index = index(&[5, 5, 1, 20, 3, 3, 3, 2], 10);
        let chunks: Vec<_> = (0..index.chunk_count()).map(|c| index.chunk(c)).collect();
        assert_eq!(chunks, [0..2, 2..3, 3..4, 4..7, 7..8]);
        assert_eq!(index.chunk_samples(2), 20);
        assert_eq!((index.start(3), index.samples(3), index.key(3)), (11, 20, Key(b"u3")));
    }

    #[test]
    fn chunks_end_where_they_are_told_to() {
        let mut builder = IndexBuilder::new(10);
        for (samples, ends) in [(2, true), (3, false), (3, true), (9, false), (9, false)] {
            builder.push(Key(b"u"), samples);
            for _ in 0..2 * u32::from(ends) {
                builder.end_chunk();
            }
        }
        let index = builder.finish();
        let chunks: Vec<_> = (0..index.chunk_count()).map(|c| index.chunk(c)).collect();
        assert_eq!(chunks, [0..1, 1..3, 3..4, 4..5]);
    }

    #[test]
    fn keys_and_lengths_that_are_the_same_are_in_memory_once() {
        let of = |lengths: &[u32], keys: &[&str], like: Option<&Arc<Index>>| {
            let mut builder = IndexBuilder::like(like, 4);
            for (key, samples) in keys.iter().zip(lengths) {
                builder.push(Key(key.as_bytes()), *samples);
            }
            Arc::new(builder.finish())
        };
        let first = of(&[2, 1, 3], &["a", "b", "c"], None);
        for (lengths, keys) in [
            (&[2, 1, 3][..], &["a", "b", "c"][..]),
            (&[2, 1, 2], &["a", "b", "c"]),
            (&[2, 1], &["a", "b"]),
            (&[2, 1, 3, 4], &["a", "b", "c", "d"]),
            (&[2, 1, 3], &["a", "x", "c"]),
            (&[], &[]),
        ] {
            let (like, plain) = (of(lengths, keys, Some(&first)), of(lengths, keys, None));
            assert_eq!(like, plain);
            assert_eq!(like.digest(), plain.digest());
            assert_eq!(Arc::ptr_eq(&like.keys, &first.keys), keys == ["a", "b", "c"]);
            assert_eq!(Arc::ptr_eq(&like.starts, &first.starts), lengths == [2, 1, 3]);
        }
    }

    #[test]
    fn an_empty_index_has_no_chunks() {
        let index = index(&[], 10);
        assert_eq!((index.len(), index.chunk_count(), index.total_samples()), (0, 0, 0));
    }

    #[test]
    fn finds_the_sequence_of_a_sample() {
        let index = index(&[2, 1, 3], 100);
        let found: Vec<u32> = (0..6).map(|s| index.sequence_at(s, 0..3)).collect();
        assert_eq!(found, [0, 0, 1, 2, 2, 2]);
        assert_eq!(index.sequence_at(3, 1..3), 2);
    }

    #[test]
    fn the_digest_tells_corpora_apart() {
        assert_eq!(index(&[2, 1], 9).digest(), index(&[2, 1], 9).digest());
        assert_ne!(index(&[2, 1], 9).digest(), index(&[1, 2], 9).digest());
        assert_ne!(index(&[2, 1], 9).digest(), index(&[2, 1], 2).digest());
    }
}

//! What a format gives.

use std::ops::Range;
use std::sync::Arc;

use crate::{Block, Error, Extent, Index, Result, Stream};

/// Named sequences of samples in one or more streams: what every format gives.
///
/// A source knows its keys and lengths at once (its [`Index`]) and loads any of its sequences when
/// asked. It is shared between threads; [`load`](Source::load) may be called from several at once.
pub trait Source: Send + Sync {
    /// What to call it in messages: the name it was opened by.
    fn name(&self) -> &str;

    /// Its streams, in a fixed order.
    fn streams(&self) -> &[Stream];

    /// Its sequences: keys, lengths in samples, chunks.
    fn index(&self) -> &Arc<Index>;

    /// Loads `sequences` (numbers in [`index`](Source::index), in any order) and adds them, in that
    /// order, to `blocks`, of which there is one a stream.
    ///
    /// # Errors
    ///
    /// Fails where the data cannot be read or are not what the index says; the blocks' contents
    /// are unspecified then.
    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()>;

    /// What is wrong with a sequence, which [`load`](Source::load) would stop at; asked before for each
    /// sequence that a corpus uses. Nothing, where a source cannot tell without loading it.
    fn fault(&self, _sequence: u32) -> Option<Error> {
        None
    }

    /// Loads `sequences` of one stream alone, as [`load`](Source::load) does of all. Worth writing
    /// where others can be left out.
    ///
    /// # Errors
    ///
    /// As [`load`](Source::load).
    fn load_stream(&self, stream: usize, sequences: &[u32], block: &mut Block) -> Result<()> {
        let mut blocks = self.new_blocks();
        std::mem::swap(&mut blocks[stream], block);
        let loaded = self.load(sequences, &mut blocks);
        std::mem::swap(&mut blocks[stream], block);
        loaded
    }

    /// The first sequence of each file that it is made of, ascending from 0. A source is one file
    /// unless it says otherwise.
    fn files(&self) -> Vec<u32> {
        vec![0]
    }

    /// Bytes of memory that a loaded sample takes: all of it, unless samples stay where they are (a
    /// mapped file).
    fn held_bytes(&self) -> u64 {
        let by_samples = self.streams().iter().filter(|stream| stream.extent != Extent::Sequence);
        by_samples.map(|stream| stream.sample_bytes() as u64).sum()
    }

    /// Empty blocks, one a stream.
    fn new_blocks(&self) -> Vec<Block> {
        self.streams().iter().map(Block::of).collect()
    }

    /// Loads the sequences of one chunk of the index.
    ///
    /// # Errors
    ///
    /// As [`load`](Source::load).
    fn load_chunk(&self, chunk: usize, blocks: &mut [Block]) -> Result<()> {
        let Range { start, end } = self.index().chunk(chunk);
        let sequences: Vec<u32> = (start..end).collect();
        self.load(&sequences, blocks)
    }
}

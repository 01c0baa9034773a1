//! What a format gives.

use std::ops::Range;
use std::sync::Arc;

use crate::{About, Block, Draw, Error, Extent, Index, Kind, Most, Remark, Result, Stream};

/// Named sequences of samples in one or more streams: what every format gives.
///
/// A source knows its keys and lengths at once (its [`Index`]) and loads any of its sequences when
/// asked. It is shared between threads; [`load`](Source::load) may be called from several at once.
///
/// A source made of others is a [`Wrapper`](crate::Wrapper).
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

    /// The source as it is in one sweep of a feed, where its values are others in each (random
    /// [transforms](crate::Transform)); nothing where they stay.
    fn in_sweep(&self, draw: Draw) -> Option<Arc<dyn Source>> {
        let _ = draw;
        None
    }

    /// What is known of it beside its data.
    fn about(&self) -> About {
        About::default()
    }

    /// Looks for what [`load`](Source::load) does not come across: checksums, entries that lead to
    /// other keys. May read all files.
    ///
    /// # Errors
    ///
    /// Fails where the environment does; what is wrong with the data is a [`Remark`].
    fn examine(&self) -> Result<Vec<Remark>> {
        Ok(Vec::new())
    }

    /// What is wrong with a sequence, which [`load`](Source::load) would stop at; asked before for
    /// each sequence that a corpus uses. Nothing, where a source cannot tell without loading it.
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

    /// The most that sequences following one another have in a stream. Sources that know of
    /// fewer samples or values say so: where samples are sparse, all possible values are
    /// counted otherwise.
    fn most(&self, stream: usize, sequences: Range<u32>) -> Most {
        let (stream, index) = (&self.streams()[stream], self.index());
        let samples = match stream.extent {
            Extent::Sequence => u64::from(sequences.end - sequences.start),
            Extent::Samples | Extent::Own => {
                index.start(sequences.end) - index.start(sequences.start)
            }
        };
        Most::all_of(stream, samples)
    }

    /// The most that any one sequence has in a stream.
    fn most_of_one(&self, stream: usize) -> Most {
        let (stream, index) = (&self.streams()[stream], self.index());
        let longest = (0..index.len() as u32).map(|sequence| index.samples(sequence)).max();
        Most::all_of(
            stream,
            match stream.extent {
                Extent::Sequence => 1,
                Extent::Samples | Extent::Own => longest.unwrap_or(0).into(),
            },
        )
    }

    /// Whether loaded samples of a stream take memory of their blocks; not where they stay where
    /// they are (in a mapped file, in memory that is [kept](Source::kept_bytes)).
    fn is_held(&self, _stream: usize) -> bool {
        true
    }

    /// Bytes of samples that it keeps in memory whether they are being fed or not, at most.
    fn kept_bytes(&self) -> u64 {
        0
    }

    /// Bytes that a thread needs beside blocks while it loads, at most.
    fn loading_bytes(&self) -> u64 {
        0
    }

    /// Empty blocks, one a stream.
    fn new_blocks(&self) -> Vec<Block> {
        self.streams().iter().map(Block::of).collect()
    }

    /// Loads the sequences of one chunk of the index, and takes the memory for them once.
    ///
    /// # Errors
    ///
    /// As [`load`](Source::load).
    fn load_chunk(&self, chunk: usize, blocks: &mut [Block]) -> Result<()> {
        let Range { start, end } = self.index().chunk(chunk);
        reserve(self, start..end, blocks);
        let sequences: Vec<u32> = (start..end).collect();
        self.load(&sequences, blocks)
    }
}

/// Makes room in blocks for sequences that are loaded next. How many values sparse samples have is
/// not known so well.
pub(crate) fn reserve<S: Source + ?Sized>(source: &S, sequences: Range<u32>, blocks: &mut [Block]) {
    for (number, (stream, block)) in source.streams().iter().zip(blocks).enumerate() {
        if stream.kind != Kind::Sparse && source.is_held(number) {
            let samples = source.most(number, sequences.clone()).samples;
            block.reserve(usize::try_from(samples).unwrap_or(0));
        }
    }
}

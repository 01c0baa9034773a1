//! The trait of readers.

use std::ops::Range;
use std::sync::Arc;

use crate::{About, Block, Draw, Error, Extent, Index, Kind, Most, Remark, Result, Stream};

/// Named sequences of samples in one or more streams. Every format that can be read has a source.
///
/// A source knows its keys and lengths from the start (its [`Index`]), and loads any of its
/// sequences when asked. Threads share it: [`load`](Source::load) may be called from several at
/// once.
///
/// A source made of others is a [`Wrapper`](crate::Wrapper).
pub trait Source: Send + Sync {
    /// Its name in messages: the name that it was opened by.
    fn name(&self) -> &str;

    /// Its streams, in a fixed order.
    fn streams(&self) -> &[Stream];

    /// Its sequences: keys, lengths in samples, chunks.
    fn index(&self) -> &Arc<Index>;

    /// Loads `sequences` (numbers in [`index`](Source::index), in any order) and appends them in
    /// that order to `blocks`. There is one block for each stream.
    ///
    /// # Errors
    ///
    /// Fails if the data cannot be read, or differ from the index. The contents of the blocks are
    /// unspecified then.
    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()>;

    /// The number of samples of a stream in a sequence, if it is known without loading.
    fn length(&self, stream: usize, sequence: u32) -> Option<u32> {
        match self.streams()[stream].extent {
            Extent::Sequence => Some(1),
            Extent::Samples => Some(self.index().samples(sequence)),
            // The index has the lengths of a stream that is alone.
            Extent::Own => (self.streams().len() == 1).then(|| self.index().samples(sequence)),
        }
    }

    /// The source with the values of one sweep of a feed, if its values change from sweep to sweep
    /// (random [transforms](crate::Transform)). `None` if they stay.
    fn in_sweep(&self, draw: Draw) -> Option<Arc<dyn Source>> {
        let _ = draw;
        None
    }

    /// Facts about it beside its data.
    fn about(&self) -> About {
        About::default()
    }

    /// Looks for errors that [`load`](Source::load) does not meet: checksums, entries that lead to
    /// other keys. May read all files.
    ///
    /// # Errors
    ///
    /// Fails only because of the environment. An error in the data is a [`Remark`].
    fn examine(&self) -> Result<Vec<Remark>> {
        Ok(Vec::new())
    }

    /// The error in a sequence that would stop [`load`](Source::load). A corpus asks for each
    /// sequence that it uses before it loads any. `None` if the source cannot tell without loading.
    fn fault(&self, _sequence: u32) -> Option<Error> {
        None
    }

    /// Loads `sequences` of one stream alone, in the way of [`load`](Source::load). Implement it if
    /// a source can leave out the other streams.
    ///
    /// # Errors
    ///
    /// The same as [`load`](Source::load).
    fn load_stream(&self, stream: usize, sequences: &[u32], block: &mut Block) -> Result<()> {
        let mut blocks = self.new_blocks();
        std::mem::swap(&mut blocks[stream], block);
        let loaded = self.load(sequences, &mut blocks);
        std::mem::swap(&mut blocks[stream], block);
        loaded
    }

    /// The first sequence of each of its files, ascending from 0. By default a source is one file.
    fn files(&self) -> Vec<u32> {
        vec![0]
    }

    /// Bytes of memory that a loaded sample takes. By default all of it; nothing if samples stay in
    /// place (a mapped file).
    fn held_bytes(&self) -> u64 {
        let by_samples = self.streams().iter().filter(|stream| stream.extent != Extent::Sequence);
        by_samples.map(|stream| stream.sample_bytes() as u64).sum()
    }

    /// The most samples and values that a run of sequences has in a stream. A source that knows of
    /// fewer says so: by default sparse samples count with all possible values.
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

    /// Whether loaded samples of a stream take memory in their blocks. They do not if they stay in
    /// place (in a mapped file, or in memory that is [kept](Source::kept_bytes)).
    fn is_held(&self, _stream: usize) -> bool {
        true
    }

    /// The most bytes of samples and tables that it keeps in memory, whether they are being fed or
    /// not.
    fn kept_bytes(&self) -> u64 {
        0
    }

    /// The most bytes that a thread needs beside blocks while it loads.
    fn loading_bytes(&self) -> u64 {
        0
    }

    /// Empty blocks, one for each stream.
    fn new_blocks(&self) -> Vec<Block> {
        self.streams().iter().map(Block::of).collect()
    }

    /// Loads the sequences of one chunk of the index, and takes the memory for them once.
    ///
    /// # Errors
    ///
    /// The same as [`load`](Source::load).
    fn load_chunk(&self, chunk: usize, blocks: &mut [Block]) -> Result<()> {
        let Range { start, end } = self.index().chunk(chunk);
        reserve(self, start..end, blocks);
        let sequences: Vec<u32> = (start..end).collect();
        self.load(&sequences, blocks)
    }
}

/// Makes room in blocks for sequences that are loaded next. The number of values of sparse samples
/// is not known exactly.
pub(crate) fn reserve<S: Source + ?Sized>(source: &S, sequences: Range<u32>, blocks: &mut [Block]) {
    for (number, (stream, block)) in source.streams().iter().zip(blocks).enumerate() {
        if stream.kind != Kind::Sparse && source.is_held(number) {
            let samples = source.most(number, sequences.clone()).samples;
            block.reserve(usize::try_from(samples).unwrap_or(0));
        }
    }
}

//! A source that is read once and then kept in memory.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::{About, Block, Draw, Error, Index, Most, Remark, Result, Source, Stream};

/// A source that loads each chunk when it is first asked for, and keeps it from then on: CNTK's
/// `keepDataInMemory`.
///
/// It helps if loading is more than reading: text that is parsed, compressed matrices. It takes the
/// memory of all data.
///
/// A chunk that cannot be loaded as a whole is not kept. Its sequences are loaded one by one, so
/// that only faulty sequences are missing.
pub struct Kept {
    source: Arc<dyn Source>,
    /// The blocks of each chunk that was asked for; `None` for a chunk that cannot be loaded as a
    /// whole.
    chunks: Vec<OnceLock<Option<Vec<Block>>>>,
    /// The chunk of each sequence.
    chunk_of: Vec<u32>,
}

impl Kept {
    /// Keeps what a source loads.
    #[must_use]
    pub fn new(source: Arc<dyn Source>) -> Self {
        let index = source.index();
        let mut chunk_of = Vec::with_capacity(index.len());
        for chunk in 0..index.chunk_count() {
            chunk_of.extend(index.chunk(chunk).map(|_| chunk as u32));
        }
        let chunks = (0..index.chunk_count()).map(|_| OnceLock::new()).collect();
        Self { source, chunks, chunk_of }
    }

    fn chunk(&self, chunk: u32) -> Option<&[Block]> {
        let kept = self.chunks[chunk as usize].get_or_init(|| {
            let mut blocks = self.source.new_blocks();
            self.source.load_chunk(chunk as usize, &mut blocks).ok().map(|()| blocks)
        });
        kept.as_deref()
    }

    /// Runs of sequences of one chunk, with the kept blocks of the chunk and the number of its
    /// first sequence.
    fn runs<'a>(
        &'a self,
        sequences: &'a [u32],
    ) -> impl Iterator<Item = (&'a [u32], Option<(&'a [Block], u32)>)> {
        let chunk_of = |sequence: u32| self.chunk_of[sequence as usize];
        sequences.chunk_by(move |&a, &b| chunk_of(a) == chunk_of(b)).map(move |run| {
            let chunk = chunk_of(run[0]);
            let first = self.source.index().chunk(chunk as usize).start;
            (run, self.chunk(chunk).map(|blocks| (blocks, first)))
        })
    }
}

impl crate::Wrapper for Kept {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn streams(&self) -> &[Stream] {
        self.source.streams()
    }

    fn index(&self) -> &Arc<Index> {
        self.source.index()
    }

    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
        for (run, kept) in self.runs(sequences) {
            let Some((kept, first)) = kept else {
                self.source.load(run, blocks)?;
                continue;
            };
            for &sequence in run {
                for (from, to) in kept.iter().zip(blocks.iter_mut()) {
                    to.push_copy(from, (sequence - first) as usize);
                }
            }
        }
        Ok(())
    }

    fn load_stream(&self, stream: usize, sequences: &[u32], block: &mut Block) -> Result<()> {
        for (run, kept) in self.runs(sequences) {
            match kept {
                None => self.source.load_stream(stream, run, block)?,
                Some((kept, first)) => {
                    run.iter().for_each(|&s| block.push_copy(&kept[stream], (s - first) as usize));
                }
            }
        }
        Ok(())
    }

    fn length(&self, stream: usize, sequence: u32) -> Option<u32> {
        self.source.length(stream, sequence)
    }

    fn in_sweep(&self, draw: Draw) -> Option<Arc<dyn Source>> {
        // Values that change from sweep to sweep are not kept.
        self.source.in_sweep(draw)
    }

    fn about(&self) -> About {
        self.source.about()
    }

    fn examine(&self) -> Result<Vec<Remark>> {
        self.source.examine()
    }

    fn fault(&self, sequence: u32) -> Option<Error> {
        self.source.fault(sequence)
    }

    fn files(&self) -> Vec<u32> {
        self.source.files()
    }

    fn held_bytes(&self) -> u64 {
        self.source.held_bytes()
    }

    fn most(&self, stream: usize, sequences: Range<u32>) -> Most {
        self.source.most(stream, sequences)
    }

    fn most_of_one(&self, stream: usize) -> Most {
        self.source.most_of_one(stream)
    }

    fn is_held(&self, _stream: usize) -> bool {
        // Loaded samples are copies.
        true
    }

    fn kept_bytes(&self) -> u64 {
        let all = 0..self.source.index().len() as u32;
        let held = self.source.streams().iter().enumerate();
        let held = held.filter(|(number, _)| self.source.is_held(*number));
        held.map(|(number, stream)| self.source.most(number, all.clone()).block_bytes(stream))
            .fold(self.source.kept_bytes(), u64::saturating_add)
    }

    fn loading_bytes(&self) -> u64 {
        self.source.loading_bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::{Element, Extent, IndexBuilder, Key, Kind};

    /// Sequence `n` has the sparse samples `n` and nothing; one may be wrong. It counts how often
    /// it is asked.
    struct Counted(Vec<Stream>, Arc<Index>, AtomicU32, Option<u32>);

    impl Counted {
        /// Six sequences in three chunks.
        fn new(wrong: Option<u32>) -> Self {
            let mut builder = IndexBuilder::new(4);
            (0..6).for_each(|_| builder.push(Key(b"k"), 2));
            let stream = |name: &str, kind| Stream {
                name: name.into(),
                kind,
                element: Element::I32,
                dim: 9,
                extent: Extent::Own,
            };
            let mut streams = vec![stream("a", Kind::Label), stream("b", Kind::Sparse)];
            streams[0].dim = 1;
            Self(streams, Arc::new(builder.finish()), AtomicU32::new(0), wrong)
        }
    }

    impl Source for Counted {
        fn name(&self) -> &str {
            "counted"
        }
        fn streams(&self) -> &[Stream] {
            &self.0
        }
        fn index(&self) -> &Arc<Index> {
            &self.1
        }
        fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
            self.2.fetch_add(1, Ordering::Relaxed);
            for &sequence in sequences {
                if self.3 == Some(sequence) {
                    return Err(Error::corpus("wrong"));
                }
                blocks[0].push_i32(2).fill(sequence as i32);
                blocks[1].push_sparse(&7i32.to_ne_bytes(), &[sequence as i32], &[1, 1]);
            }
            Ok(())
        }
    }

    #[test]
    fn loads_each_chunk_once() {
        let counted = Arc::new(Counted::new(None));
        let kept = Kept::new(Arc::clone(&counted) as Arc<dyn Source>);
        for _ in 0..3 {
            let mut blocks = kept.new_blocks();
            kept.load(&[3, 0, 1, 3], &mut blocks).unwrap();
            assert_eq!(blocks[0].samples(0).row(1), 3i32.to_ne_bytes());
            assert_eq!(blocks[1].sparse_samples(3).indices, [3]);
            assert_eq!(blocks[1].sparse_samples(2).values_in(1..2).len(), 0);
        }
        assert_eq!(counted.2.load(Ordering::Relaxed), 2, "two of three chunks, once each");
    }

    #[test]
    fn a_bad_sequence_does_not_take_others_with_it() {
        let kept = Kept::new(Arc::new(Counted::new(Some(1))));
        for _ in 0..2 {
            for sequence in 0..6 {
                let mut blocks = kept.new_blocks();
                let loaded = kept.load(&[sequence], &mut blocks);
                assert_eq!(loaded.is_ok(), sequence != 1, "{sequence}");
                let mut block = Block::of(&kept.streams()[0]);
                let loaded = kept.load_stream(0, &[sequence], &mut block);
                assert_eq!(loaded.is_ok(), sequence != 1, "{sequence}");
            }
        }
    }
}

//! A source that is read once and then kept in memory.

use std::sync::{Arc, OnceLock};

use crate::{Block, Index, Result, Source, Stream};

/// A source whose chunks are loaded when first asked for, and kept from then on: CNTK's
/// `keepDataInMemory`.
///
/// Worth it where loading is more than reading: text that is parsed, compressed matrices. The memory it
/// takes is that of all data; it is none of the feed's bound.
pub struct Kept {
    source: Arc<dyn Source>,
    chunks: Vec<OnceLock<Result<Vec<Block>>>>,
    /// For each sequence its chunk.
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

    fn chunk(&self, chunk: u32) -> Result<&[Block]> {
        let kept = self.chunks[chunk as usize].get_or_init(|| {
            let mut blocks = self.source.new_blocks();
            self.source.load_chunk(chunk as usize, &mut blocks)?;
            Ok(blocks)
        });
        kept.as_deref().map_err(Clone::clone)
    }
}

impl Source for Kept {
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
        for &sequence in sequences {
            let chunk = self.chunk_of[sequence as usize];
            let place = (sequence - self.index().chunk(chunk as usize).start) as usize;
            for (from, to) in self.chunk(chunk)?.iter().zip(blocks.iter_mut()) {
                to.push_copy(from, place);
            }
        }
        Ok(())
    }

    fn files(&self) -> Vec<u32> {
        self.source.files()
    }

    fn held_bytes(&self) -> u64 {
        self.source.held_bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::{Element, Extent, IndexBuilder, Key, Kind};

    /// Sequence `n` has the sparse samples `n` and nothing.
    struct Counted(Vec<Stream>, Arc<Index>, AtomicU32);

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
                blocks[0].push_i32(2).fill(sequence as i32);
                blocks[1].push_sparse(&7i32.to_ne_bytes(), &[sequence as i32], &[1, 1]);
            }
            Ok(())
        }
    }

    #[test]
    fn loads_each_chunk_once() {
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
        let counted = Arc::new(Counted(streams, Arc::new(builder.finish()), AtomicU32::new(0)));
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
}

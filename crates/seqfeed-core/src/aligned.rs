//! A source with given streams: in their order, and with empty ones for those that it lacks.

use std::ops::Range;
use std::sync::Arc;

use crate::{About, Block, Draw, Error, Index, Most, Remark, Result, Source, Stream};

/// A source with the streams of a mixture. Its own ones stand in their order; in the others each
/// sequence is empty.
pub struct Aligned {
    source: Arc<dyn Source>,
    streams: Vec<Stream>,
    /// For each stream its number in the source.
    own: Vec<Option<usize>>,
}

impl Aligned {
    /// Gives a source these streams. Streams mean the same if they have the same name.
    #[must_use]
    pub fn new(source: Arc<dyn Source>, streams: Vec<Stream>) -> Self {
        let own = |name: &str| source.streams().iter().position(|stream| stream.name == name);
        let own = streams.iter().map(|stream| own(&stream.name)).collect();
        Self { source, streams, own }
    }

    /// Exchanges the blocks of streams that the source has.
    fn swap(&self, blocks: &mut [Block], theirs: &mut [Block]) {
        for (block, own) in blocks.iter_mut().zip(&self.own) {
            if let Some(own) = own {
                std::mem::swap(block, &mut theirs[*own]);
            }
        }
    }
}

fn push_empty(block: &mut Block, sequences: usize) {
    for _ in 0..sequences {
        match block.is_sparse() {
            true => block.push_sparse(&[], &[], &[]),
            false => drop(block.push_bytes(0)),
        }
    }
}

impl crate::Wrapper for Aligned {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn streams(&self) -> &[Stream] {
        &self.streams
    }

    fn index(&self) -> &Arc<Index> {
        self.source.index()
    }

    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
        let mut theirs = self.source.new_blocks();
        self.swap(blocks, &mut theirs);
        let loaded = self.source.load(sequences, &mut theirs);
        self.swap(blocks, &mut theirs);
        for (block, own) in blocks.iter_mut().zip(&self.own) {
            if own.is_none() {
                push_empty(block, sequences.len());
            }
        }
        loaded
    }

    fn load_stream(&self, stream: usize, sequences: &[u32], block: &mut Block) -> Result<()> {
        match self.own[stream] {
            Some(own) => self.source.load_stream(own, sequences, block),
            None => {
                push_empty(block, sequences.len());
                Ok(())
            }
        }
    }

    fn length(&self, stream: usize, sequence: u32) -> Option<u32> {
        self.own[stream].map_or(Some(0), |own| self.source.length(own, sequence))
    }

    fn in_sweep(&self, draw: Draw) -> Option<Arc<dyn Source>> {
        let source = self.source.in_sweep(draw)?;
        let (streams, own) = (self.streams.clone(), self.own.clone());
        Some(Arc::new(Self { source, streams, own }))
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
        self.own[stream].map_or_else(Most::default, |own| self.source.most(own, sequences))
    }

    fn most_of_one(&self, stream: usize) -> Most {
        self.own[stream].map_or_else(Most::default, |own| self.source.most_of_one(own))
    }

    fn is_held(&self, stream: usize) -> bool {
        self.own[stream].is_some_and(|own| self.source.is_held(own))
    }

    fn kept_bytes(&self) -> u64 {
        self.source.kept_bytes()
    }

    fn loading_bytes(&self) -> u64 {
        self.source.loading_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Element, Extent, IndexBuilder, Key, Kind};

    /// Two streams of labels: sequence `n` has `n` and `-n`.
    struct Two(Vec<Stream>, Arc<Index>);

    fn labels(name: &str, extent: Extent) -> Stream {
        let (name, kind, element) = (name.to_owned(), Kind::Label, Element::I32);
        Stream { name, kind, element, dim: 1, extent }
    }

    impl Source for Two {
        fn name(&self) -> &str {
            "two"
        }
        fn streams(&self) -> &[Stream] {
            &self.0
        }
        fn index(&self) -> &Arc<Index> {
            &self.1
        }
        fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
            for &sequence in sequences {
                blocks[0].push_i32(1)[0] = sequence as i32;
                blocks[1].push_i32(1)[0] = -(sequence as i32);
            }
            Ok(())
        }
    }

    #[test]
    fn streams_stand_in_their_order_and_missing_ones_are_empty() {
        let mut builder = IndexBuilder::new(9);
        (0..3).for_each(|_| builder.push(Key(b"k"), 1));
        let streams = vec![labels("a", Extent::Samples), labels("b", Extent::Samples)];
        let two = Arc::new(Two(streams.clone(), Arc::new(builder.finish())));
        let wanted = vec![streams[1].clone(), labels("c", Extent::Own), streams[0].clone()];
        let aligned: Arc<dyn Source> = Arc::new(Aligned::new(two, wanted));
        let mut blocks = aligned.new_blocks();
        aligned.load_chunk(0, &mut blocks).unwrap();
        aligned.load(&[1], &mut blocks).unwrap();
        let lengths = blocks.iter().map(|block| (0..4).map(|i| block.sequence_len(i)).sum());
        assert_eq!(lengths.collect::<Vec<usize>>(), [4, 0, 4]);
        let value = |block: &Block, i| block.samples(i).row(0).to_vec();
        assert_eq!(value(&blocks[0], 2), (-2i32).to_ne_bytes());
        assert_eq!(value(&blocks[2], 3), 1i32.to_ne_bytes());
        let mut block = Block::of(&aligned.streams()[1]);
        aligned.load_stream(1, &[0, 2], &mut block).unwrap();
        assert_eq!((block.len(), block.sequence_len(1)), (2, 0));
        assert_eq!(aligned.most(1, 0..3), Most::default());
    }
}

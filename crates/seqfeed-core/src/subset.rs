//! Some of the sequences of a source.

use std::ops::Range;
use std::sync::Arc;

use crate::{
    About, Block, Chunking, Draw, Error, Extent, Index, IndexBuilder, JoinReport, Kind, Most,
    Remark, Result, Source, Stream,
};

/// Some of the sequences of a source, in its order.
pub struct Subset {
    source: Arc<dyn Source>,
    /// Their numbers in the source, ascending.
    numbers: Arc<[u32]>,
    index: Arc<Index>,
    report: JoinReport,
}

impl Subset {
    /// The sequences with these numbers, which ascend, in chunks of their own. `report` says what
    /// was left out.
    ///
    /// # Panics
    ///
    /// If the source has no such sequence.
    #[must_use]
    pub fn new(
        source: Arc<dyn Source>,
        numbers: Vec<u32>,
        chunks: Chunking,
        report: JoinReport,
    ) -> Self {
        let index = source.index();
        let most = match chunks {
            Chunking::Samples(most) => most,
            Chunking::Primary => u64::MAX,
        };
        let mut builder = IndexBuilder::like(index, most);
        let mut chunk = 0;
        for &sequence in &numbers {
            if chunks == Chunking::Primary && sequence >= index.chunk(chunk).end {
                builder.end_chunk();
                while sequence >= index.chunk(chunk).end {
                    chunk += 1;
                }
            }
            let (key, samples) = (index.key(sequence), index.samples(sequence));
            match index.is_masked(sequence) {
                true => builder.push_masked(key, samples),
                false => builder.push(key, samples),
            }
        }
        let index = Arc::new(builder.finish());
        Self { source, numbers: numbers.into(), index, report }
    }

    fn theirs(&self, sequences: &[u32]) -> Vec<u32> {
        sequences.iter().map(|&sequence| self.numbers[sequence as usize]).collect()
    }
}

impl crate::Wrapper for Subset {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn streams(&self) -> &[Stream] {
        self.source.streams()
    }

    fn index(&self) -> &Arc<Index> {
        &self.index
    }

    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
        self.source.load(&self.theirs(sequences), blocks)
    }

    fn load_stream(&self, stream: usize, sequences: &[u32], block: &mut Block) -> Result<()> {
        self.source.load_stream(stream, &self.theirs(sequences), block)
    }

    fn length(&self, stream: usize, sequence: u32) -> Option<u32> {
        self.source.length(stream, self.numbers[sequence as usize])
    }

    fn in_sweep(&self, draw: Draw) -> Option<Arc<dyn Source>> {
        let source = self.source.in_sweep(draw)?;
        let (numbers, index) = (Arc::clone(&self.numbers), Arc::clone(&self.index));
        Some(Arc::new(Self { source, numbers, index, report: self.report.clone() }))
    }

    fn about(&self) -> About {
        let mut about = self.source.about();
        about.report.dropped.extend(self.report.dropped.iter().cloned());
        about
    }

    fn examine(&self) -> Result<Vec<Remark>> {
        self.source.examine()
    }

    fn fault(&self, sequence: u32) -> Option<Error> {
        self.source.fault(self.numbers[sequence as usize])
    }

    fn files(&self) -> Vec<u32> {
        let first = |file: &u32| self.numbers.partition_point(|number| number < file) as u32;
        let mut files: Vec<u32> = self.source.files().iter().map(first).collect();
        files.dedup();
        // Files of which nothing is left.
        files.retain(|&file| file == 0 || (file as usize) < self.numbers.len());
        files
    }

    fn held_bytes(&self) -> u64 {
        self.source.held_bytes()
    }

    fn most(&self, stream: usize, sequences: Range<u32>) -> Most {
        let described = &self.source.streams()[stream];
        if described.kind != Kind::Sparse && described.extent == Extent::Samples {
            let samples = self.index.start(sequences.end) - self.index.start(sequences.start);
            return Most::all_of(described, samples);
        }
        let each = &self.numbers[sequences.start as usize..sequences.end as usize];
        let most = each.iter().map(|&number| self.source.most(stream, number..number + 1));
        most.fold(Most::default(), Most::and)
    }

    fn most_of_one(&self, stream: usize) -> Most {
        let each = 0..self.index.len() as u32;
        let most = each.map(|sequence| crate::Wrapper::most(self, stream, sequence..sequence + 1));
        most.fold(Most::default(), Most::or)
    }

    fn is_held(&self, stream: usize) -> bool {
        self.source.is_held(stream)
    }

    fn kept_bytes(&self) -> u64 {
        self.source.kept_bytes()
    }

    fn loading_bytes(&self) -> u64 {
        self.source.loading_bytes()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{Element, Key};

    /// Two files with chunks of two sequences; sequence `n` has `n + 1` labels `n`. Every fourth is
    /// masked.
    struct Numbers(Vec<Stream>, Arc<Index>);

    impl Numbers {
        fn new(count: u32) -> Arc<Self> {
            let mut builder = IndexBuilder::new(u64::MAX);
            for number in 0..count {
                let key = number.to_string();
                match number % 4 == 3 {
                    true => builder.push_masked(Key(key.as_bytes()), number + 1),
                    false => builder.push(Key(key.as_bytes()), number + 1),
                }
                if number % 2 == 1 {
                    builder.end_chunk();
                }
            }
            let (kind, element) = (Kind::Label, Element::I32);
            let stream =
                Stream { name: "a".to_owned(), kind, element, dim: 1, extent: Extent::Samples };
            Arc::new(Self(vec![stream], Arc::new(builder.finish())))
        }
    }

    impl Source for Numbers {
        fn name(&self) -> &str {
            "numbers"
        }
        fn streams(&self) -> &[Stream] {
            &self.0
        }
        fn index(&self) -> &Arc<Index> {
            &self.1
        }
        fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
            for &sequence in sequences {
                blocks[0].push_i32(sequence as usize + 1).fill(sequence as i32);
            }
            Ok(())
        }
        fn files(&self) -> Vec<u32> {
            vec![0, 4, 6]
        }
    }

    #[test]
    fn keeps_keys_lengths_and_values() {
        let kept = vec![1, 2, 3, 7, 8];
        for (chunking, chunks) in [
            (Chunking::Primary, vec![0..1, 1..3, 3..4, 4..5]),
            (Chunking::Samples(9), vec![0..3, 3..4, 4..5]),
        ] {
            let report = JoinReport::default();
            let subset = Subset::new(Numbers::new(10), kept.clone(), chunking, report);
            let index = Source::index(&subset);
            let found: Vec<_> = (0..index.chunk_count()).map(|chunk| index.chunk(chunk)).collect();
            assert_eq!(found, chunks);
            let mut blocks = subset.new_blocks();
            subset.load(&[4, 0], &mut blocks).unwrap();
            assert_eq!(blocks[0].samples(0).bytes(), [8i32.to_ne_bytes(); 9].as_flattened());
            assert_eq!(blocks[0].samples(1).len(), 2);
            for (place, &number) in kept.iter().enumerate() {
                let place = place as u32;
                assert_eq!(index.key(place).to_string(), number.to_string());
                assert_eq!(index.is_masked(place), number % 4 == 3);
                assert_eq!(Source::length(&subset, 0, place), Some(number + 1));
            }
            assert_eq!(Source::most(&subset, 0, 1..4).samples, 3 + 4 + 8);
            assert_eq!(Source::most_of_one(&subset, 0).samples, 9);
            // Nothing of the second file is left.
            assert_eq!(Source::files(&subset), [0, 3]);
        }
    }
}

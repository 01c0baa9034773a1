//! Statistics of the values of a corpus.

use std::ops::Range;

use bytemuck::Pod;
use seqfeed_core::{Block, Element, Kind, Result, Source, Stream, numbers};
use serde::Serialize;

use super::{Counts, Moments, Number, add_rows};
use crate::runs::{all_cores, each_run};

/// Statistics of the values of a corpus, for each stream.
///
/// ```no_run
/// use seqfeed::{Description, io::Opener};
/// use seqfeed_convert::{Statistics};
///
/// let opened = Description::of_name("scp:feats.scp")?.description.open(&Opener::default())?;
/// let statistics = Statistics::of(opened.corpus().as_ref(), None, |_samples| {})?;
/// for (number, dim) in statistics.streams[0].dims.iter().enumerate() {
///     println!("{number}: {:?} +- {:?}", dim.mean(), dim.std());
/// }
/// # Ok::<(), seqfeed::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statistics {
    /// One for each stream, in the corpus' order.
    pub streams: Vec<StreamStatistics>,
}

/// Statistics of the values of a stream.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StreamStatistics {
    /// The name of the stream.
    pub name: String,
    /// Samples of the stream.
    pub samples: u64,
    /// For dense samples, the moments of each of their values. For sparse samples, the moments of
    /// all given values together. For labels, nothing.
    pub dims: Vec<Moments>,
    /// For labels, the count of each. For sparse samples, how often each index has a value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
}

impl Statistics {
    /// Reads all values of a corpus once, run by run, with this many threads (by default one a
    /// core). The result is the same, bit for bit, for every number of threads. `progress` gets the
    /// number of samples of each finished run.
    ///
    /// # Errors
    ///
    /// Fails if data cannot be read.
    pub fn of(
        source: &dyn Source,
        threads: Option<usize>,
        mut progress: impl FnMut(u64),
    ) -> Result<Self> {
        let new = || source.streams().iter().map(StreamStatistics::new).collect::<Vec<_>>();
        let mut streams = new();
        let index = source.index();
        let work = |run: Range<u32>, blocks: &mut [Block]| {
            source.load(&run.collect::<Vec<u32>>(), blocks)?;
            let mut streams = new();
            for (stream, block) in streams.iter_mut().zip(blocks.iter()) {
                stream.add_block(block);
            }
            Ok(streams)
        };
        each_run(source, threads.unwrap_or_else(all_cores), work, |run, part| {
            streams.iter_mut().zip(&part).for_each(|(stream, part)| stream.merge(part));
            progress(index.start(run.end) - index.start(run.start));
            Ok(())
        })?;
        Ok(Self { streams })
    }
}

impl StreamStatistics {
    pub(crate) fn new(stream: &Stream) -> Self {
        let columns = match stream.kind {
            Kind::Dense => stream.dim,
            Kind::Sparse => 1,
            _ => 0,
        };
        let counts = (stream.kind != Kind::Dense).then(Counts::default);
        let dims = vec![Moments::default(); columns];
        Self { name: stream.name.clone(), samples: 0, dims, counts }
    }

    /// Adds all sequences of a block.
    pub(crate) fn add_block(&mut self, block: &Block) {
        (0..block.len()).for_each(|sequence| self.add(block, sequence));
    }

    /// Adds a sequence of a block.
    pub(crate) fn add(&mut self, block: &Block, sequence: usize) {
        self.samples += block.sequence_len(sequence) as u64;
        let bytes = match block.is_sparse() {
            true => {
                let samples = block.sparse_samples(sequence);
                self.count(samples.indices);
                samples.values
            }
            false => block.samples(sequence).bytes(),
        };
        if self.dims.is_empty() {
            self.count(&numbers::<i32>(bytes));
            return;
        }
        match block.element() {
            Element::F64 => self.add_values::<f64>(bytes),
            Element::I32 => self.add_values::<i32>(bytes),
            _ => self.add_values::<f32>(bytes),
        }
    }

    fn add_values<T: Number + Pod>(&mut self, bytes: &[u8]) {
        add_rows(&mut self.dims, &numbers::<T>(bytes));
    }

    fn count(&mut self, classes: &[i32]) {
        if let Some(counts) = &mut self.counts {
            counts.add(classes);
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.samples += other.samples;
        self.dims.iter_mut().zip(&other.dims).for_each(|(dim, part)| dim.merge(part));
        if let (Some(counts), Some(part)) = (&mut self.counts, &other.counts) {
            counts.merge(part);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use seqfeed_core::{Extent, Index, IndexBuilder, Key};

    use super::*;

    /// Sequences of values that follow from their numbers.
    struct Numbers {
        streams: Vec<Stream>,
        index: Arc<Index>,
    }

    impl Numbers {
        fn new(sequences: u32) -> Self {
            let stream = |name: &str, kind, element, dim| Stream {
                name: name.to_owned(),
                kind,
                element,
                dim,
                extent: Extent::Samples,
            };
            let mut index = IndexBuilder::new(1000);
            for sequence in 0..sequences {
                index.push(Key(sequence.to_string().as_bytes()), 1 + sequence * 37 % 900);
            }
            let streams = vec![
                stream("features", Kind::Dense, Element::F32, 11),
                stream("labels", Kind::Label, Element::I32, 1),
            ];
            Self { streams, index: Arc::new(index.finish()) }
        }

        fn value(sequence: u32, number: usize) -> f32 {
            ((sequence as usize * 7919 + number * 104_729) % 10_007) as f32 / 100.0 + 1e4
        }
    }

    impl Source for Numbers {
        fn name(&self) -> &str {
            "numbers"
        }

        fn streams(&self) -> &[Stream] {
            &self.streams
        }

        fn index(&self) -> &Arc<Index> {
            &self.index
        }

        fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
            for &sequence in sequences {
                let samples = self.index.samples(sequence) as usize;
                let values = blocks[0].push_f32(samples);
                for (number, value) in values.iter_mut().enumerate() {
                    *value = Self::value(sequence, number);
                }
                let labels = blocks[1].push_i32(samples);
                labels.iter_mut().enumerate().for_each(|(at, label)| *label = (at % 5) as i32);
            }
            Ok(())
        }
    }

    #[test]
    fn one_pass_with_any_number_of_threads_is_as_two_plain_ones() {
        let source = Numbers::new(500);
        let total = source.index().total_samples();
        assert!(total > 200_000);
        let mut seen = 0;
        let one = Statistics::of(&source, Some(1), |done| seen += done).unwrap();
        assert_eq!(seen, total);
        for threads in [2, 3, 8] {
            assert_eq!(Statistics::of(&source, Some(threads), |_| {}).unwrap(), one);
        }
        let column = |dim: usize| {
            (0..500u32).flat_map(move |sequence| {
                let samples = 1 + sequence * 37 % 900;
                (0..samples as usize)
                    .map(move |at| f64::from(Numbers::value(sequence, at * 11 + dim)))
            })
        };
        for (dim, moments) in one.streams[0].dims.iter().enumerate() {
            let mean = column(dim).sum::<f64>() / total as f64;
            let squares: f64 = column(dim).map(|value| (value - mean).powi(2)).sum();
            let std = (squares / total as f64).sqrt();
            assert!((moments.mean().unwrap() - mean).abs() < 1e-8, "{dim}");
            assert!((moments.std().unwrap() - std).abs() < 1e-8, "{dim}");
            assert_eq!(moments.count(), total);
        }
        let labels: Vec<(i32, u64)> = one.streams[1].counts.as_ref().unwrap().iter().collect();
        assert_eq!((labels.len(), labels.iter().map(|(_, count)| count).sum::<u64>()), (5, total));
    }
}

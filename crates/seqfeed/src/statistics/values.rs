//! What the values of a corpus are.

use std::borrow::Cow;
use std::ops::Range;

use bytemuck::Pod;
use seqfeed_core::{Block, Element, Kind, Result, Source, Stream};
use serde::Serialize;

use super::{Counts, Moments, Number, add_rows};
use crate::runs::{all_cores, each_run};

/// What the values of a corpus are, stream by stream.
///
/// ```no_run
/// use seqfeed::{Description, Statistics, io::Policy};
///
/// let opened = Description::of_name("scp:feats.scp")?.description.open(Policy::default())?;
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

/// What the values of a stream are.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StreamStatistics {
    /// The name of the stream.
    pub name: String,
    /// Samples of the stream.
    pub samples: u64,
    /// Of dense samples: for each of their values; of sparse ones: for all values that are given, together;
    /// of labels: nothing.
    pub dims: Vec<Moments>,
    /// Of labels: how often each occurs; of sparse samples: how often each index has a value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
}

impl Statistics {
    /// Goes through all values of a corpus once, run by run, with as many threads (by default one a core).
    /// The result is the same, bit for bit, for every number of threads. `progress` is told the samples of
    /// each run that is done.
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

/// Bytes as the numbers they are; copied where they do not lie as such (in a mapped file).
pub(crate) fn numbers<T: Pod>(bytes: &[u8]) -> Cow<'_, [T]> {
    match bytemuck::try_cast_slice(bytes) {
        Ok(numbers) => Cow::Borrowed(numbers),
        Err(_) => Cow::Owned(bytemuck::pod_collect_to_vec(bytes)),
    }
}

//! One sequence of a corpus in memory, for display and comparison.

use std::ops::Range;

use seqfeed_core::{Block, Element, Key, Kind, Result, Source, Stream, numbers};

/// One sequence of a corpus, with all its streams.
#[derive(Debug)]
pub struct Sequence {
    key: Vec<u8>,
    streams: Vec<SequenceStream>,
}

/// The samples of one sequence in one stream.
#[derive(Debug)]
pub struct SequenceStream {
    stream: Stream,
    block: Block,
    range: Range<usize>,
}

/// One sample.
#[derive(Clone, Debug, PartialEq)]
pub enum Sample {
    /// All values, as 64-bit floats.
    Dense(Vec<f64>),
    /// The given values, with their indices.
    Sparse(Vec<(i32, f64)>),
    /// A class.
    Label(i32),
}

impl Sequence {
    /// The number of the first sequence with a key.
    #[must_use]
    pub fn find(source: &dyn Source, key: Key<'_>) -> Option<u32> {
        let index = source.index();
        (0..index.len() as u32).find(|&sequence| index.key(sequence) == key)
    }

    /// Loads a sequence by its number in the source's index.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be read.
    ///
    /// # Panics
    ///
    /// If there is no such sequence.
    pub fn load(source: &dyn Source, sequence: u32) -> Result<Self> {
        let mut blocks = source.new_blocks();
        source.load(&[sequence], &mut blocks)?;
        let streams = source.streams().iter().zip(blocks).map(|(stream, block)| SequenceStream {
            stream: stream.clone(),
            range: 0..block.sequence_len(0),
            block,
        });
        Ok(Self { key: source.index().key(sequence).0.to_vec(), streams: streams.collect() })
    }

    /// Its key.
    #[must_use]
    pub fn key(&self) -> Key<'_> {
        Key(&self.key)
    }

    /// Its streams, in the order of the source.
    #[must_use]
    pub fn streams(&self) -> &[SequenceStream] {
        &self.streams
    }

    /// Leaves out all streams but the one with a name. Returns whether there is one.
    pub fn keep_stream(&mut self, name: &str) -> bool {
        self.streams.retain(|stream| stream.stream.name == name);
        !self.streams.is_empty()
    }

    /// Leaves out the samples outside of a range. Streams with one sample a sequence stay.
    pub fn keep_samples(&mut self, range: &Range<usize>) {
        for stream in &mut self.streams {
            if stream.stream.extent != seqfeed_core::Extent::Sequence {
                let end = range.end.min(stream.range.end);
                stream.range = range.start.min(end)..end;
            }
        }
    }
}

impl SequenceStream {
    /// The stream.
    #[must_use]
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The range of the samples that are here.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// A sample with a number in [`range`](SequenceStream::range).
    ///
    /// # Panics
    ///
    /// If there is no such sample.
    #[must_use]
    pub fn sample(&self, sample: usize) -> Sample {
        if self.block.is_sparse() {
            let samples = self.block.sparse_samples(0);
            let given = samples.values_in(sample..sample + 1);
            let size = self.stream.element.size();
            let values = self.floats(&samples.values[given.start * size..given.end * size]);
            return Sample::Sparse(samples.indices[given].iter().copied().zip(values).collect());
        }
        let row = self.block.samples(0).row(sample);
        match self.stream.kind {
            Kind::Label => Sample::Label(numbers::<i32>(row).first().copied().unwrap_or(0)),
            _ => Sample::Dense(self.floats(row)),
        }
    }

    /// Whether samples are equal, bit for bit and of the same type. Sparse ones are not compared.
    #[must_use]
    pub fn same_bytes(&self, other: &Self) -> bool {
        let rows = |stream: &Self| (!stream.block.is_sparse()).then(|| stream.range.clone());
        match (rows(self), rows(other)) {
            (Some(ours), Some(theirs)) => {
                (self.stream.element, self.stream.dim) == (other.stream.element, other.stream.dim)
                    && self.stream.kind == other.stream.kind
                    && self.block.samples(0).rows(ours) == other.block.samples(0).rows(theirs)
            }
            _ => false,
        }
    }

    /// All samples here.
    pub fn samples(&self) -> impl Iterator<Item = Sample> {
        self.range().map(|sample| self.sample(sample))
    }

    fn floats(&self, bytes: &[u8]) -> Vec<f64> {
        match self.stream.element {
            Element::F64 => numbers::<f64>(bytes).into_owned(),
            Element::I32 => numbers::<i32>(bytes).iter().map(|&value| value.into()).collect(),
            _ => numbers::<f32>(bytes).iter().map(|&value| value.into()).collect(),
        }
    }
}

//! The parsed samples of a sequence.

/// The samples of one sequence in all its streams. The next sequence uses its memory again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SequenceSamples<T> {
    /// The streams, in the order of the inputs.
    pub streams: Vec<StreamSamples<T>>,
}

/// The samples of one sequence in one stream. Streams of a sequence may differ in number of
/// samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamSamples<T> {
    /// The values. Dense: `samples` rows of `dim` values. Sparse: the values of the pairs.
    pub values: Vec<T>,
    /// The indices of sparse values, in the order of the file. They need not be sorted, and an
    /// index may be repeated (as a dense value, the last one counts).
    pub indices: Vec<u32>,
    /// The end of each sparse sample in `values` and `indices`.
    pub sample_ends: Vec<u32>,
    /// The number of samples.
    pub samples: u32,
}

impl<T> SequenceSamples<T> {
    /// No samples.
    #[must_use]
    pub fn new() -> Self {
        Self { streams: Vec::new() }
    }

    /// Clears all samples, and keeps the memory.
    pub(super) fn clear(&mut self, streams: usize) {
        self.streams.truncate(streams);
        for stream in &mut self.streams {
            stream.values.clear();
            stream.indices.clear();
            stream.sample_ends.clear();
            stream.samples = 0;
        }
        self.streams.resize_with(streams, StreamSamples::new);
    }
}

impl<T> StreamSamples<T> {
    fn new() -> Self {
        Self { values: Vec::new(), indices: Vec::new(), sample_ends: Vec::new(), samples: 0 }
    }

    /// Ends a sparse sample.
    pub(super) fn end_sparse(&mut self) {
        // A pair takes three bytes of at most 4 GiB.
        self.sample_ends.push(self.values.len() as u32);
        self.samples += 1;
    }
}

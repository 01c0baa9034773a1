//! Writes a corpus as numpy's arrays: pickles, `.npy` and `.npz` files.

use seqfeed_core::{Block, Error, Key, Kind, Result, Sink, Stream, Written, numbers};
use seqfeed_io::{Opener, WxFilename, name_to_text};
use seqfeed_pdnn::pickle::{ArraysLayout, ArraysWriter, Container};

use crate::formats::one_stream;

/// Writes the samples of all sequences as one matrix, with labels if there are any.
pub(crate) struct ArraysSink {
    name: String,
    writer: ArraysWriter,
    features: usize,
    labels: Option<usize>,
}

impl ArraysSink {
    /// `samples` is the number of samples that will come.
    pub(crate) fn create(
        name: &WxFilename,
        container: Container,
        streams: &[Stream],
        samples: u64,
        opener: &Opener,
    ) -> Result<Self> {
        let Some(features) = one_stream(streams, "floats", |kind| kind == Kind::Dense)? else {
            return Err(Error::usage("there is no stream of floats to be written as a matrix"));
        };
        let labels = one_stream(streams, "labels", |kind| kind == Kind::Label)?;
        let Stream { dim, element, .. } = streams[features];
        let layout = ArraysLayout { rows: samples, dim, element, labels: labels.is_some() };
        let writer = ArraysWriter::create(name, container, layout, opener)?;
        Ok(Self { name: name_to_text(name.name()), writer, features, labels })
    }
}

impl Sink for ArraysSink {
    fn write(&mut self, key: Key<'_>, blocks: &[Block], number: usize) -> Result<()> {
        let labels = self.labels.map(|stream| numbers(blocks[stream].samples(number).bytes()));
        let labels = labels.unwrap_or_default();
        let features = blocks[self.features].samples(number).bytes();
        self.writer.write(features, &labels).map_err(|error| error.of_key(key))
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        let bytes = self.writer.finish()?;
        Ok(Written { files: vec![self.name], bytes })
    }
}

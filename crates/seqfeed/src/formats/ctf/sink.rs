//! Writes a corpus as CTF.

use std::io::Write;

use seqfeed_cntk::ctf::{Writer, WriterSamples, WriterStream};
use seqfeed_core::{Block, Element, Error, Key, Kind, Result, Sink, Stream, Written};
use seqfeed_io::CompressedOutput;

use crate::formats::finished;
use crate::formats::values::Values;

/// The most classes of labels: the range of CTF's indices.
const CLASSES: usize = i32::MAX as usize;

/// Writes CTF: dense streams as dense inputs, sparse streams as sparse inputs, labels as sparse
/// samples with one value.
pub(crate) struct CtfSink<W> {
    writer: Writer<W>,
    streams: Vec<StreamText>,
}

/// One stream, with memory that is used again.
struct StreamText {
    stream: Stream,
    floats: Values<f32>,
    doubles: Values<f64>,
    labels: Values<i32>,
    indices: Vec<u32>,
    ends: Vec<u32>,
    ones: Vec<f32>,
}

impl<W: Write> CtfSink<W> {
    pub(crate) fn new(out: W, streams: &[Stream], number_sequences: bool) -> Result<Self> {
        let written = streams.iter().map(|stream| match stream.kind {
            Kind::Dense => WriterStream::dense(&stream.name, stream.dim),
            Kind::Sparse => WriterStream::sparse(&stream.name, stream.dim),
            _ => WriterStream::sparse(&stream.name, CLASSES),
        });
        let mut writer = Writer::new(out, written.collect())?;
        if number_sequences {
            writer = writer.number_sequences();
        }
        Ok(Self { writer, streams: streams.iter().map(StreamText::new).collect() })
    }

    pub(crate) fn write_sequence(
        &mut self,
        key: Key<'_>,
        blocks: &[Block],
        number: usize,
    ) -> Result<()> {
        let samples: Vec<WriterSamples<'_>> = self
            .streams
            .iter_mut()
            .zip(blocks)
            .map(|(stream, block)| stream.samples(block, number, key))
            .collect::<Result<_>>()?;
        self.writer.write_sequence(key, &samples)
    }

    /// Ends the text, and returns the writer.
    pub(crate) fn end(self) -> Result<W> {
        self.writer.finish()
    }
}

impl StreamText {
    fn new(stream: &Stream) -> Self {
        Self {
            stream: stream.clone(),
            floats: Values::default(),
            doubles: Values::default(),
            labels: Values::default(),
            indices: Vec::new(),
            ends: Vec::new(),
            ones: Vec::new(),
        }
    }

    fn samples<'a>(
        &'a mut self,
        block: &'a Block,
        number: usize,
        key: Key<'_>,
    ) -> Result<WriterSamples<'a>> {
        let Self { stream, floats, doubles, labels, indices, ends, ones } = self;
        if stream.kind == Kind::Sparse {
            let samples = block.sparse_samples(number);
            indices.clear();
            // Indices lie between 0 and the dim.
            indices.extend(samples.indices.iter().map(|&index| index.unsigned_abs()));
            ends.clear();
            ends.extend((1..=samples.len()).map(|end| samples.values_in(0..end).end as u32));
            return Ok(match stream.element {
                Element::F64 => WriterSamples::sparse(doubles.of(samples.values), indices, ends),
                _ => WriterSamples::sparse(floats.of(samples.values), indices, ends),
            });
        }
        let bytes = block.samples(number).bytes();
        match stream.element {
            Element::F64 => Ok(WriterSamples::dense(doubles.of(bytes))),
            Element::I32 => {
                indices.clear();
                for &label in labels.of(bytes) {
                    indices.push(u32::try_from(label).map_err(|_| {
                        Error::corpus("a negative label cannot be written as CTF")
                            .of_key(key)
                            .with_help(
                                "leave such sequences out, or give the label a class of its own",
                            )
                    })?);
                }
                let count = indices.len();
                if ends.len() < count {
                    ends.extend(ends.len() as u32 + 1..=count as u32);
                    ones.resize(count, 1.0);
                }
                Ok(WriterSamples::sparse(&ones[..count], indices, &ends[..count]))
            }
            _ => Ok(WriterSamples::dense(floats.of(bytes))),
        }
    }
}

impl Sink for CtfSink<CompressedOutput> {
    fn write(&mut self, key: Key<'_>, blocks: &[Block], number: usize) -> Result<()> {
        self.write_sequence(key, blocks, number)
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        finished(self.end()?.into_output()?)
    }
}

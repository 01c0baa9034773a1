//! Writes a corpus as Kaldi's tables, one for each stream.

use std::borrow::Cow;

use seqfeed_core::{
    Block, Element, Error, Extent, Key, Kind, Result, SampleRates, Sink, Stream, Written, numbers,
};
use seqfeed_io::{InputFiles, Opener, Output, name_from_text};
use seqfeed_kaldi::{
    AnyObject, CompressedMatrix, CompressionMethod, Matrix, Posterior, TableWriter, Vector, Wave,
};

use crate::formats::listed;

/// A table to write.
#[derive(Clone, Debug)]
pub(crate) struct KaldiTable {
    /// The number of its stream.
    pub(crate) stream: usize,
    pub(crate) wspecifier: String,
    /// The rates, if its samples are sound and are written as waves.
    pub(crate) waves: Option<SampleRates>,
}

/// How tables are written.
#[derive(Clone, Debug, Default)]
pub(crate) struct KaldiOptions {
    pub(crate) compress: Option<CompressionMethod>,
    /// Whether samples that are not 16-bit integers are cut off and limited, as by Kaldi. Otherwise
    /// they are refused.
    pub(crate) round_waves: bool,
    pub(crate) opener: Opener,
    /// The files that were read and must not be overwritten.
    pub(crate) inputs: InputFiles,
}

/// Writes a table for each stream: matrices, vectors of integers, posteriors, waves. If a sequence
/// has one sample, it writes a vector or an integer.
pub(crate) struct KaldiSink {
    tables: Vec<Table>,
}

struct Table {
    stream: Stream,
    number: usize,
    writer: TableWriter<AnyObject>,
    compress: Option<CompressionMethod>,
    waves: Option<SampleRates>,
    round_waves: bool,
    object: AnyObject,
}

impl KaldiSink {
    pub(crate) fn create(
        tables: &[KaldiTable],
        streams: &[Stream],
        options: &KaldiOptions,
    ) -> Result<Self> {
        let open = |table: &KaldiTable| {
            let stream = streams[table.stream].clone();
            let object = match table.waves {
                Some(_) => AnyObject::Wave(Wave::default()),
                None => Table::empty(&stream)?,
            };
            Ok(Table {
                stream,
                number: table.stream,
                writer: TableWriter::create(&name_from_text(&table.wspecifier), &options.opener)?,
                compress: options.compress,
                waves: table.waves.clone(),
                round_waves: options.round_waves,
                object,
            })
        };
        let opened: Vec<Table> = tables.iter().map(open).collect::<Result<_>>()?;
        // The names in script files. The names in wspecifiers were compared before.
        let names = opened.iter().flat_map(|table| table.writer.object_names());
        options.inputs.check_outputs(names)?;
        Ok(Self { tables: opened })
    }
}

impl Sink for KaldiSink {
    fn write(&mut self, key: Key<'_>, blocks: &[Block], number: usize) -> Result<()> {
        for table in &mut self.tables {
            let block = &blocks[table.number];
            table.fill(key, block, number).map_err(|error| error.of_key(key))?;
            match table.compressed().map_err(|error| error.of_key(key))? {
                Some(compressed) => table.writer.write(key, &compressed)?,
                None => table.writer.write(key, &table.object)?,
            }
        }
        Ok(())
    }

    fn takes(&self, stream: usize, key: Key<'_>) -> bool {
        let table = self.tables.iter().find(|table| table.number == stream);
        table.is_none_or(|table| table.writer.takes(key))
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        let mut outputs = Vec::new();
        let mut bytes = 0;
        for table in self.tables {
            let (report, files) = table.writer.into_outputs()?;
            // With a script file alone, each object went to a file of its own.
            bytes += match files.is_empty() {
                true => report.bytes,
                false => files.iter().map(Output::written).sum(),
            };
            outputs.extend(files);
        }
        let files = outputs.iter().map(|output| listed(output.wxfilename())).collect();
        Output::finish_together(outputs)?;
        Ok(Written { files, bytes })
    }
}

impl Table {
    /// The object for a stream's samples. Its memory is used again.
    fn empty(stream: &Stream) -> Result<AnyObject> {
        let whole = stream.extent == Extent::Sequence;
        Ok(match (stream.kind, stream.element) {
            (Kind::Sparse, _) => AnyObject::Posterior(Posterior::default()),
            (_, Element::I32) if whole && stream.dim == 1 => AnyObject::Int32(0),
            (_, Element::I32) if stream.dim == 1 => AnyObject::Int32Vector(Vec::new()),
            (_, Element::I32) => {
                return Err(Error::usage(format!(
                    "stream {}: Kaldi's tables hold no matrices of integers",
                    stream.name
                )));
            }
            (_, Element::F64) if whole => AnyObject::DoubleVector(Vector::default()),
            (_, Element::F64) => AnyObject::DoubleMatrix(Matrix::default()),
            (_, _) if whole => AnyObject::FloatVector(Vector::default()),
            (_, _) => AnyObject::FloatMatrix(Matrix::default()),
        })
    }

    fn fill(&mut self, key: Key<'_>, block: &Block, number: usize) -> Result<()> {
        if let AnyObject::Posterior(posterior) = &mut self.object {
            let samples = block.sparse_samples(number);
            posterior.0.resize_with(samples.len(), Vec::new);
            let values = match self.stream.element {
                Element::F64 => Cow::Owned(
                    numbers(samples.values).iter().map(|&value: &f64| value as f32).collect(),
                ),
                _ => numbers::<f32>(samples.values),
            };
            for (sample, frame) in posterior.0.iter_mut().enumerate() {
                frame.clear();
                let pairs = samples.values_in(sample..sample + 1);
                frame.extend(pairs.map(|at| (samples.indices[at], values[at])));
            }
            return Ok(());
        }
        let samples = block.samples(number);
        let bytes = samples.bytes();
        match &mut self.object {
            AnyObject::FloatMatrix(matrix) => {
                (matrix.rows, matrix.cols) = (samples.len(), self.stream.dim);
                copy(bytes, &mut matrix.values);
            }
            AnyObject::DoubleMatrix(matrix) => {
                (matrix.rows, matrix.cols) = (samples.len(), self.stream.dim);
                copy(bytes, &mut matrix.values);
            }
            AnyObject::Wave(wave) => {
                wave.sample_rate = self.waves.as_ref().map_or(0, |rates| rates.of_key(key)) as f32;
                fill_wave(wave, &numbers(bytes), self.stream.dim, self.round_waves)?;
            }
            AnyObject::FloatVector(vector) => copy(bytes, &mut vector.0),
            AnyObject::DoubleVector(vector) => copy(bytes, &mut vector.0),
            AnyObject::Int32Vector(values) => copy(bytes, values),
            AnyObject::Int32(value) => {
                *value = bytemuck::try_pod_read_unaligned(bytes).map_err(|_| {
                    Error::corpus(format!("{} labels for a sequence, expected 1", samples.len()))
                })?;
            }
            _ => {}
        }
        Ok(())
    }

    fn compressed(&self) -> Result<Option<AnyObject>> {
        let Some(method) = self.compress else { return Ok(None) };
        Ok(match &self.object {
            AnyObject::FloatMatrix(matrix) => {
                Some(AnyObject::CompressedMatrix(CompressedMatrix::compress(matrix, method)?))
            }
            AnyObject::DoubleMatrix(matrix) => {
                Some(AnyObject::CompressedMatrix(CompressedMatrix::compress(matrix, method)?))
            }
            _ => None,
        })
    }
}

/// A wave's channels one after another. In the samples, the channels stand side by side.
fn fill_wave(wave: &mut Wave, samples: &[f32], channels: usize, round: bool) -> Result<()> {
    let holds = |value: f32| value.trunc() == value && (-32768.0..=32767.0).contains(&value);
    if let Some(at) = samples.iter().position(|&value| !holds(value)).filter(|_| !round) {
        let what = format!(
            "sample {} is {}, which a wave of 16-bit integers does not hold",
            at / channels.max(1),
            samples[at]
        );
        return Err(Error::corpus(what).with_help(
            "--allow-lossy cuts such values off, and limits them to 16 bits; --dtype float32 writes matrices",
        ));
    }
    let matrix = &mut wave.samples;
    (matrix.rows, matrix.cols) = (channels, samples.len() / channels.max(1));
    matrix.values.clear();
    for channel in 0..channels {
        matrix.values.extend(samples.get(channel..).unwrap_or_default().iter().step_by(channels));
    }
    Ok(())
}

/// The values of bytes, in the place of others.
fn copy<T: bytemuck::Pod>(bytes: &[u8], values: &mut Vec<T>) {
    values.clear();
    values.extend_from_slice(&numbers(bytes));
}

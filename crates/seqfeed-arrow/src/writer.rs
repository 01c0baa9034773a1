//! Writes Arrow and Parquet files, one sequence at a time.

use std::sync::Arc;

use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter as Parquet;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use seqfeed_core::{Block, Error, Extent, Key, Kind, Result, Stream};
use seqfeed_io::{Opener, Output, WxFilename};

use crate::batch::Batch;
use crate::key_type::KeyType;
use crate::schema::written;

/// The most rows in a record batch or row group.
const MOST_ROWS: usize = crate::row_groups::MOST_ROWS;

/// Options for writing files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteOptions {
    /// The most samples in a record batch or row group. A longer sequence has one of its own. The
    /// default is the size of a corpus' chunks, so that a chunk of a Parquet file is decoded alone.
    pub group_samples: u64,
    /// The compression of values.
    pub compress: Compress,
}

/// The compression of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compress {
    /// None. Arrow files can then be read in place.
    #[default]
    None,
    /// Zstandard, with a level from 1 to 22. In Parquet files, the bytes of floats are split up
    /// first.
    Zstd(i32),
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self { group_samples: 32_768, compress: Compress::None }
    }
}

/// Writes an Arrow IPC file, one sequence at a time.
///
/// It appears under its name when it is [finished](Self::finish).
pub struct ArrowWriter {
    gather: Gather,
    writer: FileWriter<Output>,
}

/// Writes a Parquet file, one sequence at a time.
///
/// It appears under its name when it is [finished](Self::finish).
pub struct ParquetWriter {
    gather: Gather,
    writer: Parquet<Output>,
}

/// Gathers a record batch or row group.
pub(crate) struct Gather {
    name: String,
    pub(crate) schema: SchemaRef,
    streams: Vec<Stream>,
    pub(crate) batch: Batch,
    group_samples: u64,
}

impl Gather {
    pub(crate) fn new(
        name: &str,
        streams: &[Stream],
        keys: KeyType,
        options: &WriteOptions,
    ) -> Result<Self> {
        for (number, stream) in streams.iter().enumerate() {
            let name = &stream.name;
            let twice = streams[..number].iter().any(|other| other.name == *name);
            if twice || name == "key" || name == "samples" {
                return Err(Error::usage(format!("a stream cannot have the name {name}"))
                    .with_help("columns need names of their own; key and samples are taken"));
            }
        }
        if streams.is_empty() {
            return Err(Error::usage("there are no streams to write"));
        }
        let schema = Arc::new(written(streams, keys.data_type()));
        let batch = Batch::new(Arc::clone(&schema), streams, keys);
        let group_samples = options.group_samples.max(1);
        Ok(Self { name: name.to_owned(), schema, streams: streams.to_vec(), batch, group_samples })
    }

    /// Adds a sequence. If it does not fit, `write` first gets the gathered ones.
    pub(crate) fn push(
        &mut self,
        key: Key<'_>,
        blocks: &[Block],
        number: usize,
        write: impl FnOnce(&mut Batch) -> Result<()>,
    ) -> Result<()> {
        let samples = self.samples(blocks, number).map_err(|error| error.of_key(key))?;
        let full = self.batch.samples + u64::from(samples) > self.group_samples
            || self.batch.len() >= MOST_ROWS
            || !self.batch.has_room(blocks, number);
        if full && self.batch.len() > 0 {
            write(&mut self.batch)?;
        }
        let pushed = self.batch.push(key, samples, blocks, number);
        pushed.map_err(|error| error.in_file(&self.name))
    }

    /// The length of a sequence: that of streams with a sample a time step, or else the longest
    /// one.
    fn samples(&self, blocks: &[Block], number: usize) -> Result<u32> {
        if blocks.len() != self.streams.len() {
            return Err(Error::usage("there must be a block for each stream"));
        }
        let (mut steps, mut own) = (None, None);
        for (stream, block) in self.streams.iter().zip(blocks) {
            let sparse = stream.kind == Kind::Sparse;
            let same = (block.element(), block.dim()) == (stream.element, stream.dim);
            if !same || block.is_sparse() != sparse {
                return Err(Error::usage(format!("the block is not one of {}", stream.name)));
            }
            let found = block.sequence_len(number);
            match stream.extent {
                Extent::Own => own = own.max(Some(found)),
                Extent::Sequence if found != 1 => {
                    let name = &stream.name;
                    return Err(Error::corpus(format!("{name} has {found} samples, not one")));
                }
                Extent::Sequence => {}
                Extent::Samples => match steps {
                    Some((first, steps)) if steps != found => {
                        let name = &stream.name;
                        let what = format!("{name} has {found} samples, but {first} has {steps}");
                        return Err(Error::corpus(what));
                    }
                    _ => steps = Some((&stream.name, found)),
                },
            }
        }
        let samples = steps.map(|(_, steps)| steps).or(own).unwrap_or(1);
        u32::try_from(samples).map_err(|_| Error::corpus("the sequence has 2^32 samples or more"))
    }
}

impl ArrowWriter {
    /// Starts a file of these streams.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be made, or if two columns would have one name.
    pub fn create(
        name: &WxFilename,
        streams: &[Stream],
        keys: KeyType,
        options: &WriteOptions,
        opener: &Opener,
    ) -> Result<Self> {
        let gather = Gather::new(&name.to_string(), streams, keys, options)?;
        let output = Output::create(name, opener)?;
        let compression = match options.compress {
            Compress::None => None,
            Compress::Zstd(_) => Some(CompressionType::ZSTD),
        };
        let writing = IpcWriteOptions::default().try_with_compression(compression);
        let writer = writing
            .and_then(|options| FileWriter::try_new_with_options(output, &gather.schema, options))
            .map_err(|error| failed(&error.to_string(), &gather.name))?;
        Ok(Self { gather, writer })
    }

    /// Adds sequence number `number` of the blocks; there is one block for each stream.
    ///
    /// # Errors
    ///
    /// Fails if the blocks do not fit the streams, if streams with a sample a time step differ in
    /// length, or if writing fails.
    pub fn write(&mut self, key: Key<'_>, blocks: &[Block], number: usize) -> Result<()> {
        let Self { gather, writer } = self;
        let name = gather.name.clone();
        gather.push(key, blocks, number, |batch| write_arrow(writer, batch, &name))
    }

    /// Writes the rest. The file then appears. Returns its number of bytes.
    ///
    /// # Errors
    ///
    /// Fails if writing fails; then there is no file.
    pub fn finish(self) -> Result<u64> {
        let Self { mut gather, mut writer } = self;
        if gather.batch.len() > 0 {
            write_arrow(&mut writer, &mut gather.batch, &gather.name)?;
        }
        let output = writer.finish().and_then(|()| writer.into_inner());
        finish(output.map_err(|error| failed(&error.to_string(), &gather.name))?)
    }
}

fn write_arrow(writer: &mut FileWriter<Output>, batch: &mut Batch, name: &str) -> Result<()> {
    writer.write(&batch.take()?).map_err(|error| failed(&error.to_string(), name))
}

impl ParquetWriter {
    /// Starts a file of these streams.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be made, if two columns would have one name, or if there is no such
    /// level of compression.
    pub fn create(
        name: &WxFilename,
        streams: &[Stream],
        keys: KeyType,
        options: &WriteOptions,
        opener: &Opener,
    ) -> Result<Self> {
        let gather = Gather::new(&name.to_string(), streams, keys, options)?;
        let mut properties = WriterProperties::builder()
            .set_created_by("seqfeed".to_owned())
            .set_max_row_group_row_count(Some(MOST_ROWS))
            // Values of features hardly repeat, and nobody needs their range.
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::None);
        let key = ColumnPath::from("key");
        properties = properties.set_column_statistics_enabled(key, EnabledStatistics::Chunk);
        if let Compress::Zstd(level) = options.compress {
            let level = ZstdLevel::try_new(level)
                .map_err(|error| Error::usage(error.to_string()).with_help("levels are 1 to 22"))?;
            properties = properties.set_compression(Compression::ZSTD(level));
            let floats = streams.iter().filter(|stream| stream.kind != Kind::Label);
            for path in floats.map(value_path) {
                properties = properties.set_column_encoding(path, Encoding::BYTE_STREAM_SPLIT);
            }
        }
        let output = Output::create(name, opener)?;
        let schema = Arc::clone(&gather.schema);
        let writer = Parquet::try_new(output, schema, Some(properties.build()))
            .map_err(|error| failed(&error.to_string(), &gather.name))?;
        Ok(Self { gather, writer })
    }

    /// Adds sequence number `number` of the blocks; there is one block for each stream.
    ///
    /// # Errors
    ///
    /// Fails if the blocks do not fit the streams, if streams with a sample a time step differ in
    /// length, or if writing fails.
    pub fn write(&mut self, key: Key<'_>, blocks: &[Block], number: usize) -> Result<()> {
        let Self { gather, writer } = self;
        let name = gather.name.clone();
        gather.push(key, blocks, number, |batch| write_parquet(writer, batch, &name))
    }

    /// Writes the rest. The file then appears. Returns its number of bytes.
    ///
    /// # Errors
    ///
    /// Fails if writing fails; then there is no file.
    pub fn finish(self) -> Result<u64> {
        let Self { mut gather, mut writer } = self;
        if gather.batch.len() > 0 {
            write_parquet(&mut writer, &mut gather.batch, &gather.name)?;
        }
        let output = writer.into_inner();
        finish(output.map_err(|error| failed(&error.to_string(), &gather.name))?)
    }
}

fn write_parquet(writer: &mut Parquet<Output>, batch: &mut Batch, name: &str) -> Result<()> {
    let written = writer.write(&batch.take()?).and_then(|()| writer.flush());
    written.map_err(|error| failed(&error.to_string(), name))
}

/// The path of a stream's values in a Parquet file.
fn value_path(stream: &Stream) -> ColumnPath {
    let mut path = vec![stream.name.clone()];
    let mut deeper = |names: &[&str]| path.extend(names.iter().map(|&name| name.to_owned()));
    if stream.extent != Extent::Sequence {
        deeper(&["list", "element"]);
    }
    match (stream.kind, stream.dim) {
        (Kind::Sparse, _) => deeper(&["list", "element", "value"]),
        (_, 1) => {}
        _ => deeper(&["list", "element"]),
    }
    ColumnPath::new(path)
}

fn finish(output: Output) -> Result<u64> {
    let bytes = output.written();
    output.finish().map(|()| bytes)
}

fn failed(what: &str, name: &str) -> Error {
    Error::io("writing", std::io::Error::other(what.to_owned())).in_file(name)
}

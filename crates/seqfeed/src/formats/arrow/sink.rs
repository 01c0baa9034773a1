//! Writes a corpus as an Arrow or Parquet file.

use seqfeed_arrow::{ArrowWriter, KeyType, ParquetWriter, WriteOptions};
use seqfeed_core::{Block, Key, Result, Sink, Stream, Written};
use seqfeed_io::{Opener, WxFilename, name_to_text};

/// The two kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArrowContainer {
    Parquet,
    /// The file format of Arrow IPC.
    Ipc,
}

/// Writes a row for each sequence, with a column for each stream.
pub(crate) struct ArrowSink {
    name: String,
    writer: Writer,
}

enum Writer {
    // Boxed, since it is far larger than the other variant.
    Parquet(Box<ParquetWriter>),
    Ipc(Box<ArrowWriter>),
}

impl ArrowSink {
    pub(crate) fn create(
        name: &WxFilename,
        container: ArrowContainer,
        streams: &[Stream],
        keys: KeyType,
        options: &WriteOptions,
        opener: &Opener,
    ) -> Result<Self> {
        let writer = match container {
            ArrowContainer::Parquet => {
                let writer = ParquetWriter::create(name, streams, keys, options, opener)?;
                Writer::Parquet(Box::new(writer))
            }
            ArrowContainer::Ipc => {
                Writer::Ipc(Box::new(ArrowWriter::create(name, streams, keys, options, opener)?))
            }
        };
        Ok(Self { name: name_to_text(name.name()), writer })
    }
}

impl Sink for ArrowSink {
    fn write(&mut self, key: Key<'_>, blocks: &[Block], number: usize) -> Result<()> {
        match &mut self.writer {
            Writer::Parquet(writer) => writer.write(key, blocks, number),
            Writer::Ipc(writer) => writer.write(key, blocks, number),
        }
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        let bytes = match self.writer {
            Writer::Parquet(writer) => writer.finish()?,
            Writer::Ipc(writer) => writer.finish()?,
        };
        Ok(Written { files: vec![self.name], bytes })
    }
}

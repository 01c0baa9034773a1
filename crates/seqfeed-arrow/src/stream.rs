//! Any corpus as a stream of record batches.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

pub use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use seqfeed_core::{Block, Result, Source};

use crate::key_type::KeyType;
use crate::writer::{Gather, WriteOptions};

/// The sequences of a corpus in its order, one row each, in the form of an Arrow file: see the
/// [crate](crate). A chunk and its batches are in memory at a time.
///
/// A sequence that cannot be read ends the stream with its error.
///
/// ```
/// # use std::sync::Arc;
/// # use seqfeed_core::{Block, Element, Extent, Index, IndexBuilder, Key, Kind};
/// # use seqfeed_core::{Result, Source, Stream};
/// # #[derive(Debug)]
/// # struct Numbers { index: Arc<Index>, streams: Vec<Stream> }
/// # impl Source for Numbers {
/// #     fn name(&self) -> &str { "numbers" }
/// #     fn streams(&self) -> &[Stream] { &self.streams }
/// #     fn index(&self) -> &Arc<Index> { &self.index }
/// #     fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
/// #         for &sequence in sequences {
/// #             blocks[0].push_f32(2).fill(sequence as f32);
/// #         }
/// #         Ok(())
/// #     }
/// # }
/// # let mut index = IndexBuilder::new(1);
/// # ["a", "b", "c"].iter().for_each(|key| index.push(Key(key.as_bytes()), 2));
/// # let (kind, element, extent) = (Kind::Dense, Element::F32, Extent::Samples);
/// # let streams = vec![Stream { name: "x".into(), kind, element, dim: 1, extent }];
/// # let source = Arc::new(Numbers { index: Arc::new(index.finish()), streams });
/// use seqfeed_arrow::RecordBatches;
///
/// let batches = RecordBatches::new(source, 4)?; // at most 4 samples in a batch
/// let rows: Vec<usize> = batches.map(|batch| batch.unwrap().num_rows()).collect();
/// assert_eq!(rows, [2, 1]);
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
pub struct RecordBatches {
    source: Arc<dyn Source>,
    gather: Gather,
    blocks: Vec<Block>,
    chunk: usize,
    ready: VecDeque<RecordBatch>,
    ended: bool,
}

impl RecordBatches {
    /// Starts a stream of batches with at most `batch_samples` samples. A longer sequence is a
    /// batch of its own.
    ///
    /// # Errors
    ///
    /// Fails if there are no streams, or if two columns would have one name.
    pub fn new(source: Arc<dyn Source>, batch_samples: u64) -> Result<Self> {
        let keys = KeyType::of(source.index());
        let options = WriteOptions { group_samples: batch_samples, ..WriteOptions::default() };
        let gather = Gather::new("record batches", source.streams(), keys, &options)?;
        let blocks = source.new_blocks();
        Ok(Self { source, gather, blocks, chunk: 0, ready: VecDeque::new(), ended: false })
    }

    /// As the C stream interface, for other languages in the same process.
    #[must_use]
    pub fn into_ffi(self) -> FFI_ArrowArrayStream {
        FFI_ArrowArrayStream::new(Box::new(self))
    }

    /// Loads chunks until a batch is ready, or there are no more.
    fn fill(&mut self) -> Result<()> {
        let Self { source, gather, blocks, chunk, ready, ended } = self;
        let index = Arc::clone(source.index());
        while ready.is_empty() && !*ended {
            if *chunk == index.chunk_count() {
                *ended = true;
                if gather.batch.len() > 0 {
                    ready.push_back(gather.batch.take()?);
                }
                break;
            }
            let sequences: Vec<u32> = index.unmasked(index.chunk(*chunk)).collect();
            *chunk += 1;
            blocks.iter_mut().for_each(Block::clear);
            source.load(&sequences, blocks)?;
            for (number, &sequence) in sequences.iter().enumerate() {
                gather.push(index.key(sequence), blocks, number, |batch| {
                    ready.push_back(batch.take()?);
                    Ok(())
                })?;
            }
        }
        Ok(())
    }
}

impl Iterator for RecordBatches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Err(error) = self.fill() {
            self.ended = true;
            // Other languages get an error by number: one of input.
            return Some(Err(ArrowError::IoError(error.to_string(), io::Error::other(error))));
        }
        self.ready.pop_front().map(Ok)
    }
}

impl RecordBatchReader for RecordBatches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.gather.schema)
    }
}

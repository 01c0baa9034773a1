//! Gathers sequences into a record batch.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, FixedSizeListArray, Float32Array, Float64Array, Int32Array, Int64Array,
    ListArray, RecordBatch, StringArray, StructArray,
};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use seqfeed_core::{Block, Element, Error, Extent, Key, Kind, Result, Stream};

use crate::key_type::{self, KeyType};
use crate::schema::{item, pair, sample_type};

/// The most values of a batch: 32-bit offsets must be able to count them, with one more sequence.
const MOST_VALUES: u64 = i32::MAX as u64;

/// A record batch that is being built.
pub(crate) struct Batch {
    schema: SchemaRef,
    streams: Vec<Stream>,
    keys: Keys,
    lengths: Vec<i32>,
    columns: Vec<Gathered>,
    pub(crate) samples: u64,
}

enum Keys {
    Text(Vec<String>),
    Bytes(Vec<Vec<u8>>),
    Numbers(Vec<i64>),
}

/// The samples of one stream.
struct Gathered {
    values: Values,
    indices: Vec<i32>,
    /// The number of samples before each row, and in all.
    rows: Vec<i32>,
    /// For sparse samples: the number of values before each, and in all.
    samples: Vec<i32>,
}

enum Values {
    F32(Vec<f32>),
    F64(Vec<f64>),
    I32(Vec<i32>),
}

impl Batch {
    pub(crate) fn new(schema: SchemaRef, streams: &[Stream], keys: KeyType) -> Self {
        let keys = match keys {
            KeyType::Text => Keys::Text(Vec::new()),
            KeyType::Bytes => Keys::Bytes(Vec::new()),
            KeyType::Number => Keys::Numbers(Vec::new()),
        };
        let columns = streams.iter().map(|stream| Gathered::new(stream.element)).collect();
        let (streams, lengths) = (streams.to_vec(), Vec::new());
        Self { schema, streams, keys, lengths, columns, samples: 0 }
    }

    /// Number of sequences.
    pub(crate) fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Whether 32-bit offsets can also count one more sequence.
    pub(crate) fn has_room(&self, blocks: &[Block], number: usize) -> bool {
        self.columns.iter().zip(blocks).all(|(column, block)| {
            let (samples, values) = match block.is_sparse() {
                true => {
                    let found = block.sparse_samples(number);
                    (found.len(), found.indices.len())
                }
                false => (block.sequence_len(number), block.sequence_len(number)),
            };
            let before = column.rows.last().copied().unwrap_or(0) as u64;
            let pairs = column.indices.len() as u64;
            before + samples as u64 <= MOST_VALUES && pairs + values as u64 <= MOST_VALUES
        })
    }

    /// Adds sequence number `number` of the blocks, with `samples` samples.
    pub(crate) fn push(
        &mut self,
        key: Key<'_>,
        samples: u32,
        blocks: &[Block],
        number: usize,
    ) -> Result<()> {
        let too_long = || Error::corpus("the sequence has 2^31 samples or more").of_key(key);
        let length = i32::try_from(samples).map_err(|_| too_long())?;
        if !self.has_room(blocks, number) {
            return Err(too_long());
        }
        match &mut self.keys {
            Keys::Text(keys) => match key.as_str() {
                Some(text) => keys.push(text.to_owned()),
                None => return Err(Error::corpus("the key is no UTF-8").of_key(key)),
            },
            Keys::Bytes(keys) => keys.push(key.0.to_vec()),
            Keys::Numbers(keys) => match key_type::number_of(key) {
                Some(number) => keys.push(number),
                None => return Err(Error::corpus("the key is no number").of_key(key)),
            },
        }
        for ((column, stream), block) in self.columns.iter_mut().zip(&self.streams).zip(blocks) {
            column.push(stream, block, number);
        }
        self.lengths.push(length);
        self.samples += u64::from(samples);
        Ok(())
    }

    /// Takes the gathered batch.
    pub(crate) fn take(&mut self) -> Result<RecordBatch> {
        let keys: ArrayRef = match &mut self.keys {
            Keys::Text(keys) => Arc::new(StringArray::from_iter_values(std::mem::take(keys))),
            Keys::Bytes(keys) => Arc::new(BinaryArray::from_iter_values(std::mem::take(keys))),
            Keys::Numbers(keys) => Arc::new(Int64Array::from(std::mem::take(keys))),
        };
        let lengths = Arc::new(Int32Array::from(std::mem::take(&mut self.lengths)));
        let mut columns: Vec<ArrayRef> = vec![keys, lengths];
        for (column, stream) in self.columns.iter_mut().zip(&self.streams) {
            let taken = std::mem::replace(column, Gathered::new(stream.element));
            columns.push(taken.into_array(stream).map_err(|error| not_made(&error))?);
        }
        self.samples = 0;
        RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(|error| not_made(&error))
    }
}

fn not_made(error: &ArrowError) -> Error {
    Error::corpus(format!("no record batch can be made of the sequences: {error}"))
}

impl Gathered {
    fn new(element: Element) -> Self {
        let values = match element {
            Element::F32 => Values::F32(Vec::new()),
            Element::F64 => Values::F64(Vec::new()),
            _ => Values::I32(Vec::new()),
        };
        Self { values, indices: Vec::new(), rows: vec![0], samples: vec![0] }
    }

    fn push(&mut self, stream: &Stream, block: &Block, number: usize) {
        let (bytes, samples) = if stream.kind == Kind::Sparse {
            let found = block.sparse_samples(number);
            let before = self.indices.len();
            // There is room for them: all numbers fit 31 bits.
            let ends = (1..=found.len()).map(|end| (before + found.values_in(0..end).end) as i32);
            self.samples.extend(ends);
            self.indices.extend_from_slice(found.indices);
            (found.values, found.len())
        } else {
            let found = block.samples(number);
            (found.bytes(), found.len())
        };
        self.rows.push(self.rows.last().copied().unwrap_or(0) + samples as i32);
        match &mut self.values {
            Values::F32(values) => extend(values, bytes),
            Values::F64(values) => extend(values, bytes),
            Values::I32(values) => extend(values, bytes),
        }
    }

    fn into_array(self, stream: &Stream) -> Result<ArrayRef, ArrowError> {
        let offsets = |offsets: Vec<i32>| OffsetBuffer::new(ScalarBuffer::from(offsets));
        let values: ArrayRef = match self.values {
            Values::F32(values) => Arc::new(Float32Array::from(values)),
            Values::F64(values) => Arc::new(Float64Array::from(values)),
            Values::I32(values) => Arc::new(Int32Array::from(values)),
        };
        let samples: ArrayRef = match (stream.kind, stream.dim) {
            (Kind::Sparse, _) => {
                let fields = pair(values.data_type().clone());
                let indices = Arc::new(Int32Array::from(self.indices));
                let pairs = StructArray::try_new(fields, vec![indices, values], None)?;
                let field = item(pairs_type(&pairs));
                let ends = offsets(self.samples);
                Arc::new(ListArray::try_new(field, ends, Arc::new(pairs), None)?)
            }
            (_, 1) => values,
            (_, dim) => {
                let dim = i32::try_from(dim).map_err(|_| {
                    ArrowError::InvalidArgumentError("samples of 2^31 values or more".into())
                })?;
                let field = item(values.data_type().clone());
                Arc::new(FixedSizeListArray::try_new(field, dim, values, None)?)
            }
        };
        if stream.extent == Extent::Sequence {
            return Ok(samples);
        }
        let (field, rows) = (item(sample_type(stream)), offsets(self.rows));
        Ok(Arc::new(ListArray::try_new(field, rows, samples, None)?))
    }
}

fn pairs_type(pairs: &StructArray) -> DataType {
    use arrow_array::Array;
    pairs.data_type().clone()
}

/// Appends numbers in the machine's order.
fn extend<T: bytemuck::Pod>(values: &mut Vec<T>, bytes: &[u8]) {
    match bytemuck::try_cast_slice(bytes) {
        Ok(found) => values.extend_from_slice(found),
        // A mapped file need not be aligned.
        Err(_) => values.extend(bytemuck::pod_collect_to_vec::<u8, T>(bytes)),
    }
}

//! A minibatch, as a trainer gets it.

use std::fmt;
use std::sync::{Arc, Mutex};

use seqfeed_core::{Array, Element, Index, Key, Kind, Stream, bf16, f16};

use crate::arrange::Arrange;
use crate::buffers::{Buffers, Segment};
use crate::delivered::Delivered;
use crate::settings::Layout;
use crate::state::State;

/// Samples for a trainer: one contiguous buffer for each stream, with keys, lengths and flags.
///
/// Dropping it returns its memory to the feed.
pub struct Minibatch {
    pub(crate) shape: Arc<Shape>,
    pub(crate) index: u64,
    pub(crate) sweep: u64,
    pub(crate) end_of_sweep: bool,
    pub(crate) after: State,
    pub(crate) buffers: Buffers,
    /// What it has of each component of a mixture.
    pub(crate) delivered: Vec<Delivered>,
}

/// The properties that all minibatches of a feed share.
pub(crate) struct Shape {
    pub(crate) index: Arc<Index>,
    /// The streams as they are delivered: dims include the context.
    pub(crate) streams: Vec<Stream>,
    pub(crate) arrange: Arrange,
    pub(crate) recycled: Recycled,
}

/// The memory of dropped minibatches, kept for the next ones.
pub(crate) struct Recycled {
    pub(crate) buffers: Mutex<Vec<Buffers>>,
    pub(crate) most: usize,
}

/// One stream of a minibatch.
#[derive(Clone, Copy)]
pub struct StreamBatch<'a> {
    stream: &'a Stream,
    number: usize,
    minibatch: &'a Minibatch,
    array: &'a Array,
}

/// The samples of a sparse stream as compressed sparse rows. Row `r` (a sample, or padding) has the
/// values `offsets[r]..offsets[r + 1]`.
///
/// The same three arrays are the compressed sparse columns of the transposed matrix (dim × N).
/// CNTK's own sparse minibatches have this form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SparseBatch<'a> {
    /// The values, row after row. A row keeps the order of its data.
    pub values: &'a Array,
    /// The index of each value, from 0 and below the stream's dim.
    pub indices: &'a [i32],
    /// The number of values before each row, and in all: one entry more than rows.
    pub offsets: &'a [u64],
}

impl Minibatch {
    /// Number of this minibatch on this rank since the very start, from 0.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.index
    }

    /// The sweep of this minibatch, from 0.
    #[must_use]
    pub fn sweep(&self) -> u64 {
        self.sweep
    }

    /// Whether the sweep ends with this minibatch (on all ranks).
    #[must_use]
    pub fn end_of_sweep(&self) -> bool {
        self.end_of_sweep
    }

    /// The state from which a feed goes on with the very next minibatch.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.after
    }

    /// What it has of each component of a mixture. Empty if the corpus is no mixture.
    #[must_use]
    pub fn delivered(&self) -> &[Delivered] {
        &self.delivered
    }

    /// Number of sequences, or of frames if frames are dealt out.
    #[must_use]
    pub fn len(&self) -> usize {
        self.buffers.segments.len()
    }

    /// Whether it is empty. This occurs at the end of a sweep if all ranks get the same number of
    /// minibatches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buffers.segments.is_empty()
    }

    /// Number of samples, without padding.
    #[must_use]
    pub fn samples(&self) -> usize {
        self.buffers.offsets.last().map_or(0, |&end| end as usize)
    }

    /// Samples of the longest sequence: the T of a padded layout.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.buffers.longest
    }

    /// The segments in it, in order. A trainer of truncated sequences resets its state where a
    /// sequence begins ([`Segment::first`] is 0).
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.buffers.segments
    }

    /// The keys of its sequences, in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = Key<'_>> {
        self.buffers.segments.iter().map(|segment| self.shape.index.key(segment.sequence))
    }

    /// The number of samples before each sequence, and in all: `len() + 1` numbers.
    #[must_use]
    pub fn offsets(&self) -> &[u64] {
        &self.buffers.offsets
    }

    /// The layout of the samples in the buffers.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.shape.arrange.layout
    }

    /// Its streams, in the order of the corpus.
    pub fn streams(&self) -> impl ExactSizeIterator<Item = StreamBatch<'_>> {
        let arrays = self.buffers.arrays.iter();
        let streams = self.shape.streams.iter().enumerate().zip(arrays);
        streams.map(|((number, stream), array)| StreamBatch {
            stream,
            number,
            minibatch: self,
            array,
        })
    }

    /// The memory of all streams, to be changed in place: values in the order of
    /// [`streams`](Minibatch::streams), [`StreamBatch::values`] numbers each. Sparse streams also
    /// have indices and offsets.
    pub fn memory_mut(
        &mut self,
    ) -> impl ExactSizeIterator<Item = (&mut Array, &mut [i32], &mut [u64])> {
        let rows = self.buffers.rows.iter_mut();
        let arrays = self.buffers.arrays.iter_mut().zip(rows);
        arrays.map(|(array, rows)| (array, &mut rows.indices[..], &mut rows.offsets[..]))
    }

    /// The stream with a name.
    #[must_use]
    pub fn stream(&self, name: &str) -> Option<StreamBatch<'_>> {
        self.streams().find(|batch| batch.stream.name == name)
    }

    /// The values of a dense stream of 32-bit floats; see [`StreamBatch::shape`].
    #[must_use]
    pub fn dense(&self, name: &str) -> Option<&[f32]> {
        self.stream(name)?.as_f32()
    }

    /// The values of a label stream of 32-bit integers; see [`StreamBatch::shape`].
    #[must_use]
    pub fn labels(&self, name: &str) -> Option<&[i32]> {
        self.stream(name)?.as_i32()
    }

    /// Bytes in all its buffers.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.streams().map(|batch| batch.bytes()).sum()
    }
}

impl<'a> StreamBatch<'a> {
    /// The description of the stream; its `dim` includes the context.
    #[must_use]
    pub fn stream(&self) -> &'a Stream {
        self.stream
    }

    /// The shape: N × dim for frames and concatenated sequences, B × T × dim for padded ones, S × T
    /// × dim for parallel rows, B × dim if the stream has one sample a sequence. N and T are those
    /// of this stream, if it has lengths of its own.
    #[must_use]
    pub fn shape(&self) -> Vec<usize> {
        self.minibatch.shape.arrange.shape(self.stream, self.number, &self.minibatch.buffers)
    }

    /// All values, padding included, row after row. `None` if they are not 32-bit floats, or if the
    /// stream is sparse.
    #[must_use]
    pub fn as_f32(&self) -> Option<&'a [f32]> {
        self.dense_values().and_then(|values| Some(&self.array.as_f32()?[..values]))
    }

    /// All values, if they are dense 64-bit floats.
    #[must_use]
    pub fn as_f64(&self) -> Option<&'a [f64]> {
        self.dense_values().and_then(|values| Some(&self.array.as_f64()?[..values]))
    }

    /// All values, if they are dense integers.
    #[must_use]
    pub fn as_i32(&self) -> Option<&'a [i32]> {
        self.dense_values().and_then(|values| Some(&self.array.as_i32()?[..values]))
    }

    /// All values, if they are dense 16-bit floats.
    #[must_use]
    pub fn as_f16(&self) -> Option<&'a [f16]> {
        self.dense_values().and_then(|values| Some(&self.array.as_f16()?[..values]))
    }

    /// All values, if they are dense and the upper 16 bits of 32-bit floats.
    #[must_use]
    pub fn as_bf16(&self) -> Option<&'a [bf16]> {
        self.dense_values().and_then(|values| Some(&self.array.as_bf16()?[..values]))
    }

    /// All values, if they are 64-bit integers.
    #[must_use]
    pub fn as_i64(&self) -> Option<&'a [i64]> {
        self.dense_values().and_then(|values| Some(&self.array.as_i64()?[..values]))
    }

    /// All values with their indices, if the stream is sparse.
    #[must_use]
    pub fn as_sparse(&self) -> Option<SparseBatch<'a>> {
        (self.stream.kind == Kind::Sparse).then(|| {
            let rows = &self.minibatch.buffers.rows[self.number];
            SparseBatch { values: self.array, indices: &rows.indices, offsets: &rows.offsets }
        })
    }

    fn dense_values(&self) -> Option<usize> {
        (self.stream.kind != Kind::Sparse).then(|| self.shape().iter().product())
    }

    /// Number of values, padding included. For a sparse stream, the number of given values.
    #[must_use]
    pub fn values(&self) -> usize {
        match self.dense_values() {
            Some(values) => values,
            None => self.minibatch.buffers.rows[self.number].indices.len(),
        }
    }

    /// Bytes of its values, and for a sparse stream of its indices and offsets.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let values = self.values() * self.stream.element.size();
        match self.as_sparse() {
            None => values,
            Some(sparse) => values + size_of_val(sparse.indices) + size_of_val(sparse.offsets),
        }
    }

    /// The number of samples before each sequence in this stream, and in all: `len() + 1` numbers.
    #[must_use]
    pub fn offsets(&self) -> &'a [u64] {
        self.minibatch.buffers.lengths(self.stream, self.number).0
    }

    /// The samples of sequence number `segment` without padding: the number of the first one in the
    /// whole buffer, and how many there are. With parallel rows of T samples, sample `n` lies in
    /// row `n / T`, column `n % T`.
    #[must_use]
    pub fn rows_of(&self, segment: usize) -> (usize, usize) {
        let Minibatch { shape, buffers, .. } = self.minibatch;
        shape.arrange.rows_of(self.stream, self.number, buffers, segment)
    }
}

impl Drop for Minibatch {
    fn drop(&mut self) {
        let Ok(mut recycled) = self.shape.recycled.buffers.lock() else { return };
        if recycled.len() < self.shape.recycled.most {
            recycled.push(std::mem::take(&mut self.buffers));
        }
    }
}

impl fmt::Debug for Minibatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Minibatch");
        debug.field("index", &self.index).field("samples", &self.samples());
        for batch in self.streams() {
            debug.field(&batch.stream.name, &batch.shape());
        }
        debug.finish_non_exhaustive()
    }
}

impl fmt::Debug for StreamBatch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let element: Element = self.stream.element;
        write!(f, "{} {} {:?}", self.stream.name, element.name(), self.shape())
    }
}

//! What a trainer gets.

use std::fmt;
use std::sync::{Arc, Mutex};

use seqfeed_core::{Array, Element, Index, Key, Kind, Stream};

use crate::arrange::Arrange;
use crate::buffers::{Buffers, Segment};
use crate::settings::Layout;
use crate::state::State;

/// Samples packed for a trainer: for each stream one contiguous buffer; keys, lengths and flags.
///
/// Dropping it gives its memory back to the feed.
pub struct Minibatch {
    pub(crate) shape: Arc<Shape>,
    pub(crate) index: u64,
    pub(crate) sweep: u64,
    pub(crate) end_of_sweep: bool,
    pub(crate) after: State,
    pub(crate) buffers: Buffers,
}

/// What all minibatches of a feed have in common.
pub(crate) struct Shape {
    pub(crate) index: Arc<Index>,
    /// Streams as delivered: dims with context.
    pub(crate) streams: Vec<Stream>,
    pub(crate) arrange: Arrange,
    pub(crate) recycled: Recycled,
}

/// Memory of minibatches that were dropped, kept for the next ones.
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

/// The samples of a sparse stream as compressed sparse rows: row `r` (a sample, or padding) has the
/// values `offsets[r]..offsets[r + 1]`.
///
/// The same three arrays are the compressed sparse columns of the matrix turned on its side (dim ×
/// N), which is how CNTK's own sparse minibatches are laid out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SparseBatch<'a> {
    /// The values, row after row, each row in the order of its data.
    pub values: &'a Array,
    /// The index of each value, from 0 and below the stream's dim.
    pub indices: &'a [i32],
    /// Values before each row, and in all: one more entry than rows.
    pub offsets: &'a [u64],
}

impl Minibatch {
    /// Number of this minibatch of this rank since the very start, from 0.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.index
    }

    /// The sweep that it belongs to, from 0.
    #[must_use]
    pub fn sweep(&self) -> u64 {
        self.sweep
    }

    /// Whether the sweep ends with this minibatch (on all ranks).
    #[must_use]
    pub fn end_of_sweep(&self) -> bool {
        self.end_of_sweep
    }

    /// The state to go on with the very next minibatch.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.after
    }

    /// Number of sequences (of frames, where frames are dealt out).
    #[must_use]
    pub fn len(&self) -> usize {
        self.buffers.segments.len()
    }

    /// Whether it is empty, as happens at the end of a sweep where all ranks get as many.
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

    /// Which samples of which sequences it holds, in order. Where sequences are truncated, those
    /// that begin here ([`Segment::first`] is 0) are where a trainer resets its state.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.buffers.segments
    }

    /// The keys of its sequences, in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = Key<'_>> {
        self.buffers.segments.iter().map(|segment| self.shape.index.key(segment.sequence))
    }

    /// Samples before each sequence and in all: `len() + 1` numbers.
    #[must_use]
    pub fn offsets(&self) -> &[u64] {
        &self.buffers.offsets
    }

    /// How samples lie in the buffers.
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
    /// [`streams`](Minibatch::streams), as long as [`StreamBatch::values`] says; for sparse streams
    /// also the indices and the offsets.
    pub fn memory_mut(
        &mut self,
    ) -> impl ExactSizeIterator<Item = (&mut Array, &mut [i32], &mut [u64])> {
        let rows = self.buffers.rows.iter_mut();
        let arrays = self.buffers.arrays.iter_mut().zip(rows);
        arrays.map(|(array, rows)| (array, &mut rows.indices[..], &mut rows.offsets[..]))
    }

    /// The stream of a name.
    #[must_use]
    pub fn stream(&self, name: &str) -> Option<StreamBatch<'_>> {
        self.streams().find(|batch| batch.stream.name == name)
    }

    /// The values of a dense stream of 32-bit floats; see [`StreamBatch::shape`].
    #[must_use]
    pub fn dense(&self, name: &str) -> Option<&[f32]> {
        self.stream(name)?.as_f32()
    }

    /// The values of a label stream; see [`StreamBatch::shape`].
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
    /// What it is; its `dim` counts the context.
    #[must_use]
    pub fn stream(&self) -> &'a Stream {
        self.stream
    }

    /// N × dim for frames and concatenated sequences, B × T × dim for padded ones, S × T × dim for
    /// parallel rows, B × dim where the stream has one sample a sequence. N and T are those of this
    /// stream, where it has its own lengths.
    #[must_use]
    pub fn shape(&self) -> Vec<usize> {
        self.minibatch.shape.arrange.shape(self.stream, self.number, &self.minibatch.buffers)
    }

    /// All values, padding included, row after row; none if they are not 32-bit floats or if the
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

    /// Number of values: padding included, or those that are given where the stream is sparse.
    #[must_use]
    pub fn values(&self) -> usize {
        match self.dense_values() {
            Some(values) => values,
            None => self.minibatch.buffers.rows[self.number].indices.len(),
        }
    }

    /// Bytes of its values, and of indices and offsets where it is sparse.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let values = self.values() * self.stream.element.size();
        match self.as_sparse() {
            None => values,
            Some(sparse) => values + size_of_val(sparse.indices) + size_of_val(sparse.offsets),
        }
    }

    /// Samples before each sequence in this stream and in all: `len() + 1` numbers.
    #[must_use]
    pub fn offsets(&self) -> &'a [u64] {
        self.minibatch.buffers.lengths(self.stream, self.number).0
    }

    /// The samples of sequence number `segment` without padding: the first one, counted over the
    /// whole buffer, and how many. With parallel rows of T samples, sample `n` lies in row `n / T`,
    /// column `n % T`.
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

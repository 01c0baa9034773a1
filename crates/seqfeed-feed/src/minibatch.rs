//! What a trainer gets.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use seqfeed_core::{Array, Element, Extent, Index, Key, Kind, Stream};

use crate::settings::Layout;
use crate::state::State;

/// A piece of a sequence in a minibatch: a frame, or a whole sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Number of the sequence in the corpus.
    pub sequence: u32,
    /// First sample of it, from 0.
    pub first: u32,
    /// Number of samples.
    pub samples: u32,
}

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
    pub(crate) layout: Layout,
    pub(crate) recycled: Recycled,
}

/// The memory of a minibatch, recycled.
#[derive(Default)]
pub(crate) struct Buffers {
    pub(crate) pieces: Vec<Piece>,
    /// Samples before each piece; one more entry than pieces.
    pub(crate) offsets: Vec<u64>,
    /// Samples of the longest piece.
    pub(crate) longest: usize,
    pub(crate) arrays: Vec<Array>,
}

impl Buffers {
    pub(crate) fn new(streams: &[Stream]) -> Self {
        let arrays = streams.iter().map(|stream| Array::new(stream.element)).collect();
        Self { arrays, ..Self::default() }
    }
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
    minibatch: &'a Minibatch,
    array: &'a Array,
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
        self.buffers.pieces.len()
    }

    /// Whether it is empty, as happens at the end of a sweep where all ranks get as many.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buffers.pieces.is_empty()
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

    /// Which samples of which sequences it holds, in order.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.buffers.pieces
    }

    /// The keys of its sequences, in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = Key<'_>> {
        self.buffers.pieces.iter().map(|piece| self.shape.index.key(piece.sequence))
    }

    /// Samples before each sequence and in all: `len() + 1` numbers.
    #[must_use]
    pub fn offsets(&self) -> &[u64] {
        &self.buffers.offsets
    }

    /// How samples lie in the buffers.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.shape.layout
    }

    /// Its streams, in the order of the corpus.
    pub fn streams(&self) -> impl ExactSizeIterator<Item = StreamBatch<'_>> {
        let arrays = self.buffers.arrays.iter();
        self.shape.streams.iter().zip(arrays).map(|(stream, array)| StreamBatch {
            stream,
            minibatch: self,
            array,
        })
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
        self.streams().map(|batch| batch.values() * batch.stream.element.size()).sum()
    }
}

impl<'a> StreamBatch<'a> {
    /// What it is; its `dim` counts the context.
    #[must_use]
    pub fn stream(&self) -> &'a Stream {
        self.stream
    }

    /// N × dim for frames and concatenated sequences, B × T × dim for padded ones, B × dim where
    /// the stream has one sample a sequence.
    #[must_use]
    pub fn shape(&self) -> Vec<usize> {
        shape(self.stream, self.minibatch.shape.layout, &self.minibatch.buffers)
    }

    /// All values, padding included, row after row.
    #[must_use]
    pub fn as_f32(&self) -> Option<&'a [f32]> {
        Some(&self.array.as_f32()?[..self.values()])
    }

    /// All values, if they are 64-bit floats.
    #[must_use]
    pub fn as_f64(&self) -> Option<&'a [f64]> {
        Some(&self.array.as_f64()?[..self.values()])
    }

    /// All values, if they are integers.
    #[must_use]
    pub fn as_i32(&self) -> Option<&'a [i32]> {
        Some(&self.array.as_i32()?[..self.values()])
    }

    /// Number of values, padding included.
    #[must_use]
    pub fn values(&self) -> usize {
        self.shape().iter().product()
    }

    /// The rows of sequence number `piece` without padding: their first value in the buffer, and
    /// how many rows.
    #[must_use]
    pub fn rows_of(&self, piece: usize) -> (usize, usize) {
        rows_of(self.stream, self.minibatch.shape.layout, &self.minibatch.buffers, piece)
    }
}

pub(crate) fn shape(stream: &Stream, layout: Layout, buffers: &Buffers) -> Vec<usize> {
    let pieces = buffers.pieces.len();
    let samples = buffers.offsets.last().map_or(0, |&end| end as usize);
    match (stream.extent, layout) {
        (Extent::Sequence, _) => vec![pieces, stream.dim],
        (Extent::Samples, Layout::Padded) => vec![pieces, buffers.longest, stream.dim],
        (Extent::Samples, _) => vec![samples, stream.dim],
    }
}

pub(crate) fn rows_of(
    stream: &Stream,
    layout: Layout,
    buffers: &Buffers,
    piece: usize,
) -> (usize, usize) {
    let samples = buffers.pieces[piece].samples as usize;
    match (stream.extent, layout) {
        (Extent::Sequence, _) => (piece * stream.dim, 1),
        (Extent::Samples, Layout::Padded) => (piece * buffers.longest * stream.dim, samples),
        (Extent::Samples, _) => (buffers.offsets[piece] as usize * stream.dim, samples),
    }
}

/// Pads a range of values: with zeros, or with the padding label.
pub(crate) fn pad(stream: &Stream, array: &mut Array, range: Range<usize>, label: i32) {
    match array {
        Array::I32(values) if stream.kind == Kind::Label => values[range].fill(label),
        array => {
            let size = array.element().size();
            array.bytes_mut()[range.start * size..range.end * size].fill(0);
        }
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

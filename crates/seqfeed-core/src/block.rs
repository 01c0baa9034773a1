//! The samples of one stream for a list of sequences.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use bytemuck::Pod;

use crate::arena::Arena;
use crate::spans::{Span, Spans};
use crate::{Element, Kind, Stream};

/// Memory that a block refers to but does not own, such as a mapped file.
pub type SharedBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// The samples of one stream for a list of sequences. A [`Source`](crate::Source) loads blocks.
///
/// The values lie row after row in the machine's byte order, either in the block's own buffer or in
/// shared memory (a mapped file). Shared memory need not be aligned, so samples are given as bytes.
///
/// ```
/// use seqfeed_core::{Block, Element};
///
/// let mut block = Block::new(Element::F32, 2);
/// block.push_f32(3).copy_from_slice(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// assert_eq!(block.samples(0).len(), 3);
/// assert_eq!(block.samples(0).row(2), bytes(&[5.0, 6.0]));
/// # fn bytes(values: &[f32]) -> Vec<u8> { values.iter().flat_map(|v| v.to_ne_bytes()).collect() }
/// ```
pub struct Block {
    dim: usize,
    element: Element,
    values: Arena,
    /// Bytes in use. The arena may be longer, since it is used again.
    used: usize,
    shared: Vec<SharedBytes>,
    spans: Spans,
    /// For sparse samples: their indices and starts.
    sparse: Option<Sparse>,
}

#[derive(Default)]
struct Sparse {
    /// The index of each value.
    indices: Vec<i32>,
    /// The number of values before each sample of the block, and the number of all values: one
    /// entry more than samples.
    starts: Vec<usize>,
}

impl Block {
    /// An empty block for samples of `dim` values.
    #[must_use]
    pub fn new(element: Element, dim: usize) -> Self {
        let (shared, spans) = (Vec::new(), Spans::default());
        Self { dim, element, values: Arena::default(), used: 0, shared, spans, sparse: None }
    }

    /// An empty block for sparse samples of `dim` possible values.
    /// [`push_sparse`](Block::push_sparse) fills it.
    #[must_use]
    pub fn sparse(element: Element, dim: usize) -> Self {
        let sparse = Sparse { indices: Vec::new(), starts: vec![0] };
        Self { sparse: Some(sparse), ..Self::new(element, dim) }
    }

    /// An empty block for samples of a stream.
    #[must_use]
    pub fn of(stream: &Stream) -> Self {
        match stream.kind {
            Kind::Sparse => Self::sparse(stream.element, stream.dim),
            Kind::Dense | Kind::Label => Self::new(stream.element, stream.dim),
        }
    }

    /// Empties the block and keeps its memory.
    pub fn clear(&mut self) {
        self.used = 0;
        self.shared.clear();
        self.spans.clear();
        if let Some(sparse) = &mut self.sparse {
            sparse.indices.clear();
            sparse.starts.truncate(1);
        }
    }

    /// Type of the values.
    #[must_use]
    pub fn element(&self) -> Element {
        self.element
    }

    /// Number of values in a sample.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Whether the samples are sparse.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        self.sparse.is_some()
    }

    /// Number of sequences.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether it holds no sequence.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.len() == 0
    }

    /// Bytes of memory that the block owns.
    #[must_use]
    pub fn owned_bytes(&self) -> usize {
        self.values.len()
            + self.spans.bytes()
            + self.shared.capacity() * size_of::<SharedBytes>()
            + self.sparse.as_ref().map_or(0, |sparse| {
                sparse.indices.capacity() * size_of::<i32>()
                    + sparse.starts.capacity() * size_of::<usize>()
            })
    }

    /// Makes room for `samples` more samples, so that memory is taken once.
    pub fn reserve(&mut self, samples: usize) {
        self.values.grow(self.used + samples * self.row_bytes(), self.used);
    }

    /// Adds a sequence of `samples` samples. Returns its values, for the caller to fill.
    ///
    /// # Panics
    ///
    /// If the block's element is not `f32`.
    pub fn push_f32(&mut self, samples: usize) -> &mut [f32] {
        assert_eq!(self.element, Element::F32, "filled with float32");
        bytemuck::cast_slice_mut(self.push_bytes(samples))
    }

    /// Adds a sequence of `samples` samples. Returns its values, for the caller to fill.
    ///
    /// # Panics
    ///
    /// If the block's element is not `f64`.
    pub fn push_f64(&mut self, samples: usize) -> &mut [f64] {
        assert_eq!(self.element, Element::F64, "filled with float64");
        bytemuck::cast_slice_mut(self.push_bytes(samples))
    }

    /// Adds a sequence of `samples` samples. Returns its values, for the caller to fill.
    ///
    /// # Panics
    ///
    /// If the block's element is not `i32`.
    pub fn push_i32(&mut self, samples: usize) -> &mut [i32] {
        assert_eq!(self.element, Element::I32, "filled with int32");
        bytemuck::cast_slice_mut(self.push_bytes(samples))
    }

    /// Adds a sequence of `samples` samples. Returns its bytes in the machine's order, for the
    /// caller to fill.
    ///
    /// # Panics
    ///
    /// If the block's samples are sparse.
    pub fn push_bytes(&mut self, samples: usize) -> &mut [u8] {
        assert!(self.sparse.is_none(), "samples of a sparse block have indices");
        let start = self.used;
        let end = self.grow(samples * self.row_bytes());
        self.spans.push(Span { buffer: 0, samples: count(samples), start }, end);
        &mut self.values.bytes_mut()[start..end]
    }

    /// Adds several sequences with the given numbers of samples. Returns the bytes of all of them,
    /// one after another in the machine's order, for the caller to fill.
    ///
    /// # Panics
    ///
    /// If the block's samples are sparse.
    pub fn push_run(&mut self, samples: impl IntoIterator<Item = usize>) -> &mut [u8] {
        let first = self.used;
        for samples in samples {
            self.push_bytes(samples);
        }
        &mut self.values.bytes_mut()[first..self.used]
    }

    /// Makes room for `bytes` more bytes. Returns the new end.
    fn grow(&mut self, bytes: usize) -> usize {
        let end = self.used + bytes;
        if end > self.values.len() {
            // At least doubles, so that many small sequences do not copy the values over and over.
            self.values.grow(end.max(self.values.len() * 2), self.used);
        }
        self.used = end;
        end
    }

    /// Adds a sequence of sparse samples. `values` are in the machine's byte order, one after
    /// another; `indices` has the index of each value; `ends` has the end of the values of each
    /// sample.
    ///
    /// ```
    /// use seqfeed_core::{Block, Element};
    ///
    /// let mut block = Block::sparse(Element::I32, 100);
    /// let values: Vec<u8> = [7i32, 8, 9].iter().flat_map(|v| v.to_ne_bytes()).collect();
    /// block.push_sparse(&values, &[3, 50, 2], &[2, 2, 3]); // two values, none, one
    /// let samples = block.sparse_samples(0);
    /// assert_eq!(samples.len(), 3);
    /// assert_eq!((samples.values_in(0..1), samples.values_in(1..3)), (0..2, 2..3));
    /// assert_eq!(&samples.indices[samples.values_in(2..3)], [2]);
    /// ```
    ///
    /// # Panics
    ///
    /// If the block is not sparse, if `values` and `indices` differ in number, or if the ends do
    /// not ascend to that number.
    pub fn push_sparse(&mut self, values: &[u8], indices: &[i32], ends: &[u32]) {
        assert_eq!(values.len(), indices.len() * self.element.size(), "an index for each value");
        let start = self.used;
        let end = self.grow(values.len());
        self.values.bytes_mut()[start..end].copy_from_slice(values);
        let sparse = self.sparse.as_mut().expect("a sparse block");
        let (first_value, first) = (sparse.indices.len(), sparse.starts.len() - 1);
        assert!(ends.is_sorted(), "ends ascend");
        assert_eq!(ends.last().map_or(0, |&end| end as usize), indices.len(), "to all values");
        sparse.indices.extend_from_slice(indices);
        sparse.starts.extend(ends.iter().map(|&end| first_value + end as usize));
        let span = Span { buffer: 0, samples: count(ends.len()), start: first };
        self.spans.push(span, first + ends.len());
    }

    /// Adds a copy of sequence number `index` of another block of the same stream.
    ///
    /// # Panics
    ///
    /// If that block has no such sequence, or samples of another kind.
    pub fn push_copy(&mut self, from: &Block, index: usize) {
        assert_eq!((self.element, self.dim), (from.element, from.dim), "blocks of one stream");
        if from.sparse.is_none() {
            let samples = from.samples(index);
            self.push_bytes(samples.len()).copy_from_slice(samples.bytes());
            return;
        }
        let samples = from.sparse_samples(index);
        let ends = (1..=samples.len()).map(|end| samples.values_in(0..end).end as u32);
        self.push_sparse(samples.values, samples.indices, &ends.collect::<Vec<u32>>());
    }

    /// Number of samples of sequence number `index`.
    ///
    /// # Panics
    ///
    /// If there are no more than `index` sequences.
    #[must_use]
    pub fn sequence_len(&self, index: usize) -> usize {
        self.spans.get(index).samples as usize
    }

    /// The samples of sequence number `index` of a sparse block.
    ///
    /// # Panics
    ///
    /// If there are no more than `index` sequences, or if the block is not sparse.
    #[must_use]
    pub fn sparse_samples(&self, index: usize) -> SparseSamples<'_> {
        let (span, sparse) = (self.spans.get(index), self.sparse.as_ref().expect("a sparse block"));
        let starts = &sparse.starts[span.start..=span.start + span.samples as usize];
        let (first, end) = (starts[0], starts[starts.len() - 1]);
        let size = self.element.size();
        SparseSamples {
            values: &self.values.bytes()[first * size..end * size],
            indices: &sparse.indices[first..end],
            starts,
        }
    }

    /// Adds shared memory for use by [`push_shared`](Block::push_shared), and returns its number.
    pub fn share(&mut self, memory: SharedBytes) -> u32 {
        self.shared.push(memory);
        u32::try_from(self.shared.len()).expect("fewer than 2^32 files in a chunk")
    }

    /// Adds a sequence of `samples` samples in the machine's byte order. They begin at byte `start`
    /// of memory that was given to [`share`](Block::share).
    ///
    /// # Panics
    ///
    /// If the memory is too short.
    pub fn push_shared(&mut self, buffer: u32, start: usize, samples: usize) {
        let memory = (*self.shared[buffer as usize - 1]).as_ref();
        let bytes = samples * self.row_bytes();
        assert!(start <= memory.len() && bytes <= memory.len() - start, "samples outside memory");
        self.spans.push(Span { buffer, samples: count(samples), start }, start + bytes);
    }

    /// The samples of sequence number `index`.
    ///
    /// # Panics
    ///
    /// If there are no more than `index` sequences, or if the block is sparse.
    #[must_use]
    #[inline]
    pub fn samples(&self, index: usize) -> Samples<'_> {
        debug_assert!(self.sparse.is_none(), "samples of a sparse block are sparse");
        let span = self.spans.get(index);
        let memory = match span.buffer {
            0 => self.values.bytes(),
            n => (*self.shared[n as usize - 1]).as_ref(),
        };
        let row_bytes = self.row_bytes();
        let bytes = &memory[span.start..span.start + span.samples as usize * row_bytes];
        Samples { bytes, row_bytes }
    }

    /// The samples of sequence number `index`, to be changed in place. Samples in shared memory are
    /// copied into memory of the block first.
    ///
    /// # Panics
    ///
    /// If there are no more than `index` sequences, or if the block is sparse.
    #[must_use]
    pub fn samples_mut(&mut self, index: usize) -> SamplesMut<'_> {
        assert!(self.sparse.is_none(), "samples of a sparse block have indices");
        let (span, row_bytes) = (self.spans.get(index), self.row_bytes());
        let len = span.samples as usize * row_bytes;
        let mut start = span.start;
        if span.buffer != 0 {
            start = self.used;
            let end = self.grow(len);
            let memory = (*self.shared[span.buffer as usize - 1]).as_ref();
            let from = &memory[span.start..span.start + len];
            self.values.bytes_mut()[start..end].copy_from_slice(from);
            self.spans.set(index, Span { buffer: 0, start, ..span });
        }
        SamplesMut { bytes: &mut self.values.bytes_mut()[start..start + len], row_bytes }
    }

    fn row_bytes(&self) -> usize {
        self.dim * self.element().size()
    }
}

fn count(samples: usize) -> u32 {
    u32::try_from(samples).expect("fewer than 2^32 samples in a sequence")
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Block")
            .field("element", &self.element())
            .field("dim", &self.dim)
            .field("sequences", &self.len())
            .finish_non_exhaustive()
    }
}

/// The samples of one sequence in one stream: rows of bytes in the machine's order.
#[derive(Clone, Copy)]
pub struct Samples<'a> {
    bytes: &'a [u8],
    row_bytes: usize,
}

impl<'a> Samples<'a> {
    /// Number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / self.row_bytes
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Size of a sample in bytes.
    #[must_use]
    pub fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    /// All samples, one after another.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// One sample.
    ///
    /// # Panics
    ///
    /// If `index` is not below [`len`](Samples::len).
    #[must_use]
    pub fn row(&self, index: usize) -> &'a [u8] {
        self.rows(index..index + 1)
    }

    /// Samples in `range`, one after another.
    ///
    /// # Panics
    ///
    /// If the range does not lie inside the sequence.
    #[must_use]
    #[inline]
    pub fn rows(&self, range: Range<usize>) -> &'a [u8] {
        &self.bytes[range.start * self.row_bytes..range.end * self.row_bytes]
    }
}

impl fmt::Debug for Samples<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Samples({} x {} bytes)", self.len(), self.row_bytes)
    }
}

/// The samples of one sequence in one stream, to be changed in place.
#[derive(Debug)]
pub struct SamplesMut<'a> {
    bytes: &'a mut [u8],
    row_bytes: usize,
}

impl<'a> SamplesMut<'a> {
    /// Number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / self.row_bytes
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// All values, row after row.
    ///
    /// # Panics
    ///
    /// If the values are of another size than `T`.
    #[must_use]
    pub fn into_numbers<T: Pod>(self) -> &'a mut [T] {
        bytemuck::cast_slice_mut(self.bytes)
    }
}

/// The samples of one sequence in one sparse stream.
#[derive(Clone, Copy, Debug)]
pub struct SparseSamples<'a> {
    /// The values, one after another, in the machine's byte order.
    pub values: &'a [u8],
    /// The index of each value, in the given order.
    pub indices: &'a [i32],
    /// The number of values before each sample and of all values, counted from a point before the
    /// first sample.
    starts: &'a [usize],
}

impl SparseSamples<'_> {
    /// Number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values that belong to a range of samples.
    ///
    /// # Panics
    ///
    /// If the range does not lie inside the sequence.
    #[must_use]
    pub fn values_in(&self, samples: Range<usize>) -> Range<usize> {
        self.starts[samples.start] - self.starts[0]..self.starts[samples.end] - self.starts[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_and_shared_samples_look_alike() {
        let mut block = Block::new(Element::I32, 1);
        block.push_i32(2).copy_from_slice(&[1, 2]);
        let mut memory = vec![0xff];
        memory.extend([3i32, 4, 5].iter().flat_map(|v| v.to_ne_bytes()));
        let buffer = block.share(Arc::new(memory));
        block.push_shared(buffer, 1, 3);
        assert_eq!(block.len(), 2);
        assert_eq!(block.samples(0).row(1), 2i32.to_ne_bytes());
        assert_eq!(block.samples(1).row(0), 3i32.to_ne_bytes());
        assert_eq!(block.samples(1).rows(1..3).len(), 8);
    }

    #[test]
    fn a_cleared_block_keeps_its_memory() {
        let mut block = Block::new(Element::F64, 4);
        block.push_f64(100).fill(1.0);
        let bytes = block.owned_bytes();
        block.clear();
        block.push_f64(50).fill(2.0);
        assert_eq!(block.owned_bytes(), bytes);
        assert_eq!(block.samples(0).len(), 50);
    }

    #[test]
    fn a_sequence_may_be_empty() {
        for element in [Element::F32, Element::F64, Element::I32] {
            let mut block = Block::new(element, 3);
            assert!(block.push_bytes(0).is_empty());
            assert!(block.samples(0).is_empty());
        }
        assert!(Block::new(Element::F64, 1).push_f64(0).is_empty());
    }

    #[test]
    fn shared_samples_are_copied_before_they_change() {
        let memory: Arc<Vec<u8>> =
            Arc::new([7i32, 8, 9].iter().flat_map(|v| v.to_ne_bytes()).collect());
        let mut block = Block::new(Element::I32, 1);
        block.push_i32(1)[0] = 5;
        let buffer = block.share(Arc::clone(&memory) as SharedBytes);
        block.push_shared(buffer, 4, 2);
        block.push_shared(buffer, 0, 1);
        for index in 0..3 {
            block.samples_mut(index).into_numbers::<i32>().iter_mut().for_each(|one| *one += 10);
        }
        let values = |index| crate::numbers::<i32>(block.samples(index).bytes()).into_owned();
        assert_eq!([values(0), values(1), values(2)], [vec![15], vec![18, 19], vec![17]]);
        assert_eq!(memory[..4], 7i32.to_ne_bytes());
    }

    #[test]
    #[should_panic(expected = "outside memory")]
    fn shared_samples_must_lie_in_memory() {
        let mut block = Block::new(Element::F32, 2);
        let buffer = block.share(Arc::new(vec![0u8; 17]));
        block.push_shared(buffer, 10, 1);
    }
}

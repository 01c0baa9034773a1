//! Copies samples into the buffers of a minibatch.

use std::sync::Arc;

use seqfeed_core::{Array, Block, Error, Extent, Index, Kind, Result, Samples, Stream};

use crate::ahead;
use crate::arrange::Arrange;
use crate::buffers::{Buffers, Lengths, Segment, SparseRows};
use crate::order::OrderedUnit;
use crate::residency::Slot;
use crate::selection::Selection;
use crate::settings::Unit;
use crate::stages::Planned;
use crate::swept_chunk::SweptChunk;

/// The number of parts whose memory is asked for before they are copied.
const AHEAD: usize = 8;

/// How minibatches are packed: the same for all minibatches of a feed.
pub(crate) struct Packer {
    pub(crate) index: Arc<Index>,
    pub(crate) unit: Unit,
    pub(crate) arrange: Arrange,
    /// The streams as they are delivered: dims include the context.
    pub(crate) streams: Vec<Stream>,
    /// Frames to the left and to the right, for each stream.
    pub(crate) context: Vec<(usize, usize)>,
    /// The samples that are dealt out, if not all are; then `index` is its own index.
    pub(crate) selection: Option<Selection>,
}

/// A chunk in memory, with the data that a packer needs to find units in it.
pub(crate) struct Loaded<'a> {
    blocks: &'a [Block],
    first_sequence: u32,
}

impl Loaded<'_> {
    /// The number of the segment's sequence in the blocks.
    fn place_of(&self, segment: &Segment) -> usize {
        (segment.sequence - self.first_sequence) as usize
    }
}

/// The chunks of a plan's units, sorted.
pub(crate) type Slots = Vec<(SweptChunk, Arc<Slot>)>;

impl Packer {
    /// Fills `buffers` with the samples of a plan.
    pub(crate) fn pack(&self, plan: &Planned, slots: &Slots, buffers: &mut Buffers) -> Result<()> {
        let loaded: Vec<Loaded<'_>> = slots
            .iter()
            .map(|(chunk, slot)| {
                let first_sequence = self.index.chunk(chunk.chunk as usize).start;
                Ok(Loaded { blocks: slot.wait()?, first_sequence })
            })
            .collect::<Result<_>>()?;
        let mut found = Vec::with_capacity(plan.items.len());
        let chunks = || slots.iter().map(|(chunk, _)| *chunk);
        match slots.iter().all(|(chunk, _)| chunk.sweep == slots[0].0.sweep) {
            true => {
                // A table over the range of chunk numbers takes one load an item instead of a
                // search.
                let lowest = chunks().next().map_or(0, |first| first.chunk);
                let highest = chunks().next_back().map_or(0, |last| last.chunk);
                let mut place = vec![0u32; (highest - lowest) as usize + 1];
                for (i, chunk) in chunks().enumerate() {
                    place[(chunk.chunk - lowest) as usize] = i as u32;
                }
                let place = |item: &OrderedUnit| place[(item.chunk - lowest) as usize];
                self.find(plan, place, &mut found, buffers);
            }
            // Needed only if values change from sweep to sweep.
            false => {
                let before =
                    |item: &OrderedUnit| slots.partition_point(|(chunk, _)| *chunk < item.swept());
                self.find(plan, |item| before(item) as u32, &mut found, buffers);
            }
        }
        self.measure(&loaded, &found, buffers)?;
        let mut arrays = std::mem::take(&mut buffers.arrays);
        let mut rows = std::mem::take(&mut buffers.rows);
        let mut streams = arrays.iter_mut().zip(&mut rows).enumerate();
        let gathered =
            streams.try_for_each(|(number, (array, rows))| match self.streams[number].kind {
                Kind::Sparse => self.gather_sparse(number, &loaded, &found, buffers, array, rows),
                _ => self.gather(number, &loaded, &found, buffers, array),
            });
        (buffers.arrays, buffers.rows) = (arrays, rows);
        gathered
    }

    /// Notes the lengths of segments in streams that have their own, and arranges parallel rows.
    fn measure(&self, loaded: &[Loaded<'_>], found: &[u32], buffers: &mut Buffers) -> Result<()> {
        let Buffers { segments, offsets, own, .. } = buffers;
        for (number, stream) in self.streams.iter().enumerate() {
            let own = &mut own[number];
            if stream.extent == Extent::Own {
                own.measure(segments.iter().zip(found).map(|(segment, &place)| {
                    let chunk = &loaded[place as usize];
                    chunk.blocks[number].sequence_len(chunk.place_of(segment))
                }));
            }
            self.arrange.lay_out(stream, own, offsets);
            if self.arrange.is_truncated() && stream.extent == Extent::Own {
                self.check_truncated(stream, segments, own)?;
                // The segments are not whole sequences.
                own.offsets.clone_from(offsets);
            }
        }
        Ok(())
    }

    /// All streams must have the same number of samples in a sequence.
    fn check_truncated(&self, stream: &Stream, segments: &[Segment], own: &Lengths) -> Result<()> {
        for (segment, ends) in segments.iter().zip(own.offsets.windows(2)) {
            let expected = u64::from(self.index.samples(segment.sequence));
            let found = ends[1] - ends[0];
            if found != expected {
                return Err(Error::corpus(format!(
                    "stream {} has {found} samples, but the sequence has {expected}",
                    stream.name
                ))
                .of_key(self.index.key(segment.sequence))
                .with_help(
                    "sequences are truncated alike in all streams: give each as many samples",
                ));
            }
        }
        Ok(())
    }

    /// Gathers the rows of a sparse stream; padding is rows without values.
    fn gather_sparse(
        &self,
        number: usize,
        loaded: &[Loaded<'_>],
        found: &[u32],
        buffers: &Buffers,
        array: &mut Array,
        rows: &mut SparseRows,
    ) -> Result<()> {
        let stream = &self.streams[number];
        let size = stream.element.size();
        rows.indices.clear();
        rows.offsets.clear();
        rows.offsets.push(0);
        let mut end = 0;
        for i in self.arrange.in_order_of_rows(stream, number, buffers) {
            let (segment, chunk) = (&buffers.segments[i], &loaded[found[i] as usize]);
            let samples = chunk.blocks[number].sparse_samples(chunk.place_of(segment));
            let (first_row, count) = self.arrange.rows_of(stream, number, buffers, i);
            // Padding behind the previous segment.
            rows.offsets.resize(first_row + 1, end as u64);
            let first = match stream.extent {
                Extent::Sequence => 0,
                _ => segment.first as usize,
            };
            let values = samples.values_in(first..first + count);
            let start = end;
            for row in first..first + count {
                end += samples.values_in(row..row + 1).len();
                rows.offsets.push(end as u64);
            }
            rows.indices.extend_from_slice(&samples.indices[values.clone()]);
            if array.len() < end {
                array.resize(end)?;
            }
            array.bytes_mut()[start * size..end * size]
                .copy_from_slice(&samples.values[values.start * size..values.end * size]);
        }
        let shape = self.arrange.shape(stream, number, buffers);
        let all: usize = shape[..shape.len() - 1].iter().product();
        rows.offsets.resize(all + 1, end as u64);
        Ok(())
    }

    /// Finds each unit's sequence and samples.
    fn find(
        &self,
        plan: &Planned,
        place: impl Fn(&OrderedUnit) -> u32,
        found: &mut Vec<u32>,
        buffers: &mut Buffers,
    ) {
        let Buffers { segments, offsets, longest, .. } = buffers;
        segments.clear();
        segments.reserve_exact(plan.items.len());
        offsets.clear();
        offsets.reserve_exact(plan.items.len() + 1);
        offsets.push(0);
        *longest = 0;
        let mut end = 0;
        // The sequence of the previous frame, and the range of its samples. The next frame is often
        // in the same one.
        let (mut sequence, mut inside) = (0, 0..0);
        for (number, item) in plan.items.iter().enumerate() {
            let sequences = self.index.chunk(item.chunk as usize);
            let segment = match self.unit {
                Unit::Sequence => {
                    let sequence = sequences.start + item.number;
                    match plan.segments.get(number) {
                        None => Segment { sequence, first: 0, samples: item.samples },
                        Some(part) => {
                            Segment { sequence, first: part.first, samples: part.samples }
                        }
                    }
                }
                Unit::Frame => {
                    let sample = self.index.start(sequences.start) + u64::from(item.number);
                    if !inside.contains(&sample) {
                        sequence = self.index.sequence_at(sample, sequences);
                        inside = self.index.start(sequence)..self.index.start(sequence + 1);
                    }
                    let mut first = (sample - inside.start) as u32;
                    if let Some(selection) = &self.selection {
                        first = selection.sample(sequence, first);
                    }
                    Segment { sequence, first, samples: 1 }
                }
            };
            found.push(place(item));
            end += u64::from(segment.samples);
            *longest = (*longest).max(segment.samples as usize);
            segments.push(segment);
            offsets.push(end);
        }
        let cells = plan.segments.iter().map(|part| (part.row, part.column));
        self.arrange.lay_out_truncated(cells, &mut buffers.places);
    }

    /// Fills the buffer of stream `number` from the blocks that hold its segments.
    fn gather(
        &self,
        number: usize,
        loaded: &[Loaded<'_>],
        found: &[u32],
        buffers: &Buffers,
        array: &mut Array,
    ) -> Result<()> {
        let stream = &self.streams[number];
        let values: usize = self.arrange.shape(stream, number, buffers).iter().product();
        if array.len() < values {
            array.resize(values)?;
        }
        let row_bytes = stream.sample_bytes();
        let (left, right) = self.context[number];
        let padded = self.arrange.pads_behind(stream);
        // Padding may lie anywhere between the segments.
        let (offsets, longest) = buffers.lengths(stream, number);
        let full = offsets.last().is_some_and(|&end| end as usize * stream.dim == values);
        if self.arrange.pads_between() && !full {
            self.arrange.pad(stream, array, 0..values);
        }
        let parts = self.parts(number, loaded, found, buffers);
        let ask_for = |i: usize| {
            if let Some(part) = parts.get(i) {
                let length = part.samples.len();
                let first = part.first.saturating_sub(left).min(length);
                let end = (part.first + part.rows + right).clamp(first, length);
                ahead::ask_for(part.samples.rows(first..end));
            }
        };
        (0..AHEAD).for_each(ask_for);
        for (i, part) in parts.iter().enumerate() {
            ask_for(i + AHEAD);
            let BufferRows { samples, first, first_row, rows } = *part;
            let start = first_row * row_bytes;
            let out = &mut array.bytes_mut()[start..start + rows * row_bytes];
            match stream.extent {
                Extent::Sequence => out.copy_from_slice(samples.row(0)),
                Extent::Samples | Extent::Own => splice(samples, first, left, right, out),
            }
            if padded {
                let from = (first_row + rows) * stream.dim;
                let to = (first_row + longest) * stream.dim;
                self.arrange.pad(stream, array, from..to);
            }
        }
        Ok(())
    }

    /// The copies to make for a stream: one for each segment, or one for several consecutive frames
    /// of a sequence.
    fn parts<'a>(
        &self,
        number: usize,
        loaded: &[Loaded<'a>],
        found: &[u32],
        buffers: &Buffers,
    ) -> Vec<BufferRows<'a>> {
        let stream = &self.streams[number];
        let merge = self.unit == Unit::Frame && stream.extent == Extent::Samples;
        let mut parts: Vec<BufferRows<'a>> = Vec::with_capacity(found.len());
        let mut last = None;
        for (i, (segment, &place)) in buffers.segments.iter().zip(found).enumerate() {
            let first = segment.first as usize;
            let (first_row, rows) = self.arrange.rows_of(stream, number, buffers, i);
            if let Some(part) = parts.last_mut()
                && merge
                // The same sequence in another sweep may have other values.
                && last == Some((segment.sequence, place))
                && part.first + part.rows == first
            {
                part.rows += rows;
                continue;
            }
            last = Some((segment.sequence, place));
            let chunk = &loaded[place as usize];
            let samples = chunk.blocks[number].samples(chunk.place_of(segment));
            parts.push(BufferRows { samples, first, first_row, rows });
        }
        parts
    }
}

/// A part of a stream's buffer, and the source of its samples.
#[derive(Clone, Copy)]
struct BufferRows<'a> {
    /// The samples of the sequence.
    samples: Samples<'a>,
    /// The first wanted sample, without context.
    first: usize,
    /// Its first row in the buffer.
    first_row: usize,
    rows: usize,
}

/// Fills `out` with rows of spliced samples from sample `first` on. Each row has `left` samples
/// before and `right` samples after its own. The sequence's first and last sample are repeated
/// beyond its ends.
fn splice(samples: Samples<'_>, first: usize, left: usize, right: usize, out: &mut [u8]) {
    let width = left + 1 + right;
    let row = samples.row_bytes();
    let rows = out.len() / (row * width);
    if width == 1 {
        out.copy_from_slice(samples.rows(first..first + rows));
        return;
    }
    let length = samples.len();
    for (t, out) in (first..).zip(out.chunks_exact_mut(row * width)) {
        if t >= left && t + right < length {
            out.copy_from_slice(samples.rows(t - left..t + right + 1));
        } else {
            for (offset, out) in out.chunks_exact_mut(row).enumerate() {
                let neighbour = (t + offset).saturating_sub(left).min(length - 1);
                out.copy_from_slice(samples.row(neighbour));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seqfeed_core::Element;

    fn spliced(values: &[i32], first: usize, rows: usize, left: usize, right: usize) -> Vec<i32> {
        let mut block = Block::new(Element::I32, 1);
        block.push_i32(values.len()).copy_from_slice(values);
        let mut out = vec![0i32; rows * (left + 1 + right)];
        splice(block.samples(0), first, left, right, bytemuck::cast_slice_mut(&mut out));
        out
    }

    #[test]
    fn context_repeats_the_edges_of_the_sequence() {
        assert_eq!(spliced(&[1, 2, 3], 0, 3, 0, 0), [1, 2, 3]);
        assert_eq!(spliced(&[1, 2, 3], 0, 3, 1, 1), [1, 1, 2, 1, 2, 3, 2, 3, 3]);
        assert_eq!(spliced(&[1, 2, 3], 2, 1, 2, 1), [1, 2, 3, 3]);
        assert_eq!(spliced(&[7], 0, 1, 3, 2), [7; 6]);
        assert_eq!(spliced(&[1, 2, 3], 1, 1, 4, 0), [1, 1, 1, 1, 2]);
    }
}

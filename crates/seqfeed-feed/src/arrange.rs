//! The last stage: it decides where the samples of a minibatch lie in memory.

use std::sync::Arc;

use seqfeed_core::{Array, Extent, Kind, Stream, bf16, f16};

use crate::buffers::{Buffers, Lengths, RowPositions};
use crate::settings::{Layout, Padding, Settings, Unit};

/// The layout of all minibatches of a feed.
#[derive(Clone, Debug)]
pub(crate) struct Arrange {
    pub(crate) layout: Layout,
    /// Rows and columns of truncated sequences.
    rows: (usize, usize),
    label_padding: i32,
    feature_padding: f32,
    /// The padding of single streams.
    padding: Arc<[Padding]>,
}

impl Arrange {
    /// The layout of the settings. `rows` has the rows and columns of truncated sequences, if there
    /// are any.
    pub(crate) fn new(settings: &Settings, rows: Option<(usize, usize)>) -> Self {
        let layout = match (settings.unit, settings.layout) {
            _ if rows.is_some() => Layout::Truncated,
            (Unit::Frame, _) => Layout::Frames,
            (Unit::Sequence, Layout::Frames | Layout::Truncated) => Layout::Padded,
            (Unit::Sequence, layout) => layout,
        };
        let Settings { label_padding, feature_padding, .. } = *settings;
        let (rows, padding) = (rows.unwrap_or_default(), settings.padding.clone().into());
        Self { layout, rows, label_padding, feature_padding, padding }
    }

    /// Whether segments are parts of truncated sequences. All streams are cut alike then.
    pub(crate) fn is_truncated(&self) -> bool {
        self.layout == Layout::Truncated
    }

    /// The shape of a stream's buffer; the last number is its dim.
    pub(crate) fn shape(&self, stream: &Stream, number: usize, buffers: &Buffers) -> Vec<usize> {
        if stream.extent == Extent::Sequence {
            return vec![buffers.segments.len(), stream.dim];
        }
        if let Some(places) = self.places(number, buffers) {
            return vec![places.rows, places.width, stream.dim];
        }
        let (offsets, longest) = buffers.lengths(stream, number);
        match self.layout {
            Layout::Padded => vec![buffers.segments.len(), longest, stream.dim],
            _ => vec![offsets.last().map_or(0, |&end| end as usize), stream.dim],
        }
    }

    /// The first sample of a segment in a stream's buffer, and the number of its samples.
    pub(crate) fn rows_of(
        &self,
        stream: &Stream,
        number: usize,
        buffers: &Buffers,
        segment: usize,
    ) -> (usize, usize) {
        if stream.extent == Extent::Sequence {
            return (segment, 1);
        }
        let (offsets, longest) = buffers.lengths(stream, number);
        let samples = (offsets[segment + 1] - offsets[segment]) as usize;
        if let Some(places) = self.places(number, buffers) {
            return (places.starts[segment] as usize, samples);
        }
        match self.layout {
            Layout::Padded => (segment * longest, samples),
            _ => (offsets[segment] as usize, samples),
        }
    }

    /// The positions of the segments of a stream in parallel rows, if the layout has rows.
    fn places<'a>(&self, number: usize, buffers: &'a Buffers) -> Option<&'a RowPositions> {
        match self.layout {
            Layout::Packed => Some(&buffers.own[number].places),
            Layout::Truncated => Some(&buffers.places),
            Layout::Frames | Layout::Padded | Layout::Concatenated => None,
        }
    }

    /// Places each segment of truncated sequences at its row and column.
    pub(crate) fn lay_out_truncated(
        &self,
        cells: impl Iterator<Item = (u32, u32)>,
        places: &mut RowPositions,
    ) {
        let (rows, width) = self.rows;
        let starts = cells.map(|(row, column)| u64::from(row) * width as u64 + u64::from(column));
        places.starts.clear();
        places.starts.extend(starts);
        (places.rows, places.width) = (rows, width);
    }

    /// Places the segments of a stream where there is room, if the layout does so. It uses the
    /// lengths in this stream, or those of all streams.
    pub(crate) fn lay_out(&self, stream: &Stream, own: &mut Lengths, offsets: &[u64]) {
        match stream.extent {
            Extent::Own if self.layout == Layout::Packed => own.lay_out(None),
            Extent::Samples if self.layout == Layout::Packed => own.lay_out(Some(offsets)),
            _ => {}
        }
    }

    /// The segments of a stream in the order of their positions in its buffer.
    pub(crate) fn in_order_of_rows(
        &self,
        stream: &Stream,
        number: usize,
        buffers: &Buffers,
    ) -> Vec<usize> {
        let mut order: Vec<usize> = (0..buffers.segments.len()).collect();
        if self.layout == Layout::Packed && stream.extent != Extent::Sequence {
            order.sort_by_key(|&segment| buffers.own[number].places.starts[segment]);
        }
        order
    }

    /// Whether padding may lie anywhere between the segments.
    pub(crate) fn pads_between(&self) -> bool {
        matches!(self.layout, Layout::Packed | Layout::Truncated)
    }

    /// Whether each segment of a stream is padded at its end.
    pub(crate) fn pads_behind(&self, stream: &Stream) -> bool {
        self.layout == Layout::Padded && stream.extent != Extent::Sequence
    }

    /// Pads a range of values: with the padding label, or with the padding value.
    pub(crate) fn pad(&self, stream: &Stream, array: &mut Array, range: std::ops::Range<usize>) {
        let own = self.padding.iter().find(|padding| padding.stream == stream.name);
        let own = own.map(|padding| padding.value);
        match array {
            Array::I32(values) if stream.kind == Kind::Label => {
                values[range].fill(own.map_or(self.label_padding, |value| value as i32));
            }
            Array::I64(values) if stream.kind == Kind::Label => {
                values[range].fill(own.map_or(self.label_padding.into(), |value| value as i64));
            }
            Array::F32(values) => {
                values[range].fill(own.map_or(self.feature_padding, |value| value as f32));
            }
            Array::F16(values) => {
                values[range].fill(f16::from_f64(own.unwrap_or(self.feature_padding.into())));
            }
            Array::BF16(values) => {
                values[range].fill(bf16::from_f64(own.unwrap_or(self.feature_padding.into())));
            }
            Array::F64(values) => values[range].fill(own.unwrap_or(self.feature_padding.into())),
            array => {
                let size = array.element().size();
                array.bytes_mut()[range.start * size..range.end * size].fill(0);
            }
        }
    }

    /// The most samples in the buffer of a stream, padding included. `samples` is the number of
    /// samples of a minibatch, `padded` the number with padding to the longest segment, and
    /// `longest` the number in that segment.
    pub(crate) fn most_samples(&self, samples: u64, padded: u64, longest: u64) -> u64 {
        match self.layout {
            Layout::Frames | Layout::Concatenated => samples,
            Layout::Padded => padded,
            // Segments go where there is room: at most one of all rows is half empty or more.
            Layout::Packed => padded.min(samples.saturating_mul(2).saturating_add(longest)),
            Layout::Truncated => (self.rows.0 as u64).saturating_mul(self.rows.1 as u64),
        }
    }

    /// Whether a stream has its own list of lengths or rows.
    pub(crate) fn notes_own(&self, stream: &Stream) -> bool {
        stream.extent == Extent::Own || self.layout == Layout::Packed
    }
}

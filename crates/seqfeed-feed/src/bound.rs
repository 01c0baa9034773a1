//! An upper bound for the memory of a feed.
//!
//! All memory is counted before any of it is taken: chunks that are needed at a time, minibatches
//! with their padding, the order's own memory, and what sources keep and need for loading.

use seqfeed_core::{Extent, Kind, Most, Source, Stream};

use crate::arrange::Arrange;
use crate::buffers::Segment;
use crate::cut::Largest;
use crate::order::{OrderedUnit, largest_chunk};
use crate::settings::Settings;
use crate::stages::Needs;

/// An upper bound for the memory of a feed, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bound {
    /// Chunks that are in memory at the same time.
    pub(crate) chunks: u64,
    /// Everything else: minibatches, orders, memory of the sources.
    pub(crate) others: u64,
}

impl Bound {
    pub(crate) fn total(self) -> u64 {
        self.chunks.saturating_add(self.others)
    }

    /// `streams` are the delivered streams. `dropped` is the number of samples that are loaded with
    /// the others, but not dealt out. `varies` says that chunks have other values in each sweep.
    pub(crate) fn new(
        source: &dyn Source,
        settings: &Settings,
        needs: &Needs,
        arrange: &Arrange,
        streams: &[Stream],
        dropped: u64,
        varies: bool,
    ) -> Self {
        let loading = source.loading_bytes().saturating_mul(settings.threads as u64);
        let others = [
            source.kept_bytes(),
            loading,
            minibatches(source, settings, arrange, streams, &needs.largest),
            needs.bytes,
        ];
        Self {
            chunks: chunks(source, settings, needs, dropped, varies),
            others: others.into_iter().fold(0, u64::saturating_add),
        }
    }
}

/// The chunks that are in memory at the same time: those of the window, and those of minibatches
/// that are being packed. If values change from sweep to sweep, the chunks of two sweeps are in
/// memory at the end of a sweep, or of more where minibatches run over the ends of short sweeps.
fn chunks(
    source: &dyn Source,
    settings: &Settings,
    needs: &Needs,
    dropped: u64,
    varies: bool,
) -> u64 {
    let index = source.index();
    let chunk = |number: usize| -> u64 {
        let streams = source.streams().iter().enumerate();
        let held = streams.filter(|(stream, _)| source.is_held(*stream));
        let bytes = held.map(|(number_of, stream)| {
            source.most(number_of, index.chunk(number)).block_bytes(stream)
        });
        let spans = u64::from(index.chunk(number).end - index.chunk(number).start) * SPAN_BYTES;
        bytes.fold(spans, u64::saturating_add)
    };
    let (mut all, mut dearest) = (0u64, 0f64);
    for number in 0..index.chunk_count() {
        let (bytes, samples) = (chunk(number), index.chunk_samples(number).max(1));
        all = all.saturating_add(bytes);
        dearest = dearest.max(bytes as f64 / samples as f64);
    }
    // The run goes on by at most this many samples while its minibatches are packed.
    let packed = needs.step.saturating_mul(settings.threads as u64 + 1);
    let samples = [dropped, packed, largest_chunk(index)]
        .into_iter()
        .fold(needs.samples, u64::saturating_add);
    if varies {
        let bytes = (samples as f64 * 2.0 * dearest).ceil() as u64;
        return bytes.saturating_add(bytes / 8);
    }
    let bytes = (samples.min(index.total_samples()) as f64 * dearest).ceil();
    // Memory that is used again may be somewhat larger than its contents.
    let bytes = (bytes as u64).min(all);
    bytes.saturating_add(bytes / 8)
}

/// The most bytes that a block notes for a sequence: its list grows by doubling.
const SPAN_BYTES: u64 = 48;

/// All minibatches that exist at the same time, and the memory that packing needs beside them.
fn minibatches(
    source: &dyn Source,
    settings: &Settings,
    arrange: &Arrange,
    streams: &[Stream],
    largest: &Largest,
) -> u64 {
    let index = source.index();
    let mut bytes = 0u64;
    for (number, stream) in streams.iter().enumerate() {
        let one = source.most_of_one(number);
        let (samples, padded, longest) = match stream.extent {
            Extent::Sequence => (largest.segments, largest.segments, 1),
            Extent::Samples => (largest.samples, largest.padded, largest.longest),
            // Frames can be dealt out only if each stream has one sample for each frame.
            Extent::Own if is_within_index(source, number) => {
                (largest.samples, largest.padded, largest.longest)
            }
            Extent::Own => {
                let samples = largest.segments.saturating_mul(one.samples);
                (samples, samples, one.samples)
            }
        };
        let rows = match stream.extent {
            Extent::Sequence => samples,
            _ => arrange.most_samples(samples, padded, longest),
        };
        bytes = bytes.saturating_add(match stream.kind {
            Kind::Sparse => {
                let all = source.most(number, 0..index.len() as u32).values;
                let values = largest.segments.saturating_mul(one.values);
                let values = if largest.repeats { values } else { values.min(all) };
                Most { samples: rows, values }.block_bytes(stream)
            }
            _ => rows.saturating_mul(stream.sample_bytes() as u64),
        });
        bytes = bytes.saturating_add(if arrange.notes_own(stream) {
            largest.segments.saturating_mul(64)
        } else {
            0
        });
    }
    // Segments, their offsets, and their positions in rows.
    let notes = largest.segments.saturating_mul((size_of::<Segment>() + 8 + 16) as u64);
    // The minibatches in the queue, one that the trainer waits for, and one in its hands.
    let there = settings.queue.max(1) as u64 + 2;
    let there = bytes.saturating_add(notes).saturating_mul(there);
    // Units of plans (a list that grows), and the positions of their samples.
    let planned =
        largest.segments.saturating_mul((3 * size_of::<OrderedUnit>() + PACKING_BYTES) as u64);
    there.saturating_add(planned.saturating_mul(settings.threads as u64 + 1))
}

/// The bytes that a packing thread notes for a segment.
const PACKING_BYTES: usize = 160;

/// Whether no sequence has more samples in a stream than in the index.
fn is_within_index(source: &dyn Source, stream: usize) -> bool {
    let index = source.index();
    (0..index.len() as u32).all(|sequence| {
        source.most(stream, sequence..sequence + 1).samples <= u64::from(index.samples(sequence))
    })
}

//! How much memory a feed takes at most.
//!
//! All is counted before any of it is taken: chunks that are needed at a time, minibatches with
//! their padding, what sources keep and need to load, and the order's own memory.

use std::collections::BTreeMap;

use seqfeed_core::{Extent, Index, Kind, Most, Source, Stream};

use crate::minibatch::Piece;
use crate::order::Item;
use crate::place::Place;
use crate::plan::Planner;
use crate::settings::{BatchSize, Cut, Order, Partial, Settings, Shard, Unit, Window};

/// What memory a feed takes at most, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bound {
    /// Chunks that are in memory at a time.
    pub(crate) chunks: u64,
    /// All else: minibatches, orders, what sources keep and need.
    pub(crate) others: u64,
}

impl Bound {
    pub(crate) fn total(self) -> u64 {
        self.chunks.saturating_add(self.others)
    }

    /// `streams` are those that are delivered. `dropped` samples are not dealt out, but loaded
    /// with the others.
    pub(crate) fn new(
        source: &dyn Source,
        planner: &Planner,
        place: &Place,
        streams: &[Stream],
        dropped: u64,
    ) -> Self {
        let settings = planner.settings();
        let largest = Largest::of(source.index(), settings, planner.rows().unwrap_or_default());
        let loading = source.loading_bytes().saturating_mul(settings.threads as u64);
        let others = [
            source.kept_bytes(),
            loading,
            minibatches(source, settings, place, streams, &largest),
            order(source.index(), planner),
        ];
        Self {
            chunks: chunks(source, planner, &largest, dropped),
            others: others.into_iter().fold(0, u64::saturating_add),
        }
    }
}

/// The largest minibatch that can come.
#[derive(Clone, Copy, Debug)]
struct Largest {
    /// Frames or sequences, or pieces of these.
    pieces: u64,
    /// Samples without padding.
    samples: u64,
    /// Samples with padding to the longest one.
    padded: u64,
    /// Samples of the longest sequence (or frame).
    longest: u64,
    /// Rows and samples in a row, where sequences are truncated.
    rows: (u64, u64),
    /// Whether a sequence can come twice.
    repeats: bool,
}

impl Largest {
    fn of(index: &Index, settings: &Settings, rows: (usize, usize)) -> Self {
        let rows = (rows.0 as u64, rows.1 as u64);
        // Where minibatches go on over the ends of sweeps, they may be larger than one.
        let repeats =
            matches!(settings.cut, Cut::Timeline | Cut::Worker { cross_sweeps: true, .. });
        let lengths = Lengths::of(index, settings.unit, repeats);
        let ranks = settings.ranks as u64;
        // Chunks are divided after all ranks' minibatch was cut: all of it may be one rank's.
        let all = if settings.shard == Shard::Chunks { ranks } else { 1 };
        let own = |size: u64| match settings.cut {
            Cut::Timeline | Cut::Worker { local_timeline: true, .. } => size.div_ceil(ranks),
            _ => size.saturating_mul(all),
        };
        let (pieces, samples, padded) = match settings.batch {
            _ if rows.1 > 0 => {
                let samples = rows.0.saturating_mul(rows.1);
                // One that goes on, whole ones, and one that begins.
                let in_row = (rows.1 / lengths.shortest()).saturating_add(2).min(rows.1);
                (rows.0.saturating_mul(in_row), samples, samples)
            }
            BatchSize::Samples(size) => lengths.within(own(size)),
            BatchSize::Units(size) => {
                let pieces = if repeats { size } else { own(size).min(lengths.units) };
                let samples = pieces.saturating_mul(lengths.longest());
                (pieces, samples, samples)
            }
            BatchSize::Padded(size) => {
                let size = own(size).max(lengths.longest());
                (size / lengths.shortest(), size, size)
            }
        };
        let mut largest =
            Self { pieces, samples, padded, longest: lengths.longest(), rows, repeats };
        if settings.partial == Partial::Even && settings.unit == Unit::Sequence && ranks > 1 {
            // What is left is spread by numbers of sequences, whatever their lengths.
            largest.padded = pieces.saturating_mul(largest.longest);
            largest.samples = samples.saturating_mul(ranks).min(largest.padded);
        }
        largest
    }
}

/// How many units there are of each length.
struct Lengths {
    counts: BTreeMap<u32, u64>,
    units: u64,
    repeats: bool,
}

impl Lengths {
    fn of(index: &Index, unit: Unit, repeats: bool) -> Self {
        if unit == Unit::Frame {
            let units = index.total_samples();
            return Self { counts: BTreeMap::from([(1, units)]), units, repeats };
        }
        let units = index.len() as u64;
        let mut counts = BTreeMap::new();
        // Neighbours are often as long.
        let mut run = (0, 0);
        for sequence in 0..index.len() as u32 {
            let samples = index.samples(sequence).max(1);
            if samples != run.0 {
                *counts.entry(run.0).or_insert(0) += run.1;
                run = (samples, 0);
            }
            run.1 += 1;
        }
        *counts.entry(run.0).or_insert(0) += run.1;
        counts.retain(|_, count| *count > 0);
        Self { counts, units, repeats }
    }

    fn shortest(&self) -> u64 {
        self.counts.first_key_value().map_or(1, |(&samples, _)| samples.into())
    }

    fn longest(&self) -> u64 {
        self.counts.last_key_value().map_or(1, |(&samples, _)| samples.into())
    }

    /// The most units, samples, and samples with padding in a minibatch of so many samples.
    fn within(&self, size: u64) -> (u64, u64, u64) {
        let samples = size.max(self.longest());
        if self.repeats {
            let pieces = (size / self.shortest()).max(1);
            let padded = self.counts.keys().map(|&longest| {
                let rest = size.saturating_sub(longest.into());
                (1 + rest / self.shortest()).saturating_mul(longest.into())
            });
            return (pieces, samples, padded.max().unwrap_or(0));
        }
        // The shortest ones, as many as there is room for, beside one of each length.
        let shortest: Vec<(u64, u64)> =
            self.counts.iter().map(|(&samples, &count)| (samples.into(), count)).collect();
        let mut before = vec![(0u64, 0u64)];
        for &(samples, count) in &shortest {
            let &(units, total) = before.last().unwrap_or(&(0, 0));
            before.push((units + count, total.saturating_add(samples.saturating_mul(count))));
        }
        let fit = |room: u64| {
            let whole = before.partition_point(|&(_, total)| total <= room) - 1;
            let (units, total) = before[whole];
            units + shortest.get(whole).map_or(0, |&(samples, _)| (room - total) / samples)
        };
        let padded = shortest.iter().map(|&(longest, _)| {
            let others = fit(size.saturating_sub(longest));
            (1 + others).min(self.units).saturating_mul(longest)
        });
        (fit(size).max(1), samples, padded.max().unwrap_or(0))
    }
}

/// Chunks that are in memory at a time: those of the window, and of minibatches that are
/// being packed.
fn chunks(source: &dyn Source, planner: &Planner, largest: &Largest, dropped: u64) -> u64 {
    let (index, settings) = (source.index(), planner.settings());
    let chunk = |number: usize| -> u64 {
        let streams = source.streams().iter().enumerate();
        let held = streams.filter(|(stream, _)| source.is_held(*stream));
        let bytes = held.map(|(number_of, stream)| {
            source.most(number_of, index.chunk(number)).block_bytes(stream)
        });
        let spans = u64::from(index.chunk(number).end - index.chunk(number).start) * SPAN_BYTES;
        bytes.fold(spans, u64::saturating_add)
    };
    let (mut all, mut dearest, mut largest_chunk) = (0u64, 0f64, 0);
    for number in 0..index.chunk_count() {
        let (bytes, samples) = (chunk(number), index.chunk_samples(number).max(1));
        all = all.saturating_add(bytes);
        dearest = dearest.max(bytes as f64 / samples as f64);
        largest_chunk = largest_chunk.max(samples);
    }
    // A pool of like lengths holds its chunks beside those of the window, and the one before may be
    // packed still.
    let pool = settings
        .bucket
        .map_or(0, |bucket| (bucket as u64).saturating_mul(largest.longest).saturating_mul(2));
    // So far a run goes on while its minibatches are packed.
    let in_steps = largest.samples.saturating_mul(match settings.cut {
        Cut::Timeline => 1,
        _ => settings.ranks as u64,
    });
    let packed = in_steps.saturating_mul(settings.threads as u64 + 1).saturating_add(largest_chunk);
    // Each row may hold sequences of chunks of its own.
    let rows = largest.rows.0.saturating_mul(largest_chunk.saturating_mul(2) + largest.rows.1);
    let samples = [pool, dropped, packed, rows]
        .into_iter()
        .fold(planner.most_samples(index), u64::saturating_add);
    let bytes = (samples.min(index.total_samples()) as f64 * dearest).ceil();
    // Memory that is used again may be somewhat larger than what is loaded into it.
    let bytes = (bytes as u64).min(all);
    bytes.saturating_add(bytes / 8)
}

/// What a block notes of a sequence, at most: notes are kept in memory that grows.
const SPAN_BYTES: u64 = 48;

/// All minibatches that are there at a time, and what packing needs beside them.
fn minibatches(
    source: &dyn Source,
    settings: &Settings,
    place: &Place,
    streams: &[Stream],
    largest: &Largest,
) -> u64 {
    let index = source.index();
    let mut bytes = 0u64;
    for (number, stream) in streams.iter().enumerate() {
        let one = source.most_of_one(number);
        let (samples, padded, longest) = match stream.extent {
            Extent::Sequence => (largest.pieces, largest.pieces, 1),
            Extent::Samples => (largest.samples, largest.padded, largest.longest),
            // Frames are dealt out of streams that have one sample for each only.
            Extent::Own if is_within_index(source, number) => {
                (largest.samples, largest.padded, largest.longest)
            }
            Extent::Own => {
                let samples = largest.pieces.saturating_mul(one.samples);
                (samples, samples, one.samples)
            }
        };
        let rows = match stream.extent {
            Extent::Sequence => samples,
            _ => place.most_samples(samples, padded, longest),
        };
        bytes = bytes.saturating_add(match stream.kind {
            Kind::Sparse => {
                let all = source.most(number, 0..index.len() as u32).values;
                let values = largest.pieces.saturating_mul(one.values);
                let values = if largest.repeats { values } else { values.min(all) };
                Most { samples: rows, values }.block_bytes(stream)
            }
            _ => rows.saturating_mul(stream.sample_bytes() as u64),
        });
        bytes = bytes.saturating_add(if place.notes_own(stream) {
            largest.pieces.saturating_mul(64)
        } else {
            0
        });
    }
    // Pieces, their offsets, and the numbers of those that lie in rows.
    let notes = largest.pieces.saturating_mul((size_of::<Piece>() + 8 + 16) as u64);
    // Those that wait, one that is waited for, and one in the hands of the trainer.
    let there = settings.queue.max(1) as u64 + 2;
    let there = bytes.saturating_add(notes).saturating_mul(there);
    // Units that were planned (a list that grows), and where their samples are.
    let planned = largest.pieces.saturating_mul((3 * size_of::<Item>() + PACKING_BYTES) as u64);
    there.saturating_add(planned.saturating_mul(settings.threads as u64 + 1))
}

/// What a thread that packs notes of a piece.
const PACKING_BYTES: usize = 160;

/// Whether no sequence has more samples in a stream than the index says.
fn is_within_index(source: &dyn Source, stream: usize) -> bool {
    let index = source.index();
    (0..index.len() as u32).all(|sequence| {
        source.most(stream, sequence..sequence + 1).samples <= u64::from(index.samples(sequence))
    })
}

/// What an order remembers: the units of its window and of what it has swapped ahead, the
/// order of chunks.
fn order(index: &Index, planner: &Planner) -> u64 {
    let settings = planner.settings();
    let window = planner.most_samples(index);
    let units = match settings.unit {
        Unit::Frame => window,
        Unit::Sequence => window.min(index.len() as u64),
    };
    let pool = settings.bucket.map_or(0, |bucket| (bucket as u64).min(index.len() as u64));
    let noted = match settings.order {
        Order::Sequential => 0,
        _ if matches!(settings.cut, Cut::Partitions { .. }) => units.saturating_mul(8),
        Order::Shuffle(Window::Corpus) if settings.cut == Cut::Steps => {
            index.len() as u64 * 4 + index.total_samples() / 128
        }
        _ => units.saturating_mul(16).saturating_add(index.chunk_count() as u64 * 64),
    };
    noted.saturating_add(pool.saturating_mul(4 * size_of::<Item>() as u64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use seqfeed_core::{IndexBuilder, Key};

    use super::*;

    fn index(lengths: &[u32]) -> Index {
        let mut builder = IndexBuilder::new(100);
        lengths.iter().for_each(|&length| builder.push(Key(b"k"), length));
        builder.finish()
    }

    #[test]
    fn one_long_sequence_pads_many_short_ones() {
        let mut lengths = vec![1; 5000];
        lengths.push(5000);
        let (pieces, samples, padded) =
            Lengths::of(&index(&lengths), Unit::Sequence, false).within(10_000);
        assert_eq!((pieces, samples, padded), (5001, 10_000, 5001 * 5000));
    }

    proptest! {
        #[test]
        fn no_subset_is_larger(
            lengths in prop::collection::vec(prop_oneof![1u32..4, 1u32..40], 1..30),
            chosen in prop::collection::vec(any::<bool>(), 30),
            size in 1u64..120,
        ) {
            let all = Lengths::of(&index(&lengths), Unit::Sequence, false);
            let (pieces, samples, padded) = all.within(size);
            // As a minibatch is cut: nothing that exceeds it, but one at least.
            let (mut count, mut sum, mut longest) = (0u64, 0u64, 0u64);
            for (&length, _) in lengths.iter().zip(&chosen).filter(|(_, chosen)| **chosen) {
                if count > 0 && sum + u64::from(length) > size {
                    continue;
                }
                (count, sum, longest) = (count + 1, sum + u64::from(length), longest.max(length.into()));
            }
            prop_assert!(count <= pieces && sum <= samples && count * longest <= padded);
        }
    }
}

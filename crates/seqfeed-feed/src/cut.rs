//! The cut: minibatches end at their size, at a seam of the order, or where the run ends.

use std::collections::BTreeMap;
use std::sync::Arc;

use seqfeed_core::Index;

use crate::order::{OrderedUnit, Units};
use crate::settings::{BatchSize, Limits, Unit};
use crate::tokens::Tokens;

/// Cuts an order into minibatches.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    unit: Unit,
    /// Size of a minibatch.
    size: BatchSize,
    /// Limits beside the size.
    limits: Limits,
    /// What counts for the limit of tokens.
    tokens: Option<Arc<Tokens>>,
}

impl Cut {
    /// Cuts minibatches that are `scale` times as large as `size`.
    pub(crate) fn new(unit: Unit, size: BatchSize, scale: u64) -> Self {
        let size = match size {
            BatchSize::Samples(size) => BatchSize::Samples(size.saturating_mul(scale)),
            BatchSize::Units(size) => BatchSize::Units(size.saturating_mul(scale)),
            BatchSize::Padded(size) => BatchSize::Padded(size.saturating_mul(scale)),
        };
        Self { unit, size, limits: Limits::default(), tokens: None }
    }

    /// The same cut within limits, one of them of tokens if these are given.
    pub(crate) fn within(self, limits: Limits, tokens: Option<Arc<Tokens>>) -> Self {
        Self { limits, tokens, ..self }
    }

    /// Bytes of the lengths that count for the limit of tokens.
    pub(crate) fn tokens_bytes(&self) -> u64 {
        self.tokens.as_ref().map_or(0, |tokens| tokens.bytes())
    }

    pub(crate) fn size(&self) -> BatchSize {
        self.size
    }

    /// An empty minibatch.
    pub(crate) fn filling(&self) -> Filling {
        Filling {
            size: self.size,
            limits: self.limits,
            tokens: self.tokens.clone(),
            units: 0,
            cost: 0,
            dearest: 0,
            longest: 0,
            all_tokens: 0,
        }
    }

    /// The number of units that fill a minibatch, if it does not depend on their lengths.
    pub(crate) fn units(&self) -> Option<u64> {
        match (self.size, self.unit) {
            (BatchSize::Samples(size), Unit::Frame) => Some(size),
            (BatchSize::Units(size), _) if !self.limits.by_length() => Some(size),
            _ => None,
        }
    }

    /// Whether a minibatch at the end of a sweep is as large as any other. A minibatch of sequences
    /// of different lengths always counts as full.
    pub(crate) fn is_full(&self, items: &[OrderedUnit]) -> bool {
        self.units().is_none_or(|units| items.len() as u64 >= units)
    }

    /// The next minibatch of a sweep, of at most the number of frames that the run has left. `None`
    /// at the end of the sweep.
    pub(crate) fn take(&self, units: &mut Units, left: Option<u64>) -> Option<Vec<OrderedUnit>> {
        let mut items = Vec::new();
        match self.units() {
            Some(size) => {
                let left = left.filter(|_| self.unit == Unit::Frame).unwrap_or(u64::MAX);
                let until_seam = units.seam(units.item()).saturating_sub(units.item());
                units.take_many(size.min(left).min(until_seam), &mut items);
            }
            None => {
                let mut filling = self.filling();
                while let Some(item) = units.peek()
                    && filling.takes(&item)
                {
                    items.push(item);
                    units.take();
                }
            }
        }
        (!items.is_empty()).then_some(items)
    }

    /// The first unit, from `item` on, with `count` full minibatches between it and the end of the
    /// sweep. Units that do not fill a minibatch before a seam do not count. `None` if there is no
    /// such unit, or if any minibatch counts as full.
    pub(crate) fn first_full(&self, units: &Units, mut item: u64, count: usize) -> Option<u64> {
        let size = self.units()?;
        let (mut first, mut found) = (None, 0);
        while found < count && item < units.total() {
            let seam = units.seam(item);
            if seam - item < size {
                item = seam;
                continue;
            }
            first.get_or_insert(item);
            // The full minibatches before the seam, but no more than are asked for.
            let here = ((seam - item) / size).min((count - found) as u64);
            found += here as usize;
            item += here * size;
        }
        first.filter(|_| found >= count)
    }

    /// The largest minibatch that can occur. `repeats` says that a sequence may come twice in it.
    pub(crate) fn largest(&self, lengths: &Lengths, repeats: bool) -> Largest {
        let (segments, samples, padded) = match self.size {
            BatchSize::Samples(size) => lengths.within(size, repeats),
            BatchSize::Units(size) => {
                let segments = if repeats { size } else { size.min(lengths.units) };
                let samples = segments.saturating_mul(lengths.longest());
                (segments, samples, samples)
            }
            BatchSize::Padded(size) => {
                let size = size.max(lengths.longest());
                (size / lengths.shortest(), size, size)
            }
        };
        let longest = lengths.longest();
        let segments = segments.min(self.limits.sequences.unwrap_or(u64::MAX));
        let most_padded = self.limits.padded.map_or(u64::MAX, |limit| limit.max(longest));
        let padded = padded.min(most_padded).min(segments.saturating_mul(longest));
        Largest { segments, samples: samples.min(padded), padded, longest, repeats }
    }
}

/// A minibatch that is being filled.
pub(crate) struct Filling {
    size: BatchSize,
    limits: Limits,
    tokens: Option<Arc<Tokens>>,
    units: u64,
    /// The sum of the costs of its units, and the largest. A cost is a number of samples unless
    /// long sequences cost more.
    cost: u64,
    dearest: u64,
    longest: u64,
    all_tokens: u64,
}

impl Filling {
    /// Whether one more unit fits. If so, it is counted. The first unit always fits.
    pub(crate) fn takes(&mut self, item: &OrderedUnit) -> bool {
        let (units, samples) = (self.units + 1, item.samples);
        let more = self.tokens.as_ref().map_or(0, |tokens| tokens.of(item));
        let all_tokens = self.all_tokens.saturating_add(more);
        let cost = self.limits.cost(samples);
        let (total, dearest) = (self.cost.saturating_add(cost), self.dearest.max(cost));
        let longest = self.longest.max(u64::from(samples));
        let fits = match self.size {
            BatchSize::Samples(limit) => total <= limit,
            BatchSize::Units(limit) => units <= limit,
            BatchSize::Padded(limit) => dearest.saturating_mul(units) <= limit,
        };
        let Limits { sequences, padded, tokens, .. } = self.limits;
        let fits = fits
            && sequences.is_none_or(|limit| units <= limit)
            && padded.is_none_or(|limit| longest.saturating_mul(units) <= limit)
            && tokens.is_none_or(|limit| all_tokens <= limit);
        if fits || self.units == 0 {
            (self.units, self.cost, self.dearest, self.longest) = (units, total, dearest, longest);
            self.all_tokens = all_tokens;
            return true;
        }
        false
    }
}

/// The largest minibatch that can occur.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Largest {
    /// The number of frames or sequences, or segments of sequences.
    pub(crate) segments: u64,
    /// Samples without padding.
    pub(crate) samples: u64,
    /// Samples with padding to the longest sequence.
    pub(crate) padded: u64,
    /// Samples of the longest sequence (or frame).
    pub(crate) longest: u64,
    /// Whether a sequence may come twice.
    pub(crate) repeats: bool,
}

/// The number of units of each length.
pub(crate) struct Lengths {
    counts: BTreeMap<u32, u64>,
    units: u64,
}

impl Lengths {
    pub(crate) fn of(index: &Index, unit: Unit) -> Self {
        if unit == Unit::Frame {
            let units = index.total_samples();
            return Self { counts: BTreeMap::from([(1, units)]), units };
        }
        let units = index.len() as u64;
        let mut counts = BTreeMap::new();
        // Neighbours often have the same length.
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
        Self { counts, units }
    }

    pub(crate) fn shortest(&self) -> u64 {
        self.counts.first_key_value().map_or(1, |(&samples, _)| samples.into())
    }

    pub(crate) fn longest(&self) -> u64 {
        self.counts.last_key_value().map_or(1, |(&samples, _)| samples.into())
    }

    /// The most units, samples, and samples with padding in a minibatch of `size` samples.
    fn within(&self, size: u64, repeats: bool) -> (u64, u64, u64) {
        let samples = size.max(self.longest());
        if repeats {
            let segments = (size / self.shortest()).max(1);
            let padded = self.counts.keys().map(|&longest| {
                let rest = size.saturating_sub(longest.into());
                (1 + rest / self.shortest()).saturating_mul(longest.into())
            });
            return (segments, samples, padded.max().unwrap_or(0));
        }
        // For each length: one unit of it, and as many of the shortest units as fit beside it.
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
        let (segments, samples, padded) =
            Lengths::of(&index(&lengths), Unit::Sequence).within(10_000, false);
        assert_eq!((segments, samples, padded), (5001, 10_000, 5001 * 5000));
    }

    proptest! {
        #[test]
        fn no_subset_is_larger(
            lengths in prop::collection::vec(prop_oneof![1u32..4, 1u32..40], 1..30),
            chosen in prop::collection::vec(any::<bool>(), 30),
            size in 1u64..120,
        ) {
            let all = Lengths::of(&index(&lengths), Unit::Sequence);
            let (segments, samples, padded) = all.within(size, false);
            // As a minibatch is cut: nothing that exceeds it, but one at least.
            let (mut count, mut sum, mut longest) = (0u64, 0u64, 0u64);
            for (&length, _) in lengths.iter().zip(&chosen).filter(|(_, chosen)| **chosen) {
                if count > 0 && sum + u64::from(length) > size {
                    continue;
                }
                (count, sum, longest) = (count + 1, sum + u64::from(length), longest.max(length.into()));
            }
            prop_assert!(count <= segments && sum <= samples && count * longest <= padded);
        }
    }
}

//! Sequences of similar length out of the whole corpus: bins by length, which are cut into
//! minibatches.
//!
//! ```text
//! sweep ─ order of sequences ─┬─ bin of the shortest ─ minibatches ─┐
//!                             ├─ ...                                ├─ steps, in random order
//!                             └─ bin of the longest ─── minibatches ─┘
//! ```
//!
//! All minibatches of a step come from one bin, so ranks have about the same work. The minibatches
//! that are left in a bin when its steps are full form steps with those of the next bin.

use std::ops::Range;
use std::sync::Arc;

use seqfeed_core::{Index, Result};

use crate::cut::Cut;
use crate::order::{OrderedUnit, Units, sequence};
use crate::pool::{PoolState, check_size};
use crate::random;
use crate::refused::changed_by_hand;
use crate::settings::{MOST_RANKS, Unit};

/// Divides the sequences of a sweep into bins, and each bin into minibatches.
///
/// The minibatches of a sweep depend on the corpus, the seed and the cut. The number of ranks
/// decides only in which order they come.
pub(crate) struct Bins {
    index: Arc<Index>,
    /// The most samples of a sequence in each bin but the last, ascending.
    edges: Vec<u32>,
    seed: u64,
    cut: Cut,
    /// The number of ranks of this run.
    ranks: usize,
    /// The number of ranks that the minibatches of this sweep are ordered for. It differs if ranks
    /// changed within the sweep.
    ordered_for: usize,
    /// The sequences of the sweep, minibatch by minibatch, and where each minibatch ends.
    sequences: Vec<u32>,
    ends: Vec<u32>,
    taken: usize,
}

/// Mixed into the seed, so that minibatches and sequences have random numbers of their own.
const OF_STEPS: u64 = 0x62_696e_7320_6f66;

impl Bins {
    /// Divides sequences into bins. All but the last have an edge, the most samples of a sequence
    /// there.
    pub(crate) fn new(
        index: Arc<Index>,
        edges: Vec<u32>,
        seed: u64,
        cut: Cut,
        ranks: usize,
    ) -> Self {
        let (sequences, ends) = (Vec::new(), Vec::new());
        Self { index, edges, seed, cut, ranks, ordered_for: ranks, sequences, ends, taken: 0 }
    }

    /// The next minibatch; `None` at the end of the sweep.
    pub(crate) fn take(&mut self, units: &mut Units) -> Option<Vec<OrderedUnit>> {
        if self.is_empty() {
            self.ordered_for = self.ranks;
            self.fill(units);
        }
        let begin = self.taken.checked_sub(1).map_or(0, |before| self.ends[before]);
        let end = *self.ends.get(self.taken)?;
        self.taken += 1;
        let sweep = units.sweep();
        let items = self.sequences[begin as usize..end as usize].iter();
        Some(items.map(|&sequence| self.unit(sequence, sweep)).collect())
    }

    /// Divides the sequences of a sweep.
    fn fill(&mut self, units: &mut Units) {
        let bins = self.cut_bins(units);
        let mut order = steps(bins.iter().map(|bin| bin.ends.len()), self.ordered_for);
        let seed = random::mix(self.seed.wrapping_add(units.sweep()) ^ OF_STEPS);
        let last = order.pop();
        // A step that has no minibatch for some ranks stays at the end.
        let whole = last.as_ref().is_some_and(|last| last.len() == self.ordered_for);
        let (mut order, last) = match whole {
            true => (order.into_iter().chain(last).collect::<Vec<_>>(), None),
            false => (order, last),
        };
        random::shuffle(&mut order, seed);
        self.clear();
        for (bin, minibatch) in order.into_iter().chain(last).flatten() {
            self.sequences.extend(&bins[bin].sequences[bins[bin].minibatch(minibatch)]);
            self.ends.push(self.sequences.len() as u32);
        }
    }

    /// Puts the sequences of a sweep into bins, in their order, and cuts each bin.
    fn cut_bins(&self, units: &mut Units) -> Vec<Bin> {
        let mut bins: Vec<Bin> = (0..=self.edges.len()).map(|_| Bin::default()).collect();
        let mut fillings: Vec<_> = bins.iter().map(|_| self.cut.filling()).collect();
        let mut items = Vec::new();
        loop {
            items.clear();
            units.take_many(AT_A_TIME, &mut items);
            if items.is_empty() {
                break;
            }
            for &item in &items {
                let number = self.edges.partition_point(|&edge| edge < item.samples);
                let (bin, filling) = (&mut bins[number], &mut fillings[number]);
                if !filling.takes(&item) {
                    bin.ends.push(bin.sequences.len() as u32);
                    *filling = self.cut.filling();
                    filling.takes(&item);
                }
                bin.sequences.push(sequence(&self.index, Unit::Sequence, item));
            }
        }
        for bin in bins.iter_mut().filter(|bin| !bin.sequences.is_empty()) {
            bin.ends.push(bin.sequences.len() as u32);
        }
        bins
    }

    fn unit(&self, sequence: u32, sweep: u64) -> OrderedUnit {
        let (mut chunk, mut behind) = (0, self.index.chunk_count());
        while behind - chunk > 1 {
            let middle = chunk + (behind - chunk) / 2;
            match self.index.chunk(middle).start <= sequence {
                true => chunk = middle,
                false => behind = middle,
            }
        }
        let number = sequence - self.index.chunk(chunk).start;
        let (chunk, samples) = (chunk as u32, self.index.samples(sequence));
        OrderedUnit { chunk, place: chunk, number, samples, sweep }
    }

    fn clear(&mut self) {
        self.sequences.clear();
        self.ends.clear();
        self.taken = 0;
    }

    /// Whether no minibatch of a sweep is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.taken == self.ends.len()
    }

    /// The most bytes of the lists of a sweep: sequences in bins, sequences in the order of
    /// minibatches, and the minibatches.
    pub(crate) fn most_bytes(&self) -> u64 {
        (self.index.len() as u64).saturating_mul(BYTES_OF_SEQUENCE)
    }

    /// The position in the sweep, whose first unit is 0; `None` between two sweeps.
    pub(crate) fn state(&self) -> Option<(PoolState, u64)> {
        let state = PoolState {
            taken: self.taken as u64,
            size: Some(self.cut.size()),
            ranks: self.ordered_for,
        };
        (!self.is_empty() && self.taken > 0).then_some((state, 0))
    }

    /// Goes on inside a sweep.
    ///
    /// # Errors
    ///
    /// Fails if the sweep was cut in another way, or has no such position.
    pub(crate) fn restore(&mut self, state: PoolState, units: &mut Units) -> Result<()> {
        self.clear();
        if state.taken == 0 {
            return Ok(());
        }
        check_size(&self.cut, state, "sweep")?;
        let possible = (1..=MOST_RANKS).contains(&state.ranks) && units.item() == 0;
        if possible {
            self.ordered_for = state.ranks;
            self.fill(units);
        }
        if !possible || state.taken >= self.ends.len() as u64 {
            return Err(changed_by_hand(&format!(
                "the state names minibatch {} of unit {} for {} ranks in a sweep of {} minibatches",
                state.taken,
                units.item(),
                state.ranks,
                self.ends.len()
            )));
        }
        self.taken = state.taken as usize;
        Ok(())
    }
}

/// The number of units that are put into bins at a time.
const AT_A_TIME: u64 = 1 << 12;

/// The most bytes that lists have for a sequence. Some lists grow by doubling, and in the worst
/// case a minibatch has one sequence.
const BYTES_OF_SEQUENCE: u64 = 64;

/// The sequences of one bin in the order of the sweep, and where its minibatches end.
#[derive(Default)]
struct Bin {
    sequences: Vec<u32>,
    ends: Vec<u32>,
}

impl Bin {
    fn minibatch(&self, number: usize) -> Range<usize> {
        let begin = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        begin as usize..self.ends[number] as usize
    }
}

/// Groups minibatches of bins into steps for `ranks`: the bin of each minibatch, and its number
/// there. First come the steps of one bin. Minibatches that are left over form steps with
/// those of the next bins. Only the last step may be too short.
fn steps(bins: impl Iterator<Item = usize>, ranks: usize) -> Vec<Vec<(usize, usize)>> {
    let (mut all, mut rest) = (Vec::new(), Vec::new());
    for (bin, count) in bins.enumerate() {
        let whole = count - count % ranks;
        let minibatches: Vec<_> = (0..count).map(|number| (bin, number)).collect();
        all.extend(minibatches[..whole].chunks(ranks).map(<[_]>::to_vec));
        rest.extend_from_slice(&minibatches[whole..]);
    }
    all.extend(rest.chunks(ranks).map(<[_]>::to_vec));
    all
}

/// The lengths that divide the corpus into at most `count` bins with about the same number of
/// samples.
pub(crate) fn even_edges(index: &Index, count: usize) -> Vec<u32> {
    let mut lengths: Vec<u32> = (0..index.len() as u32).map(|s| index.samples(s)).collect();
    lengths.sort_unstable();
    let total = u128::from(index.total_samples());
    let (mut edges, mut before) = (Vec::new(), 0u128);
    for samples in lengths {
        before += u128::from(samples);
        let full = before * count as u128 >= total * (edges.len() as u128 + 1);
        if full && edges.len() + 1 < count && edges.last() != Some(&samples) {
            edges.push(samples);
        }
    }
    edges
}

#[cfg(test)]
mod tests {
    use seqfeed_core::{IndexBuilder, Key};

    use super::*;

    fn index(lengths: &[u32]) -> Index {
        let mut builder = IndexBuilder::new(100);
        lengths.iter().for_each(|&length| builder.push(Key(b"k"), length));
        builder.finish()
    }

    #[test]
    fn bins_have_about_the_same_number_of_samples() {
        let lengths: Vec<u32> = (1..=100).collect();
        // Half of the 5050 samples lie in sequences of up to 71.
        assert_eq!(even_edges(&index(&lengths), 2), [71]);
        assert!(even_edges(&index(&lengths), 1).is_empty());
        assert_eq!(even_edges(&index(&lengths), 4).len(), 3);
    }

    #[test]
    fn one_length_is_one_bin() {
        assert!(even_edges(&index(&[7; 50]), 5).len() <= 1);
        assert!(even_edges(&index(&[0, 0, 3]), 1).is_empty());
    }

    #[test]
    fn steps_are_of_one_bin_until_only_rests_are_left() {
        let steps = steps([5, 0, 3, 2].into_iter(), 2);
        let bins: Vec<Vec<usize>> =
            steps.iter().map(|step| step.iter().map(|&(bin, _)| bin).collect()).collect();
        assert_eq!(bins, [vec![0, 0], vec![0, 0], vec![2, 2], vec![3, 3], vec![0, 2]]);
    }
}

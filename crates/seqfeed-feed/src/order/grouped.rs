//! The chunks of each sweep, divided into groups.

use std::sync::{Arc, Mutex, PoisonError};

use seqfeed_core::Index;

use crate::random::{Permutation, mix};

/// The chunks of a corpus in a random order, all together or divided into groups. A function of the
/// index, the seed and the sweep.
///
/// Groups take turns: of as many chunks of the order as there are groups, each group gets one. The
/// largest goes to the group that has the fewest samples so far, so groups stay nearly equal.
pub(crate) struct Grouped {
    index: Arc<Index>,
    seed: u64,
    groups: usize,
    /// The sweeps that are in use.
    known: Mutex<Vec<(u64, Lists)>>,
}

/// The chunks of each group, in its order.
type Lists = Arc<[Vec<u32>]>;

/// Sweeps are used one after another, and the next one is looked at before.
const KNOWN: usize = 2;

impl Grouped {
    pub(crate) fn new(index: Arc<Index>, seed: u64, groups: usize) -> Self {
        Self { index, seed, groups: groups.max(1), known: Mutex::default() }
    }

    pub(crate) fn index(&self) -> &Arc<Index> {
        &self.index
    }

    pub(crate) fn groups(&self) -> usize {
        self.groups
    }

    /// The seed of a group in a sweep.
    pub(crate) fn seed(&self, sweep: u64, group: usize) -> u64 {
        let seed = mix(self.seed.wrapping_add(sweep));
        if self.groups == 1 { seed } else { mix(seed ^ mix(group as u64 + 1)) }
    }

    /// The chunks of each group in a sweep.
    pub(crate) fn of(&self, sweep: u64) -> Lists {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, lists)) = known.iter().find(|(of, _)| *of == sweep) {
            return Arc::clone(lists);
        }
        let lists = self.divide(sweep);
        known.truncate(KNOWN - 1);
        known.insert(0, (sweep, Arc::clone(&lists)));
        lists
    }

    fn divide(&self, sweep: u64) -> Lists {
        let count = self.index.chunk_count();
        let permutation = Permutation::new(count as u64, mix(self.seed.wrapping_add(sweep)));
        let order: Vec<u32> = (0..count as u64).map(|at| permutation.at(at) as u32).collect();
        if self.groups == 1 {
            return Arc::new([order]);
        }
        let mut lists = vec![Vec::with_capacity(count.div_ceil(self.groups)); self.groups];
        let mut samples = vec![0u64; self.groups];
        let mut by_samples: Vec<usize> = (0..self.groups).collect();
        let size = |chunk: &u32| self.index.chunk_samples(*chunk as usize);
        for turn in order.chunks(self.groups) {
            let mut turn = turn.to_vec();
            turn.sort_by_key(|chunk| std::cmp::Reverse(size(chunk)));
            by_samples.sort_by_key(|&group| (samples[group], group));
            for (chunk, &group) in turn.into_iter().zip(&by_samples) {
                samples[group] += size(&chunk);
                lists[group].push(chunk);
            }
        }
        lists.into()
    }
}

#[cfg(test)]
mod tests {
    use seqfeed_core::{IndexBuilder, Key};

    use super::*;

    #[test]
    fn groups_have_each_chunk_once_and_nearly_as_many_samples() {
        let mut builder = IndexBuilder::new(u64::MAX);
        for number in 0..1000u32 {
            builder.push(Key(b"u"), 500 + mix(number.into()) as u32 % 500);
            builder.end_chunk();
        }
        let index = Arc::new(builder.finish());
        let grouped = Grouped::new(Arc::clone(&index), 3, 16);
        let mut sweeps = Vec::new();
        for sweep in 0..3 {
            let lists = grouped.of(sweep);
            assert_eq!(lists, Grouped::new(Arc::clone(&index), 3 + sweep, 16).of(0));
            let mut all: Vec<u32> = lists.concat();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..1000));
            let of = |list: &Vec<u32>| -> u64 {
                list.iter().map(|&chunk| index.chunk_samples(chunk as usize)).sum()
            };
            let samples = lists.iter().map(of);
            let (least, most) = (samples.clone().min().unwrap(), samples.max().unwrap());
            // 62 or 63 chunks each, of 500 to 1,000 samples.
            assert!(most - least < 1000, "{least} {most}");
            sweeps.push(lists);
        }
        assert_ne!(sweeps[0], sweeps[1]);
    }
}

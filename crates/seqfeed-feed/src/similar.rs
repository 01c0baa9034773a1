//! How sequences come together by their lengths: similar ones out of a pool or out of the whole
//! corpus, or any that fill a budget.

use std::sync::Arc;

use seqfeed_core::{Index, Result};

use crate::bins::{Bins, even_edges};
use crate::budget::Budget;
use crate::cut::Cut;
use crate::order::{OrderedUnit, Units};
use crate::pool::{Pool, PoolState};
use crate::settings::{Settings, Steps};
use crate::swept_chunk::SweptChunk;

pub(crate) enum Similar {
    Pool(Pool),
    Bins(Box<Bins>),
    Budget(Budget),
}

impl Similar {
    /// As the settings say; `None` if minibatches are cut whatever the lengths.
    pub(crate) fn new(
        index: &Arc<Index>,
        settings: &Settings,
        steps: Steps,
        cut: Cut,
    ) -> Option<Self> {
        let seed = settings.order.shuffled().map(|(_, seed)| seed);
        if steps.pack {
            return Some(Self::Budget(Budget::new(cut)));
        }
        match (steps.bucket, steps.buckets) {
            (Some(most), _) => Some(Self::Pool(Pool::new(most, seed, cut))),
            (None, Some(count)) => {
                let (index, seed) = (Arc::clone(index), seed.unwrap_or(0));
                let edges = match settings.bucket_edges.is_empty() {
                    true => even_edges(&index, count),
                    false => settings.bucket_edges.clone(),
                };
                Some(Self::Bins(Box::new(Bins::new(index, edges, seed, cut, settings.ranks))))
            }
            (None, None) => None,
        }
    }

    /// The next minibatch; `None` at the end of the sweep.
    pub(crate) fn take(&mut self, units: &mut Units) -> Option<Vec<OrderedUnit>> {
        match self {
            Self::Pool(pool) => pool.take(units),
            Self::Bins(bins) => bins.take(units),
            Self::Budget(budget) => budget.take(units),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Pool(pool) => pool.is_empty(),
            Self::Bins(bins) => bins.is_empty(),
            Self::Budget(budget) => budget.is_empty(),
        }
    }

    /// A number that changes when the window does. Bins always need the whole corpus.
    pub(crate) fn position(&self) -> usize {
        match self {
            Self::Pool(pool) => pool.len(),
            Self::Bins(_) => 0,
            Self::Budget(budget) => budget.len(),
        }
    }

    /// The chunks that are needed beside those of the order, each with its place in the order of
    /// chunks. With bins the order already needs all chunks.
    pub(crate) fn window(&self) -> impl Iterator<Item = (SweptChunk, u32)> {
        let (pool, budget) = match self {
            Self::Pool(pool) => (Some(pool), None),
            Self::Bins(_) => (None, None),
            Self::Budget(budget) => (None, Some(budget)),
        };
        let of_pool = pool.into_iter().flat_map(Pool::window);
        of_pool.chain(budget.into_iter().flat_map(Budget::window))
    }

    /// The most samples that are needed beside those of the order.
    pub(crate) fn most_samples(&self, longest: u64) -> u64 {
        match self {
            Self::Pool(pool) => pool.most_samples(longest),
            Self::Bins(_) => 0,
            Self::Budget(budget) => budget.most_samples(),
        }
    }

    /// The most bytes of lists, in a corpus of `sequences` sequences with at most `in_minibatch` in
    /// a minibatch.
    pub(crate) fn most_bytes(&self, sequences: u64, in_minibatch: u64) -> u64 {
        match self {
            Self::Pool(pool) => pool.most_bytes(sequences),
            Self::Bins(bins) => bins.most_bytes(),
            Self::Budget(budget) => budget.most_bytes(in_minibatch),
        }
    }

    /// The position in the group, and the group's first unit; `None` between two groups.
    pub(crate) fn state(&self) -> Option<(PoolState, u64)> {
        match self {
            Self::Pool(pool) => pool.state(),
            Self::Bins(bins) => bins.state(),
            Self::Budget(budget) => budget.state(),
        }
    }

    /// Goes on inside a group that begins with the next unit.
    ///
    /// # Errors
    ///
    /// Fails if the group was cut in another way, or has no such position.
    pub(crate) fn restore(&mut self, state: PoolState, units: &mut Units) -> Result<()> {
        match self {
            Self::Pool(pool) => pool.restore(state, units),
            Self::Bins(bins) => bins.restore(state, units),
            Self::Budget(budget) => budget.restore(state, units),
        }
    }
}

//! Sequences of similar length: the next ones of the order form a pool, which is cut into
//! minibatches by length.

use std::collections::VecDeque;

use seqfeed_core::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::cut::Cut;
use crate::order::{OrderedUnit, Units};
use crate::random;
use crate::refused::changed_by_hand;
use crate::settings::BatchSize;
use crate::swept_chunk::SweptChunk;

/// A position inside a pool. It is valid only if the pool is cut in the same way; otherwise its
/// minibatches differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolState {
    /// The number of minibatches taken out of the current pool.
    pub taken: u64,
    /// The size of its minibatches. If chunks are divided among ranks, it is the size for all ranks
    /// together.
    pub size: Option<BatchSize>,
    /// The number of ranks that the minibatches are ordered for, if the whole sweep is divided into
    /// bins; otherwise 0.
    #[serde(default)]
    pub ranks: usize,
}

/// Groups sequences by length.
pub(crate) struct Pool {
    /// The most sequences in a pool.
    most: usize,
    /// The seed for shuffling the minibatches of a pool, if they are shuffled.
    seed: Option<u64>,
    cut: Cut,
    /// The minibatches that are still to come.
    minibatches: VecDeque<Vec<OrderedUnit>>,
    /// The first unit of the current pool.
    first: u64,
    taken: u64,
}

impl Pool {
    pub(crate) fn new(most: usize, seed: Option<u64>, cut: Cut) -> Self {
        Self { most, seed, cut, minibatches: VecDeque::new(), first: 0, taken: 0 }
    }

    /// The next minibatch; `None` at the end of the sweep.
    pub(crate) fn take(&mut self, units: &mut Units) -> Option<Vec<OrderedUnit>> {
        if self.minibatches.is_empty() {
            self.fill(units);
        }
        self.taken += 1;
        self.minibatches.pop_front()
    }

    /// Takes the next sequences, sorts them by length, cuts them into minibatches, and shuffles
    /// these.
    fn fill(&mut self, units: &mut Units) {
        (self.first, self.taken) = (units.item(), 0);
        let mut items = Vec::new();
        units.take_many(self.most as u64, &mut items);
        items.sort_by_key(|item| item.samples);
        let mut minibatches: Vec<Vec<OrderedUnit>> = Vec::new();
        let mut filling = self.cut.filling();
        for item in items {
            if minibatches.is_empty() || !filling.takes(&item) {
                filling = self.cut.filling();
                filling.takes(&item);
                minibatches.push(Vec::new());
            }
            minibatches.last_mut().expect("just pushed").push(item);
        }
        if let Some(seed) = self.seed {
            let seed = random::mix(seed.wrapping_add(units.sweep()));
            random::shuffle(&mut minibatches, seed ^ random::mix(self.first));
        }
        self.minibatches = minibatches.into();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.minibatches.is_empty()
    }

    /// The number of minibatches still to come. It changes when the window does.
    pub(crate) fn len(&self) -> usize {
        self.minibatches.len()
    }

    /// The chunks of the pool's units, each with its place in the order of chunks.
    pub(crate) fn window(&self) -> impl Iterator<Item = (SweptChunk, u32)> {
        self.minibatches.iter().flatten().map(|item| (item.swept(), item.place))
    }

    /// The most samples of a pool and of the one before, which may still be packed.
    pub(crate) fn most_samples(&self, longest: u64) -> u64 {
        (self.most as u64).saturating_mul(longest).saturating_mul(2)
    }

    /// The most bytes of the lists of a pool, in a corpus of `sequences` sequences.
    pub(crate) fn most_bytes(&self, sequences: u64) -> u64 {
        (self.most as u64).min(sequences).saturating_mul(4 * size_of::<OrderedUnit>() as u64)
    }

    /// The position in the pool, and its first unit; `None` between two pools.
    pub(crate) fn state(&self) -> Option<(PoolState, u64)> {
        let state = PoolState { taken: self.taken, size: Some(self.cut.size()), ranks: 0 };
        (!self.is_empty() && self.taken > 0).then_some((state, self.first))
    }

    /// Goes on inside a pool that begins with the next unit.
    ///
    /// # Errors
    ///
    /// Fails if the pool was cut in another way, or has no such position.
    pub(crate) fn restore(&mut self, state: PoolState, units: &mut Units) -> Result<()> {
        self.minibatches.clear();
        if state.taken == 0 {
            return Ok(());
        }
        check_size(&self.cut, state, "pool")?;
        self.fill(units);
        if state.taken >= self.len() as u64 {
            return Err(changed_by_hand(&format!(
                "the state names minibatch {} of a pool, which has {}",
                state.taken,
                self.len()
            )));
        }
        self.taken = state.taken;
        self.minibatches.drain(..state.taken as usize);
        Ok(())
    }
}

/// Refuses a position in a group (`what`) of sequences that was cut in another way.
pub(crate) fn check_size(cut: &Cut, state: PoolState, what: &str) -> Result<()> {
    if state.size == Some(cut.size()) {
        return Ok(());
    }
    let there = state.size.map_or_else(|| "a size that it does not say".to_owned(), said);
    Err(Error::usage(format!(
        "the state stands within a {what} of sequences that was cut into minibatches of {there}; here \
         they are of {}",
        said(cut.size())
    ))
    .with_help(format!(
        "keep batch-size and batch-unit (and shard and ranks, where chunks are divided) until the {what} \
         is through: a state between two {what}s goes on with any"
    )))
}

fn said(size: BatchSize) -> String {
    match size {
        BatchSize::Samples(size) => format!("{size} samples"),
        BatchSize::Units(size) => format!("{size} sequences"),
        BatchSize::Padded(size) => format!("{size} padded samples"),
    }
}

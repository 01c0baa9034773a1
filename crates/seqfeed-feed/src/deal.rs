//! Decides which rank gets which minibatch of an order that all ranks cut alike.
//!
//! A *step* is one minibatch for each rank. So a position between two steps means the same to all
//! ranks, and to any number of ranks.

use seqfeed_core::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::cut::{Cut, Largest};
use crate::order::OrderedUnit;
use crate::settings::{BatchSize, Partial, Settings, Shard, Steps, Unit};
use crate::share::{By, Share};
use crate::swept_chunk::SweptChunk;

/// Whether all ranks stand at the same place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DealState {
    /// How minibatches are dealt, if ranks with the same number of minibatches may stand at
    /// different places.
    pub apart: Option<DealtState>,
}

/// How minibatches are dealt to ranks. At the end of a sweep there may be no minibatch for some
/// ranks. Then ranks are apart: each goes on from its own place. This fits together only if
/// minibatches are dealt as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DealtState {
    /// Size of a minibatch.
    pub batch: BatchSize,
    /// Number of ranks.
    pub ranks: usize,
    /// How ranks divide the corpus.
    pub shard: Shard,
    /// The rule for the end of a sweep.
    pub partial: Partial,
    /// The end of the run, in samples.
    pub samples: Option<u64>,
}

/// Deals the minibatches of a step.
#[derive(Clone)]
pub(crate) struct Deal {
    how: DealtState,
    unit: Unit,
    /// Whether no minibatch may exceed its size.
    pack: bool,
    /// Divides the units of a minibatch of all ranks.
    share: Share,
    /// Whether some step had no minibatch for some ranks.
    apart: bool,
}

impl Deal {
    pub(crate) fn new(settings: &Settings, steps: Steps) -> Self {
        let Settings { unit, batch, rank, ranks, samples, .. } = *settings;
        let Steps { shard, partial, pack, .. } = steps;
        let by = if shard == Shard::Chunks { By::Chunk } else { By::All };
        let how = DealtState { batch, ranks, shard, partial, samples };
        Self { how, unit, pack, share: Share::new(by, rank, ranks), apart: false }
    }

    /// The number of minibatches to cut for a step, and how many times as large they are as one of
    /// a rank.
    pub(crate) fn step(&self) -> (usize, u64) {
        match self.how.shard {
            Shard::Minibatches | Shard::Groups => (self.how.ranks, 1),
            Shard::Chunks => (1, self.how.ranks as u64),
        }
    }

    /// Whether units that do not fill a step are dropped.
    pub(crate) fn drops(&self) -> bool {
        self.how.partial == Partial::Drop
    }

    /// This rank's part of a step, or `None` if it has none. Only a step that ends the sweep can
    /// have a minibatch that is not full.
    pub(crate) fn own(
        &mut self,
        mut minibatches: Vec<Vec<OrderedUnit>>,
        cut: &Cut,
        ends_sweep: bool,
    ) -> Option<Vec<OrderedUnit>> {
        let all = minibatches.len() == self.step().0;
        let full = minibatches.last().is_some_and(|last| cut.is_full(last));
        let complete = all && (!ends_sweep || full);
        let may_part = self.how.partial == Partial::Keep && self.how.shard != Shard::Chunks;
        self.apart |= may_part && !all;
        let (rank, ranks) = (self.share.rank() as usize, self.how.ranks);
        match (self.how.partial, self.how.shard) {
            (Partial::Drop, _) if !complete => None,
            (_, Shard::Chunks) => {
                let all_ranks = minibatches.pop()?;
                let own = |item: &OrderedUnit| self.share.owns(item.place, 0);
                Some(all_ranks.into_iter().filter(own).collect())
            }
            (Partial::Even, _) if !complete && self.pack && !minibatches.is_empty() => {
                Some(halved(minibatches, ranks).swap_remove(rank))
            }
            (Partial::Even, _) if !complete && ranks > 1 => {
                let items: Vec<OrderedUnit> = minibatches.into_iter().flatten().collect();
                let bound = |rank: usize| items.len() * rank / ranks;
                (!items.is_empty()).then(|| items[bound(rank)..bound(rank + 1)].to_vec())
            }
            _ if rank < minibatches.len() => Some(minibatches.swap_remove(rank)),
            _ => None,
        }
    }

    /// The chunks of a window that belong to this rank.
    pub(crate) fn of_window(
        &self,
        window: impl IntoIterator<Item = (SweptChunk, u32)>,
    ) -> Vec<SweptChunk> {
        self.share.of_window(window)
    }

    /// The largest minibatch of a rank, given the largest one that is cut.
    pub(crate) fn largest(&self, cut: Largest) -> Largest {
        let mut largest = cut;
        let spread = self.how.partial == Partial::Even && self.unit == Unit::Sequence && !self.pack;
        if spread && self.how.ranks > 1 {
            // The rest is spread by numbers of sequences, whatever their lengths.
            largest.padded = cut.segments.saturating_mul(cut.longest);
            largest.samples = cut.samples.saturating_mul(self.how.ranks as u64).min(largest.padded);
        }
        largest
    }

    /// The most samples that all ranks take in a step, given the most that one rank takes.
    pub(crate) fn in_step(&self, samples: u64) -> u64 {
        samples.saturating_mul(self.how.ranks as u64)
    }

    pub(crate) fn state(&self) -> DealState {
        DealState { apart: self.apart.then_some(self.how) }
    }

    /// Goes on from a state.
    ///
    /// # Errors
    ///
    /// Fails if ranks stand at different places, and minibatches are dealt in another way than
    /// before.
    pub(crate) fn restore(&mut self, state: DealState) -> Result<()> {
        self.apart = state.apart.is_some();
        match state.apart {
            Some(before) if before != self.how => Err(Error::usage(
                "the state was saved after the end of a sweep that had a minibatch less for some ranks: they \
                 stand at different places, and can go on only as they were",
            )
            .with_help(
                "keep batch-size, batch-unit, ranks, shard, partial and samples; with partial = \"drop\" or \
                 \"even\" ranks always stand at the same place",
            )),
            _ => Ok(()),
        }
    }
}

/// At least `count` minibatches: the one with the most units is halved until there are enough. If
/// there are too few units, some are empty.
fn halved(mut minibatches: Vec<Vec<OrderedUnit>>, count: usize) -> Vec<Vec<OrderedUnit>> {
    while minibatches.len() < count {
        let largest = minibatches.iter_mut().max_by_key(|items| items.len());
        let half = largest.map(|items| items.split_off(items.len().div_ceil(2)));
        minibatches.push(half.unwrap_or_default());
    }
    minibatches
}

//! Minibatches of whole sequences, filled to a budget by first fit.
//!
//! ```text
//! order ─ d ─→  [a b f ]   the oldest open minibatch: it is given when no other may be opened
//!               [c e   ]   d goes into the first one with room
//!               [g     ]
//! ```
//!
//! All of it begins anew with each *group* of sequences. So a position is the first sequence of its
//! group and a number of minibatches, and no more than a group is gone through again to find it.

use std::collections::VecDeque;

use seqfeed_core::{Error, Index, Result};

use crate::cut::{Cut, Filling};
use crate::order::{OrderedUnit, Units};
use crate::pool::{PoolState, check_size};
use crate::refused::changed_by_hand;
use crate::settings::{BatchSize, Limits};
use crate::swept_chunk::SweptChunk;

/// Puts each sequence into the first open minibatch that has room for it.
pub(crate) struct Budget {
    cut: Cut,
    open: VecDeque<(Filling, Vec<OrderedUnit>)>,
    /// The first unit of the current group, the minibatches that were given of it, and its samples.
    first: u64,
    taken: u64,
    samples: u64,
}

/// The most minibatches that are open at a time. With more of them they are fuller, but more
/// sequences are in memory.
const OPEN: usize = 16;

/// A group ends with the sequence with which it has the samples of so many minibatches. Its last
/// minibatches are not full.
const GROUP: u64 = 128;

impl Budget {
    pub(crate) fn new(cut: Cut) -> Self {
        Self { cut, open: VecDeque::new(), first: 0, taken: 0, samples: 0 }
    }

    /// The next minibatch; `None` at the end of the sweep.
    pub(crate) fn take(&mut self, units: &mut Units) -> Option<Vec<OrderedUnit>> {
        if self.open.is_empty() {
            (self.first, self.taken, self.samples) = (units.item(), 0, 0);
        }
        let size = self.cut.size().number();
        while self.open.len() <= OPEN
            && self.samples < size.saturating_mul(GROUP)
            && let Some(item) = units.peek()
        {
            units.take();
            self.samples = self.samples.saturating_add(item.samples.into());
            self.put(item);
        }
        self.taken += 1;
        self.open.pop_front().map(|(_, items)| items)
    }

    fn put(&mut self, item: OrderedUnit) {
        let with_room = self.open.iter_mut().find_map(|(filling, items)| {
            let fits = filling.takes(&item);
            fits.then_some(items)
        });
        match with_room {
            Some(items) => items.push(item),
            None => {
                let mut filling = self.cut.filling();
                filling.takes(&item);
                self.open.push_back((filling, vec![item]));
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The number of open minibatches.
    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// The chunks of the open minibatches, each with its place in the order of chunks.
    pub(crate) fn window(&self) -> impl Iterator<Item = (SweptChunk, u32)> {
        self.open.iter().flat_map(|(_, items)| items).map(|item| (item.swept(), item.place))
    }

    /// The most samples that the order passes between a sequence and the end of its minibatch.
    /// Meanwhile sequences go into the minibatches that were open before it, and into as many that
    /// are opened behind it; with those of the next minibatch, which may still be packed, half as
    /// many more.
    pub(crate) fn most_samples(&self) -> u64 {
        self.cut.size().number().saturating_mul(3 * (OPEN as u64 + 1))
    }

    /// The most bytes of the lists of open minibatches, of `sequences` sequences each.
    pub(crate) fn most_bytes(&self, sequences: u64) -> u64 {
        sequences.saturating_mul((OPEN as u64 + 1) * 2 * size_of::<OrderedUnit>() as u64)
    }

    /// The position in the group, and its first unit; `None` between two groups.
    pub(crate) fn state(&self) -> Option<(PoolState, u64)> {
        let state = PoolState { taken: self.taken, size: Some(self.cut.size()), ranks: 0 };
        (!self.is_empty()).then_some((state, self.first))
    }

    /// Goes on inside a group that begins with the next unit.
    ///
    /// # Errors
    ///
    /// Fails if there is no such position.
    pub(crate) fn restore(&mut self, state: PoolState, units: &mut Units) -> Result<()> {
        self.open.clear();
        if state.taken == 0 {
            return Ok(());
        }
        check_size(&self.cut, state, "group")?;
        for given in 0..state.taken {
            if self.take(units).is_none() || self.is_empty() {
                return Err(changed_by_hand(&format!(
                    "the state names minibatch {} of a group, which has {}",
                    state.taken,
                    given + 1
                )));
            }
        }
        Ok(())
    }
}

/// Refuses a corpus with a sequence that is longer than the budget.
pub(crate) fn check(index: &Index, size: BatchSize, limits: Limits) -> Result<()> {
    let budget = size.number();
    let sequences = || 0..index.len() as u32;
    let cost = |sequence: u32| limits.cost(index.samples(sequence));
    let Some(first) = sequences().find(|&sequence| cost(sequence) > budget) else { return Ok(()) };
    let count = sequences().filter(|&sequence| cost(sequence) > budget).count();
    let most = sequences().map(cost).max().unwrap_or(0);
    let longest = (0..index.len() as u32)
        .map(|sequence| index.samples(sequence))
        .filter(|&samples| limits.cost(samples) <= budget)
        .max()
        .unwrap_or(0);
    let counts = match limits.quadratic {
        Some(_) => format!(", which count {} with `quadratic`", cost(first)),
        None => String::new(),
    };
    let others = match count {
        1 => "it alone is".to_owned(),
        _ => format!("{count} sequences are"),
    };
    Err(Error::usage(format!(
        "a sequence has {} samples{counts}; no minibatch of pack = {budget} can hold it whole",
        index.samples(first)
    ))
    .of_key(index.key(first))
    .with_help(format!(
        "{others} too long: use pack = {most} at least, or leave them out ([filter] max-length = {longest})"
    )))
}

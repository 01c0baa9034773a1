//! Truncated backpropagation through time, as in CNTK: sequences run side by side in parallel
//! slots, and a minibatch has the next `T` samples of each.
//!
//! ```text
//!          minibatch 1   minibatch 2
//! slot 0   a a a a a a │ a a a d d d │      a..e: sequences in the order they come
//! slot 1   b b c c c c │ c e e e e e │      T = 6 columns
//! ```
//!
//! A slot takes sequences ahead until it holds more than `T` samples. So each row is full until the
//! sequences end. A trainer resets its state where a sequence starts. Where one goes on, it carries
//! the state over from the last column.
//!
//! When CNTK goes back to a checkpoint, it forgets the contents of the slots. Here they are part of
//! the state.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use seqfeed_core::{Error, Index, Result};
use serde::{Deserialize, Serialize};

use crate::cut::{Largest, Lengths};
use crate::order::{OrderedUnit, largest_chunk};
use crate::settings::Truncation;
use crate::share::Share;
use crate::swept_chunk::SweptChunk;

/// The upper limit for parallel slots.
const MOST_SLOTS: u64 = 1 << 24;

/// The next sequence of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fetched {
    pub(crate) item: OrderedUnit,
    /// Whether a sweep ended with it.
    pub(crate) end_of_sweep: bool,
    /// Whether it is the last sequence of the epoch.
    pub(crate) end_of_epoch: bool,
}

/// A segment in a row of a minibatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowSegment {
    /// The slot, from 0.
    pub(crate) row: u32,
    /// Column of its first sample.
    pub(crate) column: u32,
    pub(crate) item: OrderedUnit,
    /// First sample of the sequence.
    pub(crate) first: u32,
    /// Number of samples.
    pub(crate) samples: u32,
    /// Whether the sequence starts here, so that the trainer's state is reset.
    pub(crate) starts: bool,
    /// Whether the sequence ends in this minibatch.
    pub(crate) ends: bool,
}

/// The events that ended with a minibatch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ended {
    /// Whether the last sequence of a sweep finished here. Others may still go on.
    pub(crate) sweep: bool,
    /// Whether the epoch ended, with all slots empty.
    pub(crate) epoch: bool,
}

/// The contents of the rows of truncated sequences between two minibatches; empty if sequences are
/// whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowsState {
    /// The current epoch, from 0. The next one begins when all slots are empty.
    pub epoch: u64,
    /// The slots, in order.
    pub slots: Vec<SlotState>,
}

/// The contents of one slot: at most one sequence more than the truncation length, mostly one or
/// two.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlotState {
    /// The number of samples of the first sequence that were delivered.
    pub delivered: u32,
    /// The sequences; the first one is being delivered.
    pub sequences: Vec<HeldState>,
}

/// A sequence in a slot: its chunk, the chunk's place in the order of chunks, its number in the
/// chunk, its sweep, and whether the sweep ended with it. The fields have no names in JSON, since
/// there may be many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldState(u32, u32, u32, u64, bool);

impl RowsState {
    /// The last sweep that sequences in the slots belong to.
    pub(crate) fn last_sweep(&self) -> u64 {
        let held = self.slots.iter().flat_map(|slot| &slot.sequences);
        held.map(|&HeldState(.., sweep, _)| sweep).max().unwrap_or(0)
    }
}

/// The slots of one worker.
pub(crate) struct Rows {
    length: u32,
    right_splice: u32,
    /// Whether each slot gets one sequence at the start of an epoch, before they are filled.
    one_each: bool,
    slots: Vec<Slot>,
}

#[derive(Clone, Default)]
struct Slot {
    held: VecDeque<Held>,
    /// The number of samples of the first sequence that were delivered.
    delivered: u32,
    /// The number of samples still to come.
    buffered: u64,
}

#[derive(Clone, Copy)]
struct Held {
    item: OrderedUnit,
    end_of_sweep: bool,
}

impl Rows {
    /// Slots for minibatches of `minibatch` samples over all workers, with `length` samples in a
    /// row. There are as many slots as fit, but at least one. They are divided among workers.
    ///
    /// With `right_splice` > 0, the last samples of a row that one sequence fills come again at the
    /// beginning of the next row. This is for models that look ahead, such as latency-controlled
    /// ones.
    ///
    /// # Errors
    ///
    /// Fails if there are fewer slots than workers, or if the sizes are impossible.
    pub(crate) fn new(minibatch: u64, truncation: Truncation, share: Share) -> Result<Self> {
        let Truncation { length, right_splice } = truncation;
        let (Ok(length), true) = (u32::try_from(length), length > 0) else {
            return Err(Error::usage(format!(
                "the truncation length is {length}; it must lie between 1 and {}",
                u32::MAX
            )));
        };
        if right_splice >= u64::from(length) {
            return Err(Error::usage(format!(
                "the right splice of {right_splice} is not below the truncation length of \
                 {length}: no minibatch would get further than the one before"
            )));
        }
        let slots = (minibatch / u64::from(length)).max(1);
        if slots > MOST_SLOTS {
            return Err(Error::usage(format!(
                "a minibatch of {minibatch} samples in rows of {length} makes {slots} parallel \
                 sequences; at most {MOST_SLOTS} can be had"
            )));
        }
        let (rank, ranks) = (share.rank(), share.ranks());
        if ranks > slots || rank >= ranks {
            return Err(Error::usage(format!(
                "worker {rank} of {ranks} (they count from 0) has none of the {slots} parallel \
                 sequences of a minibatch"
            ))
            .with_help(format!(
                "have fewer workers, or minibatches of {} samples at least",
                ranks.saturating_mul(u64::from(length))
            )));
        }
        let own = share.of(slots);
        Ok(Self {
            length,
            right_splice: right_splice as u32,
            one_each: false,
            slots: vec![Slot::default(); own as usize],
        })
    }

    /// The same, with one sequence for each slot whenever all slots are empty, as at the start of
    /// an epoch. Only then the slots are filled.
    pub(crate) fn with_one_each(self, one_each: bool) -> Self {
        Self { one_each, ..self }
    }

    /// The rows and columns of a minibatch of this worker, whether they are filled or not.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.slots.len(), self.length as usize)
    }

    /// Whether any slot holds a sequence.
    pub(crate) fn are_filled(&self) -> bool {
        self.slots.iter().any(|slot| !slot.held.is_empty())
    }

    /// The largest minibatch that can occur with sequences of some lengths.
    pub(crate) fn largest(&self, lengths: &Lengths) -> Largest {
        let (rows, columns) = (self.slots.len() as u64, u64::from(self.length));
        let samples = rows.saturating_mul(columns);
        // A sequence that goes on, whole sequences, and one that begins.
        let in_row = (columns / lengths.shortest()).saturating_add(2).min(columns);
        let segments = rows.saturating_mul(in_row);
        Largest { segments, samples, padded: samples, longest: lengths.longest(), repeats: true }
    }

    /// The most samples of the chunks that the slots hold. Each sequence in a slot may have a chunk
    /// of its own.
    pub(crate) fn most_samples(&self, index: &Index) -> u64 {
        let of_slot = largest_chunk(index).saturating_mul(2) + u64::from(self.length);
        of_slot.saturating_mul(self.slots.len() as u64)
    }

    /// Puts the segments of the next minibatch into `out`, row by row from left to right. `None` if
    /// there are no more.
    ///
    /// `fetch` gives this worker's sequences one after another. After the last one it returns
    /// `None` for each further call.
    pub(crate) fn next_minibatch(
        &mut self,
        mut fetch: impl FnMut() -> Option<Fetched>,
        out: &mut Vec<RowSegment>,
    ) -> Option<Ended> {
        out.clear();
        let mut ended = Ended::default();
        if self.one_each && !self.are_filled() {
            for slot in &mut self.slots {
                slot.fill(0, &mut fetch, &mut ended.sweep);
            }
        }
        for slot in &mut self.slots {
            slot.fill(self.length, &mut fetch, &mut ended.sweep);
        }
        for (row, slot) in self.slots.iter_mut().enumerate() {
            ended.sweep |= slot.deliver(row as u32, self.length, self.right_splice, out);
        }
        ended.epoch = !self.are_filled();
        (!out.is_empty()).then_some(ended)
    }

    /// The chunks of all sequences in the slots, each with its place in the order of chunks. Most
    /// come many times.
    pub(crate) fn window(&self) -> impl Iterator<Item = (SweptChunk, u32)> {
        let held = self.slots.iter().flat_map(|slot| &slot.held);
        held.map(|held| (held.item.swept(), held.item.place))
    }

    /// The contents of the slots, in an epoch.
    pub(crate) fn state(&self, epoch: u64) -> RowsState {
        let slots = self.slots.iter().map(|slot| {
            let sequences = slot.held.iter().map(|&Held { item, end_of_sweep }| {
                HeldState(item.chunk, item.place, item.number, item.sweep, end_of_sweep)
            });
            SlotState { delivered: slot.delivered, sequences: sequences.collect() }
        });
        RowsState { epoch, slots: slots.collect() }
    }

    /// Goes on from a state.
    ///
    /// # Errors
    ///
    /// Fails if the state has another number of slots, or names sequences that `index` does not
    /// have. Then nothing changes.
    pub(crate) fn restore(&mut self, state: &RowsState, index: &Index) -> Result<()> {
        let help = "use the corpus, minibatch size, truncation length and number of workers that \
                    it was saved with, or remove the state to start from the beginning";
        if state.slots.len() != self.slots.len() {
            return Err(Error::usage(format!(
                "the state has {} parallel sequences, here there are {}",
                state.slots.len(),
                self.slots.len()
            ))
            .with_help(help));
        }
        let slots: Option<Vec<Slot>> =
            state.slots.iter().map(|slot| slot.restored(index)).collect();
        self.slots = slots.ok_or_else(|| {
            Error::usage("the state names sequences that this corpus does not have").with_help(help)
        })?;
        Ok(())
    }
}

impl Slot {
    /// Fetches sequences until the slot holds more than `length` samples.
    fn fill(
        &mut self,
        length: u32,
        fetch: &mut impl FnMut() -> Option<Fetched>,
        end_of_sweep: &mut bool,
    ) {
        // The number of sweeps without a sample. After one whole empty sweep there is nothing to
        // wait for.
        let mut empty_sweeps = 0;
        while self.buffered <= u64::from(length) && empty_sweeps < 2 {
            let Some(fetched) = fetch() else { return };
            let Fetched { item, end_of_sweep: ends_sweep, end_of_epoch } = fetched;
            if item.samples == 0 {
                // It is finished at once.
                *end_of_sweep |= ends_sweep;
                empty_sweeps += u32::from(ends_sweep);
            } else {
                self.held.push_back(Held { item, end_of_sweep: ends_sweep });
                self.buffered += u64::from(item.samples);
                empty_sweeps = 0;
            }
            if end_of_epoch {
                return;
            }
        }
    }

    /// Delivers one row. Returns whether the last sequence of a sweep finished in it.
    fn deliver(
        &mut self,
        row: u32,
        length: u32,
        right_splice: u32,
        out: &mut Vec<RowSegment>,
    ) -> bool {
        let (mut column, mut end_of_sweep) = (0, false);
        while column < length
            && let Some(&Held { item, end_of_sweep: ends_sweep }) = self.held.front()
        {
            let samples = (item.samples - self.delivered).min(length - column);
            let mut segment = RowSegment {
                row,
                column,
                item,
                first: self.delivered,
                samples,
                starts: self.delivered == 0,
                ends: false,
            };
            self.delivered += samples;
            self.buffered -= u64::from(samples);
            if samples == length {
                // The whole row belongs to this sequence.
                self.delivered -= right_splice;
                self.buffered += u64::from(right_splice);
            }
            column += samples;
            if self.delivered == item.samples {
                segment.ends = true;
                end_of_sweep |= ends_sweep;
                self.held.pop_front();
                self.delivered = 0;
            }
            out.push(segment);
        }
        end_of_sweep
    }
}

impl SlotState {
    /// The slot of this state, if it is possible in this corpus.
    fn restored(&self, index: &Index) -> Option<Slot> {
        let mut slot = Slot { delivered: self.delivered, ..Slot::default() };
        for &HeldState(chunk, place, number, sweep, end_of_sweep) in &self.sequences {
            let in_index = (chunk as usize) < index.chunk_count();
            let sequences = if in_index { index.chunk(chunk as usize) } else { 0..0 };
            let sequence = sequences.start.checked_add(number)?;
            let samples = if sequences.contains(&sequence) { index.samples(sequence) } else { 0 };
            if samples == 0 {
                return None;
            }
            let item = OrderedUnit { chunk, place, number, samples, sweep };
            slot.held.push_back(Held { item, end_of_sweep });
            slot.buffered += u64::from(samples);
        }
        let first = slot.held.front().map_or(1, |held| held.item.samples);
        slot.buffered = slot.buffered.checked_sub(u64::from(slot.delivered))?;
        (slot.delivered < first).then_some(slot)
    }
}

//! The first stage: the order of the units of a sweep.
//!
//! An order is a pure function of index, settings, seed and sweep. It gives units one after
//! another, and can start at any unit of any sweep. It knows which chunks the next units can come
//! from, and how much memory they take.

mod blocks;
mod grouped;
mod mixed;
mod partitions;
mod permuted;
mod rolling;
mod sequential;
mod tumbling;
mod windowed;

use std::iter;
use std::sync::Arc;

use seqfeed_core::Index;
use serde::{Deserialize, Serialize};

pub(crate) use blocks::Blocks;
pub(crate) use grouped::Grouped;
pub(crate) use mixed::Mixed;
pub(crate) use partitions::Partitions;
pub(crate) use permuted::Permuted;
pub(crate) use rolling::Rolling;
pub(crate) use sequential::Sequential;
pub(crate) use tumbling::Tumbling;
pub(crate) use windowed::Windowed;

use crate::settings::{Order, Settings, Shuffle, Unit, Window};
use crate::share::{By, Share};
use crate::swept_chunk::SweptChunk;

/// One unit of a sweep: a frame or a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OrderedUnit {
    /// The chunk that holds it.
    pub(crate) chunk: u32,
    /// The chunk's place in the sweep's order of chunks. Ranks divide chunks by it.
    pub(crate) place: u32,
    /// Number of the unit (frame or sequence) in its chunk.
    pub(crate) number: u32,
    /// Its length in samples.
    pub(crate) samples: u32,
    /// The sweep of the unit; [`Units`] sets it. In a mixture it is the component's own sweep.
    pub(crate) sweep: u64,
}

impl OrderedUnit {
    /// The chunk that holds it, in its sweep.
    pub(crate) fn swept(&self) -> SweptChunk {
        SweptChunk { sweep: self.sweep, chunk: self.chunk }
    }
}

/// A position in an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrderState {
    /// The sweep of the next minibatch, from 0.
    pub sweep: u64,
    /// The number of the next unit (frame or sequence) in the sweep's order, or in its part, from
    /// 0. If units are grouped by length, the number of the first unit of the pool.
    pub item: u64,
    /// The current part, if a sweep is shuffled in parts.
    pub part: PartState,
}

/// A part of a sweep that is shuffled together: a window, or the portion of it that belongs to one
/// sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartState {
    /// Its beginning in the order of chunks.
    pub place: u64,
    /// The number of chunks or samples that the window already had from earlier sweeps.
    pub collected: u64,
}

/// Units of a sweep, one after another.
pub(crate) enum Cursor {
    Sequential(Sequential),
    Windowed(Box<Windowed>),
    Permuted(Permuted),
    Rolling(Box<Rolling>),
    Tumbling(Box<Tumbling>),
    Partitions(Box<Partitions>),
    Mixed(Box<Mixed>),
    Blocks(Box<Blocks>),
}

impl Cursor {
    /// An order of the units of all ranks.
    pub(crate) fn of_all(index: Arc<Index>, settings: &Settings) -> Self {
        let unit = settings.unit;
        match settings.order {
            Order::Sequential => {
                let all = Share::new(By::All, settings.rank, settings.ranks);
                Cursor::Sequential(Sequential::new(index, unit, all))
            }
            Order::Shuffle(Shuffle { window: Window::Corpus, seed, .. }) => {
                Cursor::Permuted(Permuted::new(index, unit, seed))
            }
            Order::Shuffle(shuffle) => {
                Cursor::Windowed(Box::new(Windowed::new(index, unit, shuffle)))
            }
            Order::Rolling(window) => Cursor::Rolling(Box::new(Rolling::new(index, window))),
            Order::Blocks(blocks) => Cursor::Blocks(Box::new(Blocks::new(index, unit, blocks))),
        }
    }

    /// Goes to a unit. Returns whether this unit, or this end of a sweep, exists.
    fn start(&mut self, at: OrderState) -> bool {
        let OrderState { sweep, item, part } = at;
        match self {
            Cursor::Tumbling(order) => return order.start(sweep, part, item),
            _ if part != PartState::default() => return false,
            Cursor::Sequential(order) => order.start(item),
            Cursor::Windowed(order) => order.start(sweep, item),
            Cursor::Permuted(order) => order.start(sweep, item),
            Cursor::Rolling(order) => order.start(sweep, item),
            Cursor::Partitions(order) => order.start(sweep, item),
            Cursor::Blocks(order) => order.start(sweep, item),
            Cursor::Mixed(order) => return order.start(sweep, item),
        }
        true
    }

    /// The next unit, or `None` at the end of the sweep.
    #[inline]
    fn next(&mut self) -> Option<OrderedUnit> {
        match self {
            Cursor::Sequential(order) => order.next(),
            Cursor::Windowed(order) => order.next(),
            Cursor::Permuted(order) => order.next(),
            Cursor::Rolling(order) => order.next(),
            Cursor::Tumbling(order) => order.next(),
            Cursor::Partitions(order) => order.next(),
            Cursor::Blocks(order) => order.next(),
            Cursor::Mixed(order) => order.next(),
        }
    }

    /// Adds the next `count` units of a sweep, or the rest of it. Each order has a loop of its own:
    /// asking which order it is for each unit takes longer than the unit.
    fn add(&mut self, count: u64, sweep: u64, items: &mut Vec<OrderedUnit>) {
        #[inline]
        fn add(
            count: u64,
            sweep: u64,
            items: &mut Vec<OrderedUnit>,
            next: impl FnMut() -> Option<OrderedUnit>,
        ) {
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            items.extend(iter::from_fn(next).take(count).map(|item| OrderedUnit { sweep, ..item }));
        }
        match self {
            Cursor::Sequential(order) => add(count, sweep, items, || order.next()),
            Cursor::Windowed(order) => add(count, sweep, items, || order.next()),
            Cursor::Permuted(order) => add(count, sweep, items, || order.next()),
            Cursor::Rolling(order) => add(count, sweep, items, || order.next()),
            Cursor::Tumbling(order) => add(count, sweep, items, || order.next()),
            Cursor::Partitions(order) => add(count, sweep, items, || order.next()),
            Cursor::Blocks(order) => add(count, sweep, items, || order.next()),
            // Its units have the sweeps of their components.
            Cursor::Mixed(order) => {
                let count = usize::try_from(count).unwrap_or(usize::MAX);
                items.extend(iter::from_fn(|| order.next()).take(count));
            }
        }
    }

    /// A number that changes when [`window`](Cursor::window) may have changed.
    fn position(&self) -> u64 {
        match self {
            Cursor::Sequential(order) => order.position(),
            Cursor::Windowed(order) => order.position(),
            Cursor::Permuted(_) => 0,
            Cursor::Rolling(order) => order.position(),
            Cursor::Tumbling(order) => order.position(),
            Cursor::Partitions(order) => order.position(),
            Cursor::Blocks(order) => order.position(),
            Cursor::Mixed(order) => order.position(),
        }
    }

    /// The chunks that the next units of a sweep come from, and the chunks to load ahead; each with
    /// its place in the order of chunks (as in [`OrderedUnit::place`]).
    fn window(&self, sweep: u64) -> Vec<(SweptChunk, u32)> {
        let chunks = match self {
            Cursor::Sequential(order) => order.window(),
            Cursor::Windowed(order) => order.window(),
            Cursor::Permuted(order) => order.window(),
            Cursor::Rolling(order) => order.window(),
            Cursor::Tumbling(order) => return order.window(),
            Cursor::Blocks(order) => return order.window(),
            Cursor::Partitions(order) => return order.window(sweep),
            Cursor::Mixed(order) => return order.window(),
        };
        chunks.into_iter().map(|(chunk, place)| (SweptChunk { sweep, chunk }, place)).collect()
    }

    /// The most samples in the chunks of a window, including chunks that are loaded ahead or still
    /// in use. `index` is the index of the source, which also has samples that are not dealt out.
    pub(crate) fn most_samples(&self, index: &Index) -> u64 {
        match self {
            Cursor::Sequential(_) => 3 * largest_chunk(index),
            Cursor::Windowed(order) => order.most_samples(),
            Cursor::Permuted(_) => index.total_samples(),
            Cursor::Rolling(order) => order.most_samples(),
            Cursor::Tumbling(order) => order.most_samples(),
            Cursor::Blocks(order) => order.most_samples(),
            Cursor::Partitions(order) => order.most_samples(index),
            Cursor::Mixed(order) => order.most_samples(),
        }
    }

    /// The most bytes of the order itself: units of the window, units that are shuffled ahead, the
    /// order of chunks.
    pub(crate) fn most_bytes(&self, index: &Index, unit: Unit) -> u64 {
        let units = match unit {
            Unit::Frame => self.most_samples(index),
            Unit::Sequence => self.most_samples(index).min(index.len() as u64),
        };
        match self {
            Cursor::Sequential(_) => 0,
            Cursor::Permuted(_) => index.len() as u64 * 4 + index.total_samples() / 128,
            Cursor::Partitions(order) => order.most_bytes(units),
            Cursor::Mixed(order) => order.most_bytes(unit),
            // The orders of two sweeps.
            Cursor::Blocks(_) => index.chunk_count() as u64 * 2 * 24,
            Cursor::Windowed(_) | Cursor::Rolling(_) | Cursor::Tumbling(_) => {
                units.saturating_mul(16).saturating_add(index.chunk_count() as u64 * 64)
            }
        }
    }

    /// Mixes the order's data beyond index and settings into a digest of these.
    pub(crate) fn digest(&self, digest: u64) -> u64 {
        match self {
            Cursor::Partitions(order) => order.digest(digest),
            Cursor::Mixed(order) => order.digest(digest),
            _ => digest,
        }
    }

    /// Whether a unit may come more than once before the end of a sweep.
    pub(crate) fn repeats(&self) -> bool {
        matches!(self, Cursor::Mixed(_))
    }

    /// The next unit behind `item` where a minibatch must end before the end of the sweep.
    pub(crate) fn seam(&self, item: u64) -> u64 {
        match self {
            Cursor::Partitions(order) => order.seam(item),
            _ => u64::MAX,
        }
    }
}

/// An order with a position: the units of all sweeps, one after another.
pub(crate) struct Units {
    pub(crate) cursor: Cursor,
    /// The number of units in a sweep.
    total: u64,
    sweep: u64,
    /// The number of units of the sweep that were taken, without `pending`.
    item: u64,
    pending: Option<OrderedUnit>,
}

impl Units {
    /// The beginning of the first sweep, which has `total` units.
    pub(crate) fn new(cursor: Cursor, total: u64) -> Self {
        let mut units = Self { cursor, total, sweep: 0, item: 0, pending: None };
        units.start_sweep(0);
        units
    }

    /// Goes to the position of a state. Returns whether it exists.
    pub(crate) fn start(&mut self, at: OrderState) -> bool {
        (self.sweep, self.item, self.pending) = (at.sweep, at.item, None);
        if let Cursor::Mixed(order) = &mut self.cursor {
            let found = at.part == PartState::default() && order.start(at.sweep, at.item);
            self.total = order.total();
            return found;
        }
        let found = self.cursor.start(at);
        // A group has other chunks in each sweep.
        if let Cursor::Blocks(order) = &self.cursor {
            self.total = order.total();
        }
        at.item <= self.total && found
    }

    /// Goes to the beginning of a sweep.
    pub(crate) fn start_sweep(&mut self, sweep: u64) {
        self.start(OrderState { sweep, ..OrderState::default() });
    }

    /// Goes on with the next sweep.
    pub(crate) fn next_sweep(&mut self) {
        let sweep = self.sweep.saturating_add(1);
        match &mut self.cursor {
            // Windows of this order go on over the ends of sweeps.
            Cursor::Tumbling(order) => {
                (self.sweep, self.item, self.pending) = (sweep, 0, None);
                order.next_sweep();
            }
            _ => self.start_sweep(sweep),
        }
    }

    /// Passes over units of the sweep, up to unit `item`.
    pub(crate) fn go_to(&mut self, item: u64) {
        if item != self.item {
            self.start(OrderState { item, ..self.state() });
        }
    }

    /// The next unit, without taking it; `None` at the end of the sweep.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<OrderedUnit> {
        if self.pending.is_none() {
            let next = self.cursor.next();
            self.pending = match self.cursor {
                Cursor::Mixed(_) => next,
                _ => next.map(|item| OrderedUnit { sweep: self.sweep, ..item }),
            };
        }
        self.pending
    }

    /// Takes the unit that was peeked at.
    #[inline]
    pub(crate) fn take(&mut self) {
        self.pending = None;
        self.item += 1;
    }

    /// Takes `count` units, or the rest of the sweep.
    pub(crate) fn take_many(&mut self, count: u64, items: &mut Vec<OrderedUnit>) {
        let before = items.len();
        let most = count.min(self.total.saturating_sub(self.item));
        items.reserve(usize::try_from(most).unwrap_or(0));
        let pending = if count > 0 { self.pending.take() } else { None };
        items.extend(pending);
        self.cursor.add(count - (items.len() - before) as u64, self.sweep, items);
        self.item += (items.len() - before) as u64;
    }

    /// Moves to the next unit, if the part or the chunk of the last one has ended.
    pub(crate) fn settle(&mut self) {
        match &mut self.cursor {
            _ if self.pending.is_some() => {}
            Cursor::Sequential(order) => order.settle(),
            Cursor::Tumbling(order) => order.settle(),
            _ => {}
        }
    }

    pub(crate) fn sweep(&self) -> u64 {
        self.sweep
    }

    /// Number of the next unit in the sweep.
    pub(crate) fn item(&self) -> u64 {
        self.item
    }

    /// Units of a sweep.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The next unit behind `item` where a minibatch must end.
    pub(crate) fn seam(&self, item: u64) -> u64 {
        self.cursor.seam(item).min(self.total)
    }

    /// The position of the next unit.
    pub(crate) fn state(&self) -> OrderState {
        let (part, item) = match &self.cursor {
            Cursor::Tumbling(order) => order.state(self.pending.is_some()),
            _ => (PartState::default(), self.item),
        };
        OrderState { sweep: self.sweep, item, part }
    }

    /// The chunks that the next units come from, each with its place in the order of chunks. A
    /// chunk may come more than once.
    pub(crate) fn window(&self) -> impl Iterator<Item = (SweptChunk, u32)> {
        let pending = self.pending.iter().map(|item| (item.swept(), item.place));
        pending.chain(self.cursor.window(self.sweep))
    }

    /// A value that changes when the window may have changed.
    pub(crate) fn position(&self) -> (u64, u64) {
        (self.sweep, self.cursor.position())
    }
}

/// Number of units in a chunk.
fn units(index: &Index, unit: Unit, chunk: usize) -> u64 {
    match unit {
        Unit::Frame => index.chunk_samples(chunk),
        Unit::Sequence => u64::from(index.chunk(chunk).end - index.chunk(chunk).start),
    }
}

/// Number of units in a sweep.
pub(crate) fn all_units(index: &Index, unit: Unit) -> u64 {
    match unit {
        Unit::Frame => index.total_samples(),
        Unit::Sequence => index.len() as u64,
    }
}

/// The number of units (frames or sequences) in the first sweep of a feed with these settings.
/// `None` if it has no end, or if the settings do not fit the index.
#[must_use]
pub fn units_in_sweep(index: &Index, settings: &Settings) -> Option<u64> {
    match &settings.mixture {
        None => Some(all_units(index, settings.unit)),
        Some(mixture) => Mixed::new(index, settings, mixture).ok()?.finite_total(),
    }
}

/// The sequence of a unit.
pub(crate) fn sequence(index: &Index, unit: Unit, item: OrderedUnit) -> u32 {
    let sequences = index.chunk(item.chunk as usize);
    match unit {
        Unit::Sequence => sequences.start + item.number,
        Unit::Frame => {
            let sample = index.start(sequences.start) + u64::from(item.number);
            index.sequence_at(sample, sequences)
        }
    }
}

/// Length of a unit in samples.
#[inline]
fn length(index: &Index, unit: Unit, chunk: u32, number: u32) -> u32 {
    match unit {
        Unit::Frame => 1,
        Unit::Sequence => index.samples(index.chunk(chunk as usize).start + number),
    }
}

pub(crate) fn largest_chunk(index: &Index) -> u64 {
    (0..index.chunk_count()).map(|chunk| index.chunk_samples(chunk)).max().unwrap_or(0)
}

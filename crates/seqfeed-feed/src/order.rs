//! The order of the units in a sweep.
//!
//! An order is a pure function of index, settings, seed and sweep. It gives units one after
//! another, starts at any unit of any sweep, and knows which chunks the next units can come from.

pub(crate) mod local;
mod permuted;
mod rolling;
mod sequential;
mod windowed;

use std::sync::Arc;

use seqfeed_core::Index;

pub(crate) use permuted::Permuted;
pub(crate) use rolling::Rolling;
pub(crate) use sequential::Sequential;
pub(crate) use windowed::Windowed;

use crate::settings::{Order, Settings, Unit, Window};

/// One unit of a sweep: a frame or a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// The chunk that holds it.
    pub(crate) chunk: u32,
    /// Which rank it belongs to where chunks are divided among ranks: its chunk's place in the
    /// sweep's order of chunks.
    pub(crate) shard: u32,
    /// Number of the unit (frame or sequence) in its chunk.
    pub(crate) number: u32,
    /// Its length in samples.
    pub(crate) samples: u32,
}

/// Units of a sweep, one after another.
pub(crate) enum Cursor {
    Sequential(Sequential),
    Windowed(Box<Windowed>),
    Permuted(Permuted),
    Rolling(Box<Rolling>),
}

impl Cursor {
    pub(crate) fn new(index: Arc<Index>, settings: &Settings) -> Self {
        let (unit, seed) = (settings.unit, settings.seed);
        match settings.order {
            Order::Sequential => Cursor::Sequential(Sequential::new(index, unit)),
            Order::Shuffle(Window::Corpus) => Cursor::Permuted(Permuted::new(index, unit, seed)),
            Order::Shuffle(window) => {
                let generator = settings.generator;
                Cursor::Windowed(Box::new(Windowed::new(index, unit, window, seed, generator)))
            }
            Order::Rolling(window) => Cursor::Rolling(Box::new(Rolling::new(index, window))),
        }
    }

    /// Goes to unit number `item` of a sweep.
    pub(crate) fn start(&mut self, sweep: u64, item: u64) {
        match self {
            Cursor::Sequential(order) => order.start(item),
            Cursor::Windowed(order) => order.start(sweep, item),
            Cursor::Permuted(order) => order.start(sweep, item),
            Cursor::Rolling(order) => order.start(sweep, item),
        }
    }

    /// The next unit, or `None` at the end of the sweep.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Item> {
        match self {
            Cursor::Sequential(order) => order.next(),
            Cursor::Windowed(order) => order.next(),
            Cursor::Permuted(order) => order.next(),
            Cursor::Rolling(order) => order.next(),
        }
    }

    /// A number that changes when [`window`](Cursor::window) may have changed.
    pub(crate) fn position(&self) -> u64 {
        match self {
            Cursor::Sequential(order) => order.position(),
            Cursor::Windowed(order) => order.position(),
            Cursor::Permuted(_) => 0,
            Cursor::Rolling(order) => order.position(),
        }
    }

    /// The chunks that the next units come from, and one more to load ahead; each with its place
    /// in the order of chunks (what [`Item::shard`] says).
    pub(crate) fn window(&self) -> Vec<(u32, u32)> {
        match self {
            Cursor::Sequential(order) => order.window(),
            Cursor::Windowed(order) => order.window(),
            Cursor::Permuted(order) => order.window(),
            Cursor::Rolling(order) => order.window(),
        }
    }

    /// The most samples that the chunks of a window hold, one loaded ahead and one still in use
    /// counted in.
    pub(crate) fn most_samples(&self, index: &Index) -> u64 {
        match self {
            Cursor::Sequential(_) => 3 * largest_chunk(index),
            Cursor::Windowed(order) => order.most_samples(),
            Cursor::Permuted(_) => index.total_samples(),
            Cursor::Rolling(order) => order.most_samples(),
        }
    }
}

/// Number of units in a chunk.
fn units(index: &Index, unit: Unit, chunk: usize) -> u64 {
    match unit {
        Unit::Frame => index.chunk_samples(chunk),
        Unit::Sequence => u64::from(index.chunk(chunk).end - index.chunk(chunk).start),
    }
}

/// The sequence that a unit is, or is part of.
pub(crate) fn sequence(index: &Index, unit: Unit, item: Item) -> u32 {
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

//! The order of a mixture: its components take turns by their weights.
//!
//! All positions of a run are counted from its very start. The component of a position, and the
//! number of units that each component gave before, follow from the weights alone. Each component
//! has an order of its own, which begins its next sweep when it is exhausted.

mod split;

use std::sync::Arc;

use seqfeed_core::{Error, Index, IndexBuilder, Key, Result};

use self::split::Split;
use super::{Cursor, OrderState, OrderedUnit, all_units};
use crate::random::mix;
use crate::settings::{Mixture, Settings, Stop, Unit, WEIGHTS_TO_ONE};
use crate::swept_chunk::SweptChunk;

pub(crate) struct Mixed {
    components: Vec<OwnOrder>,
    stretches: Vec<Stretch>,
    stop: Stop,
    first_sweep: u64,
    /// The stretch of the next position, and the position behind its end.
    stretch: usize,
    until: u64,
    /// The next position.
    position: u64,
    /// The first position of the current sweep, and the one behind its last.
    sweep: (u64, u64),
    digest: u64,
}

/// Positions with the same weights.
struct Stretch {
    start: u64,
    /// The number of units that each component gave before it.
    before: Vec<u64>,
    split: Split,
}

/// The order of a component.
struct OwnOrder {
    cursor: Cursor,
    index: Arc<Index>,
    first_chunk: u32,
    /// The number of units in its sweep.
    total: u64,
    /// Its own sweep, and the number of the next unit there.
    sweep: u64,
    item: u64,
}

/// The last position at which a run can start. Far beyond it, positions would overflow.
const LAST_START: u64 = u64::MAX / 2;
/// A component goes on to a unit so near ahead, and does not shuffle its sweep again to get there.
const NEAR: u64 = 1 << 16;

impl Mixed {
    /// The order of a mixture. `index` has its components one after another.
    ///
    /// # Errors
    ///
    /// Fails if a component has no units, or if the components do not have all chunks of the index.
    pub(crate) fn new(index: &Index, settings: &Settings, mixture: &Mixture) -> Result<Self> {
        let mut components = Vec::new();
        let mut first = 0;
        for component in &mixture.components {
            let last = first + component.chunks;
            if last > index.chunk_count() {
                return Err(not_its_chunks());
            }
            let own = Arc::new(lengths_of(index, first..last));
            let total = all_units(&own, settings.unit);
            if total == 0 {
                let empty =
                    format!("the component {} of the mixture has no samples", component.name);
                return Err(Error::corpus(empty));
            }
            let cursor = Cursor::of_all(Arc::clone(&own), settings);
            let (first_chunk, sweep) = (first as u32, 0);
            components.push(OwnOrder { cursor, index: own, first_chunk, total, sweep, item: 0 });
            first = last;
        }
        if first != index.chunk_count() {
            return Err(not_its_chunks());
        }
        components.iter_mut().for_each(|own| own.start(0, 0));
        let sizes: Vec<u64> = components.iter().map(|own| own.total).collect();
        let weights = weights(mixture, settings, &sizes);
        let Mixture { stop, first_sweep, .. } = *mixture;
        let numbers = weights.iter().flat_map(|(from, weights)| weights.iter().chain([from]));
        let facts = [stop as u64 + 1, first_sweep];
        let chunks = mixture.components.iter().map(|component| component.chunks as u64);
        let digest = facts.into_iter().chain(chunks).chain(numbers.copied());
        let mut mixed = Self {
            components,
            digest: digest.fold(0, |hash, part| mix(hash ^ part).wrapping_add(part)),
            stretches: stretches(weights),
            stop,
            first_sweep,
            stretch: 0,
            until: 0,
            position: 0,
            sweep: (0, 0),
        };
        mixed.seek(0);
        mixed.start(0, 0);
        Ok(mixed)
    }

    /// Goes to a unit of a sweep of the mixture. Returns whether there is such a unit, or such an
    /// end of a sweep.
    pub(crate) fn start(&mut self, sweep: u64, item: u64) -> bool {
        let number = self.first_sweep.saturating_add(sweep);
        let begin = self.end_before(number);
        self.sweep = (begin, self.end_before(number.saturating_add(1)));
        let position = begin.saturating_add(item);
        if position > self.sweep.1 || position > LAST_START {
            return false;
        }
        if position != self.position {
            self.seek(position);
        }
        true
    }

    /// The number of units in the current sweep.
    pub(crate) fn total(&self) -> u64 {
        self.sweep.1 - self.sweep.0
    }

    /// The same, if the sweep ends.
    pub(crate) fn finite_total(&self) -> Option<u64> {
        (self.sweep.1 < u64::MAX).then(|| self.total())
    }

    pub(crate) fn next(&mut self) -> Option<OrderedUnit> {
        if self.position >= self.sweep.1 {
            return None;
        }
        if self.position >= self.until {
            self.enter(self.stretch + 1, self.position);
        }
        let component = self.stretches[self.stretch].split.next();
        self.position += 1;
        self.components[component].next()
    }

    pub(crate) fn window(&self) -> Vec<(SweptChunk, u32)> {
        let mut window = Vec::new();
        for own in &self.components {
            window.extend(own.cursor.window(own.sweep).into_iter().map(|(swept, place)| {
                let chunk = swept.chunk + own.first_chunk;
                (SweptChunk { chunk, ..swept }, place + own.first_chunk)
            }));
        }
        window
    }

    /// A number that changes when [`window`](Mixed::window) may have changed.
    pub(crate) fn position(&self) -> u64 {
        let here = |own: &OwnOrder| mix(own.sweep.wrapping_add(mix(own.cursor.position())));
        self.components.iter().fold(0, |hash: u64, own| mix(hash).wrapping_add(here(own)))
    }

    pub(crate) fn most_samples(&self) -> u64 {
        let most = self.components.iter().map(|own| own.cursor.most_samples(&own.index));
        most.fold(0, u64::saturating_add)
    }

    pub(crate) fn most_bytes(&self, unit: Unit) -> u64 {
        let each = self.components.iter().map(|own| {
            // The lengths and chunks of its sequences, in an index of its own.
            let lengths = 8 * own.index.len() as u64 + 4 * own.index.chunk_count() as u64;
            own.cursor.most_bytes(&own.index, unit).saturating_add(lengths)
        });
        each.fold(0, u64::saturating_add)
    }

    pub(crate) fn digest(&self, digest: u64) -> u64 {
        mix(digest ^ self.digest).wrapping_add(self.digest)
    }

    /// Goes to a position of the run.
    fn seek(&mut self, position: u64) {
        let stretch = self.stretches.partition_point(|stretch| stretch.start <= position) - 1;
        self.enter(stretch, position);
        self.position = position;
        let Stretch { start, before, split } = &self.stretches[stretch];
        let mut counts = before.clone();
        split.add_counts(position - start, &mut counts);
        for (own, count) in self.components.iter_mut().zip(counts) {
            own.go_to(count);
        }
    }

    fn enter(&mut self, stretch: usize, position: u64) {
        self.stretch = stretch;
        self.until = self.stretches.get(stretch + 1).map_or(u64::MAX, |next| next.start);
        let stretch = &mut self.stretches[stretch];
        stretch.split.go_to(position - stretch.start);
    }

    /// The position at which `sweeps` sweeps of the mixture are over; the largest number if they
    /// never are.
    fn end_before(&self, sweeps: u64) -> u64 {
        if sweeps == 0 {
            return 0;
        }
        let over = |(component, own): (usize, &OwnOrder)| {
            let count = sweeps.checked_mul(own.total);
            count.and_then(|count| self.position_of(component, count)).unwrap_or(u64::MAX)
        };
        let ends = self.components.iter().enumerate().map(over);
        match self.stop {
            Stop::First => ends.min().unwrap_or(u64::MAX),
            Stop::All => ends.max().unwrap_or(u64::MAX),
            Stop::Never => u64::MAX,
        }
    }

    /// The first position before which a component has given `count` units, if there is one.
    fn position_of(&self, component: usize, count: u64) -> Option<u64> {
        let after = self.stretches.partition_point(|stretch| stretch.before[component] < count);
        let stretch = &self.stretches[after.checked_sub(1)?];
        let position = stretch.split.position_of(component, count - stretch.before[component])?;
        position.checked_add(stretch.start)
    }
}

impl OwnOrder {
    fn start(&mut self, sweep: u64, item: u64) {
        (self.sweep, self.item) = (sweep, item);
        self.cursor.start(OrderState { sweep, item, ..OrderState::default() });
    }

    /// The next unit, by its chunk in the mixture.
    #[inline]
    fn next(&mut self) -> Option<OrderedUnit> {
        let unit = self.cursor.next()?;
        let chunk = unit.chunk + self.first_chunk;
        let place = unit.place + self.first_chunk;
        let unit = OrderedUnit { chunk, place, sweep: self.sweep, ..unit };
        self.item += 1;
        // The next sweep begins at once, so that its chunks are loaded ahead.
        if self.item == self.total {
            self.start(self.sweep + 1, 0);
        }
        Some(unit)
    }

    /// Goes to the unit before which it has given `count` units.
    fn go_to(&mut self, count: u64) {
        let (sweep, item) = (count / self.total, count % self.total);
        if sweep != self.sweep || item < self.item || item - self.item > NEAR {
            self.start(sweep, item);
        }
        while self.item < item && self.next().is_some() {}
    }
}

/// The sequences of some chunks, with their lengths but without their keys.
fn lengths_of(index: &Index, chunks: std::ops::Range<usize>) -> Index {
    let mut builder = IndexBuilder::new(u64::MAX);
    for chunk in chunks {
        for sequence in index.chunk(chunk) {
            builder.push(Key(b""), index.samples(sequence));
        }
        builder.end_chunk();
    }
    builder.finish()
}

/// The whole weights of components of these sizes, each time with the position from which on they
/// hold.
fn weights(mixture: &Mixture, settings: &Settings, sizes: &[u64]) -> Vec<(u64, Vec<u64>)> {
    let whole = |weight: f64| (weight * WEIGHTS_TO_ONE).round() as u64;
    match mixture.temperature {
        // These are exact, so each unit comes once a sweep.
        Some(1.0) => vec![(0, sizes.to_vec())],
        Some(temperature) => {
            let largest = sizes.iter().copied().max().unwrap_or(1) as f64;
            let weight =
                |&size: &u64| whole((size as f64 / largest).powf(1.0 / temperature)).max(1);
            vec![(0, sizes.iter().map(weight).collect())]
        }
        None => {
            let scale = mixture.units_in_position(settings).unwrap_or(1);
            let changes = mixture.changes().into_iter();
            let at = |from| mixture.components.iter().map(move |one| whole(one.weight_at(from)));
            changes.map(|from| (from.saturating_mul(scale), at(from).collect())).collect()
        }
    }
}

fn stretches(weights: Vec<(u64, Vec<u64>)>) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::with_capacity(weights.len());
    for (start, weights) in weights {
        let mut before = vec![0; weights.len()];
        if let Some(last) = stretches.last() {
            before.clone_from(&last.before);
            last.split.add_counts(start - last.start, &mut before);
        }
        stretches.push(Stretch { start, before, split: Split::new(&weights) });
    }
    stretches
}

fn not_its_chunks() -> Error {
    Error::usage("the components of the mixture do not have the chunks of the corpus")
        .with_help("what changes which sequences there are belongs to the components")
}

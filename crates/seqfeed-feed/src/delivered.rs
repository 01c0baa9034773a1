//! Counts what a feed delivered of each component of a mixture.

use std::sync::Arc;

use crate::order::OrderedUnit;
use crate::settings::Mixture;

/// What a feed has delivered to its rank of one component of a [`Mixture`], since the feed began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// The name of the component.
    pub name: Arc<str>,
    /// Units: frames or sequences.
    pub units: u64,
    /// Samples.
    pub samples: u64,
    /// The component's own sweeps up to the latest unit, from the very start: with 1 nothing came
    /// twice.
    pub sweeps: u64,
}

impl Delivered {
    /// Adds [what a minibatch has](crate::Minibatch::delivered) to what came before it.
    pub fn add(all: &mut Vec<Self>, more: &[Self]) {
        if all.is_empty() {
            all.extend_from_slice(more);
            return;
        }
        for (all, more) in all.iter_mut().zip(more) {
            all.units += more.units;
            all.samples += more.samples;
            all.sweeps = all.sweeps.max(more.sweeps);
        }
    }
}

/// The components of a feed, for counting.
pub(crate) struct Components {
    names: Vec<Arc<str>>,
    /// The chunk behind the last one of each component.
    ends: Vec<u32>,
}

impl Components {
    pub(crate) fn of(mixture: &Mixture) -> Self {
        let names =
            mixture.components.iter().map(|component| Arc::from(&*component.name)).collect();
        let ends = mixture.components.iter().scan(0, |end, component| {
            *end += component.chunks as u32;
            Some(*end)
        });
        Self { names, ends: ends.collect() }
    }

    /// Nothing of each component.
    pub(crate) fn none(&self) -> Vec<Delivered> {
        let named = |name: &Arc<str>| Delivered { name: Arc::clone(name), ..Delivered::default() };
        self.names.iter().map(named).collect()
    }

    /// What a minibatch has of each component.
    pub(crate) fn count(&self, items: &[OrderedUnit]) -> Vec<Delivered> {
        let mut counts = self.none();
        for item in items {
            let component = self.ends.partition_point(|&end| end <= item.chunk);
            let count = &mut counts[component];
            count.units += 1;
            count.samples += u64::from(item.samples);
            count.sweeps = count.sweeps.max(item.sweep + 1);
        }
        counts
    }
}

//! The settings of a mixture: which corpora it has, how often each one comes, where a sweep ends.

use super::{BatchSize, Cut, Settings, Unit};

/// The most corpora in a mixture: all are opened at once.
const MOST_COMPONENTS: usize = 1000;
/// The most changes of one weight.
const MOST_CHANGES: usize = 1000;
/// The largest weight, and the number of weights from 0 to 1.
pub(crate) const LARGEST_WEIGHT: f64 = 1e6;
pub(crate) const WEIGHTS_TO_ONE: f64 = 1e9;
/// The highest temperature.
const HIGHEST_TEMPERATURE: f64 = 1e6;

/// Several corpora that are fed as one. The source has them one after another.
///
/// The component of a unit is a pure function of the unit's position, and so is the number of units
/// that each component gave before. Each component keeps its own order: it gives its units as it
/// would alone, and begins its next sweep where it has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture {
    /// The corpora, in the order of the source.
    pub components: Vec<Component>,
    /// Makes the weights out of the sizes: a component of `n` units has the weight `n^(1 / T)`.
    /// With 1 each unit comes equally often; with more, small components come more often.
    pub temperature: Option<f64>,
    /// What the positions of a schedule count.
    pub schedule: ScheduleUnit,
    /// Where a sweep of the mixture ends.
    pub stop: Stop,
    /// The number of sweeps that are over when the feed begins.
    pub first_sweep: u64,
}

/// One corpus of a [`Mixture`].
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// Its name.
    pub name: String,
    /// The number of its chunks.
    pub chunks: usize,
    /// Its weight from each position on, the first one from 0 on. Empty with a temperature.
    pub weights: Vec<WeightFrom>,
}

/// A weight from a position on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeightFrom {
    /// The position, counted from the very start.
    pub from: u64,
    /// The share of units, in relation to the weights of the other components.
    pub weight: f64,
}

/// What the positions of a schedule count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScheduleUnit {
    /// Minibatches of all ranks together. Needs minibatches with a fixed number of units.
    #[default]
    Minibatches,
    /// Units of all ranks together: frames or sequences.
    Units,
}

/// Where a sweep of a mixture ends. Components that are exhausted before begin again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stop {
    /// Where the first component is exhausted. The others go on in the next sweep.
    First,
    /// Where all components were exhausted.
    #[default]
    All,
    /// Nowhere: the run has one sweep without an end.
    Never,
}

impl Mixture {
    /// The first setting without a meaning.
    pub(super) fn problem(&self, settings: &Settings) -> Option<String> {
        if !matches!(settings.cut, Cut::Steps(_)) {
            let reason = "a mixture is cut for all ranks together: use preset = \"none\"";
            return Some(reason.to_owned());
        } else if self.components.is_empty() {
            return Some("a mixture needs one corpus at least".to_owned());
        } else if self.components.len() > MOST_COMPONENTS {
            return Some(format!(
                "a mixture has {MOST_COMPONENTS} corpora at most, not {}",
                self.components.len()
            ));
        } else if self.stop == Stop::Never
            && settings.samples.is_none()
            && settings.sweeps.is_some()
        {
            let reason = "a mixture that never stops has one sweep without an end: limit the run by \
                          `samples`, not by `sweeps`";
            return Some(reason.to_owned());
        } else if self.stop == Stop::Never && self.first_sweep > 0 {
            let reason = "a mixture that never stops has one sweep, so it has no second epoch";
            return Some(reason.to_owned());
        }
        match self.temperature {
            Some(temperature) if !(temperature > 0.0 && temperature <= HIGHEST_TEMPERATURE) => {
                Some(format!(
                    "the temperature of a mixture must be above 0 and {HIGHEST_TEMPERATURE} at most, not \
                     {temperature}"
                ))
            }
            Some(_) => None,
            None => self.wrong_weight().or_else(|| self.wrong_schedule(settings)),
        }
    }

    fn wrong_weight(&self) -> Option<String> {
        for Component { name, weights, .. } in &self.components {
            if weights.first().is_none_or(|first| first.from != 0) {
                return Some(format!("{name}: the first weight of a schedule holds from 0 on"));
            } else if weights.len() > MOST_CHANGES {
                return Some(format!("{name}: a weight changes {MOST_CHANGES} times at most"));
            } else if !weights.is_sorted_by(|one, next| one.from < next.from) {
                return Some(format!("{name}: the positions of a schedule must rise"));
            }
            for WeightFrom { weight, .. } in weights {
                let fits = (1.0 / WEIGHTS_TO_ONE..=LARGEST_WEIGHT).contains(weight);
                if !fits && *weight != 0.0 {
                    return Some(format!(
                        "{name}: a weight is 0, or from 0.000000001 to {LARGEST_WEIGHT}, not {weight}"
                    ));
                }
            }
            let last = weights.last().map_or(0.0, |last| last.weight);
            if self.stop == Stop::All && last == 0.0 {
                return Some(format!(
                    "{name}: with stop = \"all\" each component must come to its end, but its last weight \
                     is 0"
                ));
            }
        }
        None
    }

    fn wrong_schedule(&self, settings: &Settings) -> Option<String> {
        let changes = self.changes();
        for &from in &changes {
            if self.components.iter().all(|component| component.weight_at(from) == 0.0) {
                return Some(format!("all weights of the mixture are 0 from position {from} on"));
            }
        }
        (changes.len() > 1 && self.units_in_position(settings).is_none()).then(|| {
            "a schedule by minibatches needs minibatches with a fixed number of units (batch-unit = \
             \"sequences\", or unit = \"frame\"); or give its positions in sequences, with schedule = \
             \"units\""
                .to_owned()
        })
    }

    /// The positions at which weights change, ascending from 0.
    pub(crate) fn changes(&self) -> Vec<u64> {
        let all = self.components.iter().flat_map(|component| &component.weights);
        let mut changes: Vec<u64> = all.map(|weight| weight.from).collect();
        changes.sort_unstable();
        changes.dedup();
        changes
    }

    /// The number of units from one position of a schedule to the next; `None` if it is not fixed.
    pub(crate) fn units_in_position(&self, settings: &Settings) -> Option<u64> {
        match (self.schedule, settings.batch, settings.unit) {
            (ScheduleUnit::Units, ..) => Some(1),
            (_, BatchSize::Units(size), _) | (_, BatchSize::Samples(size), Unit::Frame) => {
                Some(size)
            }
            _ => None,
        }
    }
}

impl Component {
    /// The weight at a position.
    pub(crate) fn weight_at(&self, position: u64) -> f64 {
        let before = self.weights.iter().take_while(|weight| weight.from <= position);
        before.last().map_or(0.0, |weight| weight.weight)
    }
}

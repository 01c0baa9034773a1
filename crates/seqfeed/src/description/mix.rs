//! A mixture of corpora: the sections `[mix]` and `[mix.NAME]`.

use std::collections::BTreeMap;

use seqfeed_feed::{Component, Mixture, ScheduleUnit, Stop, WeightFrom};
use toml::Value;

use super::option::{CorpusOption, OptionValue, OptionValues, options};
use super::values::Names;

options! {
    /// A mixture of corpora: the section `[mix]`.
    pub struct MixSpec {
        /// Makes the weights out of the sizes: a corpus of `n` units (frames or sequences) has the
        /// weight `n^(1/T)`. With 1 each unit comes equally often, with more the small corpora
        /// come more often.
        ["mix"] "temperature" "T" temperature: f64 = "1 without weights", Corpus;

        /// Where a sweep ends: where the first corpus is exhausted, where all were exhausted, or
        /// never. An exhausted corpus begins again.
        ["mix"] "stop" "WHEN" stop: Stop = "all", Corpus;

        /// What the positions of a schedule count, over all ranks: minibatches of `batch-size`
        /// units, or units (frames or sequences).
        ["mix"] "schedule" "UNIT" schedule: ScheduleUnit = "minibatches", Corpus;

        /// Whether keys get the name of their corpus: `NAME/KEY`.
        ["mix"] "prefix" "BOOL" prefix: bool = "true", Corpus;

        /// Streams that some of the corpora may lack. A sequence then has no samples in them.
        ["mix"] "optional" "STREAM" optional: Names, Corpus;
    } with {
        /// The corpora, by name.
        components: BTreeMap<String, ComponentSpec>,
    }
}

options! {
    /// One corpus of a mixture: a section `[mix.NAME]`.
    pub struct ComponentSpec {
        /// The corpus: a description, an rspecifier, or any other name of a corpus.
        ["mix.NAME"] "corpus" "NAME" corpus: String, Corpus;

        /// Its share of units (frames or sequences), in relation to the other weights. Pairs of a
        /// position and a weight are a schedule: `[[0, 1.0], [1000, 0.2]]`.
        ["mix.NAME"] "weight" "WEIGHT" weight: Weight = "1 if others have weights", Corpus;
    }
}

/// A weight, or a schedule of weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Weight(pub Vec<(u64, f64)>);

impl OptionValue for Weight {
    const VALUES: OptionValues = OptionValues::Schedule;

    fn from_value(value: &Value) -> Result<Self, String> {
        let pair = |pair: &Value| match pair.as_array().map(Vec::as_slice) {
            Some([from, weight]) => {
                Some((u64::from_value(from).ok()?, f64::from_value(weight).ok()?))
            }
            _ => None,
        };
        let weights = match value {
            Value::Array(pairs) => pairs.iter().map(pair).collect(),
            weight => f64::from_value(weight).ok().map(|weight| vec![(0, weight)]),
        };
        let expected = "a number, or pairs of a position and a number ([[0, 1.0], [1000, 0.2]])";
        weights.map(Self).ok_or_else(|| expected.to_owned())
    }

    fn to_value(&self) -> Value {
        match self.0[..] {
            [(0, weight)] => weight.to_value(),
            _ => {
                let pair = |&(from, weight): &(u64, f64)| vec![from.to_value(), weight.to_value()];
                Value::Array(self.0.iter().map(|one| Value::Array(pair(one))).collect())
            }
        }
    }
}

impl MixSpec {
    /// The keys of the section `[mix]` itself.
    pub(crate) fn is_given(&self) -> bool {
        let given = Self::OPTIONS.iter().any(|option| self.get(option.key).is_some());
        given || !self.components.is_empty()
    }

    /// The settings of the mixture, whose components have so many chunks.
    pub(crate) fn mixture(&self, chunks: &[usize]) -> Mixture {
        let weighted = self.components.values().any(|component| component.weight.is_some());
        let temperature = if weighted { None } else { Some(self.temperature.unwrap_or(1.0)) };
        let one = Weight(vec![(0, 1.0)]);
        let weights = |component: &ComponentSpec| {
            let Weight(weights) = component.weight.as_ref().unwrap_or(&one);
            weights.iter().map(|&(from, weight)| WeightFrom { from, weight }).collect()
        };
        let components = self.components.iter().zip(chunks);
        let components = components.map(|((name, component), &chunks)| Component {
            name: name.clone(),
            chunks,
            weights: if weighted { weights(component) } else { Vec::new() },
        });
        Mixture {
            components: components.collect(),
            temperature,
            schedule: self.schedule.unwrap_or_default(),
            stop: self.stop.unwrap_or_default(),
            first_sweep: 0,
        }
    }
}

/// The keys of the section `[mix]`.
#[must_use]
pub fn mix_options() -> &'static [CorpusOption] {
    MixSpec::OPTIONS
}

/// The keys of a section `[mix.NAME]`.
#[must_use]
pub fn component_options() -> &'static [CorpusOption] {
    ComponentSpec::OPTIONS
}

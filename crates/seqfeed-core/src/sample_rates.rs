//! Sample rates of streams of sound.

use std::collections::BTreeMap;

use crate::{Index, Key};

/// Samples a second, for the sequences of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleRates {
    /// The rate of most sequences.
    common: u32,
    /// The rates of all other sequences, by key.
    others: BTreeMap<Vec<u8>, u32>,
}

impl SampleRates {
    /// One rate for all sequences.
    #[must_use]
    pub fn all(rate: u32) -> Self {
        Self { common: rate, others: BTreeMap::new() }
    }

    /// The rates of the sequences of an index; `None` if it is empty.
    #[must_use]
    pub fn of(index: &Index, rate: impl Fn(u32) -> u32) -> Option<Self> {
        let sequences = 0..index.len() as u32;
        let common = rate(sequences.clone().next()?);
        let other = sequences.filter(|&sequence| rate(sequence) != common);
        let key = |sequence| index.key(sequence).0.to_vec();
        let others = other.map(|sequence| (key(sequence), rate(sequence))).collect();
        Some(Self { common, others })
    }

    /// The rate of a sequence.
    #[must_use]
    pub fn of_key(&self, key: Key<'_>) -> u32 {
        self.others.get(key.0).copied().unwrap_or(self.common)
    }

    /// The lowest and the highest.
    #[must_use]
    pub fn range(&self) -> (u32, u32) {
        let rates = || self.others.values().copied().chain([self.common]);
        (rates().min().unwrap_or(self.common), rates().max().unwrap_or(self.common))
    }
}

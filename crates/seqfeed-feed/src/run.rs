//! The end of a run, counted from the very start.

use crate::settings::{Epoch, Settings};

/// The end of a run, or of a part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Run {
    /// The number of sweeps; `None` means no limit.
    pub(crate) sweeps: Option<u64>,
    /// The number of samples of all ranks together.
    pub(crate) samples: Option<u64>,
}

impl Run {
    pub(crate) fn of(settings: &Settings) -> Self {
        Self { sweeps: settings.sweeps, samples: settings.samples }
    }

    /// Whether the run is over after this many sweeps and samples.
    pub(crate) fn is_over(&self, sweeps: u64, samples: u64) -> bool {
        self.sweeps.is_some_and(|most| sweeps >= most) || self.left(samples) == Some(0)
    }

    /// The number of samples left, if samples are limited.
    pub(crate) fn left(&self, samples: u64) -> Option<u64> {
        self.samples.map(|most| most.saturating_sub(samples))
    }

    /// The same run, but with an end at the end of an epoch.
    pub(crate) fn until_epoch(self, epochs: Epoch, epoch: u64) -> Self {
        let least = |limit: Option<u64>, end: u64| Some(limit.map_or(end, |limit| limit.min(end)));
        let next = epoch.saturating_add(1);
        match epochs {
            Epoch::Run => self,
            Epoch::Sweep => Self { sweeps: least(self.sweeps, next), ..self },
            Epoch::Samples(size) => {
                Self { samples: least(self.samples, next.saturating_mul(size)), ..self }
            }
        }
    }
}

//! The position of a feed, in a few numbers.

use seqfeed_core::{Error, Index, Problem, Result};
use serde::{Deserialize, Serialize};

use crate::deal::DealState;
use crate::order::{OrderState, all_units};
use crate::pool::PoolState;
use crate::refused::changed_by_hand;
use crate::rows::RowsState;
use crate::settings::Unit;
use crate::share::ShareState;

/// The position of a feed, with a part for each stage. Its size does not depend on the corpus. For
/// truncated sequences it grows with the number of rows.
///
/// A state is taken after a minibatch and names the next one, so a run goes on exactly there. The
/// number of threads may change, and also the number of ranks, unless each rank cuts its own
/// minibatches.
///
/// As JSON it always has the same keys:
///
/// ```
/// use seqfeed_feed::State;
///
/// let state = State::from_json(
///     r#"{"version":2,"corpus":"00000000000000ff","minibatch":35,"samples":9000,
///         "order":{"sweep":2,"item":512,"part":{"place":0,"collected":0}},"share":{"dealt":0},
///         "pool":{"taken":0,"size":null,"ranks":0},"deal":{"apart":null},"rows":{"epoch":0,"slots":[]}}"#,
/// )?;
/// assert_eq!(state.order.sweep, 2);
/// assert_eq!(State::from_json(&state.to_json())?, state);
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// Version of this format: 2.
    pub version: u32,
    /// Digest of the corpus and of the settings that decide the order, in hexadecimal.
    pub corpus: String,
    /// Minibatches delivered to each rank since the very start.
    pub minibatch: u64,
    /// Samples delivered over all ranks since the very start. If each rank cuts its own
    /// minibatches, the samples that it has passed; if it has an order of its own, the samples that
    /// it got.
    pub samples: u64,
    /// The position in the order.
    pub order: OrderState,
    /// The position in dealing single units to ranks.
    pub share: ShareState,
    /// The position in a pool of similar lengths.
    pub pool: PoolState,
    /// Whether all ranks stand at the same place.
    pub deal: DealState,
    /// The contents of the rows of truncated sequences.
    pub rows: RowsState,
}

impl State {
    const VERSION: u32 = 2;

    /// The beginning, for all stages.
    pub(crate) fn new(corpus: String, minibatch: u64) -> Self {
        Self { version: Self::VERSION, corpus, minibatch, ..Self::default() }
    }

    /// Writes it as one line of JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers and a string are always JSON")
    }

    /// Reads what [`to_json`](State::to_json) wrote.
    ///
    /// # Errors
    ///
    /// Fails if the text is not such JSON, or if its version is unknown.
    pub fn from_json(text: &str) -> Result<Self> {
        /// The field that every version has.
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let bad = |problem: String| {
            Error::format("feed state", Problem::Unsupported(problem.into()))
                .with_help("remove the file to start from the beginning")
        };
        if let Ok(Version { version }) = serde_json::from_str(text)
            && version != Self::VERSION
        {
            return Err(bad(format!("its version is {version}, known is {}", Self::VERSION)));
        }
        serde_json::from_str(text).map_err(|error| bad(error.to_string()))
    }

    /// Refuses numbers that cannot be right for all ranks: more samples than there are up to the
    /// position.
    pub(crate) fn check_numbers(&self, index: &Index, unit: Unit) -> Result<()> {
        let (total, units) = (index.total_samples(), all_units(index, unit));
        let OrderState { sweep, item, .. } = self.order;
        let end = sweep.checked_add(1).and_then(|sweep| sweep.checked_mul(total));
        if end.is_none_or(|end| self.samples > end) {
            return Err(changed_by_hand(&format!(
                "the state names {} samples in sweep {sweep}, of {total} samples each",
                self.samples
            )));
        }
        match item > units {
            true => Err(changed_by_hand(&format!(
                "the state names unit {item} of a sweep, which has {units}"
            ))),
            false => Ok(()),
        }
    }

    /// Refuses a number of samples that no run reaches. Its sum with further ones would overflow.
    pub(crate) fn check_samples(&self) -> Result<()> {
        match self.samples > u64::MAX / 2 {
            true => Err(changed_by_hand(&format!("the state names {} samples", self.samples))),
            false => Ok(()),
        }
    }

    /// The error for a position that an order does not have.
    pub(crate) fn without_place(&self) -> Error {
        let OrderState { sweep, item, part } = self.order;
        changed_by_hand(&format!(
            "the state names unit {item} of the part that begins at chunk {} of sweep {sweep}, which the \
             order does not have",
            part.place
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_is_not_a_state() {
        for text in ["", "{}", "[1]", "{\"version\":2}", "{\"version\":2,\"sweep\":-1}"] {
            assert!(State::from_json(text).is_err(), "{text}");
        }
        for (version, says) in [(1, "version is 1"), (3, "version is 3")] {
            let other = State { version, ..State::default() }.to_json();
            assert!(State::from_json(&other).unwrap_err().message().contains(says));
        }
        let old =
            r#"{"version":1,"sweep":0,"item":0,"within":0,"samples":0,"minibatch":0,"corpus":""}"#;
        assert!(State::from_json(old).unwrap_err().message().contains("version is 1"));
    }
}

//! Where a feed stands, in a few numbers.

use seqfeed_core::{Error, Problem, Result};
use serde::{Deserialize, Serialize};

use crate::order::local::PartState;
use crate::settings::{BatchSize, Partial, Settings, Shard};
use crate::truncated::TruncatedState;

/// Where a feed stands: a position in the sweep's global order, the same for all ranks after the
/// same number of minibatches (unless each rank cuts its own). Its size does not depend on the
/// corpus (where sequences are truncated, it grows with the number of rows).
///
/// It is taken after a minibatch and names the next one, so a run can go on exactly there, also
/// with another number of ranks or threads.
///
/// ```
/// use seqfeed_feed::State;
///
/// let state = State::from_json(r#"{"version":1,"sweep":2,"item":512,"within":0,"samples":9000,
///                                  "minibatch":35,"corpus":"00000000000000ff"}"#)?;
/// assert_eq!(state.sweep, 2);
/// assert_eq!(State::from_json(&state.to_json())?, state);
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// Version of this form: 1.
    pub version: u32,
    /// The sweep of the next minibatch, from 0.
    pub sweep: u64,
    /// The next unit (frame or sequence) in the sweep's order, from 0; where units are bucketed by
    /// length, the first one of the pool.
    pub item: u64,
    /// Minibatches already taken out of that pool; where each rank cuts its own minibatches in
    /// sequential order, the number by which the next unit is dealt.
    pub within: u64,
    /// Samples delivered over all ranks since the very start; where each rank cuts its own
    /// minibatches, those it has gone through.
    pub samples: u64,
    /// Minibatches delivered to each rank since the very start.
    pub minibatch: u64,
    /// Digest of the corpus and of the settings that decide the order, in hexadecimal.
    pub corpus: String,
    /// Where `within` minibatches were taken out of a pool, how it is cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolState>,
    /// Where ranks that got as many minibatches may stand at different places, how these are dealt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<DealtState>,
    /// Where sequences are truncated, what the parallel rows hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<TruncatedState>,
    /// Where each rank has an order of its own, which part of it `item` is counted in. Then `sweep`
    /// and `samples` are the rank's own too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<PartState>,
}

/// How a pool of sequences of like length is cut into minibatches. Only who cuts it alike can go on
/// in its middle: otherwise its minibatches are others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolState {
    /// Size of a minibatch.
    pub batch: BatchSize,
    /// By how much minibatches are larger than that: the number of ranks where chunks are
    /// divided among them.
    pub scale: u64,
}

/// How minibatches are dealt to ranks. Once the end of a sweep had none for some of them, ranks are
/// apart, and each goes on from its own place: that fits together only if all is dealt as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DealtState {
    /// Size of a minibatch.
    pub batch: BatchSize,
    /// Number of ranks.
    pub ranks: usize,
    /// What ranks divide.
    pub shard: Shard,
    /// What becomes of the end of a sweep.
    pub partial: Partial,
    /// Where the run ends, in samples.
    pub samples: Option<u64>,
}

impl DealtState {
    pub(crate) fn of(settings: &Settings) -> Self {
        let Settings { batch, ranks, shard, partial, samples, .. } = *settings;
        Self { batch, ranks, shard, partial, samples }
    }

    /// Whether a feed can go on from a state.
    pub(crate) fn check(settings: &Settings, state: &State) -> Result<()> {
        match state.apart {
            Some(before) if before != Self::of(settings) => Err(Error::usage(
                "the state was saved after the end of a sweep that had a minibatch less for some ranks: they \
                 stand at different places, and can go on only as they were",
            )
            .with_help(
                "keep batch-size, batch-unit, ranks, shard, partial and samples; with partial = \"drop\" or \
                 \"even\" ranks always stand at the same place",
            )),
            _ => Ok(()),
        }
    }
}

impl State {
    pub(crate) const VERSION: u32 = 1;

    /// Writes it as one line of JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers and a string are always JSON")
    }

    /// Reads what [`to_json`](State::to_json) wrote.
    ///
    /// # Errors
    ///
    /// Fails if it is not such JSON, or of a version that is not known.
    pub fn from_json(text: &str) -> Result<Self> {
        let bad = |problem: String| {
            Error::format("feed state", Problem::Unsupported(problem.into()))
                .with_help("remove the file to start from the beginning")
        };
        let state: State = serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
        if state.version != Self::VERSION {
            return Err(bad(format!("its version is {}, known is 1", state.version)));
        }
        Ok(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_is_not_a_state() {
        for text in ["", "{}", "[1]", "{\"version\":1}", "{\"version\":1,\"sweep\":-1}"] {
            assert!(State::from_json(text).is_err(), "{text}");
        }
        let newer = State { version: 2, ..State::default() }.to_json();
        assert!(State::from_json(&newer).unwrap_err().message().contains("version is 2"));
    }
}

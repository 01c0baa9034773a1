//! Where a feed stands, in a few numbers.

use seqfeed_core::{Error, Problem, Result};
use serde::{Deserialize, Serialize};

use crate::order::local::PartState;
use crate::truncated::TruncatedState;

/// Where a feed stands: a position in the sweep's global order, the same for all ranks after the
/// same number of minibatches (unless each rank cuts its own). Its size does not depend on the corpus (where sequences are truncated, it
/// grows with the number of rows).
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
    /// Samples delivered over all ranks since the very start; where each rank cuts its own minibatches,
    /// those it has gone through.
    pub samples: u64,
    /// Minibatches delivered to each rank since the very start.
    pub minibatch: u64,
    /// Digest of the corpus and of the settings that decide the order, in hexadecimal.
    pub corpus: String,
    /// Where sequences are truncated, what the parallel rows hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<TruncatedState>,
    /// Where each rank has an order of its own, which part of it `item` is counted in. Then `sweep`
    /// and `samples` are the rank's own too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<PartState>,
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

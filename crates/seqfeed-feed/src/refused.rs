//! Errors for states that no feed has given.

use seqfeed_core::Error;

/// The error for a state with impossible contents.
pub(crate) fn changed_by_hand(what: &str) -> Error {
    Error::usage(format!("{what}: it was changed by hand"))
        .with_help("use the state as it was saved, or remove it to start from the beginning")
}

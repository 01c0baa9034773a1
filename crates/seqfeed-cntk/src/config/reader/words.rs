//! Values that must be one of a few.

use seqfeed_core::{Result, nearest_name};

use super::super::section::Value;
use super::super::text::excerpt;

/// The value of one of a few words, in any case. `message` is the error for other words.
pub(super) fn one_of<T: Copy>(value: &Value, words: &[(&str, T)], message: &str) -> Result<T> {
    let text = value.text()?;
    if let Some((_, found)) = words.iter().find(|(word, _)| text.eq_ignore_ascii_case(word)) {
        return Ok(*found);
    }
    let likely = nearest_name(&text, words.iter().map(|(word, _)| *word));
    let shown = excerpt(&text);
    let help = match likely {
        Some(word) => format!("it is '{shown}': is '{word}' meant?"),
        None => format!("it is '{shown}'"),
    };
    Err(value.error(message.into()).with_help(help))
}

/// A whole number above 0.
pub(super) fn positive(value: &Value) -> Result<u64> {
    match value.u64()? {
        0 => Err(value
            .error(format!("{} must not be 0", value.name()))
            .with_help("a whole number above 0")),
        number => Ok(number),
    }
}

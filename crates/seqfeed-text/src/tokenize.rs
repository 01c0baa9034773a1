//! What gives the tokens of a text.

use std::fmt::Debug;
use std::sync::Arc;

use seqfeed_core::{Result, SymbolTable};

use crate::form::Value;

/// Divides texts into tokens, which have numbers.
///
/// The same text must always have the same tokens: a source counts them when it is opened.
pub trait Tokenize: Debug + Send + Sync {
    /// The tokens and their numbers.
    fn symbols(&self) -> &Arc<SymbolTable>;

    /// Appends the numbers of the tokens of a text.
    ///
    /// # Errors
    ///
    /// Fails if the text has no tokens by its rules, such as a word that is not known.
    fn tokenize(&self, text: &Value<'_>, numbers: &mut Vec<i32>) -> Result<()>;

    /// The most bytes of memory that it needs for a text of so many bytes.
    fn bytes(&self, text: u64) -> u64;
}

//! Labels from text: transcripts, and any other table that gives a key words.
//!
//! A line has a key and its text, either as in Kaldi's `text` (`utt1 seven one`) or as an object of
//! JSON ([`Form`]). The text is divided into symbols ([`Splitter`]), and a
//! [`SymbolTable`](seqfeed_core::SymbolTable) gives each symbol its number. Or a tokenizer does
//! both ([`Tokenize`]). [`TextSource`] is the stream of these numbers.

#![forbid(unsafe_code)]

mod form;
mod lines;
mod manifest;
mod reference;
mod source;
mod splitter;
mod symbols;
mod tokenize;
#[cfg(feature = "tokenizers")]
mod tokenizer_json;

pub use form::{Form, Value};
pub use lines::{Line, Lines};
pub use manifest::{Manifest, ManifestStream};
pub use reference::{Reference, Target};
pub use source::{Symbols, TextOptions, TextSource};
pub use splitter::{Splitter, Units};
pub use symbols::{parse_symbols, read_symbols};
pub use tokenize::Tokenize;
#[cfg(feature = "tokenizers")]
pub use tokenizer_json::TokenizerJson;

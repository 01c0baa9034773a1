//! CNTK's text format: its grammar, its index, its cache, its writer.

pub mod cache;
mod incident;
mod index;
mod infer;
mod input;
mod keys;
mod lines;
mod number;
mod parse;
mod samples;
mod scan;
mod source;
mod writer;

pub use incident::{CtfIncidents, CtfWarning, UndeclaredInput};
pub use index::{CtfChunk, CtfIndex, CtfSequence};
pub use infer::{FoundInput, InputFinder};
pub use input::CtfInput;
pub use keys::{KeyKind, Names, hash_of_name};
pub use lines::LineColumn;
pub use number::CtfFloat;
pub use parse::{Parser, ParserOptions};
pub use samples::{SequenceSamples, StreamSamples};
pub use scan::{ScanOptions, Scanner, scan_in_parallel};
pub use source::{CtfOptions, CtfSource};
pub use writer::{Floats, Writer, WriterSamples, WriterStream};

/// The name of the format in errors.
pub(crate) const CTF: &str = "CTF";

/// Whether a byte is white space in C: the six of ASCII.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Whether a byte ends names and samples: control characters, and all beyond ASCII, since CNTK's
/// characters are signed.
fn is_non_printable(byte: u8) -> bool {
    (byte as i8) < 0x20
}

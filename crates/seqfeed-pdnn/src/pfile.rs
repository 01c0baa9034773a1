//! PFiles: the archives of ICSI's QuickNet.
//!
//! ```text
//! 32768 bytes       header: text, the rest NUL
//! frames            one record each: sentence number, frame number, features, labels; 4 bytes each
//! sentence table    first frame of each sentence, and the number of all frames (may be missing)
//! ```
//!
//! Everything after the header is big-endian: `i32`, or `f32` for features. A sentence is a
//! sequence; its key is its number. The checks are those of QuickNet 3.40 and `pfile_utils` 0.51.
//! `docs/pdnn-differences.md` lists the differences from PDNN's reader.
//!
//! * [`PFile`] reads sentences in any order, from several threads at once.
//! * [`PFileWriter`] writes files that are byte for byte the same as QuickNet's.
//! * [`PFileSource`] is the source for the feed.
//! * [`Header`] is the text at the start.

mod decode;
mod header;
mod reader;
mod source;
mod table;
mod writer;

pub use header::{HEADER_BYTES, Header};
pub use reader::PFile;
pub use source::PFileSource;
pub use writer::{PFileLayout, PFileWriter};

/// The name of the format in messages.
const PFILE: &str = "PFile";

//! Label files and master label files (MLFs).
//!
//! * [`parse`] reads one transcription, [`write()`] writes one; [`other`] reads the label formats
//!   of other programs that HTK reads too.
//! * [`MlfIndex`] knows where in MLFs the transcription of a label file stands, and
//!   [`LabelFiles`] reads it.
//! * [`cntk`] sees the same files as CNTK does: as one class a frame.
//!
//! The behaviour is that of HTK 3.4.1, but for its limits on lengths and for what it does silently
//! wrong; such places say so.

pub mod cntk;
mod files;
mod matching;
mod mlf;
mod options;
pub mod other;
mod parse;
mod scan;
mod select;
mod stream_buffer;
mod transcription;
mod write;

pub use files::LabelFiles;
pub use mlf::{Body, Duplicate, MlfEntry, MlfIndex, MlfOptions};
pub use options::ParseOptions;
pub use parse::parse;
pub use transcription::{Labels, Name, Segment, Transcription};
pub use write::{MLF_HEADER, write, write_mlf_entry};

/// What errors call the format.
const FORMAT: &str = "HTK label file";
/// What errors call the format of master label files.
pub(crate) const MLF_FORMAT: &str = "master label file";

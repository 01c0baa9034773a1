//! Label files and master label files (MLFs).
//!
//! * [`parse`] reads one transcription, [`write()`] writes one; [`other`] reads the label formats
//!   of other programs that HTK reads too.
//! * [`MlfIndex`] finds the transcription of a label file in MLFs, and [`LabelFiles`] reads it.
//! * [`cntk`] reads the same files as CNTK does: one class for each frame.
//!
//! The behaviour is that of HTK 3.4.1, except for its limits on lengths and for its silent errors.
//! The documentation names these places.

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

/// The name of the format in errors.
const FORMAT: &str = "HTK label file";
/// The name of master label files in errors.
pub(crate) const MLF_FORMAT: &str = "master label file";

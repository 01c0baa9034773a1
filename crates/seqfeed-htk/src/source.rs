//! HTK's files as sources of sequences, for feeds.
//!
//! * [`HtkSource`]: the features that a script file names, in archives and in single files.
//! * [`MlfSource`]: the labels of master label files, one class for each frame, as CNTK reads them.
//!
//! Neither keeps the data in memory, and both are read from several threads at once.

mod binary;
mod features;
mod file_span;
mod files;
mod labels;

pub use crate::decoded::open_decoded;
pub use features::{Duplicates, HtkOptions, HtkSource, Keys};
pub use labels::{LabelForm, MlfOptions, MlfSource};

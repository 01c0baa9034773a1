//! HTK's files as sources of sequences: what feeds read.
//!
//! * [`HtkSource`]: the features that a script file names, of archives and of single files.
//! * [`MlfSource`]: the labels of master label files, a class for each frame, as CNTK reads them.
//!
//! Both know what they have without holding it, and read it from several threads at once.

mod binary;
mod features;
mod file_span;
mod files;
mod labels;

pub use crate::decoded::open_decoded;
pub use features::{Duplicates, HtkOptions, HtkSource, Keys};
pub use labels::{LabelForm, MlfOptions, MlfSource};

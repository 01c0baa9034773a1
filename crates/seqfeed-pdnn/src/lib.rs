//! The files of PDNN and their semantics: ICSI PFiles, pickled numpy arrays, data specifications.
//!
//! * [`ali`]: alignments, a line of labels for each utterance.
//! * [`pfile`]: PFiles, both ways.
//! * [`pickle`]: pickled arrays, read by a machine that runs nothing, and written.
//! * [`spec`]: the data-spec string.

#![forbid(unsafe_code)]

pub mod ali;
pub mod pfile;
pub mod pickle;
pub mod spec;

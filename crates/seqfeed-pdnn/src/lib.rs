//! The files of PDNN: ICSI PFiles, pickled numpy arrays, alignments.
//!
//! * [`ali`]: alignments, a line of labels for each utterance.
//! * [`pfile`]: PFiles, both ways.
//! * [`pickle`]: pickled arrays, read by a machine that runs nothing, and written.

#![forbid(unsafe_code)]

pub mod ali;
pub mod pfile;
pub mod pickle;

//! The files of PDNN: ICSI PFiles, pickled numpy arrays, alignments.
//!
//! * [`ali`]: alignments, a line of labels for each utterance.
//! * [`pfile`]: PFiles, to read and to write.
//! * [`pickle`]: pickled arrays, read by an interpreter that runs no code, and written.

#![forbid(unsafe_code)]

pub mod ali;
pub mod pfile;
pub mod pickle;

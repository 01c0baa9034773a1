//! HTK's files: parameter files, script files, label files and master label files.
//!
//! * [`param`]: parameter files (features, waveforms, symbols), to read and to write.
//! * [`script`]: script files, which name parameter files or parts of archives.
//! * [`label`]: label files and master label files (MLFs).
//! * [`source`]: features and labels for feeds.
//! * [`state_list`]: lists of states, which number the names of labels.

#![forbid(unsafe_code)]

mod decoded;
pub mod label;
pub mod param;
pub mod script;
pub mod source;
pub mod state_list;

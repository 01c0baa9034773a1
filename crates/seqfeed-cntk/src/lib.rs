//! CNTK's text format (CTF), its index and its cache, and the reader sections of CNTK's
//! configurations.
//!
//! * [`ctf`]: the format, from bytes to samples and back; its sequences and chunks.
//! * [`config`]: CNTK's configuration language.

#![forbid(unsafe_code)]

pub mod config;
pub mod ctf;

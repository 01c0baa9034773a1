//! The program as its users run it.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod arrow;
mod cntk;
mod containers;
mod corpora;
mod damage;
mod data_specs;
mod htk;
mod info;
mod kaldi_tools;
mod options;
mod program;
mod ranks;
mod resume;
mod speech;

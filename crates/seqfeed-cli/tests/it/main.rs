//! The program as its users run it.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod cntk;
mod containers;
mod convert;
mod copy;
mod corpora;
mod damage;
mod data_specs;
mod htk;
mod info;
mod options;
mod program;
mod ranks;
mod resume;
mod speech;

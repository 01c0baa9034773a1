//! The program as its users run it.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod arrow;
mod book;
mod check;
mod cntk;
mod containers;
mod convert;
mod convert_sinks;
mod copy;
mod corpora;
mod damage;
mod data_specs;
mod describe;
mod examples;
mod htk;
mod info;
mod kaldi_tools;
mod library;
mod options;
mod program;
mod ranks;
mod resume;
mod shells;
mod show;
mod speech;
mod transcripts;

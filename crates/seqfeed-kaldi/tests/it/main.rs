//! Tables as Kaldi writes them, and as nobody should.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod access;
mod cases;
mod damage;
mod golden;
mod graphs;
mod matrices;
mod objects;
mod round_trip;
mod sparse_source;
mod speech_objects;
mod tables;
mod wave_source;
mod waves;

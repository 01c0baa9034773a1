//! Tables as Kaldi writes them, and as nobody should.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::print_stderr)]

mod access;
mod cases;
mod damage;
mod golden;
mod graphs;
mod in_place;
mod lazy;
mod lengths;
mod limits;
mod matrices;
mod objects;
mod round_trip;
mod single;
mod sparse_source;
mod speech_objects;
mod tables;
mod wave_source;
mod waves;
mod writing;

//! Tables as Kaldi writes them, and as nobody should.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod damage;
mod golden;
mod round_trip;
mod speech_objects;
mod tables;

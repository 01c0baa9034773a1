//! Tables as Kaldi writes them, and as nobody should.

mod damage;
mod golden;
mod round_trip;
mod tables;

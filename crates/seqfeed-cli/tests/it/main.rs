//! The program as its users run it.

mod containers;
mod corpora;
mod damage;
mod info;
mod options;
mod program;
mod ranks;
mod resume;
mod speech;

//! Parameter files as HTK and CNTK write them, and as nobody should.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

#[path = "param/damaged.rs"]
mod damaged;
#[path = "param/golden.rs"]
mod golden;
#[path = "param/own.rs"]
mod own;
#[path = "param/random.rs"]
mod random;
#[path = "param/shared.rs"]
mod shared;

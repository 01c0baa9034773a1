//! PFiles and pickles: recorded files, damaged ones, random ones.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod pfiles;
mod pickles;
mod random;
mod shared;

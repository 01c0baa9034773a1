//! CNTK's files as CNTK writes them, and as nobody should.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod cache;
mod cntk_cache;
mod writer;

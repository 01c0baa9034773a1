//! Configurations as CNTK reads them, and as nobody should write them.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

#[path = "config/files.rs"]
mod files;
#[path = "config/golden.rs"]
mod golden;
#[path = "config/random.rs"]
mod random;
#[path = "config/readers.rs"]
mod readers;

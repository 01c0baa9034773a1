//! What the crate promises, over real files, commands and standard streams.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests fail and speak aloud")]

mod data_file;
mod input;
mod names;
mod output;
mod pipe;
mod standard;
mod support;

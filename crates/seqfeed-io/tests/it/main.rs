//! What the crate promises, over real files, commands and standard streams.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests fail and speak aloud"
)]

mod damaged;
mod data_file;
mod input;
mod names;
mod output;
mod pipe;
mod standard;
mod support;

//! Corpora that are converted and checked.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::print_stderr)]

mod htk;
mod own_format;
mod own_transform;
#[cfg(feature = "arrow")]
mod shards;

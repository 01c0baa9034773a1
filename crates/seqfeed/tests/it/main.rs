//! Whole corpora through the front door.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

#[cfg(feature = "arrow")]
mod arrow;
mod htk;
mod htk_files;
mod job;
#[cfg(not(feature = "arrow"))]
mod no_arrow;
mod pdnn_feed;
mod pictures;
mod random_jobs;
mod sha256;

//! Whole corpora through the front door.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::print_stderr)]

#[cfg(feature = "arrow")]
mod arrow;
mod combinations;
mod data_directory;
mod filters;
mod htk;
mod htk_files;
mod job;
mod kaldi_transforms;
mod manifests;
mod mixtures;
mod pdnn_feed;
mod random_jobs;
mod random_transforms;
mod resuming;
#[cfg(feature = "arrow")]
mod row_files;
mod segments;
mod small_corpus;
mod specs;
mod stores;
mod stream_types;
mod targets;
mod token_limits;
mod transforms;

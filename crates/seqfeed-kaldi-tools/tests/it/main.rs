//! Tools as users call them, against what Kaldi's did.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod bad_cases;
mod calls;
mod failures;
mod golden;
mod golden_sliding;
mod golden_tables;
mod tables;
mod usage;

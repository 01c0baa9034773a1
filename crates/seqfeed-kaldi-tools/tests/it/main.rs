//! Tools as users call them, against what Kaldi's did.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod calls;
mod golden;

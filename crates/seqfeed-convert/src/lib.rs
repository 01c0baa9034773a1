//! Corpora converted between formats, copied, checked, compared and counted.
//!
//! The crate [`seqfeed`] opens the corpora. No format has code here: each says in its
//! [`Capabilities`](seqfeed::Capabilities) what it can hold, and makes its own
//! [`Sink`](seqfeed::Sink).
//!
//! ```
//! use seqfeed_convert::{ConvertOptions, ConvertPlan, Target};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("x.ark").display().to_string();
//! # let out = directory.path().join("x.ctf").display().to_string();
//! # std::fs::write(&path, "utt1  [ 1 2.5\n 3 4 ]\nutt2  [ 5 6\n 7 8 ]\n")?;
//! let description = seqfeed::Description::of_name(&format!("ark:{path}"))?.description;
//! let opened = description.open(&Default::default())?;
//! let mut options = ConvertOptions::new(Target::parse(&out)?);
//! options.allow_lossy = true; // CTF numbers its sequences: keys stand in comments
//! let report = ConvertPlan::new(opened.corpus(), options)?.run(&|_samples| {})?;
//! assert_eq!(report.fingerprint.sequences, 2);
//! # Ok(())
//! # }
//! ```
//!
//! The cargo features are those of [`seqfeed`]. Copies of Kaldi's tables, and repaired copies of
//! corpora (which are such tables), need the feature `kaldi`.

#![forbid(unsafe_code)]
// Without `kaldi`, code that only copies and repairs use is unused.
#![cfg_attr(not(feature = "kaldi"), allow(dead_code))]

mod check;
mod convert;
#[cfg(feature = "kaldi")]
mod copy;
mod fingerprint;
mod runs;
mod sequences;
mod statistics;

pub use check::{Check, CheckOptions, CheckSummary, Finding, compare};
#[cfg(feature = "kaldi")]
pub use check::{Repair, Trimmed};
pub use convert::{
    ConvertOptions, ConvertPlan, ConvertReport, ShardReport, Sharding, Target, Verified,
};
#[cfg(feature = "kaldi")]
pub use copy::{CopyOptions, CopyReport, copy_table};
pub use fingerprint::{Fingerprint, Fingerprinter, StreamFingerprint, fingerprint};
pub use statistics::{
    Counts, Lengths, LengthsBin, Moments, Statistics, StreamStatistics, StreamSummary, Summary,
};

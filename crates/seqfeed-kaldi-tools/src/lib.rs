//! Kaldi's data tools by their own names: same options, same output bytes, same log lines,
//! same exit codes.
//!
//! ```
//! use seqfeed_io::Opener;
//! use seqfeed_kaldi_tools::{Surroundings, find};
//!
//! # let directory = tempfile::tempdir().unwrap();
//! let archive = format!("ark:{}", directory.path().join("feats.ark").display());
//! # std::fs::write(directory.path().join("feats.ark"), "utt1 [ 1 2\n3 4 ]\n").unwrap();
//! let (mut out, mut log) = (Vec::new(), Vec::new());
//! let around = Surroundings { opener: Opener::default(), out: &mut out, log: &mut log };
//! let code = find("feat-to-len").unwrap().run("feat-to-len", &[archive], around);
//! assert_eq!((code, out.as_slice()), (0, &b"2\n"[..]));
//! ```
//!
//! The tools follow the programs of Kaldi 5.5.0. If a program could not be run, the tool follows
//! its public source. The tools differ from Kaldi's to protect the data:
//!
//! * Outputs appear when they are complete. After an error there is no half-written archive.
//! * Errors have the reason, the place and a cure, in one `ERROR` line.
//! * Where Kaldi aborts (exit code 134), tools end with 1 and an error. Where it throws, they end
//!   with 255 as Kaldi does. A failed command that was written to (`ark:| gzip`) is an error.
//! * A log line has no line number if its number in Kaldi's source is not known.
//!
//! Tools read and write one object at a time, except those that shuffle. Most of their arithmetic
//! is that of [`seqfeed_transform`], in Kaldi's order of operations.

#![forbid(unsafe_code)]

mod c_random;
mod call;
mod cxx_shuffle;
mod determinant;
mod elements;
mod frames;
mod number;
mod options;
mod reading;
mod segments;
mod tools;
mod writing;

use std::fmt;

use seqfeed_kaldi::Warnings;

pub use call::{KALDI_VERSION, Surroundings};

use crate::call::{Call, Files, Outcome};

/// A tool.
pub struct Tool {
    /// Its name in Kaldi.
    pub name: &'static str,
    /// A summary in one line.
    pub summary: &'static str,
    run: fn(&mut Call<'_>) -> Outcome,
}

impl Tool {
    /// Calls the tool. `program` is the name by which it was called, `words` are the words after
    /// it, as texts ([`name_to_text`](seqfeed_io::name_to_text)). Returns the exit code.
    pub fn run<'a>(&self, program: &'a str, words: &'a [String], around: Surroundings<'a>) -> u8 {
        let (warnings, files) = (Warnings::default(), Files::record());
        let mut call = Call { program, words, around, warnings, files };
        let outcome = (self.run)(&mut call);
        call.end(outcome)
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).finish_non_exhaustive()
    }
}

/// All tools, sorted by name.
pub const TOOLS: &[Tool] = tools::TOOLS;

/// The tool with a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.binary_search_by(|tool| tool.name.cmp(name)).ok().map(|index| &TOOLS[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_sorted_and_found() {
        assert!(TOOLS.is_sorted_by(|a, b| a.name < b.name));
        assert!(TOOLS.iter().all(|tool| find(tool.name).is_some()));
        assert!(find("copy-feets").is_none());
    }
}

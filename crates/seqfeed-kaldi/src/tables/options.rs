//! How tables are read, apart from what rspecifiers say.

use std::path::PathBuf;

use seqfeed_core::Error;
use seqfeed_io::{Policy, RxFilename};

/// How tables are read, apart from what rspecifiers say.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// What the rspecifier and names in script files may do.
    pub policy: Policy,
    /// The directory that relative names are taken from, if not the working directory.
    pub base: Option<PathBuf>,
    /// Entries of a script file may come in any order: they are read in the order in which they lie
    /// on the disk. All lines are then read at opening.
    pub any_order: bool,
}

impl ReadOptions {
    pub(crate) fn with_policy(policy: &Policy) -> Self {
        Self { policy: *policy, ..Self::default() }
    }

    pub(crate) fn name(&self, text: &str) -> seqfeed_core::Result<RxFilename> {
        let name = RxFilename::parse(text)?;
        Ok(match &self.base {
            Some(base) => name.relative_to(base),
            None => name,
        })
    }
}

/// What was read of a table, and what was passed over because `p` asked for that.
#[derive(Clone, Debug, Default)]
pub struct ReadReport {
    /// Objects that were read.
    pub objects: u64,
    /// Objects that could not be read.
    pub skipped: u64,
    /// Why, for the first [`ReadReport::MOST_ERRORS`] of them.
    pub errors: Vec<Error>,
}

impl ReadReport {
    /// Most errors that are kept.
    pub const MOST_ERRORS: usize = 10;

    pub(crate) fn skip(&mut self, error: Error) {
        self.skipped += 1;
        if self.errors.len() < Self::MOST_ERRORS {
            self.errors.push(error);
        }
    }
}

//! How tables are read, apart from what rspecifiers say.

use std::path::PathBuf;

use seqfeed_core::Error;
use seqfeed_io::{Input, Policy, RxFilename};

use crate::object_reader::ObjectReader;
use crate::objects::any::ObjectType;

/// How tables are read, apart from what rspecifiers say.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// What the rspecifier and names in script files may do.
    pub policy: Policy,
    /// The directory that relative names are taken from, if not the working directory.
    pub base: Option<PathBuf>,
    /// A directory in which the files of a script file are looked for that are neither where their names say nor
    /// beside the script file.
    pub beside: Option<PathBuf>,
    /// Entries of a script file may come in any order: they are read in the order in which they lie
    /// on the disk. All lines are then read at opening.
    pub any_order: bool,
    /// With readers of [`AnyObject`](crate::AnyObject): the type that objects are read as. Otherwise it is found
    /// from the data.
    pub object_type: Option<ObjectType>,
}

impl ReadOptions {
    /// A reader of what an input holds.
    pub(crate) fn reader(&self, input: Input) -> ObjectReader {
        let mut reader = ObjectReader::new(input);
        reader.object_type = self.object_type;
        reader
    }

    /// Opens a name for reading.
    pub(crate) fn open(&self, name: &RxFilename) -> seqfeed_core::Result<ObjectReader> {
        Ok(self.reader(Input::open(name, &self.policy)?))
    }

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

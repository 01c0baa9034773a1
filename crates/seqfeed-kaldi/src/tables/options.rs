//! Options for reading tables, beside those in rspecifiers.

use seqfeed_core::{Damage, Error, Result};
use seqfeed_io::{Input, Opener, RxFilename};

use crate::mode::Mode;
use crate::object_reader::ObjectReader;
use crate::objects::object_type::ObjectType;
use crate::tables::typing::Typing;
use crate::tables::warnings::{Warning, Warnings};

/// Options for reading tables, beside those in rspecifiers.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Opens names. It says whether names (in the rspecifier, and in script files) may be commands,
    /// and limits keys, tokens and lines of script files. The name of the rspecifier is relative to
    /// its directory. Files of a script file are looked for there too, if they are neither where
    /// their names say nor beside the script file.
    pub opener: Opener,
    /// Whether entries of a script file may come in any order. Then they are read in their order on
    /// the disk, and all lines are read at opening.
    pub any_order: bool,
    /// With readers of [`AnyObject`](crate::AnyObject): the type to read objects as. By default it
    /// is found from the data. Objects that do not say their type get one type for the whole table.
    /// If several types fit, and the values would differ, that is an error.
    pub object_type: Option<ObjectType>,
    /// The mode in which objects are written, if they are read for nothing else. Objects that keep
    /// their form do not change, whatever their type.
    pub written_as: Option<Mode>,
    /// A place for warnings. With it, readers are as patient with commands as Kaldi's: see
    /// [`Warnings`]. Without it, a failed command is an error.
    pub warnings: Option<Warnings>,
    /// The known types of a table's objects.
    #[doc(hidden)]
    pub typing: Typing,
}

impl ReadOptions {
    /// A reader of an input.
    pub(crate) fn reader(&self, input: Input) -> ObjectReader {
        let mut reader = ObjectReader::new(input);
        reader.typing = self.typing.clone();
        reader
    }

    /// Opens a name for reading.
    ///
    /// # Errors
    ///
    /// As [`Input::open`].
    pub fn open(&self, name: &RxFilename) -> Result<ObjectReader> {
        Ok(self.reader(self.input(name)?))
    }

    /// Opens a name whose data are wanted to the end. A failed command is always an error.
    pub(crate) fn open_whole(&self, name: &RxFilename) -> Result<ObjectReader> {
        Ok(self.reader(Input::open(name, &self.opener)?))
    }

    pub(crate) fn input(&self, name: &RxFilename) -> Result<Input> {
        let on_failure = self.warnings.as_ref().map(Warnings::on_failed_command);
        Input::open_telling(name, &self.opener, on_failure)
    }

    pub(crate) fn with_opener(opener: &Opener) -> Self {
        Self { opener: opener.clone(), ..Self::default() }
    }
}

/// The objects of a table that were read, and those that `p` passed over.
#[derive(Clone, Debug, Default)]
pub struct ReadReport {
    /// Objects that were read.
    pub objects: u64,
    /// Objects that could not be read.
    pub skipped: u64,
    /// The errors of the first [`ReadReport::MOST_ERRORS`] of them.
    pub errors: Vec<Damage>,
}

impl ReadReport {
    /// The most errors that are kept.
    pub const MOST_ERRORS: usize = 10;

    fn skip(&mut self, error: Damage) {
        self.skipped += 1;
        if self.errors.len() < Self::MOST_ERRORS {
            self.errors.push(error);
        }
    }
}

/// The objects that `p` passes over. They are reported, with a warning.
#[derive(Debug, Default)]
pub(crate) struct Excuses {
    pub(crate) report: ReadReport,
    warnings: Option<Warnings>,
    /// The last error that was passed over, in words.
    last: String,
}

impl Excuses {
    pub(crate) fn new(options: &ReadOptions) -> Self {
        Self { warnings: options.warnings.clone(), ..Self::default() }
    }

    /// Passes over an object.
    pub(crate) fn skip(&mut self, damage: Damage) {
        if let Some(warnings) = &self.warnings {
            warnings.add(Warning::Skipped(damage.clone()));
        }
        self.report.skip(damage);
    }

    /// Fails for the reason why a table could not be read on, unless `p` excuses it.
    pub(crate) fn excuse(&mut self, damage: Option<&Error>, permissive: bool) -> Result<()> {
        match damage {
            None => Ok(()),
            Some(error) if permissive => self.skip_once(error.clone()),
            Some(error) => Err(error.clone()),
        }
    }

    /// As [`skip`](Self::skip), but tells of the same damage only once. Fails where the error is
    /// none of the data.
    pub(crate) fn skip_once(&mut self, error: Error) -> Result<()> {
        let damage = error.damage()?;
        let words = damage.to_string();
        if self.last != words {
            self.last = words;
            self.skip(damage);
        }
        Ok(())
    }
}

//! How tables are read, apart from what rspecifiers say.

use seqfeed_core::{Damage, Error, Result};
use seqfeed_io::{Input, Opener, RxFilename};

use crate::mode::Mode;
use crate::object_reader::ObjectReader;
use crate::objects::object_type::ObjectType;
use crate::tables::typing::Typing;
use crate::tables::warnings::{Warning, Warnings};

/// How tables are read, apart from what rspecifiers say.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// What names may do (that of the rspecifier, and those that stand in script files), and how
    /// long keys, tokens and lines of script files may be. The name of the rspecifier is relative
    /// to its directory; the files of a script file are looked for there too, that are neither
    /// where their names say nor beside the script file.
    pub opener: Opener,
    /// Entries of a script file may come in any order: they are read in the order in which they lie
    /// on the disk. All lines are then read at opening.
    pub any_order: bool,
    /// With readers of [`AnyObject`](crate::AnyObject): the type that objects are read as.
    /// Otherwise it is found from the data: one type for a table, where its objects do not say what
    /// they are. Where several fit, and the values would differ, that is an error.
    pub object_type: Option<ObjectType>,
    /// What objects are written as, if they are read for nothing else: objects that stay in the
    /// form in which they stand stay as they are, whatever their type.
    pub written_as: Option<Mode>,
    /// Where readers tell what is worth a warning. With it, they are as patient with commands as
    /// Kaldi's: see [`Warnings`]. Without it, a command that failed is an error.
    pub warnings: Option<Warnings>,
    /// What readers of a table know of its objects.
    #[doc(hidden)]
    pub typing: Typing,
}

impl ReadOptions {
    /// A reader of what an input holds.
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

    /// Opens a name whose data are wanted to the last: a command that failed is always an error.
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

/// What was read of a table, and what was passed over because `p` asked for that.
#[derive(Clone, Debug, Default)]
pub struct ReadReport {
    /// Objects that were read.
    pub objects: u64,
    /// Objects that could not be read.
    pub skipped: u64,
    /// Why, for the first [`ReadReport::MOST_ERRORS`] of them.
    pub errors: Vec<Damage>,
}

impl ReadReport {
    /// Most errors that are kept.
    pub const MOST_ERRORS: usize = 10;

    fn skip(&mut self, error: Damage) {
        self.skipped += 1;
        if self.errors.len() < Self::MOST_ERRORS {
            self.errors.push(error);
        }
    }
}

/// What a reader passes over because of `p`: it is reported and warned of.
#[derive(Debug, Default)]
pub(crate) struct Excuses {
    pub(crate) report: ReadReport,
    warnings: Option<Warnings>,
    /// What was passed over last, in words.
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

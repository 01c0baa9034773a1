//! Reads objects of a sorted archive in sorted order.

use seqfeed_core::{Error, Key, Problem, Result};

use crate::ARCHIVE;
use crate::holder::Holder;
use crate::object_reader::ObjectReader;
use crate::specifier::Rspecifier;
use crate::tables::object_loader::{read_or_replace, with_cure};
use crate::tables::options::{Excuses, ReadOptions};

/// An archive with `s,cs`: one pass, one object in memory.
pub(crate) struct SortedArchive<T> {
    reader: Option<ObjectReader>,
    damage: Option<Error>,
    rspecifier: Rspecifier,
    /// The key that was read last.
    key: Vec<u8>,
    /// The state of its object.
    object: Object,
    value: Option<T>,
    /// The key that was asked for last.
    asked: Vec<u8>,
    pub(crate) excuses: Excuses,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Object {
    /// Nothing has been read yet, or the end was reached.
    None,
    /// It is next.
    Ahead,
    /// It is in `value`.
    Loaded,
}

impl<T: Holder> SortedArchive<T> {
    pub(crate) fn open(rspecifier: &Rspecifier, options: &ReadOptions) -> Result<Self> {
        let name = options.opener.rxfilename(&rspecifier.rxfilename)?;
        Ok(Self {
            reader: Some(options.open(&name)?),
            damage: None,
            rspecifier: rspecifier.clone(),
            key: Vec::new(),
            object: Object::None,
            value: None,
            asked: Vec::new(),
            excuses: Excuses::new(options),
        })
    }

    pub(crate) fn get(&mut self, key: Key<'_>) -> Result<Option<&T>> {
        if key < Key(&self.asked) {
            let message = format!(
                "the table {} promises that keys are asked for in sorted order, but {key} is asked \
                 for after {}",
                self.rspecifier,
                Key(&self.asked)
            );
            return Err(Error::usage(message).of_key(key).with_help(
                "sort the other table by bytes (`LC_ALL=C sort`), or take the option `cs` out of \
                 the rspecifier",
            ));
        }
        self.asked.clear();
        self.asked.extend_from_slice(key.0);
        while self.object == Object::None || Key(&self.key) < key {
            if !self.advance()? {
                self.excuse_damage()?;
                return Ok(None);
            }
        }
        if Key(&self.key) != key {
            return Ok(None);
        }
        if self.object == Object::Ahead {
            self.load()?;
        }
        Ok(if self.object == Object::Loaded { self.value.as_ref() } else { None })
    }

    /// Ends reading.
    pub(crate) fn finish(self) -> Result<()> {
        self.reader.map_or(Ok(()), ObjectReader::finish)
    }

    fn load(&mut self) -> Result<()> {
        let Some(reader) = &mut self.reader else { return Ok(()) };
        match read_or_replace(reader, &mut self.value) {
            Ok(()) => self.object = Object::Loaded,
            Err(error) => {
                // After an object that cannot be read nothing more can be found.
                self.end(Some(error.of_key(Key(&self.key))));
                self.excuse_damage()?;
            }
        }
        Ok(())
    }

    /// Fails if the archive could not be read on, unless `p` excuses it.
    fn excuse_damage(&mut self) -> Result<()> {
        self.excuses.excuse(self.damage.as_ref(), self.rspecifier.permissive)
    }

    fn end(&mut self, damage: Option<Error>) {
        let damage = damage.map(|error| with_cure(error, "takes keys behind it for missing"));
        self.reader = None;
        self.object = Object::None;
        self.damage = damage;
    }

    /// Goes to the next key. Returns false at the end.
    fn advance(&mut self) -> Result<bool> {
        let Some(reader) = &mut self.reader else { return Ok(false) };
        let mut key = Vec::new();
        let mut step = || {
            if self.object == Object::Ahead {
                reader.skip::<T>().map_err(|error| error.of_key(Key(&self.key)))?;
            }
            reader.read_key(&mut key)
        };
        match step() {
            Ok(true) => {}
            Ok(false) => {
                let finished = self.reader.take().map_or(Ok(()), ObjectReader::finish);
                self.end(finished.err());
                return Ok(false);
            }
            Err(error) => {
                self.end(Some(error));
                return Ok(false);
            }
        }
        let before = std::mem::replace(&mut self.key, key);
        let first = self.object == Object::None;
        self.object = Object::Ahead;
        if !first && before >= self.key {
            let (before, key) = (Key(&before), Key(&self.key));
            let what = format!("keys are not sorted: {before} is followed by {key}");
            return Err(Error::format(ARCHIVE, Problem::Unsupported(what.into()))
                .in_file(reader.name())
                .at_byte(reader.position())
                .of_key(key)
                .with_help(
                    "sort the archive by bytes (`LC_ALL=C sort` of its script file), or take the \
                     options `s,cs` out: nothing is kept in memory without them",
                ));
        }
        Ok(true)
    }
}

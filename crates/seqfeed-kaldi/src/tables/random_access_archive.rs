//! Objects of an archive in any order of keys.

use seqfeed_core::{Error, Key, Problem, Result};
use seqfeed_io::{Recording, RxFilename};

use crate::ARCHIVE;
use crate::holder::Holder;
use crate::object_reader::ObjectReader;
use crate::range::Range;
use crate::specifier::Rspecifier;
use crate::tables::key_index::KeyIndex;
use crate::tables::object_loader::{read_or_replace, with_cure};
use crate::tables::options::{Excuses, ReadOptions};
use crate::tables::random_access_script::SORT_HELP;
use crate::tables::typing::Typing;

/// An archive that is read forward as far as needed. The positions of its objects are remembered.
pub(crate) struct RandomAccessArchive<T> {
    /// Reads forward; `None` at the end.
    scan: Option<ObjectReader>,
    /// The error that prevented reading to the end.
    damage: Option<Error>,
    /// Reads objects behind which the scan is already.
    values: Values,
    index: KeyIndex,
    /// With `o`: the keys that were read.
    read: Vec<bool>,
    rspecifier: Rspecifier,
    options: ReadOptions,
    /// The known types of the objects.
    pub(crate) typing: Typing,
    loaded: Option<usize>,
    value: Option<T>,
    pub(crate) excuses: Excuses,
}

/// The source of objects behind which the scan is already.
enum Values {
    /// A plain file.
    Open(ObjectReader),
    /// A copy of the stream, opened when first needed.
    Copy(Recording),
}

impl<T: Holder> RandomAccessArchive<T> {
    pub(crate) fn open(rspecifier: &Rspecifier, options: &ReadOptions) -> Result<Self> {
        let name = options.opener.rxfilename(&rspecifier.rxfilename)?;
        let mut input = options.input(&name)?;
        let plain = input.seek(input.position()).map_err(|error| input.error(error))?;
        let (scan, values) = if plain {
            // It is opened now, since another file may have this name later.
            let values = options.open(&RxFilename::from(name.location().clone()))?;
            (options.reader(input), Values::Open(values))
        } else {
            let (input, recording) = input.recorded()?;
            (options.reader(input), Values::Copy(recording))
        };
        Ok(Self {
            scan: Some(scan),
            damage: None,
            values,
            index: KeyIndex::default(),
            read: Vec::new(),
            rspecifier: rspecifier.clone(),
            options: options.clone(),
            typing: options.typing.clone(),
            loaded: None,
            value: None,
            excuses: Excuses::new(options),
        })
    }

    pub(crate) fn contains(&mut self, key: Key<'_>) -> Result<bool> {
        let Some(number) = self.find(key)? else { return Ok(false) };
        if self.read.get(number) == Some(&true) {
            return Err(asked_twice(key, &self.rspecifier.to_string()));
        }
        Ok(true)
    }

    pub(crate) fn get(&mut self, key: Key<'_>) -> Result<Option<&T>> {
        let Some(number) = self.find(key)? else { return Ok(None) };
        if self.rspecifier.once {
            self.read.resize(self.index.len(), false);
            if self.read[number] {
                return Err(asked_twice(key, &self.rspecifier.to_string()));
            }
        }
        if self.loaded != Some(number) || self.value.is_none() {
            match self.load(number) {
                Ok(()) => {}
                Err(error) if self.rspecifier.permissive => {
                    self.excuses.skip_once(error.of_key(key))?;
                    return Ok(None);
                }
                Err(error) => {
                    return Err(with_cure(error.of_key(key), "takes such keys for missing"));
                }
            }
        }
        if self.rspecifier.once {
            self.read[number] = true;
        }
        Ok(self.value.as_ref())
    }

    /// All keys, in the archive's order. Reads on to its end.
    pub(crate) fn keys(&mut self) -> Result<Vec<Vec<u8>>> {
        while self.scan_one()?.is_some() {}
        self.excuse_damage()?;
        Ok((0..self.index.len()).map(|number| self.index.key(number).0.to_vec()).collect())
    }

    pub(crate) fn take(&mut self, key: Key<'_>) -> Result<Option<T>> {
        Ok(if self.get(key)?.is_some() { self.value.take() } else { None })
    }

    pub(crate) fn take_part(&mut self, key: Key<'_>, range: &Range) -> Result<Option<T>> {
        let number = if self.rspecifier.once { None } else { self.find(key)? };
        if let Some(number) = number
            && (self.loaded != Some(number) || self.value.is_none())
            && let Some(reader) = self.reader_at(number)?
            && let Some(part) = reader.read_part(range)?
        {
            return Ok(Some(part));
        }
        self.get(key)?.map(|value| value.extract(range)).transpose()
    }

    /// Ends reading.
    pub(crate) fn finish(self) -> Result<()> {
        self.scan.map_or(Ok(()), ObjectReader::finish)
    }

    fn load(&mut self, number: usize) -> Result<()> {
        let mut value = self.value.take();
        self.loaded = None;
        let Some(reader) = self.reader_at(number)? else { return Ok(()) };
        read_or_replace(reader, &mut value)?;
        (self.loaded, self.value) = (Some(number), value);
        Ok(())
    }

    /// The reader of earlier objects, at the position of one of them.
    fn reader_at(&mut self, number: usize) -> Result<Option<&mut ObjectReader>> {
        if let Values::Copy(recording) = &self.values {
            self.values = Values::Open(self.options.reader(recording.open()?));
        }
        let Values::Open(reader) = &mut self.values else { return Ok(None) };
        reader.seek(self.index.value(number))?;
        // The types that were found during the scan.
        reader.typing = self.typing.clone();
        Ok(Some(reader))
    }

    /// The number of a key in the index. Reads on until it is found.
    fn find(&mut self, key: Key<'_>) -> Result<Option<usize>> {
        if let Some(number) = self.index.find(key) {
            return Ok(Some(number));
        }
        loop {
            // In a sorted archive a larger key means that this one is missing.
            let last = self.index.len().checked_sub(1);
            if self.rspecifier.sorted && last.is_some_and(|last| self.index.key(last) > key) {
                return Ok(None);
            }
            match self.scan_one() {
                Ok(Some(number)) if self.index.key(number) == key => return Ok(Some(number)),
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => return Err(error),
            }
        }
        self.excuse_damage().map(|()| None)
    }

    /// Fails if the archive could not be read to its end, unless `p` excuses it.
    fn excuse_damage(&mut self) -> Result<()> {
        self.excuses.excuse(self.damage.as_ref(), self.rspecifier.permissive)
    }

    /// Reads a key and skips its object. Returns its number, or `None` at the end.
    fn scan_one(&mut self) -> Result<Option<usize>> {
        let Some(reader) = &mut self.scan else { return Ok(None) };
        let mut key = Vec::new();
        let mut scan = || {
            if !reader.read_key(&mut key)? {
                return Ok(None);
            }
            let offset = reader.position();
            reader.skip::<T>().map_err(|error| error.of_key(Key(&key)))?;
            Ok(Some(offset))
        };
        let scanned = scan();
        self.typing = reader.typing.clone();
        let offset = match scanned {
            Ok(Some(offset)) => offset,
            Ok(None) => {
                if let Some(Err(error)) = self.scan.take().map(ObjectReader::finish) {
                    self.damage = Some(error);
                }
                return Ok(None);
            }
            Err(error) => {
                self.scan = None;
                self.damage = Some(with_cure(error, "takes keys behind it for missing"));
                return Ok(None);
            }
        };
        let name = reader.name().to_owned();
        let key = Key(&key);
        let place = |error: Error| error.in_file(name).at_byte(offset).of_key(key);
        let last = self.index.len().checked_sub(1);
        if self.rspecifier.sorted
            && let Some(last) = last.map(|last| self.index.key(last))
            && last >= key
        {
            let what = format!("keys are not sorted: {last} is followed by {key}");
            let error = Error::format(ARCHIVE, Problem::Unsupported(what.into()));
            return Err(place(error).with_help(SORT_HELP));
        }
        match self.index.insert(key, offset) {
            Some(number) => Ok(Some(number)),
            // The next call reads on behind it.
            None => Err(place(Error::format(ARCHIVE, Problem::DuplicateKey))),
        }
    }
}

/// The error for a key that is asked for again with `o`.
fn asked_twice(key: Key<'_>, rspecifier: &str) -> Error {
    Error::usage(format!("the table {rspecifier} promises that each key is read once"))
        .of_key(key)
        .with_help("take the option `o` out of the rspecifier")
}

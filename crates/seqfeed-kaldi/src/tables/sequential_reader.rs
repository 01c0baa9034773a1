//! Reads tables from their first object to their last.

mod read_ahead;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::sync::Arc;

use seqfeed_core::{Error, Key, Result};
use seqfeed_io::{Input, Opener, RxFilename, shown_name};

use crate::holder::Holder;
use crate::object_reader::ObjectReader;
use crate::range::Range;
use crate::specifier::{Rspecifier, TableKind};
use crate::tables::object_loader::{ObjectLoader, read_or_replace, with_cure};
use crate::tables::options::{Excuses, ReadOptions, ReadReport};
use crate::tables::script_lines::ScriptLines;
use crate::tables::typing::TableType;
use read_ahead::ReadAhead;

/// Reads a table object by object: Kaldi's `SequentialTableReader`.
///
/// It is an iterator of keys and values. To use a value's memory again for the next one, call
/// [`next_into`](Self::next_into). If the key decides whether the object is wanted, call
/// [`next_key`](Self::next_key): the object is read when [`value`](Self::value) asks for it, and
/// skipped otherwise.
///
/// One object is in memory at a time (with `bg`, four). After an unreadable object of an archive
/// nothing more can be found in it. An entry of a script file that cannot be loaded is an error,
/// and the next call goes on with the next entry. With `p`, such objects are passed over and stand
/// in the [report](Self::close). A failed command is an error when its output has been read to the
/// end.
///
/// ```
/// use seqfeed_core::Key;
/// use seqfeed_io::Opener;
/// use seqfeed_kaldi::{Matrix, SequentialReader, TableWriter};
/// # let directory = tempfile::tempdir().unwrap();
/// # let ark = directory.path().join("feats.ark").display().to_string();
/// # let scp = directory.path().join("feats.scp").display().to_string();
/// # let mut table = TableWriter::create(&format!("ark,scp:{ark},{scp}"), &Opener::default())?;
/// # table.write(Key(b"utt1"), &Matrix { rows: 1, cols: 2, values: vec![1.0f32, 2.0] })?;
/// # table.close()?;
///
/// let mut frames = 0;
/// for entry in SequentialReader::<Matrix<f32>>::open(&format!("scp:{scp}"), &Opener::default())? {
///     let (_key, matrix) = entry?;
///     frames += matrix.rows;
/// }
/// assert_eq!(frames, 1);
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
pub struct SequentialReader<T> {
    /// For messages.
    rspecifier: String,
    table: Table<T>,
    permissive: bool,
    excuses: Excuses,
    /// The error that ended reading before the end.
    failed: Option<Error>,
    /// The last key of [`next_key`](Self::next_key), and the state of its object.
    key: Vec<u8>,
    object: Object,
    /// An object that was read. Its memory is used again.
    value: Option<T>,
    /// The type of the objects, if the table itself is not available to give it.
    found: Option<Arc<TableType>>,
}

/// The object of the last key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Object {
    /// There is none, or it was taken.
    None,
    /// It is next in the archive, or in the last line of the script file.
    Unread,
    /// It is in `value`.
    Loaded,
}

enum Table<T> {
    Archive(ObjectReader),
    Script(Box<Script<T>>),
    Background(ReadAhead<T>),
    Ended,
}

struct Script<T> {
    entries: Entries,
    loader: ObjectLoader<T>,
}

/// The entries of a script file.
enum Entries {
    Lines(Box<ScriptLines>),
    /// Read at opening and sorted by the order on the disk; with the last entry that was taken out.
    Sorted(std::vec::IntoIter<Entry>, Option<Entry>),
}

struct Entry {
    key: Vec<u8>,
    rxfilename: OsString,
    range: Option<Range>,
}

/// The effect of `p` in an archive.
const BEFORE: &str = "ends reading here, with what stands before";

impl<T: Holder> SequentialReader<T> {
    /// Opens a table.
    ///
    /// # Errors
    ///
    /// Fails if the rspecifier is wrong or not allowed, or if its file cannot be opened.
    pub fn open(rspecifier: &(impl AsRef<OsStr> + ?Sized), opener: &Opener) -> Result<Self> {
        Self::open_with(rspecifier, &ReadOptions::with_opener(opener))
    }

    /// Opens a table, with options.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open). With `any_order`, also if a line of the script file is wrong.
    pub fn open_with(
        rspecifier: &(impl AsRef<OsStr> + ?Sized),
        options: &ReadOptions,
    ) -> Result<Self> {
        let rspecifier = rspecifier.as_ref();
        let parsed = Rspecifier::parse(rspecifier)?;
        Self::open_parsed(rspecifier, &parsed, options).map_err(|error| parsed.explain(error))
    }

    fn open_parsed(rspecifier: &OsStr, parsed: &Rspecifier, options: &ReadOptions) -> Result<Self> {
        let typing = T::typing(parsed, options)?;
        let found = typing.found.clone();
        let options = &ReadOptions { typing, ..options.clone() };
        let table = match parsed.kind {
            TableKind::Archive => {
                let name = options.opener.rxfilename(&parsed.rxfilename)?;
                Table::Archive(options.open_whole(&name)?)
            }
            TableKind::Script => {
                let lines = ScriptLines::open(&parsed.rxfilename, options)?;
                let entries = match options.any_order {
                    true => Entries::Sorted(sorted(lines)?.into_iter(), None),
                    false => Entries::Lines(Box::new(lines)),
                };
                Table::Script(Box::new(Script {
                    entries,
                    loader: ObjectLoader::new(options, &parsed.rxfilename)?,
                }))
            }
        };
        let mut reader = Self::new(shown_name(rspecifier), table);
        reader.permissive = parsed.permissive;
        reader.excuses = Excuses::new(options);
        reader.found = found;
        if !parsed.background {
            return Ok(reader);
        }
        let (name, found) = (reader.rspecifier.clone(), reader.found.clone());
        let mut ahead = Self::new(name, Table::Background(ReadAhead::start(reader)?));
        ahead.found = found;
        Ok(ahead)
    }

    fn new(rspecifier: String, table: Table<T>) -> Self {
        Self {
            rspecifier,
            table,
            permissive: false,
            excuses: Excuses::default(),
            failed: None,
            key: Vec::new(),
            object: Object::None,
            value: None,
            found: None,
        }
    }

    /// Reads an archive from a stream.
    ///
    /// ```
    /// use seqfeed_io::Input;
    /// use seqfeed_kaldi::{ReadOptions, SequentialReader, Vector};
    ///
    /// let stream = Input::from_reader("memory", &b"a [ 1 2 ]\nb [ 3 ]\n"[..]);
    /// let table = SequentialReader::<Vector<f32>>::of_stream(stream, &ReadOptions::default());
    /// assert_eq!(table.count(), 2);
    /// ```
    #[must_use]
    pub fn of_stream(stream: Input, options: &ReadOptions) -> Self {
        let name = stream.name().to_owned();
        let options = ReadOptions { typing: T::typing_of_stream(options), ..options.clone() };
        Self::new(name, Table::Archive(options.reader(stream)))
    }

    /// Reads the next object into an older one, and its key. Returns `false` at the end.
    ///
    /// # Errors
    ///
    /// As the iterator. Key and value are then unspecified.
    pub fn next_into(&mut self, key: &mut Vec<u8>, value: &mut T) -> Result<bool>
    where
        T: Default,
    {
        let mut slot = Some(std::mem::take(value));
        let found = self.step(key, Some(&mut slot))?;
        *value = slot.unwrap_or_default();
        Ok(found)
    }

    /// Reads the next key. Returns `false` at the end. [`value`](Self::value) reads its object.
    /// Otherwise the next call skips it, by the sizes in headers if possible.
    ///
    /// ```
    /// use seqfeed_io::Opener;
    /// use seqfeed_kaldi::{Matrix, SequentialReader};
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let name = directory.path().join("feats.ark").display().to_string();
    /// # std::fs::write(&name, "utt1 [\n1 2 ]\nutt2 [\n3 4\n5 6 ]\n").unwrap();
    ///
    /// let mut table =
    ///     SequentialReader::<Matrix<f32>>::open(&format!("ark:{name}"), &Opener::default())?;
    /// let mut key = Vec::new();
    /// while table.next_key(&mut key)? {
    ///     if key == b"utt2" {
    ///         assert_eq!(table.value()?.rows, 2);
    ///     }
    /// }
    /// # Ok::<(), seqfeed_core::Error>(())
    /// ```
    ///
    /// With `p` an object is read together with its key, since an unreadable object counts as
    /// missing. With `bg` the thread reads all objects.
    ///
    /// # Errors
    ///
    /// As the iterator. A skipped object is an error only if its end cannot be found: in an archive
    /// the call that skips it fails, and names its key. A skipped entry of a script file is not
    /// opened.
    pub fn next_key(&mut self, key: &mut Vec<u8>) -> Result<bool> {
        let reads = self.permissive || matches!(self.table, Table::Background(_));
        let mut value = self.value.take();
        let found = self.step(key, reads.then_some(&mut value));
        self.value = value;
        if let Ok(true) = found {
            self.key.clone_from(key);
            self.object = if reads { Object::Loaded } else { Object::Unread };
        }
        found
    }

    /// The object of the last key of [`next_key`](Self::next_key). It is read now, if it was not
    /// before. The next object takes its memory.
    ///
    /// # Errors
    ///
    /// Fails if the object cannot be read; in an archive nothing more is found after it. Fails if
    /// no key was read, and if the object was taken.
    pub fn value(&mut self) -> Result<&T> {
        self.load()?;
        self.value.as_ref().ok_or_else(no_object)
    }

    /// The object of the last key, to keep.
    ///
    /// # Errors
    ///
    /// As [`value`](Self::value).
    pub fn take_value(&mut self) -> Result<T> {
        self.load()?;
        self.object = Object::None;
        self.value.take().ok_or_else(no_object)
    }

    /// Reads the object of the last key, if it has not been read.
    fn load(&mut self) -> Result<()> {
        match self.object {
            Object::None => return Err(no_object()),
            Object::Loaded => return Ok(()),
            Object::Unread => {}
        }
        let mut value = self.value.take();
        let loaded = match &mut self.table {
            Table::Archive(reader) => read_or_replace(reader, &mut value),
            Table::Script(script) => script.load(&mut value),
            Table::Background(_) | Table::Ended => Err(no_object()),
        };
        match loaded {
            Ok(()) => {
                (self.value, self.object) = (value, Object::Loaded);
                Ok(())
            }
            Err(error) => {
                let error = error.of_key(Key(&self.key));
                if !matches!(self.table, Table::Archive(_)) {
                    return Err(error);
                }
                let error = with_cure(error, BEFORE);
                (self.table, self.object) = (Table::Ended, Object::None);
                self.failed = Some(error.clone());
                Err(error)
            }
        }
    }

    /// Whether the object of the last key can be read only once.
    pub(crate) fn object_passes_once(&self) -> bool {
        match &self.table {
            Table::Script(script) => script.object_passes_once(),
            _ => false,
        }
    }

    /// The common type of objects that do not say their type, as far as they were read.
    #[must_use]
    pub fn table_type(&self) -> Option<&TableType> {
        match &self.table {
            Table::Archive(reader) => reader.typing.found.as_deref(),
            Table::Script(script) => script.loader.typing.found.as_deref(),
            _ => self.found.as_deref(),
        }
    }

    pub(crate) fn next_entry(&mut self, key: &mut Vec<u8>, value: &mut Option<T>) -> Result<bool> {
        self.step(key, Some(value))
    }

    fn step(&mut self, key: &mut Vec<u8>, mut value: Option<&mut Option<T>>) -> Result<bool> {
        loop {
            let error = match self.try_step(key, value.as_deref_mut()) {
                Ok(true) => {
                    self.excuses.report.objects += 1;
                    return Ok(true);
                }
                Ok(false) => return Ok(false),
                Err(error) => error,
            };
            if let Table::Background(_) = self.table {
                // The reader in the thread has done all of this.
                return Err(error);
            }
            // Only a script file has further entries after an object that cannot be read.
            let script = matches!(&self.table, Table::Script(_));
            let goes_on = script && !is_of_script(&error);
            // An archive of which nothing can be read is not an archive, and an invalid line stands
            // for an unknown entry. `p` does not excuse these.
            let meant =
                self.permissive && (goes_on || (!script && self.excuses.report.objects > 0));
            let excused = if meant { error.damage() } else { Err(error) };
            if !goes_on {
                self.table = Table::Ended;
                self.failed = excused.as_ref().err().cloned();
            }
            self.excuses.skip(excused?);
            if !goes_on {
                return Ok(false);
            }
        }
    }

    fn try_step(&mut self, key: &mut Vec<u8>, value: Option<&mut Option<T>>) -> Result<bool> {
        let unread = std::mem::replace(&mut self.object, Object::None) == Object::Unread;
        match &mut self.table {
            Table::Ended => Ok(false),
            Table::Archive(reader) => {
                if unread {
                    reader
                        .skip::<T>()
                        .map_err(|error| with_cure(error.of_key(Key(&self.key)), BEFORE))?;
                }
                if !reader.read_key(key).map_err(|error| with_cure(error, BEFORE))? {
                    if let Table::Archive(reader) = std::mem::replace(&mut self.table, Table::Ended)
                    {
                        self.found.clone_from(&reader.typing.found);
                        reader.finish()?;
                    }
                    return Ok(false);
                }
                if let Some(value) = value {
                    read_or_replace(reader, value)
                        .map_err(|error| with_cure(error.of_key(Key(key)), BEFORE))?;
                }
                Ok(true)
            }
            Table::Script(script) => {
                let Script { entries, loader } = &mut **script;
                let load = |rxfilename: &OsStr, range: Option<&Range>| match value {
                    Some(value) => loader.load(rxfilename, range, value),
                    None => Ok(()),
                };
                let loaded = match entries {
                    Entries::Lines(lines) => match lines.next()? {
                        None => return Ok(false),
                        Some(line) => {
                            key.clear();
                            key.extend_from_slice(line.key.0);
                            load(line.rxfilename, line.range.as_ref())
                        }
                    },
                    Entries::Sorted(entries, last) => {
                        *last = entries.next();
                        match last {
                            None => return Ok(false),
                            Some(entry) => {
                                key.clone_from(&entry.key);
                                load(&entry.rxfilename, entry.range.as_ref())
                            }
                        }
                    }
                };
                loaded.map_err(|error| error.of_key(Key(key))).map(|()| true)
            }
            Table::Background(ahead) => ahead.next(key, value.unwrap_or(&mut None)),
        }
    }

    /// The objects that were read so far, and those that `p` passed over. With `bg`, the latter are
    /// known when the table is [closed](Self::close).
    #[must_use]
    pub fn report(&self) -> &ReadReport {
        &self.excuses.report
    }

    /// Ends reading. Reports the objects that were read and passed over.
    ///
    /// This is not needed if all objects were read: a `for` loop has seen every error then.
    ///
    /// # Errors
    ///
    /// The error that ended reading before the end, if there was one.
    pub fn close(mut self) -> Result<ReadReport> {
        if let Table::Background(ahead) = std::mem::replace(&mut self.table, Table::Ended) {
            let behind = ahead.close()?;
            self.excuses.report.skipped += behind.skipped;
            self.excuses.report.errors.extend(behind.errors);
        }
        match self.failed {
            Some(error) => Err(error),
            None => Ok(self.excuses.report),
        }
    }
}

impl<T: Holder> Script<T> {
    /// Loads the object of the last entry.
    fn load(&mut self, value: &mut Option<T>) -> Result<()> {
        let Self { entries, loader } = self;
        match entries {
            Entries::Lines(lines) => {
                let line = lines.current()?;
                loader.load(line.rxfilename, line.range.as_ref(), value)
            }
            Entries::Sorted(_, Some(entry)) => {
                loader.load(&entry.rxfilename, entry.range.as_ref(), value)
            }
            Entries::Sorted(_, None) => Err(no_object()),
        }
    }

    fn object_passes_once(&self) -> bool {
        match &self.entries {
            Entries::Lines(lines) => {
                lines.current().is_ok_and(|line| self.loader.passes_once(line.rxfilename))
            }
            Entries::Sorted(_, entry) => {
                entry.as_ref().is_some_and(|entry| self.loader.passes_once(&entry.rxfilename))
            }
        }
    }
}

fn no_object() -> Error {
    Error::usage("there is no object to read: no key was read before it, or the object was taken")
}

/// Errors of the script file itself end reading, since its further lines cannot be trusted. They
/// are recognised by having no key.
fn is_of_script(error: &Error) -> bool {
    error.place().key.is_none()
}

/// All entries, in their order on the disk: by file in the order of first mention, then by offset.
fn sorted(mut lines: ScriptLines) -> Result<Vec<Entry>> {
    let mut files = std::collections::HashMap::new();
    let mut entries = Vec::new();
    while let Some(line) = lines.next()? {
        let entry = Entry {
            key: line.key.0.to_vec(),
            rxfilename: line.rxfilename.to_owned(),
            range: line.range,
        };
        // An invalid name fails when its turn comes.
        let (name, offset) = RxFilename::parse(&entry.rxfilename)
            .ok()
            .and_then(|name| Some((name.location().as_os_str().to_owned(), name.offset()?)))
            .unwrap_or_else(|| (entry.rxfilename.clone(), 0));
        let next = files.len();
        let file = *files.entry(name).or_insert(next);
        entries.push(((file, offset), entry));
    }
    entries.sort_by_key(|(place, _)| *place);
    Ok(entries.into_iter().map(|(_, entry)| entry).collect())
}

impl<T: Holder> Iterator for SequentialReader<T> {
    type Item = Result<(Vec<u8>, T)>;

    fn next(&mut self) -> Option<Self::Item> {
        let (mut key, mut value) = (Vec::new(), None);
        match self.next_entry(&mut key, &mut value) {
            Ok(true) => value.map(|value| Ok((key, value))),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

impl<T> fmt::Debug for SequentialReader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SequentialReader")
            .field("rspecifier", &self.rspecifier)
            .field("report", &self.excuses.report)
            .finish_non_exhaustive()
    }
}

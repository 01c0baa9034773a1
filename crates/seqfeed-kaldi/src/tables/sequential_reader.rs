//! Reading tables from their first object to their last.

use std::ffi::{OsStr, OsString};
use std::fmt;

use seqfeed_core::{Error, Key, Result};
use seqfeed_io::{Opener, RxFilename, shown_name};

use crate::holder::Holder;
use crate::object_reader::ObjectReader;
use crate::range::Range;
use crate::specifier::{Rspecifier, TableKind};
use crate::tables::object_loader::{ObjectLoader, read_or_replace, with_cure};
use crate::tables::options::{Excuses, ReadOptions, ReadReport};
use crate::tables::read_ahead::ReadAhead;
use crate::tables::script_lines::ScriptLines;

/// Reads a table object by object: Kaldi's `SequentialTableReader`.
///
/// An iterator of keys and values. Where a value's memory shall be used again for the next one,
/// take [`next_into`](Self::next_into); where only keys are wanted, [`next_key`](Self::next_key).
///
/// One object is in memory at a time (with `bg`, four). After an object of an archive that cannot
/// be read nothing more can be found in it; an entry of a script file that cannot be loaded is an
/// error, and the next call goes on with the next entry. With `p`, such objects are passed over
/// and stand in the [report](Self::close). A failed command is an error when its output has been
/// read to the end.
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
    /// Why reading has ended before the end.
    failed: Option<Error>,
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
    /// Read at opening and put in the order of the disk.
    Sorted(std::vec::IntoIter<Entry>),
}

struct Entry {
    key: Vec<u8>,
    rxfilename: OsString,
    range: Option<Range>,
}

/// What `p` does in an archive.
const BEFORE: &str = "ends reading here, with what stands before";

/// What to do with the next object.
enum Take<'a, T> {
    Value(&'a mut Option<T>),
    Nothing,
}

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
    /// As [`open`](Self::open); with `any_order`, also if a line of the script file is wrong.
    pub fn open_with(
        rspecifier: &(impl AsRef<OsStr> + ?Sized),
        options: &ReadOptions,
    ) -> Result<Self> {
        let rspecifier = rspecifier.as_ref();
        let parsed = Rspecifier::parse(rspecifier)?;
        Self::open_parsed(rspecifier, &parsed, options).map_err(|error| parsed.explain(error))
    }

    fn open_parsed(rspecifier: &OsStr, parsed: &Rspecifier, options: &ReadOptions) -> Result<Self> {
        let object_type = T::known_type(parsed, options)?;
        let options = &ReadOptions { object_type, ..options.clone() };
        let table = match parsed.kind {
            TableKind::Archive => {
                let name = options.name(&parsed.rxfilename)?;
                Table::Archive(options.open_whole(&name)?)
            }
            TableKind::Script => {
                let lines = ScriptLines::open(&parsed.rxfilename, options)?;
                let entries = match options.any_order {
                    true => Entries::Sorted(sorted(lines, options)?.into_iter()),
                    false => Entries::Lines(Box::new(lines)),
                };
                Table::Script(Box::new(Script {
                    entries,
                    loader: ObjectLoader::new(options, &parsed.rxfilename)?,
                }))
            }
        };
        let mut reader = Self {
            rspecifier: shown_name(rspecifier),
            table,
            permissive: parsed.permissive,
            excuses: Excuses::new(options),
            failed: None,
        };
        if parsed.background {
            let foreground = std::mem::replace(&mut reader.table, Table::Ended);
            let foreground = Self { table: foreground, ..reader };
            reader = Self {
                rspecifier: shown_name(rspecifier),
                table: Table::Background(ReadAhead::start(foreground)?),
                permissive: parsed.permissive,
                excuses: Excuses::default(),
                failed: None,
            };
        }
        Ok(reader)
    }

    /// Reads the next object in the place of an older one, and its key; `false` at the end.
    ///
    /// # Errors
    ///
    /// As the iterator. Key and value are then anything.
    pub fn next_into(&mut self, key: &mut Vec<u8>, value: &mut T) -> Result<bool>
    where
        T: Default,
    {
        let mut slot = Some(std::mem::take(value));
        let found = self.step(key, &mut Take::Value(&mut slot))?;
        *value = slot.unwrap_or_default();
        Ok(found)
    }

    /// Reads the next key and goes over its object; `false` at the end.
    ///
    /// # Errors
    ///
    /// As the iterator, as far as errors can be seen: objects of script files are not looked
    /// at (except with `p`, which leaves out those that cannot be loaded, and with `bg`,
    /// which loads all).
    pub fn next_key(&mut self, key: &mut Vec<u8>) -> Result<bool> {
        self.step(key, &mut Take::Nothing)
    }

    pub(crate) fn next_entry(&mut self, key: &mut Vec<u8>, value: &mut Option<T>) -> Result<bool> {
        self.step(key, &mut Take::Value(value))
    }

    fn step(&mut self, key: &mut Vec<u8>, take: &mut Take<'_, T>) -> Result<bool> {
        loop {
            let error = match self.try_step(key, take) {
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
            // Only in a script file is there something behind an object that cannot be read.
            let script = matches!(&self.table, Table::Script(_));
            let goes_on = script && !is_of_script(&error);
            // An archive of which nothing can be read is none, and a line that is none stands for
            // an entry nobody knows: `p` does not mean these.
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

    fn try_step(&mut self, key: &mut Vec<u8>, take: &mut Take<'_, T>) -> Result<bool> {
        match &mut self.table {
            Table::Ended => Ok(false),
            Table::Archive(reader) => {
                if !reader.read_key(key).map_err(|error| with_cure(error, BEFORE))? {
                    if let Table::Archive(reader) = std::mem::replace(&mut self.table, Table::Ended)
                    {
                        reader.finish()?;
                    }
                    return Ok(false);
                }
                match take {
                    Take::Value(value) => read_or_replace(reader, value),
                    Take::Nothing => reader.skip::<T>(),
                }
                .map_err(|error| with_cure(error.of_key(Key(key)), BEFORE))?;
                Ok(true)
            }
            Table::Script(script) => {
                let Script { entries, loader } = &mut **script;
                let mut load = |rxfilename: &OsStr, range: Option<&Range>| match take {
                    Take::Value(value) => loader.load(rxfilename, range, value),
                    Take::Nothing if self.permissive => loader.load(rxfilename, range, &mut None),
                    Take::Nothing => Ok(()),
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
                    Entries::Sorted(entries) => match entries.next() {
                        None => return Ok(false),
                        Some(entry) => {
                            *key = entry.key;
                            load(&entry.rxfilename, entry.range.as_ref())
                        }
                    },
                };
                loaded.map_err(|error| error.of_key(Key(key))).map(|()| true)
            }
            Table::Background(ahead) => match take {
                Take::Value(value) => ahead.next(key, value),
                Take::Nothing => ahead.next(key, &mut None),
            },
        }
    }

    /// What was read so far, and passed over because of `p`. With `bg`, what was passed over is
    /// known when the table is [closed](Self::close).
    #[must_use]
    pub fn report(&self) -> &ReadReport {
        &self.excuses.report
    }

    /// Ends reading: what was read and passed over.
    ///
    /// Not needed where all was read: a `for` loop has seen every error then.
    ///
    /// # Errors
    ///
    /// With the error that ended reading before the end, if there was one.
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

/// Errors of the script file itself end reading: what follows in it cannot be trusted. They are
/// told by having no key.
fn is_of_script(error: &Error) -> bool {
    error.place().key.is_none()
}

/// All entries, in the order in which they lie on the disk: by file in the order of first mention,
/// then by offset.
fn sorted(mut lines: ScriptLines, options: &ReadOptions) -> Result<Vec<Entry>> {
    let mut files = std::collections::HashMap::new();
    let mut entries = Vec::new();
    while let Some(line) = lines.next()? {
        let entry = Entry {
            key: line.key.0.to_vec(),
            rxfilename: line.rxfilename.to_owned(),
            range: line.range,
        };
        let (path, offset) = match options.name(&entry.rxfilename) {
            Ok(RxFilename::Offset(path, offset)) => (path.into_os_string(), offset),
            // A name that is none fails when its turn comes.
            _ => (entry.rxfilename.clone(), 0),
        };
        let next = files.len();
        let file = *files.entry(path).or_insert(next);
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

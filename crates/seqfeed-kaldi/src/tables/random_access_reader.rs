//! Reads tables in any order of keys.

use std::ffi::OsStr;
use std::fmt;
use std::sync::Arc;

use seqfeed_core::{Error, Key, Result};
use seqfeed_io::{Opener, shown_name};

use crate::holder::Holder;
use crate::object_reader::is_token;
use crate::range::Range;
use crate::specifier::{Rspecifier, TableKind};
use crate::tables::options::{ReadOptions, ReadReport};
use crate::tables::random_access_archive::RandomAccessArchive;
use crate::tables::random_access_script::RandomAccessScript;
use crate::tables::sorted_archive::SortedArchive;
use crate::tables::typing::TableType;

/// Reads objects of a table by their keys: Kaldi's `RandomAccessTableReader`.
///
/// In memory are one object, and an index of the keys seen so far:
///
/// | rspecifier | how it is read | memory beside one object |
/// | --- | --- | --- |
/// | `scp` | lines sorted by key at opening | the lines |
/// | `ark` | read forward until the key is found; positions are remembered | 30 bytes a key, and the keys |
/// | `ark,s` | the same, but no further than to a larger key | the same |
/// | `ark,s,cs` | read forward only | nothing |
///
/// So, unlike in Kaldi, a reader without `s,cs` does not fill the memory, and missing keys cost one
/// pass over the archive in all. Data that cannot be read twice in place (pipes, standard input,
/// compressed files) are copied into a temporary file while they are read, except with `s,cs`.
/// Standard input then belongs to this reader alone: no other reader sees the bytes that it read
/// ahead.
///
/// The promises of the options are checked: the order of keys in the archive (`s`), the order of
/// calls (`cs`, with `s`), and that no key is read twice (`o`). With `p`, unreadable objects count
/// as missing, and stand in the [report](Self::report).
///
/// ```
/// use seqfeed_core::Key;
/// use seqfeed_io::Opener;
/// use seqfeed_kaldi::{RandomAccessReader, TableWriter};
/// # let directory = tempfile::tempdir().unwrap();
/// # let ark = directory.path().join("ali.ark").display().to_string();
/// # let mut table = TableWriter::create(&format!("ark:{ark}"), &Opener::default())?;
/// # table.write(Key(b"utt1"), &vec![1, 2, 3])?;
/// # table.write(Key(b"utt2"), &vec![4])?;
/// # table.close()?;
///
/// let name = format!("ark:{ark}");
/// let mut labels = RandomAccessReader::<Vec<i32>>::open(&name, &Opener::default())?;
/// assert_eq!(labels.get(Key(b"utt2"))?, Some(&vec![4]));
/// assert_eq!(labels.get(Key(b"utt1"))?, Some(&vec![1, 2, 3]));
/// assert_eq!(labels.get(Key(b"utt3"))?, None);
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
pub struct RandomAccessReader<T> {
    rspecifier: String,
    table: Table<T>,
    /// The type of the objects, if it was found at opening.
    found: Option<Arc<TableType>>,
}

enum Table<T> {
    Script(Box<RandomAccessScript<T>>),
    Archive(Box<RandomAccessArchive<T>>),
    Sorted(Box<SortedArchive<T>>),
}

impl<T: Holder> RandomAccessReader<T> {
    /// Opens a table. Nothing of an archive is read yet.
    ///
    /// # Errors
    ///
    /// Fails if the rspecifier is wrong or not allowed, if its file cannot be opened, or if a line
    /// of a script file is wrong, repeated or (with `s`) not sorted.
    pub fn open(rspecifier: &(impl AsRef<OsStr> + ?Sized), opener: &Opener) -> Result<Self> {
        Self::open_with(rspecifier, &ReadOptions::with_opener(opener))
    }

    /// Opens a table, with options.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_with(
        rspecifier: &(impl AsRef<OsStr> + ?Sized),
        options: &ReadOptions,
    ) -> Result<Self> {
        let rspecifier = rspecifier.as_ref();
        let parsed = Rspecifier::parse(rspecifier)?;
        let typing = T::typing(&parsed, options)?;
        let options = &ReadOptions { typing: typing.clone(), ..options.clone() };
        let table = match parsed.kind {
            TableKind::Script => RandomAccessScript::open(&parsed, options)
                .map(|table| Table::Script(Box::new(table))),
            TableKind::Archive if parsed.sorted && parsed.called_sorted => {
                SortedArchive::open(&parsed, options).map(|table| Table::Sorted(Box::new(table)))
            }
            TableKind::Archive => RandomAccessArchive::open(&parsed, options)
                .map(|table| Table::Archive(Box::new(table))),
        };
        let table = table.map_err(|error| parsed.explain(error))?;
        Ok(Self { rspecifier: shown_name(rspecifier), table, found: typing.found })
    }

    /// The common type of objects that do not say their type, as far as they were read.
    #[must_use]
    pub fn table_type(&self) -> Option<&TableType> {
        match &self.table {
            Table::Archive(table) => table.typing.found.as_deref(),
            _ => self.found.as_deref(),
        }
    }

    /// The object of a key, if there is one.
    ///
    /// # Errors
    ///
    /// Fails if the object cannot be read, if the promise of an option does not hold, or if the
    /// archive is damaged before the key was found. Other keys can still be asked for.
    pub fn get(&mut self, key: Key<'_>) -> Result<Option<&T>> {
        check_key(key)?;
        match &mut self.table {
            Table::Script(table) => table.get(key),
            Table::Archive(table) => table.get(key),
            Table::Sorted(table) => table.get(key),
        }
    }

    /// The object of a key, to keep. It is moved out if it can be read again; otherwise (`s,cs`) it
    /// is a copy.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn take(&mut self, key: Key<'_>) -> Result<Option<T>>
    where
        T: Clone,
    {
        check_key(key)?;
        match &mut self.table {
            Table::Script(table) => table.take(key),
            Table::Archive(table) => table.take(key),
            Table::Sorted(table) => Ok(table.get(key)?.cloned()),
        }
    }

    /// A part of the object of a key. If the type and the file allow it, only that part is read.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get), and if the range does not fit the object.
    pub fn take_part(&mut self, key: Key<'_>, range: &Range) -> Result<Option<T>> {
        check_key(key)?;
        match &mut self.table {
            Table::Script(table) => table.take_part(key, range),
            Table::Archive(table) => table.take_part(key, range),
            Table::Sorted(table) => table.get(key)?.map(|value| value.extract(range)).transpose(),
        }
        .map_err(|error| error.of_key(key))
    }

    /// Whether there is an object with a key: Kaldi's `HasKey`. For a script file this means that
    /// the key is listed, and with `p` that its object can be loaded.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn contains(&mut self, key: Key<'_>) -> Result<bool> {
        check_key(key)?;
        match &mut self.table {
            Table::Script(table) => table.contains(key),
            Table::Archive(table) => table.contains(key),
            Table::Sorted(table) => table.get(key).map(|value| value.is_some()),
        }
    }
}

impl<T: Holder> RandomAccessReader<T> {
    /// The objects that `p` has passed over so far: each damaged object that was asked for, and
    /// once an archive that cannot be read to its end. Objects that were read are not counted here.
    #[must_use]
    pub fn report(&self) -> &ReadReport {
        match &self.table {
            Table::Script(table) => &table.excuses.report,
            Table::Archive(table) => &table.excuses.report,
            Table::Sorted(table) => &table.excuses.report,
        }
    }

    /// Ends reading. Reports the objects that `p` passed over.
    ///
    /// This is not needed if an archive was read to its end, for example by asking for a missing
    /// key.
    ///
    /// # Errors
    ///
    /// Fails if a command failed and its output has been read to the end.
    pub fn close(self) -> Result<ReadReport> {
        let report = self.report().clone();
        match self.table {
            Table::Script(_) => {}
            Table::Archive(table) => table.finish()?,
            Table::Sorted(table) => table.finish()?,
        }
        Ok(report)
    }

    /// All keys in ascending order. An archive is scanned to its end; of a script file no object is
    /// read.
    ///
    /// # Errors
    ///
    /// Fails if an archive cannot be read or has a key twice. Also fails for archives with `s,cs`,
    /// since only one object is in reach at a time.
    pub fn sorted_keys(&mut self) -> Result<Vec<Vec<u8>>> {
        let mut keys = match &mut self.table {
            Table::Script(table) => table.keys(),
            Table::Archive(table) => table.keys()?,
            Table::Sorted(_) => {
                return Err(Error::usage(format!(
                    "{}: the keys of an archive with `s,cs` are known one after another",
                    self.rspecifier
                ))
                .with_help("take `s,cs` out of the rspecifier"));
            }
        };
        keys.sort_unstable();
        Ok(keys)
    }
}

/// Checks that a key can be the key of a table: [`is_token`].
///
/// # Errors
///
/// Fails if it cannot.
pub fn check_key(key: Key<'_>) -> Result<()> {
    if is_token(key.0) {
        return Ok(());
    }
    Err(Error::usage(format!("\"{}\" is no key", key.0.escape_ascii()))
        .with_help("a key is not empty and holds neither white space nor control characters"))
}

impl<T> fmt::Debug for RandomAccessReader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RandomAccessReader")
            .field("rspecifier", &self.rspecifier)
            .finish_non_exhaustive()
    }
}

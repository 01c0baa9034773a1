//! Reading for tools: tables in order, single objects, lines.
//!
//! Names come in options, which are text. [`name_from_text`] gives the name to open.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use seqfeed_core::Key;
use seqfeed_io::{RxFilename, WxFilename, name_from_text};
use seqfeed_kaldi::{
    Holder, MappedReader, ObjectReader, RandomAccessReader, Rspecifier, ScriptLine,
    SequentialReader, TableKind, TableWriter, Wspecifier,
};

use crate::call::{Call, Files, Stop, throw};
use crate::writing::close;

/// Whether a name is that of a table to read.
pub(crate) fn is_rspecifier(name: &str) -> bool {
    Rspecifier::parse(&name_from_text(name)).is_ok()
}

/// Whether a name is that of a table to write.
pub(crate) fn is_wspecifier(name: &str) -> bool {
    Wspecifier::parse(&name_from_text(name)).is_ok()
}

/// Whether two names are those of tables. One table and one file cannot be mixed.
pub(crate) fn are_tables(
    from: &str,
    to: &str,
    place: &'static str,
    message: &str,
) -> Result<bool, Stop> {
    let tables = is_rspecifier(from);
    if tables == is_wspecifier(to) { Ok(tables) } else { throw(place, message) }
}

/// A table that is read object by object, into the memory of one object.
pub(crate) struct Table<T> {
    reader: SequentialReader<T>,
    key: Vec<u8>,
    value: T,
    archive: bool,
    objects: u64,
    files: Files,
}

impl<T: Holder + Default> Table<T> {
    pub(crate) fn open(call: &Call<'_>, rspecifier: &str) -> Result<Self, Stop> {
        let rspecifier = name_from_text(rspecifier);
        let archive = Rspecifier::parse(&rspecifier)?.kind == TableKind::Archive;
        let reader = SequentialReader::open_with(&rspecifier, &call.reading())?;
        call.files.check()?;
        let (key, value, files) = (Vec::new(), T::default(), call.files.clone());
        Ok(Self { reader, key, value, archive, objects: 0, files })
    }

    /// The next key and object.
    ///
    /// In Kaldi, an archive that fails at its first object cannot be opened. If it fails later, the
    /// program aborts.
    pub(crate) fn next(&mut self) -> Result<Option<(Key<'_>, &mut T)>, Stop> {
        match self.reader.next_into(&mut self.key, &mut self.value) {
            Ok(true) => {
                self.objects += 1;
                Ok(Some((Key(&self.key), &mut self.value)))
            }
            Ok(false) => {
                // The files that a script file names are known now.
                self.files.check()?;
                Ok(None)
            }
            Err(error) if self.archive && self.objects > 0 => Err(Stop::abort(&error)),
            Err(error) => Err(error.into()),
        }
    }

    /// Ends reading.
    pub(crate) fn close(self) -> Result<(), Stop> {
        self.reader.close()?;
        Ok(())
    }
}

impl Call<'_> {
    /// Opens a table for reading in order.
    pub(crate) fn table<T: Holder + Default>(&self, rspecifier: &str) -> Result<Table<T>, Stop> {
        Table::open(self, rspecifier)
    }

    /// Makes one table of another. `write` writes what becomes of an object, and says whether
    /// anything does.
    pub(crate) fn each<T: Holder + Default, U: Holder>(
        &mut self,
        mut table: Table<T>,
        mut writer: TableWriter<U>,
        mut write: impl FnMut(&mut Self, Key<'_>, &mut T, &mut TableWriter<U>) -> Result<bool, Stop>,
    ) -> Result<Counts, Stop> {
        let (mut done, mut failed) = (0, 0);
        while let Some((key, value)) = table.next()? {
            match write(self, key, value, &mut writer)? {
                true => done += 1,
                false => failed += 1,
            }
        }
        table.close()?;
        let written = close(writer)?.objects;
        Ok(Counts { done, failed, written })
    }

    /// Copies a table, with its objects changed.
    pub(crate) fn copy<T: Holder + Default>(
        &mut self,
        (from, to): (&str, &str),
        mut change: impl FnMut(&mut T) -> Result<(), Stop>,
    ) -> Result<Counts, Stop> {
        let writer = self.create::<T>(to)?;
        let table = self.table::<T>(from)?;
        self.each(table, writer, |_, key, value, writer| {
            change(value)?;
            writer.write(key, value)?;
            Ok(true)
        })
    }

    /// Opens tables to be read by key.
    pub(crate) fn random_of_each<T: Holder>(
        &self,
        rspecifiers: &[String],
    ) -> Result<Vec<RandomAccessReader<T>>, Stop> {
        rspecifiers.iter().map(|rspecifier| self.random(rspecifier)).collect()
    }

    /// Opens a table for reading by key.
    pub(crate) fn random<T: Holder>(
        &self,
        rspecifier: &str,
    ) -> Result<RandomAccessReader<T>, Stop> {
        let table = RandomAccessReader::open_with(&name_from_text(rspecifier), &self.reading())?;
        self.files.check()?;
        Ok(table)
    }

    /// Opens a table for reading by keys that a map translates to its own. There is no map if `map`
    /// is empty.
    pub(crate) fn mapped<T: Holder>(
        &self,
        rspecifier: &str,
        map: &str,
    ) -> Result<MappedReader<T>, Stop> {
        let (rspecifier, map) = (name_from_text(rspecifier), name_from_text(map));
        let table = MappedReader::open_with(&rspecifier, &map, &self.reading())?;
        self.files.check()?;
        Ok(table)
    }

    /// Opens a table for writing.
    pub(crate) fn create<T: Holder>(&self, wspecifier: &str) -> Result<TableWriter<T>, Stop> {
        let wspecifier = name_from_text(wspecifier);
        let Wspecifier { archive, script, .. } = Wspecifier::parse(&wspecifier)?;
        let mut outputs = Vec::new();
        // A script file alone is an input.
        if let Some(archive) = archive {
            outputs.push(WxFilename::parse(&archive)?);
            outputs.extend(script.map(|script| WxFilename::parse(&script)).transpose()?);
        }
        self.note_outputs(&outputs)?;
        let table = TableWriter::create(&wspecifier, self.opener())?;
        self.note_outputs(table.object_names())?;
        self.files.check()?;
        Ok(table.telling(&self.warnings))
    }

    /// Reads the object in a file, or the part of it for the range after the name.
    pub(crate) fn read_object<T: Holder>(&self, name: &str) -> Result<T, Stop> {
        if name.ends_with(']') {
            // The name and the range have the form of a line in a script file.
            let line = name_from_text(&format!("object {name}"));
            let line = ScriptLine::parse(line.as_bytes())?;
            if let Some(range) = line.range {
                let whole: T = self.read_whole(line.rxfilename)?;
                let part = whole.extract(&range)?;
                self.warnings.check_range(&range, &part);
                return Ok(part);
            }
        }
        self.read_whole(&name_from_text(name))
    }

    fn read_whole<T: Holder>(&self, name: &OsStr) -> Result<T, Stop> {
        Ok(self.reading().open(&RxFilename::parse(name)?)?.read()?)
    }

    /// The fields of each line of a file, split at blanks.
    pub(crate) fn lines(&self, name: &str) -> Result<Lines, Stop> {
        let reader = self.reading().open(&RxFilename::parse(&name_from_text(name))?)?;
        Ok(Lines { reader, line: Vec::new() })
    }
}

/// How many objects of a table were used.
pub(crate) struct Counts {
    pub(crate) done: u64,
    pub(crate) failed: u64,
    /// Those of `done` that are in the output. A script file for writing (with `p`) may have no
    /// names for some.
    pub(crate) written: u64,
}

/// The lines of a text file, such as one of segments.
pub(crate) struct Lines {
    reader: ObjectReader,
    line: Vec<u8>,
}

impl Lines {
    /// The next line, without its end.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, Stop> {
        // The last line may have no end.
        let ended = !self.reader.read_line(&mut self.line)?;
        Ok((!ended || !self.line.is_empty()).then_some(self.line.as_slice()))
    }
}

/// The words of a line, between blanks, tabs and carriage returns.
pub(crate) fn fields(line: &[u8]) -> Vec<&[u8]> {
    line.split(|byte| b" \t\r".contains(byte)).filter(|word| !word.is_empty()).collect()
}

//! How tools read: tables in order, single objects, lines.

use seqfeed_core::Key;
use seqfeed_io::RxFilename;
use seqfeed_kaldi::{
    Holder, MappedReader, ObjectReader, RandomAccessReader, Rspecifier, ScriptLine,
    SequentialReader, TableKind, TableWriter, Wspecifier,
};

use crate::call::{Call, Stop};

/// Whether a name is that of a table to read.
pub(crate) fn is_rspecifier(name: &str) -> bool {
    Rspecifier::parse(name).is_ok()
}

/// Whether a name is that of a table to write.
pub(crate) fn is_wspecifier(name: &str) -> bool {
    Wspecifier::parse(name).is_ok()
}

/// A table that is read object by object, in one object's memory.
pub(crate) struct Table<T> {
    reader: SequentialReader<T>,
    key: Vec<u8>,
    value: T,
    archive: bool,
    objects: u64,
}

impl<T: Holder + Default> Table<T> {
    pub(crate) fn open(call: &Call<'_>, rspecifier: &str) -> Result<Self, Stop> {
        let archive = Rspecifier::parse(rspecifier)?.kind == TableKind::Archive;
        let reader = SequentialReader::open(rspecifier, &call.policy())?;
        Ok(Self { reader, key: Vec::new(), value: T::default(), archive, objects: 0 })
    }

    /// The next key and object.
    ///
    /// An archive that fails with its first object cannot be opened, in Kaldi; if it fails later, the program
    /// aborts.
    pub(crate) fn next(&mut self) -> Result<Option<(Key<'_>, &mut T)>, Stop> {
        match self.reader.next_into(&mut self.key, &mut self.value) {
            Ok(true) => {
                self.objects += 1;
                Ok(Some((Key(&self.key), &mut self.value)))
            }
            Ok(false) => Ok(None),
            Err(error) if self.archive && self.objects > 0 => Err(Stop::abort(&error)),
            Err(error) => Err(error.into()),
        }
    }

    /// Ends reading, and says what was passed over because of `p`.
    pub(crate) fn close(self, call: &mut Call<'_>) -> Result<(), Stop> {
        let report = self.reader.close()?;
        report.errors.iter().for_each(|error| call.warn_skipped(error));
        Ok(())
    }
}

impl Call<'_> {
    /// Opens a table to be read in order.
    pub(crate) fn table<T: Holder + Default>(&self, rspecifier: &str) -> Result<Table<T>, Stop> {
        Table::open(self, rspecifier)
    }

    /// Opens a table to be read by key.
    pub(crate) fn random<T: Holder>(
        &self,
        rspecifier: &str,
    ) -> Result<RandomAccessReader<T>, Stop> {
        Ok(RandomAccessReader::open(rspecifier, &self.policy())?)
    }

    /// Opens a table to be read by keys that a map turns into its own; none where `map` is empty.
    pub(crate) fn mapped<T: Holder>(
        &self,
        rspecifier: &str,
        map: &str,
    ) -> Result<MappedReader<T>, Stop> {
        Ok(MappedReader::open(rspecifier, map, &self.policy())?)
    }

    /// Opens a table to be written.
    pub(crate) fn create<T: Holder>(&self, wspecifier: &str) -> Result<TableWriter<T>, Stop> {
        Ok(TableWriter::create(wspecifier, &self.policy())?)
    }

    /// Reads the object that a file holds, or the part of it that a range behind the name means.
    pub(crate) fn read_object<T: Holder>(&self, name: &str) -> Result<T, Stop> {
        if name.ends_with(']') {
            // The name and range of a line of a script file.
            let line = format!("object {name}");
            let line = ScriptLine::parse(line.as_bytes())?;
            if let Some(range) = line.range {
                let whole: T = self.read_whole(line.rxfilename)?;
                return Ok(whole.extract(&range)?);
            }
        }
        self.read_whole(name)
    }

    fn read_whole<T: Holder>(&self, name: &str) -> Result<T, Stop> {
        let mut reader = ObjectReader::open(&RxFilename::parse(name)?, &self.policy())?;
        // A command that failed is why its output cannot be read.
        match reader.read() {
            Ok(object) => {
                reader.finish()?;
                Ok(object)
            }
            Err(error) => match reader.peek() {
                Ok(None) => Err(reader.finish().err().unwrap_or(error).into()),
                _ => Err(error.into()),
            },
        }
    }

    /// The fields of each line of a file, split at blanks.
    pub(crate) fn lines(&self, name: &str) -> Result<Lines, Stop> {
        let reader = ObjectReader::open(&RxFilename::parse(name)?, &self.policy())?;
        Ok(Lines { reader, line: Vec::new() })
    }
}

/// The lines of a text file, such as one of segments.
pub(crate) struct Lines {
    reader: ObjectReader,
    line: Vec<u8>,
}

impl Lines {
    /// The next line, without its end.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, Stop> {
        self.line.clear();
        if !self.reader.read_line(&mut self.line)? {
            return Ok(None);
        }
        Ok(Some(self.line.strip_suffix(b"\n").unwrap_or(&self.line)))
    }
}

/// The words of a line, between blanks, tabs and carriage returns.
pub(crate) fn fields(line: &[u8]) -> Vec<&[u8]> {
    line.split(|byte| b" \t\r".contains(byte)).filter(|word| !word.is_empty()).collect()
}

//! Writes tables.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::marker::PhantomData;
use std::os::unix::ffi::OsStrExt;

use seqfeed_core::{Error, Key, Problem, Result};
use seqfeed_io::{InputFiles, Opener, Output, WxFilename, shown_name};

use crate::SCRIPT;
use crate::holder::{Holder, Mode, write_object_start};
use crate::specifier::Wspecifier;
use crate::tables::key_index::KeyIndex;
use crate::tables::options::ReadOptions;
use crate::tables::random_access_reader::check_key;
use crate::tables::script_lines::ScriptLines;
use crate::tables::warnings::{Warning, Warnings};

/// Writes a table: Kaldi's `TableWriter`.
///
/// | wspecifier | output |
/// | --- | --- |
/// | `ark:feats.ark` | an archive |
/// | `ark,scp:feats.ark,feats.scp` | an archive, and a script file with the offset of each object in it |
/// | `scp:names.scp` | each object in a file of its own, which this script file names for its key |
///
/// Archives and script files appear under their names when the table is [closed](Self::close), both
/// together. A writer that is dropped leaves nothing of them. With `scp` alone, each file appears
/// when it is written. For readers that must not wait, use
/// [`create_in_place`](Self::create_in_place).
///
/// With `ark,scp`, the script file may go to standard output, a command or a named pipe. Its reader
/// then opens the archive while it is written. So the archive gets its name before the first line
/// is written, each object is in it before its line is written, and the archive stays after an
/// error.
///
/// ```
/// use seqfeed_core::Key;
/// use seqfeed_io::Opener;
/// use seqfeed_kaldi::{TableWriter, Vector};
/// # let directory = tempfile::tempdir().unwrap();
/// # let ark = directory.path().join("a.ark").display().to_string();
/// # let scp = directory.path().join("a.scp").display().to_string();
///
/// let mut table = TableWriter::create(&format!("ark,scp:{ark},{scp}"), &Opener::default())?;
/// table.write(Key(b"utt1"), &Vector(vec![1.0f32, 2.0]))?;
/// assert_eq!(table.close()?.objects, 1);
/// assert_eq!(std::fs::read_to_string(&scp).unwrap(), format!("utt1 {ark}:5\n"));
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Debug)]
pub struct TableWriter<T> {
    table: Table,
    mode: Mode,
    /// Whether each entry is passed on when it is written.
    flush: bool,
    report: WriteReport,
    buffer: Vec<u8>,
    /// The error because of which an archive is not whole. Then it must not appear.
    failed: Option<Error>,
    warnings: Option<Warnings>,
    type_: PhantomData<fn(&T)>,
}

#[derive(Debug)]
enum Table {
    Archive(Output),
    Both { archive: Output, archive_name: OsString, script: Output },
    Script(Names),
}

/// The names in a script file, by key.
struct Names {
    script: String,
    index: KeyIndex,
    names: Vec<WxFilename>,
    opener: Opener,
    permissive: bool,
}

/// The objects and bytes written to a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteReport {
    /// Objects that were written.
    pub objects: u64,
    /// Objects that were not written, since a script file (with `p`) has no name for their keys.
    pub skipped: u64,
    /// Bytes that were written, without those of a script file.
    pub bytes: u64,
}

impl<T: Holder> TableWriter<T> {
    /// Opens a table for writing.
    ///
    /// # Errors
    ///
    /// Fails if the wspecifier is wrong or not allowed, or if a file cannot be made. With `ark,scp`
    /// the archive must be a file, and not the same as the script file: a script file cannot point
    /// into a pipe. With `scp`, fails if the script file cannot be read, has a key twice, or names
    /// a file twice.
    pub fn create(wspecifier: &(impl AsRef<OsStr> + ?Sized), opener: &Opener) -> Result<Self> {
        Self::create_by(wspecifier, opener, Output::create)
    }

    /// Opens a table that can be read while it grows, as Kaldi's own can. Its files appear now,
    /// under their names, and each entry is in them, whole, when [`write`](Self::write) returns. A
    /// killed job loses at most one entry, and a script file never points behind the end of its
    /// archive.
    ///
    /// Old files with these names are gone from now on. The option `f` is in force.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn create_in_place(
        wspecifier: &(impl AsRef<OsStr> + ?Sized),
        opener: &Opener,
    ) -> Result<Self> {
        let table = Self::create_by(wspecifier, opener, Output::create_in_place)?;
        Ok(Self { flush: true, ..table })
    }

    fn create_by(
        wspecifier: &(impl AsRef<OsStr> + ?Sized),
        opener: &Opener,
        create: fn(&WxFilename, &Opener) -> Result<Output>,
    ) -> Result<Self> {
        let Wspecifier { archive, script, text, flush, permissive } =
            Wspecifier::parse(wspecifier)?;
        let open = |name: &WxFilename| create(name, opener);
        let table = match (archive, script) {
            (Some(archive), None) => Table::Archive(open(&WxFilename::parse(&archive)?)?),
            (Some(archive_name), Some(script)) => {
                let names = [WxFilename::parse(&archive_name)?, WxFilename::parse(&script)?];
                InputFiles::default().check_outputs(&names)?;
                let no_file = || {
                    Error::usage(format!(
                        "a script file cannot point into `{}`, which is no file",
                        shown_name(&archive_name)
                    ))
                    .with_help("write the archive to a file, or without a script file (`ark:`)")
                };
                let [archive, script] = &names;
                // This is checked before a command is started.
                if archive.path().is_none() {
                    return Err(no_file());
                }
                let archive = open(archive)?;
                if archive.position().is_none() {
                    return Err(no_file());
                }
                let mut script = open(script)?;
                script.set_points_into_others();
                Table::Both { archive, archive_name, script }
            }
            (None, script) => {
                Table::Script(Names::read(&script.unwrap_or_default(), opener, permissive)?)
            }
        };
        Ok(Self {
            table,
            mode: if text { Mode::Text } else { Mode::Binary },
            flush,
            report: WriteReport::default(),
            buffer: Vec::new(),
            failed: None,
            warnings: None,
            type_: PhantomData,
        })
    }

    /// When the table ends, adds a warning with the number of objects that `p` left out.
    #[must_use]
    pub fn telling(self, warnings: &Warnings) -> Self {
        Self { warnings: Some(warnings.clone()), ..self }
    }

    /// The files of the objects with `scp`: the names in the script file. Empty for an archive.
    #[must_use]
    pub fn object_names(&self) -> &[WxFilename] {
        match &self.table {
            Table::Script(names) => &names.names,
            _ => &[],
        }
    }

    /// Whether [`write`](Self::write) writes objects with this key. It does not with `scp,p` if the
    /// script file has no name for it.
    #[must_use]
    pub fn takes(&self, key: Key<'_>) -> bool {
        match &self.table {
            Table::Script(names) => !names.permissive || names.index.find(key).is_some(),
            _ => true,
        }
    }

    /// With `ark,scp`: sets the name of the archive in the script file, for an archive that will be
    /// moved before it is read.
    pub fn call_archive(&mut self, name: impl Into<OsString>) {
        if let Table::Both { archive_name, .. } = &mut self.table {
            *archive_name = name.into();
        }
    }

    /// Writes an object.
    ///
    /// # Errors
    ///
    /// Fails if the key is empty or contains white space or control characters, if the format
    /// cannot hold the value, or if writing fails. Then all later calls fail as well, and no file
    /// appears (in place, the earlier entries stay). With `scp`, also fails if the script file has
    /// no name for the key, unless `p` leaves out such objects.
    pub fn write(&mut self, key: Key<'_>, value: &T) -> Result<()> {
        check_key(key)?;
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.buffer.clear();
        if !matches!(self.table, Table::Script(_)) {
            self.buffer.extend_from_slice(key.0);
            self.buffer.push(b' ');
        }
        let prefix = self.buffer.len() as u64;
        let values = write_object_start(value, &mut self.buffer, self.mode)
            .map_err(|error| error.of_key(key))?;
        if let Table::Script(names) = &self.table {
            self.buffer.extend_from_slice(values);
            if !names.write(key, &self.buffer)? {
                self.report.skipped += 1;
                return Ok(());
            }
        } else if let Err(error) = self.write_entry(key, prefix, values) {
            self.failed = Some(error.clone());
            return Err(error);
        }
        self.report.objects += 1;
        let bytes = match self.table {
            Table::Script(_) => self.buffer.len(),
            _ => self.buffer.len() + values.len(),
        };
        self.report.bytes += bytes as u64;
        Ok(())
    }

    /// Writes the buffer, which begins with the key; then the values, and the line of the script
    /// file.
    fn write_entry(&mut self, key: Key<'_>, prefix: u64, values: &[u8]) -> Result<()> {
        match &mut self.table {
            Table::Script(_) => {}
            Table::Archive(archive) => write_whole(archive, [&self.buffer, values])?,
            Table::Both { archive, archive_name, script } => {
                let Some(position) = archive.position() else {
                    return Err(Error::format(SCRIPT, Problem::Unsupported("no position".into())));
                };
                let mut line = key.0.to_vec();
                let offset = position + prefix;
                line.push(b' ');
                line.extend_from_slice(archive_name.as_bytes());
                line.extend_from_slice(format!(":{offset}\n").as_bytes());
                write_whole(archive, [&self.buffer, values])?;
                if script.is_stream() {
                    // Its reader may get the line at once, and read the object.
                    archive.flush_now()?;
                    archive.appear_now()?;
                }
                write_whole(script, [&line, &[]])?;
            }
        }
        if self.flush { self.flush() } else { Ok(()) }
    }

    /// Passes the written bytes to the operating system. Commands and standard output have them
    /// then. Files that are [written in place](Self::create_in_place) can be read; others appear at
    /// the end.
    ///
    /// # Errors
    ///
    /// Fails if writing fails.
    pub fn flush(&mut self) -> Result<()> {
        self.table.outputs().into_iter().try_for_each(Output::flush_now)
    }

    /// Ends the table. Its files appear. Returns the report.
    ///
    /// # Errors
    ///
    /// Fails if not everything could be written, or if a command failed.
    pub fn close(self) -> Result<WriteReport> {
        let (report, outputs) = self.into_outputs()?;
        Output::finish_together(outputs)?;
        Ok(report)
    }

    /// Ends the table without giving its files their names yet, so that they appear together with
    /// others. Returns the report, and the archive, then the script file.
    ///
    /// # Errors
    ///
    /// Fails if not everything could be written.
    pub fn into_outputs(self) -> Result<(WriteReport, Vec<Output>)> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if let Some(warnings) = &self.warnings
            && self.report.skipped > 0
        {
            warnings.add(Warning::NotWritten(self.report.skipped));
        }
        let outputs = match self.table {
            Table::Archive(archive) => vec![archive],
            Table::Both { archive, script, .. } => vec![archive, script],
            Table::Script(_) => Vec::new(),
        };
        Ok((self.report, outputs))
    }
}

impl Table {
    fn outputs(&mut self) -> Vec<&mut Output> {
        match self {
            Self::Archive(archive) => vec![archive],
            Self::Both { archive, script, .. } => vec![archive, script],
            Self::Script(_) => Vec::new(),
        }
    }
}

impl Names {
    fn read(script: &OsStr, opener: &Opener, permissive: bool) -> Result<Self> {
        let mut lines = ScriptLines::open(script, &ReadOptions::with_opener(opener))?;
        let (mut index, mut names) = (KeyIndex::default(), Vec::new());
        let mut number = 0;
        let file = lines.name().to_owned();
        while let Some((key, name)) = lines.next_pair()? {
            number += 1;
            let place = |error: Error| error.in_line_of(file.as_str(), number).of_key(key);
            // A name that cannot be written to should be known before hours of work.
            let name = WxFilename::parse(OsStr::from_bytes(name)).map_err(place)?;
            if index.insert(key, 0).is_none() {
                return Err(place(Error::format(SCRIPT, Problem::DuplicateKey)));
            }
            names.push(name);
        }
        // A second object would overwrite the first.
        InputFiles::default().check_outputs(&names)?;
        Ok(Self { script: file, index, names, opener: opener.of_contents(), permissive })
    }

    /// Writes an object to the file of its key. Returns whether there is one.
    fn write(&self, key: Key<'_>, bytes: &[u8]) -> Result<bool> {
        let Some(number) = self.index.find(key) else {
            if self.permissive {
                return Ok(false);
            }
            let message =
                "the script file has no line for this key, so there is no name to write to";
            return Err(Error::usage(message).in_file(self.script.as_str()).of_key(key).with_help(
                "add a line, or leave such objects out with the option `p` (`scp,p:`)",
            ));
        };
        let name = &self.names[number];
        let written = match name.path() {
            // For many small files, it does not wait for the disk after each.
            Some(path) => seqfeed_io::write_atomically(path, bytes, false),
            None => Output::create(name, &self.opener).and_then(|mut output| {
                write(&mut output, bytes)?;
                output.finish()
            }),
        };
        written.map_err(|error| error.of_key(key)).map(|()| true)
    }
}

impl std::fmt::Debug for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Names").field("script", &self.script).finish_non_exhaustive()
    }
}

/// Writes an entry. If this fails, no part of it stays where readers look.
fn write_whole(output: &mut Output, [first, second]: [&[u8]; 2]) -> Result<()> {
    let start = output.position();
    output.write_both(first, second).map_err(|error| {
        if let Some(start) = start {
            output.take_back_to(start);
        }
        output.error(error)
    })
}

fn write(output: &mut Output, bytes: &[u8]) -> Result<()> {
    output.write_all(bytes).map_err(|error| output.error(error))
}

//! Writing tables.

use std::io::Write as _;
use std::marker::PhantomData;

use seqfeed_core::{Error, Key, Problem, Result};
use seqfeed_io::{Output, Policy, WxFilename};

use crate::SCRIPT;
use crate::holder::{Holder, Mode, write_object};
use crate::specifier::Wspecifier;
use crate::tables::key_index::KeyIndex;
use crate::tables::options::ReadOptions;
use crate::tables::random_access_reader::check_key;
use crate::tables::script_lines::ScriptLines;

/// Writes a table: Kaldi's `TableWriter`.
///
/// | wspecifier | what is written |
/// | --- | --- |
/// | `ark:feats.ark` | an archive |
/// | `ark,scp:feats.ark,feats.scp` | an archive, and a script file with the offset of each object in it |
/// | `scp:names.scp` | each object to the name that this script file, which is read, has for its key |
///
/// Archives and script files appear under their names when the table is [closed](Self::close), both
/// together; a writer that is dropped leaves nothing of them behind. With `scp` alone, each file
/// appears when it is written.
///
/// ```
/// use seqfeed_core::Key;
/// use seqfeed_io::Policy;
/// use seqfeed_kaldi::{TableWriter, Vector};
/// # let directory = tempfile::tempdir().unwrap();
/// # let ark = directory.path().join("a.ark").display().to_string();
/// # let scp = directory.path().join("a.scp").display().to_string();
///
/// let mut table = TableWriter::create(&format!("ark,scp:{ark},{scp}"), &Policy::default())?;
/// table.write(Key(b"utt1"), &Vector(vec![1.0f32, 2.0]))?;
/// assert_eq!(table.close()?.objects, 1);
/// assert_eq!(std::fs::read_to_string(&scp).unwrap(), format!("utt1 {ark}:5\n"));
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Debug)]
pub struct TableWriter<T> {
    table: Table,
    mode: Mode,
    flush: bool,
    report: WriteReport,
    buffer: Vec<u8>,
    /// Why an archive is not whole: then nothing of it may appear.
    failed: Option<Error>,
    type_: PhantomData<fn(&T)>,
}

#[derive(Debug)]
enum Table {
    Archive(Output),
    Both { archive: Output, archive_name: String, script: Output },
    Script(Names),
}

/// The names that a script file has for keys.
struct Names {
    script: String,
    index: KeyIndex,
    names: Vec<String>,
    policy: Policy,
    permissive: bool,
}

/// What was written of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteReport {
    /// Objects that were written.
    pub objects: u64,
    /// Objects that were not, since a script file (with `p`) has no name for their keys.
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
    /// the archive must be a file: a script file cannot point into a pipe. With `scp`, fails if the
    /// script file cannot be read or has a key twice.
    pub fn create(wspecifier: &str, policy: &Policy) -> Result<Self> {
        let Wspecifier { archive, script, text, flush, permissive } =
            Wspecifier::parse(wspecifier)?;
        let open = |name: &str| Output::create(&WxFilename::parse(name)?, policy);
        let table = match (archive, script) {
            (Some(archive), None) => Table::Archive(open(&archive)?),
            (Some(archive_name), Some(script)) => {
                if archive_name == script {
                    return Err(Error::usage(format!(
                        "archive and script file have the same name, `{script}`"
                    )));
                }
                let archive = open(&archive_name)?;
                if archive.position().is_none() {
                    return Err(Error::usage(format!(
                        "a script file cannot point into `{archive_name}`, which is no file"
                    ))
                    .with_help("write the archive to a file, or without a script file (`ark:`)"));
                }
                Table::Both { archive, archive_name, script: open(&script)? }
            }
            (None, script) => {
                Table::Script(Names::read(&script.unwrap_or_default(), *policy, permissive)?)
            }
        };
        Ok(Self {
            table,
            mode: if text { Mode::Text } else { Mode::Binary },
            flush,
            report: WriteReport::default(),
            buffer: Vec::new(),
            failed: None,
            type_: PhantomData,
        })
    }

    /// Writes an object.
    ///
    /// # Errors
    ///
    /// Fails if the key is empty or holds white space or control characters, if the format has no way
    /// to say the value, or if writing fails: then all later calls fail as well, and no file appears.
    /// With `scp`, also if the script file has no name for the key (unless `p` says that such objects
    /// are left out).
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
        write_object(value, &mut self.buffer, self.mode).map_err(|error| error.of_key(key))?;
        if let Table::Script(names) = &self.table {
            if !names.write(key, &self.buffer)? {
                self.report.skipped += 1;
                return Ok(());
            }
        } else if let Err(error) = self.write_entry(key, prefix) {
            self.failed = Some(error.clone());
            return Err(error);
        }
        self.report.objects += 1;
        self.report.bytes += self.buffer.len() as u64;
        Ok(())
    }

    /// Writes the buffer, whose first bytes are the key, and the line of the script file.
    fn write_entry(&mut self, key: Key<'_>, prefix: u64) -> Result<()> {
        match &mut self.table {
            Table::Script(_) => {}
            Table::Archive(archive) => write(archive, &self.buffer)?,
            Table::Both { archive, archive_name, script } => {
                let Some(position) = archive.position() else {
                    return Err(Error::format(SCRIPT, Problem::Unsupported("no position".into())));
                };
                let mut line = key.0.to_vec();
                let offset = position + prefix;
                line.extend_from_slice(format!(" {archive_name}:{offset}\n").as_bytes());
                write(archive, &self.buffer)?;
                write(script, &line)?;
            }
        }
        if self.flush {
            self.table.outputs().into_iter().try_for_each(Output::flush_now)?;
        }
        Ok(())
    }

    /// Ends the table; its files appear. What was written.
    ///
    /// # Errors
    ///
    /// Fails if not everything could be written, or if a command failed.
    pub fn close(self) -> Result<WriteReport> {
        let (report, outputs) = self.into_outputs()?;
        Output::finish_together(outputs)?;
        Ok(report)
    }

    /// Ends the table without giving its files their names yet, so that they appear together with others: what
    /// was written, and the archive, then the script file.
    ///
    /// # Errors
    ///
    /// Fails if not everything could be written.
    pub fn into_outputs(self) -> Result<(WriteReport, Vec<Output>)> {
        if let Some(error) = self.failed {
            return Err(error);
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
    fn read(script: &str, policy: Policy, permissive: bool) -> Result<Self> {
        let mut lines = ScriptLines::open(script, &ReadOptions::with_policy(&policy))?;
        let (mut index, mut names) = (KeyIndex::default(), Vec::new());
        let mut number = 0;
        let file = lines.name().to_owned();
        while let Some((key, name)) = lines.next_pair()? {
            number += 1;
            let place = |error: Error| error.in_file(file.as_str()).at_line(number).of_key(key);
            let name = String::from_utf8_lossy(name).into_owned();
            // A name that cannot be written to is better known before hours of work.
            WxFilename::parse(&name).map_err(place)?;
            if index.insert(key, 0).is_none() {
                return Err(place(Error::format(SCRIPT, Problem::DuplicateKey)));
            }
            names.push(name);
        }
        Ok(Self { script: file, index, names, policy, permissive })
    }

    /// Writes an object to the name of its key; whether there is one.
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
        let name = WxFilename::parse(&self.names[number])?;
        let written = match &name {
            // Many small files: the disk is not waited for after each.
            WxFilename::File(path) => seqfeed_io::write_atomically(path, bytes, false),
            _ => Output::create(&name, &self.policy).and_then(|mut output| {
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

fn write(output: &mut Output, bytes: &[u8]) -> Result<()> {
    output.write_all(bytes).map_err(|error| output.error(error))
}

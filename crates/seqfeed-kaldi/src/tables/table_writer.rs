//! Writing tables.

use std::io::Write as _;
use std::marker::PhantomData;

use seqfeed_core::{Error, Key, Problem, Result};
use seqfeed_io::{Output, Policy, WxFilename};

use crate::holder::{Holder, Mode, write_object};
use crate::specifier::Wspecifier;
use crate::{ARCHIVE, SCRIPT};

/// Writes an archive (`ark:`), or an archive and the script file to it (`ark,scp:`).
///
/// Files appear under their names when the table is [closed](TableWriter::close), both together;
/// a writer that is dropped leaves nothing behind.
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
/// table.close()?;
/// assert_eq!(std::fs::read_to_string(&scp).unwrap(), format!("utt1 {ark}:5\n"));
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Debug)]
pub struct TableWriter<T> {
    archive: Output,
    archive_name: String,
    script: Option<Output>,
    mode: Mode,
    flush: bool,
    buffer: Vec<u8>,
    type_: PhantomData<fn(&T)>,
}

impl<T: Holder> TableWriter<T> {
    /// Opens a table for writing.
    ///
    /// # Errors
    ///
    /// Fails if the wspecifier is wrong or a file cannot be made. `scp:` alone is not supported yet.
    pub fn create(wspecifier: &str, policy: &Policy) -> Result<Self> {
        let Wspecifier { archive, script, text, flush, .. } = Wspecifier::parse(wspecifier)?;
        let Some(archive_name) = archive else {
            return Err(Error::usage("writing to the names of a script file is not supported yet")
                .with_help("write with ark,scp:ARCHIVE,SCRIPT"));
        };
        let archive = Output::create(&WxFilename::parse(&archive_name)?, policy)?;
        if script.is_some() && archive.position().is_none() {
            return Err(Error::usage(format!(
                "a script file needs an archive that is a file, not `{archive_name}`"
            )));
        }
        let script = script.map(|name| Output::create(&WxFilename::parse(&name)?, policy));
        let script = script.transpose()?;
        let mode = if text { Mode::Text } else { Mode::Binary };
        Ok(Self {
            archive,
            archive_name,
            script,
            mode,
            flush,
            buffer: Vec::new(),
            type_: PhantomData,
        })
    }

    /// Writes an object.
    ///
    /// # Errors
    ///
    /// Fails if the key is empty or holds white space or control characters, or if writing fails.
    pub fn write(&mut self, key: Key<'_>, value: &T) -> Result<()> {
        if key.0.is_empty() || !key.0.iter().all(|&byte| matches!(byte, 0x21..=0x7e | 0x80..=0xfe))
        {
            let expected = "a key without white space and control characters".into();
            let problem = Problem::Unexpected { expected, found: key.0.to_vec() };
            return Err(Error::format(ARCHIVE, problem).in_file(self.archive.name()));
        }
        self.buffer.clear();
        self.buffer.extend_from_slice(key.0);
        self.buffer.push(b' ');
        if let Some(script) = &mut self.script {
            let Some(position) = self.archive.position() else {
                return Err(Error::format(SCRIPT, Problem::Unsupported("no position".into())));
            };
            let offset = position + self.buffer.len() as u64;
            let mut line = self.buffer.clone();
            line.extend_from_slice(format!("{}:{offset}\n", self.archive_name).as_bytes());
            script.write_all(&line).map_err(|error| script.error(error))?;
        }
        write_object(value, &mut self.buffer, self.mode)?;
        self.archive.write_all(&self.buffer).map_err(|error| self.archive.error(error))?;
        if self.flush {
            self.archive.flush_now()?;
            self.script.as_mut().map_or(Ok(()), Output::flush_now)?;
        }
        Ok(())
    }

    /// Ends the table; its files appear.
    ///
    /// # Errors
    ///
    /// Fails if not everything could be written, or if a command failed.
    pub fn close(self) -> Result<()> {
        let mut outputs = vec![self.archive];
        outputs.extend(self.script);
        Output::finish_together(outputs)
    }
}

//! Reading a stream that passes once, and reading it again.

use std::fs::File;
use std::io::{self, Read, Write};

use seqfeed_core::{Error, Result};
use tempfile::TempPath;

use crate::Input;
use crate::spool::failed;

/// What was read of a stream so far, in a temporary file; see [`Input::recorded`].
///
/// Offsets in it are those of the stream, from where the recording began.
#[derive(Debug)]
pub struct Recording {
    name: String,
    path: TempPath,
}

pub(crate) struct Recorder {
    file: File,
}

impl Recording {
    pub(crate) fn start(name: &str) -> Result<(Recorder, Self)> {
        let directory = std::env::temp_dir();
        let place = || format!("temporary file in {}", directory.display());
        let file = tempfile::NamedTempFile::new_in(&directory)
            .map_err(|error| failed("opening", error, place()))?;
        let (file, path) = file.into_parts();
        Ok((Recorder { file }, Self { name: name.to_owned(), path }))
    }

    /// What was read so far, from its start; it can be [gone to](Input::seek) any place of it. Reads
    /// what is recorded later, too.
    ///
    /// # Errors
    ///
    /// When the temporary file cannot be opened.
    pub fn open(&self) -> Result<Input> {
        let fail = |error| Error::io("opening", error).in_file(self.path.display().to_string());
        let file = File::open(&self.path).map_err(fail)?;
        let len = file.metadata().map_err(fail)?.len();
        Ok(Input::plain(self.name.clone(), file, len))
    }
}

impl Recorder {
    pub(crate) fn recording(self, reader: Box<dyn Read + Send>) -> impl Read + Send + 'static {
        Recorded { reader, file: self.file }
    }
}

struct Recorded {
    reader: Box<dyn Read + Send>,
    file: File,
}

impl Read for Recorded {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buf)?;
        self.file.write_all(&buf[..count]).map_err(|error| {
            let message = format!("the temporary copy cannot be written ({error}); set TMPDIR");
            io::Error::new(error.kind(), message)
        })?;
        Ok(count)
    }
}

//! Reading a stream that passes once, and reading it again.

use std::fs::File;
use std::io::{self, Read, Write};

use seqfeed_core::Result;

use crate::temporary::{TemporaryName, failed, unnamed_file};
use crate::{Input, shown_name};

/// What was read of a stream so far, in a temporary file; see [`Input::recorded`].
///
/// Offsets in it are those of the stream, from where the recording began.
#[derive(Debug)]
pub struct Recording {
    name: String,
    path: TemporaryName,
    line_limit: usize,
}

pub(crate) struct Recorder {
    file: File,
}

impl Recording {
    pub(crate) fn start(name: &str, line_limit: usize) -> Result<(Recorder, Self)> {
        let directory = std::env::temp_dir();
        let place = || format!("temporary file in {}", shown_name(&directory));
        let (file, path) =
            unnamed_file(&directory).map_err(|error| failed("opening", error, place()))?;
        Ok((Recorder { file }, Self { name: name.to_owned(), path, line_limit }))
    }

    /// What was read so far, from its start; it can be [gone to](Input::seek) any place of it.
    /// Reads what is recorded later, too.
    ///
    /// # Errors
    ///
    /// When the temporary file cannot be opened.
    pub fn open(&self) -> Result<Input> {
        let fail = |error| failed("opening", error, shown_name(self.path.path()));
        let file = File::open(self.path.path()).map_err(fail)?;
        let len = file.metadata().map_err(fail)?.len();
        Ok(Input::plain(self.name.clone(), file, len, 0, self.line_limit))
    }
}

impl Input {
    /// Copies what is read from here on into a temporary file, from which it can be read again, at
    /// any place and before the end: how a stream that passes once is read out of order.
    ///
    /// # Errors
    ///
    /// When no temporary file can be made.
    pub fn recorded(self) -> Result<(Self, Recording)> {
        let (recorder, recording) = Recording::start(self.name(), self.line_limit())?;
        Ok((self.through(|inner| Box::new(recorder.recording(inner))), recording))
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
            io::Error::other(failed("writing", error, "the temporary copy".to_owned()))
        })?;
        Ok(count)
    }
}

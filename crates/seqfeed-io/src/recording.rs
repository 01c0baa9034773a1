//! Reads a stream that can be read only once, and allows it to be read again.

use std::fs::File;
use std::io::{self, Read, Write};

use seqfeed_core::Result;

use crate::temporary::{TemporaryName, failed, unnamed_file};
use crate::{Input, shown_name};

/// The part of a stream that was read so far, in a temporary file; see [`Input::recorded`].
///
/// Offsets count in the stream from where the recording began.
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

    /// The part of the stream that was read so far, from its start. It can [seek](Input::seek) to
    /// any place, and also reads what is recorded later.
    ///
    /// # Errors
    ///
    /// If the temporary file cannot be opened.
    pub fn open(&self) -> Result<Input> {
        let fail = |error| failed("opening", error, shown_name(self.path.path()));
        let file = File::open(self.path.path()).map_err(fail)?;
        let len = file.metadata().map_err(fail)?.len();
        Ok(Input::plain(self.name.clone(), file, len, 0, self.line_limit))
    }
}

impl Input {
    /// Copies everything that is read from here on into a temporary file. There it can be read
    /// again at any place, even before the stream ends. So a stream that can be read only once can
    /// be read out of order.
    ///
    /// # Errors
    ///
    /// If no temporary file can be made.
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

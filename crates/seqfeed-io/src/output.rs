//! Writing to whatever a name means.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::process::ChildStdin;

use seqfeed_core::{Error, Result};

use crate::atomic::{Pending, Sealed, Target};
use crate::buffered::CAPACITY;
use crate::interrupts::Waiting;
use crate::pipe::{self, Running};
use crate::standard::{OUTPUT_NAME, Stdout};
use crate::{Policy, WxFilename};

/// A named output that appears only when it is complete.
///
/// A file is written under a temporary name in the same directory and gets its own with
/// [`finish`](Self::finish); until then, what stood there before stays. An output that is dropped
/// unfinished leaves no trace, as far as that can be: what a command or a device has got, it has.
///
/// What exists and is no regular file (`/dev/null`, a named pipe) is written to directly.
pub struct Output {
    name: String,
    sink: Sink,
    written: u64,
}

enum Sink {
    File { writer: BufWriter<File>, pending: Pending },
    Direct { writer: BufWriter<File>, passes: bool },
    // The writer comes first: the pipe must be closed before the command is waited for.
    Pipe { writer: BufWriter<Waiting<ChildStdin>>, running: Running },
    Stdout(Stdout),
}

/// What is left to be done when all is written.
enum Finished {
    Renaming(Sealed, String),
    Nothing,
}

impl Output {
    /// Opens a name for writing.
    ///
    /// # Errors
    ///
    /// When a file can't be made in its directory, an existing one may not be written to, or the
    /// name is that of a directory; when it is a command and the policy does not allow commands.
    pub fn create(name: &WxFilename, policy: &Policy) -> Result<Self> {
        let (name, sink) = match name {
            WxFilename::Stdout => (OUTPUT_NAME.to_owned(), Sink::Stdout(Stdout)),
            WxFilename::Pipe(command) => {
                policy.check_pipe(name)?;
                let (running, stdin) = pipe::write_to(command)?;
                let writer = BufWriter::with_capacity(CAPACITY, stdin);
                (name.to_string(), Sink::Pipe { writer, running })
            }
            WxFilename::File(path) => {
                let fail = |error| Error::io("creating", error).in_file(path.display().to_string());
                let sink = match Target::find(path).map_err(fail)? {
                    Target::Direct(file, metadata) => {
                        let passes = metadata.file_type().is_fifo();
                        Sink::Direct { writer: BufWriter::with_capacity(CAPACITY, file), passes }
                    }
                    Target::Renamed(pending, file) => {
                        Sink::File { writer: BufWriter::with_capacity(CAPACITY, file), pending }
                    }
                };
                (path.display().to_string(), sink)
            }
        };
        Ok(Self { name, sink, written: 0 })
    }

    /// How much was written so far when it is a file: where the next byte will stand. None for
    /// commands, named pipes and standard output, which nothing can point into.
    #[must_use]
    pub fn position(&self) -> Option<u64> {
        match &self.sink {
            Sink::File { .. } | Sink::Direct { passes: false, .. } => Some(self.written),
            Sink::Direct { passes: true, .. } | Sink::Pipe { .. } | Sink::Stdout(_) => None,
        }
    }

    /// The name for messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Turns an error from writing to this output into one that says where it happened.
    #[must_use]
    pub fn error(&self, source: io::Error) -> Error {
        write_error(source, &self.name)
    }

    /// Hands all that was written so far to the operating system, for readers who wait for it.
    /// A file still appears only when it is finished.
    ///
    /// # Errors
    ///
    /// When it fails to write.
    pub fn flush_now(&mut self) -> Result<()> {
        self.flush().map_err(|error| write_error(error, &self.name))
    }

    /// Writes over bytes that were written before: a header that is known only at the end. False, and
    /// nothing happens, where nothing can be gone back to (commands, named pipes, standard output).
    ///
    /// # Errors
    ///
    /// When the operating system fails to write.
    pub fn write_over(&mut self, bytes: &[u8], offset: u64) -> Result<bool> {
        self.flush_now()?;
        let file = match &self.sink {
            Sink::File { writer, .. } => writer.get_ref(),
            Sink::Direct { .. } | Sink::Pipe { .. } | Sink::Stdout(_) => return Ok(false),
        };
        file.write_all_at(bytes, offset).map_err(|error| write_error(error, &self.name))?;
        Ok(true)
    }

    /// Whether [`write_over`](Self::write_over) can go back in this output: it is a regular file.
    #[must_use]
    pub fn can_write_over(&self) -> bool {
        matches!(self.sink, Sink::File { .. })
    }

    /// Completes the output. A file is on the disk before it gets its name, and keeps the
    /// permissions of the one it replaces. A command is waited for.
    ///
    /// # Errors
    ///
    /// When the operating system fails to write (what stood under the name then stays), or with
    /// [`ErrorKind::Command`](seqfeed_core::ErrorKind::Command) when a command failed.
    pub fn finish(self) -> Result<()> {
        self.complete()?.appear()
    }

    /// Completes several outputs that belong together, such as an archive and its index: all are
    /// complete before the first appears, in the order given.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish); when one of them fails to be completed, none appears.
    pub fn finish_together(outputs: Vec<Self>) -> Result<()> {
        let finished: Vec<_> = outputs.into_iter().map(Self::complete).collect::<Result<_>>()?;
        finished.into_iter().try_for_each(Finished::appear)
    }

    fn complete(self) -> Result<Finished> {
        let Self { name, sink, .. } = self;
        let fail = |error| write_error(error, &name);
        match sink {
            Sink::File { writer, pending } => {
                let file = writer.into_inner().map_err(|error| fail(error.into_error()))?;
                let sealed = pending.seal(file, true).map_err(fail)?;
                return Ok(Finished::Renaming(sealed, name));
            }
            Sink::Direct { mut writer, .. } => writer.flush().map_err(fail)?,
            Sink::Pipe { mut writer, running } => {
                let flushed = writer.flush();
                // Not its drop, which would try to write again.
                drop(writer.into_parts());
                // A command that failed explains why it did not take everything.
                running.wait()?;
                flushed.map_err(fail)?;
            }
            Sink::Stdout(mut stdout) => stdout.flush().map_err(fail)?,
        }
        Ok(Finished::Nothing)
    }
}

impl Finished {
    fn appear(self) -> Result<()> {
        match self {
            Self::Renaming(sealed, name) => {
                sealed.appear().map_err(|error| Error::io("renaming", error).in_file(name))
            }
            Self::Nothing => Ok(()),
        }
    }
}

fn write_error(source: io::Error, name: &str) -> Error {
    let help = match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Some("the disk is full"),
        io::ErrorKind::BrokenPipe => Some("the reader at the other end has gone"),
        _ => None,
    };
    let error = Error::io("writing", source).in_file(name);
    match help {
        Some(help) => error.with_help(help),
        None => error,
    }
}

impl Sink {
    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::File { writer, .. } | Self::Direct { writer, .. } => writer,
            Self::Pipe { writer, .. } => writer,
            Self::Stdout(stdout) => stdout,
        }
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output")
            .field("name", &self.name)
            .field("written", &self.written)
            .finish_non_exhaustive()
    }
}

impl Write for Output {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let count = self.sink.writer().write(buf)?;
        self.written += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.writer().flush()
    }
}

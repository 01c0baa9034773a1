//! Outputs, for any name.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, IoSlice, Seek, Write};
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::process::ChildStdin;

use seqfeed_core::{Error, Result};

use crate::atomic::{Pending, Sealed, Target};
use crate::buffered::CAPACITY;
use crate::interrupts::Waiting;
use crate::opener::no_store;
use crate::passing::Passing;
use crate::pipe::{self, Running};
use crate::standard_output::{self, Stdout};
use crate::{Location, Opener, WxFilename, shown_name};

/// A named output that appears only when it is complete.
///
/// A file is written under a temporary name in the same directory, and gets its own name in
/// [`finish`](Self::finish). Until then the old file stays. An output that is dropped unfinished
/// leaves no trace if possible. But standard output, commands, named pipes and devices keep all
/// bytes that were written.
///
/// An existing target that is not a regular file (`/dev/null`, a named pipe) is written to
/// directly.
pub struct Output {
    name: String,
    wxfilename: WxFilename,
    sink: Sink,
    written: u64,
    points_into_others: bool,
}

enum Sink {
    /// `pending` is `None` once the file has its name.
    File {
        writer: BufWriter<File>,
        pending: Option<Pending>,
    },
    /// A file under its own name, which others read while it grows.
    Growing(File),
    Direct {
        writer: Passing<File>,
        passes: bool,
    },
    // The writer comes first: the pipe must be closed before the wait for the command.
    Pipe {
        writer: Passing<Waiting<ChildStdin>>,
        running: Running,
    },
    Stdout(Stdout),
}

/// The steps that remain when all is written.
enum Finished {
    Renaming { sealed: Sealed, name: String, points_into_others: bool },
    Nothing,
}

impl Output {
    /// Opens a name for writing.
    ///
    /// # Errors
    ///
    /// If a file cannot be made in its directory, if an existing file may not be written to, or if
    /// the name is a directory; or if it is a command and the opener does not allow commands.
    pub fn create(name: &WxFilename, opener: &Opener) -> Result<Self> {
        let wxfilename = name.clone();
        let (name, sink) = match name.location() {
            Location::Url(url) => return Err(no_store(url)),
            Location::Standard => (standard_output::NAME.to_owned(), Sink::Stdout(Stdout)),
            Location::Command(command) => {
                opener.check_pipe(name)?;
                let (running, stdin) = pipe::write_to(command)?;
                let writer = Passing::new(stdin);
                (name.to_string(), Sink::Pipe { writer, running })
            }
            Location::Path(path) => {
                let fail = |error| Error::io("creating", error).in_file(shown_name(path));
                let sink = match Target::find(path).map_err(fail)? {
                    Target::Direct(file, metadata) => {
                        let passes = metadata.file_type().is_fifo();
                        Sink::Direct { writer: Passing::new(file), passes }
                    }
                    Target::Renamed(pending, file) => {
                        let writer = BufWriter::with_capacity(CAPACITY, file);
                        Sink::File { writer, pending: Some(pending) }
                    }
                };
                (shown_name(path), sink)
            }
        };
        Ok(Self { name, wxfilename, sink, written: 0, points_into_others: false })
    }

    /// Marks this output as one that points into the outputs it is finished together with, as a
    /// script file does. An old file of its name is removed before the first of them appears. So it
    /// never points into new files, even if the process is killed in between.
    pub fn set_points_into_others(&mut self) {
        self.points_into_others = true;
    }

    /// Whether readers get the bytes while they are written: standard output, a command, a device
    /// or a named pipe.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        !matches!(self.sink, Sink::File { .. } | Sink::Growing(_))
    }

    /// Gives a file its name now, while it is still being written, and replaces the old file. This
    /// is for readers who learn of it before it is complete. It then stays, whatever happens.
    ///
    /// # Errors
    ///
    /// If it cannot be renamed.
    pub fn appear_now(&mut self) -> Result<()> {
        if let Sink::File { writer, pending } = &mut self.sink
            && let Some(pending) = pending.take()
        {
            let appeared = pending.appear_now(writer.get_ref());
            appeared.map_err(|error| Error::io("renaming", error).in_file(self.name.as_str()))?;
        }
        Ok(())
    }

    /// The number of bytes written so far.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Opens a name for writing in place. An empty file appears now, and readers find each
    /// [`write_all`](Write::write_all) in it at once. Written bytes stay, even if the output is
    /// never finished or the process is killed.
    ///
    /// # Errors
    ///
    /// The same as [`create`](Self::create).
    pub fn create_in_place(name: &WxFilename, opener: &Opener) -> Result<Self> {
        let Some(path) = name.path() else { return Self::create(name, opener) };
        let fail = |error| Error::io("creating", error).in_file(shown_name(path));
        let file = File::create(path).map_err(fail)?;
        let metadata = file.metadata().map_err(fail)?;
        let passes = metadata.file_type().is_fifo();
        let sink = match metadata.is_file() {
            // Without a buffer, bytes that are written together arrive at once and whole.
            true => Sink::Growing(file),
            false => Sink::Direct { writer: Passing::new(file), passes },
        };
        let (wxfilename, name) = (name.clone(), shown_name(path));
        Ok(Self { name, wxfilename, sink, written: 0, points_into_others: false })
    }

    /// The position of the next byte, if it is a file. `None` for commands, named pipes and
    /// standard output, since no script file can point into them.
    #[must_use]
    pub fn position(&self) -> Option<u64> {
        match &self.sink {
            Sink::File { .. } | Sink::Growing(_) | Sink::Direct { passes: false, .. } => {
                Some(self.written)
            }
            Sink::Direct { passes: true, .. } | Sink::Pipe { .. } | Sink::Stdout(_) => None,
        }
    }

    /// The name for messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name by which it was opened.
    #[must_use]
    pub fn wxfilename(&self) -> &WxFilename {
        &self.wxfilename
    }

    /// Adds the place to an error from writing to this output.
    #[must_use]
    pub fn error(&self, source: io::Error) -> Error {
        write_error(source, &self.name)
    }

    /// Passes all written bytes to the operating system, for readers who wait for them. A file
    /// still appears only when it is finished.
    ///
    /// # Errors
    ///
    /// If it fails to write.
    pub fn flush_now(&mut self) -> Result<()> {
        self.flush().map_err(|error| write_error(error, &self.name))
    }

    /// Removes bytes that were written [in place](Self::create_in_place) behind a position: the
    /// part of an entry that failed in its middle. Does nothing for other outputs: their bytes have
    /// gone, or never appear.
    pub fn take_back_to(&mut self, position: u64) {
        if let Sink::Growing(file) = &mut self.sink
            // If this fails too, the failed write has already given the error.
            && file.set_len(position).is_ok()
            && file.seek(io::SeekFrom::Start(position)).is_ok()
        {
            self.written = position;
        }
    }

    /// Writes two buffers one after another, in one call if the operating system can.
    ///
    /// # Errors
    ///
    /// The same as [`Write::write_all`].
    pub fn write_both(&mut self, first: &[u8], second: &[u8]) -> io::Result<()> {
        let mut slices = [IoSlice::new(first), IoSlice::new(second)];
        let mut left = &mut slices[..];
        // Skips empty buffers.
        IoSlice::advance_slices(&mut left, 0);
        while !left.is_empty() {
            match self.write_vectored(left) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => IoSlice::advance_slices(&mut left, count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Overwrites earlier bytes: a header that is known only at the end. Returns false and does
    /// nothing for outputs that cannot go back (commands, named pipes, standard output).
    ///
    /// # Errors
    ///
    /// If the operating system fails to write.
    pub fn write_over(&mut self, bytes: &[u8], offset: u64) -> Result<bool> {
        self.flush_now()?;
        let file = match &self.sink {
            Sink::File { writer, .. } => writer.get_ref(),
            Sink::Growing(file) => file,
            Sink::Direct { .. } | Sink::Pipe { .. } | Sink::Stdout(_) => return Ok(false),
        };
        file.write_all_at(bytes, offset).map_err(|error| write_error(error, &self.name))?;
        Ok(true)
    }

    /// Whether [`write_over`](Self::write_over) works for this output: it is a regular file.
    #[must_use]
    pub fn can_write_over(&self) -> bool {
        matches!(self.sink, Sink::File { .. } | Sink::Growing(_))
    }

    /// Completes the output. A file is on the disk before it gets its name, and keeps the
    /// permissions of the file that it replaces. For a command it waits.
    ///
    /// # Errors
    ///
    /// If the operating system fails to write (the old file then stays), or with
    /// [`ErrorKind::Command`](seqfeed_core::ErrorKind::Command) if a command failed.
    pub fn finish(self) -> Result<()> {
        self.complete()?.appear()
    }

    /// Completes several outputs that belong together, such as an archive and its script file. All
    /// are complete before the first appears; they appear in the given order.
    ///
    /// # Errors
    ///
    /// The same as [`finish`](Self::finish). If one of them cannot be completed, none appears.
    pub fn finish_together(outputs: Vec<Self>) -> Result<()> {
        Self::finish_together_with(outputs, || Ok(()))
    }

    /// The same as [`finish_together`](Self::finish_together), with an action when all are
    /// complete, before the first appears.
    ///
    /// # Errors
    ///
    /// The same as [`finish_together`](Self::finish_together). If the action fails, none appears.
    pub fn finish_together_with(
        outputs: Vec<Self>,
        before: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let finished: Vec<_> = outputs.into_iter().map(Self::complete).collect::<Result<_>>()?;
        if finished.len() > 1 {
            finished.iter().try_for_each(Finished::remove_old)?;
        }
        before()?;
        finished.into_iter().try_for_each(Finished::appear)
    }

    fn complete(self) -> Result<Finished> {
        let Self { name, sink, points_into_others, .. } = self;
        let fail = |error| write_error(error, &name);
        match sink {
            Sink::File { writer, pending } => {
                let file = writer.into_inner().map_err(|error| fail(error.into_error()))?;
                if let Some(pending) = pending {
                    let sealed = pending.seal(file, true).map_err(fail)?;
                    return Ok(Finished::Renaming { sealed, name, points_into_others });
                }
            }
            Sink::Growing(_) => {}
            Sink::Direct { writer, .. } => writer.close().map_err(fail)?,
            Sink::Pipe { writer, running } => {
                let flushed = writer.close();
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
            Self::Renaming { sealed, name, .. } => {
                sealed.appear().map_err(|error| Error::io("renaming", error).in_file(name))
            }
            Self::Nothing => Ok(()),
        }
    }

    /// Removes a file that would point into files that are replaced.
    fn remove_old(&self) -> Result<()> {
        match self {
            Self::Renaming { sealed, name, points_into_others: true } => sealed
                .remove_old()
                .map_err(|error| Error::io("removing", error).in_file(name.as_str())),
            _ => Ok(()),
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
            Self::File { writer, .. } => writer,
            Self::Direct { writer, .. } => writer,
            Self::Growing(file) => file,
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

    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        let count = self.sink.writer().write_vectored(bufs)?;
        self.written += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.writer().flush()
    }
}

//! A stream of decoded bytes, for any name.

use std::fmt;
use std::io::{self, BufRead, Read, SeekFrom};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use seqfeed_core::{Error, Problem, Result};

use crate::buffered::Buffered;
use crate::compression::ENOUGH;
use crate::decode::decode;
use crate::interrupts::Waiting;
use crate::pipe::{self, FailedCommand, Running};
use crate::read_at::{Cursor, Seekable};
use crate::same_file::open_file;
use crate::standard_input::{self, Stdin};
use crate::{Compression, LINE_LIMIT, Location, Opener, RxFilename, shown_name};

/// A stream of bytes that is read once from front to back. It is decompressed if its first bytes
/// say so.
///
/// All inputs from standard input share one buffer, so a second one continues where the first
/// stopped. Dropping the input of a command closes the pipe and waits for the command to end.
///
/// At the end of a command's output the command's exit code is checked. If it failed, reading there
/// gives an error with [`ErrorKind::Command`](seqfeed_core::ErrorKind::Command). So nobody takes
/// the partial output of a failed command for all of it. A caller that reads only a part of the
/// output (such as one object) checks by [finishing](Self::finish).
pub struct Input {
    name: String,
    compression: Compression,
    // Before the command: the pipe must be closed before the wait for the command.
    stream: Stream,
    command: Option<Command>,
    /// Whether it is a device (a character or block device, as `/dev/zero`), which may have no end.
    device: bool,
    line_limit: usize,
}

/// The callback for a command that failed.
pub type OnFailedCommand = Arc<dyn Fn(&FailedCommand) + Send + Sync>;

enum Stream {
    Own(Buffered),
    Stdin(Stdin),
}

struct Command {
    running: Running,
    /// Whether all of its output was read.
    ended: Arc<AtomicBool>,
    on_failure: Option<OnFailedCommand>,
}

impl Command {
    /// At the end of its output: fails if the command failed, or calls the callback.
    fn end(&mut self) -> io::Result<()> {
        if self.ended.load(Ordering::Relaxed) { self.judge() } else { Ok(()) }
    }

    /// Waits for the command. Fails if it failed, unless only because nobody read on.
    fn judge(&mut self) -> io::Result<()> {
        let left = !self.ended.load(Ordering::Relaxed);
        let failed = self.running.failed()?;
        let Some(failed) = failed.filter(|failed| !(left && failed.by_broken_pipe())) else {
            return Ok(());
        };
        match &mut self.on_failure {
            None => Err(io::Error::other(Error::from(failed.clone()))),
            Some(tell) => {
                // Call it only once.
                std::mem::replace(tell, Arc::new(|_| {}))(failed);
                Ok(())
            }
        }
    }
}

impl Input {
    /// Opens a name for reading.
    ///
    /// gzip, bzip2 and zstd are recognised by the first bytes, also in pipes and on standard input.
    /// So opening waits for the first bytes. An offset counts in the decoded stream: in a
    /// compressed file, everything before it is read and thrown away.
    ///
    /// # Errors
    ///
    /// If the name cannot be opened, is a directory, or is shorter than its offset; or if it is a
    /// command and the opener does not allow commands.
    pub fn open(name: &RxFilename, opener: &Opener) -> Result<Self> {
        Self::open_telling(name, opener, None)
    }

    /// Opens a name for reading. With `on_failure` it behaves as Kaldi: a command that failed is no
    /// error of this input, but the callback is called once, at the end of the output or when the
    /// input is dropped.
    ///
    /// # Errors
    ///
    /// The same as [`open`](Self::open).
    pub fn open_telling(
        name: &RxFilename,
        opener: &Opener,
        on_failure: Option<OnFailedCommand>,
    ) -> Result<Self> {
        let offset = name.offset().unwrap_or(0);
        let mut input = match name.location() {
            Location::Standard => {
                let stdin = Stdin::open()
                    .map_err(|error| Error::io("reading", error).in_file(standard_input::NAME))?;
                let name = standard_input::NAME.to_owned();
                Ok(Self::new(name, stdin.compression(), Stream::Stdin(stdin)))
            }
            Location::Command(command) => {
                opener.check_pipe(name)?;
                let (running, output) = pipe::read_from(command)?;
                let ended = output.ended();
                let mut input = Self::decoded(name.to_string(), Box::new(output))?;
                input.command = Some(Command { running, ended, on_failure });
                Ok(input)
            }
            Location::Path(path) => Self::open_file(path, offset),
            Location::Url(url) => {
                let object = opener.object(url)?;
                let name = url.to_string();
                let len = object.len();
                let len = len.map_err(|error| Error::io("opening", error).in_file(&name))?;
                Self::of_seekable(name, Cursor::new(object), len, offset)
            }
        }?;
        input.line_limit = opener.line_limit();
        Ok(input)
    }

    fn new(name: String, compression: Compression, stream: Stream) -> Self {
        Self { name, compression, stream, command: None, device: false, line_limit: LINE_LIMIT }
    }

    /// A stream from any reader, with a name for messages. It is decompressed like a file.
    ///
    /// ```
    /// use std::io::Read;
    /// use seqfeed_io::Input;
    ///
    /// let mut text = String::new();
    /// Input::from_reader("memory", &b"a b c"[..]).read_to_string(&mut text).unwrap();
    /// assert_eq!(text, "a b c");
    /// ```
    pub fn from_reader(name: impl Into<String>, reader: impl Read + Send + 'static) -> Self {
        let (compression, stream) = decode(Box::new(reader)).unwrap_or_else(|error| {
            // The reader fails with its first bytes, and so will the input.
            (Compression::None, Buffered::new(Box::new(Failed(Some(error))), 0))
        });
        Self::new(name.into(), compression, Stream::Own(stream))
    }

    fn open_file(path: &Path, offset: u64) -> Result<Self> {
        let name = shown_name(path);
        let fail = |action, error| Error::io(action, error).in_file(&name);
        let file = open_file(path).map_err(|error| fail("opening", error))?;
        let metadata = file.metadata().map_err(|error| fail("opening", error))?;
        if metadata.is_dir() {
            return Err(fail("opening", io::ErrorKind::IsADirectory.into()));
        }
        if metadata.is_file() {
            return Self::of_seekable(name, file, metadata.len(), offset);
        }
        let kind = metadata.file_type();
        let mut input = Self::decoded(name, Box::new(Waiting(file)))?;
        input.device = kind.is_char_device() || kind.is_block_device();
        input.from(offset)
    }

    /// A regular file or an object of a store, read from an offset. It must stand at its start.
    fn of_seekable(
        name: String,
        mut file: impl Seekable + 'static,
        len: u64,
        offset: u64,
    ) -> Result<Self> {
        let fail = |action, error| Error::io(action, error).in_file(&name);
        if offset == 0 {
            let mut stream = Buffered::of_seekable(file, len, 0);
            stream.fill_buf().map_err(|error| fail("reading", error).at_byte(0))?;
            return match Compression::detect(stream.buffered()) {
                Compression::None => Ok(Self::new(name, Compression::None, Stream::Own(stream))),
                _ => Self::decoded(name, Box::new(stream)),
            };
        }
        let mut first = [0; ENOUGH];
        let count = read_first(&mut file, &mut first).map_err(|error| fail("reading", error))?;
        let is_plain = Compression::detect(&first[..count]) == Compression::None;
        if is_plain && offset > len {
            return Err(beyond_end(&name, offset, len));
        }
        let start = if is_plain { offset } else { 0 };
        file.seek(SeekFrom::Start(start)).map_err(|error| fail("seeking", error))?;
        match is_plain {
            true => Ok(Self::plain(name, file, len, offset, LINE_LIMIT)),
            false => Self::decoded(name, Box::new(file))?.from(offset),
        }
    }

    /// The same stream from an offset. The bytes before it are read and thrown away.
    fn from(mut self, offset: u64) -> Result<Self> {
        let skipped = io::copy(&mut (&mut self).take(offset), &mut io::sink())
            .map_err(|error| self.error(error))?;
        match skipped < offset {
            true => Err(beyond_end(&self.name, offset, skipped)),
            false => Ok(self),
        }
    }

    /// An uncompressed stream at a position.
    pub(crate) fn plain(
        name: String,
        file: impl Seekable + 'static,
        len: u64,
        position: u64,
        line_limit: usize,
    ) -> Self {
        let stream = Stream::Own(Buffered::of_seekable(file, len, position));
        let mut input = Self::new(name, Compression::None, stream);
        input.line_limit = line_limit;
        input
    }

    fn decoded(name: String, reader: Box<dyn Read + Send>) -> Result<Self> {
        match decode(reader) {
            Ok((compression, stream)) => Ok(Self::new(name, compression, Stream::Own(stream))),
            Err(error) => Err(Error::io("reading", error).in_file(name).at_byte(0)),
        }
    }

    /// The name for messages. For a file with an offset, the name of the file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The offset of the next byte in the decoded stream. In a file opened at an offset it counts
    /// from the start of the file. On standard input it counts from the beginning of the first
    /// reader.
    #[must_use]
    pub fn position(&self) -> u64 {
        match &self.stream {
            Stream::Own(stream) => stream.position(),
            Stream::Stdin(stdin) => stdin.position(),
        }
    }

    /// Refuses a device, since it may have no end. Standard input does not count as a device.
    pub(crate) fn refuse_device(&self) -> Result<()> {
        if !self.device {
            return Ok(());
        }
        let what = "this is a device, which may have no end";
        Err(Error::io("opening", io::Error::new(io::ErrorKind::InvalidInput, what))
            .in_file(&self.name)
            .with_help("a regular file is needed, a pipe or standard input"))
    }

    /// The most bytes of a key, a word or a line, as set in the [opener](Opener::line_limit); for
    /// an input from a reader, [`LINE_LIMIT`].
    #[must_use]
    pub fn line_limit(&self) -> usize {
        self.line_limit
    }

    /// The compression of the data behind this stream, or [`None`](Compression::None).
    #[must_use]
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// At least the next `count` bytes, contiguous, without consuming them; fewer only at the end
    /// of the stream. The buffer grows to hold them.
    ///
    /// # Errors
    ///
    /// If reading fails.
    pub fn ensure(&mut self, count: usize) -> io::Result<&[u8]> {
        if self.command.is_some() && count > 0 {
            let read = self.stream.ensure(count).map(<[u8]>::is_empty);
            if self.cause(read)? {
                self.ended()?;
            }
        }
        self.stream.ensure(count)
    }

    /// The stream has ended: check how the command ended.
    fn ended(&mut self) -> io::Result<()> {
        self.command.as_mut().map_or(Ok(()), Command::end)
    }

    /// If a decoder fails because a command did, the command's failure is the error.
    fn cause<T>(&mut self, read: io::Result<T>) -> io::Result<T> {
        if read.is_err() {
            self.ended()?;
        }
        read
    }

    /// The same input, with another reader between from here on.
    pub(crate) fn through(
        mut self,
        wrap: impl FnOnce(Box<dyn Read + Send>) -> Box<dyn Read + Send>,
    ) -> Self {
        let inner: Box<dyn Read + Send> = match self.stream.take() {
            Stream::Own(stream) => Box::new(stream),
            Stream::Stdin(stdin) => Box::new(stdin),
        };
        self.stream = Stream::Own(Buffered::new(wrap(inner), 0));
        self
    }

    /// The number of bytes left, if known: in an uncompressed regular file. If it is smaller than
    /// `wanted`, the operating system is asked again, since the file may have grown.
    pub fn remaining(&mut self, wanted: u64) -> Option<u64> {
        match &mut self.stream {
            Stream::Own(stream) => stream.remaining(wanted),
            Stream::Stdin(_) => None,
        }
    }

    /// Skips up to `count` bytes. Returns how many; zero only at the end. An uncompressed regular
    /// file skips without reading.
    ///
    /// # Errors
    ///
    /// If reading fails.
    pub fn skip(&mut self, count: u64) -> io::Result<u64> {
        if let (Stream::Own(stream), None) = (&mut self.stream, &self.command) {
            return stream.skip(count);
        }
        let skipped = (self.fill_buf()?.len() as u64).min(count);
        self.consume(skipped as usize);
        Ok(skipped)
    }

    /// Goes to a position of an uncompressed regular file, and keeps the buffered bytes if they are
    /// of use. For any other stream it does nothing and returns false.
    ///
    /// # Errors
    ///
    /// If the operating system fails.
    pub fn seek(&mut self, position: u64) -> io::Result<bool> {
        match &mut self.stream {
            Stream::Own(stream) => stream.seek(position),
            Stream::Stdin(_) => Ok(false),
        }
    }

    /// Adds the place to an error from reading this stream (such as damaged gzip data).
    #[must_use]
    pub fn error(&self, source: io::Error) -> Error {
        let source = match source.downcast() {
            Ok(error) => return error,
            Err(source) => source,
        };
        let of_decoder = self.compression != Compression::None && source.raw_os_error().is_none();
        let error = Error::io("reading", source).in_file(&self.name).at_byte(self.position());
        if of_decoder {
            return error.with_help(format!(
                "the {} data are damaged or cut short; the place is that in the decompressed data",
                self.compression
            ));
        }
        error
    }

    /// Ends reading. Closes the pipe of a command and waits for the command.
    ///
    /// # Errors
    ///
    /// With [`ErrorKind::Command`](seqfeed_core::ErrorKind::Command) if a command failed. A command
    /// with more output is left alone: ending because nobody reads on (`SIGPIPE`) is no failure.
    pub fn finish(mut self) -> Result<()> {
        self.close()
    }

    fn close(&mut self) -> Result<()> {
        let Some(mut command) = self.command.take() else { return Ok(()) };
        // Looks whether there is more output. An error in unread output does not matter.
        let _ = self.stream.fill_buf();
        drop(self.stream.take());
        command.judge().map_err(|error| Error::io("waiting for the command", error))
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        if self.command.as_ref().is_some_and(|command| command.on_failure.is_some()) {
            // It cannot fail: the callback has been called.
            let _ = self.close();
        }
    }
}

impl Stream {
    /// Moves this stream out, and leaves an empty one.
    fn take(&mut self) -> Self {
        std::mem::replace(self, Self::Own(Buffered::new(Box::new(io::empty()), 0)))
    }

    fn ensure(&mut self, count: usize) -> io::Result<&[u8]> {
        match self {
            Self::Own(stream) => stream.ensure(count),
            Self::Stdin(stdin) => stdin.ensure(count),
        }
    }

    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self {
            Self::Own(stream) => stream.fill_buf(),
            Self::Stdin(stdin) => stdin.fill_buf(),
        }
    }
}

/// Fills a buffer as far as the reader has bytes.
fn read_first(reader: &mut impl Read, buf: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buf.len() {
        match reader.read(&mut buf[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// A reader that returns an error that occurred before.
struct Failed(Option<io::Error>);

impl Read for Failed {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(self.0.take().unwrap_or_else(|| io::Error::other("reading has failed before")))
    }
}

fn beyond_end(name: &str, offset: u64, len: u64) -> Error {
    let problem = Problem::OutOfRange {
        what: "the offset of the name",
        found: i64::try_from(offset).unwrap_or(i64::MAX),
        allowed: format!("at most {len}, the length of the file").into(),
    };
    Error::format("file", problem)
        .in_file(name)
        .at_byte(offset)
        .with_help("the file is shorter than when the name was written; make its script file again")
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input")
            .field("name", &self.name)
            .field("compression", &self.compression)
            .finish_non_exhaustive()
    }
}

impl Read for Input {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = match &mut self.stream {
            Stream::Own(stream) => stream.read(buf),
            Stream::Stdin(stdin) => stdin.read(buf),
        };
        let count = self.cause(read)?;
        if count == 0 && !buf.is_empty() {
            self.ended()?;
        }
        Ok(count)
    }
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.command.is_some() {
            let read = self.stream.fill_buf().map(<[u8]>::is_empty);
            if self.cause(read)? {
                self.ended()?;
            }
        }
        self.stream.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        match &mut self.stream {
            Stream::Own(stream) => stream.consume(amount),
            Stream::Stdin(stdin) => stdin.consume(amount),
        }
    }
}

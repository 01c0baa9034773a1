//! Regular files read at offsets.

use std::fmt;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use seqfeed_core::{Error, Problem, Result};

use crate::compression::ENOUGH;
use crate::same_file::open_file;
use crate::{Compression, Identity, Location, Mapped, Opener, ReadAt, shown_name};

/// A regular file, or an object of a store, that several threads read at offsets. They share no
/// cursor.
///
/// The bytes are those of the file; nothing is decompressed.
pub struct DataFile {
    name: String,
    bytes: Arc<dyn ReadAt>,
    len: u64,
    /// Whether it is a temporary copy.
    temporary: bool,
}

impl DataFile {
    /// Opens a regular file of the file system. [`Opener::open`] opens any location.
    ///
    /// # Errors
    ///
    /// If it cannot be opened, or is not a regular file: a directory, a device, a named pipe.
    pub fn open(path: &Path) -> Result<Self> {
        let name = shown_name(path);
        let fail = |error| Error::io("opening", error).in_file(&name);
        // This comes before opening: opening a named pipe would wait for a writer.
        check_regular(&fs::metadata(path).map_err(fail)?, &name)?;
        let file = open_file(path).map_err(fail)?;
        let metadata = file.metadata().map_err(fail)?;
        check_regular(&metadata, &name)?;
        Ok(Self { name, bytes: Arc::new(file), len: metadata.len(), temporary: false })
    }

    /// Bytes that are read at offsets, with a name for messages.
    ///
    /// # Errors
    ///
    /// If their length cannot be read.
    pub fn new(name: impl Into<String>, bytes: Arc<dyn ReadAt>) -> Result<Self> {
        let name = name.into();
        let len = bytes.len().map_err(|error| Error::io("opening", error).in_file(&name))?;
        Ok(Self { name, bytes, len, temporary: false })
    }

    /// A temporary file that has been written.
    pub(crate) fn of_spool(name: String, file: File, len: u64) -> Self {
        Self { name, bytes: Arc::new(file), len, temporary: true }
    }

    /// The bytes of it in a temporary file: all or nothing.
    #[must_use]
    pub fn spooled_bytes(&self) -> u64 {
        if self.temporary { self.len } else { 0 }
    }

    /// The same file with another name for messages, such as the original of a temporary copy.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The name for messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The length of the file when it was opened.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the file was empty when it was opened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads at an offset, and returns the number of bytes. It is smaller than the buffer only at
    /// the end of the file.
    ///
    /// # Errors
    ///
    /// If the operating system fails to read.
    pub fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<usize> {
        // No file reaches beyond the range of the operating system, which would return an error.
        let end = offset.checked_add(buf.len() as u64);
        if end.is_none_or(|end| i64::try_from(end).is_err()) {
            return Ok(0);
        }
        let mut filled = 0;
        while filled < buf.len() {
            match self.bytes.read_at(&mut buf[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(Error::io("reading", error).in_file(&self.name).at_byte(offset));
                }
            }
        }
        Ok(filled)
    }

    /// Fills a buffer from an offset. `inside` names the data in messages ("data").
    ///
    /// # Errors
    ///
    /// If the file ends before ([`Problem::UnexpectedEnd`], placed at the offset), or the operating
    /// system fails to read.
    pub fn read_exact_at(&self, buf: &mut [u8], offset: u64, inside: &'static str) -> Result<()> {
        let missing = (buf.len() - self.read_at(buf, offset)?) as u64;
        if missing == 0 {
            return Ok(());
        }
        let problem = Problem::UnexpectedEnd { inside, missing: Some(missing) };
        Err(Error::format("file", problem).in_file(&self.name).at_byte(offset))
    }

    /// The compression of the file, recognised by its first bytes.
    ///
    /// # Errors
    ///
    /// If the operating system fails to read.
    pub fn compression(&self) -> Result<Compression> {
        let mut first = [0; ENOUGH];
        let count = self.read_at(&mut first, 0)?;
        Ok(Compression::detect(&first[..count]))
    }

    /// The identity of the file, which changes when it is replaced.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn identity(&self) -> Result<Identity> {
        self.bytes.identity().map_err(|error| Error::io("reading", error).in_file(&self.name))
    }

    /// The time of the last change, if known.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn modified(&self) -> Result<Option<SystemTime>> {
        self.bytes.modified().map_err(|error| Error::io("reading", error).in_file(&self.name))
    }

    /// Maps the file into memory, with the length it had when it was opened.
    ///
    /// # Errors
    ///
    /// If it has become shorter since; if the operating system fails to map it; or if it is an
    /// object of a store.
    pub fn map(&self) -> Result<Mapped> {
        Mapped::new(Arc::clone(&self.bytes), &self.name, self.len)
    }
}

impl Opener {
    /// Opens a path or a URL for reading at offsets.
    ///
    /// # Errors
    ///
    /// If it cannot be opened or is not a regular file; if there is no [store](Self::with_store)
    /// for the URL; or if it is a command or standard input, which can be read only once.
    pub fn open(&self, location: &Location) -> Result<DataFile> {
        match location {
            Location::Path(path) => DataFile::open(path),
            Location::Url(url) => DataFile::new(url.to_string(), self.object(url)?),
            Location::Standard | Location::Command(_) => {
                Err(not_regular("is read once").in_file(location.to_string()))
            }
        }
    }
}

impl fmt::Debug for DataFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DataFile")
            .field("name", &self.name)
            .field("len", &self.len)
            .field("temporary", &self.temporary)
            .finish_non_exhaustive()
    }
}

fn check_regular(metadata: &Metadata, name: &str) -> Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    let message = if metadata.is_dir() { "is a directory" } else { "is not a regular file" };
    Err(not_regular(message).in_file(name))
}

fn not_regular(message: &'static str) -> Error {
    Error::io("opening", io::Error::new(io::ErrorKind::InvalidInput, message))
        .with_help("a regular file is needed, to be read at any place")
}

//! What is read at offsets, and the stores that open it.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::Arc;
use std::time::SystemTime;

use crate::location::Url;

/// Bytes that are read at given offsets, from several threads at once: a file, or an object of a
/// [`Store`].
pub trait ReadAt: Send + Sync {
    /// How many bytes there are.
    ///
    /// # Errors
    ///
    /// When that cannot be found out.
    fn len(&self) -> io::Result<u64>;

    /// Whether there are no bytes.
    ///
    /// # Errors
    ///
    /// As [`len`](Self::len).
    fn is_empty(&self) -> io::Result<bool> {
        self.len().map(|len| len == 0)
    }

    /// Reads from an offset into a buffer, and says how many bytes that were. Fewer than the buffer
    /// takes may come at any time; none at the end only.
    ///
    /// # Errors
    ///
    /// When reading fails.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;

    /// What tells that the bytes were replaced by others.
    ///
    /// # Errors
    ///
    /// When that cannot be found out.
    fn identity(&self) -> io::Result<Identity>;

    /// When the bytes were last written, where that is known. Nothing, unless it says otherwise.
    ///
    /// # Errors
    ///
    /// When that cannot be found out.
    fn modified(&self) -> io::Result<Option<SystemTime>> {
        Ok(None)
    }

    /// The file of the file system behind it, which can be mapped into memory. Nothing, unless it
    /// says otherwise.
    fn file(&self) -> Option<&File> {
        None
    }
}

/// What tells whether bytes are still the same: it changes when they are replaced.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// How many bytes there are.
    pub len: u64,
    /// What changes with the content: of a file its device, its inode and when it was written; of
    /// an object the tag that its store gives it.
    pub tag: String,
}

impl Identity {
    fn of_file(found: &Metadata) -> Self {
        let (device, inode) = (found.dev(), found.ino());
        let (seconds, nanoseconds) = (found.mtime(), found.mtime_nsec());
        let tag = format!("{device}:{inode}:{seconds}.{nanoseconds:09}");
        Self { len: found.len(), tag }
    }
}

impl ReadAt for File {
    fn len(&self) -> io::Result<u64> {
        self.metadata().map(|found| found.len())
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(self, buf, offset)
    }

    fn identity(&self) -> io::Result<Identity> {
        self.metadata().map(|found| Identity::of_file(&found))
    }

    fn modified(&self) -> io::Result<Option<SystemTime>> {
        self.metadata().map(|found| found.modified().ok())
    }

    fn file(&self) -> Option<&File> {
        Some(self)
    }
}

/// A place for bytes beside the file system: the objects of a scheme of URLs. It is registered with
/// [`Opener::with_store`](crate::Opener::with_store).
///
/// An error of the kind [`NotFound`](io::ErrorKind::NotFound) means that nothing of this name is
/// there.
pub trait Store: Send + Sync {
    /// Opens an object.
    ///
    /// # Errors
    ///
    /// When there is none, or it cannot be opened.
    fn open(&self, url: &Url) -> io::Result<Arc<dyn ReadAt>>;

    /// The objects whose URLs match a pattern of the shell (`*`, `?` and `[...]`, none of which
    /// stands for a `/`), sorted.
    ///
    /// # Errors
    ///
    /// When the store cannot list its objects.
    fn list(&self, pattern: &Url) -> io::Result<Vec<Url>>;
}

/// A place in bytes that are read at offsets, which moves with what is read.
pub(crate) struct Cursor {
    bytes: Arc<dyn ReadAt>,
    position: u64,
}

impl Cursor {
    pub(crate) fn new(bytes: Arc<dyn ReadAt>) -> Self {
        Self { bytes, position: 0 }
    }
}

impl Read for Cursor {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read_at(buf, self.position)?;
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for Cursor {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => self.bytes.len()?.checked_add_signed(by),
        };
        self.position = to.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

/// A reader that can go to any place, and tells how much there is.
pub(crate) trait Seekable: Read + Seek + Send {
    fn len(&self) -> io::Result<u64>;
}

impl Seekable for File {
    fn len(&self) -> io::Result<u64> {
        ReadAt::len(self)
    }
}

impl Seekable for Cursor {
    fn len(&self) -> io::Result<u64> {
        self.bytes.len()
    }
}

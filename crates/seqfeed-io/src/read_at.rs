//! Bytes that are read at offsets, and the stores that open them.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::Arc;
use std::time::SystemTime;

use crate::location::Url;

/// Bytes that several threads read at offsets: a file, or an object of a [`Store`].
pub trait ReadAt: Send + Sync {
    /// The number of bytes.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    fn len(&self) -> io::Result<u64>;

    /// Whether there are no bytes.
    ///
    /// # Errors
    ///
    /// The same as [`len`](Self::len).
    fn is_empty(&self) -> io::Result<bool> {
        self.len().map(|len| len == 0)
    }

    /// Reads at an offset into a buffer, and returns the number of bytes. It may be smaller than
    /// the buffer at any time; it is zero only at the end.
    ///
    /// # Errors
    ///
    /// If reading fails.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;

    /// The identity of the bytes, which changes when they are replaced.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    fn identity(&self) -> io::Result<Identity>;

    /// The time of the last change, if known. By default `None`.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    fn modified(&self) -> io::Result<Option<SystemTime>> {
        Ok(None)
    }

    /// The file of the file system behind it, which can be mapped into memory. By default `None`.
    fn file(&self) -> Option<&File> {
        None
    }
}

/// The identity of bytes. It changes when they are replaced.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The number of bytes.
    pub len: u64,
    /// A text that changes with the content. For a file it is made from the device, the inode and
    /// the time of the last change; for an object it is the tag of its store.
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

/// A place for bytes other than the file system: the objects of one scheme of URLs.
/// [`Opener::with_store`](crate::Opener::with_store) registers it.
///
/// An error of the kind [`NotFound`](io::ErrorKind::NotFound) means that there is no object of this
/// name.
pub trait Store: Send + Sync {
    /// Opens an object.
    ///
    /// # Errors
    ///
    /// If there is none, or it cannot be opened.
    fn open(&self, url: &Url) -> io::Result<Arc<dyn ReadAt>>;

    /// The objects whose URLs match a shell pattern, sorted. None of `*`, `?` and `[...]` stands
    /// for a `/`.
    ///
    /// # Errors
    ///
    /// If the store cannot list its objects.
    fn list(&self, pattern: &Url) -> io::Result<Vec<Url>>;
}

/// A position in bytes that are read at offsets. It moves with each read.
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

/// A reader that can seek, and knows its length.
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

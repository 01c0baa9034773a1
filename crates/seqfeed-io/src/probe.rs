//! Finds out what is at a location, without reading it.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::time::SystemTime;

use seqfeed_core::{Error, Result};

use crate::{Compression, DataFile, Location, Opener};

/// The facts about a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The kind of file there.
    pub kind: FileKind,
    /// The length of a regular file, in bytes.
    pub len: u64,
    /// The time of the last change, if known.
    pub modified: Option<SystemTime>,
}

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileKind {
    /// A regular file, or an object of a store. It can be read at any place, and again.
    Regular,
    /// A directory.
    Directory,
    /// A named pipe.
    NamedPipe,
    /// Anything else, such as a device.
    Other,
}

impl Opener {
    /// The facts about a path or a URL. Links are followed.
    ///
    /// # Errors
    ///
    /// If nothing is there, or the facts cannot be read.
    pub fn probe(&self, location: &Location) -> Result<Probe> {
        let fail = |error| Error::io("opening", error).in_file(location.to_string());
        match location {
            Location::Path(path) => fs::metadata(path).map(|found| of(&found)).map_err(fail),
            Location::Url(url) => {
                let object = self.object(url)?;
                let (len, modified) = (object.len().map_err(fail)?, object.modified());
                Ok(Probe { kind: FileKind::Regular, len, modified: modified.map_err(fail)? })
            }
            Location::Standard | Location::Command(_) => {
                Err(fail(io::Error::new(io::ErrorKind::InvalidInput, "is a stream")))
            }
        }
    }

    /// Whether there is a file at a path or a URL, of any kind.
    #[must_use]
    pub fn exists(&self, location: &Location) -> bool {
        self.probe(location).is_ok()
    }

    /// Whether a regular file or an object of a store is there, which can be read again.
    #[must_use]
    pub fn is_file(&self, location: &Location) -> bool {
        self.probe(location).is_ok_and(|found| found.kind == FileKind::Regular)
    }

    /// Whether a location can be read only once: a command, standard input, a named pipe, a device.
    /// False if nothing is there.
    #[must_use]
    pub fn passes_once(&self, location: &Location) -> bool {
        match location {
            Location::Standard | Location::Command(_) => true,
            Location::Path(_) => {
                self.probe(location).is_ok_and(|found| found.kind != FileKind::Regular)
            }
            Location::Url(_) => false,
        }
    }

    /// The location itself. If nothing is there, the same with `.gz` or `.bz2` at its end, if that
    /// exists.
    #[must_use]
    pub fn or_compressed(&self, location: &Location) -> Location {
        let mut places = [".gz", ".bz2"].map(|end| location.with_end(end)).into_iter();
        match self.exists(location) {
            true => location.clone(),
            false => places.find(|place| self.exists(place)).unwrap_or_else(|| location.clone()),
        }
    }

    /// Whether a directory is there.
    #[must_use]
    pub fn is_directory(&self, location: &Location) -> bool {
        self.probe(location).is_ok_and(|found| found.kind == FileKind::Directory)
    }

    /// Opens a regular file that is not compressed. `None` if it is compressed or can be read only
    /// once (a named pipe, a device), so that it must be read as a stream.
    ///
    /// # Errors
    ///
    /// If nothing is there, if it is a directory, or if it cannot be read.
    pub fn open_plain(&self, location: &Location) -> Result<Option<DataFile>> {
        let file = match self.open(location) {
            Ok(file) => file,
            Err(error) if error.is_not_found() || location.path().is_none() => return Err(error),
            Err(error) if self.is_directory(location) => return Err(error),
            // Reading it as a stream will give the reason.
            Err(_) => return Ok(None),
        };
        Ok((file.compression()? == Compression::None).then_some(file))
    }
}

fn of(found: &Metadata) -> Probe {
    let file_type = found.file_type();
    let kind = if file_type.is_file() {
        FileKind::Regular
    } else if file_type.is_dir() {
        FileKind::Directory
    } else if file_type.is_fifo() {
        FileKind::NamedPipe
    } else {
        FileKind::Other
    };
    Probe { kind, len: found.len(), modified: found.modified().ok() }
}

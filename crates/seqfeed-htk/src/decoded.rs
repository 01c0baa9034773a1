//! Opens files for reading in place; compressed files are decoded into a temporary copy.

use std::io::Read;

use seqfeed_core::Result;
use seqfeed_io::{Compression, DataFile, Location, Opener};

/// Opens a file for reading at any place. A compressed one is decoded into a temporary file first.
///
/// # Errors
///
/// If it cannot be opened, is not a regular file, or cannot be decoded.
pub fn open_decoded(location: &Location, opener: &Opener) -> Result<DataFile> {
    let file = opener.open(location)?;
    match file.compression()? {
        Compression::None => Ok(file),
        _ => decode(location, file.name(), opener),
    }
}

/// Decodes a compressed file into a temporary one. `name` is its name in errors.
pub(crate) fn decode(location: &Location, name: &str, opener: &Opener) -> Result<DataFile> {
    DataFile::decoded(&location.clone().into(), opener).map_err(|error| error.in_file(name))
}

/// A file from its start, as a stream.
pub(crate) struct FromStart<'a> {
    file: &'a DataFile,
    offset: u64,
}

impl<'a> FromStart<'a> {
    pub(crate) fn new(file: &'a DataFile) -> Self {
        Self { file, offset: 0 }
    }
}

impl Read for FromStart<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read_at(buffer, self.offset).map_err(std::io::Error::other)?;
        self.offset += count as u64;
        Ok(count)
    }
}

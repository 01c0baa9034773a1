//! Files that are read in place, or, if they are compressed, out of a temporary copy.

use std::io::Read;
use std::path::Path;

use seqfeed_core::Result;
use seqfeed_io::{Compression, DataFile, Opener, RxFilename};

/// Opens a file to be read at any place; a compressed one is decoded into a temporary file first.
///
/// # Errors
///
/// When it cannot be opened, is no regular file, or cannot be decoded.
pub fn open_decoded(path: &Path) -> Result<DataFile> {
    let file = DataFile::open(path)?;
    match file.compression()? {
        Compression::None => Ok(file),
        _ => decode(path, file.name()),
    }
}

/// Decodes a compressed file into a temporary one, which errors call by `name`.
pub(crate) fn decode(path: &Path, name: &str) -> Result<DataFile> {
    DataFile::decoded(&RxFilename::File(path.into()), &Opener::default())
        .map_err(|error| error.in_file(name))
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

//! By what a data file is known again.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use seqfeed_core::{Error, Result};
use seqfeed_io::{Compression, shown_name};

use super::checksum::checksum;

/// How much of a file's start and of its end is looked at.
const ENDS: u64 = 64 << 10;

/// By what a data file is known again: length, time, and what its ends hold.
///
/// A file that is replaced within the resolution of its file system's clock, or whose time is set
/// back, still has another digest, unless only its middle is changed and its length is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Length in bytes, as it lies on the disk.
    pub bytes: u64,
    /// When it was last modified: whole seconds since 1970.
    pub modified_seconds: i64,
    /// The rest of that time, in nanoseconds.
    pub modified_nanoseconds: u32,
    /// Digest of the first and the last 64 KiB.
    pub digest: u64,
}

impl Stamp {
    /// The stamp of a file as it is now. It has to be taken before the file is scanned, so that a
    /// change during the scan shows.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, or is not a regular file.
    pub fn of(data: &Path) -> Result<Self> {
        Self::and_compression_of(data).map(|(stamp, _)| stamp)
    }

    /// The stamp, and how the file is compressed.
    pub(super) fn and_compression_of(data: &Path) -> Result<(Self, Compression)> {
        let place = |error: Error| error.in_file(shown_name(data));
        let io = |action| move |error| place(Error::io(action, error));
        // A pipe must not be opened: that would take what its reader waits for.
        if !fs::metadata(data).map_err(io("opening"))?.is_file() {
            return Err(place(
                Error::usage("only regular files have an index cache")
                    .with_help("copy the data into a file"),
            ));
        }
        let file = File::open(data).map_err(io("opening"))?;
        let metadata = file.metadata().map_err(io("reading"))?;
        let mut buffer = vec![0; ENDS.min(metadata.len()) as usize];
        file.read_exact_at(&mut buffer, 0).map_err(io("reading"))?;
        let compression = Compression::detect(&buffer);
        let first = checksum(&buffer, 0);
        let last = metadata.len() - buffer.len() as u64;
        file.read_exact_at(&mut buffer, last).map_err(io("reading"))?;
        let stamp = Self {
            bytes: metadata.len(),
            modified_seconds: metadata.mtime(),
            modified_nanoseconds: metadata.mtime_nsec() as u32,
            digest: checksum(&buffer, first),
        };
        Ok((stamp, compression))
    }
}

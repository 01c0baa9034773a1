//! The stamp that identifies a data file.

use std::path::Path;
use std::time::SystemTime;

use seqfeed_core::{Error, Result};
use seqfeed_io::{Compression, DataFile, FileKind, Opener, shown_name};

use super::checksum::checksum;

/// The number of bytes at the start and at the end of a file that enter its digest.
const ENDS: u64 = 64 << 10;

/// The stamp that identifies a data file: its length, its time, and a digest of its ends.
///
/// If a file is replaced within the resolution of the file system's clock, or if its time is set
/// back, its digest still differs, unless only its middle changed and its length did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Length in bytes, as on the disk.
    pub bytes: u64,
    /// The time of the last change: whole seconds since 1970.
    pub modified_seconds: i64,
    /// The rest of that time, in nanoseconds.
    pub modified_nanoseconds: u32,
    /// Digest of the first and the last 64 KiB.
    pub digest: u64,
}

impl Stamp {
    /// The stamp of a file as it is now. Take it before the file is scanned, so that a change
    /// during the scan shows.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, or is not a regular file.
    pub fn of(data: &Path) -> Result<Self> {
        Self::and_compression_of(data).map(|(stamp, _)| stamp)
    }

    /// The stamp, and the compression of the file.
    pub(super) fn and_compression_of(data: &Path) -> Result<(Self, Compression)> {
        if Opener::default().probe(&data.into())?.kind != FileKind::Regular {
            return Err(Error::usage("only regular files have an index cache")
                .in_file(shown_name(data))
                .with_help("copy the data into a file"));
        }
        let file = DataFile::open(data)?;
        let mut buffer = vec![0; ENDS.min(file.len()) as usize];
        file.read_exact_at(&mut buffer, 0, "the data")?;
        let compression = Compression::detect(&buffer);
        let first = checksum(&buffer, 0);
        let last = file.len() - buffer.len() as u64;
        file.read_exact_at(&mut buffer, last, "the data")?;
        let (modified_seconds, modified_nanoseconds) = since_1970(file.modified()?);
        let digest = checksum(&buffer, first);
        let stamp = Self { bytes: file.len(), modified_seconds, modified_nanoseconds, digest };
        Ok((stamp, compression))
    }
}

/// Whole seconds since 1970, and the remaining nanoseconds; 0 if the time is not known.
pub(super) fn since_1970(time: Option<SystemTime>) -> (i64, u32) {
    let Some(time) = time else { return (0, 0) };
    let seconds = |secs: u64| i64::try_from(secs).unwrap_or(i64::MAX);
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => (seconds(after.as_secs()), after.subsec_nanos()),
        Err(before) => match before.duration() {
            whole if whole.subsec_nanos() == 0 => (-seconds(whole.as_secs()), 0),
            parts => (-seconds(parts.as_secs()) - 1, 1_000_000_000 - parts.subsec_nanos()),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_before_1970_count_down_in_whole_seconds() {
        let epoch = SystemTime::UNIX_EPOCH;
        let (short, long) = (Duration::from_millis(1250), Duration::from_secs(2));
        let times = [epoch + short, epoch - short, epoch - long];
        let expected = [(1, 250_000_000), (-2, 750_000_000), (-2, 0)];
        assert_eq!(times.map(|time| since_1970(Some(time))), expected);
        assert_eq!(since_1970(None), (0, 0));
    }
}

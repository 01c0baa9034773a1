//! Temporary copies of what can only be read once.

use std::env;
use std::fs::File;
use std::io::{self, BufRead, BufWriter, Seek, SeekFrom, Write};

use seqfeed_core::Result;

use crate::buffered::CAPACITY;
use crate::temporary::failed;
use crate::{DataFile, Input, Opener, RxFilename, shown_name};

/// How much is written between two looks at how much room is left.
const LOOK: u64 = 64 << 20;
/// What is left to others of a file system: a twentieth, but no more than so many bytes.
const LEFT: u64 = 20;
const MOST_LEFT: u64 = 1_000_000_000;

/// An unnamed temporary file for data that cannot be read in place twice (pipes, compressed
/// archives, text): written once in order, then read at offsets. It is gone with its last user.
///
/// ```
/// use seqfeed_io::Spool;
///
/// # fn main() -> seqfeed_core::Result<()> {
/// let mut spool = Spool::new()?;
/// spool.write_all(b"some data")?;
/// assert_eq!(spool.position(), 9);
/// let mut end = [0; 4];
/// spool.into_data_file()?.read_exact_at(&mut end, 5, "data")?;
/// assert_eq!(&end, b"data");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Spool {
    name: String,
    writer: BufWriter<File>,
    position: u64,
    /// Where to look next how much room is left.
    look: u64,
}

impl Spool {
    /// Copies all that an input gives, and ends the input; `name` is what errors and the
    /// copy are called.
    ///
    /// # Errors
    ///
    /// When reading or writing fails, and for devices, which have no end.
    pub fn copy(input: Input, name: &str) -> Result<DataFile> {
        Ok(Self::new()?.filled(input, name)?.into_data_file()?.with_name(name))
    }

    /// A file with all that an input gives, behind a gap of so many bytes; it stands behind the
    /// gap. And its length.
    pub(crate) fn file_of(input: Input, gap: u64) -> Result<(File, u64)> {
        let mut spool = Self::new()?;
        let fail = |error| failed("seeking", error, String::new());
        spool.writer.seek(SeekFrom::Start(gap)).map_err(fail)?;
        spool.position = gap;
        let name = input.name().to_owned();
        let spool = spool.filled(input, &name)?;
        let len = spool.position;
        let mut file = spool.into_file()?;
        file.seek(SeekFrom::Start(gap)).map_err(fail)?;
        Ok((file, len))
    }

    /// Writes all that an input gives, and ends the input.
    fn filled(mut self, mut input: Input, name: &str) -> Result<Self> {
        input.refuse_device().map_err(|error| error.in_file(name))?;
        loop {
            let count = match input.fill_buf() {
                Ok([]) => break,
                Ok(bytes) => {
                    self.write_all(bytes)?;
                    bytes.len()
                }
                Err(error) => return Err(input.error(error)),
            };
            input.consume(count);
        }
        input.finish()?;
        Ok(self)
    }

    /// Makes an empty one in the directory for temporary files (`TMPDIR`, else `/tmp`).
    ///
    /// # Errors
    ///
    /// When no file can be made there.
    pub fn new() -> Result<Self> {
        let directory = env::temp_dir();
        let name = format!("temporary file in {}", shown_name(&directory));
        match tempfile::tempfile_in(&directory) {
            Ok(file) => {
                let writer = BufWriter::with_capacity(CAPACITY, file);
                Ok(Self { name, writer, position: 0, look: LOOK })
            }
            Err(error) => Err(failed("opening", error, name)),
        }
    }

    /// How much was written so far: where the next byte will stand.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Writes behind what is there.
    ///
    /// # Errors
    ///
    /// When the operating system fails to write, above all because the disk is full. It counts as
    /// full when a twentieth of it is free, or less than 1 GB of a large one: what never ends is
    /// not to take the last room of others.
    pub fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer
            .write_all(bytes)
            .map_err(|error| failed("writing", error, self.name.clone()).at_byte(self.position))?;
        self.position += bytes.len() as u64;
        if self.position >= self.look {
            self.look = self.position + LOOK;
            self.check_room()?;
        }
        Ok(())
    }

    fn check_room(&self) -> Result<()> {
        let found = rustix::fs::fstatvfs(self.writer.get_ref());
        let full = found.map(|found| {
            let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
            is_full(bytes(found.f_bavail), bytes(found.f_blocks))
        });
        match full.unwrap_or(false) {
            true => Err(failed("writing", io::ErrorKind::StorageFull.into(), self.name.clone())
                .at_byte(self.position)),
            false => Ok(()),
        }
    }

    /// Ends writing and makes what was written readable at offsets. Give the result the [name of
    /// the original](DataFile::with_name) for messages.
    ///
    /// # Errors
    ///
    /// When the operating system fails to write the rest.
    pub fn into_data_file(self) -> Result<DataFile> {
        let (name, position) = (self.name.clone(), self.position);
        Ok(DataFile::of_spool(name, self.into_file()?, position))
    }

    fn into_file(self) -> Result<File> {
        let Self { name, writer, .. } = self;
        writer.into_inner().map_err(|error| failed("writing", error.into_error(), name))
    }
}

/// Whether a file system of so many bytes has no more free than is left to others.
fn is_full(free: u64, size: u64) -> bool {
    free < (size / LEFT).min(MOST_LEFT)
}

impl Input {
    /// Copies the rest into a temporary file, and reads on there from the same position: what
    /// passes once can be [gone back](Self::seek) to here then.
    ///
    /// # Errors
    ///
    /// When reading or writing fails, and for devices, which have no end.
    pub fn spooled(self) -> Result<Self> {
        let (name, position) = (self.name().to_owned(), self.position());
        let line_limit = self.line_limit();
        let (file, len) = Spool::file_of(self, position)?;
        Ok(Self::plain(name, file, len, position, line_limit))
    }
}

impl DataFile {
    /// Opens what a name stands for, to be read at any place after it was decoded: an uncompressed
    /// regular file as it lies; what is compressed or passes once (a command, standard input), or
    /// the rest of a file behind an offset, out of a temporary copy.
    ///
    /// # Errors
    ///
    /// When it cannot be opened, decoded or copied; for directories and devices.
    pub fn decoded(name: &RxFilename, opener: &Opener) -> Result<Self> {
        if let (Some((location, _)), None) = (name.file_and_offset(), name.offset())
            && let Some(file) = opener.open_plain(location)?
        {
            return Ok(file);
        }
        let input = Input::open(name, opener)?;
        let name = input.name().to_owned();
        Spool::copy(input, &name)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;

    #[test]
    fn the_room_that_is_left_is_a_twentieth_and_1_gb_at_most() {
        const GB: u64 = 1_000_000_000;
        // Of 10 GB, half a gigabyte is left to others; of 2 TB, one.
        assert!(is_full(GB / 2 - 1, 10 * GB) && !is_full(GB / 2, 10 * GB));
        assert!(is_full(GB - 1, 2000 * GB) && !is_full(GB, 2000 * GB));
        assert!(!is_full(0, 0));
    }

    #[test]
    fn a_full_disk_names_the_cure() {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let writer = BufWriter::with_capacity(CAPACITY, full);
        let mut spool =
            Spool { name: "temporary file".to_owned(), writer, position: 0, look: LOOK };
        spool.write_all(b"fits the buffer").unwrap();
        let error = spool.write_all(&[0; CAPACITY]).unwrap_err();
        assert!(error.help().unwrap().contains("TMPDIR"), "{error}");
        assert!(error.help().unwrap().contains("more room"), "{error}");
    }
}

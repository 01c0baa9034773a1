//! Temporary copies of data that can be read only once.

use std::env;
use std::fs::File;
use std::io::{self, BufRead, BufWriter, Seek, SeekFrom, Write};

use seqfeed_core::Result;

use crate::buffered::CAPACITY;
use crate::temporary::failed;
use crate::{DataFile, Input, Opener, RxFilename, shown_name};

/// The bytes to write between two checks of the free space.
const LOOK: u64 = 64 << 20;
/// The part of a file system that stays free: one of this many, but at most a fixed number of
/// bytes.
const LEFT: u64 = 20;
const MOST_LEFT: u64 = 1_000_000_000;

/// An unnamed temporary file for data that cannot be read twice in place (pipes, compressed
/// archives, text). It is written once in order, then read at offsets. It is removed with its last
/// user.
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
    /// The position at which to check the free space again.
    look: u64,
}

impl Spool {
    /// Copies an input to its end. `name` is the name of the copy and in errors.
    ///
    /// # Errors
    ///
    /// If reading or writing fails, and for devices, which have no end.
    pub fn copy(input: Input, name: &str) -> Result<DataFile> {
        Ok(Self::new()?.filled(input, name)?.into_data_file()?.with_name(name))
    }

    /// A file with a gap of `gap` bytes and then all of an input, and its length. The file stands
    /// behind the gap.
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

    /// Writes all of an input, and ends the input.
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

    /// Makes an empty spool in the directory for temporary files (`TMPDIR`, else `/tmp`).
    ///
    /// # Errors
    ///
    /// If no file can be made there.
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

    /// The position of the next byte.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Appends bytes.
    ///
    /// # Errors
    ///
    /// If the operating system fails to write, mainly because the disk is full. The disk counts as
    /// full when a twentieth of it is free, or less than 1 GB of a large one: endless data must not
    /// take the last space from others.
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

    /// Ends writing and makes the data readable at offsets. Give the result the [name of the
    /// original](DataFile::with_name) for messages.
    ///
    /// # Errors
    ///
    /// If the operating system fails to write the rest.
    pub fn into_data_file(self) -> Result<DataFile> {
        let (name, position) = (self.name.clone(), self.position);
        Ok(DataFile::of_spool(name, self.into_file()?, position))
    }

    fn into_file(self) -> Result<File> {
        let Self { name, writer, .. } = self;
        writer.into_inner().map_err(|error| failed("writing", error.into_error(), name))
    }
}

/// Whether only the part of a file system that must stay free is left.
fn is_full(free: u64, size: u64) -> bool {
    free < (size / LEFT).min(MOST_LEFT)
}

impl Input {
    /// Copies the rest into a temporary file, and reads on there from the same position. Then a
    /// stream that could be read only once can [go back](Self::seek) to here.
    ///
    /// # Errors
    ///
    /// If reading or writing fails, and for devices, which have no end.
    pub fn spooled(self) -> Result<Self> {
        let (name, position) = (self.name().to_owned(), self.position());
        let line_limit = self.line_limit();
        let (file, len) = Spool::file_of(self, position)?;
        Ok(Self::plain(name, file, len, position, line_limit))
    }
}

impl DataFile {
    /// Opens a name for reading its decoded data at any place. An uncompressed regular file is read
    /// in place. Compressed data, data that can be read only once (a command, standard input), and
    /// the rest of a file behind an offset are read from a temporary copy.
    ///
    /// # Errors
    ///
    /// If it cannot be opened, decoded or copied; for directories and devices.
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

//! numpy's `.npz` files: ZIP archives of `.npy` files.

use std::ffi::OsStr;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use seqfeed_core::{Error, Problem, Result};
use seqfeed_io::{DataFile, Opener, Output, UntilFailed, WxFilename};
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::bytes::read_from;
use super::npy::{Bytewise, read_array};
use super::{Array, Bytes, PickledData, write_npy};

/// The name of the format in messages.
const NPZ: &str = "npz file";

/// Reads all arrays of an archive, with their names (without `.npy`), in the order of the archive.
///
/// # Errors
///
/// Fails if it is not an archive, or if a member is damaged or is not an array of numbers.
pub fn read_npz(path: &Path) -> Result<Vec<(String, Array)>> {
    let mut npz = Npz::new(DataFile::open(path)?)?;
    let names = npz.names()?;
    let read = |(member, name)| Ok((name, npz.read(member)?));
    names.into_iter().enumerate().map(read).collect()
}

/// Reads features and labels from an archive: the arrays with these names (or `feature` and
/// `label`, or `x` and `y`), else the first array and, if there is one, the second. Other arrays
/// are not read.
///
/// # Errors
///
/// As [`read_npz`] and [`PickledData::from_arrays`]. Also if the archive is empty.
pub fn open_npz(name: &(impl AsRef<OsStr> + ?Sized), opener: &Opener) -> Result<PickledData> {
    let name = opener.place(name);
    let mut npz = Npz::new(opener.open(&name)?)?;
    let names = npz.names()?;
    let find = |wanted: [&str; 3]| names.iter().position(|name| wanted.contains(&name.as_str()));
    let features = find(["features", "feature", "x"]);
    let labels = find(["labels", "label", "y"]);
    let mut rest = (0..names.len()).filter(|&member| ![features, labels].contains(&Some(member)));
    let Some(features) = features.or_else(|| rest.next()) else {
        let problem = Problem::Unsupported("it holds no arrays".into());
        return Err(Error::format(NPZ, problem).in_file(name.to_string()));
    };
    let labels = labels.or_else(|| rest.next()).map(|member| npz.read(member)).transpose()?;
    let features = npz.read(features)?;
    PickledData::from_arrays(features, labels.as_ref())
        .map_err(|error| error.in_file(name.to_string()))
}

/// An archive whose members are read one by one.
struct Npz {
    archive: ZipArchive<Cursored>,
    /// Size of the file.
    bytes: u64,
    shown: String,
}

impl Npz {
    fn new(file: DataFile) -> Result<Self> {
        let (bytes, shown) = (file.len(), file.name().to_owned());
        let archive = ZipArchive::new(Cursored { file: Arc::new(file), position: 0 })
            .map_err(|error| damaged(&shown, error))?;
        Ok(Self { archive, bytes, shown })
    }

    /// The names of the members, without `.npy`.
    fn names(&mut self) -> Result<Vec<String>> {
        let Self { archive, shown, .. } = self;
        let count = archive.len();
        let name = |member| {
            let member = archive.by_index_raw(member).map_err(|error| damaged(shown, error))?;
            let name = member.name().map_err(|error| damaged(shown, error))?;
            Ok(name.strip_suffix(".npy").unwrap_or(&name).to_owned())
        };
        (0..count).map(name).collect()
    }

    fn read(&mut self, member: usize) -> Result<Array> {
        let Self { archive, bytes, shown } = self;
        let file = archive.by_index(member).map_err(|error| damaged(shown, error))?;
        let name = file.name().map_err(|error| damaged(shown, error))?.into_owned();
        let shown = format!("{shown} ({name})");
        // Uncompressed data take room in the file, so their size can be trusted.
        let stored = file.compression() == CompressionMethod::Stored;
        let left = stored.then(|| file.compressed_size().min(*bytes));
        let mut member = Member { file: UntilFailed::new(file), left, failure: None };
        let array = read_array(&mut member);
        // The checksum is checked at the end. Damage of the member explains any other error.
        let ended = io::copy(&mut member.file, &mut io::sink());
        if let Some(error) = member.failure.or(ended.err()) {
            return Err(damaged(&shown, error));
        }
        array.map_err(|error| error.in_file(shown))
    }
}

fn damaged(shown: &str, error: impl Into<ZipError>) -> Error {
    let wrong = |what: String| Error::format(NPZ, Problem::Unsupported(what.into()));
    let error = match error.into() {
        ZipError::Io(error) => Error::decoding(error, |error| wrong(error.to_string())),
        error => wrong(error.to_string()),
    };
    error.in_file(shown)
}

/// A member during the reading of its array.
struct Member<R> {
    file: R,
    /// The number of bytes left, if it is known.
    left: Option<u64>,
    failure: Option<io::Error>,
}

impl<R: Read> Bytewise for Member<R> {
    fn left(&mut self, _wanted: u64) -> Option<u64> {
        self.left
    }

    fn take(&mut self, len: u64) -> Result<Bytes> {
        let bytes = match read_from(&mut self.file, self.left, len) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.failure = Some(error);
                Bytes::default()
            }
        };
        self.left = self.left.map(|left| left.saturating_sub(bytes.len() as u64));
        Ok(bytes)
    }
}

/// Writes arrays with their names into an uncompressed archive, as `numpy.savez` does.
///
/// # Errors
///
/// Fails if writing fails, or if two arrays have one name.
pub fn write_npz(name: &WxFilename, arrays: &[(&str, &Array)], opener: &Opener) -> Result<()> {
    let mut output = Output::create(name, opener)?;
    let mut write = || -> io::Result<()> {
        let mut archive = ZipWriter::new_stream(&mut output);
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        for (name, array) in arrays {
            let large = array.data().len() as u64 >= u32::MAX.into();
            archive.start_file(format!("{name}.npy"), options.large_file(large))?;
            write_npy(&mut archive, array)?;
        }
        archive.finish()?;
        Ok(())
    };
    write().map_err(|error| Error::io("writing", error).in_file(name.to_string()))?;
    output.finish()
}

/// A cursor over a file without one.
#[derive(Clone)]
struct Cursored {
    file: Arc<DataFile>,
    position: u64,
}

impl Read for Cursored {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buf, self.position).map_err(io::Error::other)?;
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for Cursored {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.file.len().checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.position)
    }
}

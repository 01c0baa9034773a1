//! numpy's `.npz` files: ZIP archives of `.npy` files.

use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use seqfeed_core::{Error, Problem, Result};
use seqfeed_io::{DataFile, Input, Output, Policy, WxFilename};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::{Array, PickledData, read_npy, write_npy};

/// The name of the format in messages.
const NPZ: &str = "npz file";

/// Reads all arrays of an archive, with their names (without `.npy`), in the archive's order.
///
/// A member is held twice while it is read.
///
/// # Errors
///
/// Fails if it is no archive, a member is damaged or holds something else than an array of numbers.
pub fn read_npz(path: &Path) -> Result<Vec<(String, Array)>> {
    let file = Cursored { file: Arc::new(DataFile::open(path)?), position: 0 };
    let shown = path.display().to_string();
    let damaged = |error: &dyn std::fmt::Display| {
        Error::format(NPZ, Problem::Unsupported(error.to_string().into())).in_file(&shown)
    };
    let mut archive = ZipArchive::new(file).map_err(|error| damaged(&error))?;
    let mut arrays = Vec::new();
    for member in 0..archive.len() {
        let mut member = archive.by_index(member).map_err(|error| damaged(&error))?;
        let name = member.name().map_err(|error| damaged(&error))?.into_owned();
        // Memory grows with what comes: the announced size is not believed.
        let mut bytes = Vec::new();
        member.read_to_end(&mut bytes).map_err(|error| damaged(&error))?;
        let mut input = Input::from_reader(format!("{shown} ({name})"), Cursor::new(bytes));
        let array = read_npy(&mut input)?;
        arrays.push((name.strip_suffix(".npy").unwrap_or(&name).to_owned(), array));
    }
    Ok(arrays)
}

/// Reads features and labels out of an archive: the arrays of these names (or `feature` and `label`,
/// `x` and `y`), else the first one and, if there is one, the second.
///
/// # Errors
///
/// As [`read_npz`] and [`PickledData::from_arrays`]; also where the archive is empty.
pub fn open_npz(name: &str, _policy: &Policy) -> Result<PickledData> {
    let mut arrays = read_npz(Path::new(name))?;
    let mut take = |names: [&str; 3]| {
        let at = arrays.iter().position(|(name, _)| names.contains(&name.as_str()))?;
        Some(arrays.remove(at).1)
    };
    let (features, labels) = (take(["features", "feature", "x"]), take(["labels", "label", "y"]));
    let mut rest = arrays.into_iter().map(|(_, array)| array);
    let Some(features) = features.or_else(|| rest.next()) else {
        let problem = Problem::Unsupported("it holds no arrays".into());
        return Err(Error::format(NPZ, problem).in_file(name));
    };
    let labels = labels.or_else(|| rest.next());
    PickledData::from_arrays(features, labels.as_ref()).map_err(|error| error.in_file(name))
}

/// Writes arrays with their names into an archive, uncompressed, as `numpy.savez` does.
///
/// # Errors
///
/// Fails when writing fails, or two arrays have one name.
pub fn write_npz(name: &WxFilename, arrays: &[(&str, &Array)], policy: &Policy) -> Result<()> {
    let mut output = Output::create(name, policy)?;
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

/// A cursor over a file that has none.
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

//! Writes a cache while the program goes on.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use seqfeed_core::{Error, Result};
use seqfeed_io::{shown_name, write_atomically};

use super::{Settings, Stamp, encode, path};
use crate::ctf::CtfIndex;

/// Writes the cache for a data file, next to it, and returns its path. Others see the old cache or
/// the new one, never a part.
///
/// `stamp` is the file's stamp before it was scanned.
///
/// # Errors
///
/// Fails if the directory cannot be written to, if the file has changed since the stamp was taken,
/// or if the index cannot be stored (see [`encode`]). No program needs to stop because of it: the
/// next one scans the file again.
pub fn write(index: &CtfIndex, data: &Path, settings: &Settings, stamp: &Stamp) -> Result<PathBuf> {
    let place = |error: Error| error.in_file(shown_name(data));
    let Some(bytes) = encode(index, settings, stamp) else {
        return Err(place(Error::usage("the index contradicts itself and is not cached")));
    };
    if Stamp::of(data)? != *stamp {
        let error = Error::corpus("the file changed while its index was made; it is not cached");
        return Err(place(error.with_help("write data under another name and rename them")));
    }
    let cache = path(data, settings);
    // If a crash of the machine damages a cache, its checksum shows this.
    write_atomically(&cache, &bytes, false)?;
    Ok(cache)
}

/// Writes the cache for a data file in a thread of its own, as [`write()`] does.
///
/// ```
/// use std::sync::Arc;
/// use seqfeed_cntk::ctf::{CtfIndex, CtfSequence, cache};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// let data = directory.path().join("train.ctf");
/// std::fs::write(&data, "0 |x 1\n0 |x 2\n")?;
/// let settings = cache::Settings::default();
/// let stamp = cache::Stamp::of(&data)?;
/// // ... the file is scanned ...
/// let index = Arc::new(CtfIndex {
///     sequences: vec![CtfSequence { key: 0, offset: 0, bytes: 14, samples: 2 }],
///     names: vec![],
///     file_bytes: 14,
/// });
/// let writing = cache::write_in_background(index.clone(), data.clone(), settings.clone(), stamp);
/// // ... training begins ...
/// writing.finish()?;
/// assert_eq!(cache::read(&data, &settings)?.map(|found| found.index).as_ref(), Some(&*index));
/// # Ok(())
/// # }
/// ```
pub fn write_in_background(
    index: Arc<CtfIndex>,
    data: PathBuf,
    settings: Settings,
    stamp: Stamp,
) -> Writing {
    let work = move || write(&index, &data, &settings, &stamp);
    let thread = thread::Builder::new().name("ctf-cache".to_owned()).spawn(work);
    Writing(Some(thread.map_err(|error| Error::io("starting a thread", error))))
}

/// A cache that is being written. Dropping it waits for the end, so that a short program does not
/// lose its cache.
#[derive(Debug)]
#[must_use = "dropping it waits until the cache is written"]
pub struct Writing(Option<Result<JoinHandle<Result<PathBuf>>>>);

impl Writing {
    /// Whether the cache has been written, or writing it has failed.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        !matches!(&self.0, Some(Ok(thread)) if !thread.is_finished())
    }

    /// Waits until the cache is written, and returns its path.
    ///
    /// # Errors
    ///
    /// As [`write()`], or if no thread could be started.
    pub fn finish(mut self) -> Result<PathBuf> {
        self.wait().unwrap_or_else(|| Err(Error::usage("the writing of the cache has ended")))
    }

    fn wait(&mut self) -> Option<Result<PathBuf>> {
        let panicked = |_| Err(Error::usage("the writing of the cache panicked"));
        Some(self.0.take()?.and_then(|thread| thread.join().unwrap_or_else(panicked)))
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        // A cache is a convenience. Call `finish` to learn of its failure.
        drop(self.wait());
    }
}

//! Compares inputs and outputs as files, not as names.
//!
//! A file has many names: relative ones, links, `/dev/stdout`. An existing file is identified by
//! its device and inode. A new file is identified by its directory and its name there.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use seqfeed_core::{Error, Result};

use crate::atomic::follow_links;
use crate::directory::parent_of;
use crate::{Location, WxFilename};

/// A device, and an inode on it.
type DeviceAndInode = (u64, u64);

/// The target of an output name.
#[derive(PartialEq, Eq, Hash)]
enum Written {
    File(DeviceAndInode),
    /// A file that does not exist yet: its directory, and its name in it.
    New(DeviceAndInode, OsString),
    /// Standard output that is not a file.
    Stdout,
}

/// The regular files that this crate opened for reading in any thread, since recording began.
///
/// A program that reads and writes checks before it writes whether an output is an input or another
/// output:
///
/// ```
/// use seqfeed_io::{Input, InputFiles, Opener, RxFilename, WxFilename};
///
/// # let directory = tempfile::tempdir().unwrap();
/// # let name = directory.path().join("feats.ark").display().to_string();
/// # std::fs::write(&name, "utt1 [ 1 2 ]\n").unwrap();
/// let inputs = InputFiles::record();
/// let input = Input::open(&RxFilename::parse(&name)?, &Opener::default())?;
/// assert!(inputs.check_outputs(&[WxFilename::parse(&name)?]).unwrap_err().is_usage());
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
///
/// Clones record the same files. Recording ends when the last clone is dropped.
/// [`default`](Self::default) records nothing.
#[derive(Clone, Debug, Default)]
pub struct InputFiles(Option<Arc<Recorded>>);

#[derive(Debug)]
struct Recorded(Mutex<HashSet<DeviceAndInode>>);

/// The active recorders, and their number.
static RECORDERS: Mutex<Vec<Weak<Recorded>>> = Mutex::new(Vec::new());
static RECORDING: AtomicUsize = AtomicUsize::new(0);

impl Drop for Recorded {
    fn drop(&mut self) {
        RECORDING.fetch_sub(1, Ordering::Relaxed);
    }
}

impl InputFiles {
    /// Begins to record.
    #[must_use]
    pub fn record() -> Self {
        let recorded = Arc::new(Recorded(Mutex::default()));
        RECORDING.fetch_add(1, Ordering::Relaxed);
        let mut recorders = lock(&RECORDERS);
        recorders.retain(|recorder| recorder.strong_count() > 0);
        recorders.push(Arc::downgrade(&recorded));
        Self(Some(recorded))
    }

    /// Fails if one of the outputs is a file that was read, or if two outputs are one file. Call it
    /// before the first output is opened. If inputs are opened after that, call it again before
    /// outputs appear.
    ///
    /// Commands, devices and named pipes are not files, and may occur several times.
    ///
    /// # Errors
    ///
    /// With a usage error that names the output.
    pub fn check_outputs<'a>(
        &self,
        outputs: impl IntoIterator<Item = &'a WxFilename>,
    ) -> Result<()> {
        let mut others: HashMap<Written, &WxFilename> = HashMap::new();
        for output in outputs {
            let Some(written) = Written::of(output) else { continue };
            if let Written::File(file) = &written
                && let Some(recorded) = &self.0
                && lock(&recorded.0).contains(file)
            {
                return Err(Error::usage("this file would be overwritten, but it is read here")
                    .in_file(output.to_string())
                    .with_help("write under another name"));
            }
            if let Some(other) = others.insert(written, output) {
                // Files may appear meanwhile, as shards do. Then one may have got the inode number
                // of another that was looked at before. So both are looked at again.
                if Written::of(other) != Written::of(output) {
                    continue;
                }
                let what = match other.to_string() == output.to_string() {
                    true => "two outputs have this name".to_owned(),
                    false => format!("this is the same file as {other}, another output"),
                };
                return Err(Error::usage(what)
                    .in_file(output.to_string())
                    .with_help("give each output a file of its own"));
            }
        }
        Ok(())
    }
}

impl Written {
    /// `None` for targets that are not files, and for files that cannot be made: opening them gives
    /// the reason.
    fn of(name: &WxFilename) -> Option<Self> {
        match name.location() {
            Location::Command(_) | Location::Url(_) => None,
            Location::Standard => match metadata_of(io::stdout().as_fd()) {
                Ok(metadata) if metadata.is_file() => Some(Self::File(file_of(&metadata))),
                _ => Some(Self::Stdout),
            },
            Location::Path(path) => {
                let path = follow_links(path).ok()?;
                match fs::metadata(&path) {
                    Ok(metadata) => metadata.is_file().then(|| Self::File(file_of(&metadata))),
                    Err(_) => {
                        let directory = fs::metadata(parent_of(&path)).ok()?;
                        Some(Self::New(file_of(&directory), path.file_name()?.to_owned()))
                    }
                }
            }
        }
    }
}

/// Opens a file for reading, as [`File::open`] does, and records it as an input.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if is_recording() {
        note(&file.metadata()?);
    }
    Ok(file)
}

/// Records the file behind standard input.
pub(crate) fn note_stdin() {
    if is_recording()
        && let Ok(metadata) = metadata_of(io::stdin().as_fd())
    {
        note(&metadata);
    }
}

fn is_recording() -> bool {
    RECORDING.load(Ordering::Relaxed) > 0
}

fn note(metadata: &Metadata) {
    if metadata.is_file() {
        let file = file_of(metadata);
        for recorder in lock(&RECORDERS).iter().filter_map(Weak::upgrade) {
            lock(&recorder.0).insert(file);
        }
    }
}

fn file_of(metadata: &Metadata) -> DeviceAndInode {
    (metadata.dev(), metadata.ino())
}

fn metadata_of(file: BorrowedFd<'_>) -> io::Result<Metadata> {
    File::from(file.try_clone_to_owned()?).metadata()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The set is valid after any panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;
    use crate::{DataFile, Input, Opener};

    fn file(path: impl Into<PathBuf>) -> WxFilename {
        path.into().into()
    }

    #[test]
    fn outputs_that_are_inputs_are_told_by_what_they_are() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        for name in ["stream", "data", "plain", "before"] {
            fs::write(at(name), "x").unwrap();
        }
        symlink("stream", at("link")).unwrap();
        fs::hard_link(at("data"), at("hard")).unwrap();
        drop(open_file(&at("before")).unwrap());
        let inputs = InputFiles::record();
        drop(Input::open(&at("stream").into(), &Opener::default()).unwrap());
        drop(DataFile::open(&at("data")).unwrap());
        drop(open_file(&at("plain")).unwrap());
        for name in ["stream", "data", "plain", "link", "hard"] {
            let error = inputs.clone().check_outputs(&[file(at(name))]).unwrap_err();
            assert!(error.to_string().contains("it is read here"), "{name}: {error}");
        }
        inputs.check_outputs(&[file(at("before")), file(at("new")), file("/dev/null")]).unwrap();
        InputFiles::default().check_outputs(&[file(at("stream"))]).unwrap();
    }

    #[test]
    fn outputs_that_are_one_file_are_told_too() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        fs::write(at("there"), "x").unwrap();
        symlink("there", at("link")).unwrap();
        symlink("new", at("dangling")).unwrap();
        let inputs = InputFiles::default();
        for (one, other) in
            [("there", "there"), ("there", "link"), ("new", "sub/../new"), ("new", "dangling")]
        {
            let error = inputs.check_outputs(&[file(at(one)), file(at(other))]).unwrap_err();
            assert!(error.is_usage(), "{one}, {other}: {error}");
        }
        inputs.check_outputs(&[file(at("new")), file(at("sub/new"))]).unwrap();
        inputs.check_outputs(&[file("/dev/null"), file("/dev/null")]).unwrap();
        let name = |name| WxFilename::parse(name).unwrap();
        inputs.check_outputs(&[name("-"), name("-")]).unwrap_err();
        let command = name("|cat");
        inputs.check_outputs(&[command.clone(), command]).unwrap();
    }
}

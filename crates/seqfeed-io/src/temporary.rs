//! Files and directories under temporary names, until they are complete.
//!
//! A temporary name is made of the target's, so that the next run finds what a run that was killed has left, and
//! takes it away. What somebody writes is locked (`flock`), which ends with the process; beside it one of a random
//! name is made.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use seqfeed_core::{Error, Result};
use tempfile::{NamedTempFile, TempPath};

/// What temporary names begin and end with.
const BEFORE: &str = ".seqfeed-";
const BEHIND: &str = ".part";
/// Bytes that a name may have on any file system.
const LONGEST_NAME: usize = 255;
/// The permissions of new files and directories, before the umask.
const FILE_MODE: u32 = 0o666;
const DIRECTORY_MODE: u32 = 0o777;

/// Makes the temporary file of a target in its directory, open and locked.
pub(crate) fn temporary_file(target: &Path, directory: &Path) -> io::Result<(File, TempPath)> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(FILE_MODE);
    let make = |path: &Path| options.open(path);
    if let Some((path, file)) = made_by_name(target, directory, make)? {
        return Ok((file, TempPath::try_from_path(path)?));
    }
    let made = builder(FILE_MODE, |builder| builder.tempfile_in(directory))?;
    Ok(NamedTempFile::into_parts(made))
}

fn builder<T>(mode: u32, make: impl FnOnce(&tempfile::Builder<'_, '_>) -> T) -> T {
    make(
        tempfile::Builder::new()
            .prefix(BEFORE)
            .suffix(BEHIND)
            .permissions(Permissions::from_mode(mode)),
    )
}

/// Makes a file or directory of the temporary name of a target, and locks it. Nothing, if the name is too long, or
/// taken by somebody who is alive.
fn made_by_name(
    target: &Path,
    directory: &Path,
    make: impl Fn(&Path) -> io::Result<File>,
) -> io::Result<Option<(PathBuf, File)>> {
    let mut name = OsString::from(BEFORE);
    name.push(target.file_name().unwrap_or_default());
    name.push(BEHIND);
    if name.len() > LONGEST_NAME {
        return Ok(None);
    }
    let path = directory.join(name);
    // Twice: what is left of an earlier run is in the way the first time.
    for _ in 0..2 {
        match make(&path) {
            Ok(file) => {
                // Where nothing can be locked, nothing is ever taken away.
                let _ = flock(&file, FlockOperation::LockExclusive);
                // Between being made and being locked it may have been taken for left behind.
                return Ok(is_at(&file, &path).then_some((path, file)));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if !remove_left(&path) {
                    break;
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Removes what nobody writes any more: whether the name is free then.
fn remove_left(path: &Path) -> bool {
    match fs::symlink_metadata(path) {
        // Links, pipes and devices are not ours, and opening them may wait or do something.
        Ok(found) if !found.is_file() && !found.is_dir() => return false,
        Ok(_) => {}
        Err(error) => return error.kind() == io::ErrorKind::NotFound,
    }
    let Ok(file) = File::open(path) else { return false };
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() || !is_at(&file, path) {
        return false;
    }
    let is_directory = file.metadata().is_ok_and(|found| found.is_dir());
    let removed = if is_directory { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    removed.is_ok()
}

/// Whether an open file or directory still has a name.
fn is_at(file: &File, path: &Path) -> bool {
    let same = || -> io::Result<bool> {
        let (own, found) = (file.metadata()?, fs::symlink_metadata(path)?);
        Ok((own.dev(), own.ino()) == (found.dev(), found.ino()))
    };
    same().unwrap_or(false)
}

/// A directory that appears under its name only when it is [finished](Self::finish). One that is dropped before
/// leaves no trace.
#[derive(Debug)]
pub struct OutputDirectory {
    temporary: PathBuf,
    target: PathBuf,
    /// Keeps others from taking it for left behind.
    _lock: Option<File>,
    finished: bool,
}

impl OutputDirectory {
    /// Makes the directory, under a temporary name beside its own.
    ///
    /// # Errors
    ///
    /// When something of this name is there already, or a directory cannot be made.
    pub fn create(target: &Path) -> Result<Self> {
        let name = target.display().to_string();
        if fs::symlink_metadata(target).is_ok() {
            return Err(Error::usage("something of this name is there already")
                .in_file(name)
                .with_help(
                    "files are written into a new directory: remove the old one, or choose another name",
                ));
        }
        let parent = target.parent().filter(|parent| *parent != Path::new(""));
        let parent = parent.unwrap_or(Path::new("."));
        let make = |path: &Path| {
            DirBuilder::new().create(path)?;
            File::open(path)
        };
        let made = || -> io::Result<Self> {
            let (temporary, lock) = match made_by_name(target, parent, make)? {
                Some((path, lock)) => (path, Some(lock)),
                None => {
                    let made = builder(DIRECTORY_MODE, |builder| builder.tempdir_in(parent))?;
                    (made.keep(), None)
                }
            };
            Ok(Self { temporary, target: target.to_owned(), _lock: lock, finished: false })
        };
        made().map_err(|error| Error::io("creating", error).in_file(name))
    }

    /// The directory, as long as it is not finished.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.temporary
    }

    /// The name that it will have.
    #[must_use]
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Gives the directory its name.
    ///
    /// # Errors
    ///
    /// When it cannot be renamed.
    pub fn finish(mut self) -> Result<()> {
        fs::rename(&self.temporary, &self.target).map_err(|error| {
            Error::io("renaming", error).in_file(self.target.display().to_string())
        })?;
        self.finished = true;
        Ok(())
    }
}

impl Drop for OutputDirectory {
    fn drop(&mut self) {
        if !self.finished {
            // What cannot be removed now, the next run removes.
            let _ = fs::remove_dir_all(&self.temporary);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> =
            entries.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_left_behind_is_taken_away_and_what_is_written_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let (at, target) = (directory.path(), directory.path().join("x.ark"));
        fs::write(at.join(".seqfeed-x.ark.part"), "left by a run that was killed").unwrap();
        let (first, first_path) = temporary_file(&target, at).unwrap();
        assert_eq!(first.metadata().unwrap().len(), 0);
        assert_eq!(names(at), [".seqfeed-x.ark.part"]);
        let (_second, second_path) = temporary_file(&target, at).unwrap();
        assert_ne!(first_path.to_path_buf(), second_path.to_path_buf());
        assert_eq!(names(at).len(), 2, "the first is still being written");
        drop((first_path, second_path));
        assert!(names(at).is_empty());
        // What is none of ours stays.
        std::os::unix::fs::symlink("elsewhere", at.join(".seqfeed-x.ark.part")).unwrap();
        let (_file, path) = temporary_file(&target, at).unwrap();
        assert_eq!(names(at).len(), 2);
        drop(path);
        // Names that leave no room for ours.
        let long = at.join("n".repeat(250));
        let (_file, path) = temporary_file(&long, at).unwrap();
        assert!(path.file_name().unwrap().len() < 40);
    }

    #[test]
    fn directories_appear_when_they_are_whole() {
        let directory = tempfile::tempdir().unwrap();
        let (at, target) = (directory.path(), directory.path().join("out"));
        fs::create_dir(at.join(".seqfeed-out.part")).unwrap();
        fs::write(at.join(".seqfeed-out.part/old"), "left").unwrap();
        let one = OutputDirectory::create(&target).unwrap();
        let other = OutputDirectory::create(&target).unwrap();
        assert_ne!(one.path(), other.path());
        fs::write(one.path().join("new"), "x").unwrap();
        one.finish().unwrap();
        drop(other);
        assert_eq!(names(at), ["out"]);
        assert_eq!(names(&target), ["new"]);
        let error = OutputDirectory::create(&target).unwrap_err();
        assert!(
            error.is_usage() && error.help().unwrap().contains("remove the old one"),
            "{error}"
        );
    }
}

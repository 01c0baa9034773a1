//! Files and directories under temporary names, until they are complete.
//!
//! A temporary name is made of the target's, so that the next run finds what a run that was killed
//! has left, and takes it away. What somebody writes is locked (`flock`), which ends with the
//! process; beside it one of a random name is made. What nobody locks any more, nobody writes: it
//! may be taken away.
//!
//! The process knows all its temporary names, so that it can take them away when a signal ends it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{FlockOperation, flock};
use seqfeed_core::{Error, Result};

use crate::directory::parent_of;
use crate::remove::remove_if_there;
use crate::shown_name;

/// What temporary names begin and end with.
const BEFORE: &str = ".seqfeed-";
const BEHIND: &str = ".part";
/// Bytes that a name may have on any file system.
const LONGEST_NAME: usize = 255;
/// The permissions of new files and directories, before the umask.
const FILE_MODE: u32 = 0o666;
const DIRECTORY_MODE: u32 = 0o777;

/// In a directory that is not whole yet, though it has its name.
const UNFINISHED: &str = ".seqfeed-unfinished";

/// All temporary files and directories of this process.
static NAMES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn own_names() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    // A set is whole after any panic.
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps temporary files as they are: see [`remove_temporary_files`].
#[derive(Debug)]
pub struct TemporaryFilesRemoved {
    _names: MutexGuard<'static, BTreeSet<PathBuf>>,
}

/// Removes all temporary files and directories of this process. As long as the result is kept, no
/// more are made and none gets its name: other threads that want to wait. For a program that a
/// signal ends.
#[must_use = "other threads go on when it is dropped"]
pub fn remove_temporary_files() -> TemporaryFilesRemoved {
    let names = own_names();
    for path in names.iter() {
        let is_directory = fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
        // What cannot be removed now, a later run removes.
        let _ = if is_directory { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    }
    TemporaryFilesRemoved { _names: names }
}

/// What [`remove_left_behind`] found in a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftBehind {
    /// Files and directories that were removed: nobody wrote them any more.
    pub removed: Vec<PathBuf>,
    /// Those that stay: somebody writes them, or it cannot be known.
    pub kept: Vec<PathBuf>,
}

/// Removes the temporary files and directories (`.seqfeed-NAME.part`) that processes which were
/// killed have left in a directory. What a process that lives writes is locked by it, and stays; so
/// does all where nothing can be locked.
///
/// # Errors
///
/// When the directory cannot be read.
pub fn remove_left_behind(directory: &Path) -> Result<LeftBehind> {
    let fail = |error| Error::io("reading", error).in_file(shown_name(directory));
    let mut found = LeftBehind::default();
    for entry in fs::read_dir(directory).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let (name, path) = (entry.file_name(), entry.path());
        if !(name.as_bytes().starts_with(BEFORE.as_bytes())
            && name.as_bytes().ends_with(BEHIND.as_bytes()))
        {
            continue;
        }
        let list = if remove_left(&path) { &mut found.removed } else { &mut found.kept };
        list.push(path);
    }
    found.removed.sort();
    found.kept.sort();
    Ok(found)
}

/// The name of a temporary file. The file is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct TemporaryName {
    path: PathBuf,
    /// Whether the file has another name by now: then nothing is to be removed at this
    /// one any more.
    persisted: bool,
}

impl TemporaryName {
    fn new(path: PathBuf) -> Self {
        Self { path, persisted: false }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name, instead of what is there.
    pub(crate) fn persist(mut self, target: &Path) -> io::Result<()> {
        let mut names = own_names();
        fs::rename(&self.path, target)?;
        names.remove(&self.path);
        self.persisted = true;
        Ok(())
    }
}

impl Drop for TemporaryName {
    fn drop(&mut self) {
        if self.persisted {
            return;
        }
        let mut names = own_names();
        // What cannot be removed now, the next run removes.
        let _ = fs::remove_file(&self.path);
        names.remove(&self.path);
    }
}

/// Makes the temporary file of a target in its directory, open and locked.
pub(crate) fn temporary_file(target: &Path, directory: &Path) -> io::Result<(File, TemporaryName)> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(FILE_MODE);
    let mut names = own_names();
    let made = match made_by_name(target, directory, |path: &Path| options.open(path))? {
        Some(made) => Ok(made),
        None => made_by_chance(directory),
    };
    made.map(|(path, file)| {
        names.insert(path.clone());
        (file, TemporaryName::new(path))
    })
}

/// Makes a temporary file of no target, open and locked.
pub(crate) fn unnamed_file(directory: &Path) -> io::Result<(File, TemporaryName)> {
    let mut names = own_names();
    made_by_chance(directory).map(|(path, file)| {
        names.insert(path.clone());
        (file, TemporaryName::new(path))
    })
}

fn builder<T>(mode: u32, make: impl FnOnce(&tempfile::Builder<'_, '_>) -> T) -> T {
    make(
        tempfile::Builder::new()
            .prefix(BEFORE)
            .suffix(BEHIND)
            .permissions(Permissions::from_mode(mode)),
    )
}

/// Makes a file of a random name, and locks it.
fn made_by_chance(directory: &Path) -> io::Result<(PathBuf, File)> {
    loop {
        let made = builder(FILE_MODE, |builder| builder.tempfile_in(directory))?;
        let (file, path) = made.keep().map_err(|error| error.error)?;
        // Between being made and being locked it may have been taken for left behind.
        if is_locked(&file, &path) {
            return Ok((path, file));
        }
    }
}

/// Locks what was made just now; false if it was taken away before.
fn is_locked(file: &File, path: &Path) -> bool {
    // Where nothing can be locked, nothing is ever taken away.
    let _ = flock(file, FlockOperation::LockExclusive);
    is_at(file, path)
}

/// Makes a file or directory of the temporary name of a target, and locks it. Nothing, if the name
/// is too long, or taken by somebody who is alive.
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
            Ok(file) => return Ok(is_locked(&file, &path).then_some((path, file))),
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

/// A directory that appears under its name only when it is [finished](Self::finish). One that is
/// dropped before leaves no trace.
///
/// Where other files belong to it that appear beside it, it is not whole before they are there.
/// Then it [appears](Self::appear) with a mark in it, which [`unmark`](Self::unmark) takes away at
/// last; what a killed process has left with its mark, the next run replaces.
#[derive(Debug)]
pub struct OutputDirectory {
    temporary: PathBuf,
    target: PathBuf,
    /// Keeps others from taking it for left behind.
    _lock: File,
    finished: bool,
}

impl OutputDirectory {
    /// Makes the directory, under a temporary name beside its own.
    ///
    /// # Errors
    ///
    /// When something of this name is there already (but for an empty directory, or one that is
    /// marked as not whole and that nobody writes any more), or a directory cannot be made.
    pub fn create(target: &Path) -> Result<Self> {
        let name = shown_name(target);
        let fail = |action, error| Error::io(action, error).in_file(&name);
        // What is empty is replaced when this appears.
        let is_free = match fs::read_dir(target).map(|mut entries| entries.next().is_none()) {
            Ok(is_empty) => {
                is_empty || remove_unfinished(target).map_err(|e| fail("removing", e))?
            }
            Err(_) => fs::symlink_metadata(target).is_err(),
        };
        if !is_free {
            return Err(Error::usage("something of this name is there already")
                .in_file(name)
                .with_help(
                    "files are written into a new directory: remove the old one, or choose another name",
                ));
        }
        let parent = parent_of(target);
        let make = |path: &Path| {
            DirBuilder::new().create(path)?;
            File::open(path)
        };
        let made = || -> io::Result<Self> {
            let mut names = own_names();
            let (temporary, lock) = loop {
                if let Some(made) = made_by_name(target, parent, make)? {
                    break made;
                }
                let path = builder(DIRECTORY_MODE, |builder| builder.tempdir_in(parent))?.keep();
                let lock = File::open(&path)?;
                if is_locked(&lock, &path) {
                    break (path, lock);
                }
            };
            names.insert(temporary.clone());
            Ok(Self { temporary, target: target.to_owned(), _lock: lock, finished: false })
        };
        made().map_err(|error| fail("creating", error))
    }

    /// As [`create`](Self::create), and makes the directories that it lies in, if they are not
    /// there. The [target](Self::target) is an absolute name then, without symbolic links.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create), and when the name is none of a directory.
    pub fn create_with_parents(target: &Path) -> Result<Self> {
        if let Ok(there) = fs::canonicalize(target) {
            return Self::create(&there);
        }
        let fail = |error: Error| error.in_file(shown_name(target));
        let Some(name) = target.file_name() else {
            return Err(fail(Error::usage("this is not the name of a directory")));
        };
        let parent = parent_of(target);
        fs::create_dir_all(parent).map_err(|error| fail(Error::io("making", error)))?;
        let parent = fs::canonicalize(parent).map_err(|error| fail(Error::io("reading", error)))?;
        Self::create(&parent.join(name))
    }

    /// Writes a new file of the directory, as long as that is not finished. False, and nothing
    /// happens, if it has one of this name.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write(&self, name: impl AsRef<Path>, bytes: &[u8]) -> Result<bool> {
        let name = name.as_ref();
        let written = File::create_new(self.path().join(name))
            .and_then(|mut file| file.write_all(bytes).map(|()| true));
        match written {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            written => written.map_err(|error| {
                Error::io("writing", error).in_file(shown_name(self.target().join(name)))
            }),
        }
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
        self.rename()
    }

    fn rename(&mut self) -> Result<()> {
        let mut names = own_names();
        fs::rename(&self.temporary, &self.target)
            .map_err(|error| Error::io("renaming", error).in_file(shown_name(&self.target)))?;
        names.remove(&self.temporary);
        drop(names);
        self.temporary.clone_from(&self.target);
        self.finished = true;
        Ok(())
    }

    /// Gives the directory its name, with the mark that not all is there that belongs to it. No
    /// other process takes it for left behind before this is dropped.
    ///
    /// # Errors
    ///
    /// When it cannot be marked or renamed.
    pub fn appear(&mut self) -> Result<()> {
        let mark = self.temporary.join(UNFINISHED);
        File::create_new(&mark)
            .map_err(|error| Error::io("creating", error).in_file(shown_name(&mark)))?;
        self.rename()
    }

    /// Takes away the mark of a directory that has [appeared](Self::appear): all is there now.
    ///
    /// # Errors
    ///
    /// When it cannot be removed. That there is none is no error.
    pub fn unmark(target: &Path) -> Result<()> {
        remove_if_there(&target.join(UNFINISHED))
    }
}

/// Removes a directory that is marked as not whole and that nobody writes any more;
/// whether it is gone.
fn remove_unfinished(path: &Path) -> io::Result<bool> {
    if !path.join(UNFINISHED).is_file() || fs::symlink_metadata(path)?.is_symlink() {
        return Ok(false);
    }
    let directory = File::open(path)?;
    if flock(&directory, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(false);
    }
    // The mark goes last: a kill in the middle leaves what can be removed again.
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_name() != UNFINISHED {
            fs::remove_file(entry.path())?;
        }
    }
    fs::remove_file(path.join(UNFINISHED))?;
    fs::remove_dir(path).map(|()| true)
}

impl Drop for OutputDirectory {
    fn drop(&mut self) {
        if !self.finished {
            let mut names = own_names();
            // What cannot be removed now, the next run removes.
            let _ = fs::remove_dir_all(&self.temporary);
            names.remove(&self.temporary);
        }
    }
}

/// The error of a temporary file, with what can be done about it.
pub(crate) fn failed(action: &'static str, error: io::Error, name: String) -> Error {
    let help = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "set TMPDIR to a directory with more room"
        }
        _ => "set TMPDIR to a directory that can be written to",
    };
    Error::system(action, error).in_file(name).with_help(help)
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
        assert_ne!(first_path.path(), second_path.path());
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
        assert!(path.path().file_name().unwrap().len() < 40);
    }

    #[test]
    fn what_nobody_writes_is_found_in_a_directory() {
        let directory = tempfile::tempdir().unwrap();
        let (at, target) = (directory.path(), directory.path().join("x.ark"));
        fs::write(at.join(".seqfeed-abc.part"), "left").unwrap();
        fs::create_dir(at.join(".seqfeed-out.part")).unwrap();
        fs::write(at.join(".seqfeed-out.part/a.htk"), "left").unwrap();
        fs::write(at.join("seqfeed.part"), "another").unwrap();
        let (_named, named_path) = temporary_file(&target, at).unwrap();
        let (_beside, beside_path) = temporary_file(&target, at).unwrap();
        let (_unnamed, unnamed_path) = unnamed_file(at).unwrap();
        let written = OutputDirectory::create(&at.join("dir")).unwrap();
        let found = remove_left_behind(at).unwrap();
        let left = [".seqfeed-abc.part", ".seqfeed-out.part"].map(|name| at.join(name));
        assert_eq!(found.removed, left);
        let mut kept = [named_path.path(), beside_path.path(), unnamed_path.path(), written.path()];
        kept.sort();
        assert_eq!(found.kept, kept);
        assert_eq!(names(at).len(), 5);
    }

    #[test]
    fn a_directory_with_its_mark_is_replaced_when_nobody_writes_it() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("out");
        fs::create_dir(&target).unwrap();
        // What is empty is no obstacle.
        let mut first = OutputDirectory::create(&target).unwrap();
        fs::write(first.path().join("a"), "1").unwrap();
        first.appear().unwrap();
        assert_eq!(names(&target), [".seqfeed-unfinished", "a"]);
        assert!(OutputDirectory::create(&target).unwrap_err().is_usage(), "it is written");
        // As if its process was killed now.
        drop(first);
        let mut second = OutputDirectory::create(&target).unwrap();
        fs::write(second.path().join("b"), "2").unwrap();
        second.appear().unwrap();
        OutputDirectory::unmark(&target).unwrap();
        OutputDirectory::unmark(&target).unwrap();
        drop(second);
        assert_eq!(names(&target), ["b"]);
        assert!(OutputDirectory::create(&target).unwrap_err().is_usage());
        assert_eq!(names(directory.path()), ["out"]);
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

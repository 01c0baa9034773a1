//! Files and directories with temporary names, until they are complete.
//!
//! A temporary name is made from the target's name, so that the next run finds and removes a file
//! that a killed run has left. A file that is being written is locked (`flock`); the lock ends with
//! the process. If the name is taken by a living process, a random name is used. A file without a
//! lock is not being written any more, so it may be removed.
//!
//! The process knows all its temporary names, so that it can remove them when a signal ends it.

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

/// The beginning and the end of temporary names.
const BEFORE: &str = ".seqfeed-";
const BEHIND: &str = ".part";
/// The most bytes of a name on any file system.
const LONGEST_NAME: usize = 255;
/// The permissions of new files and directories, before the umask.
const FILE_MODE: u32 = 0o666;
const DIRECTORY_MODE: u32 = 0o777;

/// The mark in a directory that is not whole yet, though it has its name.
const UNFINISHED: &str = ".seqfeed-unfinished";

/// All temporary files and directories of this process.
static NAMES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn own_names() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    // The set is valid after any panic.
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps other threads from making temporary files: see [`remove_temporary_files`].
#[derive(Debug)]
pub struct TemporaryFilesRemoved {
    _names: MutexGuard<'static, BTreeSet<PathBuf>>,
}

/// Removes all temporary files and directories of this process. As long as the result is kept, no
/// more are made and none gets its name: other threads wait. This is for a program that a signal
/// ends.
#[must_use = "other threads go on when it is dropped"]
pub fn remove_temporary_files() -> TemporaryFilesRemoved {
    let names = own_names();
    for path in names.iter() {
        let is_directory = fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
        // A later run removes what cannot be removed now.
        let _ = if is_directory { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    }
    TemporaryFilesRemoved { _names: names }
}

/// The temporary files that [`remove_left_behind`] found in a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftBehind {
    /// Files and directories that were removed, since nobody was writing them.
    pub removed: Vec<PathBuf>,
    /// Those that stay, since somebody may be writing them.
    pub kept: Vec<PathBuf>,
}

/// Removes temporary files and directories (`.seqfeed-NAME.part`) that killed processes have left
/// in a directory. A living process locks the files that it writes, so they stay. If nothing can be
/// locked, all stay.
///
/// # Errors
///
/// If the directory cannot be read.
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
    /// Whether the file has its final name. Then there is nothing to remove at this name.
    persisted: bool,
}

impl TemporaryName {
    fn new(path: PathBuf) -> Self {
        Self { path, persisted: false }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name, and replaces an existing file.
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
        // The next run removes it if it cannot be removed now.
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

/// Makes a temporary file without a target, open and locked.
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

/// Makes a file with a random name, and locks it.
fn made_by_chance(directory: &Path) -> io::Result<(PathBuf, File)> {
    loop {
        let made = builder(FILE_MODE, |builder| builder.tempfile_in(directory))?;
        let (file, path) = made.keep().map_err(|error| error.error)?;
        // Before it was locked, another process may have removed it.
        if is_locked(&file, &path) {
            return Ok((path, file));
        }
    }
}

/// Locks a file that was made just now. Returns false if it was removed before.
fn is_locked(file: &File, path: &Path) -> bool {
    // If nothing can be locked, nothing is ever removed.
    let _ = flock(file, FlockOperation::LockExclusive);
    is_at(file, path)
}

/// Makes a file or directory with the temporary name of a target, and locks it. `None` if the name
/// is too long, or taken by a living process.
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
    // Twice: the first time, a file that an earlier run has left may be in the way.
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

/// Removes a file that nobody is writing. Returns whether the name is free then.
fn remove_left(path: &Path) -> bool {
    match fs::symlink_metadata(path) {
        // Links, pipes and devices are not ours, and opening them may wait or have effects.
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

/// Whether an open file or directory still has the name.
fn is_at(file: &File, path: &Path) -> bool {
    let same = || -> io::Result<bool> {
        let (own, found) = (file.metadata()?, fs::symlink_metadata(path)?);
        Ok((own.dev(), own.ino()) == (found.dev(), found.ino()))
    };
    same().unwrap_or(false)
}

/// A directory that appears under its name only when it is [finished](Self::finish). If it is
/// dropped before, it leaves no trace.
///
/// Other files may belong to it and appear beside it. Then it is not whole before they are there.
/// So it [appears](Self::appear) with a mark in it, and [`unmark`](Self::unmark) removes the mark
/// at the end. If a killed process leaves a directory with its mark, the next run replaces it.
#[derive(Debug)]
pub struct OutputDirectory {
    temporary: PathBuf,
    target: PathBuf,
    /// Keeps others from removing it as left behind.
    _lock: File,
    finished: bool,
}

impl OutputDirectory {
    /// Makes the directory with a temporary name beside its own.
    ///
    /// # Errors
    ///
    /// If something of this name exists, or a directory cannot be made. Two directories may exist:
    /// an empty one, and one that is marked as not whole and that nobody is writing.
    pub fn create(target: &Path) -> Result<Self> {
        let name = shown_name(target);
        let fail = |action, error| Error::io(action, error).in_file(&name);
        // An empty directory is replaced when this one appears.
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

    /// The same as [`create`](Self::create), but also makes missing parent directories. The
    /// [target](Self::target) is then an absolute name without symbolic links.
    ///
    /// # Errors
    ///
    /// The same as [`create`](Self::create), and if the name cannot be a directory.
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

    /// Writes a new file into the directory, before it is finished. Returns false and does nothing
    /// if it has a file of this name.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
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

    /// The directory, before it is finished.
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
    /// If it cannot be renamed.
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

    /// Gives the directory its name, with the mark that its other files are not there yet. No other
    /// process removes it before this value is dropped.
    ///
    /// # Errors
    ///
    /// If it cannot be marked or renamed.
    pub fn appear(&mut self) -> Result<()> {
        let mark = self.temporary.join(UNFINISHED);
        File::create_new(&mark)
            .map_err(|error| Error::io("creating", error).in_file(shown_name(&mark)))?;
        self.rename()
    }

    /// Removes the mark of a directory that has [appeared](Self::appear): it is whole now.
    ///
    /// # Errors
    ///
    /// If it cannot be removed. A missing mark is no error.
    pub fn unmark(target: &Path) -> Result<()> {
        remove_if_there(&target.join(UNFINISHED))
    }
}

/// Removes a directory that is marked as not whole and that nobody is writing. Returns whether it
/// is gone.
fn remove_unfinished(path: &Path) -> io::Result<bool> {
    if !path.join(UNFINISHED).is_file() || fs::symlink_metadata(path)?.is_symlink() {
        return Ok(false);
    }
    let directory = File::open(path)?;
    if flock(&directory, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(false);
    }
    // The mark goes last, so that after a kill in between the rest can still be removed.
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
            // The next run removes it if it cannot be removed now.
            let _ = fs::remove_dir_all(&self.temporary);
            names.remove(&self.temporary);
        }
    }
}

/// The error for a temporary file, with its cure.
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

//! Files that appear under their name only when they are complete.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use seqfeed_core::{Error, Result};

use crate::directory::parent_of;
use crate::remove::removed;
use crate::shown_name;
use crate::temporary::{TemporaryName, temporary_file};

/// Writes a whole file at once. Under its name stands either the old content or all of the new one.
/// The permissions of an existing file stay.
///
/// With `durable` the content is on the disk before it gets its name. Then not even a crash of the
/// machine leaves half a file.
///
/// # Errors
///
/// If the operating system fails to write, or the name is a directory. The old file is then
/// untouched.
pub fn write_atomically(path: &Path, bytes: &[u8], durable: bool) -> Result<()> {
    let write = || match Target::find(path)? {
        Target::Direct(mut file, _) => file.write_all(bytes),
        Target::Renamed(pending, mut file) => {
            file.write_all(bytes)?;
            pending.seal(file, durable)?.appear()
        }
    };
    write().map_err(|error| Error::io("writing", error).in_file(shown_name(path)))
}

/// The destination of the bytes for a name.
pub(crate) enum Target {
    /// The existing file itself: a device, a named pipe.
    Direct(File, Metadata),
    /// A temporary file next to the name, which is renamed at the end.
    Renamed(Pending, File),
}

/// A temporary file that will get its name. Dropping it removes the file. If a killed process
/// leaves one, the next process that writes the same target removes it.
pub(crate) struct Pending {
    temporary: TemporaryName,
    target: PathBuf,
    permissions: Option<Permissions>,
}

/// A temporary file that is complete. It stays open, and so locked, until it has its name.
pub(crate) struct Sealed(Pending, File);

impl Target {
    /// Opens the target of a path for writing.
    pub(crate) fn find(path: &Path) -> io::Result<Self> {
        let target = follow_links(path)?;
        let existing = match fs::metadata(&target) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        // Paths to open files (`/dev/stdout`, `>(command)` of a shell) lead into these directories.
        let is_open_file = target.starts_with("/proc") || target.starts_with("/dev/fd");
        let permissions = match existing {
            Some(metadata) if metadata.is_dir() => {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            Some(metadata) if is_open_file || !metadata.is_file() => {
                let file = OpenOptions::new().write(true).truncate(true).open(&target)?;
                return Ok(Self::Direct(file, metadata));
            }
            Some(metadata) => {
                // A file without permission to write must not be replaced either.
                OpenOptions::new().write(true).open(&target)?;
                Some(metadata.permissions())
            }
            None => None,
        };
        Pending::new(target, permissions).map(|(pending, file)| Self::Renamed(pending, file))
    }
}

impl Pending {
    fn new(target: PathBuf, permissions: Option<Permissions>) -> io::Result<(Self, File)> {
        let is_directory = target.as_os_str().as_bytes().ends_with(b"/");
        if is_directory || target.file_name().is_none() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "this is not a file name"));
        }
        let directory = parent_of(&target);
        let (file, temporary) = temporary_file(&target, directory).map_err(|error| {
            // A lack of file handles has a message of its own, and nothing to do with the name.
            if matches!(Errno::from_io_error(&error), Some(Errno::MFILE | Errno::NFILE)) {
                return error;
            }
            // The message leaves the temporary name out, which means nothing to the user.
            let kind = error.kind();
            let directory = shown_name(directory);
            let message = match kind {
                io::ErrorKind::NotFound => {
                    format!("there is no directory {directory} (make it first)")
                }
                _ => format!("no file can be made in {directory}: {kind}"),
            };
            io::Error::new(kind, message)
        })?;
        Ok((Self { temporary, target, permissions }, file))
    }

    /// Gives the file its name now, while it is still being written.
    pub(crate) fn appear_now(self, file: &File) -> io::Result<()> {
        if let Some(permissions) = self.permissions {
            file.set_permissions(permissions)?;
        }
        self.temporary.persist(&self.target)
    }

    /// Completes the file: its content is final.
    pub(crate) fn seal(self, file: File, durable: bool) -> io::Result<Sealed> {
        if let Some(permissions) = &self.permissions {
            file.set_permissions(permissions.clone())?;
        }
        if durable {
            match file.sync_all() {
                // Some file systems have nothing to synchronise.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
                result => result?,
            }
        }
        Ok(Sealed(self, file))
    }
}

impl Sealed {
    /// Removes the file that has the name now.
    pub(crate) fn remove_old(&self) -> io::Result<()> {
        removed(&self.0.target)
    }

    /// Gives the file its name.
    pub(crate) fn appear(self) -> io::Result<()> {
        let Self(Pending { temporary, target, .. }, _file) = self;
        temporary.persist(&target)
    }
}

/// The path behind symbolic links, whether it exists or not. The program writes through a link and
/// does not replace it.
pub(crate) fn follow_links(path: &Path) -> io::Result<PathBuf> {
    // Linux follows this many.
    const MOST: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST {
        if path.starts_with("/proc") || path.starts_with("/dev/fd") {
            return Ok(path);
        }
        match fs::read_link(&path) {
            Ok(link) => path = path.parent().unwrap_or(Path::new("")).join(link),
            // Not a link, or nothing there.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

//! Small files that are read as a whole: descriptions, configurations, lists.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use seqfeed_core::{Error, ErrorKind, Result};

use crate::same_file::open_file;
use crate::{FileKind, Location, Opener, shown_name};

impl Opener {
    /// Reads a whole file of settings, of at most `most` bytes. `what` names it in messages.
    ///
    /// # Errors
    ///
    /// If it cannot be read, is a directory or a [named pipe](Self::refuse_named_pipe), or is
    /// larger.
    pub fn read_settings(
        &self,
        location: &Location,
        what: &'static str,
        most: u64,
    ) -> Result<Vec<u8>> {
        if let Some(path) = location.path() {
            return read(path, what, most, open_file);
        }
        let file = self.open(location)?;
        check_size(file.len(), what, most).map_err(|error| error.in_file(file.name()))?;
        let mut bytes = vec![0; file.len() as usize];
        file.read_exact_at(&mut bytes, 0, what)?;
        Ok(bytes)
    }

    /// Refuses a named pipe where a file is read more than once: opening it waits for a writer, and
    /// bytes can be read only once. A pipe that a shell has made (`<(command)`) belongs to a
    /// process and has a writer, so it is allowed.
    ///
    /// # Errors
    ///
    /// If the location is a named pipe.
    pub fn refuse_named_pipe(&self, location: &Location) -> Result<()> {
        let directories = ["/dev/fd", "/proc", "/dev/stdin"];
        let is_own = |path: &Path| !directories.iter().any(|shell| path.starts_with(shell));
        let may_be_one = location.path().is_some_and(is_own);
        let found = if may_be_one { self.probe(location).ok() } else { None };
        if found.is_none_or(|found| found.kind != FileKind::NamedPipe) {
            return Ok(());
        }
        Err(Error::usage("this is a named pipe, and such files are read more than once")
            .in_file(location.to_string())
            .with_help(
                "copy it into a file first; a table of Kaldi's is read from a pipe by its name: ark:FILE, or ark:- from \
                 standard input",
            ))
    }
}

/// Reads a file that the same program writes again, such as a state. It is like
/// [`Opener::read_settings`], but the file does not count as an input that must not be overwritten.
///
/// # Errors
///
/// The same as [`Opener::read_settings`].
pub fn read_record(path: &Path, what: &'static str, most: u64) -> Result<Vec<u8>> {
    read(path, what, most, |path| File::open(path))
}

fn read(
    path: &Path,
    what: &'static str,
    most: u64,
    open: impl Fn(&Path) -> io::Result<File>,
) -> Result<Vec<u8>> {
    let name = || shown_name(path);
    let fail = |action, error| Error::io(action, error).in_file(name());
    Opener::default().refuse_named_pipe(&path.into())?;
    let file = open(path).map_err(|error| fail("opening", error))?;
    let metadata = file.metadata().map_err(|error| fail("opening", error))?;
    if metadata.is_dir() {
        return Err(fail("opening", rustix::io::Errno::ISDIR.into()));
    }
    let check = |len| check_size(len, what, most).map_err(|error| error.in_file(name()));
    if metadata.is_file() {
        check(metadata.len())?;
    }
    // Devices do not say their length.
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(|error| fail("reading", error))?;
    check(bytes.len() as u64)?;
    Ok(bytes)
}

fn check_size(wanted: u64, what: &'static str, limit: u64) -> Result<()> {
    match wanted <= limit {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::Limit { what, wanted, limit })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_large_or_no_file_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("settings");
        let read_settings =
            |path: &Path, what, most| Opener::default().read_settings(&path.into(), what, most);
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(read_settings(&path, "settings", 5).unwrap(), b"12345");
        for (path, most) in [(path.as_path(), 4), (Path::new("/dev/zero"), 1000)] {
            let error = read_settings(path, "settings", most).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Limit { limit, .. } if *limit == most));
        }
        let is = |path: &Path, kind| match read_settings(path, "settings", 9).unwrap_err().kind() {
            ErrorKind::Io { source, .. } => source.kind() == kind,
            _ => false,
        };
        assert!(is(directory.path(), io::ErrorKind::IsADirectory));
        assert!(is(&directory.path().join("absent"), io::ErrorKind::NotFound));
    }
}

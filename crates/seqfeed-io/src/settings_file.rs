//! Small files that are read whole: descriptions, configurations, lists.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use seqfeed_core::{Error, ErrorKind, Result};

use crate::{open_file, shown_name};

/// Reads a file of settings whole, which has `most` bytes at most. What it is called in
/// messages is `what`.
///
/// # Errors
///
/// When it cannot be read, is a directory or a [named pipe](refuse_named_pipe), or is larger.
pub fn read_settings(path: &Path, what: &'static str, most: u64) -> Result<Vec<u8>> {
    read(path, what, most, open_file)
}

/// Reads a file that the same program writes again, such as a state: as
/// [`read_settings`], but it is no input that must not be overwritten.
///
/// # Errors
///
/// As [`read_settings`].
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
    refuse_named_pipe(path)?;
    let file = open(path).map_err(|error| fail("opening", error))?;
    let metadata = file.metadata().map_err(|error| fail("opening", error))?;
    if metadata.is_dir() {
        return Err(fail("opening", rustix::io::Errno::ISDIR.into()));
    }
    let too_large =
        |wanted| Error::new(ErrorKind::Limit { what, wanted, limit: most }).in_file(name());
    if metadata.is_file() && metadata.len() > most {
        return Err(too_large(metadata.len()));
    }
    // Devices say nothing of their length.
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(|error| fail("reading", error))?;
    match bytes.len() as u64 <= most {
        true => Ok(bytes),
        false => Err(too_large(bytes.len() as u64)),
    }
}

/// Refuses a named pipe, for what is read more than once: opening it waits for somebody who writes,
/// and what was read of it is gone. One that a shell has made (`<(command)`) is a pipe of a
/// process, and has somebody.
///
/// # Errors
///
/// When the path is that of a named pipe.
pub fn refuse_named_pipe(path: &Path) -> Result<()> {
    let made_by_shell = ["/dev/fd", "/proc", "/dev/stdin"].iter().any(|of| path.starts_with(of));
    let is_pipe = || fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo());
    if made_by_shell || !is_pipe() {
        return Ok(());
    }
    Err(Error::usage("this is a named pipe, and such files are read more than once")
        .in_file(shown_name(path))
        .with_help(
            "copy it into a file first; a table of Kaldi's is read from a pipe by its name: ark:FILE, or ark:- from \
             standard input",
        ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_large_or_no_file_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("settings");
        fs::write(&path, "12345").unwrap();
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

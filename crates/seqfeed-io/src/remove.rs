//! Removal of files.

use std::path::Path;
use std::{fs, io};

use seqfeed_core::{Error, Result};

use crate::shown_name;

/// Removes a file if it exists.
///
/// # Errors
///
/// If it cannot be removed.
pub fn remove_if_there(path: &Path) -> Result<()> {
    removed(path).map_err(|error| Error::io("removing", error).in_file(shown_name(path)))
}

pub(crate) fn removed(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

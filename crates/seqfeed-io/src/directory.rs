//! Directories: the parent of a name, and new ones.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// The directory of a name.
pub(crate) fn parent_of(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    parent.unwrap_or(Path::new("."))
}

/// Makes a directory with these permissions, before the umask. An existing file or directory stays.
///
/// # Errors
///
/// If it cannot be made.
pub fn make_directory(path: &Path, mode: u32) -> io::Result<()> {
    if path.exists() { Ok(()) } else { DirBuilder::new().mode(mode).create(path) }
}

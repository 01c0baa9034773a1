//! Files mapped into memory.

use std::fmt;
use std::fs::File;
use std::sync::Arc;

use memmap2::{Mmap, MmapOptions};
use seqfeed_core::{Error, Problem, Result};

use crate::read_at::ReadAt;

/// A regular file mapped into memory.
///
/// Mapping saves copies. But if someone cuts the file short while it is mapped, touching the lost
/// part ends the process (`SIGBUS`). So it is a setting that users choose for files that do not
/// change, and callers [`check`](Self::check) before each use.
pub struct Mapped {
    map: Mmap,
    bytes: Arc<dyn ReadAt>,
    name: String,
}

impl Mapped {
    pub(crate) fn new(bytes: Arc<dyn ReadAt>, name: &str, len: u64) -> Result<Self> {
        let Some(file) = bytes.file() else {
            return Err(Error::usage("only local files can be mapped into memory")
                .in_file(name)
                .with_help("read it without mapping, or copy it to a local disk"));
        };
        check_len(&*bytes, name, len)?;
        let map = map(file, len).map_err(|error| Error::io("mapping", error).in_file(name))?;
        Ok(Self { map, bytes, name: name.to_owned() })
    }

    /// The length of the map: the length of the file when it was opened.
    #[must_use]
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether the map is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Checks that the file is still as long as the map.
    ///
    /// # Errors
    ///
    /// If it is shorter. The bytes beyond its end must not be touched then.
    pub fn check(&self) -> Result<()> {
        check_len(&*self.bytes, &self.name, self.map.len() as u64)
    }
}

impl fmt::Debug for Mapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mapped").field("name", &self.name).field("len", &self.len()).finish()
    }
}

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        &self.map
    }
}

fn check_len(bytes: &dyn ReadAt, name: &str, expected: u64) -> Result<()> {
    let len = bytes.len().map_err(|error| Error::io("reading", error).in_file(name))?;
    if len >= expected {
        return Ok(());
    }
    let problem = Problem::UnexpectedEnd { inside: "a mapped part", missing: Some(expected - len) };
    Err(Error::format("file", problem)
        .in_file(name)
        .at_byte(len)
        .with_help("the file was cut short while in use; write a new file and rename it instead"))
}

#[allow(unsafe_code)]
fn map(file: &File, len: u64) -> std::io::Result<Mmap> {
    let len = usize::try_from(len).map_err(std::io::Error::other)?;
    // SAFETY: The map is read-only, but the file may change under it. Mapping is a setting that
    // callers choose for files that do not change. If a file is cut short under the map, touching
    // it can raise SIGBUS, so `Mapped::check` checks its length before each use. Any bytes are
    // valid: only numbers are read out of them.
    unsafe { MmapOptions::new().len(len).map(file) }
}

//! Indexes that are kept beside their data, so that a file is scanned only once.
//!
//! ```text
//! train.ctf
//! train.ctf._.ids.numeric.seqfeed-index     ours (format.rs): about three bytes a sequence
//! train.ctf._.0.0.0.v1.cache                CNTK's (cntk.rs): 32 bytes a sequence
//! ```
//!
//! [`read`] returns the first trusted index, or the reason why there is none. That reason is never
//! an error, since the file can be scanned again. Our cache has a [`Stamp`] of its data file, a
//! checksum, and the [`Settings`] that it was made with. CNTK's cache has none of this, and is
//! trusted if its contents are possible. [`write_in_background`] writes ours.

mod checksum;
mod cntk;
mod columns;
mod format;
mod stamp;
mod write;

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::{error, fmt};

use seqfeed_core::Error;
use seqfeed_io::{Compression, DataFile, FileKind, Opener, shown_name};

use super::{CtfIndex, KeyKind};
use checksum::checksum;
pub use cntk::{cntk_path, decode_cntk};
#[doc(hidden)]
pub use format::seal;
pub use format::{decode, encode};
pub use stamp::Stamp;
use stamp::since_1970;
pub use write::{Writing, write, write_in_background};

/// The ending of our caches' names.
const SUFFIX: &[u8] = b".seqfeed-index";

/// The longest alias that is used literally in the name of a cache. File names have at most 255
/// bytes.
const LONGEST_ALIAS: usize = 64;

/// The settings on which an index depends beside the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Alias of the stream that defines the minibatch's size (`definesMBSize`).
    pub main: Option<Vec<u8>>,
    /// Whether each line is a sequence, whatever its id (`skipSequenceIds`).
    pub skip_ids: bool,
    /// The kind of keys.
    pub keys: KeyKind,
}

/// An index found in a cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The index.
    pub index: CtfIndex,
    /// The cache.
    pub cache: PathBuf,
    /// Whether CNTK wrote it.
    pub by_cntk: bool,
}

/// A cache that is not used, and the reason.
#[derive(Clone, Debug)]
pub struct Refused {
    /// The cache.
    pub cache: PathBuf,
    /// The reason.
    pub reason: Reason,
}

/// The reason why a cache is not used.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// The cache or the data file cannot be read.
    Unreadable(Error),
    /// The data file has changed since.
    Stale,
    /// It is not a cache.
    Foreign,
    /// Its version is unknown.
    OtherVersion(u64),
    /// It was made with other settings.
    OtherSettings,
    /// It is damaged in this way.
    Damaged(&'static str),
    /// It is a cache of this kind, which is not supported.
    Unsupported(&'static str),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not used: {}", shown_name(&self.cache), self.reason)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => write!(f, "{error}"),
            Self::Stale => f.write_str("the data file has changed since it was written"),
            Self::Foreign => f.write_str("it is not an index cache"),
            Self::OtherVersion(version) => write!(f, "it is of version {version}, not of 1"),
            Self::OtherSettings => f.write_str("it was made by other settings"),
            Self::Damaged(how) => write!(f, "it is damaged: {how}"),
            Self::Unsupported(which) => f.write_str(which),
        }
    }
}

impl error::Error for Refused {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match &self.reason {
            Reason::Unreadable(error) => Some(error),
            _ => None,
        }
    }
}

/// The path of the cache for a data file: next to it. Other settings have another path.
///
/// ```
/// use std::path::Path;
/// use seqfeed_cntk::ctf::{KeyKind, cache::{self, Settings}};
///
/// let main = Some(b"y.1".to_vec());
/// let settings = Settings { main, keys: KeyKind::Hashed, ..Settings::default() };
/// assert_eq!(
///     cache::path(Path::new("data/train.ctf"), &settings),
///     Path::new("data/train.ctf.y%2E1.ids.hashed.seqfeed-index"),
/// );
/// ```
#[must_use]
pub fn path(data: &Path, settings: &Settings) -> PathBuf {
    let mut name = data.file_name().map_or(Vec::new(), |name| name.as_bytes().to_vec());
    name.push(b'.');
    match settings.main.as_deref() {
        None => name.push(b'_'),
        Some(alias) => push_alias(alias, &mut name),
    }
    name.extend_from_slice(if settings.skip_ids { b".lines" } else { b".ids" });
    name.extend_from_slice(match settings.keys {
        KeyKind::Numeric => b".numeric",
        KeyKind::Symbolic => b".symbolic",
        KeyKind::Hashed => b".hashed",
    });
    name.extend_from_slice(SUFFIX);
    data.with_file_name(OsString::from_vec(name))
}

/// Appends an alias in a form that can stand between the dots of a name. Bytes that are neither
/// letters nor digits become `%` and two digits; a long alias becomes its digest.
fn push_alias(alias: &[u8], name: &mut Vec<u8>) {
    if alias.len() > LONGEST_ALIAS {
        name.extend_from_slice(format!("%{:016x}", checksum(alias, 0)).as_bytes());
        return;
    }
    for &byte in alias {
        if byte.is_ascii_alphanumeric() || byte == b'-' {
            name.push(byte);
        } else {
            name.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
}

/// The index of a data file from a cache next to it: ours, or else CNTK's. `None` if there is none.
///
/// ```
/// use seqfeed_cntk::ctf::cache::{self, Settings};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// let data = directory.path().join("train.ctf");
/// std::fs::write(&data, "0 |x 1\n")?;
/// match cache::read(&data, &Settings::default()) {
///     Ok(Some(found)) => println!("{} sequences", found.index.sequences.len()),
///     Ok(None) => println!("no cache: the file is scanned"),
///     Err(refused) => println!("the file is scanned, since {refused}"),
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the reason why the cache is not used. If both caches exist and are refused, it is the
/// reason for ours. There is no need to stop.
pub fn read(data: &Path, settings: &Settings) -> Result<Option<Found>, Refused> {
    let mut refused = None;
    for cache in [Some(path(data, settings)), cntk_path(data, settings)].into_iter().flatten() {
        match read_from(&cache, data, settings) {
            Ok(index) => {
                let by_cntk = cntk::is_name(&cache);
                return Ok(Some(Found { index, cache, by_cntk }));
            }
            Err(Reason::Unreadable(error)) if is_missing(&error, &cache) => {}
            Err(reason) => {
                refused.get_or_insert(Refused { cache, reason });
            }
        }
    }
    refused.map_or(Ok(None), Err)
}

/// Whether an error means that there is no cache.
fn is_missing(error: &Error, cache: &Path) -> bool {
    error.is_not_found() && error.place().file == Some(show(cache))
}

/// The index of a data file from a given cache.
///
/// # Errors
///
/// Returns the reason why the cache is not used.
pub fn read_from(cache: &Path, data: &Path, settings: &Settings) -> Result<CtfIndex, Reason> {
    let found = Opener::default().probe(&cache.into()).map_err(Reason::Unreadable)?;
    if found.kind != FileKind::Regular {
        return Err(Reason::Foreign);
    }
    if cntk::is_of_labels(cache, data) {
        return Err(Reason::Unsupported("it is CNTK's index of a label archive (MLF), not of CTF"));
    }
    let (stamp, compression) = Stamp::and_compression_of(data).map_err(Reason::Unreadable)?;
    if !cntk::is_name(cache) {
        let bytes = read_whole(cache).map_err(Reason::Unreadable)?;
        return decode(&bytes, settings, &stamp);
    }
    // CNTK's caches have no settings inside, but in their names.
    if cntk_path(data, settings).is_none_or(|path| path.file_name() != cache.file_name()) {
        return Err(Reason::OtherSettings);
    }
    if compression != Compression::None {
        return Err(Reason::Unsupported("CNTK does not read compressed files"));
    }
    if since_1970(found.modified).0 < stamp.modified_seconds {
        return Err(Reason::Stale);
    }
    if found.len > cntk::most_bytes(stamp.bytes) {
        return Err(Reason::Damaged("it is larger than any index of the data file"));
    }
    let bytes = read_whole(cache).map_err(Reason::Unreadable)?;
    decode_cntk(&bytes, settings, stamp.bytes)
}

fn show(path: &Path) -> String {
    shown_name(path)
}

/// Reads a whole file. A lack of memory is an error, so that the cache is refused.
fn read_whole(path: &Path) -> Result<Vec<u8>, Error> {
    let file = DataFile::open(path)?;
    let (mut bytes, len) = (Vec::new(), usize::try_from(file.len()).unwrap_or(usize::MAX));
    bytes
        .try_reserve_exact(len)
        .map_err(|error| Error::io("reading", error.into()).in_file(show(path)))?;
    bytes.resize(len, 0);
    file.read_exact_at(&mut bytes, 0, "an index")?;
    Ok(bytes)
}

//! The caches that CNTK 2.1 and later write (`cacheIndex = true`).
//!
//! ```text
//! byte  0 magic:u64 0x636e746b5f696478 ("xdi_ktnc")
//!       8 version:u64 1
//!      16 sequences:u64
//!      24 where the first of them stands:u64 32
//!      32 for each: key:u64 samples:u32 undefined:u32 offset:u64 bytes:u32 undefined:u32
//! ```
//!
//! All numbers are little-endian. CNTK itself checks only the magic number and the time of the
//! file.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::{KeyKind, Reason, Settings};
use crate::ctf::{CtfIndex, CtfSequence};

const MAGIC: u64 = 0x636e_746b_5f69_6478;
const VERSION: u64 = 1;
const HEAD: usize = 32;
const RECORD: usize = 32;

/// The ending of the names of CNTK's caches.
const SUFFIX: &[u8] = b".v1.cache";

/// The path of CNTK's cache for a file. `None` if CNTK writes none: for symbolic keys that are not
/// hashed, or if the alias cannot stand in a name.
///
/// ```
/// use std::path::Path;
/// use seqfeed_cntk::ctf::cache::{self, Settings};
///
/// let settings = Settings { main: Some(b"y".to_vec()), ..Settings::default() };
/// let path = cache::cntk_path(Path::new("data/train.ctf"), &settings);
/// assert_eq!(path.as_deref(), Some(Path::new("data/train.ctf.y.0.0.0.v1.cache")));
/// ```
#[must_use]
pub fn cntk_path(data: &Path, settings: &Settings) -> Option<PathBuf> {
    let main = settings.main.as_deref();
    // An alias `_` would give the same name as no alias.
    if main.is_some_and(|alias| alias.is_empty() || alias == b"_" || alias.contains(&b'/')) {
        return None;
    }
    let keys = match settings.keys {
        KeyKind::Numeric => ".0.0",
        KeyKind::Symbolic => return None,
        KeyKind::Hashed => ".1.1",
    };
    let mut name = data.file_name()?.as_bytes().to_vec();
    name.push(b'.');
    name.extend_from_slice(main.unwrap_or(b"_"));
    name.extend_from_slice(if settings.skip_ids { b".1" } else { b".0" });
    name.extend_from_slice(keys.as_bytes());
    name.extend_from_slice(SUFFIX);
    Some(data.with_file_name(OsString::from_vec(name)))
}

/// Whether a name has the form of CNTK's caches.
pub(super) fn is_name(cache: &Path) -> bool {
    cache.as_os_str().as_bytes().ends_with(SUFFIX)
}

/// Whether a name is CNTK's cache for a label archive: `<file>.<0 or 1>.<0 or 1>.v1.cache`.
pub(super) fn is_of_labels(cache: &Path, data: &Path) -> bool {
    let names = cache.file_name().zip(data.file_name());
    let between = names.and_then(|(cache, data)| {
        cache.as_bytes().strip_prefix(data.as_bytes())?.strip_suffix(SUFFIX)
    });
    matches!(between, Some([b'.', b'0' | b'1', b'.', b'0' | b'1']))
}

/// The largest size of the cache for a file of `data_bytes`: a sequence has at least one byte.
pub(super) fn most_bytes(data_bytes: u64) -> u64 {
    data_bytes.saturating_mul(RECORD as u64).saturating_add(HEAD as u64)
}

/// The index in a cache of CNTK's, if it can belong to a data file of `data_bytes`.
///
/// CNTK's cache does not name its file. So everything is checked that can be: magic number, version
/// and length; that sequences follow one another inside the file and none is empty; and, without a
/// main stream, that they leave no gap up to the end of the file.
///
/// # Errors
///
/// Returns the reason why the cache cannot be used.
pub fn decode_cntk(bytes: &[u8], settings: &Settings, data_bytes: u64) -> Result<CtfIndex, Reason> {
    if settings.keys == KeyKind::Symbolic {
        return Err(Reason::Unsupported("CNTK's caches do not hold the names of symbolic keys"));
    }
    let (words, records) = match bytes.split_first_chunk::<HEAD>() {
        Some((head, records)) => {
            (head.as_chunks().0.iter().copied().map(u64::from_le_bytes), records)
        }
        None if bytes.starts_with(&MAGIC.to_le_bytes()) => {
            return Err(Reason::Damaged("it ends inside its head"));
        }
        None => return Err(Reason::Foreign),
    };
    let head: Vec<u64> = words.collect();
    let [magic, version, count, first] = head[..] else { return Err(Reason::Foreign) };
    if magic != MAGIC {
        return Err(Reason::Foreign);
    }
    if version != VERSION {
        return Err(Reason::OtherVersion(version));
    }
    let (records, rest) = records.as_chunks::<RECORD>();
    if first != HEAD as u64 || records.len() as u64 != count || !rest.is_empty() || count == 0 {
        return Err(Reason::Damaged("its length is not what its head says"));
    }
    let is_whole = settings.main.is_none();
    let mut sequences = Vec::with_capacity(records.len());
    let mut end = None;
    for record in records {
        let sequence = read_record(record);
        let CtfSequence { offset, bytes, samples, .. } = sequence;
        let fits = end.is_none_or(|end| if is_whole { offset == end } else { offset >= end });
        let its_end = offset.checked_add(bytes.into()).filter(|&end| end <= data_bytes);
        if !fits || its_end.is_none() || bytes == 0 || samples == 0 {
            return Err(Reason::Damaged("a sequence in it is empty or does not lie where it can"));
        }
        end = its_end;
        sequences.push(sequence);
    }
    if is_whole && end != Some(data_bytes) {
        return Err(Reason::Stale);
    }
    Ok(CtfIndex { sequences, names: Vec::new(), file_bytes: data_bytes })
}

fn read_record(record: &[u8; RECORD]) -> CtfSequence {
    let (words, _) = record.as_chunks();
    let word = |number: usize| words.get(number).map_or(0, |word| u64::from_le_bytes(*word));
    // The upper halves of the second and fourth are random bytes of CNTK's memory.
    CtfSequence { key: word(0), samples: word(1) as u32, offset: word(2), bytes: word(3) as u32 }
}

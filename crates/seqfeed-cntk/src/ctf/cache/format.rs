//! Seqfeed's own cache of an index.
//!
//! ```text
//! byte  0 magic "seqfeed\x1a"
//!       8 version:u32
//!      12 kind of keys:u8   skip ids:u8   main stream:u8   0
//!      16 checksum:u64 of all other bytes
//!      24 length of the data file:u64, its time, seconds:i64, nanoseconds:u32
//!      44 length of the main stream's alias:u32
//!      48 digest of the data file's ends:u64
//!      56 length of the decompressed data:u64
//!      64 sequences:u64   names:u64   length of all names:u64
//!      88 alias, sequences (columns.rs), lengths of the names (7 bits a byte), names
//! ```
//!
//! All numbers are little-endian. Nothing may follow.

use super::checksum::checksum;
use super::columns::{self, Implausible};
use super::{KeyKind, Reason, Settings, Stamp};
use crate::ctf::CtfIndex;

const MAGIC: [u8; 8] = *b"seqfeed\x1a";
const VERSION: u32 = 1;
const HEAD: usize = 88;
const CHECKSUM: usize = 16;
const BEHIND_CHECKSUM: usize = CHECKSUM + 8;

/// An index as the bytes of a cache. `None` if the index breaks a rule that [`decode`] checks, so
/// that the cache would not be accepted.
///
/// These are the rules: sequences follow one another inside the data; none is without bytes or
/// samples; if keys are symbolic, there is one name for each key, else there are none.
#[must_use]
pub fn encode(index: &CtfIndex, settings: &Settings, stamp: &Stamp) -> Option<Vec<u8>> {
    if !keys_have_names(index, settings.keys) {
        return None;
    }
    let alias = settings.main.as_deref();
    let names_bytes: usize = index.names.iter().map(|name| name.len()).sum();
    // Sequences of ordinary files take about three bytes.
    let mut out = Vec::with_capacity(HEAD + 4 * index.sequences.len() + 2 * names_bytes);
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&flags(settings));
    out.extend_from_slice(&[0; 8]);
    out.extend_from_slice(&stamp.bytes.to_le_bytes());
    out.extend_from_slice(&stamp.modified_seconds.to_le_bytes());
    out.extend_from_slice(&stamp.modified_nanoseconds.to_le_bytes());
    out.extend_from_slice(&u32::try_from(alias.map_or(0, <[u8]>::len)).ok()?.to_le_bytes());
    out.extend_from_slice(&stamp.digest.to_le_bytes());
    out.extend_from_slice(&index.file_bytes.to_le_bytes());
    for count in [index.sequences.len(), index.names.len(), names_bytes] {
        out.extend_from_slice(&(count as u64).to_le_bytes());
    }
    out.extend_from_slice(alias.unwrap_or_default());
    columns::encode(&index.sequences, index.file_bytes, &mut out).ok()?;
    for name in &index.names {
        write_length(name.len(), &mut out);
    }
    for name in &index.names {
        out.extend_from_slice(name);
    }
    seal(&mut out);
    Some(out)
}

/// The index in a cache, if it is for this file and these settings.
///
/// # Errors
///
/// Returns the reason why the cache cannot be used.
pub fn decode(bytes: &[u8], settings: &Settings, stamp: &Stamp) -> Result<CtfIndex, Reason> {
    if bytes.first_chunk() != Some(&MAGIC) {
        return Err(Reason::Foreign);
    }
    let mut fields = Fields(&bytes[MAGIC.len()..]);
    let version = u32::from_le_bytes(fields.take()?);
    if version != VERSION {
        return Err(Reason::OtherVersion(version.into()));
    }
    let found_flags = fields.take()?;
    if sum(bytes) != Some(u64::from_le_bytes(fields.take()?)) {
        return Err(Reason::Damaged("its checksum is wrong"));
    }
    let found_bytes = fields.u64()?;
    let modified_seconds = i64::from_le_bytes(fields.take()?);
    let modified_nanoseconds = u32::from_le_bytes(fields.take()?);
    let alias_len = u32::from_le_bytes(fields.take()?);
    let digest = fields.u64()?;
    let file_bytes = fields.u64()?;
    let [sequences, names, names_bytes] = [fields.u64()?, fields.u64()?, fields.u64()?];
    let alias = fields.bytes(alias_len.into())?;
    if found_flags != flags(settings) || alias != settings.main.as_deref().unwrap_or_default() {
        return Err(Reason::OtherSettings);
    }
    let found = Stamp { bytes: found_bytes, modified_seconds, modified_nanoseconds, digest };
    if found != *stamp {
        return Err(Reason::Stale);
    }
    // Each takes at least one byte of the data.
    if sequences > file_bytes || columns::least_bytes(sequences) > fields.0.len() as u64 {
        return Err(Reason::Damaged("it says that it holds more sequences than it does"));
    }
    let (sequences, rest) = columns::decode(fields.0, sequences as usize, file_bytes)
        .map_err(|implausible| Reason::Damaged(say(implausible)))?;
    let names = read_names(rest, names, names_bytes)?;
    let index = CtfIndex { sequences, names, file_bytes };
    if !keys_have_names(&index, settings.keys) {
        return Err(Reason::Damaged("its keys have no names"));
    }
    Ok(index)
}

/// Puts the checksum into the bytes of a cache. For tests that forge one.
#[doc(hidden)]
pub fn seal(bytes: &mut [u8]) {
    if let Some(sum) = sum(bytes) {
        bytes[CHECKSUM..BEHIND_CHECKSUM].copy_from_slice(&sum.to_le_bytes());
    }
}

fn sum(bytes: &[u8]) -> Option<u64> {
    Some(checksum(bytes.get(BEHIND_CHECKSUM..)?, checksum(&bytes[..CHECKSUM], 0)))
}

fn flags(settings: &Settings) -> [u8; 4] {
    let keys = match settings.keys {
        KeyKind::Numeric => 0,
        KeyKind::Symbolic => 1,
        KeyKind::Hashed => 2,
    };
    [keys, settings.skip_ids.into(), settings.main.is_some().into(), 0]
}

fn keys_have_names(index: &CtfIndex, keys: KeyKind) -> bool {
    match keys {
        KeyKind::Symbolic => {
            let names = index.names.len() as u64;
            index.sequences.iter().all(|sequence| sequence.key < names)
        }
        KeyKind::Numeric | KeyKind::Hashed => index.names.is_empty(),
    }
}

pub(super) fn say(implausible: Implausible) -> &'static str {
    match implausible {
        Implausible::End => "it ends too early",
        Implausible::Width => "a width in it is none",
        Implausible::Sequence => "a sequence in it is empty or does not lie where it can",
    }
}

fn write_length(mut length: usize, out: &mut Vec<u8>) {
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}

/// Reads names. They must take all the bytes.
fn read_names(bytes: &[u8], count: u64, names_bytes: u64) -> Result<Vec<Box<[u8]>>, Reason> {
    const WRONG: Reason = Reason::Damaged("its names do not take the bytes they should");
    let lengths = (bytes.len() as u64).checked_sub(names_bytes).ok_or(WRONG)?;
    // The length of a name takes at least one byte.
    if count > lengths {
        return Err(WRONG);
    }
    let (mut lengths, mut text) = bytes.split_at(lengths as usize);
    let mut names = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let length = read_length(&mut lengths).ok_or(WRONG)?;
        let name;
        (name, text) = text.split_at_checked(length).ok_or(WRONG)?;
        names.push(Box::from(name));
    }
    if lengths.is_empty() && text.is_empty() { Ok(names) } else { Err(WRONG) }
}

fn read_length(bytes: &mut &[u8]) -> Option<usize> {
    let mut length = 0;
    // Nine times 7 bits: no name is longer.
    for shift in (0..63).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        length |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(length);
        }
    }
    None
}

/// The fields of the head, one after another.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Reason> {
        let (field, rest) =
            self.0.split_first_chunk().ok_or(Reason::Damaged(say(Implausible::End)))?;
        self.0 = rest;
        Ok(*field)
    }

    fn u64(&mut self) -> Result<u64, Reason> {
        self.take().map(u64::from_le_bytes)
    }

    fn bytes(&mut self, count: u64) -> Result<&'a [u8], Reason> {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let (bytes, rest) =
            self.0.split_at_checked(count).ok_or(Reason::Damaged(say(Implausible::End)))?;
        self.0 = rest;
        Ok(bytes)
    }
}

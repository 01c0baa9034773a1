//! Checks that the entries of a script file lead to the objects of their keys.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;

use seqfeed_core::Result;
use seqfeed_io::{Beside, DataFile, Location, Opener, RxFilename};

use crate::object_reader::{ObjectReader, is_space};
use crate::script::ScriptLine;
use crate::specifier::{Rspecifier, TableKind};

/// Longer keys are not checked.
const LONGEST_KEY: usize = 4096;

/// An entry of a script file that leads behind another key in the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Misplaced {
    /// The key of the entry.
    pub(super) key: Vec<u8>,
    /// The script file.
    pub(super) script: Location,
    /// The line of the script file, from 1.
    pub(super) line: u64,
    /// The archive.
    pub(super) archive: Location,
    /// The offset in it.
    pub(super) offset: u64,
    /// The key there.
    pub(super) found: KeyThere,
}

/// The key in front of the object that an entry leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KeyThere {
    /// A key that the script file has at another position, which is wrong too. So the entry leads
    /// to the object of another sequence.
    OfAnother(Vec<u8>),
    /// Any other key. The entry may have been renamed on purpose.
    Other {
        /// Whether the archive was written later than the script file.
        archive_is_newer: bool,
    },
}

/// An entry with an offset into a file.
struct Entry {
    key: Vec<u8>,
    line: u64,
    archive: Location,
    offset: u64,
}

impl Entry {
    fn is_at(&self, other: &Entry) -> bool {
        (&self.archive, self.offset) == (&other.archive, other.offset)
    }
}

/// The bytes in front of the object of an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Unknown (the file is compressed or cannot be opened), or no key: a single object.
    Nothing,
    /// The key of the entry. With a number, also the longer key of the entry with this number.
    Own(Option<usize>),
    /// Another key. With a number, the key of the entry with this number.
    Other(Option<usize>),
    /// The file ends before the object.
    End,
}

/// The entries of a table's script file that do not lead to a position behind their keys in the
/// archive. This happens if the script file is older than the archive.
///
/// It checks entries with an offset into a file that is not compressed, with one small read each.
/// An object without a key in front may lie in any file. Archives, and script files that are not
/// regular files, are not checked.
///
/// # Errors
///
/// Fails if the rspecifier is invalid, or a file cannot be read. Invalid lines and entries are
/// passed over: opening the table reports them.
pub(super) fn misplaced_entries(
    rspecifier: &(impl AsRef<OsStr> + ?Sized),
    opener: &Opener,
) -> Result<Vec<Misplaced>> {
    let table = Rspecifier::parse(rspecifier)?;
    let name = opener.rxfilename(&table.rxfilename)?;
    let script = name.location();
    if table.kind != TableKind::Script || name.offset().is_some() || !opener.is_file(script) {
        return Ok(Vec::new());
    }
    let entries = entries(&name, opener)?;
    let found = look_at(&entries, opener)?;
    let newer = |archive: &Location| {
        let written = |file: &Location| opener.probe(file).ok().and_then(|found| found.modified);
        written(archive).zip(written(script)).is_some_and(|(archive, script)| archive > script)
    };
    // In binary data nothing marks the beginning of a key. The key of another entry is certain only
    // if it is missing at the position to which that entry leads.
    let of_another = |other: Option<usize>| {
        let is_lost = |&other: &usize| matches!(found[other], Before::Other(_) | Before::End);
        other.filter(is_lost).map(|other| KeyThere::OfAnother(entries[other].key.clone()))
    };
    let mut misplaced = Vec::new();
    for (entry, before) in entries.iter().zip(&found) {
        let there = match *before {
            Before::Nothing | Before::End => None,
            Before::Own(other) => of_another(other),
            Before::Other(other) => Some(
                of_another(other)
                    .unwrap_or_else(|| KeyThere::Other { archive_is_newer: newer(&entry.archive) }),
            ),
        };
        misplaced.extend(there.map(|found| Misplaced {
            key: entry.key.clone(),
            script: script.clone(),
            line: entry.line,
            archive: entry.archive.clone(),
            offset: entry.offset,
            found,
        }));
    }
    Ok(misplaced)
}

/// The bytes before each entry.
fn look_at(entries: &[Entry], opener: &Opener) -> Result<Vec<Before>> {
    let by_key: HashMap<&[u8], usize> =
        entries.iter().enumerate().map(|(number, entry)| (&entry.key[..], number)).collect();
    let lengths: BTreeSet<usize> = entries.iter().map(|entry| entry.key.len()).collect();
    let mut bytes = vec![0; lengths.last().map_or(0, |longest| longest + 1)];
    let mut open: Option<(&Location, Option<DataFile>)> = None;
    let mut found = Vec::with_capacity(entries.len());
    for entry in entries {
        if open.as_ref().is_none_or(|(file, _)| **file != entry.archive) {
            open = Some((&entry.archive, open_plain(&entry.archive, opener)?));
        }
        let Some((_, Some(archive))) = &open else {
            found.push(Before::Nothing);
            continue;
        };
        if entry.offset >= archive.len() {
            found.push(Before::End);
            continue;
        }
        let count = bytes.len().min(usize::try_from(entry.offset).unwrap_or(usize::MAX));
        let bytes = &mut bytes[..count];
        archive.read_exact_at(bytes, entry.offset - count as u64, "what stands before")?;
        let text = match bytes.split_last() {
            Some((b' ' | b'\t', text)) if text.last().is_some_and(|&last| is_of_key(last)) => text,
            _ => {
                found.push(Before::Nothing);
                continue;
            }
        };
        let own = text.ends_with(&entry.key);
        // The longest key of another entry that stands there, if it is longer than the own one.
        let lengths = lengths.iter().rev().filter(|&&len| len <= text.len());
        let other = lengths
            .take_while(|&&len| !own || len > entry.key.len())
            .filter_map(|&len| by_key.get(&text[text.len() - len..]).copied())
            .find(|&other| !entries[other].is_at(entry));
        found.push(if own { Before::Own(other) } else { Before::Other(other) });
    }
    Ok(found)
}

/// Whether a byte may end a key.
fn is_of_key(byte: u8) -> bool {
    !byte.is_ascii_control() && !is_space(byte)
}

/// An uncompressed file. `None` for other files, and for files that the table could not open
/// either.
fn open_plain(file: &Location, opener: &Opener) -> Result<Option<DataFile>> {
    match opener.open_plain(file) {
        Ok(file) => Ok(file),
        Err(error) if error.is_usage() => Ok(None),
        Err(error) => error.damage().map(|_| None),
    }
}

/// The entries of a script file that have offsets.
fn entries(script: &RxFilename, opener: &Opener) -> Result<Vec<Entry>> {
    let beside = Beside::of(script, opener);
    let mut reader = ObjectReader::open(script, opener)?;
    let mut found: HashMap<Location, Location> = HashMap::new();
    let mut entries = Vec::new();
    let mut text = Vec::new();
    for line in 1.. {
        if !reader.read_script_line(&mut text)? {
            break;
        }
        let Ok(parsed) = ScriptLine::parse(&text) else { continue };
        // An object at the start of a file has no key before it.
        let Ok(name) = RxFilename::parse(parsed.rxfilename) else { continue };
        let Some((file, offset @ 1..)) = name.file_and_offset() else { continue };
        let key = parsed.key.0.to_vec();
        if key.len() <= LONGEST_KEY {
            let archive = match found.get(file) {
                Some(archive) => archive.clone(),
                None => found.entry(file.clone()).or_insert(beside.find(file)).clone(),
            };
            entries.push(Entry { key, line, archive, offset });
        }
    }
    reader.finish()?;
    Ok(entries)
}

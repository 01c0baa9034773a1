//! The index of the transcriptions in master label files.

use std::hash::BuildHasher;
use std::io::Read;
use std::ops::Range;

use hashbrown::{DefaultHashBuilder, HashTable};
use seqfeed_core::{Error, ErrorKind, Problem, Result};
use seqfeed_io::LINE_LIMIT;

use super::MLF_FORMAT;
use super::matching::{Class, classify, file_part, matches};
use super::stream_buffer::{Keep, StreamBuffer};

/// Options for reading master label files.
#[derive(Clone, Debug, Default)]
pub struct MlfOptions {
    /// Whether blanks may stand around the dot that ends an entry, and around `///` (`V1COMPAT`).
    pub v1_compat: bool,
    /// The most bytes of a line, if not [`LINE_LIMIT`].
    pub line_limit: Option<usize>,
}

/// The entries of master label files, in order: the name, the position and the line of each.
///
/// A file is read once as a stream, and is not kept in memory. An entry takes 32 bytes and its
/// name.
///
/// ```
/// use seqfeed_htk::label::{Body, MlfIndex};
///
/// let mut index = MlfIndex::default();
/// index.add("labels.mlf", &b"#!MLF!#\n\"*/a.lab\"\nsil\n.\n\"*\" -> \"labels\"\n"[..])?;
/// let found: Vec<_> = index.find(b"corpus/b.lab").into_iter().map(|id| index.entry(id)).collect();
/// assert_eq!((found[0].name, found[0].body), (&b"*"[..], Body::Simple(b"labels")));
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct MlfIndex {
    options: MlfOptions,
    files: Vec<(String, Range<u32>)>,
    entries: Vec<Entry>,
    /// The names of all entries, and the directories of redirections.
    text: Vec<u8>,
    hasher: DefaultHashBuilder,
    fixed: HashTable<u32>,
    any_path: HashTable<u32>,
    /// Entries that have to be tried one by one.
    tried: Vec<u32>,
    duplicates: Vec<Duplicate>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The offset in the file. For a redirection, the start of its directory in `text`.
    start: u64,
    /// For a redirection, the end of its directory in `text`.
    end: u64,
    /// The start of its name. It ends where its directory or the next name starts.
    name_start: u64,
    /// The line of its name, at most `u32::MAX`, and its kind.
    line: u32,
    kind: EntryKind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum EntryKind {
    Immediate,
    Simple,
    Full,
}

/// An entry of a master label file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MlfEntry<'a> {
    /// The file's name.
    pub file: &'a str,
    /// The number of the file, in the order in which they were added.
    pub file_number: usize,
    /// The label files it is for: a name, with optional `*` and `?`.
    pub name: &'a [u8],
    /// The line of its name, from 1.
    pub line: u64,
    /// Its transcription.
    pub body: Body<'a>,
}

/// The location of an entry's transcription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body<'a> {
    /// Below its name. These are the bytes of its lines, without the dot.
    Here {
        /// The offset of the first byte.
        offset: u64,
        /// The number of bytes.
        bytes: u64,
    },
    /// In a file with its name in this directory (`->`).
    Simple(&'a [u8]),
    /// The same, or also below this directory under the last one, two or more of its own
    /// directories (`=>`).
    Full(&'a [u8]),
}

/// An entry that is never found, because an earlier one has the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// The entry that is found.
    pub first: u32,
    /// The entry that is never found.
    pub again: u32,
}

impl MlfIndex {
    /// An empty index.
    #[must_use]
    pub fn new(options: MlfOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Adds the entries of a master label file after those of earlier ones.
    ///
    /// As in HTK, lines between entries are skipped if they do not have two quotes, and the end of
    /// the file ends the last entry, with or without a dot. After an error, the earlier entries
    /// stay.
    ///
    /// # Errors
    ///
    /// Fails if reading fails; if the file is empty or does not start with `#!MLF!#`; if a
    /// redirection has no directory; if a line is too long; if there are 2^32 entries.
    pub fn add(&mut self, name: &str, reader: impl Read) -> Result<()> {
        let first = self.entries.len() as u32;
        let MlfOptions { v1_compat, .. } = self.options;
        let mut buffer = StreamBuffer::new(name, reader, v1_compat, self.line_limit());
        let result = self.add_entries(name, &mut buffer);
        self.files.push((name.to_owned(), first..self.entries.len() as u32));
        result
    }

    /// The most bytes of a line.
    pub(super) fn line_limit(&self) -> usize {
        self.options.line_limit.unwrap_or(LINE_LIMIT)
    }

    fn add_entries<R: Read>(&mut self, name: &str, buffer: &mut StreamBuffer<R>) -> Result<()> {
        let fail = |line, problem, help: &'static str| {
            Error::format(MLF_FORMAT, problem).in_file(name).at_line(line).with_help(help)
        };
        let Some(line) = buffer.peek_line()? else {
            let problem = Problem::UnexpectedEnd { inside: "its header", missing: None };
            return Err(fail(1, problem, "the file is empty (HTK error 6513)"));
        };
        if line.trim_ascii() != b"#!MLF!#" {
            let found = line.iter().take(40).copied().collect();
            let problem = Problem::Unexpected { expected: "\"#!MLF!#\"".into(), found };
            return Err(fail(
                1,
                problem,
                "the first line of a master label file is its header (HTK error 6551)",
            ));
        }
        let len = line.len();
        buffer.pass(len + 1)?;
        loop {
            let number = buffer.line();
            let Some(line) = buffer.peek_line()? else { return Ok(()) };
            let len = line.len();
            let Some((entry_name, behind)) = quoted(line) else {
                buffer.pass(len + 1)?;
                continue;
            };
            let name_start = self.text.len() as u64;
            let (kind, directory) = redirection(behind);
            self.text.extend_from_slice(entry_name);
            let directory_start = self.text.len() as u64;
            let (start, end) = if kind == EntryKind::Immediate {
                buffer.pass(len)?;
                let start = buffer.offset() + 1;
                let end = buffer.body(Keep::Nothing)?.offset;
                (start.min(end), end)
            } else {
                let Some(directory) = directory else {
                    self.text.truncate(name_start as usize);
                    let found = behind.iter().take(40).copied().collect();
                    let problem =
                        Problem::Unexpected { expected: "a directory in quotes".into(), found };
                    let help = "a redirection is `\"name\" -> \"directory\"` or `\"name\" => \"directory\"` \
                                (HTK error 6551)";
                    return Err(fail(number, problem, help));
                };
                self.text.extend_from_slice(directory);
                buffer.pass(len + 1)?;
                (directory_start, self.text.len() as u64)
            };
            let line = u32::try_from(number).unwrap_or(u32::MAX);
            self.push(Entry { start, end, name_start, line, kind })?;
        }
    }

    fn push(&mut self, entry: Entry) -> Result<()> {
        let id = u32::try_from(self.entries.len()).ok().filter(|&id| id < u32::MAX).ok_or_else(
            || {
                let limit = u64::from(u32::MAX);
                Error::new(ErrorKind::Limit {
                    what: "entries of master label files",
                    wanted: limit + 1,
                    limit,
                })
            },
        )?;
        self.entries.push(entry);
        let (entries, text, hasher) = (&self.entries, &self.text, &self.hasher);
        let key_of = |id: u32| classify(name_in(entries, text, id)).1;
        let (class, key) = classify(name_in(entries, text, id));
        let table = match class {
            Class::Fixed => &mut self.fixed,
            Class::AnyPath => &mut self.any_path,
            Class::General => {
                self.tried.push(id);
                return Ok(());
            }
        };
        let place = table.entry(
            hasher.hash_one(key),
            |&other| key_of(other) == key,
            |&other| hasher.hash_one(key_of(other)),
        );
        match place {
            hashbrown::hash_table::Entry::Vacant(place) => {
                place.insert(id);
            }
            hashbrown::hash_table::Entry::Occupied(place) => {
                let first = *place.get();
                if entries[first as usize].kind == EntryKind::Immediate {
                    self.duplicates.push(Duplicate { first, again: id });
                } else {
                    // The directory of the first one may not have the file.
                    self.tried.push(id);
                }
            }
        }
        Ok(())
    }

    /// The number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// An entry.
    ///
    /// # Panics
    ///
    /// If there is no such entry.
    #[must_use]
    pub fn entry(&self, id: u32) -> MlfEntry<'_> {
        let entry = self.entries[id as usize];
        let file_number = self.files.partition_point(|(_, entries)| entries.end <= id);
        let directory = |range: Range<u64>| &self.text[range.start as usize..range.end as usize];
        MlfEntry {
            file: &self.files[file_number].0,
            file_number,
            name: name_in(&self.entries, &self.text, id),
            line: u64::from(entry.line),
            body: match entry.kind {
                EntryKind::Immediate => {
                    Body::Here { offset: entry.start, bytes: entry.end - entry.start }
                }
                EntryKind::Simple => Body::Simple(directory(entry.start..entry.end)),
                EntryKind::Full => Body::Full(directory(entry.start..entry.end)),
            },
        }
    }

    /// The entries for a label file, in order, up to the first one with its transcription. The
    /// entries before it are redirections; each may have the file or not.
    ///
    /// HTK first looks at the entry after that of the last look-up. With repeated names this gives
    /// other results. Here the first entry always counts.
    #[must_use]
    pub fn find(&self, label_file: &[u8]) -> Vec<u32> {
        let in_table = |table: &HashTable<u32>, key: &[u8]| {
            let same = |&id: &u32| classify(name_in(&self.entries, &self.text, id)).1 == key;
            table.find(self.hasher.hash_one(key), same).copied()
        };
        let fixed = in_table(&self.fixed, label_file);
        let any_path = in_table(&self.any_path, file_part(label_file));
        let mut found: Vec<u32> = fixed.into_iter().chain(any_path).collect();
        let is_immediate = |id: &u32| self.entries[*id as usize].kind == EntryKind::Immediate;
        // Entries after it need not be tried.
        let last = found.iter().copied().filter(is_immediate).min().unwrap_or(u32::MAX);
        for &id in self.tried.iter().take_while(|&&id| id < last) {
            if matches(name_in(&self.entries, &self.text, id), label_file) {
                found.push(id);
                if is_immediate(&id) {
                    break;
                }
            }
        }
        found.sort_unstable();
        let end = found.iter().position(is_immediate).map_or(found.len(), |at| at + 1);
        found.truncate(end);
        found
    }

    /// The entries that are never found, in order. They deserve a warning.
    #[must_use]
    pub fn duplicates(&self) -> &[Duplicate] {
        &self.duplicates
    }
}

fn name_in<'a>(entries: &[Entry], text: &'a [u8], id: u32) -> &'a [u8] {
    let entry = entries[id as usize];
    let next = entries.get(id as usize + 1).map_or(text.len(), |next| next.name_start as usize);
    let end = if entry.kind == EntryKind::Immediate { next } else { entry.start as usize };
    &text[entry.name_start as usize..end]
}

/// The text between the first two quotes of a line, and the text after them.
fn quoted(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let open = memchr::memchr(b'"', line)?;
    let rest = &line[open + 1..];
    let close = memchr::memchr(b'"', rest)?;
    Some((&rest[..close], &rest[close + 1..]))
}

/// The kind of an entry, from the text after its name, and the directory of a redirection.
fn redirection(behind: &[u8]) -> (EntryKind, Option<&[u8]>) {
    let arrow = behind.get(1..).and_then(|rest| memchr::memchr(b'>', rest)).map(|at| at + 1);
    let kind = match arrow.map(|at| behind[at - 1]) {
        Some(b'-') => EntryKind::Simple,
        Some(b'=') => EntryKind::Full,
        _ => return (EntryKind::Immediate, None),
    };
    let directory = arrow.and_then(|at| quoted(&behind[at + 1..])).map(|(directory, _)| directory);
    (kind, directory)
}

//! The index of utterances: keys, positions and lengths.

use std::hash::BuildHasher;
use std::io::Read;
use std::ops::Range;

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use seqfeed_core::{Error, ErrorKind, Key, Problem, Result};
use seqfeed_io::LINE_LIMIT;

use super::times::read_times;
use crate::label::MLF_FORMAT;
use crate::label::stream_buffer::{Keep, StreamBuffer};

/// The utterances of MLFs by their keys, in the order of the files.
///
/// A file is read once as a stream, and is not kept in memory. An utterance takes 24 bytes and its
/// key, plus the table of keys.
///
/// ```
/// use seqfeed_htk::label::cntk::CntkIndex;
///
/// let mlf = b"#!MLF!#\n\"*/spk1/utt1.lab\"\n0 1200000 sil\n1200000 2000000 ah\n.\n";
/// let mut index = CntkIndex::default();
/// index.add("labels.mlf", &mlf[..], Err)?;
/// let utterance = index.utterance(index.get(b"spk1/utt1").unwrap());
/// assert_eq!((utterance.frames, utterance.line, utterance.offset), (20, 2, 8));
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct CntkIndex {
    files: Vec<(String, Range<u32>)>,
    utterances: Vec<Row>,
    keys: Vec<u8>,
    hasher: DefaultHashBuilder,
    table: HashTable<u32>,
    line_limit: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    offset: u64,
    bytes: u32,
    line: u32,
    frames: u32,
    key_end: u32,
}

/// An utterance of an MLF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Utterance<'a> {
    /// Its key: the name of its entry without quotes, without a leading `*/`, and without
    /// everything from the last dot on.
    pub key: Key<'a>,
    /// The file's name.
    pub file: &'a str,
    /// The number of the file, in the order in which they were added.
    pub file_number: usize,
    /// The offset of its entry in the file, beginning with the line of the key.
    pub offset: u64,
    /// The number of its bytes, up to its dot and the newline after it.
    pub bytes: u32,
    /// The number of its first line, from 1.
    pub line: u64,
    /// The number of its frames: the end of its last line.
    pub frames: u32,
}

impl CntkIndex {
    /// An empty index with another limit for lines than [`LINE_LIMIT`].
    #[must_use]
    pub fn with_line_limit(bytes: usize) -> Self {
        Self { line_limit: Some(bytes), ..Self::default() }
    }

    /// Adds the utterances of an MLF after those of earlier ones. CNTK's `mlfFileList` is several
    /// such calls.
    ///
    /// An utterance that cannot be used is left out, and `incident` gets the reason: its name has
    /// no quotes, it has no lines, its last line has no valid times, it does not end with a dot, or
    /// another utterance has its key. If `incident` returns an error, reading ends. Pass `Err` to
    /// allow none.
    ///
    /// # Errors
    ///
    /// Fails if reading fails; if the file is empty or does not start with `#!MLF!#`; if a line is
    /// too long; if the index would overflow (2^32 utterances, 4 GiB of keys or in one utterance).
    /// Also returns the errors of `incident`.
    pub fn add(
        &mut self,
        name: &str,
        reader: impl Read,
        mut incident: impl FnMut(Error) -> Result<()>,
    ) -> Result<()> {
        let first = self.utterances.len() as u32;
        let mut buffer =
            StreamBuffer::new(name, reader, false, self.line_limit.unwrap_or(LINE_LIMIT));
        let result = self.add_utterances(name, &mut buffer, &mut incident);
        self.files.push((name.to_owned(), first..self.utterances.len() as u32));
        result
    }

    fn add_utterances<R: Read>(
        &mut self,
        name: &str,
        buffer: &mut StreamBuffer<R>,
        incident: &mut dyn FnMut(Error) -> Result<()>,
    ) -> Result<()> {
        let fail = |line, problem| Error::format(MLF_FORMAT, problem).in_file(name).at_line(line);
        let mut header = false;
        let mut key = Vec::new();
        loop {
            let (offset, number) = (buffer.offset(), buffer.line());
            let Some(line) = buffer.peek_line()? else { break };
            let len = line.len();
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() || (header && line == b"#!MLF!#") {
                buffer.pass(len + 1)?;
                continue;
            }
            if !header {
                if line != b"#!MLF!#" {
                    let found = line.iter().take(40).copied().collect();
                    let problem = Problem::Unexpected { expected: "\"#!MLF!#\"".into(), found };
                    return Err(fail(number, problem)
                        .with_help("the first line of a master label file is its header"));
                }
                header = true;
                buffer.pass(len + 1)?;
                continue;
            }
            key.clear();
            let named = key_of(line);
            key.extend_from_slice(named.unwrap_or(&line[..line.len().min(40)]));
            let is_named = named.is_some();
            buffer.pass(len)?;
            let body = buffer.body(Keep::LastLine)?;
            let unusable = if !is_named {
                let found = key.clone();
                let problem = Problem::Unexpected { expected: "a name in quotes".into(), found };
                Err(fail(number, problem).with_help(
                    "before the lines of an utterance stands its name; they end with a line that is a dot",
                ))
            } else if !body.dot {
                let problem = Problem::UnexpectedEnd { inside: "an utterance", missing: None };
                Err(fail(number, problem).with_help(match memchr::memchr(b'"', &key) {
                    None => "its last line is a dot",
                    Some(_) => {
                        "redirections (`->`, `=>`) are HTK's; here CNTK's view of the file is read"
                    }
                }))
            } else if body.last_line.is_empty() {
                let problem =
                    Problem::CountMismatch { what: "lines of labels", expected: 1, found: 0 };
                Err(fail(number, problem).with_help("an utterance without labels is left out"))
            } else {
                frames_of(&body.last_line).map_err(|problem| {
                    fail(body.last_line_number, problem).with_help(
                        "a line of labels is `START END NAME`, with times in 100 ns or in frames",
                    )
                })
            };
            match unusable {
                Ok(frames) => {
                    let row = Row {
                        offset,
                        bytes: limited("bytes of an utterance", buffer.offset() - offset)?,
                        line: u32::try_from(number).unwrap_or(u32::MAX),
                        frames,
                        key_end: limited(
                            "bytes of keys of master label files",
                            (self.keys.len() + key.len()) as u64,
                        )?,
                    };
                    if !self.push(row, &key)? {
                        let error = fail(number, Problem::DuplicateKey).of_key(Key(&key));
                        incident(error.with_help("the first utterance of a key is used"))?;
                    }
                }
                Err(error) if is_named => incident(error.of_key(Key(&key)))?,
                Err(error) => incident(error)?,
            }
        }
        if header {
            return Ok(());
        }
        let problem = Problem::UnexpectedEnd { inside: "its header", missing: None };
        Err(fail(1, problem).with_help("the file is empty"))
    }

    /// Adds an utterance, unless there is one with the same key.
    fn push(&mut self, row: Row, key: &[u8]) -> Result<bool> {
        let id = limited("utterances of master label files", self.utterances.len() as u64 + 1)? - 1;
        let (rows, keys, hasher) = (&self.utterances, &self.keys, &self.hasher);
        let key_of = |&id: &u32| key_in(rows, keys, id);
        let same = |other: &u32| key_of(other) == key;
        match self.table.entry(hasher.hash_one(key), same, |id| hasher.hash_one(key_of(id))) {
            Entry::Occupied(_) => return Ok(false),
            Entry::Vacant(place) => {
                place.insert(id);
            }
        }
        self.keys.extend_from_slice(key);
        self.utterances.push(row);
        Ok(true)
    }

    /// The number of utterances.
    #[must_use]
    pub fn len(&self) -> usize {
        self.utterances.len()
    }

    /// Whether there are no utterances.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.utterances.is_empty()
    }

    /// The number of the utterance with a key.
    #[must_use]
    pub fn get(&self, key: &[u8]) -> Option<u32> {
        let same = |&id: &u32| key_in(&self.utterances, &self.keys, id) == key;
        self.table.find(self.hasher.hash_one(key), same).copied()
    }

    /// An utterance.
    ///
    /// # Panics
    ///
    /// If there is no such utterance.
    #[must_use]
    pub fn utterance(&self, number: u32) -> Utterance<'_> {
        let row = self.utterances[number as usize];
        let file_number = self.files.partition_point(|(_, utterances)| utterances.end <= number);
        Utterance {
            key: Key(key_in(&self.utterances, &self.keys, number)),
            file: &self.files[file_number].0,
            file_number,
            offset: row.offset,
            bytes: row.bytes,
            line: u64::from(row.line),
            frames: row.frames,
        }
    }

    /// The utterances in their order.
    pub fn utterances(&self) -> impl ExactSizeIterator<Item = Utterance<'_>> {
        (0..self.utterances.len() as u32).map(|number| self.utterance(number))
    }
}

fn key_in<'a>(rows: &[Row], keys: &'a [u8], id: u32) -> &'a [u8] {
    let id = id as usize;
    let start = if id == 0 { 0 } else { rows[id - 1].key_end };
    &keys[start as usize..rows[id].key_end as usize]
}

fn limited(what: &'static str, wanted: u64) -> Result<u32> {
    let limit = u64::from(u32::MAX);
    u32::try_from(wanted).map_err(|_| Error::new(ErrorKind::Limit { what, wanted, limit }))
}

/// The key in a line, if it stands in quotes.
fn key_of(line: &[u8]) -> Option<&[u8]> {
    let blank = |byte: &&u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let line = &line[..line.len() - line.iter().rev().take_while(blank).count()];
    let name = line.strip_prefix(b"\"")?.strip_suffix(b"\"").filter(|name| !name.is_empty())?;
    let name = name.strip_prefix(b"*/").filter(|rest| !rest.is_empty()).unwrap_or(name);
    Some(memchr::memrchr(b'.', name).map_or(name, |dot| &name[..dot]))
}

/// The number of frames of an utterance with this last line.
fn frames_of(last_line: &[u8]) -> Result<u32, Problem> {
    let end = read_times(last_line)?.end;
    u32::try_from(end).ok().filter(|&frames| frames > 0).ok_or_else(|| Problem::OutOfRange {
        what: "the end of an utterance",
        found: end,
        allowed: "1 to 4294967295 frames".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_made_as_cntk_makes_them() {
        for (line, key) in [
            ("\"*/a/b.lab\"  ", Some("a/b")),
            ("\"a.b.lab\"", Some("a.b")),
            ("\"d.x/a\"", Some("d")),
            ("\"*/\"", Some("*/")),
            ("\"a\"", Some("a")),
            ("\".\"", Some("")),
            ("\"\"", None),
            ("\"", None),
            ("a", None),
            (" \"a\"", None),
        ] {
            assert_eq!(key_of(line.as_bytes()), key.map(str::as_bytes), "{line}");
        }
    }
}

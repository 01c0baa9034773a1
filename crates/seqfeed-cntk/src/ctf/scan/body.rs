//! The lines of a file, or of a part of it.

use memchr::memchr;
use seqfeed_core::{Error, ErrorKind, Result};

use super::ScanOptions;
use super::head::{Start, problem};
use super::marker::Marker;
use crate::ctf::{CtfSequence, KeyKind, Names, hash_of_name, is_space};

/// The longest symbolic id. Ids are kept in memory, and text without white space of this length is
/// not an id.
const LONGEST_ID: usize = 1 << 20;

/// Reads lines that come in parts of any size.
#[derive(Debug)]
pub(super) struct Body {
    line_mode: bool,
    keys: KeyKind,
    marker: Option<Marker>,
    /// The offset of the next byte.
    position: u64,
    /// The start of the line.
    line_start: u64,
    /// Whether the id of the line has not ended yet.
    in_id: bool,
    /// The digits of the id so far: their number, and their value.
    digits: (u64, u64),
    /// The bytes so far of a symbolic id that is split between parts.
    id: Vec<u8>,
    /// Whether the first line still needs its id.
    needs_id: bool,
    part: ScannedPart,
}

/// The result for a part of a file.
#[derive(Debug, Default)]
pub(super) struct ScannedPart {
    /// Whether the file has bytes before it.
    continues: bool,
    /// Counted lines before the first id. They belong to the last sequence of the previous part.
    lead: u64,
    /// The first sequence, if it ends inside the part, and its end. It may belong to the last
    /// sequence of the previous part.
    first: Option<(Run, u64)>,
    /// Sequences inside the part.
    sequences: Vec<CtfSequence>,
    /// The last sequence, which may go on in the next part.
    open: Option<Run>,
    /// The number of line feeds. In line mode this is the key of the line after the part.
    pub lines: u64,
}

/// Lines with one id.
#[derive(Clone, Copy, Debug)]
struct Run {
    key: u64,
    offset: u64,
    /// The number of lines that count.
    samples: u64,
}

impl Body {
    /// The lines from the first one on.
    pub(super) fn new(options: &ScanOptions, start: &Start) -> Self {
        Self {
            line_mode: start.line_mode,
            keys: options.keys,
            marker: options.main_alias.as_deref().map(Marker::new),
            position: start.offset,
            line_start: start.offset,
            in_id: !start.line_mode,
            digits: (0, 0),
            id: Vec::new(),
            needs_id: !start.line_mode,
            part: ScannedPart { lines: start.lines, ..ScannedPart::default() },
        }
    }

    /// The lines from a later line on.
    pub(super) fn part(options: &ScanOptions, start: &Start, position: u64) -> Self {
        let mut body = Self::new(options, start);
        (body.position, body.line_start) = (position, position);
        body.needs_id = false;
        body.part = ScannedPart::nothing();
        body
    }

    /// The offset of the next byte.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Takes the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8], names: &mut Names) -> Result<()> {
        let mut at = 0;
        while at < bytes.len() {
            if self.in_id {
                at = match self.keys {
                    KeyKind::Numeric => self.numeric_id(bytes, at)?,
                    KeyKind::Symbolic | KeyKind::Hashed => self.symbolic_id(bytes, at, names)?,
                };
                if self.in_id {
                    break;
                }
            }
            let rest = &bytes[at..];
            let Some(len) = memchr(b'\n', rest) else {
                if let Some(marker) = &mut self.marker {
                    marker.piece(rest);
                }
                break;
            };
            let counts = match &mut self.marker {
                None => true,
                Some(marker) => marker.last_piece(&rest[..len]),
            };
            at += len + 1;
            self.end_line(counts, self.position + at as u64)?;
        }
        self.position += bytes.len() as u64;
        Ok(())
    }

    /// Ends a line. The last line of a file may lack its line feed.
    fn end_line(&mut self, counts: bool, end: u64) -> Result<()> {
        if self.line_mode {
            if counts {
                let run = Run { key: self.part.lines, offset: self.line_start, samples: 1 };
                self.part.add(run, end)?;
            }
            self.part.lines += 1;
        } else {
            let samples = match &mut self.part.open {
                Some(run) => &mut run.samples,
                None => &mut self.part.lead,
            };
            *samples += u64::from(counts);
            self.in_id = true;
        }
        self.line_start = end;
        Ok(())
    }

    /// Reads the digits at the start of a line.
    fn numeric_id(&mut self, bytes: &[u8], mut at: usize) -> Result<usize> {
        let (mut count, mut id) = self.digits;
        while let Some(&byte) = bytes.get(at) {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                self.digits = (0, 0);
                self.end_id((count > 0).then_some(id))?;
                return Ok(at);
            }
            let next = id.wrapping_mul(10).wrapping_add(u64::from(digit));
            // CNTK detects an overflow in this way. It misses some; then the key is the rest.
            if next < id {
                return Err(problem(
                    "Overflow while reading a numeric sequence id (8-bit value).",
                    self.line_start,
                )
                .with_help("ids are numbers below 2^64"));
            }
            id = next;
            count += 1;
            at += 1;
        }
        self.digits = (count, id);
        Ok(at)
    }

    /// Reads the bytes before the first white space of a line.
    fn symbolic_id(&mut self, bytes: &[u8], at: usize, names: &mut Names) -> Result<usize> {
        let rest = &bytes[at..];
        let len = rest.iter().position(|&byte| is_space(byte));
        let piece = &rest[..len.unwrap_or(rest.len())];
        if self.id.len() + piece.len() > LONGEST_ID {
            return Err(Error::new(ErrorKind::Limit {
                what: "bytes of a sequence id",
                wanted: (self.id.len() + piece.len()) as u64,
                limit: LONGEST_ID as u64,
            })
            .at_byte(self.line_start));
        }
        if len.is_none() {
            self.id.extend_from_slice(piece);
            return Ok(bytes.len());
        }
        let mut number = |id: &[u8]| match self.keys {
            _ if id.is_empty() => None,
            KeyKind::Hashed => Some(hash_of_name(id)),
            _ => Some(names.number(id)),
        };
        let id = if self.id.is_empty() {
            number(piece)
        } else {
            self.id.extend_from_slice(piece);
            let id = number(&self.id);
            self.id.clear();
            id
        };
        self.end_id(id)?;
        Ok(at + piece.len())
    }

    /// The id of the line has ended, or it has none.
    fn end_id(&mut self, id: Option<u64>) -> Result<()> {
        self.in_id = false;
        let open = &mut self.part.open;
        match (id, *open) {
            (Some(key), Some(run)) if key == run.key => {}
            (Some(key), before) => {
                *open = Some(Run { key, offset: self.line_start, samples: 0 });
                self.needs_id = false;
                if let Some(before) = before {
                    if self.part.continues && self.part.first.is_none() {
                        self.part.first = Some((before, self.line_start));
                    } else {
                        self.part.add(before, self.line_start)?;
                    }
                }
            }
            (None, _) if self.needs_id => return Err(no_id(self.line_start)),
            (None, _) => {}
        }
        Ok(())
    }

    /// The end of the file, or of the part.
    pub(super) fn finish(mut self) -> Result<ScannedPart> {
        if self.line_start < self.position {
            // If the file ends inside an id, it is no id, and the line does not count.
            if !self.in_id {
                let counts = match &mut self.marker {
                    None => true,
                    Some(marker) => marker.last_piece(b""),
                };
                self.end_line(counts, self.position)?;
            } else if self.needs_id {
                return Err(no_id(self.line_start));
            }
        }
        Ok(self.part)
    }
}

impl ScannedPart {
    /// A later part in which no line starts.
    pub(super) fn nothing() -> Self {
        Self { continues: true, ..Self::default() }
    }

    /// Adds a complete sequence, unless none of its lines counts.
    fn add(&mut self, run: Run, end: u64) -> Result<()> {
        add(&mut self.sequences, run, end)
    }

    /// Replaces the keys of one numbering by those of another.
    pub(super) fn rename(&mut self, keys: &[u64]) {
        let rename = |key: &mut u64| *key = keys[*key as usize];
        self.first.iter_mut().for_each(|(run, _)| rename(&mut run.key));
        self.sequences.iter_mut().for_each(|sequence| rename(&mut sequence.key));
        self.open.iter_mut().for_each(|run| rename(&mut run.key));
    }

    /// Makes keys count lines from the start of the file.
    pub(super) fn number_lines(&mut self, before: u64) {
        self.lines += before;
        self.sequences.iter_mut().for_each(|sequence| sequence.key += before);
    }

    /// The sequences of a file of `file_bytes` bytes, from its parts in order.
    pub(super) fn join(parts: Vec<Self>, file_bytes: u64) -> Result<Vec<CtfSequence>> {
        let mut sequences = Vec::new();
        let mut open: Option<Run> = None;
        for mut part in parts {
            if let Some(open) = &mut open {
                open.samples += part.lead;
            }
            let mut go_on = |run: Run, sequences: &mut Vec<CtfSequence>| {
                match &mut open {
                    Some(open) if open.key == run.key => open.samples += run.samples,
                    _ => {
                        if let Some(before) = open.replace(run) {
                            return add(sequences, before, run.offset);
                        }
                    }
                }
                Ok(())
            };
            if let Some((first, end)) = part.first {
                go_on(first, &mut sequences)?;
                if let Some(first) = open.take() {
                    add(&mut sequences, first, end)?;
                }
                open = part.open;
                sequences.append(&mut part.sequences);
            } else {
                if sequences.is_empty() {
                    sequences = part.sequences;
                } else {
                    sequences.append(&mut part.sequences);
                }
                if let Some(run) = part.open {
                    go_on(run, &mut sequences)?;
                }
            }
        }
        if let Some(open) = open {
            add(&mut sequences, open, file_bytes)?;
        }
        if u32::try_from(sequences.len()).is_err() {
            return Err(Error::new(ErrorKind::Limit {
                what: "sequences of a file",
                wanted: sequences.len() as u64,
                limit: u64::from(u32::MAX),
            }));
        }
        Ok(sequences)
    }
}

/// Adds a complete sequence, unless none of its lines counts.
fn add(sequences: &mut Vec<CtfSequence>, run: Run, end: u64) -> Result<()> {
    if run.samples == 0 {
        return Ok(());
    }
    let bytes = u32::try_from(end - run.offset).map_err(|_| too_large(run.offset, end))?;
    // Each line has at least one byte.
    let samples = run.samples as u32;
    sequences.push(CtfSequence { key: run.key, offset: run.offset, bytes, samples });
    Ok(())
}

#[cold]
fn too_large(offset: u64, end: u64) -> Error {
    Error::new(ErrorKind::Limit {
        what: "bytes of a sequence",
        wanted: end - offset,
        limit: u64::from(u32::MAX),
    })
    .at_byte(offset)
}

#[cold]
fn no_id(offset: u64) -> Error {
    problem(format!("Expected a sequence id at the offset {offset}, none was found."), offset)
        .with_help("start the line with a number, or set skipSequenceIds = true")
}

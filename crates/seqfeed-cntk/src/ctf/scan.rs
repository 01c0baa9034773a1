//! The indexer: finds the sequences of a file and their positions.
//!
//! A file is in one of two modes. In *line mode* each line is a sequence of one sample, and its key
//! is the number of the line, from 0. In *id mode* a sequence is a run of lines: the first line
//! starts with an id, the others with the same id or none. A file that starts with `|` is in line
//! mode; if ids are skipped, every file is.
//!
//! Only the starts and the ends of lines are looked at. If a stream defines the size of
//! minibatches, lines are also searched for it, since lines without it do not count.

mod body;
mod head;
mod marker;
mod parallel;

use seqfeed_core::Result;

use self::body::{Body, ScannedPart};
use self::head::{Head, Start};
pub use self::parallel::scan_in_parallel;
use super::{CtfIndex, KeyKind, Names};

/// Options of the indexer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanOptions {
    /// Lines are sequences, whatever ids they have (`skipSequenceIds`).
    pub skip_sequence_ids: bool,
    /// The alias of the stream that defines the size of minibatches (`definesMBSize`). Only lines
    /// with a sample of it count.
    pub main_alias: Option<String>,
    /// The kind of keys.
    pub keys: KeyKind,
}

/// Makes the index of a file that comes in parts of any size.
///
/// ```
/// use seqfeed_cntk::ctf::{Names, ScanOptions, Scanner};
///
/// let mut names = Names::new();
/// let mut scanner = Scanner::new(&ScanOptions::default(), &mut names);
/// scanner.push(b"100 |a 1\n|a 2\n200")?;
/// scanner.push(b" |a 3\n")?;
/// let index = scanner.finish()?;
/// let sequences: Vec<_> = index
///     .sequences
///     .iter()
///     .map(|sequence| (sequence.key, sequence.offset, sequence.bytes, sequence.samples))
///     .collect();
/// assert_eq!(sequences, [(100, 0, 14, 2), (200, 14, 9, 1)]);
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Scanner<'n> {
    options: ScanOptions,
    names: &'n mut Names,
    state: State,
}

#[derive(Debug)]
enum State {
    Head(Head),
    Body(Box<Body>),
}

impl<'n> Scanner<'n> {
    /// Starts with a new file. Names are used only for [`KeyKind::Symbolic`].
    #[must_use]
    pub fn new(options: &ScanOptions, names: &'n mut Names) -> Self {
        Self { options: options.clone(), names, state: State::Head(Head::default()) }
    }

    /// Takes the next bytes of the file. Nothing can be pushed after an error.
    ///
    /// # Errors
    ///
    /// Fails if the first bytes are those of UTF-16, if the first line has no id, if an id does not
    /// fit 64 bits, or if a sequence has 4 GiB or more. Errors have the byte, but not the file.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.state {
            State::Body(body) => body.push(bytes, self.names),
            State::Head(head) => {
                if let Some((start, used)) = head.push(bytes, &self.options)? {
                    let mut body = self.start(&start)?;
                    body.push(&bytes[used..], self.names)?;
                    self.state = State::Body(body);
                }
                Ok(())
            }
        }
    }

    /// The index, after the whole file has been pushed.
    ///
    /// # Errors
    ///
    /// As [`push`](Self::push), or if the file is empty.
    pub fn finish(mut self) -> Result<CtfIndex> {
        if let State::Head(head) = &self.state {
            let start = head.finish(&self.options)?;
            self.state = State::Body(self.start(&start)?);
        }
        let State::Body(body) = self.state else { unreachable!("the head has ended") };
        let file_bytes = body.position();
        index(vec![body.finish()?], file_bytes, self.options.keys, self.names)
    }

    fn start(&mut self, start: &Start) -> Result<Box<Body>> {
        let mut body = Box::new(Body::new(&self.options, start));
        body.push(start.held(), self.names)?;
        Ok(body)
    }
}

/// The index of a whole file, from its parts.
fn index(
    parts: Vec<ScannedPart>,
    file_bytes: u64,
    keys: KeyKind,
    names: &Names,
) -> Result<CtfIndex> {
    let sequences = ScannedPart::join(parts, file_bytes)?;
    let names = match keys {
        KeyKind::Symbolic => names.iter().map(Box::from).collect(),
        KeyKind::Numeric | KeyKind::Hashed => Vec::new(),
    };
    Ok(CtfIndex { sequences, names, file_bytes })
}

#[cfg(test)]
mod tests;

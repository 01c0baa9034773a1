//! The indexer: which sequences a file holds, and where.
//!
//! A file is in one of two modes. In *line mode* each line is a sequence of one sample, and its key
//! is the number of the line from 0. In *id mode* a sequence is a run of lines: the first one
//! starts with an id, the others with the same one or none. A file that starts with `|` is in line
//! mode, and so is any file if ids are skipped.
//!
//! Only the starts of lines and the ends of lines are looked at, unless a stream defines the size
//! of minibatches: then lines without it are not counted.

mod body;
mod head;
mod marker;
mod parallel;

use seqfeed_core::Result;

use self::body::{Body, ScannedPart};
use self::head::{Head, Start};
pub use self::parallel::scan_in_parallel;
use super::{CtfIndex, KeyKind, Names};

/// What the indexer has to know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanOptions {
    /// Lines are sequences, whatever ids they have (`skipSequenceIds`).
    pub skip_sequence_ids: bool,
    /// The alias of the stream that defines the size of minibatches (`definesMBSize`): only lines
    /// with a sample of it are counted.
    pub main_alias: Option<String>,
    /// What keys are made of.
    pub keys: KeyKind,
}

/// Makes the index of a file that comes in pieces of any size.
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
    /// Starts with a new file. Names are used for [`KeyKind::Symbolic`] only.
    #[must_use]
    pub fn new(options: &ScanOptions, names: &'n mut Names) -> Self {
        Self { options: options.clone(), names, state: State::Head(Head::default()) }
    }

    /// Takes the next bytes of the file. Nothing can be pushed after an error.
    ///
    /// # Errors
    ///
    /// The first bytes are those of UTF-16; the first line has no id; an id does not fit 64 bits; a
    /// sequence has 4 GiB or more. The errors say at which byte, and don't say in which file.
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

    /// The index, all of the file having been pushed.
    ///
    /// # Errors
    ///
    /// As [`push`](Self::push), or there is nothing in the file.
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

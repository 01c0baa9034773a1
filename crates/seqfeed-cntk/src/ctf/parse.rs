//! Parses the samples of one sequence from its bytes.
//!
//! The rules are those of CNTK 2.7, including errors that it allows, except for its bugs:
//!
//! * **The last sample of a file without a final newline.** CNTK does not pad a short dense sample
//!   there (it reads beyond its memory), and does not reject a long one. Here this sample is like
//!   any other.
//! * **Symbolic ids.** CNTK's parser knows digits only, so each line with a symbolic id costs one
//!   error. Here the id is skipped up to the white space after it, as in the indexer. A line that
//!   starts with `|` has none.
//! * **Numbers** are rounded correctly (see `number.rs`).
//! * A chunk that fails is not tried again. CNTK tries five times, and counts the errors each time.
//!
//! A [setting](ParserOptions::longer_than_inputs) allows what CNTK's documentation announces for
//! the future.

mod block;
mod fault;
mod plain;
mod values;

use std::collections::HashMap;
use std::sync::Arc;

use memchr::memchr2;
use seqfeed_core::{Error, Problem, Result};

use self::fault::Fault;
use super::incident::MOST_UNDECLARED;
use super::{
    CTF, CtfFloat, CtfIncidents, CtfInput, KeyKind, SequenceSamples, StreamSamples,
    is_non_printable, is_space,
};

/// Options of the parser, beside the inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParserOptions {
    /// The kind of keys, which decides the form of ids.
    pub keys: KeyKind,
    /// A sequence may have more lines than its longest input has samples, so a label can have a
    /// line of its own. In CNTK this is an error. The setting has no effect on files in which a
    /// stream defines the size of minibatches.
    pub longer_than_inputs: bool,
}

/// Parses sequences. Each thread has its own parser: a clone that shares the budget of errors.
///
/// ```
/// use std::sync::Arc;
/// use seqfeed_cntk::ctf::*;
///
/// let text = b"7 |word 3:1 |tag 1 0\n7 |word 5:1 6:0.5 |tag 0 1\n";
/// let mut names = Names::new();
/// let mut scanner = Scanner::new(&ScanOptions::default(), &mut names);
/// scanner.push(text)?;
/// let index = scanner.finish()?;
///
/// let inputs = [CtfInput::sparse("word", 10), CtfInput::dense("tag", 2)];
/// let errors = Arc::new(CtfIncidents::new(0));
/// let mut parser = Parser::new("tags.ctf", &inputs, &ParserOptions::default(), errors)?;
/// let mut samples = SequenceSamples::<f32>::new();
/// parser.parse(text, 0, index.sequences[0].samples, &mut samples)?;
/// assert_eq!(samples.streams[0].indices, [3, 5, 6]);
/// assert_eq!(samples.streams[0].sample_ends, [1, 3]);
/// assert_eq!(samples.streams[1].values, [1.0, 0.0, 0.0, 1.0]);
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Parser {
    file: Arc<str>,
    inputs: Arc<[CtfInput]>,
    /// Numbers of the inputs by alias.
    numbers: Arc<HashMap<Box<[u8]>, usize>>,
    longest_alias: usize,
    /// Whether one of the inputs defines the size of minibatches.
    has_main: bool,
    options: ParserOptions,
    incidents: Arc<CtfIncidents>,
    /// Names of undeclared inputs that this parser has met.
    undeclared: Vec<Vec<u8>>,
}

/// Bytes of the name of an undeclared input to keep.
const KEPT_OF_NAME: usize = 64;

impl Parser {
    /// A parser for a file. The file's name is for messages.
    ///
    /// # Errors
    ///
    /// Fails with a usage error if there are no inputs, two have the same alias, a dimension is
    /// beyond 2^31 - 1, or several define the size of minibatches.
    pub fn new(
        file: &str,
        inputs: &[CtfInput],
        options: &ParserOptions,
        incidents: Arc<CtfIncidents>,
    ) -> Result<Self> {
        CtfInput::check(inputs)?;
        Ok(Self {
            file: file.into(),
            inputs: inputs.into(),
            numbers: Arc::new(
                inputs.iter().map(|input| input.alias.as_bytes().into()).zip(0..).collect(),
            ),
            longest_alias: inputs.iter().map(|input| input.alias.len()).max().unwrap_or(0),
            has_main: CtfInput::main(inputs)?.is_some(),
            options: options.clone(),
            incidents,
            undeclared: Vec::new(),
        })
    }

    /// The inputs.
    #[must_use]
    pub fn inputs(&self) -> &[CtfInput] {
        &self.inputs
    }

    /// The errors and warnings so far.
    #[must_use]
    pub fn incidents(&self) -> &Arc<CtfIncidents> {
        &self.incidents
    }

    /// Parses the bytes of a sequence at an offset of the file. `lines` is the number in the index:
    /// of its lines, or of those with the stream that defines the size of minibatches.
    ///
    /// After an error the contents of `out` are unspecified.
    ///
    /// # Errors
    ///
    /// Fails if there are more errors than the budget allows, if an input has no samples, or if
    /// there is no memory for a sample.
    pub fn parse<T: CtfFloat>(
        &mut self,
        bytes: &[u8],
        offset: u64,
        lines: u32,
        out: &mut SequenceSamples<T>,
    ) -> Result<()> {
        out.clear(self.inputs.len());
        let undeclared = std::mem::take(&mut self.undeclared);
        let mut cursor =
            Cursor { parser: self, bytes, offset, at: 0, row: 0, next_input: 0, undeclared };
        let parsed = cursor.sequence(lines, out);
        self.undeclared = cursor.undeclared;
        parsed
    }
}

/// A position in a sequence.
struct Cursor<'p, 'b> {
    parser: &'p Parser,
    bytes: &'b [u8],
    offset: u64,
    at: usize,
    /// The start of the row.
    row: usize,
    /// The probable next input: samples have the same order in most lines.
    next_input: usize,
    /// The parser's own list.
    undeclared: Vec<Vec<u8>>,
}

/// The result of reading a sample.
enum Sample {
    Good,
    /// A comment, or a sample of an unknown input.
    Skipped,
}

impl Cursor<'_, '_> {
    /// Reads all rows.
    fn sequence<T: CtfFloat>(&mut self, lines: u32, out: &mut SequenceSamples<T>) -> Result<()> {
        while self.at < self.bytes.len() {
            self.row = self.at;
            if !self.row(&mut out.streams)? {
                self.fault(self.row, &Fault::Row)?;
            }
        }
        self.check_lengths(lines, &out.streams)
    }

    /// Reads a row. Returns whether it has a sample.
    fn row<T: CtfFloat>(&mut self, streams: &mut [StreamSamples<T>]) -> Result<bool> {
        self.skip_id();
        let mut any = false;
        while let Some(&byte) = self.bytes.get(self.at) {
            if byte == b'\n' {
                self.at += 1;
                return Ok(any);
            }
            if byte == b' ' || is_non_printable(byte) {
                self.at += 1;
                continue;
            }
            let start = self.at;
            match self.sample(streams) {
                Ok(Sample::Good) => {
                    any = true;
                    continue;
                }
                Ok(Sample::Skipped) => {}
                Err(Fault::Memory(error)) => return Err(error),
                Err(fault) => self.fault(start, &fault)?,
            }
            let rest = &self.bytes[self.at..];
            self.at += memchr2(b'|', b'\n', rest).unwrap_or(rest.len());
        }
        // A row without an end counts like one with samples.
        Ok(true)
    }

    /// Skips the id of a row.
    fn skip_id(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += match self.parser.options.keys {
            KeyKind::Numeric => rest.iter().position(|byte| !byte.is_ascii_digit()),
            // CNTK counts text before the first `|` as an error.
            _ if rest.first() == Some(&b'|') => Some(0),
            _ => rest.iter().position(|&byte| is_space(byte)),
        }
        .unwrap_or(rest.len());
    }

    /// Reads a sample, or a comment up to its first byte.
    fn sample<T: CtfFloat>(
        &mut self,
        streams: &mut [StreamSamples<T>],
    ) -> std::result::Result<Sample, Fault> {
        if self.bytes[self.at] != b'|' {
            return Err(Fault::NoPipe);
        }
        self.at += 1;
        if self.bytes.get(self.at) == Some(&b'#') {
            self.at += 1;
            return Ok(Sample::Skipped);
        }
        let Some(number) = self.input()? else { return Ok(Sample::Skipped) };
        let input = &self.parser.inputs[number];
        let stream = &mut streams[number];
        if input.sparse {
            self.sparse(input, stream)?;
        } else {
            self.dense(input, stream)?;
        }
        Ok(Sample::Good)
    }

    /// Reads the name of an input. `None` if it is unknown.
    fn input(&mut self) -> std::result::Result<Option<usize>, Fault> {
        let inputs = &self.parser.inputs;
        let rest = &self.bytes[self.at..];
        let ends = |byte: u8| byte == b' ' || byte == b'|' || is_non_printable(byte);
        let guess = self.next_input;
        let alias = inputs[guess].alias.as_bytes();
        let number = if rest.starts_with(alias) && rest.get(alias.len()).is_some_and(|&b| ends(b)) {
            self.at += alias.len();
            guess
        } else {
            let longest = self.parser.longest_alias;
            let Some(len) = rest.iter().take(longest + 1).position(|&byte| ends(byte)) else {
                // It is longer than all aliases, unless the bytes end in it.
                if rest.len() > longest {
                    self.pass_undeclared();
                    return Ok(None);
                }
                self.at = self.bytes.len();
                return Err(Fault::NameAtEnd);
            };
            if len == 0 {
                return Err(Fault::NoName);
            }
            let name = &rest[..len];
            match self.parser.numbers.get(name) {
                Some(&number) => {
                    self.at += len;
                    number
                }
                None => {
                    self.pass_undeclared();
                    self.at += len;
                    return Ok(None);
                }
            }
        };
        self.next_input = if number + 1 < inputs.len() { number + 1 } else { 0 };
        Ok(Some(number))
    }

    /// Keeps the name of the undeclared input at this position, if it is new.
    fn pass_undeclared(&mut self) {
        let rest = &self.bytes[self.at..];
        let rest = &rest[..rest.len().min(KEPT_OF_NAME)];
        let ends = |&byte: &u8| byte == b' ' || byte == b'|' || is_non_printable(byte);
        let name = &rest[..rest.iter().position(ends).unwrap_or(rest.len())];
        let known = self.undeclared.iter().any(|known| known == name);
        if !known && self.undeclared.len() < MOST_UNDECLARED {
            self.undeclared.push(name.to_vec());
            self.parser.incidents.add_undeclared(name, self.offset + self.at as u64);
        }
    }

    /// Compares the numbers of samples with the index.
    fn check_lengths<T>(&self, lines: u32, streams: &[StreamSamples<T>]) -> Result<()> {
        let parser = self.parser;
        let mut longest = 0;
        for (input, stream) in parser.inputs.iter().zip(streams) {
            if stream.samples == 0 {
                return Err(self.empty_input(input));
            }
            if !parser.has_main || input.defines_mb_size {
                longest = longest.max(stream.samples);
            }
        }
        if longest > lines {
            self.fault(0, &Fault::TooManySamples { samples: longest, lines })?;
        } else if longest < lines && (parser.has_main || !parser.options.longer_than_inputs) {
            self.fault(0, &Fault::TooFewSamples { samples: longest, lines })?;
        }
        Ok(())
    }

    #[cold]
    fn empty_input(&self, input: &CtfInput) -> Error {
        let what = format!(
            "Malformed input file. Bailing out. Input ('{}') is empty in the sequence",
            input.name
        );
        let error = Error::format(CTF, Problem::Unsupported(what.into()))
            .in_file(&*self.parser.file)
            .at_byte(self.offset);
        if input.alias == input.name {
            error.with_help("each sequence needs a sample of each input")
        } else {
            error.with_help(format!(
                "each sequence needs a sample of each input: is `|{}` the one meant?",
                input.alias
            ))
        }
    }
}

#[cfg(test)]
mod tests;

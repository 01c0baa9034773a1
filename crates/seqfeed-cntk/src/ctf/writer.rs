//! Writes CNTK's text format.

mod line;
mod samples;

use std::io::Write;

use seqfeed_core::{Error, Key, Problem, Result};

use super::CTF;
use line::push_comment;
pub use samples::{Floats, WriterSamples};

/// Text is given to the writer below in parts of about this many bytes.
const PIECE: usize = 256 << 10;

/// The largest dimension of a sparse stream in CNTK.
const MOST_SPARSE: usize = i32::MAX as usize;

/// A stream of a file to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriterStream {
    /// The name of its samples, after the `|`.
    pub alias: String,
    /// Number of values of a dense sample. For a sparse stream, indices must be below it.
    pub dim: usize,
    /// Whether samples are pairs `index:value`.
    pub is_sparse: bool,
}

impl WriterStream {
    /// A stream of samples that have all their `dim` values.
    pub fn dense(alias: impl Into<String>, dim: usize) -> Self {
        Self { alias: alias.into(), dim, is_sparse: false }
    }

    /// A stream of samples with only some of their `dim` values.
    pub fn sparse(alias: impl Into<String>, dim: usize) -> Self {
        Self { alias: alias.into(), dim, is_sparse: true }
    }

    /// Whether CNTK can read a stream of that name.
    fn check(&self) -> Result<()> {
        let is_readable = |byte: u8| byte.is_ascii_graphic() && byte != b'|';
        let alias = self.alias.as_bytes();
        if alias.is_empty() || alias[0] == b'#' || !alias.iter().copied().all(is_readable) {
            let what = format!("CTF cannot name a stream \"{}\"", self.alias.escape_debug());
            let help = "an alias is of ASCII letters, digits and signs, without `|`, and does not \
                        begin with `#`";
            return Err(Error::usage(what).with_help(help));
        }
        if self.dim == 0 || (self.is_sparse && self.dim > MOST_SPARSE) {
            let what = format!("stream {}: a dimension of {} cannot be", self.alias, self.dim);
            return Err(Error::usage(what));
        }
        Ok(())
    }
}

/// The way in which keys become ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ids {
    /// The first key will decide.
    Undecided,
    /// Keys are numbers, and are used as ids.
    Keys,
    /// Sequences are numbered; keys become comments.
    Numbers,
}

/// Writes sequences as CTF.
///
/// ```
/// use seqfeed_cntk::ctf::{WriterSamples, Writer, WriterStream};
/// use seqfeed_core::Key;
///
/// # fn main() -> seqfeed_core::Result<()> {
/// let streams = vec![WriterStream::dense("x", 2), WriterStream::sparse("y", 10)];
/// let mut writer = Writer::new(Vec::new(), streams)?;
/// // Two samples of x; one of y, which has the value 1 at index 7.
/// let x = WriterSamples::dense(&[0.5_f32, 1.0, -2.0, 1e-7]);
/// let y = WriterSamples::sparse(&[1.0_f32], &[7], &[1]);
/// writer.write_sequence(Key(b"utt|1"), &[x, y])?;
/// let text = writer.finish()?;
/// assert_eq!(text, b"0 |# utt|#1 |x 0.5 1 |y 7:1\n0 |x -2 1e-7\n");
/// # Ok(())
/// # }
/// ```
///
/// **Ids.** If the first key is a number by CTF's rules (digits, no leading zeros, below 2^64), all
/// keys must be numbers, and they are the ids. Otherwise, or after
/// [`number_sequences`](Self::number_sequences), sequences are numbered from 0. The key becomes a
/// comment on the first line, with `|#` for each `|`.
///
/// **Streams of different lengths** begin on the same line. The longest one decides the number of
/// lines, since CNTK allows no more lines than samples.
///
/// **Numbers** have as few digits as a reader that rounds correctly needs to read back the same
/// `f32` or `f64`. CNTK rounds more than once. It reads the same `f32` (none of 400,000 differs),
/// but in one of ten `f64` the last bit differs.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    streams: Vec<WriterStream>,
    ids: Ids,
    /// Number of sequences.
    written: u64,
    /// Id of the previous sequence.
    last: Option<u64>,
    /// Text that has not been passed on yet.
    text: Vec<u8>,
    /// Whether a part of the text may have been written.
    failed: bool,
}

impl<W: Write> Writer<W> {
    /// A writer of files with these streams. It buffers text itself, so `out` needs no buffer.
    ///
    /// # Errors
    ///
    /// Fails if there are no streams, if two have the same alias, or if CNTK could not read one of
    /// them: an alias consists of visible ASCII characters other than `|` and does not begin with
    /// `#`, and sparse dimensions are below 2^31.
    pub fn new(out: W, streams: Vec<WriterStream>) -> Result<Self> {
        if streams.is_empty() {
            return Err(Error::usage("a CTF file needs a stream"));
        }
        for (number, stream) in streams.iter().enumerate() {
            stream.check()?;
            if streams[..number].iter().any(|other| other.alias == stream.alias) {
                return Err(Error::usage(format!("two streams have the alias {}", stream.alias)));
            }
        }
        let (ids, text) = (Ids::Undecided, Vec::with_capacity(2 * PIECE));
        Ok(Self { out, streams, ids, written: 0, last: None, text, failed: false })
    }

    /// Numbers the sequences, even if keys are numbers.
    #[must_use]
    pub fn number_sequences(mut self) -> Self {
        self.ids = Ids::Numbers;
        self
    }

    /// Writes a sequence: its samples for each of the streams, in their order.
    ///
    /// # Errors
    ///
    /// Nothing of the sequence is written, and others can be written, if
    ///
    /// * a stream has no samples, which CTF cannot hold;
    /// * a value is infinite or NaN, which CTF cannot hold;
    /// * the key cannot be an id, or cannot stand in a comment, or repeats that of the previous
    ///   sequence: the two would be read as one;
    /// * the samples do not fit their stream, or the text is longer than 4 GiB.
    ///
    /// After a failure of the writer below nothing more can be written.
    pub fn write_sequence(&mut self, key: Key<'_>, samples: &[WriterSamples<'_>]) -> Result<()> {
        let start = self.text.len();
        let result = self.push_sequence(key, samples);
        if result.is_err() {
            self.text.truncate(start);
        }
        let (id, ids) = result.map_err(|error| error.of_key(key))?;
        (self.ids, self.last) = (ids, Some(id));
        self.written += 1;
        if self.text.len() >= PIECE { self.give_on() } else { Ok(()) }
    }

    fn push_sequence(&mut self, key: Key<'_>, samples: &[WriterSamples<'_>]) -> Result<(u64, Ids)> {
        if samples.len() != self.streams.len() {
            let what = "streams of a sequence";
            let (expected, found) = (self.streams.len() as u64, samples.len() as u64);
            return Err(Error::format(CTF, Problem::CountMismatch { what, expected, found }));
        }
        let mut lines = 0;
        for (stream, samples) in self.streams.iter().zip(samples) {
            lines = samples.check(stream)?.max(lines);
        }
        let (id, ids) = self.id(key)?;
        let mut digits = itoa::Buffer::new();
        let digits = digits.format(id).as_bytes();
        let start = self.text.len();
        for line in 0..lines {
            self.text.extend_from_slice(digits);
            if line == 0 && ids == Ids::Numbers {
                push_comment(key, &mut self.text)?;
            }
            for (stream, samples) in self.streams.iter().zip(samples) {
                samples.push(line, stream, &mut self.text)?;
            }
            self.text.push(b'\n');
        }
        if u32::try_from(self.text.len() - start).is_err() {
            return Err(Error::usage("a sequence of more than 4 GiB of text cannot be read back"));
        }
        Ok((id, ids))
    }

    /// The id of the next sequence, and the rule for ids from now on.
    fn id(&self, key: Key<'_>) -> Result<(u64, Ids)> {
        let number = number(key);
        match (self.ids, number) {
            (Ids::Numbers, _) | (Ids::Undecided, None) => Ok((self.written, Ids::Numbers)),
            (Ids::Keys, _) if number.is_some() && number == self.last => {
                Err(Error::format(CTF, Problem::DuplicateKey))
            }
            (_, Some(number)) => Ok((number, Ids::Keys)),
            (Ids::Keys, None) => Err(Error::usage("the first key is a number, this one is not")
                .with_help("let the writer number the sequences (number_sequences)")),
        }
    }

    /// Writes the rest and returns the writer below.
    ///
    /// # Errors
    ///
    /// Fails if the writer below fails or has failed.
    pub fn finish(mut self) -> Result<W> {
        self.give_on()?;
        self.out.flush().map_err(|error| Error::io("writing", error))?;
        Ok(self.out)
    }

    fn give_on(&mut self) -> Result<()> {
        if self.failed {
            return Err(Error::usage("an earlier write failed; the file is not whole"));
        }
        self.out.write_all(&self.text).map_err(|error| {
            self.failed = true;
            Error::io("writing", error)
        })?;
        self.text.clear();
        Ok(())
    }
}

/// The number that reads back as the same key.
fn number(key: Key<'_>) -> Option<u64> {
    let is_plain = matches!(key.0, [b'0'] | [b'1'..=b'9', ..]);
    // `parse` would accept a sign.
    if is_plain && key.0.iter().all(u8::is_ascii_digit) { key.as_str()?.parse().ok() } else { None }
}

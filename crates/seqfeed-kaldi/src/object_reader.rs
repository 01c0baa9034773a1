//! Reads objects from a stream of bytes, and knows the position of everything.

use std::io::{BufRead, Read};

use bytemuck::Pod;
use seqfeed_core::{Error, Key, Problem, Result};
use seqfeed_io::{Input, Opener, RxFilename, too_long};

use crate::mode::Mode;
use crate::tables::typing::Typing;
use crate::{ARCHIVE, OBJECT};

/// If the amount of data is unknown, memory is taken in steps of this size. So a false size costs
/// no more memory than there are data.
const STEP: usize = 1 << 20;

/// A stream of bytes to read objects from: an archive, or a file with an object in it.
///
/// It counts bytes, so every error has a position.
#[derive(Debug)]
pub struct ObjectReader {
    input: Input,
    /// The mode of the next object, if its `\0B` was read already.
    pub(crate) mode_read: Option<Mode>,
    /// The type for objects of any type.
    pub(crate) typing: Typing,
}

impl ObjectReader {
    /// Reads from an input.
    #[must_use]
    pub fn new(input: Input) -> Self {
        Self { input, mode_read: None, typing: Typing::default() }
    }

    /// Opens an rxfilename.
    ///
    /// # Errors
    ///
    /// As [`Input::open`].
    pub fn open(name: &RxFilename, opener: &Opener) -> Result<Self> {
        Ok(Self::new(Input::open(name, opener)?))
    }

    /// Reads from memory; `name` is for messages.
    pub fn from_bytes(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(Input::from_reader(name, std::io::Cursor::new(bytes.into())))
    }

    /// The name for messages.
    #[must_use]
    pub fn name(&self) -> &str {
        self.input.name()
    }

    /// The offset of the next byte, in the decompressed stream.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.input.position()
    }

    /// Copies the rest of the stream into a temporary file, so that it can [go back](Self::seek) to
    /// this position.
    ///
    /// # Errors
    ///
    /// As [`Input::spooled`]. Nothing more can be read after an error.
    pub(crate) fn spool(&mut self) -> Result<()> {
        let input = std::mem::replace(&mut self.input, Input::from_reader("", std::io::empty()));
        self.input = input.spooled()?;
        Ok(())
    }

    /// Ends reading. A failed command is an error here.
    ///
    /// # Errors
    ///
    /// As [`Input::finish`].
    pub fn finish(self) -> Result<()> {
        self.input.finish()
    }

    /// The buffered bytes; empty only at the end.
    ///
    /// # Errors
    ///
    /// Fails if reading fails.
    pub fn fill(&mut self) -> Result<&[u8]> {
        // Borrowed again on success, since the borrow checker does not see that an error ends it.
        match self.input.fill_buf() {
            // The end is not asked for twice: on a terminal, the user would have to end the input
            // twice.
            Ok([]) => return Ok(&[]),
            Ok(_) => {}
            Err(error) => return Err(self.input.error(error)),
        }
        Ok(self.input.fill_buf().unwrap_or_default())
    }

    /// At least the next `count` bytes, contiguous; fewer only at the end of the stream.
    ///
    /// # Errors
    ///
    /// Fails if reading fails.
    pub fn ensure(&mut self, count: usize) -> Result<&[u8]> {
        match self.input.ensure(count) {
            Ok(_) => {}
            Err(error) => return Err(self.input.error(error)),
        }
        Ok(self.input.ensure(0).unwrap_or_default())
    }

    /// Skips the next `count` bytes, which must be buffered.
    pub fn consume(&mut self, count: usize) {
        self.input.consume(count);
    }

    /// The next byte, without consuming it.
    ///
    /// # Errors
    ///
    /// Fails if reading fails.
    pub fn peek(&mut self) -> Result<Option<u8>> {
        Ok(self.fill()?.first().copied())
    }

    /// Reads a byte.
    ///
    /// # Errors
    ///
    /// Fails if reading fails.
    pub fn next_byte(&mut self) -> Result<Option<u8>> {
        let byte = self.peek()?;
        if byte.is_some() {
            self.consume(1);
        }
        Ok(byte)
    }

    /// An error at the current position.
    #[must_use]
    pub fn error(&self, format: &'static str, problem: Problem) -> Error {
        self.error_at(self.position(), format, problem)
    }

    /// An error at another position.
    #[must_use]
    pub fn error_at(&self, position: u64, format: &'static str, problem: Problem) -> Error {
        Error::format(format, problem).in_file(self.name()).at_byte(position)
    }

    /// The error for other bytes here than expected.
    pub fn unexpected(&mut self, format: &'static str, expected: &'static str) -> Error {
        match self.fill() {
            Ok(buffer) => {
                let found = buffer[..buffer.len().min(16)].to_vec();
                self.error(format, Problem::Unexpected { expected: expected.into(), found })
            }
            Err(error) => error,
        }
    }

    /// The error for a stream that ends here.
    #[must_use]
    pub fn unexpected_end(&self, inside: &'static str, missing: Option<u64>) -> Error {
        self.error(OBJECT, Problem::UnexpectedEnd { inside, missing })
    }

    /// Fills `out`; `inside` names the data in messages.
    ///
    /// # Errors
    ///
    /// Fails if the stream ends before that.
    pub fn read_exact(&mut self, mut out: &mut [u8], inside: &'static str) -> Result<()> {
        while !out.is_empty() {
            let count = self.input.read(out).map_err(|error| self.input.error(error))?;
            if count == 0 {
                return Err(self.unexpected_end(inside, Some(out.len() as u64)));
            }
            out = &mut out[count..];
        }
        Ok(())
    }

    /// Reads `N` bytes.
    ///
    /// # Errors
    ///
    /// Fails if the stream ends before that.
    pub fn read_array<const N: usize>(&mut self, inside: &'static str) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        let buffer = self.fill()?;
        if let Some(there) = buffer.first_chunk() {
            bytes = *there;
            self.consume(N);
        } else {
            self.read_exact(&mut bytes, inside)?;
        }
        Ok(bytes)
    }

    /// Skips `count` bytes.
    ///
    /// # Errors
    ///
    /// Fails if the stream ends before that.
    pub fn skip_bytes(&mut self, count: u64, inside: &'static str) -> Result<()> {
        self.check_there(count, inside)?;
        let mut left = count;
        while left > 0 {
            let skipped = self.input.skip(left).map_err(|error| self.input.error(error))?;
            if skipped == 0 {
                return Err(self.unexpected_end(inside, Some(left)));
            }
            left -= skipped;
        }
        Ok(())
    }

    /// Fails if fewer than `count` bytes are known to be left.
    ///
    /// # Errors
    ///
    /// With the number of missing bytes.
    pub fn check_there(&mut self, count: u64, inside: &'static str) -> Result<()> {
        let Some(left) = self.left(count) else { return Ok(()) };
        match count.checked_sub(left) {
            None | Some(0) => Ok(()),
            missing => Err(self
                .unexpected_end(inside, missing)
                .with_help("the file is cut short, or a size in it is damaged")),
        }
    }

    /// The number of bytes left, if known (in plain files).
    pub(crate) fn left(&mut self, wanted: u64) -> Option<u64> {
        self.input.remaining(wanted)
    }

    /// Goes to a position of a plain file. For any other stream it does nothing and returns false.
    ///
    /// # Errors
    ///
    /// Fails if the operating system fails.
    pub fn seek(&mut self, position: u64) -> Result<bool> {
        self.input.seek(position).map_err(|error| self.input.error(error))
    }

    /// Reads `count` little-endian values, and replaces the contents of `values`. Takes no more
    /// memory than there are data.
    ///
    /// # Errors
    ///
    /// Fails if the stream ends before that.
    pub fn read_values<T: LittleEndian>(
        &mut self,
        count: usize,
        values: &mut Vec<T>,
        inside: &'static str,
    ) -> Result<()> {
        let bytes = (count as u64).saturating_mul(size_of::<T>() as u64);
        self.check_there(bytes, inside)?;
        let known = self.left(bytes).is_some();
        let mut done = 0;
        values.truncate(count);
        while done < count {
            let until = if known { count } else { count.min(done + STEP / size_of::<T>()) };
            if values.len() < until {
                values.resize(until, T::zeroed());
            }
            let into: &mut [u8] = bytemuck::cast_slice_mut(&mut values[done..until]);
            self.read_exact(into, inside)?;
            done = until;
        }
        if cfg!(target_endian = "big") {
            values.iter_mut().for_each(T::swap);
        }
        Ok(())
    }

    /// Skips white space. Returns whether something follows.
    ///
    /// # Errors
    ///
    /// Fails if reading fails.
    pub fn skip_space(&mut self) -> Result<bool> {
        self.skip_while(is_space)
    }

    /// Skips spaces and tabs. Returns whether something follows.
    ///
    /// # Errors
    ///
    /// Fails if reading fails.
    pub fn skip_blanks(&mut self) -> Result<bool> {
        self.skip_while(|byte| matches!(byte, b' ' | b'\t'))
    }

    fn skip_while(&mut self, skipped: impl Fn(u8) -> bool) -> Result<bool> {
        loop {
            let buffer = self.fill()?;
            if buffer.is_empty() {
                return Ok(false);
            }
            let count = buffer.iter().take_while(|&&byte| skipped(byte)).count();
            let more = count == buffer.len();
            self.consume(count);
            if !more {
                return Ok(true);
            }
        }
    }

    /// The most bytes of a key, a word or a number.
    pub(crate) fn line_limit(&self) -> usize {
        self.input.line_limit()
    }

    /// Reads to the end of the line, and replaces the contents of `line`. The end of the line is
    /// consumed, but not returned. Returns whether there was one.
    ///
    /// # Errors
    ///
    /// Fails if reading fails.
    pub fn read_line(&mut self, line: &mut Vec<u8>) -> Result<bool> {
        line.clear();
        // The bytes of the last word, or of the blanks behind it.
        let mut run = 0;
        loop {
            let limit = self.input.line_limit();
            let buffer = self.fill()?;
            if buffer.is_empty() {
                return Ok(false);
            }
            let end = memchr::memchr(b'\n', buffer);
            let more = &buffer[..end.unwrap_or(buffer.len())];
            let blank = line.last().or(more.first()).is_some_and(|&byte| is_space(byte));
            let goes_on = more.iter().position(|&byte| is_space(byte) != blank);
            run += goes_on.unwrap_or(more.len());
            if run > limit {
                let error = too_long("bytes of a word, or of blanks in a row", run, limit);
                return Err(error.in_file(self.name()).at_byte(self.position()));
            }
            if goes_on.is_some() {
                let last = more.last().is_some_and(|&byte| is_space(byte));
                run = more.iter().rev().take_while(|&&byte| is_space(byte) == last).count();
            }
            line.extend_from_slice(more);
            let taken = end.map_or(buffer.len(), |end| end + 1);
            self.consume(taken);
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    /// Reads a line of a script file without its end, and replaces the contents of `line`. Returns
    /// `false` at the end of the data. The line may have the length of the
    /// [limit](Input::line_limit).
    pub(crate) fn read_script_line(&mut self, line: &mut Vec<u8>) -> Result<bool> {
        let any = self.input.next_line(line)?;
        line.pop_if(|&mut byte| byte == b'\n');
        Ok(any)
    }

    /// Reads a token: bytes up to white space, and one byte of this white space. In text, white
    /// space before the token is skipped.
    ///
    /// # Errors
    ///
    /// Fails if there is no token, or no white space behind it.
    pub fn read_token(&mut self, mode: Mode) -> Result<Vec<u8>> {
        if mode == Mode::Text {
            self.skip_space()?;
        }
        let mut token = Vec::new();
        self.read_word(&mut token)?;
        if token.is_empty() {
            return Err(self.unexpected(OBJECT, "a token"));
        }
        if self.next_byte()?.is_none() {
            return Err(self.unexpected_end("a token", None));
        }
        Ok(token)
    }

    /// Appends the bytes up to white space or the end.
    pub(crate) fn read_word(&mut self, word: &mut Vec<u8>) -> Result<()> {
        loop {
            let buffer = self.fill()?;
            let count = buffer.iter().take_while(|&&byte| !is_space(byte)).count();
            let ended = count < buffer.len() || buffer.is_empty();
            word.extend_from_slice(&buffer[..count]);
            self.consume(count);
            let limit = self.input.line_limit();
            if word.len() > limit {
                let error = too_long("bytes of a key or token", word.len(), limit);
                return Err(error.in_file(self.name()).at_byte(self.position()));
            }
            if ended {
                return Ok(());
            }
        }
    }

    /// Reads a token that must be the given one. As in Kaldi, the `<` of a token in angle brackets
    /// may be missing (`Nnet3Eg>`).
    ///
    /// # Errors
    ///
    /// Fails if it is another token.
    pub fn expect_token(&mut self, token: &str, mode: Mode) -> Result<()> {
        if mode == Mode::Text {
            self.skip_space()?;
        }
        let start = self.position();
        let found = self.read_token(mode)?;
        if found == token.as_bytes() || token.strip_prefix('<').map(str::as_bytes) == Some(&found) {
            return Ok(());
        }
        let problem = Problem::Unexpected { expected: format!("\"{token}\"").into(), found };
        Err(self.error_at(start, OBJECT, problem))
    }

    /// The first byte of the next token, without its `<`. Nothing is consumed.
    ///
    /// # Errors
    ///
    /// Fails if reading fails.
    pub fn peek_token(&mut self, mode: Mode) -> Result<Option<u8>> {
        if mode == Mode::Text {
            self.skip_space()?;
        }
        Ok(match self.ensure(2)? {
            [b'<', byte, ..] | [byte, ..] => Some(*byte),
            [] => None,
        })
    }

    /// Reads the next key of an archive with the blank behind it, and replaces the contents of
    /// `key`. Returns `false` at the end.
    ///
    /// # Errors
    ///
    /// Fails if the archive ends inside a key, or if anything but a blank or the end of a line
    /// stands behind it.
    pub fn read_key(&mut self, key: &mut Vec<u8>) -> Result<bool> {
        key.clear();
        if !self.skip_space()? {
            return Ok(false);
        }
        self.read_word(key)?;
        match self.peek()? {
            Some(b' ' | b'\t') => self.consume(1),
            // The end of the line belongs to the object: an empty vector, for instance.
            Some(b'\n') => {}
            None => {
                let problem = Problem::UnexpectedEnd { inside: "a key", missing: None };
                return Err(self.error(ARCHIVE, problem).of_key(Key(key)));
            }
            _ => return Err(self.unexpected(ARCHIVE, "a space behind the key").of_key(Key(key))),
        }
        Ok(true)
    }
}

/// Numbers that files hold in little-endian order.
pub trait LittleEndian: Pod {
    /// Reverses the bytes, on big-endian machines.
    fn swap(&mut self);
}

macro_rules! little_endian {
    ($($type:ty)*) => {
        $(impl LittleEndian for $type {
            fn swap(&mut self) {
                *self = <$type>::from_le_bytes(self.to_ne_bytes());
            }
        })*
    };
}
little_endian!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

/// White space in Kaldi's sense: C's `isspace`.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

/// Whether bytes can be a token or a key, by Kaldi's `IsToken`: not empty, and without white space
/// or control characters.
///
/// ```
/// use seqfeed_kaldi::is_token;
///
/// assert!(is_token("sprecher_ä-1".as_bytes()));
/// assert!(!is_token(b"") && !is_token(b"two words"));
/// ```
#[must_use]
pub fn is_token(bytes: &[u8]) -> bool {
    Key(bytes).is_valid()
}

//! Words: one, or a line of them.

use std::fmt;

use seqfeed_core::{Error, Key, Problem, Result};

use crate::OBJECT;
use crate::holder::{Holder, Mode};
use crate::object_reader::{ObjectReader, is_space, is_token};
use crate::objects::basic::expect_line_end;

/// A word: bytes without white space, such as the speaker in `utt2spk`.
///
/// Written the same in both modes, without a header: `word LF`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(
    /// The bytes.
    pub Vec<u8>,
);

/// Words: a line of bytes parted by white space, such as a transcript in `text`.
///
/// Written the same in both modes, without a header: `word SP word SP LF`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TokenVector(
    /// The words.
    pub Vec<Token>,
);

impl Token {
    /// The token as text, if it is UTF-8.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }
}

impl From<&str> for Token {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Keys are tokens, and shown alike.
        Key(&self.0).fmt(f)
    }
}

impl Holder for Token {
    const TYPE: &'static str = "token";
    const HEADER: bool = false;

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        let mut token = Self::default();
        token.read_into(reader, mode)?;
        Ok(token)
    }

    fn read_into(&mut self, reader: &mut ObjectReader, _: Mode) -> Result<()> {
        self.0.clear();
        reader.skip_blanks()?;
        reader.read_word(&mut self.0)?;
        if self.0.is_empty() {
            return Err(reader.unexpected(OBJECT, "a word"));
        }
        while let Some(byte) = reader.peek()?.filter(|&byte| is_space(byte)) {
            reader.consume(1);
            if byte == b'\n' {
                return Ok(());
            }
        }
        match reader.peek()? {
            None => expect_line_end(reader, false),
            Some(_) => Err(reader
                .unexpected(OBJECT, "the end of the line behind one word")
                .with_help("for several words on a line, read a table of token vectors")),
        }
    }

    fn write(&self, out: &mut Vec<u8>, _: Mode) -> Result<()> {
        check(self)?;
        out.extend_from_slice(&self.0);
        out.push(b'\n');
        Ok(())
    }
}

impl Holder for TokenVector {
    const TYPE: &'static str = "vector of tokens";
    const HEADER: bool = false;

    fn read(reader: &mut ObjectReader, _: Mode) -> Result<Self> {
        let mut line = Vec::new();
        reader.read_line(&mut line)?;
        let words = line.split(|&byte| is_space(byte)).filter(|word| !word.is_empty());
        Ok(Self(words.map(|word| Token(word.to_vec())).collect()))
    }

    fn write(&self, out: &mut Vec<u8>, _: Mode) -> Result<()> {
        for token in &self.0 {
            check(token)?;
            out.extend_from_slice(&token.0);
            out.push(b' ');
        }
        out.push(b'\n');
        Ok(())
    }
}

fn check(token: &Token) -> Result<()> {
    if is_token(&token.0) {
        return Ok(());
    }
    let expected = "a token without white space and control characters".into();
    Err(Error::format(OBJECT, Problem::Unexpected { expected, found: token.0.clone() }))
}

//! Words. They are text in binary tables too.
//!
//! ```text
//! Token          foo LF
//! TokenVector    foo SP bar SP LF
//! ```

use std::fmt;

use seqfeed_core::{Error, Key, Problem, Result};

use crate::OBJECT;
use crate::holder::{Holder, Mode};
use crate::object_reader::{ObjectReader, is_space, is_token};
use crate::objects::basic::expect_line_end;

/// One word: bytes without white space, commonly UTF-8.
///
/// ```
/// use seqfeed_kaldi::{Mode, ObjectReader, Token, write_object};
///
/// let mut out = Vec::new();
/// write_object(&Token::from("spk1"), &mut out, Mode::Binary)?;
/// assert_eq!(out, b"spk1\n");
/// let token: Token = ObjectReader::from_bytes("memory", out).read()?;
/// assert_eq!(token.as_str(), Some("spk1"));
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(
    /// The bytes of the word.
    pub Vec<u8>,
);

impl Token {
    /// The word, if it is UTF-8.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }
}

impl<T: Into<Vec<u8>>> From<T> for Token {
    fn from(word: T) -> Self {
        Self(word.into())
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Key(&self.0).to_text())
    }
}

impl Holder for Token {
    const TYPE: &'static str = "token";
    const HEADER: bool = false;

    fn read(reader: &mut ObjectReader, _: Mode) -> Result<Self> {
        reader.skip_space()?;
        let mut word = Vec::new();
        reader.read_word(&mut word)?;
        if word.is_empty() {
            return Err(reader.unexpected_end("a token", None));
        }
        loop {
            match reader.peek()? {
                Some(b'\n') => {
                    reader.consume(1);
                    return Ok(Self(word));
                }
                Some(byte) if is_space(byte) => reader.consume(1),
                Some(_) => {
                    // Without a word, the next key is taken for the value.
                    let help = "behind a key stands one word; is there none on the line before?";
                    let error = reader.unexpected(OBJECT, "the end of the line behind a token");
                    return Err(error.with_help(help));
                }
                None => expect_line_end(reader, false)?,
            }
        }
    }

    fn write(&self, out: &mut Vec<u8>, _: Mode) -> Result<()> {
        write_word(out, &self.0)?;
        out.push(b'\n');
        Ok(())
    }
}

/// Words on a line.
///
/// ```
/// use seqfeed_kaldi::TokenVector;
///
/// let words: TokenVector = "one two three".split(' ').collect();
/// assert_eq!(words.to_string(), "one two three");
/// assert_eq!(words.words().last().as_deref(), Some("three"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenVector(
    /// The bytes of each word.
    pub Vec<Vec<u8>>,
);

impl TokenVector {
    /// The words as text. Bytes that are not UTF-8 are escaped.
    pub fn words(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|word| Key(word).to_text())
    }
}

impl<T: Into<Vec<u8>>> FromIterator<T> for TokenVector {
    fn from_iter<I: IntoIterator<Item = T>>(words: I) -> Self {
        Self(words.into_iter().map(Into::into).collect())
    }
}

impl fmt::Display for TokenVector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, word) in self.words().enumerate() {
            if number > 0 {
                f.write_str(" ")?;
            }
            f.write_str(&word)?;
        }
        Ok(())
    }
}

impl Holder for TokenVector {
    const TYPE: &'static str = "vector of tokens";
    const HEADER: bool = false;

    fn read(reader: &mut ObjectReader, _: Mode) -> Result<Self> {
        let mut line = Vec::new();
        // A line with words needs no end, but an empty rest is no object.
        if !reader.read_line(&mut line)? && line.is_empty() {
            return Err(reader.unexpected_end("a vector of tokens", None));
        }
        let words = line.split(|&byte| is_space(byte)).filter(|word| !word.is_empty());
        Ok(words.collect())
    }

    fn write(&self, out: &mut Vec<u8>, _: Mode) -> Result<()> {
        for word in &self.0 {
            write_word(out, word)?;
            out.push(b' ');
        }
        out.push(b'\n');
        Ok(())
    }
}

/// Appends a word. It must be one by Kaldi's rules: not empty, no white space, no control bytes.
fn write_word(out: &mut Vec<u8>, word: &[u8]) -> Result<()> {
    if !is_token(word) {
        let problem = Problem::Unexpected {
            expected: "a word without white space and control characters".into(),
            found: word[..word.len().min(32)].to_vec(),
        };
        return Err(Error::format(OBJECT, problem));
    }
    out.extend_from_slice(word);
    Ok(())
}

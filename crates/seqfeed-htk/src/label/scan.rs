//! The words of a label file.

use seqfeed_core::{Error, Problem, Result, number_text};

use super::{FORMAT, ParseOptions};

/// A token. [`Scanner::word`] has the text of a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token {
    Name,
    Number(f64),
    /// `///` on a line of its own.
    Separator,
    LineEnd,
    End,
}

pub(super) struct Scanner<'a> {
    data: &'a [u8],
    /// The offset of the next byte.
    at: usize,
    /// The start of the last token.
    token_start: usize,
    /// Whether the next token is the first one of a line.
    line_start: bool,
    dot_ends: bool,
    /// Whether blanks may stand around a dot and around `///` that are alone on their lines.
    v1_compat: bool,
    first_line: u64,
    /// The last name, without quotes and escapes.
    pub(super) word: Vec<u8>,
}

/// White space by C's definition.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Whether a byte ends a line. A lone carriage return does too.
fn is_line_end(byte: Option<u8>) -> bool {
    matches!(byte, Some(b'\n' | b'\r'))
}

impl<'a> Scanner<'a> {
    pub(super) fn new(data: &'a [u8], options: &ParseOptions) -> Self {
        let ParseOptions { dot_ends, v1_compat, first_line, .. } = *options;
        let word = Vec::new();
        Self {
            data,
            at: 0,
            token_start: 0,
            line_start: true,
            dot_ends,
            v1_compat,
            first_line,
            word,
        }
    }

    /// Whether the rest of the line, from a byte on, is empty.
    fn ends_line(&self, at: usize) -> bool {
        let rest = self.data.get(at..).unwrap_or_default();
        let is_blank = |byte: &&u8| self.v1_compat && matches!(byte, b' ' | b'\t');
        let blanks = rest.iter().take_while(is_blank).count();
        is_line_end(rest.get(blanks).copied())
    }

    fn peek(&self) -> Option<u8> {
        self.data.get(self.at).copied()
    }

    pub(super) fn next(&mut self) -> Result<Token> {
        let mut line_start = self.line_start;
        while let Some(b' ' | b'\t') = self.peek() {
            line_start &= self.v1_compat;
            self.at += 1;
        }
        self.token_start = self.at;
        self.line_start = false;
        match self.peek() {
            None => return Ok(Token::End),
            Some(b'\n') => {
                self.at += 1;
                self.line_start = true;
                return Ok(Token::LineEnd);
            }
            Some(b'\r') => {
                self.at += 1;
                self.at += usize::from(self.peek() == Some(b'\n'));
                self.line_start = true;
                return Ok(Token::LineEnd);
            }
            Some(b'.') if line_start && self.dot_ends => {
                // At the very end of the file HTK wants a newline after the dot. But when it looks
                // for the next transcription, it takes this one as ended.
                if self.at + 1 == self.data.len() || self.ends_line(self.at + 1) {
                    return Ok(Token::End);
                }
            }
            Some(_) => {}
        }
        // A form feed is not skipped between tokens. Before a word it is, with everything after it.
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
        if self.peek().is_none() {
            return Ok(Token::End);
        }
        let quoted = self.read_word()?;
        if line_start && self.word == b"///" && self.ends_line(self.at) {
            return Ok(Token::Separator);
        }
        if !quoted && is_number(&self.word) {
            return Ok(Token::Number(number(&self.word)));
        }
        Ok(Token::Name)
    }

    /// Reads a word. Returns whether it stands in quotes.
    fn read_word(&mut self) -> Result<bool> {
        self.word.clear();
        let quote = self.peek().filter(|&byte| byte == b'"' || byte == b'\'');
        self.at += usize::from(quote.is_some());
        loop {
            let rest = &self.data[self.at..];
            let special = |&byte: &u8| is_space(byte) || matches!(byte, b'\\' | b'"' | b'\'');
            let plain = rest.iter().position(special).unwrap_or(rest.len());
            self.word.extend_from_slice(&rest[..plain]);
            self.at += plain;
            let Some(byte) = self.peek() else {
                if quote.is_some() {
                    let problem = Problem::UnexpectedEnd { inside: "a quoted name", missing: None };
                    return Err(self.error(problem, "a closing quote is missing (HTK error 5013)"));
                }
                break;
            };
            if quote == Some(byte) {
                self.at += 1;
                break;
            }
            if quote.is_none() && is_space(byte) {
                break;
            }
            self.at += 1;
            let byte = if byte == b'\\' { self.escape()? } else { byte };
            self.word.push(byte);
        }
        // In HTK names are C strings.
        if let Some(len) = memchr::memchr(0, &self.word) {
            self.word.truncate(len);
        }
        Ok(quote.is_some())
    }

    /// The byte for a backslash and the characters after it.
    fn escape(&mut self) -> Result<u8> {
        let rest = &self.data[self.at..];
        let octal = |byte: &u8| matches!(byte, b'0'..=b'7').then(|| u32::from(byte - b'0'));
        match rest {
            [high @ b'0'..=b'7', middle, low, ..]
                if octal(middle).is_some() && octal(low).is_some() =>
            {
                let digits = [high, middle, low].into_iter().filter_map(octal);
                self.at += 3;
                // HTK keeps the low byte of a number above 255.
                Ok(digits.fold(0, |value, digit| value * 8 + digit) as u8)
            }
            [b'0'..=b'7', ..] | [] => {
                let found = self.data[self.at - 1..].iter().take(4).copied().collect();
                let problem = Problem::Unexpected { expected: "an escape".into(), found };
                let help = "a backslash stands before three octal digits, or before a byte that is \
                            meant as it is (HTK stops reading here)";
                Err(self.error(problem, help))
            }
            [byte, ..] => {
                self.at += 1;
                Ok(*byte)
            }
        }
    }

    /// The bytes of the last token, from its start.
    pub(super) fn found(&self) -> Vec<u8> {
        let bytes = &self.data[self.token_start..];
        let len = memchr::memchr2(b'\n', b'\r', bytes).unwrap_or(bytes.len()).max(1);
        bytes.iter().take(len.min(40)).copied().collect()
    }

    /// An error at the last token.
    pub(super) fn error(&self, problem: Problem, help: &'static str) -> Error {
        // A lone carriage return ends a line too.
        let before = &self.data[..self.token_start.min(self.data.len())];
        let returns = memchr::memchr_iter(b'\r', before)
            .filter(|&at| self.data.get(at + 1) != Some(&b'\n'))
            .count();
        let lines = memchr::memchr_iter(b'\n', before).count() + returns;
        let line = self.first_line.saturating_add(lines as u64);
        Error::format(FORMAT, problem).at_line(line).with_help(help)
    }
}

/// Whether HTK takes an unquoted word for a number.
pub(super) fn is_number(word: &[u8]) -> bool {
    let (Some(first), Some(last)) = (word.first(), word.last()) else { return false };
    (first.is_ascii_digit() || matches!(first, b'+' | b'-'))
        && last.is_ascii_digit()
        && word[1..]
            .iter()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E'))
}

/// The number at the front of a word, as C's `strtod` reads decimal numbers: the longest prefix
/// that is a number, else 0. A number that is too large is infinite.
pub(super) fn number(word: &[u8]) -> f64 {
    // C++ accepts nearly all of them too, and that is checked faster.
    if let Some((value, len)) = number_text::parse_f64(word)
        && len == word.len()
    {
        return value;
    }
    let text = number_prefix(word);
    str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(0.0)
}

/// The longest prefix that is a decimal number; may be empty.
pub(super) fn number_prefix(word: &[u8]) -> &[u8] {
    let digits = |from: usize| {
        let rest = word.get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let sign = |at: usize| usize::from(matches!(word.get(at), Some(b'+' | b'-')));
    let start = sign(0);
    let whole = digits(start);
    let mut end = start + whole;
    if word.get(end) == Some(&b'.') {
        let fraction = digits(end + 1);
        if whole + fraction == 0 {
            return &[];
        }
        end += 1 + fraction;
    } else if whole == 0 {
        return &[];
    }
    if matches!(word.get(end), Some(b'e' | b'E')) {
        let exponent_start = end + 1 + sign(end + 1);
        let exponent = digits(exponent_start);
        if exponent > 0 {
            end = exponent_start + exponent;
        }
    }
    &word[..end]
}

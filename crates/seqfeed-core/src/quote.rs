//! A part of a line of a text file, to show the position of an error.

use std::fmt;

/// Bytes shown before and after the position.
const BEFORE: usize = 30;
const AFTER: usize = 40;

/// A part of one line of a text file, with a mark at a position.
///
/// ```
/// use seqfeed_core::Quote;
///
/// let quote = Quote::new(b"7 |x 1\t.5 |y 2", 7, false);
/// assert_eq!(quote.to_string(), concat!(
///     r"7 |x 1\t.5 |y 2", "\n",
///     r"        ^",
/// ));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// The part of the line, escaped as in Rust's strings if it is not printable ASCII. `...`
    /// stands for more.
    pub text: String,
    /// The number of the marked character of `text`, from 0; at the end of the line it is behind
    /// the last one.
    pub caret: usize,
}

impl Quote {
    /// Bytes that are needed before and after the position.
    pub const REACH: usize = AFTER + 1;

    /// Quotes the line that holds byte `at` of `bytes`. `bytes` must reach `REACH` bytes to both
    /// sides, or to the end of the file. `cut` says that there are more bytes before.
    #[must_use]
    pub fn new(bytes: &[u8], at: usize, cut: bool) -> Self {
        let at = at.min(bytes.len());
        let (before, after) = bytes.split_at(at);
        let (before, cut) = match before.iter().rposition(|&byte| byte == b'\n') {
            Some(end) => (&before[end + 1..], false),
            None => (before, cut),
        };
        let line_end = after.iter().position(|&byte| byte == b'\n' || byte == b'\r');
        let after = &after[..line_end.unwrap_or(after.len())];
        let shown = &before[before.len().saturating_sub(BEFORE)..];
        let mut text = String::new();
        if cut || shown.len() < before.len() {
            text.push_str("...");
        }
        text.extend(shown.escape_ascii().map(char::from));
        let caret = text.len();
        text.extend(after[..after.len().min(AFTER)].escape_ascii().map(char::from));
        if after.len() > AFTER {
            text.push_str("...");
        }
        Self { text, caret }
    }
}

/// Two lines: the text, and a mark below the position.
impl fmt::Display for Quote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{:2$}^", self.text, "", self.caret)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_one_line_and_not_too_much_of_it() {
        let quote = |text: &[u8], at, cut| {
            let Quote { text, caret } = Quote::new(text, at, cut);
            (text, caret)
        };
        assert_eq!(quote(b"a\nbcd\nef", 3, true), ("bcd".into(), 1));
        assert_eq!(quote(b"a\nbcd\r\nef", 5, false), ("bcd".into(), 3));
        assert_eq!(quote(b"", 9, false), (String::new(), 0));
        assert_eq!(quote(b"\xff|", 1, true), (r"...\xff|".into(), 7));
        let long = [b'x'; 200];
        let (text, caret) = quote(&long, 100, false);
        assert_eq!((text.len(), caret), (3 + BEFORE + AFTER + 3, 3 + BEFORE));
        // What is given for a long line shows the same.
        let from = 100 - Quote::REACH;
        let part = Quote::new(&long[from..100 + Quote::REACH], 100 - from, true);
        assert_eq!((part.text, part.caret), (text, caret));
    }
}

//! The name of a sequence.

use std::fmt;

use crate::Printable;

/// The name of a sequence: any bytes without white space. Like Kaldi, it allows more than UTF-8.
///
/// Keys compare by unsigned bytes, as `LC_ALL=C sort` does. [`Display`](fmt::Display) escapes bytes
/// that are not UTF-8, and characters that control a terminal ([`Printable`]).
///
/// ```
/// use seqfeed_core::Key;
///
/// assert_eq!(Key(b"utt-1").to_string(), "utt-1");
/// assert!(Key(b"B") < Key(b"a"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key<'a>(pub &'a [u8]);

impl<'a> Key<'a> {
    /// Whether these bytes can be a key: not empty, and without white space or control characters.
    ///
    /// ```
    /// use seqfeed_core::Key;
    ///
    /// assert!(Key("sprecher_ä-1".as_bytes()).is_valid());
    /// assert!(!Key(b"").is_valid() && !Key(b"two words").is_valid());
    /// ```
    #[must_use]
    pub fn is_valid(&self) -> bool {
        !self.0.is_empty() && self.0.iter().all(|&byte| matches!(byte, 0x21..=0x7e | 0x80..=0xfe))
    }

    /// The key as text, if it is UTF-8.
    #[must_use]
    pub fn as_str(&self) -> Option<&'a str> {
        std::str::from_utf8(self.0).ok()
    }

    /// The key as text that is not printed (JSON): only bytes that are not UTF-8 are escaped, as
    /// `\xe9`.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::with_capacity(self.0.len());
        for part in self.0.utf8_chunks() {
            text.push_str(part.valid());
            for byte in part.invalid() {
                text.push_str(&format!("\\x{byte:02x}"));
            }
        }
        text
    }
}

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in self.0.utf8_chunks() {
            write!(f, "{}", Printable(part.valid()))?;
            for byte in part.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_bytes_that_are_not_text() {
        assert_eq!(Key(b"caf\xe9").to_string(), "caf\\xe9");
        assert_eq!(Key("späh".as_bytes()).to_string(), "späh");
        assert_eq!(Key(b"\x1b[2Ja\xe9").to_string(), "\\x1b[2Ja\\xe9");
        assert_eq!(Key(b"\x1ba\xe9").to_text(), "\x1ba\\xe9");
    }
}

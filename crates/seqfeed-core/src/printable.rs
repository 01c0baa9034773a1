//! Escapes text that comes from data, so that printing it is safe.

use std::fmt::{self, Write};

/// Whether a character is not visible but acts on a terminal or on the text around it: control
/// characters (escape sequences begin with one), characters that change the direction of text or
/// end lines, characters without width, and the private characters that stand for bytes of names.
///
/// ```
/// use seqfeed_core::is_hidden;
///
/// assert!(['\x1b', '\n', '\u{9b}', '\u{202e}', '\u{200b}'].into_iter().all(is_hidden));
/// assert!(!['a', ' ', 'é', '語'].into_iter().any(is_hidden));
/// ```
#[must_use]
pub fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}'
            // Marks, embeddings and isolates of direction; separators of lines and paragraphs;
            // invisible characters.
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
        || byte_of_name(letter).is_some()
}

/// The byte that a character stands for. Where a file name that is not UTF-8 must be text,
/// characters for private use in Unicode's last plane stand for its bytes: `U+10FEE4` is the byte
/// `E4`.
fn byte_of_name(letter: char) -> Option<u8> {
    let byte = u8::try_from(u32::from(letter).checked_sub(0x10_fe00)?).ok()?;
    (byte >= 0x80).then_some(byte)
}

/// Escapes [hidden](is_hidden) characters as Rust's strings do: `\x1b`, `\n`, `\u{202e}`. A byte of
/// a name that is not UTF-8 becomes `\xe4`. All other letters stay, so escaped text does not change
/// when it is escaped again.
///
/// All text that comes from data (keys, names, lines of files) is printed through it.
///
/// ```
/// use seqfeed_core::Printable;
///
/// assert_eq!(Printable("a\x1b[31m\u{202e}b").to_string(), r"a\x1b[31m\u{202e}b");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Printable<T>(pub T);

impl<T: fmt::Display> fmt::Display for Printable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping { out: f, lines: false }, "{}", self.0)
    }
}

/// The same as [`Printable`], but line ends stay: for our own texts that quote data.
#[derive(Clone, Copy, Debug)]
pub struct PrintableLines<T>(pub T);

impl<T: fmt::Display> fmt::Display for PrintableLines<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping { out: f, lines: true }, "{}", self.0)
    }
}

struct Escaping<'a, 'b> {
    out: &'a mut fmt::Formatter<'b>,
    lines: bool,
}

impl Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some((at, letter)) =
            rest.char_indices().find(|&(_, c)| is_hidden(c) && !(self.lines && c == '\n'))
        {
            self.out.write_str(&rest[..at])?;
            match (letter, byte_of_name(letter)) {
                (_, Some(byte)) => write!(self.out, "\\x{byte:02x}")?,
                ('\n', _) => self.out.write_str("\\n")?,
                ('\t', _) => self.out.write_str("\\t")?,
                ('\r', _) => self.out.write_str("\\r")?,
                _ if letter.is_ascii() => write!(self.out, "\\x{:02x}", letter as u32)?,
                _ => write!(self.out, "\\u{{{:x}}}", letter as u32)?,
            }
            rest = &rest[at + letter.len_utf8()..];
        }
        self.out.write_str(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_once_and_keeps_the_rest() {
        let cases = [
            ("utt-1 é 語 \\x", "utt-1 é 語 \\x"),
            ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
            ("a\r\n\tb\0", "a\\r\\n\\tb\\x00"),
            ("o\u{10fee4}.mat", "o\\xe4.mat"),
            ("\u{9b}31m\u{2066}x", "\\u{9b}31m\\u{2066}x"),
        ];
        for (text, shown) in cases {
            assert_eq!(Printable(text).to_string(), shown);
            assert_eq!(Printable(shown).to_string(), shown);
        }
        assert_eq!(PrintableLines("a\n\x1bb").to_string(), "a\n\\x1bb");
        // Also in what is displayed piece by piece.
        assert_eq!(Printable(format_args!("{}-{:?}", "\x07", 'a')).to_string(), "\\x07-'a'");
    }
}

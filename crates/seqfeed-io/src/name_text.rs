//! Names as text: for messages, and for files that must be Unicode.
//!
//! Names are bytes (`OsStr`), as in the file system: corpora with names in GBK or Latin-1 are
//! common. They become text in two cases only: to be shown ([`shown_name`]), or to stand in a text
//! ([`name_to_text`]). The second can be undone.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// A name for messages. Bytes that are not UTF-8 are shown as `\xe4`, and control characters are
/// escaped. Do not open anything by it.
///
/// ```
/// use std::ffi::OsStr;
/// use std::os::unix::ffi::OsStrExt;
///
/// assert_eq!(seqfeed_io::shown_name(OsStr::from_bytes(b"caf\xe9.scp")), "caf\\xe9.scp");
/// ```
#[must_use]
pub fn shown_name(name: impl AsRef<OsStr>) -> String {
    let mut shown = String::new();
    for chunk in name.as_ref().as_bytes().utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter.is_control() {
                true => shown.extend(letter.escape_debug()),
                false => shown.push(letter),
            }
        }
        shown.extend(chunk.invalid().escape_ascii().map(char::from));
    }
    shown
}

/// The first of the characters that stand for bytes. They are in Unicode's last plane, for private
/// use.
const BYTES: u32 = 0x10_FE00;

/// The text of a name, where text must be Unicode: `corpus.toml`, data specifications, options that
/// become keys of a description. Nothing is lost: [`name_from_text`] gives the same bytes.
///
/// A byte that is not UTF-8 becomes a character for private use: `U+10FE00` plus the byte
/// (`"\U0010FEE4"` in TOML for the byte `E4`). If a name already holds such a character, its bytes
/// are written in the same way.
///
/// ```
/// use std::ffi::OsStr;
/// use std::os::unix::ffi::OsStrExt;
/// use seqfeed_io::{name_from_text, name_to_text};
///
/// let name = OsStr::from_bytes(b"sp\xe4h.scp");
/// assert_eq!(name_to_text(name), "sp\u{10fee4}h.scp");
/// assert_eq!(name_from_text("sp\u{10fee4}h.scp"), name);
/// assert_eq!(name_to_text("späh.scp"), "späh.scp");
/// ```
#[must_use]
pub fn name_to_text(name: impl AsRef<OsStr>) -> String {
    let mut text = String::new();
    for chunk in name.as_ref().as_bytes().utf8_chunks() {
        for letter in chunk.valid().chars() {
            match byte_of(letter) {
                None => text.push(letter),
                Some(_) => push_bytes(&mut text, letter.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        push_bytes(&mut text, chunk.invalid());
    }
    text
}

fn push_bytes(text: &mut String, bytes: &[u8]) {
    text.extend(bytes.iter().filter_map(|&byte| char::from_u32(BYTES + u32::from(byte))));
}

/// The byte of a character of [`name_to_text`]. Bytes below 0x80 are always UTF-8.
fn byte_of(letter: char) -> Option<u8> {
    let byte = u8::try_from(u32::from(letter).checked_sub(BYTES)?).ok()?;
    (byte >= 0x80).then_some(byte)
}

/// The name for a text of [`name_to_text`].
#[must_use]
pub fn name_from_text(text: &str) -> OsString {
    let mut bytes = Vec::with_capacity(text.len());
    for letter in text.chars() {
        match byte_of(letter) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    OsString::from_vec(bytes)
}

/// The path for a text of [`name_to_text`].
#[must_use]
pub fn path_from_text(text: &str) -> PathBuf {
    name_from_text(text).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_lose_nothing_of_names() {
        let mut names: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![b'a', byte, b'z']).collect();
        names.push("späh 汉字 \u{10fee4} \u{10fe00}".as_bytes().to_vec());
        names.push(b"\xc4\xe3\xba\xc3 \xf4\x8f\xbb".to_vec());
        for name in names {
            let name = OsString::from_vec(name);
            assert_eq!(name_from_text(&name_to_text(&name)), name);
        }
    }
}

//! The text of a line.

use seqfeed_core::{Error, Key, Result};

/// The most bytes of a value, its index and the separators: 24, 10 and 2.
pub(super) const MOST_BYTES: usize = 36;

/// Appends a key as a comment: ` |# key`.
pub(super) fn push_comment(key: Key<'_>, text: &mut Vec<u8>) -> Result<()> {
    if key.0.is_empty() || key.0.iter().any(|&byte| byte <= b' ' || byte == 0x7f) {
        return Err(Error::usage("the key is empty, or has white space or control characters")
            .with_help("the file holds it in a comment, where they would be lost"));
    }
    text.extend_from_slice(b" |# ");
    for &byte in key.0 {
        text.push(byte);
        // A single `|` would end the comment.
        if byte == b'|' {
            text.push(b'#');
        }
    }
    Ok(())
}

/// Appends the shortest text that reads back as the same number. The number must be finite.
#[inline]
pub(super) fn push_number<T: zmij::Float>(number: T, text: &mut Vec<u8>) {
    let mut buffer = zmij::Buffer::new();
    let shortest = buffer.format_finite(number).as_bytes();
    // Whole numbers need no fraction.
    text.extend_from_slice(shortest.strip_suffix(b".0").unwrap_or(shortest));
}

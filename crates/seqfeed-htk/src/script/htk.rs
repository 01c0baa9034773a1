//! Scripts by HTK's rules: words between white space.

use seqfeed_core::{Error, Problem, Result};

use super::entry::Spans;
use super::{FORMAT, name, unexpected};

/// Which bytes are white space, as in C: blank, and tab to carriage return.
const SPACE: [bool; 256] = {
    let mut space = [false; 256];
    space[b' ' as usize] = true;
    let mut byte = b'\t';
    while byte <= b'\r' {
        space[byte as usize] = true;
        byte += 1;
    }
    space
};

fn is_space(byte: u8) -> bool {
    SPACE[usize::from(byte)]
}

/// Whether a name can stand in a script without quotes.
pub(super) fn is_bare(name: &[u8]) -> bool {
    !matches!(name, [] | [b'-' | b'"' | b'\'', ..]) && !name.iter().any(|&byte| is_space(byte))
}

/// Finds the words of a script. A word that begins with a quote goes up to the next such quote;
/// others go up to white space. There are no comments, and words may have any length.
pub(super) fn parse(text: &[u8], extended_names: bool) -> Result<Vec<Spans>> {
    let mut entries = Vec::new();
    let mut at = 0;
    let mut line = 1_u32;
    while let Some(&byte) = text.get(at) {
        if is_space(byte) {
            line += u32::from(byte == b'\n');
            at += 1;
            continue;
        }
        let rest = &text[at..];
        let (start, len, after) = if matches!(byte, b'"' | b'\'') {
            let Some(len) = memchr::memchr(byte, &rest[1..]) else {
                let problem = Problem::UnexpectedEnd { inside: "a quoted name", missing: None };
                return Err(Error::format(FORMAT, problem)
                    .at_line(line.into())
                    .with_help("the quote that begins in this line is never closed"));
            };
            let after = at + len + 2;
            if text.get(after).is_some_and(|&byte| !is_space(byte)) {
                let found = &text[after..];
                return Err(unexpected(line, "white space behind the closing quote", found));
            }
            (at + 1, len, after)
        } else {
            let len = rest.iter().position(|&byte| is_space(byte)).unwrap_or(rest.len());
            if byte == b'-' {
                return Err(unexpected(line, "the name of a file", &rest[..len])
                    .with_help("this is an option for HTK; names that begin with - need quotes"));
            }
            (at, len, at + len)
        };
        let word = &text[start..start + len];
        entries.push(if extended_names {
            name::extended(start, word, line)?
        } else if word.is_empty() {
            return Err(unexpected(line, "the name of a file", word));
        } else {
            name::plain(start, word, line)
        });
        if start > at {
            // Quoted names may span several lines.
            line += memchr::memchr_iter(b'\n', word).count() as u32;
        }
        at = after;
    }
    Ok(entries)
}

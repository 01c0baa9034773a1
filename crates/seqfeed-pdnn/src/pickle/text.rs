//! Decodes texts and lines of pickles while they are read.

use std::io::{self, BufRead};

use seqfeed_core::{Error, Problem, Result};
use seqfeed_io::Input;

use super::PICKLE;
use super::bytes::{BytesBuilder, buffered, read, trusted};
use super::objects::Object;

/// Texts up to this length may have any characters. Longer ones are the bytes of arrays, one for
/// each character.
const LONG: u64 = 1 << 20;

/// The longest line, except for lines of strings: names, numbers.
const LONGEST_LINE: usize = 4096;

pub(super) fn ended(inside: &'static str, missing: Option<u64>) -> Error {
    Error::format(PICKLE, Problem::UnexpectedEnd { inside, missing })
        .with_help("the file was cut short, or not written to its end")
}

fn invalid(what: &str) -> Error {
    Error::format(PICKLE, Problem::Unsupported(what.to_owned().into()))
}

/// A text of `len` bytes of UTF-8.
pub(super) fn utf8(input: &mut Input, len: u64) -> Result<Object> {
    if len > LONG {
        return latin1(input, len);
    }
    let bytes = read(input, len).map_err(|error| input.error(error))?;
    if (bytes.len() as u64) < len {
        return Err(ended("a text", Some(len - bytes.len() as u64)));
    }
    match String::from_utf8(bytes.as_slice().to_vec()) {
        Ok(text) => Ok(Object::Text(text)),
        Err(_) => Err(invalid("a text is not UTF-8")),
    }
}

/// A long text of `len` bytes of UTF-8, decoded to one byte for each character.
fn latin1(input: &mut Input, len: u64) -> Result<Object> {
    if let Some(remaining) = input.remaining(len)
        && remaining < len
    {
        return Err(ended("a text", Some(len - remaining)));
    }
    let mut builder = BytesBuilder::with_capacity(trusted(input, len));
    let mut decoder = Latin1::default();
    let mut left = len;
    while left > 0 {
        let piece = match buffered(input, left) {
            Ok(piece) => piece,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(input.error(error)),
        };
        let count = piece.len();
        if count == 0 {
            return Err(ended("a text", Some(left)));
        }
        let written = decoder.decode(piece, builder.spare(count));
        builder.advance(written);
        input.consume(count);
        left -= count as u64;
    }
    if decoder.failed || decoder.last >= 0xc0 {
        return Err(invalid("a long text is not UTF-8, or has characters beyond Latin-1")
            .with_help("only the bytes of arrays are expected to be that long"));
    }
    Ok(Object::Latin1(builder.finish()))
}

/// Decodes UTF-8 with characters up to U+00FF, in parts, to one byte for each character.
#[derive(Default)]
struct Latin1 {
    /// The previous byte.
    last: u8,
    failed: bool,
}

impl Latin1 {
    /// Decodes a part; `out` is at least as long. The second bytes of pairs cannot be predicted, so
    /// there is no branch on them.
    fn decode(&mut self, piece: &[u8], out: &mut [u8]) -> usize {
        let out = &mut out[..piece.len()];
        let mut count = 0;
        let mut last = self.last;
        let mut failed = 0u8;
        for &byte in piece {
            let follows = u8::from(byte & 0xc0 == 0x80);
            let leads = u8::from(byte >= 0xc0);
            let after_lead = u8::from(last >= 0xc0);
            // Other leading bytes than 0xc2 and 0xc3 begin other characters, or none.
            failed |= (follows ^ after_lead) | (leads & u8::from(byte & 0xfe != 0xc2));
            let second = byte & 0x3f | last << 6;
            // There is room: no more bytes are written than are read.
            if let Some(out) = out.get_mut(count) {
                *out = if follows == 1 { second } else { byte };
            }
            count += usize::from(1 - leads);
            last = byte;
        }
        self.last = last;
        self.failed |= failed != 0;
        count
    }
}

/// A line without its end, which is LF or CR LF.
pub(super) fn line(input: &mut Input) -> Result<Vec<u8>> {
    let mut line = Vec::new();
    loop {
        let piece = match input.fill_buf() {
            Ok(piece) => piece,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(input.error(error)),
        };
        if piece.is_empty() {
            return Err(ended("a line", None));
        }
        let end = memchr::memchr(b'\n', piece);
        let count = end.unwrap_or(piece.len());
        if line.len() + count > LONGEST_LINE {
            return Err(invalid("a line is longer than any name or number"));
        }
        line.extend_from_slice(&piece[..count]);
        input.consume(count + usize::from(end.is_some()));
        if end.is_some() {
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            return Ok(line);
        }
    }
}

fn next(input: &mut Input) -> Result<u8> {
    loop {
        match input.fill_buf() {
            Ok([]) => return Err(ended("a string", None)),
            Ok([byte, ..]) => {
                let byte = *byte;
                input.consume(1);
                return Ok(byte);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(input.error(error)),
        }
    }
}

/// A string of Python 2 in quotes, with escapes, to the end of its line (`S`).
pub(super) fn quoted(input: &mut Input) -> Result<Object> {
    let quote = next(input)?;
    if quote != b'\'' && quote != b'"' {
        return Err(invalid("a string does not begin with a quote"));
    }
    let mut builder = BytesBuilder::default();
    loop {
        plain(input, &mut builder, |piece| memchr::memchr3(quote, b'\\', b'\n', piece))?;
        match next(input)? {
            b'\\' => escaped(input, &mut builder)?,
            byte if byte == quote => break,
            _ => return Err(invalid("a string ends without a quote")),
        }
    }
    let rest = line(input)?;
    if !rest.is_empty() {
        return Err(invalid("more stands behind the quote of a string"));
    }
    Ok(Object::Bytes(builder.finish()))
}

/// Copies up to a byte with a special meaning.
fn plain(
    input: &mut Input,
    out: &mut BytesBuilder,
    find: impl Fn(&[u8]) -> Option<usize>,
) -> Result<()> {
    loop {
        let piece = match input.fill_buf() {
            Ok(piece) => piece,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(input.error(error)),
        };
        if piece.is_empty() {
            return Err(ended("a string", None));
        }
        let end = find(piece);
        let count = end.unwrap_or(piece.len());
        out.push(&piece[..count]);
        input.consume(count);
        if end.is_some() {
            return Ok(());
        }
    }
}

fn escaped(input: &mut Input, out: &mut BytesBuilder) -> Result<()> {
    let letter = next(input)?;
    let byte = match letter {
        b'x' => match hex(input, 2)? {
            Some(value) => value as u8,
            None => return Err(invalid("a string has \\x without two digits")),
        },
        b'0'..=b'7' => {
            let mut value = u32::from(letter - b'0');
            for _ in 0..2 {
                match input.fill_buf() {
                    Ok([digit @ b'0'..=b'7', ..]) => value = value * 8 + u32::from(digit - b'0'),
                    Ok(_) => break,
                    Err(error) => return Err(input.error(error)),
                }
                input.consume(1);
            }
            value as u8
        }
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'a' => 7,
        b'b' => 8,
        b'v' => 11,
        b'f' => 12,
        b'\\' | b'\'' | b'"' => letter,
        b'\n' => return Ok(()),
        other => {
            out.push(&[b'\\', other]);
            return Ok(());
        }
    };
    out.push(&[byte]);
    Ok(())
}

/// Reads `digits` hexadecimal digits.
fn hex(input: &mut Input, digits: usize) -> Result<Option<u32>> {
    let mut value = 0;
    for _ in 0..digits {
        let Some(digit) = char::from(next(input)?).to_digit(16) else { return Ok(None) };
        value = value << 4 | digit;
    }
    Ok(Some(value))
}

/// A text in Latin-1 with `\u` escapes, to the end of its line (`V`).
pub(super) fn raw_unicode(input: &mut Input) -> Result<Object> {
    let mut builder = BytesBuilder::default();
    // Characters that are no bytes, with their positions.
    let mut wide: Vec<(usize, char)> = Vec::new();
    loop {
        plain(input, &mut builder, |piece| memchr::memchr2(b'\\', b'\n', piece))?;
        if next(input)? == b'\n' {
            break;
        }
        let digits = match input.fill_buf() {
            Ok([b'u', ..]) => 4,
            Ok([b'U', ..]) => 8,
            Ok(_) => {
                builder.push(b"\\");
                continue;
            }
            Err(error) => return Err(input.error(error)),
        };
        input.consume(1);
        let character = hex(input, digits)?.and_then(char::from_u32);
        let Some(character) = character else {
            return Err(invalid("a text has a wrong \\u escape"));
        };
        match u8::try_from(character) {
            Ok(byte) => builder.push(&[byte]),
            Err(_) => {
                wide.push((builder.len(), character));
                builder.push(&[0]);
            }
        }
        if !wide.is_empty() && builder.len() as u64 > LONG {
            return Err(invalid("a long text has characters beyond Latin-1"));
        }
    }
    let bytes = builder.finish();
    if bytes.len() as u64 > LONG {
        return Ok(Object::Latin1(bytes));
    }
    let mut wide = wide.into_iter().peekable();
    let characters = bytes.as_slice().iter().enumerate().map(|(at, &byte)| {
        let character = wide.next_if(|(place, _)| *place == at);
        character.map_or(char::from(byte), |(_, character)| character)
    });
    Ok(Object::Text(characters.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(bytes: &[u8]) -> Input {
        Input::from_reader("test", io::Cursor::new(bytes.to_vec()))
    }

    #[test]
    fn latin1_in_pieces() {
        let bytes: Vec<u8> = (0..5000u32).map(|n| ((n * 7919) >> 3) as u8).collect();
        let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
        for piece in [1, 2, 3, 1000, 100_000] {
            let mut decoder = Latin1::default();
            let mut decoded = Vec::new();
            for piece in text.as_bytes().chunks(piece) {
                let mut out = vec![0; piece.len()];
                let count = decoder.decode(piece, &mut out);
                decoded.extend_from_slice(&out[..count]);
            }
            assert!(!decoder.failed && decoded == bytes);
        }
        for wrong in [
            &b"\xc3a"[..],
            b"\x80",
            b"\xc4\x80",
            b"a\xe2\x82\xac",
            b"\xc2\xc3",
            b"\xc1\x80",
            b"\xff",
        ] {
            let mut decoder = Latin1::default();
            decoder.decode(wrong, &mut [0; 8]);
            assert!(decoder.failed, "{}", wrong.escape_ascii());
        }
    }

    #[test]
    fn strings_of_protocol_0() {
        let read = |text: &[u8]| match quoted(&mut input(text)) {
            Ok(Object::Bytes(bytes)) => Some(bytes.as_slice().to_vec()),
            _ => None,
        };
        assert_eq!(read(b"'a\\x00\\'\\\\\\n\\101\"'\n").unwrap(), b"a\0'\\\nA\"");
        assert_eq!(read(b"\"'\"\r\n").unwrap(), b"'");
        for wrong in [&b"'a\n"[..], b"'a", b"a\n", b"'a'b\n", b"'\\x0g'\n", b""] {
            assert_eq!(read(wrong), None);
        }
        let Ok(Object::Text(text)) = raw_unicode(&mut input(b"a\\u20ac\\u005c\xe9\\q\n")) else {
            panic!("no text")
        };
        assert_eq!(text, "a€\\é\\q");
    }
}

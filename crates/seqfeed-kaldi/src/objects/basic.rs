//! Single numbers and booleans: Kaldi's basic types.

use std::fmt;
use std::ops::Neg;

use seqfeed_core::float_text::write_g;
use seqfeed_core::number_text::{ParseInteger, parse_f32, parse_f64};
use seqfeed_core::{Problem, Result};
use seqfeed_io::too_long;

use crate::OBJECT;
use crate::holder::{Holder, Mode};
use crate::object_reader::{ObjectReader, is_space};

/// The number of digits with which Kaldi writes floats, also `f64`.
pub(crate) const DIGITS: usize = 7;

/// A basic type: an integer of 8 to 64 bits, `f32`, `f64` or `bool`.
///
/// ```text
/// binary   a size byte (1 2 4 8, for unsigned types minus that), then the value, little-endian
///          bool: T or F, without a size byte
/// text     the value and a space
/// ```
pub trait Basic: Copy + Default + PartialEq + fmt::Debug + Send + 'static {
    /// Name for messages: "int32".
    const NAME: &'static str;

    /// Bytes in binary, with the size byte.
    const BINARY_BYTES: usize;

    /// The fewest and the most bytes of a binary value: floats of either width can be read.
    const WIDTHS: (usize, usize) = (Self::BINARY_BYTES, Self::BINARY_BYTES);

    /// Reads the value in the first [`BINARY_BYTES`](Self::BINARY_BYTES) bytes. `None` if the size
    /// byte is wrong.
    fn from_binary(bytes: &[u8]) -> Option<Self>;

    /// Reads a value at the front of `text`, without white space before it, as C++'s `>>` does.
    /// Returns the value and its length, or `None` if it does not fit the type.
    fn from_text(text: &[u8]) -> Option<(Self, usize)>;

    /// Appends the value.
    fn write_basic(self, out: &mut Vec<u8>, mode: Mode);

    /// Reads a value in binary.
    ///
    /// # Errors
    ///
    /// Fails if the size byte is wrong. (Floats are read from either width.)
    fn read_binary(reader: &mut ObjectReader) -> Result<Self> {
        let mut bytes = [0; 9];
        let bytes = &mut bytes[..Self::BINARY_BYTES];
        let buffer = reader.ensure(Self::BINARY_BYTES)?;
        let there = buffer.len().min(Self::BINARY_BYTES);
        bytes[..there].copy_from_slice(&buffer[..there]);
        // The size byte can be checked even if the rest is missing.
        let wrong = there > 0 && Self::BINARY_BYTES > 1 && {
            let mut probe = bytes.to_vec();
            probe[there..].fill(0);
            Self::from_binary(&probe).is_none()
        };
        if !wrong && there < Self::BINARY_BYTES {
            let missing = (Self::BINARY_BYTES - there) as u64;
            return Err(reader.unexpected_end(Self::NAME, Some(missing)));
        }
        let Some(value) = Self::from_binary(bytes) else {
            let problem = wrong_tag::<Self>(bytes[0]);
            return Err(reader.error(OBJECT, problem));
        };
        reader.consume(Self::BINARY_BYTES);
        Ok(value)
    }
}

/// The problem for a wrong size byte.
pub(crate) fn wrong_tag<B: Basic>(found: u8) -> Problem {
    let expected = match B::NAME {
        "bool" => "T or F".into(),
        name => format!("the size byte of {name}").into(),
    };
    Problem::Unexpected { expected, found: vec![found] }
}

macro_rules! integer {
    ($($type:ty, $name:literal, $tag:expr;)*) => {
        $(impl Basic for $type {
            const NAME: &'static str = $name;
            const BINARY_BYTES: usize = 1 + size_of::<$type>();

            fn from_binary(bytes: &[u8]) -> Option<Self> {
                let (&tag, value) = bytes.split_first()?;
                (tag == $tag).then(|| value.first_chunk().map(|&value| Self::from_le_bytes(value)))?
            }

            #[inline]
            fn from_text(text: &[u8]) -> Option<(Self, usize)> {
                <$type>::parse_integer(text)
            }

            fn write_basic(self, out: &mut Vec<u8>, mode: Mode) {
                if mode == Mode::Binary {
                    out.push($tag);
                    out.extend_from_slice(&self.to_le_bytes());
                } else {
                    out.extend_from_slice(itoa::Buffer::new().format(self).as_bytes());
                    out.push(b' ');
                }
            }
        })*
    };
}
integer! {
    i8, "int8", 0x01;
    i16, "int16", 0x02;
    i32, "int32", 0x04;
    i64, "int64", 0x08;
    u8, "uint8", 0xff;
    u16, "uint16", 0xfe;
    u32, "uint32", 0xfc;
    u64, "uint64", 0xf8;
}

/// `inf`, `infinity` or `nan` in any case, with or without a sign: Kaldi writes them.
pub(crate) fn float_word<T: Neg<Output = T>>(
    text: &[u8],
    infinity: T,
    nan: T,
) -> Option<(T, usize)> {
    let len = text.iter().position(|&byte| is_space(byte)).unwrap_or(text.len());
    let (negative, name) = match &text[..len] {
        [b'-', name @ ..] => (true, name),
        [b'+', name @ ..] | name => (false, name),
    };
    let value = if name.eq_ignore_ascii_case(b"inf") || name.eq_ignore_ascii_case(b"infinity") {
        infinity
    } else if name.eq_ignore_ascii_case(b"nan") {
        nan
    } else {
        return None;
    };
    Some((if negative { -value } else { value }, len))
}

macro_rules! float {
    ($($type:ty, $name:literal, $tag:literal, $parse:path;)*) => {
        $(impl Basic for $type {
            const NAME: &'static str = $name;
            const BINARY_BYTES: usize = 1 + size_of::<$type>();
            const WIDTHS: (usize, usize) = (5, 9);

            fn from_binary(bytes: &[u8]) -> Option<Self> {
                let (&tag, value) = bytes.split_first()?;
                (tag == $tag).then(|| value.first_chunk().map(|&value| Self::from_le_bytes(value)))?
            }

            fn from_text(text: &[u8]) -> Option<(Self, usize)> {
                $parse(text).or_else(|| float_word(text, <$type>::INFINITY, <$type>::NAN))
            }

            fn write_basic(self, out: &mut Vec<u8>, mode: Mode) {
                if mode == Mode::Binary {
                    out.push($tag);
                    out.extend_from_slice(&self.to_le_bytes());
                } else {
                    write_g(out, f64::from(self), DIGITS);
                    out.push(b' ');
                }
            }

            fn read_binary(reader: &mut ObjectReader) -> Result<Self> {
                // Either width, converted.
                match reader.peek()? {
                    Some(4) if reader.ensure(5)?.len() >= 5 => {
                        let [_, value @ ..] = reader.read_array::<5>("a float")?;
                        Ok(f32::from_le_bytes(value) as $type)
                    }
                    Some(8) if reader.ensure(9)?.len() >= 9 => {
                        let [_, value @ ..] = reader.read_array::<9>("a double")?;
                        Ok(f64::from_le_bytes(value) as $type)
                    }
                    Some(tag @ (4 | 8)) => {
                        let missing = usize::from(tag) + 1 - reader.fill()?.len();
                        Err(reader.unexpected_end(Self::NAME, Some(missing as u64)))
                    }
                    Some(tag) => Err(reader.error(OBJECT, wrong_tag::<Self>(tag))),
                    None => Err(reader.unexpected_end(Self::NAME, None)),
                }
            }
        })*
    };
}
float! {
    f32, "float", 4, parse_f32;
    f64, "double", 8, parse_f64;
}

impl Basic for bool {
    const NAME: &'static str = "bool";
    const BINARY_BYTES: usize = 1;

    fn from_binary(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [b'T', ..] => Some(true),
            [b'F', ..] => Some(false),
            _ => None,
        }
    }

    fn from_text(text: &[u8]) -> Option<(Self, usize)> {
        Some((Self::from_binary(text)?, 1))
    }

    fn write_basic(self, out: &mut Vec<u8>, mode: Mode) {
        out.push(if self { b'T' } else { b'F' });
        if mode == Mode::Text {
            out.push(b' ');
        }
    }
}

impl ObjectReader {
    /// Reads a basic value inside an object. In text, white space before it is skipped, and the
    /// value ends at the first byte that cannot belong to it.
    ///
    /// # Errors
    ///
    /// Fails if there is no such value.
    pub fn read_basic<B: Basic>(&mut self, mode: Mode) -> Result<B> {
        if mode == Mode::Binary {
            return B::read_binary(self);
        }
        self.skip_space()?;
        let (mut want, limit) = (1, self.line_limit());
        loop {
            let buffer = self.ensure(want)?;
            let word = buffer.iter().position(|&byte| is_space(byte)).unwrap_or(buffer.len());
            if word > limit {
                let error = too_long("bytes of a number", word, limit);
                return Err(error.in_file(self.name()).at_byte(self.position()));
            }
            if word == buffer.len() && word >= want {
                want = if word < 1 << 16 { word + 1 } else { 2 * word };
                continue;
            }
            let word = &buffer[..word];
            let Some((value, len)) = B::from_text(word) else {
                let found = word[..word.len().min(32)].to_vec();
                return Err(self.error(OBJECT, Problem::InvalidNumber { what: B::NAME, found }));
            };
            self.consume(len);
            return Ok(value);
        }
    }
}

impl<B: Basic> Holder for B {
    const TYPE: &'static str = B::NAME;

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        if mode == Mode::Binary {
            return B::read_binary(reader);
        }
        let start = reader.position();
        let mut line = Vec::new();
        let ended = reader.read_line(&mut line)?;
        let mut values = LineValues::new(reader, start, &line);
        let value = values.next_value()?;
        values.expect_end()?;
        expect_line_end(reader, ended)?;
        Ok(value)
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        self.write_basic(out, mode);
        if mode == Mode::Text {
            out.push(b'\n');
        }
        Ok(())
    }
}

/// Fails if the line has no end but must have one.
pub(crate) fn expect_line_end(reader: &ObjectReader, ended: bool) -> Result<()> {
    if ended {
        return Ok(());
    }
    let error = reader.unexpected_end("a line", None);
    Err(error.with_help("the last line has no end: the file may be cut short"))
}

/// The values on a line of text.
pub(crate) struct LineValues<'a> {
    reader: &'a ObjectReader,
    /// The position of the line.
    start: u64,
    line: &'a [u8],
    at: usize,
}

impl<'a> LineValues<'a> {
    pub(crate) fn new(reader: &'a ObjectReader, start: u64, line: &'a [u8]) -> Self {
        Self { reader, start, line, at: 0 }
    }

    fn skip_space(&mut self) {
        self.at += self.line[self.at..].iter().take_while(|&&byte| is_space(byte)).count();
    }

    /// The next byte that is not white space.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        self.skip_space();
        self.line.get(self.at).copied()
    }

    /// Skips a byte.
    pub(crate) fn consume(&mut self) {
        self.at += 1;
    }

    pub(crate) fn next_value<B: Basic>(&mut self) -> Result<B> {
        self.skip_space();
        match B::from_text(&self.line[self.at..]) {
            Some((value, len)) => {
                self.at += len;
                Ok(value)
            }
            None => Err(self.wrong::<B>()),
        }
    }

    /// Appends all remaining values.
    pub(crate) fn append_to<B: Basic>(&mut self, values: &mut Vec<B>) -> Result<()> {
        let mut at = self.at;
        loop {
            // There is mostly one blank between two values.
            at += usize::from(self.line.get(at) == Some(&b' '));
            match self.line.get(at) {
                None => break,
                Some(&byte) if is_space(byte) => at += 1,
                Some(_) => match B::from_text(&self.line[at..]) {
                    Some((value, len)) => {
                        values.push(value);
                        at += len;
                    }
                    None => {
                        self.at = at;
                        return Err(self.wrong::<B>());
                    }
                },
            }
        }
        self.at = at;
        Ok(())
    }

    fn word(&self) -> Vec<u8> {
        let rest = self.line[self.at..].split(|&byte| is_space(byte)).next().unwrap_or_default();
        rest[..rest.len().min(32)].to_vec()
    }

    fn wrong<B: Basic>(&self) -> seqfeed_core::Error {
        if self.at >= self.line.len() {
            let problem = Problem::Unexpected { expected: B::NAME.into(), found: b"\n".to_vec() };
            return self.error(problem);
        }
        self.error(Problem::InvalidNumber { what: B::NAME, found: self.word() })
    }

    pub(crate) fn unexpected(&self, expected: &'static str) -> seqfeed_core::Error {
        self.error(Problem::Unexpected { expected: expected.into(), found: self.word() })
    }

    fn error(&self, problem: Problem) -> seqfeed_core::Error {
        self.reader.error_at(self.start + self.at as u64, OBJECT, problem)
    }

    pub(crate) fn expect_end(&mut self) -> Result<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.unexpected("the end of the line")),
        }
    }
}

//! Vectors of basic values, of vectors, and of pairs.
//!
//! ```text
//!                  binary                                     text
//! Vec<B>           04 n:i32, n values with their size bytes   1 2 3 LF
//! Vec<Vec<B>>      04 n:i32, n vectors as above               1 2 ; 3 ; ; LF
//! Vec<(B, B)>      04 n:i32, 2n values                        1 2 ; 3 4 LF
//! ```

use seqfeed_core::{Error, Problem, Result};

use crate::OBJECT;
use crate::holder::{Holder, Mode};
use crate::object_reader::ObjectReader;
use crate::objects::basic::{Basic, LineValues, expect_line_end, wrong_tag};
use crate::objects::matrix::{size, write_size};

/// If the amount of data is unknown, memory is taken in steps of at most this many values.
const STEP: usize = 1 << 17;

impl<B: Basic> Holder for Vec<B> {
    const TYPE: &'static str = "vector of basic values";

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        let mut values = Self::new();
        values.read_into(reader, mode)?;
        Ok(values)
    }

    fn read_into(&mut self, reader: &mut ObjectReader, mode: Mode) -> Result<()> {
        self.clear();
        if mode == Mode::Binary {
            let count = read_count(reader, B::WIDTHS.0)?;
            return append_tagged(reader, count, self);
        }
        let start = reader.position();
        let mut line = Vec::new();
        if !reader.read_line(&mut line)? && line.is_empty() {
            return Err(reader.unexpected_end("a vector as text", None));
        }
        LineValues::new(reader, start, &line).append_to(self)
    }

    fn skip(reader: &mut ObjectReader, mode: Mode) -> Result<()> {
        if mode == Mode::Text || B::WIDTHS.0 < B::WIDTHS.1 {
            return Self::read(reader, mode).map(drop);
        }
        let count = read_count(reader, B::WIDTHS.0)?;
        reader.skip_bytes((count * B::BINARY_BYTES) as u64, "a vector")
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        if mode == Mode::Binary {
            write_size(out, self.len())?;
        }
        out.reserve(self.len() * B::BINARY_BYTES);
        self.iter().for_each(|value| value.write_basic(out, mode));
        if mode == Mode::Text {
            out.push(b'\n');
        }
        Ok(())
    }
}

/// Reads a count of elements of at least `bytes` bytes each.
pub(crate) fn read_count(reader: &mut ObjectReader, bytes: usize) -> Result<usize> {
    let start = reader.position();
    let count = reader.read_basic(Mode::Binary)?;
    let count = size("number of elements", count)
        .map_err(|error| error.in_file(reader.name()).at_byte(start))?;
    reader.check_there((count as u64).saturating_mul(bytes as u64), "a vector")?;
    Ok(count)
}

/// Appends consecutive values, each with its size byte.
fn append_tagged<B: Basic>(
    reader: &mut ObjectReader,
    count: usize,
    values: &mut Vec<B>,
) -> Result<()> {
    let end = values.len() + count;
    values.reserve(count.min(STEP));
    while values.len() < end {
        let buffer = reader.ensure(B::BINARY_BYTES)?;
        let whole = (buffer.len() / B::BINARY_BYTES).min(end - values.len());
        let before = values.len();
        for bytes in buffer[..whole * B::BINARY_BYTES].chunks_exact(B::BINARY_BYTES) {
            let Some(value) = B::from_binary(bytes) else { break };
            values.push(value);
        }
        let read = values.len() - before;
        reader.consume(read * B::BINARY_BYTES);
        if read < whole || whole == 0 {
            // Reading a single value gives the error, or reads a float of the other width.
            values.push(B::read_binary(reader)?);
        }
    }
    Ok(())
}

impl<B: Basic> Holder for Vec<Vec<B>> {
    const TYPE: &'static str = "vector of vectors of basic values";

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        let mut rows = Self::new();
        if mode == Mode::Binary {
            let count = read_count(reader, 5)?;
            for _ in 0..count {
                rows.push(Vec::read(reader, mode)?);
            }
            return Ok(rows);
        }
        let start = reader.position();
        let mut line = Vec::new();
        let ended = reader.read_line(&mut line)?;
        let mut values = LineValues::new(reader, start, &line);
        let mut row = Vec::new();
        loop {
            match values.peek() {
                None if row.is_empty() => break,
                None => return Err(values.unexpected("\";\" behind the last values")),
                Some(b';') => {
                    values.consume();
                    rows.push(std::mem::take(&mut row));
                }
                Some(_) => row.push(values.next_value()?),
            }
        }
        expect_line_end(reader, ended)?;
        Ok(rows)
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        if mode == Mode::Binary {
            write_size(out, self.len())?;
        }
        for row in self {
            if mode == Mode::Binary {
                row.write(out, mode)?;
            } else {
                row.iter().for_each(|value| value.write_basic(out, mode));
                out.extend_from_slice(b"; ");
            }
        }
        if mode == Mode::Text {
            out.push(b'\n');
        }
        Ok(())
    }
}

impl<B: Basic> Holder for Vec<(B, B)> {
    const TYPE: &'static str = "vector of pairs of basic values";

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        if mode == Mode::Binary {
            let count = read_count(reader, 2 * B::WIDTHS.0)?;
            let mut values: Vec<B> = Vec::new();
            append_tagged(reader, 2 * count, &mut values)?;
            return Ok(values.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect());
        }
        let start = reader.position();
        let mut line = Vec::new();
        let ended = reader.read_line(&mut line)?;
        let mut values = LineValues::new(reader, start, &line);
        let mut pairs = Self::new();
        while values.peek().is_some() {
            pairs.push((values.next_value()?, values.next_value()?));
            match values.peek() {
                None => break,
                Some(b';') => {
                    values.consume();
                    if values.peek().is_none() {
                        return Err(values.unexpected("a pair behind \";\""));
                    }
                }
                Some(_) => return Err(values.unexpected("\";\" between pairs")),
            }
        }
        expect_line_end(reader, ended)?;
        Ok(pairs)
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        if mode == Mode::Binary {
            write_size(out, self.len())?;
        }
        for (number, (first, second)) in self.iter().enumerate() {
            if mode == Mode::Text && number > 0 {
                out.extend_from_slice(b"; ");
            }
            first.write_basic(out, mode);
            second.write_basic(out, mode);
        }
        if mode == Mode::Text {
            out.push(b'\n');
        }
        Ok(())
    }
}

/// Vectors of integers as `WriteIntegerVector` writes them: alone in files, and inside other
/// objects. (In tables, integer vectors are `Vec`s, which have another form.)
///
/// ```text
/// binary   size of a value:u8 count:i32 values
/// text     [ 1 2 3 ] LF
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntegerVector<B>(
    /// The values.
    pub Vec<B>,
);

/// Pairs of integers: like [`IntegerVector`], but `[ 1,2 3,4 ]` in text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntegerPairVector<B>(
    /// The pairs.
    pub Vec<(B, B)>,
);

/// Types of integers.
pub trait Integer: Basic + crate::object_reader::LittleEndian {}
impl Integer for i8 {}
impl Integer for i16 {}
impl Integer for i32 {}
impl Integer for i64 {}
impl Integer for u8 {}
impl Integer for u16 {}
impl Integer for u32 {}
impl Integer for u64 {}

fn read_integers<B: Integer>(reader: &mut ObjectReader, each: usize) -> Result<Vec<B>> {
    let found = reader.next_byte()?;
    let Some(found) = found else {
        return Err(reader.unexpected_end("a vector of integers", None));
    };
    if usize::from(found) != size_of::<B>() {
        return Err(reader.error(OBJECT, wrong_tag::<B>(found)));
    }
    let at = reader.position();
    let count = i32::from_le_bytes(reader.read_array("a count")?);
    let count = size("number of elements", count)
        .map_err(|error| error.in_file(reader.name()).at_byte(at))?;
    let mut values = Vec::new();
    reader.read_values(count.saturating_mul(each), &mut values, "a vector of integers")?;
    Ok(values)
}

fn write_integers<B: Integer>(
    out: &mut Vec<u8>,
    count: usize,
    values: impl Iterator<Item = B>,
) -> Result<()> {
    let Ok(count) = i32::try_from(count) else {
        let what = "the vector is too long for Kaldi's format".into();
        return Err(Error::format(OBJECT, Problem::Unsupported(what)));
    };
    out.push(size_of::<B>() as u8);
    out.extend_from_slice(&count.to_le_bytes());
    for value in values {
        let start = out.len();
        value.write_basic(out, Mode::Binary);
        // Without the size byte.
        out.remove(start);
    }
    Ok(())
}

fn expect_open(reader: &mut ObjectReader) -> Result<()> {
    reader.skip_space()?;
    if reader.peek()? != Some(b'[') {
        return Err(reader.unexpected(OBJECT, "\"[\""));
    }
    reader.consume(1);
    Ok(())
}

/// Whether the closing bracket follows. It is consumed.
fn closes(reader: &mut ObjectReader) -> Result<bool> {
    if !reader.skip_space()? {
        return Err(reader.unexpected_end("a vector of integers", None));
    }
    let closes = reader.peek()? == Some(b']');
    if closes {
        reader.consume(1);
        if reader.peek()? == Some(b'\n') {
            reader.consume(1);
        }
    }
    Ok(closes)
}

impl<B: Integer> Holder for IntegerVector<B> {
    const TYPE: &'static str = "vector of integers";

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        if mode == Mode::Binary {
            return Ok(Self(read_integers(reader, 1)?));
        }
        expect_open(reader)?;
        let mut values = Vec::new();
        while !closes(reader)? {
            values.push(reader.read_basic(mode)?);
        }
        Ok(Self(values))
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        if mode == Mode::Binary {
            return write_integers(out, self.0.len(), self.0.iter().copied());
        }
        out.extend_from_slice(b"[ ");
        self.0.iter().for_each(|value| value.write_basic(out, mode));
        out.extend_from_slice(b"]\n");
        Ok(())
    }
}

impl<B: Integer> Holder for IntegerPairVector<B> {
    const TYPE: &'static str = "vector of pairs of integers";

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        if mode == Mode::Binary {
            let values = read_integers::<B>(reader, 2)?;
            return Ok(Self(values.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()));
        }
        expect_open(reader)?;
        let mut pairs = Vec::new();
        while !closes(reader)? {
            let first = reader.read_basic(mode)?;
            if reader.peek()? != Some(b',') {
                return Err(reader.unexpected(OBJECT, "\",\" inside of a pair"));
            }
            reader.consume(1);
            pairs.push((first, reader.read_basic(mode)?));
        }
        Ok(Self(pairs))
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        if mode == Mode::Binary {
            let values = self.0.iter().flat_map(|&(first, second)| [first, second]);
            return write_integers(out, self.0.len(), values);
        }
        out.extend_from_slice(b"[ ");
        for (first, second) in &self.0 {
            first.write_basic(out, mode);
            out.pop();
            out.push(b',');
            second.write_basic(out, mode);
        }
        out.extend_from_slice(b"]\n");
        Ok(())
    }
}

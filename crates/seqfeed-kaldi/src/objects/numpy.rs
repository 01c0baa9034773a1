//! NumPy's arrays in tables.

use seqfeed_core::{Error, Problem, Result};

use crate::holder::{Holder, Mode};
use crate::object_reader::ObjectReader;
use crate::objects::float::Float;
use crate::objects::matrix::{Matrix, read_floats, write_values};
use crate::objects::vector::Vector;

/// The name of the format in messages.
const NPY: &str = "npy array";

const MAGIC: [u8; 6] = *b"\x93NUMPY";

/// Headers of arrays of numbers have some hundred bytes; a longer one is false.
const MOST_HEADER: u32 = 1 << 16;

/// An array of floats with one or two dimensions, in the form of NumPy's `.npy` files.
///
/// ```text
/// \x93NUMPY 1 0 length:u16 {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } LF values
/// ```
///
/// Blanks before the end of the line make everything before the values a multiple of 64 bytes.
/// Either type of float can be read from either. These are read too, though Kaldi refuses them:
/// headers of other lengths, Fortran order, big-endian values, and files without Kaldi's `\0B` in
/// front. There is no text form.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NumpyArray<T> {
    /// One or two dimensions.
    pub shape: Vec<usize>,
    /// The values; the last dimension runs fastest.
    pub values: Vec<T>,
}

impl<T> From<Vector<T>> for NumpyArray<T> {
    fn from(vector: Vector<T>) -> Self {
        Self { shape: vec![vector.0.len()], values: vector.0 }
    }
}

impl<T> From<Matrix<T>> for NumpyArray<T> {
    fn from(matrix: Matrix<T>) -> Self {
        Self { shape: vec![matrix.rows, matrix.cols], values: matrix.values }
    }
}

impl<T> NumpyArray<T> {
    /// The array as a matrix, if it has two dimensions, and both or none of them are zero.
    #[must_use]
    pub fn into_matrix(self) -> Option<Matrix<T>> {
        match self.shape[..] {
            [rows, cols] if (rows == 0) == (cols == 0) => {
                Some(Matrix { rows, cols, values: self.values })
            }
            _ => None,
        }
    }
}

impl<T: Float> Holder for NumpyArray<T> {
    const TYPE: &'static str = if T::LETTER == b'F' { "float array" } else { "double array" };

    fn read(reader: &mut ObjectReader, _: Mode) -> Result<Self> {
        let header = Header::read(reader)?;
        let Header { letter, big_endian, fortran, shape, count } = header;
        let mut values = Vec::new();
        if big_endian {
            values = read_big_endian(reader, letter, count)?;
        } else {
            read_floats(reader, letter, count, &mut values)?;
        }
        if let ([rows, cols], true) = (&shape[..], fortran) {
            values = transposed(&values, *rows, *cols);
        }
        Ok(Self { shape, values })
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        let refuse = |what: String| Err(Error::format(NPY, Problem::Unsupported(what.into())));
        if mode == Mode::Text {
            return refuse("an array as text".into());
        }
        let shape = match self.shape[..] {
            [values] => format!("({values},)"),
            [rows, cols] => format!("({rows}, {cols})"),
            _ => return refuse(format!("an array of {} dimensions", self.shape.len())),
        };
        if elements(&self.shape) != Some(self.values.len()) {
            return refuse(format!("{} values in the shape {shape}", self.values.len()));
        }
        let width = size_of::<T>();
        let mut header =
            format!("{{'descr': '<f{width}', 'fortran_order': False, 'shape': {shape}, }}");
        // Magic, version and length have 10 bytes; the end of the line has one.
        let length = (10 + header.len() + 1).next_multiple_of(64) - 10;
        header.extend(std::iter::repeat_n(' ', length - 1 - header.len()));
        header.push('\n');
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&[1, 0]);
        out.extend_from_slice(&(length as u16).to_le_bytes());
        out.extend_from_slice(header.as_bytes());
        write_values(out, &self.values);
        Ok(())
    }
}

/// The header before the values.
struct Header {
    /// `F` for 32 bits, `D` for 64.
    letter: u8,
    big_endian: bool,
    fortran: bool,
    shape: Vec<usize>,
    count: usize,
}

impl Header {
    fn read(reader: &mut ObjectReader) -> Result<Self> {
        const INSIDE: &str = "the header of an array";
        let start = reader.position();
        let magic: [u8; 6] = reader.read_array(INSIDE)?;
        if magic != MAGIC {
            let expected = "\"\\x93NUMPY\" before an array".into();
            let problem = Problem::Unexpected { expected, found: magic.into() };
            return Err(reader.error_at(start, NPY, problem));
        }
        let at = reader.position();
        let length = match reader.read_array(INSIDE)? {
            [1, 0] => u16::from_le_bytes(reader.read_array(INSIDE)?).into(),
            [2 | 3, 0] => u32::from_le_bytes(reader.read_array(INSIDE)?),
            [major, minor] => {
                let what = format!("version {major}.{minor}").into();
                return Err(reader.error_at(at, NPY, Problem::Unsupported(what)));
            }
        };
        if length > MOST_HEADER {
            let problem = Problem::OutOfRange {
                what: "length of the header",
                found: length.into(),
                allowed: format!("0 to {MOST_HEADER}").into(),
            };
            return Err(reader.error_at(at, NPY, problem));
        }
        let at = reader.position();
        let mut text = Vec::new();
        reader.read_values(length as usize, &mut text, INSIDE)?;
        parse(&text).map_err(|problem| reader.error_at(at, NPY, problem))
    }
}

/// The number of values of a shape.
fn elements(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |count, &dimension| count.checked_mul(dimension))
}

/// Parses the dictionary in a header. It accepts only the part of Python's notation that NumPy
/// writes there.
fn parse(text: &[u8]) -> std::result::Result<Header, Problem> {
    let mut words = Words { text, at: 0 };
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    words.expect(b'{')?;
    while !words.take(b'}') {
        let name = words.string()?;
        words.expect(b':')?;
        match name {
            b"descr" if descr.is_none() => descr = Some(words.string()?),
            b"fortran_order" if fortran.is_none() => fortran = Some(words.boolean()?),
            b"shape" if shape.is_none() => shape = Some(words.shape()?),
            _ => {
                return Err(Problem::Unexpected {
                    expected: "descr, fortran_order and shape, each once, in the header".into(),
                    found: name[..name.len().min(32)].to_vec(),
                });
            }
        }
        if !words.take(b',') {
            words.expect(b'}')?;
            break;
        }
    }
    words.skip_space();
    let (Some(descr), Some(fortran), Some(shape)) = (descr, fortran, shape) else {
        return Err(words.unexpected("descr, fortran_order and shape in the header"));
    };
    if words.at < text.len() {
        return Err(words.unexpected("nothing behind the \"}\" of the header"));
    }
    let (big_endian, letter) = match descr {
        b"<f4" => (false, b'F'),
        b"<f8" => (false, b'D'),
        b">f4" => (true, b'F'),
        b">f8" => (true, b'D'),
        _ => {
            let what = format!("values of type {}", descr.escape_ascii());
            return Err(Problem::Unsupported(what.into()));
        }
    };
    let shown = || format!("{shape:?}");
    if !matches!(shape.len(), 1 | 2) {
        let what = format!("the shape {}: an array has one or two dimensions here", shown());
        return Err(Problem::Unsupported(what.into()));
    }
    let Some(count) = elements(&shape) else {
        return Err(Problem::Unsupported(format!("the shape {}", shown()).into()));
    };
    Ok(Header { letter, big_endian, fortran, shape, count })
}

/// The text of a header, read word by word.
struct Words<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Words<'a> {
    fn skip_space(&mut self) {
        let spaces = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        self.at += self.text[self.at..].iter().take_while(spaces).count();
    }

    fn unexpected(&self, expected: &'static str) -> Problem {
        let rest = &self.text[self.at..];
        Problem::Unexpected { expected: expected.into(), found: rest[..rest.len().min(16)].into() }
    }

    /// Whether the next byte is this one. If so, it is consumed.
    fn take(&mut self, byte: u8) -> bool {
        self.skip_space();
        let is = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, byte: u8) -> std::result::Result<(), Problem> {
        if self.take(byte) {
            return Ok(());
        }
        let rest = &self.text[self.at..];
        let expected = format!("\"{}\" in the header", char::from(byte)).into();
        Err(Problem::Unexpected { expected, found: rest[..rest.len().min(16)].into() })
    }

    /// The text between quotes.
    fn string(&mut self) -> std::result::Result<&'a [u8], Problem> {
        let quote = if self.take(b'\'') {
            b'\''
        } else if self.take(b'"') {
            b'"'
        } else {
            return Err(self.unexpected("a word in quotes in the header"));
        };
        let rest = &self.text[self.at..];
        let Some(len) = rest.iter().position(|&byte| byte == quote) else {
            return Err(self.unexpected("a word in quotes in the header"));
        };
        self.at += len + 1;
        Ok(&rest[..len])
    }

    fn boolean(&mut self) -> std::result::Result<bool, Problem> {
        self.skip_space();
        for (word, value) in [(&b"True"[..], true), (b"False", false)] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.unexpected("True or False in the header"))
    }

    /// A tuple of numbers: `()`, `(1,)`, `(1, 2)`, `(1, 2,)`; also `(1)`, though it is not a tuple.
    fn shape(&mut self) -> std::result::Result<Vec<usize>, Problem> {
        self.expect(b'(')?;
        let mut shape = Vec::new();
        while !self.take(b')') {
            shape.push(self.number()?);
            if !self.take(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Ok(shape)
    }

    fn number(&mut self) -> std::result::Result<usize, Problem> {
        self.skip_space();
        let rest = &self.text[self.at..];
        let len = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let digits = std::str::from_utf8(&rest[..len]).ok();
        let Some(number) = digits.and_then(|digits| digits.parse().ok()) else {
            return Err(self.unexpected("a dimension in the header"));
        };
        self.at += len;
        Ok(number)
    }
}

fn read_big_endian<T: Float>(
    reader: &mut ObjectReader,
    letter: u8,
    count: usize,
) -> Result<Vec<T>> {
    const INSIDE: &str = "data";
    if letter == b'F' {
        let mut read: Vec<u32> = Vec::new();
        reader.read_values(count, &mut read, INSIDE)?;
        let value = |bits: u32| T::from_f64(f32::from_bits(bits.swap_bytes()).into());
        return Ok(read.into_iter().map(value).collect());
    }
    let mut read: Vec<u64> = Vec::new();
    reader.read_values(count, &mut read, INSIDE)?;
    Ok(read.into_iter().map(|bits| T::from_f64(f64::from_bits(bits.swap_bytes()))).collect())
}

/// Converts the order of columns to the order of rows.
fn transposed<T: Copy>(values: &[T], rows: usize, cols: usize) -> Vec<T> {
    let mut by_rows = Vec::with_capacity(values.len());
    for row in 0..rows.min(values.len()) {
        by_rows.extend(values[row..].iter().step_by(rows).take(cols));
    }
    by_rows
}

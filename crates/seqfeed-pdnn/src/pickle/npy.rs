//! numpy's `.npy` files.

use std::io::Write;

use seqfeed_core::{Error, Problem, Result};
use seqfeed_io::Input;

use super::array::Shape;
use super::bytes::read;
use super::{Array, Bytes, Dtype};

/// The name of the format in messages.
pub(super) const NPY: &str = "npy file";

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The most bytes of a header. Arrays of numbers need some hundred.
const MOST_HEADER: u64 = 1 << 16;

/// Reads an array from a stream with an `.npy` file of version 1, 2 or 3.
///
/// # Errors
///
/// Fails if it is not an `.npy` file, if it holds other data than numbers, or if it ends early.
pub fn read_npy(input: &mut Input) -> Result<Array> {
    let start = input.position();
    read_array(input).map_err(|error| error.in_file(input.name()).at_byte(start))
}

/// The input of an array.
pub(super) trait Bytewise {
    /// The number of bytes left, if it is known for sure.
    fn left(&mut self, wanted: u64) -> Option<u64>;

    /// Reads `len` bytes; fewer only at the end.
    fn take(&mut self, len: u64) -> Result<Bytes>;
}

impl Bytewise for Input {
    fn left(&mut self, wanted: u64) -> Option<u64> {
        self.remaining(wanted)
    }

    fn take(&mut self, len: u64) -> Result<Bytes> {
        read(self, len).map_err(|error| self.error(error))
    }
}

/// Reads the header of an `.npy` file: the shape of its array.
pub(super) fn read_shape(input: &mut Input) -> Result<Vec<usize>> {
    read_header(input).map(|(_, _, shape)| shape)
}

/// Reads an array. Errors have no place yet.
pub(super) fn read_array(input: &mut impl Bytewise) -> Result<Array> {
    let (dtype, fortran, shape) = read_header(input)?;
    let bytes = shape
        .iter()
        .try_fold(dtype.number.size() as u64, |bytes, &dim| bytes.checked_mul(dim as u64));
    let Some(bytes) = bytes else {
        let what = format!("the shape {} has more elements than any memory", Shape(&shape));
        return Err(Error::format(NPY, Problem::Unsupported(what.into())));
    };
    Array::new(shape, dtype, fortran, exactly(input, bytes, "data")?)
}

fn read_header(input: &mut impl Bytewise) -> Result<(Dtype, bool, Vec<usize>)> {
    let prefix = exactly(input, 8, "the header")?;
    let prefix = prefix.as_slice();
    if !prefix.starts_with(MAGIC) || !(1..=3).contains(&prefix[6]) {
        return Err(unexpected("an npy file of version 1 to 3", prefix));
    }
    let sizes = exactly(input, if prefix[6] == 1 { 2 } else { 4 }, "the header")?;
    let len = sizes.as_slice().iter().rev().fold(0, |len, &byte| len << 8 | u64::from(byte));
    if len > MOST_HEADER {
        let what = format!("the header has {len} bytes, expected {MOST_HEADER} at most");
        return Err(Error::format(NPY, Problem::Unsupported(what.into())));
    }
    let header = exactly(input, len, "the header")?;
    parse(header.as_slice())
}

fn exactly(input: &mut impl Bytewise, len: u64, inside: &'static str) -> Result<Bytes> {
    let missing = |missing| {
        let problem = Problem::UnexpectedEnd { inside, missing: Some(missing) };
        Err(Error::format(NPY, problem))
    };
    if let Some(left) = input.left(len)
        && left < len
    {
        return missing(len - left);
    }
    let bytes = input.take(len)?;
    if (bytes.len() as u64) < len { missing(len - bytes.len() as u64) } else { Ok(bytes) }
}

fn unexpected(expected: &'static str, found: &[u8]) -> Error {
    let found = found[..found.len().min(32)].to_vec();
    Error::format(NPY, Problem::Unexpected { expected: expected.into(), found })
}

/// `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }` in any order.
fn parse(text: &[u8]) -> Result<(Dtype, bool, Vec<usize>)> {
    let (mut dtype, mut fortran, mut shape) = (None, None, None);
    let mut words = Words(text);
    words.expect(b'{')?;
    while !words.take(b'}') {
        let key = words.quoted()?;
        words.expect(b':')?;
        match key {
            b"descr" => {
                let (at, text) = (words.0, words.quoted());
                let known = text.ok().and_then(Dtype::from_description);
                dtype =
                    Some(known.ok_or_else(|| unexpected("a type of numbers (such as '<f4')", at))?);
            }
            b"fortran_order" => fortran = Some(words.boolean()?),
            b"shape" => shape = Some(words.shape()?),
            key => return Err(unexpected("descr, fortran_order or shape", key)),
        }
        if !words.take(b',') {
            words.expect(b'}')?;
            break;
        }
    }
    match (dtype, fortran, shape) {
        (Some(dtype), Some(fortran), Some(shape)) => Ok((dtype, fortran, shape)),
        _ => Err(unexpected("descr, fortran_order and shape", text)),
    }
}

/// The rest of a header.
struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    fn take(&mut self, byte: u8) -> bool {
        self.0 = self.0.trim_ascii_start();
        let taken = self.0.first() == Some(&byte);
        self.0 = &self.0[usize::from(taken)..];
        taken
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.take(byte) {
            return Ok(());
        }
        let expected = format!("`{}`", char::from(byte));
        let found = self.0[..self.0.len().min(32)].to_vec();
        Err(Error::format(NPY, Problem::Unexpected { expected: expected.into(), found }))
    }

    fn quoted(&mut self) -> Result<&'a [u8]> {
        let quote = if self.take(b'"') { b'"' } else { b'\'' };
        if quote == b'\'' {
            self.expect(quote)?;
        }
        let text = self.0;
        let Some(end) = memchr::memchr(quote, text) else {
            return Err(unexpected("a quote", text));
        };
        self.0 = &text[end + 1..];
        Ok(&text[..end])
    }

    fn boolean(&mut self) -> Result<bool> {
        self.0 = self.0.trim_ascii_start();
        for (word, value) in [(&b"True"[..], true), (b"False", false)] {
            if let Some(rest) = self.0.strip_prefix(word) {
                self.0 = rest;
                return Ok(value);
            }
        }
        Err(unexpected("True or False", self.0))
    }

    fn shape(&mut self) -> Result<Vec<usize>> {
        self.expect(b'(')?;
        let mut shape = Vec::new();
        while !self.take(b')') {
            self.0 = self.0.trim_ascii_start();
            let digits = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let text = std::str::from_utf8(&self.0[..digits]).ok();
            let Some(dim) = text.and_then(|text| text.parse().ok()) else {
                return Err(unexpected("a dimension", self.0));
            };
            shape.push(dim);
            self.0 = &self.0[digits..];
            // Python 2 writes large numbers with an L.
            self.take(b'L');
            if !self.take(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Ok(shape)
    }
}

/// Writes an array in numpy's form.
///
/// # Errors
///
/// Fails if the writer fails.
pub fn write_npy(out: &mut impl Write, array: &Array) -> std::io::Result<()> {
    let shape: Vec<u64> = array.shape().iter().map(|&dim| dim as u64).collect();
    out.write_all(&header(&shape, array.dtype(), array.is_fortran()))?;
    out.write_all(array.data().as_slice())
}

/// The header, padded so that data begin at a multiple of 64 bytes.
pub(super) fn header(shape: &[u64], dtype: Dtype, fortran: bool) -> Vec<u8> {
    let (fortran, shape) = (if fortran { "True" } else { "False" }, Shape(shape));
    let mut text =
        format!("{{'descr': '{dtype}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
    let padding = 63 - (MAGIC.len() + 4 + text.len()) % 64;
    text.extend(std::iter::repeat_n(' ', padding));
    text.push('\n');
    // An array has at most 64 dimensions of 20 digits, so this fits 16 bits.
    let len = (text.len() as u16).to_le_bytes();
    [&MAGIC[..], &[1, 0], &len, text.as_bytes()].concat()
}

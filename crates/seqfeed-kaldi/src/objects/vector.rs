//! Vectors of floats.

use seqfeed_core::{Error, Problem, Result};

use crate::holder::{Holder, Mode};
use crate::object_reader::ObjectReader;
use crate::objects::float::{Brackets, Float, read_rows, write_float};
use crate::objects::matrix::{
    add, read_floats, size, width, write_size, write_values, wrong_token,
};
use crate::range::Range;
use crate::{OBJECT, SCRIPT};

/// A vector of floats: Kaldi's `Vector`. (A `Vec<f32>` is `std::vector`, which has another form.)
///
/// ```text
/// binary   FV SP 04 dim:i32 values       (DV: f64)
/// text     SP [ SP 1 SP 2 SP ] LF
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Vector<T>(
    /// The values.
    pub Vec<T>,
);

impl<T> From<Vec<T>> for Vector<T> {
    fn from(values: Vec<T>) -> Self {
        Self(values)
    }
}

impl<T: Float> Vector<T> {
    /// Reads a vector as [`Holder::read`] does, and adds its values to the present ones, as
    /// [`Matrix::read_add`](crate::Matrix::read_add) does.
    ///
    /// # Errors
    ///
    /// As [`Holder::read`], and if the sizes differ. Nothing was added then.
    pub fn read_add(&mut self, reader: &mut ObjectReader, mode: Mode) -> Result<()> {
        let start = reader.position();
        let read = Self::read(reader, mode)?;
        if self.0.is_empty() {
            *self = read;
        } else if !read.0.is_empty() {
            if read.0.len() != self.0.len() {
                let (found, here) = (read.0.len(), self.0.len());
                let what = format!("a vector of {found} cannot be added to one of {here}");
                return Err(reader.error_at(start, OBJECT, Problem::Unsupported(what.into())));
            }
            add(&mut self.0, &read.0);
        }
        Ok(())
    }
}

impl<T: Float> Holder for Vector<T> {
    const TYPE: &'static str = if T::LETTER == b'F' { "float vector" } else { "double vector" };

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        let mut vector = Self::default();
        vector.read_into(reader, mode)?;
        Ok(vector)
    }

    fn read_into(&mut self, reader: &mut ObjectReader, mode: Mode) -> Result<()> {
        if mode == Mode::Text {
            return read_rows(reader, Brackets::OneRow, &mut self.0).map(drop);
        }
        let (letter, dim) = read_header(reader)?;
        read_floats(reader, letter, dim, &mut self.0)
    }

    fn skip(reader: &mut ObjectReader, mode: Mode) -> Result<()> {
        if mode == Mode::Text {
            return read_rows::<T>(reader, Brackets::OneRow, &mut Vec::new()).map(drop);
        }
        let (letter, dim) = read_header(reader)?;
        reader.skip_bytes(dim as u64 * width(letter), "a vector")
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        if mode == Mode::Binary {
            out.extend_from_slice(&[T::LETTER, b'V', b' ']);
            write_size(out, self.0.len())?;
            write_values(out, &self.0);
            return Ok(());
        }
        out.extend_from_slice(b" [ ");
        self.0.iter().for_each(|&value| write_float(out, value));
        out.extend_from_slice(b"]\n");
        Ok(())
    }

    fn rows(&self) -> Option<usize> {
        Some(self.0.len())
    }

    fn extract(&self, range: &Range) -> Result<Self> {
        if range.cols.is_some() {
            let what = "a range of a vector has one part, this one has two".into();
            return Err(Error::format(SCRIPT, Problem::Unsupported(what)));
        }
        let (first, count) = range.rows_of(self.0.len() as u32)?;
        Ok(Self(self.0[first as usize..(first + count) as usize].to_vec()))
    }
}

fn read_header(reader: &mut ObjectReader) -> Result<(u8, usize)> {
    let start = reader.position();
    let token = reader.read_token(Mode::Binary)?;
    let [letter @ (b'F' | b'D'), b'V'] = token[..] else {
        return Err(wrong_token(reader, start, "a vector (FV or DV)", token));
    };
    let at = reader.position();
    let dim = reader.read_basic(Mode::Binary)?;
    let dim = size("dimension", dim).map_err(|error| error.in_file(reader.name()).at_byte(at))?;
    Ok((letter, dim))
}

//! Symmetric and triangular matrices.

use seqfeed_core::{Error, Problem, Result};

use crate::OBJECT;
use crate::holder::{Holder, Mode};
use crate::object_reader::ObjectReader;
use crate::objects::float::{Brackets, Float, read_rows, write_float};
use crate::objects::matrix::{
    add, check_count, read_floats, size, width, write_size, write_values, wrong_token,
};

/// The lower triangle of a symmetric or triangular matrix, row after row: Kaldi's `SpMatrix` and
/// `TpMatrix`.
///
/// ```text
/// binary   FP SP 04 size:i32 values       (DP: f64)
/// text     [ LF 1 SP LF 2 SP 3 SP LF 4 SP 5 SP 6 SP ] LF
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PackedMatrix<T> {
    /// Number of rows, and of columns.
    pub size: usize,
    /// `size * (size + 1) / 2` values.
    pub values: Vec<T>,
}

impl<T: Float> PackedMatrix<T> {
    /// Reads a matrix as [`Holder::read`] does, and adds its values to the present ones, as
    /// [`Matrix::read_add`](crate::Matrix::read_add) does: Kaldi's `PackedMatrix::Read` with
    /// `add = true`.
    ///
    /// # Errors
    ///
    /// As [`Holder::read`], and if the sizes differ. Nothing was added then.
    pub fn read_add(&mut self, reader: &mut ObjectReader, mode: Mode) -> Result<()> {
        let start = reader.position();
        let read = Self::read(reader, mode)?;
        if self.size == 0 {
            *self = read;
        } else if read.size != 0 {
            if read.size != self.size {
                let (found, here) = (read.size, self.size);
                let what = format!("a triangle of {found} rows cannot be added to one of {here}");
                return Err(reader.error_at(start, OBJECT, Problem::Unsupported(what.into())));
            }
            add(&mut self.values, &read.values);
        }
        Ok(())
    }
}

/// The number of values of a triangle.
fn triangle(size: usize) -> Option<usize> {
    Some(size.checked_mul(size.checked_add(1)?)? / 2)
}

impl<T: Float> Holder for PackedMatrix<T> {
    const TYPE: &'static str = if T::LETTER == b'F' {
        "float symmetric or triangular matrix"
    } else {
        "double symmetric or triangular matrix"
    };

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        let mut values = Vec::new();
        if mode == Mode::Text {
            let start = reader.position();
            read_rows(reader, Brackets::Flat, &mut values)?;
            let mut size = 0;
            let mut end = 0;
            while end < values.len() {
                size += 1;
                end += size;
            }
            if end != values.len() {
                let what = format!("{} values make no triangle", values.len());
                return Err(reader.error_at(start, OBJECT, Problem::Unsupported(what.into())));
            }
            return Ok(Self { size, values });
        }
        let (letter, size) = read_header(reader)?;
        // A size has 31 bits, so there is no overflow.
        read_floats(reader, letter, size * (size + 1) / 2, &mut values)?;
        Ok(Self { size, values })
    }

    fn skip(reader: &mut ObjectReader, mode: Mode) -> Result<()> {
        if mode == Mode::Text {
            return Self::read(reader, mode).map(drop);
        }
        let (letter, size) = read_header(reader)?;
        reader.skip_bytes((size * (size + 1) / 2) as u64 * width(letter), "a packed matrix")
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        if triangle(self.size) != Some(self.values.len()) {
            let what =
                format!("a triangle of {} rows has not {} values", self.size, self.values.len());
            return Err(Error::format(OBJECT, Problem::Unsupported(what.into())));
        }
        if mode == Mode::Binary {
            out.extend_from_slice(&[T::LETTER, b'P', b' ']);
            write_size(out, self.size)?;
            write_values(out, &self.values);
            return Ok(());
        }
        out.extend_from_slice(if self.size == 0 { b"[ " } else { b"[\n" });
        let mut values = self.values.iter();
        for row in 1..=self.size {
            values.by_ref().take(row).for_each(|&value| write_float(out, value));
            if row < self.size {
                out.push(b'\n');
            }
        }
        out.extend_from_slice(b"]\n");
        Ok(())
    }
}

fn read_header(reader: &mut ObjectReader) -> Result<(u8, usize)> {
    let start = reader.position();
    let token = reader.read_token(Mode::Binary)?;
    let [letter @ (b'F' | b'D'), b'P'] = token[..] else {
        return Err(wrong_token(reader, start, "a packed matrix (FP or DP)", token));
    };
    let at = reader.position();
    let rows = reader.read_basic(Mode::Binary)?;
    let rows = size("size", rows).and_then(|rows| {
        check_count(rows * (rows + 1) / 2)?;
        Ok(rows)
    });
    Ok((letter, rows.map_err(|error| error.in_file(reader.name()).at_byte(at))?))
}

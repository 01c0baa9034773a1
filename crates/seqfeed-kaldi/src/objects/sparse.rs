//! Sparse vectors and matrices.

use seqfeed_core::{Error, Problem, Result};

use crate::OBJECT;
use crate::holder::{Holder, Mode};
use crate::object_reader::ObjectReader;
use crate::objects::basic::Basic;
use crate::objects::basic_vector::read_count;
use crate::objects::float::{Float, write_float};
use crate::objects::matrix::{Matrix, size, write_size, wrong_token};
use crate::range::Range;

/// A vector with few elements other than zero: Kaldi's `SparseVector`.
///
/// ```text
/// binary   SV SP 04 dim:i32 04 n:i32, n times: 04 index:i32 04 value:f32     (or 08 value:f64)
/// text     dim=5 SP [ SP 0 SP 0.2 SP 3 SP 0.9 SP ] SP
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseVector<T> {
    /// Number of elements.
    pub dim: usize,
    /// Index and value of the elements other than zero.
    pub pairs: Vec<(i32, T)>,
}

/// The most values of a matrix with its zeros: a few bytes can stand for any number of zeros.
const MOST_VALUES: usize = 1 << 30;

/// A matrix of sparse rows: Kaldi's `SparseMatrix`.
///
/// ```text
/// binary   SM SP 04 rows:i32, and the rows as sparse vectors
/// text     rows=2 SP, the rows, LF
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseMatrix<T> {
    /// The rows.
    pub rows: Vec<SparseVector<T>>,
}

impl<T: Float> SparseVector<T> {
    fn check(&self) -> Result<()> {
        self.pairs.iter().try_for_each(|&(index, _)| self.check_index(index))
    }

    fn check_index(&self, index: i32) -> Result<()> {
        if usize::try_from(index).is_ok_and(|index| index < self.dim) {
            return Ok(());
        }
        let (what, found) = ("an index of a sparse vector", i64::from(index));
        let allowed = format!("0 or more and below the dimension {}", self.dim).into();
        Err(Error::format(OBJECT, Problem::OutOfRange { what, found, allowed }))
    }

    fn read_pair(&mut self, reader: &mut ObjectReader, mode: Mode) -> Result<()> {
        let start = reader.position();
        let index = reader.read_basic(mode)?;
        self.check_index(index).map_err(|error| error.in_file(reader.name()).at_byte(start))?;
        self.pairs.push((index, reader.read_basic(mode)?));
        Ok(())
    }
}

impl<T: Float> SparseMatrix<T> {
    /// Number of columns: that of the first row, since all rows must agree.
    #[must_use]
    pub fn cols(&self) -> usize {
        self.rows.first().map_or(0, |row| row.dim)
    }

    /// The matrix with its zeros.
    ///
    /// # Errors
    ///
    /// Fails if it has more values than fit in memory, if an index is out of range, or if rows
    /// differ in dimension.
    pub fn to_matrix(&self) -> Result<Matrix<T>> {
        let (rows, cols) = (self.rows.len(), self.cols());
        let count = rows.checked_mul(cols);
        if count.is_none_or(|count| count > MOST_VALUES) {
            let what = format!("a matrix of {rows} rows and {cols} columns is too large");
            return Err(Error::format(OBJECT, Problem::Unsupported(what.into())));
        }
        let mut values = vec![T::default(); rows * cols];
        for (row, out) in self.rows.iter().zip(values.chunks_exact_mut(cols.max(1))) {
            check_dim(row, cols)?;
            row.check()?;
            for &(index, value) in &row.pairs {
                if let Some(out) = out.get_mut(index as usize) {
                    *out = value;
                }
            }
        }
        let rows = if cols == 0 { 0 } else { rows };
        Ok(Matrix { rows, cols, values })
    }
}

impl<T: Float> Holder for SparseVector<T> {
    const TYPE: &'static str = "sparse vector";

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        let start = reader.position();
        let mut vector = Self::default();
        if mode == Mode::Binary {
            let token = reader.read_token(mode)?;
            if token != b"SV" {
                return Err(wrong_token(reader, start, "a sparse vector (SV)", token));
            }
            vector.dim = read_size(reader, "dimension")?;
            let count = read_count(reader, 10)?;
            for _ in 0..count {
                vector.read_pair(reader, mode)?;
            }
        } else {
            vector.dim = read_assignment(reader, "dim=")?;
            reader.expect_token("[", mode)?;
            loop {
                reader.skip_space()?;
                if reader.peek()? == Some(b']') {
                    reader.consume(1);
                    break;
                }
                vector.read_pair(reader, mode)?;
            }
            if reader.peek()? == Some(b' ') {
                reader.consume(1);
            }
        }
        Ok(vector)
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        self.check()?;
        if mode == Mode::Binary {
            out.extend_from_slice(b"SV ");
            write_size(out, self.dim)?;
            write_size(out, self.pairs.len())?;
            for &(index, value) in &self.pairs {
                index.write_basic(out, mode);
                value.write_basic(out, mode);
            }
            return Ok(());
        }
        out.extend_from_slice(format!("dim={} [ ", self.dim).as_bytes());
        for &(index, value) in &self.pairs {
            index.write_basic(out, mode);
            write_float(out, value);
        }
        out.extend_from_slice(b"] ");
        Ok(())
    }
}

impl<T: Float> Holder for SparseMatrix<T> {
    const TYPE: &'static str = "sparse matrix";

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        let count = if mode == Mode::Binary {
            let start = reader.position();
            let token = reader.read_token(mode)?;
            if token != b"SM" {
                return Err(wrong_token(reader, start, "a sparse matrix (SM)", token));
            }
            // `SV `, dimension and count for each row.
            read_count(reader, 13)?
        } else {
            read_assignment(reader, "rows=")?
        };
        let mut matrix = Self::default();
        for _ in 0..count {
            let start = reader.position();
            let row = SparseVector::read(reader, mode)?;
            if !matrix.rows.is_empty() {
                check_dim(&row, matrix.cols())
                    .map_err(|error| error.in_file(reader.name()).at_byte(start))?;
            }
            matrix.rows.push(row);
        }
        if mode == Mode::Text {
            reader.skip_blanks()?;
            if reader.peek()? == Some(b'\n') {
                reader.consume(1);
            }
        }
        Ok(matrix)
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        if mode == Mode::Binary {
            out.extend_from_slice(b"SM ");
            write_size(out, self.rows.len())?;
        } else {
            out.extend_from_slice(format!("rows={} ", self.rows.len()).as_bytes());
        }
        let cols = self.cols();
        self.rows.iter().try_for_each(|row| {
            check_dim(row, cols)?;
            row.write(out, mode)
        })?;
        if mode == Mode::Text {
            out.push(b'\n');
        }
        Ok(())
    }

    fn rows(&self) -> Option<usize> {
        Some(self.rows.len())
    }

    fn extract(&self, range: &Range) -> Result<Self> {
        let (first, count) = range.rows_of(self.rows.len() as u32)?;
        let (low, cols) = range.cols_of(self.cols() as u32)?;
        let rows = self.rows[first as usize..(first + count) as usize].iter().map(|row| {
            let pairs = row.pairs.iter().filter_map(|&(index, value)| {
                let index = u32::try_from(index).ok()?.checked_sub(low)?;
                (index < cols).then_some((index as i32, value))
            });
            SparseVector { dim: cols as usize, pairs: pairs.collect() }
        });
        Ok(Self { rows: rows.collect() })
    }
}

/// Fails if a row differs in dimension from the first one.
fn check_dim<T>(row: &SparseVector<T>, cols: usize) -> Result<()> {
    if row.dim == cols {
        return Ok(());
    }
    let (expected, found) = (cols as u64, row.dim as u64);
    let what = "columns of a row of a sparse matrix";
    Err(Error::format(OBJECT, Problem::CountMismatch { what, expected, found }))
}

fn read_size(reader: &mut ObjectReader, what: &'static str) -> Result<usize> {
    let start = reader.position();
    let value = reader.read_basic(Mode::Binary)?;
    size(what, value).map_err(|error| error.in_file(reader.name()).at_byte(start))
}

/// Reads `name=5`.
fn read_assignment(reader: &mut ObjectReader, name: &'static str) -> Result<usize> {
    reader.skip_space()?;
    let start = reader.position();
    let token = reader.read_token(Mode::Text)?;
    let number = token.strip_prefix(name.as_bytes()).and_then(i32::from_text);
    match number {
        Some((number, len)) if number >= 0 && name.len() + len == token.len() => {
            Ok(number as usize)
        }
        _ => {
            let expected = format!("\"{name}\" and a size").into();
            let found = token[..token.len().min(32)].to_vec();
            Err(reader.error_at(start, OBJECT, Problem::Unexpected { expected, found }))
        }
    }
}

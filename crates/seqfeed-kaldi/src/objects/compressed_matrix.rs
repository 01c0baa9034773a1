//! Compressed matrices: one or two bytes a value.
//!
//! ```text
//! header   min:f32 range:f32 rows:i32 cols:i32
//! CM       cols x (p0 p25 p75 p100: u16), then cols x rows bytes, column after column
//! CM2      rows x cols u16, row after row          CM3      rows x cols u8, row after row
//! ```
//!
//! Values are bit for bit the same as Kaldi's, and Kaldi writes the same bytes.

mod compress;
mod method;

use seqfeed_core::Result;

pub use self::method::CompressionMethod;
use crate::holder::{Holder, Mode};
use crate::object_reader::ObjectReader;
use crate::objects::compressed_header::CompressedHeader;
use crate::objects::compressed_header::levels::LEVEL_BYTES;
use crate::objects::float::Float;
use crate::objects::matrix::{Matrix, MatrixHeader, read_floats};
use crate::range::Range;

/// A matrix compressed to one or two bytes a value: Kaldi's `CompressedMatrix`.
///
/// ```text
/// binary   CM SP min:f32 range:f32 rows:i32 cols:i32 data     (CM2, CM3: other data)
/// text     as a matrix of 32-bit floats
/// ```
///
/// It can be read from `CM`, `CM2` and `CM3`, and from `FM`, `DM` and text; these are then
/// compressed by the method [`Auto`](CompressionMethod::Auto). Kaldi writes 4 bytes too many for an
/// empty matrix. It is read with or without them, and written without.
///
/// ```
/// use seqfeed_kaldi::{CompressedMatrix, CompressionMethod, Matrix};
///
/// let matrix = Matrix { rows: 2, cols: 2, values: vec![0.0f32, 0.25, 0.5, 1.0] };
/// let compressed = CompressedMatrix::compress(&matrix, CompressionMethod::TwoByteAuto)?;
/// let error = |(a, b): (&f32, &f32)| (a - b).abs();
/// let back = compressed.to_matrix::<f32>();
/// assert!(matrix.values.iter().zip(&back.values).map(error).all(|error| error < 1e-5));
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CompressedMatrix {
    header: CompressedHeader,
    /// The bytes after the header in the file.
    data: Vec<u8>,
}

impl Default for CompressedMatrix {
    fn default() -> Self {
        Self { header: CompressedHeader::EMPTY, data: Vec::new() }
    }
}

impl CompressedMatrix {
    /// Compresses a matrix.
    ///
    /// # Errors
    ///
    /// Fails in two cases. The method may need the least and the greatest value, and the matrix may
    /// have infinite values or NaN, or a range too wide for 32-bit floats (Kaldi aborts at most of
    /// these). Or the matrix has impossible sizes.
    pub fn compress<T: Float>(matrix: &Matrix<T>, method: CompressionMethod) -> Result<Self> {
        compress::compress(matrix, method)
    }

    /// The header, with which the matrix is written.
    #[must_use]
    pub fn header(&self) -> &CompressedHeader {
        &self.header
    }

    pub(super) fn scale(&mut self, factor: f32) {
        self.header.min *= factor;
        self.header.range *= factor;
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.header.rows as usize
    }

    /// Number of columns.
    #[must_use]
    pub fn cols(&self) -> usize {
        self.header.cols as usize
    }

    /// Decompresses.
    #[must_use]
    pub fn to_matrix<T: Float>(&self) -> Matrix<T> {
        let mut matrix = Matrix::default();
        self.decompress_into(&mut matrix);
        matrix
    }

    /// Decompresses into a matrix, whose memory is used again.
    pub fn decompress_into<T: Float>(&self, matrix: &mut Matrix<T>) {
        matrix.decompress(&self.header, &self.data);
    }

    /// Decompresses only the part that a range in a script file means.
    ///
    /// # Errors
    ///
    /// Fails if the range does not fit the matrix.
    pub fn part<T: Float>(&self, range: &Range) -> Result<Matrix<T>> {
        let (first_row, rows) = range.rows_of(self.header.rows)?;
        let (first_col, cols) = range.cols_of(self.header.cols)?;
        let (first_row, first_col) = (first_row as usize, first_col as usize);
        let (rows, cols) = (rows as usize, cols as usize);
        let mut values = vec![T::default(); rows * cols];
        let (row_range, col_range) = (first_row..first_row + rows, first_col..first_col + cols);
        self.header.decompress(&self.data, row_range, col_range, &mut values);
        Ok(Matrix { rows, cols, values })
    }
}

impl Holder for CompressedMatrix {
    const TYPE: &'static str = "compressed matrix";

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        let mut matrix = Self::default();
        matrix.read_into(reader, mode)?;
        Ok(matrix)
    }

    fn read_into(&mut self, reader: &mut ObjectReader, mode: Mode) -> Result<()> {
        let start = reader.position();
        let full: Matrix<f32> = if mode == Mode::Text {
            Matrix::read(reader, mode)?
        } else {
            match MatrixHeader::read(reader)? {
                MatrixHeader::Compressed(token) => {
                    self.header = CompressedHeader::read(token, reader)?;
                    return self.header.read_data(reader, &mut self.data);
                }
                MatrixHeader::Full { letter, rows, cols } => {
                    let mut values = Vec::new();
                    read_floats(reader, letter, rows * cols, &mut values)?;
                    Matrix { rows, cols, values }
                }
            }
        };
        *self = Self::compress(&full, CompressionMethod::Auto)
            .map_err(|error| error.in_file(reader.name()).at_byte(start))?;
        Ok(())
    }

    fn skip(reader: &mut ObjectReader, mode: Mode) -> Result<()> {
        Matrix::<f32>::skip(reader, mode)
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        if mode == Mode::Text {
            return self.to_matrix::<f32>().write(out, mode);
        }
        self.header.write(out);
        out.extend_from_slice(&self.data);
        Ok(())
    }

    /// Keeps the codes of the part, so its values are exactly the same.
    fn rows(&self) -> Option<usize> {
        Some(self.header.rows as usize)
    }

    fn extract(&self, range: &Range) -> Result<Self> {
        let (first_row, rows) = range.rows_of(self.header.rows)?;
        let (first_col, cols) = range.cols_of(self.header.cols)?;
        let header = CompressedHeader { rows, cols, ..self.header };
        let mut data = Vec::new();
        let mut keep = |lines: &[u8], line: usize, (from, size): (u32, u32), (at, len)| {
            let lines = lines.chunks_exact(line.max(1)).skip(from as usize).take(size as usize);
            lines.for_each(|line| data.extend_from_slice(&line[at..at + len]));
        };
        let (all_rows, all_cols) = (self.rows(), self.cols());
        if self.header.format == 1 {
            let (levels, bytes) = self.data.split_at(all_cols * LEVEL_BYTES);
            keep(levels, LEVEL_BYTES, (first_col, cols), (0, LEVEL_BYTES));
            keep(bytes, all_rows, (first_col, cols), (first_row as usize, rows as usize));
        } else {
            let width = if self.header.format == 2 { 2 } else { 1 };
            let part = (first_col as usize * width, cols as usize * width);
            keep(&self.data, all_cols * width, (first_row, rows), part);
        }
        Ok(Self { header, data })
    }
}

//! Compressed matrices: one or two bytes a value.
//!
//! ```text
//! binary   CM | CM2 | CM3, SP, min:f32 range:f32 rows:i32 cols:i32, and behind these
//! CM       cols x (p0 p25 p75 p100: u16), then cols x rows bytes, column after column
//! CM2      rows x cols u16, row after row          CM3      rows x cols u8, row after row
//! text     as a matrix that is not compressed
//! ```
//!
//! Values come out, and bytes go in, as Kaldi's, bit for bit: every step is rounded to 32 bits where
//! Kaldi's is.

mod compress;
mod decompress;

use seqfeed_core::{Error, Problem, Result};

pub use self::compress::CompressionMethod;
use crate::OBJECT;
use crate::holder::{Holder, Mode};
use crate::object_reader::ObjectReader;
use crate::objects::float::Float;
use crate::objects::matrix::{Matrix, MatrixHeader, read_full};
use crate::range::Range;
use crate::source::header::{data_len, sizes};

/// The header of a compressed matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompressedHeader {
    /// 1 for `CM`, 2 for `CM2`, 3 for `CM3`.
    pub format: u8,
    /// The smallest value.
    pub min: f32,
    /// The largest value less the smallest.
    pub range: f32,
    /// Number of rows.
    pub rows: u32,
    /// Number of columns.
    pub cols: u32,
}

impl CompressedHeader {
    pub(crate) fn parse(token: &[u8], bytes: &[u8]) -> Result<Self> {
        let Some(bytes) = bytes.get(..16) else {
            let missing = Some((16 - bytes.len()) as u64);
            let problem = Problem::UnexpectedEnd { inside: "a header", missing };
            return Err(Error::format(OBJECT, problem));
        };
        let word = |i: usize| [bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]];
        let (rows, mut cols) = (i32::from_le_bytes(word(8)), i32::from_le_bytes(word(12)));
        let mut rows = rows;
        if cols == 0 {
            // Kaldi takes no columns for an empty matrix, whatever the rows.
            rows = 0;
            cols = 0;
        }
        let (rows, cols) = sizes(rows, cols)?;
        let format = match token {
            b"CM" => 1,
            b"CM2" => 2,
            _ => 3,
        };
        let (min, range) = (f32::from_le_bytes(word(0)), f32::from_le_bytes(word(4)));
        Ok(Self { format, min, range, rows, cols })
    }

    /// Bytes of data behind the header.
    pub(crate) fn data_len(&self) -> Result<u64> {
        let codes = data_len(self.rows, self.cols, if self.format == 2 { 2 } else { 1 })?;
        Ok(codes + if self.format == 1 { u64::from(self.cols) * 8 } else { 0 })
    }
}

/// A matrix compressed to one or two bytes a value: Kaldi's `CompressedMatrix`.
///
/// ```
/// use seqfeed_kaldi::{CompressedMatrix, CompressionMethod, Matrix};
///
/// let matrix = Matrix { rows: 2, cols: 2, values: vec![0.0f32, 0.5, 1.0, -1.0] };
/// let compressed = CompressedMatrix::compress(&matrix, CompressionMethod::TwoByteAuto)?;
/// let values = compressed.to_matrix::<f32>().values;
/// assert!(values.iter().zip(&matrix.values).all(|(a, b)| (a - b).abs() < 1e-4));
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CompressedMatrix {
    header: CompressedHeader,
    /// What stands behind the header in the file.
    data: Vec<u8>,
}

impl Default for CompressedMatrix {
    fn default() -> Self {
        let header = CompressedHeader { format: 1, min: 0.0, range: 0.0, rows: 0, cols: 0 };
        Self { header, data: Vec::new() }
    }
}

impl CompressedMatrix {
    /// Kind, range of values, rows and columns.
    #[must_use]
    pub fn header(&self) -> &CompressedHeader {
        &self.header
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

    /// The values.
    #[must_use]
    pub fn to_matrix<T: Float>(&self) -> Matrix<T> {
        let mut matrix = Matrix::default();
        self.decompress_into(&mut matrix);
        matrix
    }

    /// Decompresses in the place of another matrix, whose memory is used again.
    pub fn decompress_into<T: Float>(&self, matrix: &mut Matrix<T>) {
        let (rows, cols) = (self.rows(), self.cols());
        (matrix.rows, matrix.cols) = (rows, cols);
        matrix.values.truncate(rows * cols);
        matrix.values.resize(rows * cols, T::default());
        self.header.decompress(&self.data, 0..rows, 0..cols, &mut matrix.values);
    }

    /// Decompresses a range of rows and columns.
    ///
    /// # Errors
    ///
    /// Fails if the range does not fit.
    pub fn extract_matrix<T: Float>(&self, range: &Range) -> Result<Matrix<T>> {
        let (first_row, rows) = range.rows_of(self.header.rows)?;
        let (first_col, cols) = range.cols_of(self.header.cols)?;
        let span = |first: u32, count: u32| first as usize..(first + count) as usize;
        let (rows, cols) = (span(first_row, rows), span(first_col, cols));
        let mut values = vec![T::default(); rows.len() * cols.len()];
        self.header.decompress(&self.data, rows.clone(), cols.clone(), &mut values);
        Ok(Matrix { rows: rows.len(), cols: cols.len(), values })
    }

    /// Reads what stands behind the token (`CM `, `CM2`, `CM3`).
    pub(crate) fn read_behind(token: [u8; 3], reader: &mut ObjectReader) -> Result<Self> {
        let header = read_header(token, reader)?;
        let data_len = header.data_len()?;
        let mut data = Vec::new();
        reader.check_there(data_len, "data")?;
        let data_len = usize::try_from(data_len).unwrap_or(usize::MAX);
        reader.read_values(data_len, &mut data, "data")?;
        Ok(Self { header, data })
    }

    /// Reads over what stands behind the token.
    pub(crate) fn skip_behind(token: [u8; 3], reader: &mut ObjectReader) -> Result<()> {
        let data_len = read_header(token, reader)?.data_len()?;
        reader.skip_bytes(data_len, "data")
    }
}

fn read_header(token: [u8; 3], reader: &mut ObjectReader) -> Result<CompressedHeader> {
    let start = reader.position();
    let bytes: [u8; 16] = reader.read_array("a header")?;
    let header = CompressedHeader::parse(token.trim_ascii_end(), &bytes)
        .map_err(|error| error.in_file(reader.name()).at_byte(start))?;
    // Kaldi writes four bytes too many for an empty matrix. No key begins with zeros.
    if header.cols == 0 && reader.ensure(4)?.starts_with(&[0; 4]) {
        reader.consume(4);
    }
    Ok(header)
}

impl Holder for CompressedMatrix {
    const TYPE: &'static str = "compressed matrix";

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        // What is not compressed is, as in Kaldi.
        let compress = |matrix| Self::compress(&matrix, CompressionMethod::Auto);
        if mode == Mode::Text {
            return compress(Matrix::<f32>::read(reader, mode)?);
        }
        match MatrixHeader::read(reader)? {
            MatrixHeader::Compressed(token) => Self::read_behind(token, reader),
            MatrixHeader::Full { letter, rows, cols } => {
                compress(read_full(reader, letter, rows, cols)?)
            }
        }
    }

    fn skip(reader: &mut ObjectReader, mode: Mode) -> Result<()> {
        Matrix::<f32>::skip(reader, mode)
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        if mode == Mode::Text {
            return self.to_matrix::<f32>().write(out, mode);
        }
        let CompressedHeader { format, min, range, rows, cols } = self.header;
        out.extend_from_slice(match format {
            1 => b"CM ",
            2 => b"CM2 ",
            _ => b"CM3 ",
        });
        out.extend_from_slice(&min.to_le_bytes());
        out.extend_from_slice(&range.to_le_bytes());
        out.extend_from_slice(&rows.to_le_bytes());
        out.extend_from_slice(&cols.to_le_bytes());
        out.extend_from_slice(&self.data);
        Ok(())
    }

    /// The rows and columns, compressed again; see [`extract_matrix`](Self::extract_matrix) for what
    /// keeps the values.
    fn extract(&self, range: &Range) -> Result<Self> {
        Self::compress(&self.extract_matrix::<f32>(range)?, CompressionMethod::Auto)
    }
}

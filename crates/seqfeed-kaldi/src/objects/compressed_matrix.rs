//! Compressed matrices: one or two bytes a value.
//!
//! ```text
//! header   min:f32 range:f32 rows:i32 cols:i32
//! CM       cols x (p0 p25 p75 p100: u16), then cols x rows bytes, column after column
//! CM2      rows x cols u16, row after row          CM3      rows x cols u8, row after row
//! ```
//!
//! Values come out bit for bit as Kaldi's: every step is rounded to 32 bits where Kaldi's is.

use std::ops::Range;

use seqfeed_core::{Error, Problem, Result};

use crate::OBJECT;
use crate::object_reader::ObjectReader;
use crate::objects::float::Float;
use crate::objects::matrix::Matrix;
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

    /// Decompresses a range of rows and columns of `data` (all bytes behind the header), giving
    /// each value's place in the output (row after row) and the value.
    ///
    /// # Panics
    ///
    /// If the ranges don't lie in the matrix or `data` is too short.
    pub(crate) fn decompress(
        &self,
        data: &[u8],
        rows: Range<usize>,
        cols: Range<usize>,
        mut put: impl FnMut(usize, f32),
    ) {
        let width = cols.len();
        let all_cols = self.cols as usize;
        if self.format == 1 {
            let codes = &data[8 * all_cols..];
            for (at, col) in cols.enumerate() {
                let values = self.column_values(&data[8 * col..8 * col + 8]);
                let column = &codes[col * self.rows as usize..];
                for (row, &code) in column[rows.clone()].iter().enumerate() {
                    put(row * width + at, values[code as usize]);
                }
            }
            return;
        }
        // The constants are doubles in Kaldi; their product with the range is rounded once.
        let range = f64::from(self.range);
        let steps = if self.format == 2 { 65535.0 } else { 255.0 };
        let increment = (range * (1.0 / steps)) as f32;
        let mut at = 0;
        for row in rows {
            let start = row * all_cols;
            for col in start + cols.start..start + cols.end {
                let code = match self.format {
                    2 => f32::from(u16::from_le_bytes([data[2 * col], data[2 * col + 1]])),
                    _ => f32::from(data[col]),
                };
                put(at, self.min + code * increment);
                at += 1;
            }
        }
    }

    /// The values of the 256 codes of a column, from its four percentiles.
    fn column_values(&self, header: &[u8]) -> [f32; 256] {
        let percentile = |i: usize| {
            let code = u16::from_le_bytes([header[2 * i], header[2 * i + 1]]);
            self.min + (self.range * 1.525_902_2e-5_f32) * f32::from(code)
        };
        let [p0, p25, p75, p100] = [0, 1, 2, 3].map(percentile);
        let between = |low: f32, high: f32, steps: f32, scale: f64| {
            (f64::from(low) + f64::from((high - low) * steps) * scale) as f32
        };
        let mut values = [0.0; 256];
        for (code, value) in values.iter_mut().enumerate() {
            *value = match code {
                0..=64 => between(p0, p25, code as f32, 1.0 / 64.0),
                65..=192 => between(p25, p75, (code - 64) as f32, 1.0 / 128.0),
                _ => between(p75, p100, (code - 192) as f32, 1.0 / 63.0),
            };
        }
        values
    }
}

/// A matrix compressed to one or two bytes a value: Kaldi's `CompressedMatrix`.
#[derive(Clone, Debug, PartialEq)]
pub struct CompressedMatrix {
    header: CompressedHeader,
    /// What stands behind the header in the file.
    data: Vec<u8>,
}

impl CompressedMatrix {
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

    /// Decompresses into a matrix, whose memory is used again.
    pub(crate) fn decompress_into<T: Float>(&self, matrix: &mut Matrix<T>) {
        let (rows, cols) = (self.header.rows as usize, self.header.cols as usize);
        (matrix.rows, matrix.cols) = (rows, cols);
        matrix.values.clear();
        matrix.values.resize(rows * cols, T::default());
        let values = &mut matrix.values;
        self.header.decompress(&self.data, 0..rows, 0..cols, |at, value| {
            values[at] = T::from_f64(f64::from(value));
        });
    }
}

fn read_header(token: [u8; 3], reader: &mut ObjectReader) -> Result<CompressedHeader> {
    let start = reader.position();
    let bytes: [u8; 16] = reader.read_array("a header")?;
    CompressedHeader::parse(token.trim_ascii_end(), &bytes)
        .map_err(|error| error.in_file(reader.name()).at_byte(start))
}

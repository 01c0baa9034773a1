//! The shape of a matrix, without its values.

use seqfeed_core::{Error, Problem, Result};

use crate::OBJECT;
use crate::holder::{Holder, Mode};
use crate::object_reader::ObjectReader;
use crate::objects::compressed_header::CompressedHeader;
use crate::objects::matrix::{Matrix, MatrixHeader, width};
use crate::range::Range;

/// Rows and columns of a matrix, from any table of matrices. The values are skipped.
///
/// In a script file of binary matrices, this takes one small read for each matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatrixShape {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
}

impl Holder for MatrixShape {
    const TYPE: &'static str = "shape of a matrix";

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        if mode == Mode::Text {
            let Matrix { rows, cols, .. } = Matrix::<f32>::read(reader, mode)?;
            return Ok(Self { rows, cols });
        }
        match MatrixHeader::read(reader)? {
            MatrixHeader::Full { letter, rows, cols } => {
                reader.skip_bytes((rows * cols) as u64 * width(letter), "a matrix")?;
                Ok(Self { rows, cols })
            }
            MatrixHeader::Compressed(token) => {
                let header = CompressedHeader::read(token, reader)?;
                reader.skip_bytes(header.data_len()?, "data")?;
                Ok(Self { rows: header.rows as usize, cols: header.cols as usize })
            }
        }
    }

    fn skip(reader: &mut ObjectReader, mode: Mode) -> Result<()> {
        Matrix::<f32>::skip(reader, mode)
    }

    /// Always fails: a shape alone is not an object.
    fn write(&self, _: &mut Vec<u8>, _: Mode) -> Result<()> {
        let what = "a matrix without its values".into();
        Err(Error::format(OBJECT, Problem::Unsupported(what)))
    }

    fn rows(&self) -> Option<usize> {
        Some(self.rows)
    }

    fn extract(&self, range: &Range) -> Result<Self> {
        let (_, rows) = range.rows_of(u32::try_from(self.rows).unwrap_or(u32::MAX))?;
        let (_, cols) = range.cols_of(u32::try_from(self.cols).unwrap_or(u32::MAX))?;
        Ok(Self { rows: rows as usize, cols: cols as usize })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CompressedMatrix, CompressionMethod, write_object};

    #[test]
    fn shapes_are_those_of_the_matrices() {
        for (rows, cols) in [(0, 0), (1, 1), (9, 2), (3, 70), (12, 5)] {
            let matrix = Matrix { rows, cols, values: vec![1.5f32; rows * cols] };
            let mut objects = vec![Vec::new(); 2];
            write_object(&matrix, &mut objects[0], Mode::Binary).unwrap();
            write_object(&matrix, &mut objects[1], Mode::Text).unwrap();
            for method in CompressionMethod::ALL {
                let compressed = CompressedMatrix::compress(&matrix, method).unwrap();
                objects.push(Vec::new());
                write_object(&compressed, objects.last_mut().unwrap(), Mode::Binary).unwrap();
            }
            for object in objects {
                let mut reader = ObjectReader::from_bytes("shapes", object);
                assert_eq!(reader.read::<MatrixShape>().unwrap(), MatrixShape { rows, cols });
                assert_eq!(reader.peek().unwrap(), None);
            }
        }
        let range = Range::parse("2:4,1:1").unwrap();
        let part = MatrixShape { rows: 9, cols: 2 }.extract(&range).unwrap();
        assert_eq!(part, MatrixShape { rows: 3, cols: 1 });
    }

    #[test]
    fn one_after_another_in_an_archive() {
        let matrix = Matrix { rows: 9, cols: 2, values: vec![1.5f32; 18] };
        let mut bytes = Vec::new();
        write_object(&matrix, &mut bytes, Mode::Binary).unwrap();
        write_object(&matrix, &mut bytes, Mode::Text).unwrap();
        for method in CompressionMethod::ALL {
            let compressed = CompressedMatrix::compress(&matrix, method).unwrap();
            write_object(&compressed, &mut bytes, Mode::Binary).unwrap();
        }
        let mut reader = ObjectReader::from_bytes("shapes", bytes);
        for _ in 0..2 + CompressionMethod::ALL.len() {
            let shape: MatrixShape = reader.read().unwrap();
            assert_eq!(shape, MatrixShape { rows: 9, cols: 2 });
        }
        assert_eq!(reader.peek().unwrap(), None);
    }
}

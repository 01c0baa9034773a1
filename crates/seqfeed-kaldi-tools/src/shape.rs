//! The size of a matrix, without its values.

use seqfeed_core::{Error, Problem, Result};
use seqfeed_kaldi::{Holder, Matrix, Mode, ObjectReader, Range};

/// Rows and columns of a matrix of any kind that Kaldi reads as one. Values of binary matrices are read over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
}

impl Holder for Shape {
    const TYPE: &'static str = "float matrix";

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        if mode == Mode::Text {
            let Matrix { rows, cols, .. } = Matrix::<f32>::read(reader, mode)?;
            return Ok(Self { rows, cols });
        }
        // All headers are shorter; where a file ends before, going over the object fails.
        let mut header = [0; 20];
        let there = reader.ensure(header.len())?;
        let count = there.len().min(header.len());
        header[..count].copy_from_slice(&there[..count]);
        Matrix::<f32>::skip(reader, mode)?;
        let number = |at: usize| {
            let bytes = [header[at], header[at + 1], header[at + 2], header[at + 3]];
            // Going over the object has made sure that it is not negative.
            usize::try_from(i32::from_le_bytes(bytes)).unwrap_or_default()
        };
        let (rows, cols) = match &header {
            [b'C', b'M', b' ', ..] => (number(11), number(15)),
            [b'C', ..] => (number(12), number(16)),
            _ => (number(4), number(9)),
        };
        // A compressed matrix without columns is an empty one, whatever its number of rows.
        Ok(Self { rows: if cols == 0 { 0 } else { rows }, cols })
    }

    /// Always fails: a size alone is no object.
    fn write(&self, _: &mut Vec<u8>, _: Mode) -> Result<()> {
        let what = "a matrix without its values".into();
        Err(Error::format("Kaldi object", Problem::Unsupported(what)))
    }

    fn extract(&self, range: &Range) -> Result<Self> {
        let size = |size: usize| u32::try_from(size).unwrap_or(u32::MAX);
        let (_, rows) = range.rows_of(size(self.rows))?;
        let (_, cols) = range.cols_of(size(self.cols))?;
        Ok(Self { rows: rows as usize, cols: cols as usize })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use seqfeed_kaldi::{CompressedMatrix, CompressionMethod, write_object};

    use super::*;

    #[test]
    fn is_that_of_the_matrix() {
        for (rows, cols) in [(0, 0), (1, 1), (3, 70), (12, 5)] {
            let matrix = Matrix { rows, cols, values: vec![1.5f32; rows * cols] };
            let mut objects = vec![Vec::new(); 2];
            write_object(&matrix, &mut objects[0], Mode::Binary).unwrap();
            write_object(&matrix, &mut objects[1], Mode::Text).unwrap();
            for method in CompressionMethod::ALL {
                let mut bytes = Vec::new();
                let matrix = CompressedMatrix::compress(&matrix, method).unwrap();
                write_object(&matrix, &mut bytes, Mode::Binary).unwrap();
                objects.push(bytes);
            }
            for object in objects {
                let mut reader = ObjectReader::from_bytes("memory", object);
                assert_eq!(reader.read::<Shape>().unwrap(), Shape { rows, cols });
                assert_eq!(reader.peek().unwrap(), None);
            }
        }
    }
}

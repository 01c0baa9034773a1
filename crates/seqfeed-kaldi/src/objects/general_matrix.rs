//! Matrices that may be full, compressed or sparse.

use seqfeed_core::Result;

use crate::holder::{Holder, Mode};
use crate::object_reader::ObjectReader;
use crate::objects::compressed_matrix::CompressedMatrix;
use crate::objects::matrix::Matrix;
use crate::objects::sparse::SparseMatrix;
use crate::range::Range;

/// A matrix in any of three forms: Kaldi's `GeneralMatrix`. A compressed matrix stays compressed.
///
/// An empty matrix of any form is written as a full one.
#[derive(Clone, Debug, PartialEq)]
pub enum GeneralMatrix {
    /// All values.
    Full(Matrix<f32>),
    /// One or two bytes a value.
    Compressed(CompressedMatrix),
    /// Only the values other than zero.
    Sparse(SparseMatrix<f32>),
}

impl Default for GeneralMatrix {
    fn default() -> Self {
        Self::Full(Matrix::default())
    }
}

impl GeneralMatrix {
    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        match self {
            Self::Full(matrix) => matrix.rows,
            Self::Compressed(matrix) => matrix.rows(),
            Self::Sparse(matrix) => matrix.rows.len(),
        }
    }

    /// Number of columns.
    #[must_use]
    pub fn cols(&self) -> usize {
        match self {
            Self::Full(matrix) => matrix.cols,
            Self::Compressed(matrix) => matrix.cols(),
            Self::Sparse(matrix) => matrix.cols(),
        }
    }

    /// All values.
    ///
    /// # Errors
    ///
    /// Fails if a sparse matrix has more values than memory can hold.
    pub fn to_matrix(&self) -> Result<Matrix<f32>> {
        match self {
            Self::Full(matrix) => Ok(matrix.clone()),
            Self::Compressed(matrix) => Ok(matrix.to_matrix()),
            Self::Sparse(matrix) => matrix.to_matrix(),
        }
    }

    /// Multiplies all values by a factor. The form stays: in a compressed matrix only the smallest
    /// value and the range change, as in Kaldi.
    pub fn scale(&mut self, factor: f32) {
        match self {
            Self::Full(matrix) => matrix.values.iter_mut().for_each(|value| *value *= factor),
            Self::Compressed(matrix) => matrix.scale(factor),
            Self::Sparse(matrix) => {
                let pairs = matrix.rows.iter_mut().flat_map(|row| &mut row.pairs);
                pairs.for_each(|(_, value)| *value *= factor);
            }
        }
    }
}

impl Holder for GeneralMatrix {
    const TYPE: &'static str = "general matrix";

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        if mode == Mode::Text {
            reader.skip_space()?;
            return match reader.peek()? {
                Some(b'r') => SparseMatrix::read(reader, mode).map(Self::Sparse),
                _ => Matrix::read(reader, mode).map(Self::Full),
            };
        }
        match reader.peek()? {
            Some(b'C') => CompressedMatrix::read(reader, mode).map(Self::Compressed),
            Some(b'S') => SparseMatrix::read(reader, mode).map(Self::Sparse),
            _ => Matrix::read(reader, mode).map(Self::Full),
        }
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        match self {
            _ if self.rows() == 0 => Matrix::<f32>::default().write(out, mode),
            Self::Full(matrix) => matrix.write(out, mode),
            Self::Compressed(matrix) => matrix.write(out, mode),
            Self::Sparse(matrix) => matrix.write(out, mode),
        }
    }

    /// The rows and columns as a full matrix, as in Kaldi.
    fn rows(&self) -> Option<usize> {
        match self {
            Self::Full(matrix) => Holder::rows(matrix),
            Self::Compressed(matrix) => Holder::rows(matrix),
            Self::Sparse(matrix) => Holder::rows(matrix),
        }
    }

    fn extract(&self, range: &Range) -> Result<Self> {
        Ok(Self::Full(match self {
            Self::Full(matrix) => matrix.extract(range)?,
            Self::Compressed(matrix) => matrix.part(range)?,
            Self::Sparse(matrix) => matrix.extract(range)?.to_matrix()?,
        }))
    }
}

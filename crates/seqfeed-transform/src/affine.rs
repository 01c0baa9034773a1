//! `transform`: linear and affine transforms of frames, as Kaldi's `transform-feats`.

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, Axis};
use seqfeed_core::{Block, Element, Error, Given, Key, Output, Result, Stream, Transform, numbers};

use crate::Float;
use crate::dense::{check_dense, is_dense};

/// A linear or affine transform of frames: a matrix with a row for each dimension that comes out.
///
/// It is linear if it has as many columns as frames have dimensions, and affine (with the offset in
/// the last column) if it has one more.
#[derive(Clone, Debug, PartialEq)]
pub struct Affine<T> {
    rows: usize,
    cols: usize,
    values: Vec<T>,
}

impl<T: Float> Affine<T> {
    /// A transform with such a matrix, given row by row.
    ///
    /// # Errors
    ///
    /// Fails if there are not `rows * cols` values, or none.
    pub fn new(rows: usize, cols: usize, values: Vec<T>) -> Result<Self> {
        if values.is_empty() || rows.checked_mul(cols) != Some(values.len()) {
            return Err(Error::corpus(format!("a matrix of {rows}x{cols} is no transform")));
        }
        Ok(Self { rows, cols, values })
    }

    /// The number of dimensions that come out.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.rows
    }

    /// The bytes of the matrix.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.values)
    }

    /// See [`apply`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn apply(&self, frames: &[T], dim: usize, out: &mut [T]) -> Result<()> {
        apply((self.rows, self.cols, &self.values), frames, dim, out)
    }
}

/// Applies a transform (rows, columns, values) to frames of `dim` values each. `out` gets a frame
/// of `rows` values for each frame.
///
/// A library computes the product (in Kaldi, BLAS); the offset is added last. Such libraries differ
/// in the last bits: in the order of sums, and in whether the processor multiplies and adds in one
/// step.
///
/// # Errors
///
/// Fails if the transform has another number of columns.
pub fn apply<T: Float>(
    (rows, cols, values): (usize, usize, &[T]),
    frames: &[T],
    dim: usize,
    out: &mut [T],
) -> Result<()> {
    let affine = cols == dim + 1;
    if !affine && cols != dim {
        return Err(Error::corpus(format!(
            "a transform of {rows}x{cols} does not fit features of dimension {dim}"
        )));
    }
    let count = frames.len() / dim.max(1);
    let shape = |error: ndarray::ShapeError| Error::corpus(format!("a matrix: {error}"));
    let frames = ArrayView2::from_shape((count, dim), frames).map_err(shape)?;
    let weights = ArrayView2::from_shape((rows, cols), values).map_err(shape)?;
    let (linear, _) = weights.split_at(Axis(1), dim);
    let mut products = ArrayViewMut2::from_shape((count, rows), &mut *out).map_err(shape)?;
    general_mat_mul(T::one(), &frames, &linear.t(), T::zero(), &mut products);
    if affine {
        let offsets: Vec<T> = values.iter().skip(dim).step_by(cols).copied().collect();
        for frame in out.chunks_exact_mut(rows.max(1)) {
            frame.iter_mut().zip(&offsets).for_each(|(value, offset)| *value += *offset);
        }
    }
    Ok(())
}

/// Where the matrix of a sequence comes from.
pub trait FindAffine: Send + Sync {
    /// The matrix for a sequence.
    ///
    /// # Errors
    ///
    /// Fails if there is none.
    fn find(&self, key: Key<'_>) -> Result<&Affine<f32>>;

    /// The bytes that are kept in memory.
    fn kept_bytes(&self) -> u64;
}

/// Multiplies the frames of dense streams by a matrix, as Kaldi's `transform-feats`.
pub struct MatrixProduct {
    dim: usize,
    matrices: Box<dyn FindAffine>,
}

impl MatrixProduct {
    /// A product with such matrices, which all have `dim` rows.
    #[must_use]
    pub fn new(dim: usize, matrices: Box<dyn FindAffine>) -> Self {
        Self { dim, matrices }
    }
}

impl Transform for MatrixProduct {
    fn name(&self) -> &str {
        "transform"
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        check_dense(streams, self.name())?;
        if let Some(wide) = streams.iter().find(|one| is_dense(one) && one.element == Element::F64)
        {
            let what = format!("transform transform: stream {} is of float64", wide.name);
            return Err(Error::usage(what).with_help("matrices are of float32: read it so, too"));
        }
        Ok(Output::change(streams, is_dense, |stream| Stream { dim: self.dim, ..stream }))
    }

    fn kept_bytes(&self) -> u64 {
        self.matrices.kept_bytes()
    }

    fn apply(&self, _output: usize, given: &Given<'_>, to: &mut Block) -> Result<()> {
        let (samples, dim, key) = (given.samples(0), given.stream(0).dim, given.key());
        let out = to.push_f32(samples.len());
        let found = self.matrices.find(key).and_then(|matrix| {
            if matrix.dim() != self.dim {
                let rows = matrix.dim();
                return Err(Error::corpus(format!(
                    "transform transform: its matrix has {rows} rows, others have {}",
                    self.dim
                )));
            }
            matrix.apply(&numbers(samples.bytes()), dim, out)
        });
        found.map_err(|error| error.of_key(key))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn linear_and_affine() {
        let (frames, mut out) = ([1.0, 2.0, 3.0, 4.0], [0.0f32; 2]);
        Affine::new(1, 2, vec![10.0, 1.0]).unwrap().apply(&frames, 2, &mut out).unwrap();
        assert_eq!(out, [12.0, 34.0]);
        Affine::new(1, 3, vec![10.0, 1.0, 0.5]).unwrap().apply(&frames, 2, &mut out).unwrap();
        assert_eq!(out, [12.5, 34.5]);
        assert!(Affine::new(1, 4, vec![0.0; 4]).unwrap().apply(&frames, 2, &mut out).is_err());
        assert!(Affine::<f32>::new(2, 2, vec![0.0; 3]).is_err());
    }
}

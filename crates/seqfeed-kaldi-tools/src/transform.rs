//! Linear and affine transforms of features.

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, Axis};
use seqfeed_core::{Error, Result};
use seqfeed_kaldi::Matrix;

/// Applies a transform to each frame. It is linear if it has as many columns as the features, and
/// affine (with the offset in the last column) if it has one more.
///
/// A library computes the product (in Kaldi, BLAS); the offset is added last. Such libraries differ
/// in the last bits: in the order of sums, and in whether the processor multiplies and adds in one
/// step.
///
/// # Errors
///
/// Fails if it has another number of columns.
pub fn apply(features: &Matrix<f32>, transform: &Matrix<f32>) -> Result<Matrix<f32>> {
    let mut out = Matrix::default();
    apply_into(features, transform, &mut out)?;
    Ok(out)
}

/// [`apply`] into an older matrix, to use its memory again.
///
/// # Errors
///
/// As [`apply`].
pub fn apply_into(
    features: &Matrix<f32>,
    transform: &Matrix<f32>,
    out: &mut Matrix<f32>,
) -> Result<()> {
    let dim = features.cols;
    let affine = transform.cols == dim + 1;
    if !affine && transform.cols != dim {
        return Err(Error::corpus(format!(
            "a transform of {}x{} does not fit features of dimension {dim}",
            transform.rows, transform.cols
        )));
    }
    let Matrix { rows, .. } = *features;
    out.rows = rows;
    out.cols = if rows == 0 { 0 } else { transform.rows };
    // Old values do not matter.
    out.values.resize(rows * transform.rows, 0.0);
    let shape = |error: ndarray::ShapeError| Error::corpus(format!("a matrix: {error}"));
    let frames = ArrayView2::from_shape((rows, dim), &features.values).map_err(shape)?;
    let weights = ArrayView2::from_shape((transform.rows, transform.cols), &transform.values);
    let (linear, _) = weights.map_err(shape)?.split_at(Axis(1), dim);
    let products = ArrayViewMut2::from_shape((rows, transform.rows), &mut out.values);
    general_mat_mul(1.0, &frames, &linear.t(), 0.0, &mut products.map_err(shape)?);
    if affine {
        let offsets: Vec<f32> = (0..transform.rows).map(|row| transform.row(row)[dim]).collect();
        for frame in out.values.chunks_exact_mut(offsets.len().max(1)) {
            frame.iter_mut().zip(&offsets).for_each(|(value, offset)| *value += offset);
        }
    }
    Ok(())
}

/// Half the logarithm of the determinant of T T', where T is the linear part of a transform of
/// features with dimension `dim`. For a square transform this is the logarithm of its determinant.
/// It is -inf if T does not have full rank.
///
/// It is computed with 64 bits. Kaldi uses 32 throughout, so it may differ from the fifth digit on.
#[must_use]
pub fn log_determinant(transform: &Matrix<f32>, dim: usize) -> f32 {
    let size = transform.rows;
    let mut product = vec![0.0f64; size * size];
    for i in 0..size {
        for j in 0..size {
            let (a, b) = (&transform.row(i)[..dim], &transform.row(j)[..dim]);
            product[i * size + j] =
                a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
        }
    }
    // Cholesky decomposition: the product is symmetric and, for full rank, positive definite.
    let mut log = 0.0f64;
    for i in 0..size {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| product[i * size + k] * product[j * size + k]).sum();
            let rest = product[i * size + j] - sum;
            if i > j {
                product[i * size + j] = rest / product[j * size + j];
            } else if rest > 0.0 {
                product[i * size + i] = rest.sqrt();
                log += rest.ln();
            } else {
                return f32::NEG_INFINITY;
            }
        }
    }
    (0.5 * log) as f32
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn linear_and_affine() {
        let features = Matrix { rows: 2, cols: 2, values: vec![1.0, 2.0, 3.0, 4.0] };
        let linear = Matrix { rows: 1, cols: 2, values: vec![10.0, 1.0] };
        assert_eq!(apply(&features, &linear).unwrap().values, [12.0, 34.0]);
        let affine = Matrix { rows: 1, cols: 3, values: vec![10.0, 1.0, 0.5] };
        assert_eq!(apply(&features, &affine).unwrap().values, [12.5, 34.5]);
        let wrong = Matrix { rows: 1, cols: 4, values: vec![0.0; 4] };
        assert!(apply(&features, &wrong).is_err());
    }

    #[test]
    fn determinants() {
        let square = Matrix { rows: 2, cols: 2, values: vec![1.0f32, 2.0, 3.0, 4.0] };
        assert!((log_determinant(&square, 2) - 2.0f32.ln()).abs() < 1e-6);
        let singular = Matrix { rows: 2, cols: 2, values: vec![1.0f32, 2.0, 2.0, 4.0] };
        assert_eq!(log_determinant(&singular, 2), f32::NEG_INFINITY);
    }
}

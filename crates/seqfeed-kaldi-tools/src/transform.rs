//! Linear and affine transforms of features.

use seqfeed_core::{Error, Result};
use seqfeed_kaldi::Matrix;

/// Applies a transform to each frame: linear if it has as many columns as the features, affine (with the
/// offset in the last column) if it has one more.
///
/// Products are summed up in the order of columns by fused multiplications and additions of 32 bits, the offset
/// comes last: what the kernels of BLAS libraries do for matrices that are not wide. For wide ones they sum up
/// parts, and may give other last bits.
///
/// # Errors
///
/// Fails if it has another number of columns.
pub fn apply(features: &Matrix<f32>, transform: &Matrix<f32>) -> Result<Matrix<f32>> {
    let dim = features.cols;
    let affine = transform.cols == dim + 1;
    if !affine && transform.cols != dim {
        return Err(Error::corpus(format!(
            "a transform of {}x{} does not fit features of dimension {dim}",
            transform.rows, transform.cols
        )));
    }
    let mut values = Vec::with_capacity(features.rows * transform.rows);
    for row in 0..features.rows {
        let frame = features.row(row);
        values.extend((0..transform.rows).map(|out| {
            let weights = transform.row(out);
            let sum = frame.iter().zip(weights).fold(0.0f32, |sum, (a, b)| a.mul_add(*b, sum));
            if affine { sum + weights[dim] } else { sum }
        }));
    }
    let cols = if features.rows == 0 { 0 } else { transform.rows };
    Ok(Matrix { rows: features.rows, cols, values })
}

/// Half the logarithm of the determinant of T T', where T is the linear part of a transform of features of
/// dimension `dim`: for a square transform the logarithm of its determinant. -inf if T has not full rank.
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
    // Cholesky: the product is symmetric and, for full rank, positive definite.
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

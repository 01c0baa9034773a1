//! The determinant of a transform.

use seqfeed_kaldi::Matrix;

/// Half the logarithm of the determinant of T T', where T is the linear part of a transform of
/// features with dimension `dim`. For a square transform this is the logarithm of its determinant.
/// It is -inf if T does not have full rank.
///
/// It is computed with 64 bits. Kaldi uses 32 throughout, so it may differ from the fifth digit on.
#[must_use]
pub(crate) fn log_determinant(transform: &Matrix<f32>, dim: usize) -> f32 {
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
mod tests {
    use super::*;

    #[test]
    fn determinants() {
        let square = Matrix { rows: 2, cols: 2, values: vec![1.0f32, 2.0, 3.0, 4.0] };
        assert!((log_determinant(&square, 2) - 2.0f32.ln()).abs() < 1e-6);
        let singular = Matrix { rows: 2, cols: 2, values: vec![1.0f32, 2.0, 2.0, 4.0] };
        assert_eq!(log_determinant(&singular, 2), f32::NEG_INFINITY);
    }
}

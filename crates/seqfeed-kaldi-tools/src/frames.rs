//! Rearranges the frames of a matrix: shift, rows, columns.

use seqfeed_kaldi::Matrix;
use seqfeed_transform::select;

/// Moves frames to later positions (with a negative `shift`, to earlier ones). The first or last
/// frame fills the free positions.
#[must_use]
pub(crate) fn shift(features: &Matrix<f32>, shift: i64) -> Matrix<f32> {
    let Matrix { rows, cols, .. } = *features;
    let mut values = Vec::with_capacity(rows * cols);
    for row in 0..rows as i64 {
        let from = row.saturating_sub(shift).clamp(0, rows as i64 - 1);
        values.extend_from_slice(features.row(from as usize));
    }
    Matrix { rows, cols, values }
}

/// Rows of a matrix, one after another.
///
/// # Panics
///
/// If one of them does not exist.
#[must_use]
pub(crate) fn rows(features: &Matrix<f32>, wanted: impl IntoIterator<Item = usize>) -> Matrix<f32> {
    let mut values = Vec::new();
    let mut count = 0;
    for row in wanted {
        values.extend_from_slice(features.row(row));
        count += 1;
    }
    Matrix { rows: count, cols: if count == 0 { 0 } else { features.cols }, values }
}

/// Columns of a matrix, in this order. A column may occur more than once.
///
/// # Panics
///
/// If one of them does not exist.
#[must_use]
pub(crate) fn columns(features: &Matrix<f32>, wanted: &[usize]) -> Matrix<f32> {
    let mut values = Vec::with_capacity(features.rows * wanted.len());
    select::columns(&features.values, features.cols, 1, &select::runs(wanted), |some| {
        values.extend_from_slice(some);
    });
    let cols = if features.rows == 0 { 0 } else { wanted.len() };
    Matrix { rows: features.rows, cols, values }
}

/// Matrices side by side, with the number of rows of the shortest one.
#[must_use]
pub(crate) fn paste(parts: &[&Matrix<f32>]) -> Matrix<f32> {
    let rows = parts.iter().map(|part| part.rows).min().unwrap_or_default();
    let cols = parts.iter().map(|part| part.cols).sum();
    let mut values = Vec::with_capacity(rows * cols);
    for row in 0..rows {
        parts.iter().for_each(|part| values.extend_from_slice(part.row(row)));
    }
    Matrix { rows, cols: if rows == 0 { 0 } else { cols }, values }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: &[f32]) -> Matrix<f32> {
        Matrix { rows: values.len(), cols: 1, values: values.to_vec() }
    }

    #[test]
    fn ends_are_repeated() {
        let features = column(&[1.0, 2.0, 3.0]);
        assert_eq!(shift(&features, 1).values, [1., 1., 2.]);
        assert_eq!(shift(&features, -2).values, [3., 3., 3.]);
        assert_eq!(shift(&features, i64::MIN).values, [3., 3., 3.]);
        let empty = Matrix::default();
        assert_eq!(shift(&empty, 1), empty);
    }

    #[test]
    fn side_by_side() {
        let (a, b) = (column(&[1.0, 2.0]), column(&[3.0, 4.0, 5.0]));
        assert_eq!(paste(&[&a, &b, &a]).values, [1., 3., 1., 2., 4., 2.]);
        assert_eq!(columns(&paste(&[&a, &b]), &[1, 0, 1]).values, [3., 1., 3., 4., 2., 4.]);
        assert_eq!(rows(&b, [2, 0]).values, [5., 3.]);
    }
}

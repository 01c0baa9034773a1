//! Rearranges the frames of a matrix: context, shift, subsampling, columns.

use seqfeed_kaldi::Matrix;

/// Each frame with `left` frames before and `right` frames after it, in one row. The first and last
/// frame stand for frames beyond the ends: Kaldi's `SpliceFrames`.
#[must_use]
pub fn splice(features: &Matrix<f32>, left: usize, right: usize) -> Matrix<f32> {
    let mut spliced = Matrix::default();
    splice_into(features, left, right, &mut spliced);
    spliced
}

/// [`splice`] into an older matrix, to use its memory again.
pub fn splice_into(features: &Matrix<f32>, left: usize, right: usize, out: &mut Matrix<f32>) {
    let Matrix { rows, cols, .. } = *features;
    let width = left + 1 + right;
    (out.rows, out.cols) = (rows, cols * width);
    out.values.clear();
    out.values.reserve_exact(rows * cols * width);
    for row in 0..rows {
        // Consecutive frames lie side by side.
        let first = row.saturating_sub(left);
        let behind = (row + right + 1).min(rows);
        for _ in row..left {
            out.values.extend_from_slice(features.row(0));
        }
        out.values.extend_from_slice(&features.values[first * cols..behind * cols]);
        for _ in rows..row + right + 1 {
            out.values.extend_from_slice(features.row(rows - 1));
        }
    }
}

/// Moves frames to later positions (with a negative `shift`, to earlier ones). The first or last
/// frame fills the free positions.
#[must_use]
pub fn shift(features: &Matrix<f32>, shift: i64) -> Matrix<f32> {
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
pub fn rows(features: &Matrix<f32>, wanted: impl IntoIterator<Item = usize>) -> Matrix<f32> {
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
pub fn columns(features: &Matrix<f32>, wanted: &[usize]) -> Matrix<f32> {
    let mut values = Vec::with_capacity(features.rows * wanted.len());
    for row in 0..features.rows {
        let row = features.row(row);
        values.extend(wanted.iter().map(|&column| row[column]));
    }
    let cols = if features.rows == 0 { 0 } else { wanted.len() };
    Matrix { rows: features.rows, cols, values }
}

/// Matrices side by side, with the number of rows of the shortest one.
#[must_use]
pub fn paste(parts: &[&Matrix<f32>]) -> Matrix<f32> {
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
        let spliced = splice(&features, 2, 1);
        assert_eq!(spliced.values, [1., 1., 1., 2., 1., 1., 2., 3., 1., 2., 3., 3.]);
        assert_eq!(shift(&features, 1).values, [1., 1., 2.]);
        assert_eq!(shift(&features, -2).values, [3., 3., 3.]);
        assert_eq!(shift(&features, i64::MIN).values, [3., 3., 3.]);
        let empty = Matrix::default();
        assert_eq!((splice(&empty, 1, 1), shift(&empty, 1)), (empty.clone(), empty));
    }

    #[test]
    fn side_by_side() {
        let (a, b) = (column(&[1.0, 2.0]), column(&[3.0, 4.0, 5.0]));
        assert_eq!(paste(&[&a, &b, &a]).values, [1., 3., 1., 2., 4., 2.]);
        assert_eq!(columns(&paste(&[&a, &b]), &[1, 0, 1]).values, [3., 1., 3., 4., 2., 4.]);
        assert_eq!(rows(&b, [2, 0]).values, [5., 3.]);
    }
}

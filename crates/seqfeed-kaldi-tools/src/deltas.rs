//! Deltas: the slope of features over time, and the slope of the slope.

use seqfeed_kaldi::Matrix;

/// Computes features with their deltas, as Kaldi's `DeltaFeatures` does.
///
/// The weights of an order are those of the order below, convolved with j / sum(j * j) for j from
/// -`window` to `window`. The first and last frame stand for missing frames beyond the ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Deltas {
    /// The weights of each order, from -max to max.
    scales: Vec<Vec<f32>>,
}

impl Deltas {
    /// Deltas up to an order, with `window` frames on each side.
    ///
    /// With a window of 0 there is no slope, and all deltas are 0.
    #[must_use]
    pub fn new(order: usize, window: usize) -> Self {
        let mut scales = vec![vec![1.0f32]];
        for lower in 0..order {
            let below = &scales[lower];
            let mut these = vec![0.0f32; below.len() + 2 * window];
            let mut norm = 0.0f32;
            for (j, step) in (0..=2 * window).map(|j| (j, j as f32 - window as f32)) {
                norm += step * step;
                for (k, weight) in below.iter().enumerate() {
                    these[j + k] += step * weight;
                }
            }
            let factor = if norm == 0.0 { 0.0 } else { (1.0 / f64::from(norm)) as f32 };
            these.iter_mut().for_each(|weight| *weight *= factor);
            scales.push(these);
        }
        Self { scales }
    }

    /// The features of `cols` columns, followed by the deltas of each order:
    /// `(order + 1) * cols` columns.
    #[must_use]
    pub fn compute(&self, features: &Matrix<f32>) -> Matrix<f32> {
        let (rows, cols) = (features.rows, features.cols);
        let out_cols = cols * self.scales.len();
        let mut values = vec![0.0f32; rows * out_cols];
        for (row, out) in values.chunks_exact_mut(out_cols.max(1)).enumerate() {
            for (scales, out) in self.scales.iter().zip(out.chunks_exact_mut(cols.max(1))) {
                let reach = scales.len() / 2;
                for (j, &scale) in scales.iter().enumerate().filter(|(_, scale)| **scale != 0.0) {
                    let from = features.row((row + j).saturating_sub(reach).min(rows - 1));
                    out.iter_mut().zip(from).for_each(|(to, value)| *to += scale * value);
                }
            }
        }
        Matrix { rows, cols: out_cols, values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_slope() {
        let values: Vec<f32> = (0..20).map(|t| 3.0 * t as f32).collect();
        let with = Deltas::new(2, 2).compute(&Matrix { rows: 20, cols: 1, values });
        assert_eq!((with.rows, with.cols), (20, 3));
        for row in 4..16 {
            assert!((with.row(row)[1] - 3.0).abs() < 1e-5, "{:?}", with.row(row));
            assert!(with.row(row)[2].abs() < 1e-5, "{:?}", with.row(row));
        }
    }

    #[test]
    fn nothing_has_no_deltas() {
        assert_eq!(Deltas::new(2, 2).compute(&Matrix::default()), Matrix::default());
        let one = Matrix { rows: 1, cols: 2, values: vec![5.0, 6.0] };
        assert_eq!(Deltas::new(1, 0).compute(&one).values, [5.0, 6.0, 0.0, 0.0]);
    }
}

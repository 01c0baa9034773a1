//! Cepstral mean and variance normalization.
//!
//! Statistics are a matrix of two rows. For each of D dimensions they have the sum and the sum of
//! squares. Column D has the number of frames in the first row, and 0 in the second.

use seqfeed_core::{Error, Result};
use seqfeed_kaldi::Matrix;

/// The smallest variance for divisions.
pub const VARIANCE_FLOOR: f64 = 1e-20;

/// Statistics of no frames.
#[must_use]
pub fn empty(dim: usize) -> Matrix<f64> {
    Matrix { rows: 2, cols: dim + 1, values: vec![0.0; 2 * (dim + 1)] }
}

/// Adds frames to statistics, with weights if there are any.
///
/// As in Kaldi's `AccCmvnStats`, products are rounded to 32 bits, and summed in 64.
///
/// # Errors
///
/// Fails if the statistics have another dimension, or if weights and frames differ in number.
pub fn accumulate(
    features: &Matrix<f32>,
    weights: Option<&[f32]>,
    stats: &mut Matrix<f64>,
) -> Result<()> {
    let dim = features.cols;
    if stats.rows != 2 || stats.cols != dim + 1 {
        return Err(Error::corpus(format!(
            "the statistics are of {} dimensions, the features of {dim}",
            stats.cols.saturating_sub(1)
        )));
    }
    if let Some(weights) = weights.filter(|weights| weights.len() != features.rows) {
        return Err(Error::corpus(format!(
            "there are {} weights for {} frames",
            weights.len(),
            features.rows
        )));
    }
    let (sums, squares) = stats.values.split_at_mut(dim + 1);
    for row in 0..features.rows {
        let weight = weights.map_or(1.0, |weights| weights[row]);
        if weight == 0.0 {
            continue;
        }
        sums[dim] += f64::from(weight);
        for ((&value, sum), square) in features.row(row).iter().zip(&mut *sums).zip(&mut *squares) {
            *sum += f64::from(value * weight);
            *square += f64::from(value * value * weight);
        }
    }
    Ok(())
}

/// Sets the statistics of some dimensions to zero mean and unit variance, so that these dimensions
/// do not change.
///
/// # Errors
///
/// Fails if the matrix is not statistics, or lacks such a dimension.
pub fn fake(stats: &mut Matrix<f64>, dims: &[i32]) -> Result<()> {
    let dim = dim_of(stats)?;
    let count = stats.values[dim];
    for &wanted in dims {
        let Some(column) = usize::try_from(wanted).ok().filter(|&column| column < dim) else {
            return Err(Error::usage(format!(
                "Bad entry {wanted} in list of fake dims; feature dim is {dim}"
            )));
        };
        stats.values[column] = 0.0;
        stats.values[dim + 1 + column] = count;
    }
    Ok(())
}

/// Means and variances: two rows, one column for each dimension. `None` if the statistics have no
/// frames, or if the matrix is not statistics.
#[must_use]
pub fn mean_and_variance(stats: &Matrix<f64>) -> Option<Matrix<f64>> {
    let dim = dim_of(stats).ok()?;
    let count = stats.values[dim];
    if count <= 0.0 {
        return None;
    }
    let means = stats.values[..dim].iter().map(|sum| sum / count);
    let variances = stats.values[dim + 1..].iter().zip(means.clone());
    let variances = variances.take(dim).map(|(square, mean)| square / count - mean * mean);
    let values = means.clone().chain(variances).collect();
    Some(Matrix { rows: 2, cols: dim, values })
}

/// The change of each dimension of a frame: times `scale` (if there is one), plus `offset`.
#[derive(Clone, Debug, PartialEq)]
pub struct Normalization {
    /// The factors, applied first.
    pub scale: Option<Vec<f32>>,
    /// The summands.
    pub offset: Vec<f32>,
    /// Variances that were too small, and were replaced by [`VARIANCE_FLOOR`].
    pub floored: Vec<f64>,
}

impl Normalization {
    /// Normalizes features with such statistics to zero mean, and with `variances` to unit
    /// variance: Kaldi's `ApplyCmvn`.
    ///
    /// # Errors
    ///
    /// Fails if the matrix is not statistics, or has less than one frame.
    pub fn forward(stats: &Matrix<f64>, variances: bool) -> Result<Self> {
        let (dim, count) = (dim_of(stats)?, count_of(stats)?);
        let (sums, squares) = (&stats.values[..dim], &stats.values[dim + 1..]);
        if !variances {
            let factor = (-1.0 / count) as f32;
            let offset = sums.iter().map(|sum| (f64::from(factor) * sum) as f32).collect();
            return Ok(Self { scale: None, offset, floored: Vec::new() });
        }
        let mut all = Self { scale: None, offset: Vec::new(), floored: Vec::new() };
        let mut scales = Vec::with_capacity(dim);
        for (sum, square) in sums.iter().zip(squares) {
            let mean = sum / count;
            let scale = 1.0 / all.floored_variance(square / count - mean * mean).sqrt();
            if !scale.is_finite() {
                return Err(Error::corpus("NaN or infinity in cepstral mean/variance computation"));
            }
            scales.push(scale as f32);
            all.offset.push(-(mean * scale) as f32);
        }
        all.scale = Some(scales);
        Ok(all)
    }

    /// Gives features of zero mean, and with `variances` of unit variance, the mean and variance of
    /// the statistics: Kaldi's `ApplyCmvnReverse`.
    ///
    /// # Errors
    ///
    /// As [`forward`](Self::forward).
    pub fn reverse(stats: &Matrix<f64>, variances: bool) -> Result<Self> {
        let (dim, count) = (dim_of(stats)?, count_of(stats)?);
        let (sums, squares) = (&stats.values[..dim], &stats.values[dim + 1..]);
        let mut all = Self { scale: None, offset: Vec::new(), floored: Vec::new() };
        let mut scales = Vec::with_capacity(dim);
        for (sum, square) in sums.iter().zip(squares) {
            let mean = sum / count;
            all.offset.push(mean as f32);
            if variances {
                let variance = all.floored_variance(square / count - mean * mean);
                scales.push(variance.sqrt() as f32);
            }
        }
        all.scale = variances.then_some(scales);
        Ok(all)
    }

    fn floored_variance(&mut self, variance: f64) -> f64 {
        if variance < VARIANCE_FLOOR {
            self.floored.push(variance);
            return VARIANCE_FLOOR;
        }
        variance
    }

    /// Normalizes features.
    ///
    /// # Errors
    ///
    /// Fails if they have another dimension.
    pub fn apply(&self, features: &mut Matrix<f32>) -> Result<()> {
        if features.cols != self.offset.len() {
            return Err(Error::corpus(format!(
                "Dim mismatch in ApplyCmvn: cmvn 2x{}, feats {}x{}",
                self.offset.len() + 1,
                features.rows,
                features.cols
            )));
        }
        for row in features.values.chunks_exact_mut(self.offset.len().max(1)) {
            if let Some(scale) = &self.scale {
                row.iter_mut().zip(scale).for_each(|(value, scale)| *value *= scale);
            }
            row.iter_mut().zip(&self.offset).for_each(|(value, offset)| *value += offset);
        }
        Ok(())
    }
}

fn dim_of(stats: &Matrix<f64>) -> Result<usize> {
    if stats.rows == 2 && stats.cols > 0 && stats.values.len() == 2 * stats.cols {
        return Ok(stats.cols - 1);
    }
    Err(Error::corpus(format!(
        "Expected input to be CMVN stats (should have two rows), got {}x{}",
        stats.rows, stats.cols
    )))
}

fn count_of(stats: &Matrix<f64>) -> Result<f64> {
    let count = stats.values[stats.cols - 1];
    // This also catches NaN.
    if count.is_nan() || count < 1.0 {
        return Err(Error::corpus(format!(
            "Insufficient stats for cepstral mean and variance normalization: count = {count}"
        )));
    }
    Ok(count)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let values = vec![1.0f32, 10.0, 2.0, -4.0, 6.0, 3.0];
        let features = Matrix { rows: 3, cols: 2, values };
        let mut stats = empty(2);
        accumulate(&features, None, &mut stats).unwrap();
        assert_eq!(stats.values, [9.0, 9.0, 3.0, 41.0, 125.0, 0.0]);
        let mut normal = features.clone();
        Normalization::forward(&stats, true).unwrap().apply(&mut normal).unwrap();
        let mut again = empty(2);
        accumulate(&normal, None, &mut again).unwrap();
        for (found, expected) in again.values.iter().zip([0.0, 0.0, 3.0, 3.0, 3.0, 0.0]) {
            assert!((found - expected).abs() < 1e-6, "{again:?}");
        }
        Normalization::reverse(&stats, true).unwrap().apply(&mut normal).unwrap();
        for (found, expected) in normal.values.iter().zip(&features.values) {
            assert!((found - expected).abs() < 1e-5);
        }
    }

    #[test]
    fn wrong_statistics_are_refused() {
        assert!(Normalization::forward(&empty(3), false).is_err());
        assert!(Normalization::forward(&Matrix::default(), false).is_err());
        let constant = Matrix { rows: 2, cols: 2, values: vec![2.0, 2.0, 2.0, 0.0] };
        let floored = Normalization::forward(&constant, true).unwrap();
        assert_eq!(floored.floored.len(), 1);
        assert!(fake(&mut empty(3), &[3]).is_err());
        assert!(accumulate(&Matrix::default(), None, &mut empty(3)).is_err());
    }
}

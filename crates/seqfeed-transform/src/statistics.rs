//! Statistics of frames: sums, sums of squares, and the number of frames.

use std::fmt::Display;

use seqfeed_core::{Error, Result};

use crate::Float;

/// The sum and the sum of squares of each dimension, and the number of frames.
///
/// They lie as in Kaldi: two rows of D + 1 values for D dimensions. Column D has the number of
/// frames in the first row, and 0 in the second.
///
/// ```
/// use seqfeed_transform::Statistics;
///
/// let mut statistics = Statistics::new(2);
/// statistics.accumulate(&[1.0f32, 2.0, 3.0, 4.0], 2, None)?;
/// assert_eq!(statistics.values(), [4.0, 6.0, 2.0, 10.0, 20.0, 0.0]);
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    values: Vec<f64>,
}

impl Statistics {
    /// Statistics of no frames.
    #[must_use]
    pub fn new(dim: usize) -> Self {
        Self { values: vec![0.0; 2 * (dim + 1)] }
    }

    /// Statistics that lie in a matrix of two rows.
    ///
    /// # Errors
    ///
    /// Fails if the matrix has another number of rows.
    pub fn of_matrix(rows: usize, cols: usize, values: Vec<f64>) -> Result<Self> {
        if rows == 2 && cols > 0 && values.len() == 2 * cols {
            return Ok(Self { values });
        }
        Err(Error::corpus(format!(
            "Expected input to be CMVN stats (should have two rows), got {rows}x{cols}"
        )))
    }

    /// Number of dimensions.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.values.len() / 2 - 1
    }

    /// Number of frames, or the sum of their weights.
    #[must_use]
    pub fn count(&self) -> f64 {
        self.values[self.dim()]
    }

    /// The sum of each dimension.
    #[must_use]
    pub fn sums(&self) -> &[f64] {
        &self.values[..self.dim()]
    }

    /// The sum of squares of each dimension.
    #[must_use]
    pub fn squares(&self) -> &[f64] {
        let dim = self.dim();
        &self.values[dim + 1..2 * dim + 1]
    }

    /// The two rows, one after the other.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    pub(crate) fn is_finite(&self) -> bool {
        self.values.iter().all(|value| value.is_finite())
    }

    /// The two rows, one after the other.
    #[must_use]
    pub fn into_values(self) -> Vec<f64> {
        self.values
    }

    /// Adds frames of `dim` values, with weights if there are any.
    ///
    /// As in Kaldi's `AccCmvnStats`, products are rounded to the type of the values, and summed in
    /// 64 bits.
    ///
    /// # Errors
    ///
    /// Fails if the statistics have another dimension, or if weights and frames differ in number.
    pub fn accumulate<T: Float>(
        &mut self,
        frames: &[T],
        dim: usize,
        weights: Option<&[T]>,
    ) -> Result<()> {
        if dim != self.dim() {
            return Err(Error::corpus(format!(
                "the statistics are of {} dimensions, the features of {dim}",
                self.dim()
            )));
        }
        let count = frames.len() / dim.max(1);
        if let Some(weights) = weights.filter(|weights| weights.len() != count) {
            return Err(Error::corpus(format!(
                "there are {} weights for {count} frames",
                weights.len()
            )));
        }
        let (sums, squares) = self.values.split_at_mut(dim + 1);
        let Some(weights) = weights else {
            sums[dim] += count as f64;
            add(frames, dim, &mut sums[..dim], squares);
            return Ok(());
        };
        for (row, &weight) in frames.chunks_exact(dim.max(1)).zip(weights) {
            if weight == T::zero() {
                continue;
            }
            sums[dim] += weight.to_f64();
            for ((&value, sum), square) in row.iter().zip(&mut *sums).zip(&mut *squares) {
                *sum += (value * weight).to_f64();
                *square += (value * value * weight).to_f64();
            }
        }
        Ok(())
    }

    /// Adds other statistics.
    ///
    /// # Errors
    ///
    /// Fails if they have another dimension.
    pub fn add(&mut self, other: &Self) -> Result<()> {
        if self.dim() != other.dim() {
            return Err(Error::corpus(format!(
                "statistics of {} and of {} dimensions have no sum",
                self.dim(),
                other.dim()
            )));
        }
        self.values.iter_mut().zip(&other.values).for_each(|(to, value)| *to += value);
        Ok(())
    }

    /// Sets some dimensions to zero mean and unit variance, so that these dimensions do not change.
    ///
    /// # Errors
    ///
    /// Fails if there is no such dimension.
    pub fn fake<N: TryInto<usize> + Copy + Display>(&mut self, dims: &[N]) -> Result<()> {
        let (dim, count) = (self.dim(), self.count());
        for &wanted in dims {
            let Some(column) = wanted.try_into().ok().filter(|&column| column < dim) else {
                return Err(Error::usage(format!(
                    "Bad entry {wanted} in list of fake dims; feature dim is {dim}"
                )));
            };
            self.values[column] = 0.0;
            self.values[dim + 1 + column] = count;
        }
        Ok(())
    }

    /// The mean of each dimension, followed by its variance. `None` if there are no frames.
    #[must_use]
    pub fn means_and_variances(&self) -> Option<Vec<f64>> {
        let count = self.count();
        if count <= 0.0 {
            return None;
        }
        let means = self.sums().iter().map(|sum| sum / count);
        let variances = self.squares().iter().zip(means.clone());
        let variances = variances.map(|(square, mean)| square / count - mean * mean);
        Some(means.clone().chain(variances).collect())
    }
}

/// Adds frames to sums and sums of squares. Four frames at a time take less loading and storing of
/// sums; each sum still gets one frame after another.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn add<T: Float>(frames: &[T], dim: usize, sums: &mut [f64], squares: &mut [f64]) {
    let whole = frames.len() / (4 * dim.max(1)) * 4 * dim;
    let (fours, ones) = frames.split_at(whole);
    for four in fours.chunks_exact((4 * dim).max(1)) {
        let (former, latter) = four.split_at(2 * dim);
        let ((a, b), (c, d)) = (former.split_at(dim), latter.split_at(dim));
        let rows = a.iter().zip(b).zip(c).zip(d);
        for ((sum, square), (((a, b), c), d)) in sums.iter_mut().zip(&mut *squares).zip(rows) {
            *sum = *sum + a.to_f64() + b.to_f64() + c.to_f64() + d.to_f64();
            *square = *square
                + (*a * *a).to_f64()
                + (*b * *b).to_f64()
                + (*c * *c).to_f64()
                + (*d * *d).to_f64();
        }
    }
    for row in ones.chunks_exact(dim.max(1)) {
        for ((value, sum), square) in row.iter().zip(&mut *sums).zip(&mut *squares) {
            *sum += value.to_f64();
            *square += (*value * *value).to_f64();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_statistics_are_refused() {
        assert!(Statistics::of_matrix(0, 0, Vec::new()).is_err());
        assert!(Statistics::of_matrix(2, 3, vec![0.0; 5]).is_err());
        let mut statistics = Statistics::new(3);
        assert!(statistics.fake(&[3]).is_err());
        assert!(statistics.accumulate::<f32>(&[], 0, None).is_err());
        assert!(statistics.accumulate(&[1.0f32; 3], 3, Some(&[])).is_err());
        assert!(statistics.add(&Statistics::new(2)).is_err());
    }
}

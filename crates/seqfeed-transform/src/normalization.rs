//! Normalization of mean and variance.

use seqfeed_core::{Error, Result};

use crate::{Float, Statistics};

/// The smallest variance for divisions.
pub const VARIANCE_FLOOR: f64 = 1e-20;

/// The change of each dimension of a frame: times `scale` (if there is one), plus `offset`.
#[derive(Clone, Debug, PartialEq)]
pub struct Normalization<T> {
    /// The factors, applied first.
    pub scale: Option<Vec<T>>,
    /// The summands.
    pub offset: Vec<T>,
    /// Variances that were too small, and were replaced by [`VARIANCE_FLOOR`].
    pub floored: Vec<f64>,
}

impl<T: Float> Normalization<T> {
    /// Normalizes frames with such statistics to zero mean, and with `variances` to unit variance:
    /// Kaldi's `ApplyCmvn`.
    ///
    /// # Errors
    ///
    /// Fails if the statistics are of less than one frame.
    pub fn forward(statistics: &Statistics, variances: bool) -> Result<Self> {
        let count = count_of(statistics)?;
        let mut all = Self { scale: None, offset: Vec::new(), floored: Vec::new() };
        if !variances {
            let factor = T::from_f64(-1.0 / count).to_f64();
            all.offset = statistics.sums().iter().map(|sum| T::from_f64(factor * sum)).collect();
            return Ok(all);
        }
        let mut scales = Vec::with_capacity(statistics.dim());
        for (sum, square) in statistics.sums().iter().zip(statistics.squares()) {
            let mean = sum / count;
            let scale = 1.0 / all.floored_variance(square / count - mean * mean).sqrt();
            if !scale.is_finite() {
                return Err(Error::corpus("NaN or infinity in cepstral mean/variance computation"));
            }
            scales.push(T::from_f64(scale));
            all.offset.push(T::from_f64(-(mean * scale)));
        }
        all.scale = Some(scales);
        Ok(all)
    }

    /// Gives frames of zero mean, and with `variances` of unit variance, the mean and variance of
    /// the statistics: Kaldi's `ApplyCmvnReverse`.
    ///
    /// # Errors
    ///
    /// As [`forward`](Self::forward).
    pub fn reverse(statistics: &Statistics, variances: bool) -> Result<Self> {
        let count = count_of(statistics)?;
        let mut all = Self { scale: None, offset: Vec::new(), floored: Vec::new() };
        let mut scales = Vec::with_capacity(statistics.dim());
        for (sum, square) in statistics.sums().iter().zip(statistics.squares()) {
            let mean = sum / count;
            all.offset.push(T::from_f64(mean));
            if variances {
                let variance = all.floored_variance(square / count - mean * mean);
                scales.push(T::from_f64(variance.sqrt()));
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

    /// Normalizes frames of `dim` values.
    ///
    /// # Errors
    ///
    /// Fails if they have another dimension than the statistics.
    pub fn apply(&self, frames: &mut [T], dim: usize) -> Result<()> {
        if dim != self.offset.len() {
            return Err(Error::corpus(format!(
                "Dim mismatch in ApplyCmvn: cmvn 2x{}, feats {}x{dim}",
                self.offset.len() + 1,
                frames.len() / dim.max(1),
            )));
        }
        normalize(frames, self.scale.as_deref(), &self.offset);
        Ok(())
    }
}

#[multiversion::multiversion(targets("x86_64+avx2"))]
fn normalize<T: Float>(frames: &mut [T], scale: Option<&[T]>, offset: &[T]) {
    let Some(scale) = scale else {
        for row in frames.chunks_exact_mut(offset.len().max(1)) {
            for (value, offset) in row.iter_mut().zip(offset) {
                *value += *offset;
            }
        }
        return;
    };
    for row in frames.chunks_exact_mut(offset.len().max(1)) {
        for ((value, offset), scale) in row.iter_mut().zip(offset).zip(scale) {
            *value = *value * *scale + *offset;
        }
    }
}

fn count_of(statistics: &Statistics) -> Result<f64> {
    let count = statistics.count();
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
        let frames = [1.0f32, 10.0, 2.0, -4.0, 6.0, 3.0];
        let mut statistics = Statistics::new(2);
        statistics.accumulate(&frames, 2, None).unwrap();
        assert_eq!(statistics.values(), [9.0, 9.0, 3.0, 41.0, 125.0, 0.0]);
        let mut normal = frames;
        Normalization::forward(&statistics, true).unwrap().apply(&mut normal, 2).unwrap();
        let mut again = Statistics::new(2);
        again.accumulate(&normal, 2, None).unwrap();
        for (found, expected) in again.values().iter().zip([0.0, 0.0, 3.0, 3.0, 3.0, 0.0]) {
            assert!((found - expected).abs() < 1e-6, "{again:?}");
        }
        Normalization::reverse(&statistics, true).unwrap().apply(&mut normal, 2).unwrap();
        for (found, expected) in normal.iter().zip(&frames) {
            assert!((found - expected).abs() < 1e-5);
        }
    }

    #[test]
    fn wrong_statistics_are_refused() {
        assert!(Normalization::<f32>::forward(&Statistics::new(3), false).is_err());
        let constant = Statistics::of_matrix(2, 2, vec![2.0, 2.0, 2.0, 0.0]).unwrap();
        let floored = Normalization::<f32>::forward(&constant, true).unwrap();
        assert_eq!(floored.floored.len(), 1);
        assert!(floored.apply(&mut [0.0; 4], 2).is_err());
    }
}

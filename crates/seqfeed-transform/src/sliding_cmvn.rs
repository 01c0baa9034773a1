//! `sliding-cmvn`: mean and variance of a sliding window, as Kaldi's `apply-cmvn-sliding`.

use std::ops::Range;

use seqfeed_core::{Element, Given, Output, Result, SamplesMut, Stream, Transform};
use serde::Deserialize;

use crate::Float;
use crate::dense::frames_in_place;

/// The smallest variance.
const VARIANCE_FLOOR: f64 = 1e-10;

/// Subtracts the mean of a sliding window, and with `norm-vars` divides by the standard deviation,
/// as Kaldi's `apply-cmvn-sliding`.
#[derive(Deserialize)]
#[serde(try_from = "Options")]
pub struct SlidingCmvn(Window);

/// The window around each frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Frames in the window.
    pub frames: usize,
    /// Without `center`: the least number of frames, also at the beginning of an utterance.
    pub least: usize,
    /// Whether the frame is in the middle of the window, or at its end.
    pub center: bool,
    /// Whether to normalize variances, too.
    pub variances: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Options {
    cmn_window: usize,
    min_cmn_window: usize,
    norm_vars: bool,
    center: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { cmn_window: 600, min_cmn_window: 100, norm_vars: false, center: false }
    }
}

impl TryFrom<Options> for SlidingCmvn {
    type Error = &'static str;

    fn try_from(options: Options) -> Result<Self, &'static str> {
        let window = Window {
            frames: options.cmn_window,
            least: options.min_cmn_window,
            center: options.center,
            variances: options.norm_vars,
        };
        window.check().map(|()| Self(window))
    }
}

/// A window with a variance that was too small, see [`Window::normalize`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Floored {
    /// Dimensions whose variance was raised.
    pub dims: usize,
    /// Frames of the window.
    pub frames: usize,
}

impl Window {
    /// Checks the numbers.
    ///
    /// # Errors
    ///
    /// Says what is expected.
    pub fn check(&self) -> Result<(), &'static str> {
        const MOST: usize = 1 << 24;
        if !(1..=MOST).contains(&self.frames) || self.least > MOST {
            return Err("`cmn-window` is from 1 to 16777216, and `min-cmn-window` at most that");
        }
        if self.center && !(1..=self.frames).contains(&self.least) {
            return Err("with `center`, `min-cmn-window` is from 1 to `cmn-window`");
        }
        Ok(())
    }

    /// The frames around frame `t` of `count`.
    fn around(&self, t: usize, count: usize) -> Range<usize> {
        let (start, end) = match self.center {
            true => {
                let start = t.saturating_sub(self.frames / 2);
                (start, start + self.frames)
            }
            false => (t.saturating_sub(self.frames), (t + 1).max(self.least)),
        };
        // A window that ends too late moves.
        match end.checked_sub(count) {
            Some(beyond) => start.saturating_sub(beyond)..count,
            None => start..end,
        }
    }

    /// Normalizes frames of `dim` values in place. Tells of each window whose variance was raised
    /// to the floor of 1e-10.
    ///
    /// Sums have 64 bits. They slide with the window: a frame is added, a frame is taken away. The
    /// mean is multiplied and subtracted in one step, as the BLAS library behind Kaldi does.
    pub fn normalize<T: Float>(
        &self,
        frames: &mut [T],
        dim: usize,
        mut floored: impl FnMut(Floored),
    ) {
        let count = frames.len() / dim.max(1);
        // The old values, since later windows need them.
        let before: Vec<T> = frames.to_vec();
        let row = |t: usize| &before[t * dim..(t + 1) * dim];
        let (mut sums, mut squares) = (vec![0.0f64; dim], vec![0.0f64; dim]);
        let mut last = 0..0;
        for (t, out) in frames.chunks_exact_mut(dim.max(1)).enumerate() {
            let window = self.around(t, count);
            for (old, sign) in (last.start..window.start)
                .map(|old| (old, -1.0))
                .chain((last.end..window.end).map(|new| (new, 1.0)))
            {
                let values = row(old).iter().map(|value| value.to_f64());
                for ((value, sum), square) in values.zip(&mut sums).zip(&mut squares) {
                    *sum += sign * value;
                    if self.variances {
                        *square += sign * value * value;
                    }
                }
            }
            last = window.clone();
            let n = window.len() as f64;
            if !self.variances {
                let factor = -1.0 / n;
                for (value, sum) in out.iter_mut().zip(&sums) {
                    *value = T::from_f64(factor.mul_add(*sum, value.to_f64()));
                }
                continue;
            }
            if window.len() == 1 {
                out.fill(T::zero());
                continue;
            }
            let mut low = 0;
            for ((value, sum), square) in out.iter_mut().zip(&sums).zip(&squares) {
                let mut variance = square * (1.0 / n) + (-1.0 / (n * n)) * sum * sum;
                if variance < VARIANCE_FLOOR {
                    variance = VARIANCE_FLOOR;
                    low += 1;
                }
                let scale = variance.powf(-0.5);
                *value = T::from_f64((-1.0 / n).mul_add(*sum, value.to_f64()) * scale);
            }
            if low > 0 && count > 1 {
                floored(Floored { dims: low, frames: window.len() });
            }
        }
    }
}

impl Transform for SlidingCmvn {
    fn name(&self) -> &str {
        "sliding-cmvn"
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        frames_in_place(streams, self.name())
    }

    fn change(&self, _output: usize, given: &Given<'_>, values: SamplesMut<'_>) -> Result<()> {
        let stream = given.stream(0);
        match stream.element {
            Element::F64 => self.0.normalize::<f64>(values.into_numbers(), stream.dim, drop),
            _ => self.0.normalize::<f32>(values.into_numbers(), stream.dim, drop),
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn wrong_windows_are_refused() {
        for wrong in ["cmn-window = 0", "center = true\ncmn-window = 50", "window = 3"] {
            assert!(toml::from_str::<SlidingCmvn>(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        /// Each frame is normalized by the sums of its own window.
        #[test]
        fn windows_slide(
            values in prop::collection::vec(-100i32..100, 1..60),
            (frames, least, center) in (1usize..30, 1usize..40, any::<bool>()),
        ) {
            let least = if center { least.min(frames) } else { least };
            let window = Window { frames, least, center, variances: false };
            window.check().unwrap();
            let mut found: Vec<f64> = values.iter().map(|&value| value.into()).collect();
            window.normalize(&mut found, 1, drop);
            for (t, found) in found.iter().enumerate() {
                let around = window.around(t, values.len());
                prop_assert!(around.contains(&t), "{around:?}");
                let most = if center { frames } else { (frames + 1).max(least) };
                prop_assert!(around.len() <= most && around.end <= values.len());
                let sum: i32 = values[around.clone()].iter().sum();
                let expected = f64::from(values[t]) - f64::from(sum) / around.len() as f64;
                prop_assert!((found - expected).abs() < 1e-9);
            }
        }
    }
}

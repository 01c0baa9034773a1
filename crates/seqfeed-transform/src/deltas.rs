//! `deltas`: the slope of features over time, and the slope of the slope, as Kaldi's `add-deltas`.

use std::ops::Range;

use seqfeed_core::{Block, Element, Error, Given, Output, Result, Stream, Transform, numbers};
use serde::Deserialize;

use crate::Float;
use crate::dense::{check_frames, has_frames};

/// The longest window and the highest order. Both are far beyond any use.
pub const MOST: u32 = 1000;

/// Weighted sums of neighbouring frames: the deltas of Kaldi's `DeltaFeatures`.
///
/// The weights of an order are those of the order below, convolved with j / sum(j * j) for j from
/// -`window` to `window`. The first and last frame stand for missing frames beyond the ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Slopes<T> {
    /// For each sum the frames relative to each frame, with their weights. Weights of 0 are left
    /// out.
    sums: Vec<Vec<(isize, T)>>,
    /// The frames that are needed before and behind each frame.
    before: usize,
    behind: usize,
}

impl<T: Float> Slopes<T> {
    /// The features themselves and their deltas up to an order, with `window` frames on each side.
    ///
    /// With a window of 0 there is no slope, and all deltas are 0.
    #[must_use]
    pub fn new(order: usize, window: usize) -> Self {
        let mut scales = vec![vec![T::one()]];
        for lower in 0..order {
            let below = &scales[lower];
            let mut these = vec![T::zero(); below.len() + 2 * window];
            let mut norm = T::zero();
            for j in 0..=2 * window {
                let step = T::from_f64(j as f64 - window as f64);
                norm += step * step;
                for (k, weight) in below.iter().enumerate() {
                    these[j + k] += step * *weight;
                }
            }
            let none = norm == T::zero();
            let factor = if none { T::zero() } else { T::from_f64(1.0 / norm.to_f64()) };
            these.iter_mut().for_each(|weight| *weight *= factor);
            scales.push(these);
        }
        let sum = |scales: Vec<T>| {
            let reach = (scales.len() / 2) as isize;
            let taps = scales.into_iter().zip(-reach..).map(|(weight, frame)| (frame, weight));
            taps.filter(|(_, weight)| *weight != T::zero()).collect()
        };
        Self::of_sums(scales.into_iter().map(sum).collect())
    }

    /// The features themselves, and `blocks` times the slope over `window` frames on each side.
    /// Each stands `shift` frames behind the one before.
    #[must_use]
    pub fn shifted(window: usize, blocks: usize, shift: usize) -> Self {
        let Self { sums, .. } = Self::new(1, window);
        let later = |block: usize| {
            let by = (block * shift) as isize;
            sums[1].iter().map(|&(frame, weight)| (frame + by, weight)).collect()
        };
        let blocks = (0..blocks).map(later);
        Self::of_sums(std::iter::once(sums[0].clone()).chain(blocks).collect())
    }

    fn of_sums(sums: Vec<Vec<(isize, T)>>) -> Self {
        let frames = || sums.iter().flatten().map(|(frame, _)| *frame);
        let before = frames().min().unwrap_or(0).min(0).unsigned_abs();
        let behind = frames().max().unwrap_or(0).max(0).unsigned_abs();
        Self { sums, before, behind }
    }

    /// The number of sums, with that of the features themselves.
    #[must_use]
    pub fn orders(&self) -> usize {
        self.sums.len()
    }

    /// Writes the sums of the first `kept` values of each frame, side by side. Frames have `dim`
    /// values; `out` has [`orders`](Self::orders)` * kept` values for each.
    pub fn compute(&self, frames: &[T], dim: usize, kept: usize, out: &mut [T]) {
        if frames.is_empty() || kept == 0 {
            return;
        }
        let (rows, wide) = (frames.len() / dim, kept * self.orders());
        let (before, behind) = (self.before, self.behind);
        let whole = before..rows.saturating_sub(behind).max(before).min(rows);
        let mut padded = Vec::new();
        for row in (0..rows).filter(|row| !whole.contains(row)) {
            padded.clear();
            for frame in row..=row + before + behind {
                let frame = frame.saturating_sub(before).min(rows - 1);
                padded.extend_from_slice(&frames[frame * dim..(frame + 1) * dim]);
            }
            let out = &mut out[row * wide..(row + 1) * wide];
            sum_all(&self.sums, before, before..before + 1, &padded, [dim, kept], out);
        }
        let out = &mut out[whole.start.min(rows) * wide..whole.end * wide];
        sum_all(&self.sums, before, whole, frames, [dim, kept], out);
    }
}

/// Writes all sums for some rows, side by side. Closures would not be compiled for each target.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn sum_all<T: Float>(
    sums: &[Vec<(isize, T)>],
    before: usize,
    rows: Range<usize>,
    frames: &[T],
    [dim, kept]: [usize; 2],
    out: &mut [T],
) {
    for (row, out) in rows.zip(out.chunks_exact_mut(kept * sums.len())) {
        let around = &frames[(row - before) * dim..];
        for (taps, out) in sums.iter().zip(out.chunks_exact_mut(kept)) {
            let mut rest = around;
            let mut at = 0;
            // So many at once stay in registers. 40 and 80 are the usual numbers of dimensions.
            while at + 40 <= kept {
                sum::<T, 40>(taps, before, rest, dim, &mut out[at..at + 40]);
                (at, rest) = (at + 40, &rest[40..]);
            }
            while at + 8 <= kept {
                sum::<T, 8>(taps, before, rest, dim, &mut out[at..at + 8]);
                (at, rest) = (at + 8, &rest[8..]);
            }
            while at < kept {
                sum::<T, 1>(taps, before, rest, dim, &mut out[at..=at]);
                (at, rest) = (at + 1, &rest[1..]);
            }
        }
    }
}

/// Sums `N` values of frames in the order of the taps.
#[inline(always)]
fn sum<T: Float, const N: usize>(
    taps: &[(isize, T)],
    before: usize,
    around: &[T],
    dim: usize,
    out: &mut [T],
) {
    let mut sums = [T::zero(); N];
    for &(frame, weight) in taps {
        let values = &around[(before as isize + frame) as usize * dim..][..N];
        for at in 0..N {
            sums[at] += weight * values[at];
        }
    }
    out.copy_from_slice(&sums);
}

/// Adds the slope of features over time, and the slope of the slope, as Kaldi's `add-deltas`.
#[derive(Deserialize)]
#[serde(try_from = "Options")]
pub struct Deltas {
    truncate: Option<usize>,
    slopes: Slopes<f32>,
    slopes_of_f64: Slopes<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    /// The highest order, 2 as in Kaldi.
    #[serde(default = "two")]
    order: u32,
    /// Frames to either side that a slope is taken over, 2 as in Kaldi.
    #[serde(default = "two")]
    window: u32,
    /// Dimensions that are kept of the features before all else. 0 keeps all.
    #[serde(default)]
    truncate: u32,
}

fn two() -> u32 {
    2
}

impl TryFrom<Options> for Deltas {
    type Error = &'static str;

    fn try_from(options: Options) -> Result<Self, &'static str> {
        let Options { order, window, truncate } = options;
        if window == 0 || order > MOST || order.saturating_mul(window) > MOST {
            return Err("`window` is from 1, and `order` times `window` at most 1000");
        }
        Ok(Self {
            truncate: (truncate > 0).then_some(truncate as usize),
            slopes: Slopes::new(order as usize, window as usize),
            slopes_of_f64: Slopes::new(order as usize, window as usize),
        })
    }
}

impl Transform for Deltas {
    fn name(&self) -> &str {
        "deltas"
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        check_frames(streams, self.name())?;
        let kept = |stream: &Stream| self.truncate.unwrap_or(stream.dim);
        let mut wide = streams.iter().filter(|stream| has_frames(stream));
        if let Some(narrow) = wide.find(|stream| kept(stream) > stream.dim) {
            let (name, dim, truncate) = (&narrow.name, narrow.dim, kept(narrow));
            return Err(Error::usage(format!(
                "transform deltas: truncate = {truncate}, but stream {name} has {dim} dimensions"
            )));
        }
        let wide = |stream: Stream| {
            let dim = kept(&stream).saturating_mul(self.slopes.orders());
            Stream { dim, ..stream }
        };
        Ok(Output::change(streams, has_frames, wide))
    }

    fn apply(&self, _output: usize, given: &Given<'_>, to: &mut Block) -> Result<()> {
        let (samples, stream) = (given.samples(0), given.stream(0));
        let kept = self.truncate.unwrap_or(stream.dim);
        if stream.element == Element::F64 {
            let frames = numbers(samples.bytes());
            self.slopes_of_f64.compute(&frames, stream.dim, kept, to.push_f64(samples.len()));
        } else {
            let frames = numbers(samples.bytes());
            self.slopes.compute(&frames, stream.dim, kept, to.push_f32(samples.len()));
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn with(order: usize, window: usize, frames: &[f32], dim: usize) -> Vec<f32> {
        let mut out = vec![f32::NAN; frames.len() * (order + 1)];
        Slopes::new(order, window).compute(frames, dim, dim, &mut out);
        out
    }

    #[test]
    fn a_line_has_its_slope() {
        let frames: Vec<f32> = (0..20).map(|t| 3.0 * t as f32).collect();
        let all = with(2, 2, &frames, 1);
        for row in &all.as_chunks::<3>().0[4..16] {
            assert!((row[1] - 3.0).abs() < 1e-5 && row[2].abs() < 1e-5, "{row:?}");
        }
    }

    #[test]
    fn nothing_has_no_deltas() {
        assert!(with(2, 2, &[], 0).is_empty() && with(2, 2, &[], 3).is_empty());
        assert_eq!(with(1, 0, &[5.0, 6.0], 2), [5.0, 6.0, 0.0, 0.0]);
    }

    proptest! {
        /// Frame by frame, as the definition says.
        #[test]
        fn sums_are_those_of_the_definition(
            rows in 1usize..120,
            (dim, order, window) in (1usize..40, 0usize..4, 1usize..4),
            seed in any::<u32>(),
        ) {
            let value = |at: usize| ((at as u32).wrapping_mul(2_654_435_761) ^ seed) as f32 * 1e-9;
            let frames: Vec<f32> = (0..rows * dim).map(value).collect();
            let slopes = Slopes::<f32>::new(order, window);
            let kept = dim.div_ceil(2);
            let mut found = vec![f32::NAN; rows * kept * (order + 1)];
            slopes.compute(&frames, dim, kept, &mut found);
            for (at, found) in found.iter().enumerate() {
                let (row, sum, dim_of) = (at / (kept * (order + 1)), at / kept % (order + 1), at % kept);
                let frame = |tap: isize| (row as isize + tap).clamp(0, rows as isize - 1) as usize;
                let terms = slopes.sums[sum].iter();
                let expected = terms.fold(0.0, |all, (tap, weight)| {
                    all + weight * frames[frame(*tap) * dim + dim_of]
                });
                prop_assert_eq!(found.to_bits(), f32::to_bits(expected));
            }
        }
    }

    #[test]
    fn wrong_options_are_refused() {
        for wrong in ["order = 1001", "window = 0", "window = 501", "delta = 1"] {
            assert!(toml::from_str::<Deltas>(wrong).is_err(), "{wrong}");
        }
    }
}

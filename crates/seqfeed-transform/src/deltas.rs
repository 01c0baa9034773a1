//! `deltas`: the slope of features over time, and the slope of the slope, as Kaldi's `add-deltas`.

use seqfeed_core::{Block, Element, Error, Given, Output, Result, Stream, Transform, numbers};
use serde::Deserialize;

use crate::Float;
use crate::dense::{check_frames, has_frames};

/// The longest window and the highest order. Both are far beyond any use.
pub const MOST: u32 = 1000;

/// The weights of deltas, as in Kaldi's `DeltaFeatures`.
///
/// The weights of an order are those of the order below, convolved with j / sum(j * j) for j from
/// -`window` to `window`. The first and last frame stand for missing frames beyond the ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Slopes<T> {
    orders: Vec<Slope<T>>,
}

/// The weights of one order.
#[derive(Clone, Debug, PartialEq)]
struct Slope<T> {
    /// The number of frames to either side.
    reach: usize,
    /// The number of a frame from `reach` frames before, and its weight. Weights of 0 are left out.
    weights: Vec<(usize, T)>,
}

impl<T: Float> Slopes<T> {
    /// Slopes up to an order, with `window` frames on each side.
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
        let slope = |scales: Vec<T>| Slope {
            reach: scales.len() / 2,
            weights: scales.into_iter().enumerate().filter(|(_, one)| *one != T::zero()).collect(),
        };
        Self { orders: scales.into_iter().map(slope).collect() }
    }

    /// The number of orders, with that of the features themselves.
    #[must_use]
    pub fn orders(&self) -> usize {
        self.orders.len()
    }

    /// Writes the first `kept` values of each frame, followed by their deltas of each order. Frames
    /// have `dim` values; `out` has [`orders`](Self::orders)` * kept` values for each.
    pub fn compute(&self, frames: &[T], dim: usize, kept: usize, out: &mut [T]) {
        let last = (frames.len() / dim.max(1)).saturating_sub(1);
        for (row, out) in out.chunks_exact_mut((kept * self.orders()).max(1)).enumerate() {
            for (slope, out) in self.orders.iter().zip(out.chunks_exact_mut(kept.max(1))) {
                slope.at(row, last, frames, dim, out);
            }
        }
    }

    /// Writes the deltas of one order at one frame, which may lie beyond the end.
    pub(crate) fn at(&self, order: usize, row: usize, frames: &[T], dim: usize, out: &mut [T]) {
        let last = (frames.len() / dim.max(1)).saturating_sub(1);
        self.orders[order].at(row, last, frames, dim, out);
    }
}

impl<T: Float> Slope<T> {
    /// Writes the slope at a frame. Frames beyond the ends are like the first and the last one.
    fn at(&self, row: usize, last: usize, frames: &[T], dim: usize, out: &mut [T]) {
        let reach = self.reach;
        if row >= reach && row + reach <= last {
            let first = (row - reach) * dim;
            self.sum(frames, |frame| first + frame * dim, out);
        } else {
            let clamped = |frame: usize| (row + frame).saturating_sub(reach).min(last) * dim;
            self.sum(frames, clamped, out);
        }
    }

    /// The weighted sum of frames. `at` gives the place of the first value of a frame.
    fn sum(&self, frames: &[T], at: impl Fn(usize) -> usize, out: &mut [T]) {
        let mut done = self.sum_of::<16>(frames, &at, 0, out);
        done = self.sum_of::<4>(frames, &at, done, out);
        self.sum_of::<1>(frames, &at, done, out);
    }

    /// The sum from value `from` on, for `N` values at once as long as there are so many. They stay
    /// in registers until all frames are added. Returns the number of values that are done.
    fn sum_of<const N: usize>(
        &self,
        frames: &[T],
        at: impl Fn(usize) -> usize,
        from: usize,
        out: &mut [T],
    ) -> usize {
        let (parts, _) = out[from..].as_chunks_mut::<N>();
        let done = from + parts.len() * N;
        for (number, part) in parts.iter_mut().enumerate() {
            let mut sums = [T::zero(); N];
            for &(frame, weight) in &self.weights {
                let start = at(frame) + from + number * N;
                let values = &frames[start..start + N];
                sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * *value);
            }
            *part = sums;
        }
        done
    }
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
        if order > MOST {
            return Err("`order` is a number from 0 to 1000");
        }
        if !(1..MOST).contains(&window) {
            return Err("`window` is a number from 1 to 999");
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
        let wide = |stream: Stream| Stream { dim: kept(&stream) * self.slopes.orders(), ..stream };
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

    #[test]
    fn wrong_options_are_refused() {
        for wrong in ["order = 1001", "window = 0", "window = 1000", "delta = 1"] {
            assert!(toml::from_str::<Deltas>(wrong).is_err(), "{wrong}");
        }
    }
}

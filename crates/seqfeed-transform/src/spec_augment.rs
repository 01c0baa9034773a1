//! `spec-augment`: random masks over frames and dimensions, and a random warp of time.

use seqfeed_core::{Element, Given, Output, Random, Result, SamplesMut, Stream, Transform};
use serde::Deserialize;

use crate::dense::frames_in_place;
use crate::{Float, Share};

/// The most masks of a sequence.
const MOST_MASKS: usize = 1000;

/// Masks some neighbouring dimensions and some neighbouring frames of each sequence, and stretches
/// one part of it while it shrinks the rest (`SpecAugment`).
///
/// A width is drawn from 0 to the given one, each equally likely; then a place for the mask, each
/// equally likely. Streams of one sequence get the same warp and the same masks of frames.
#[derive(Deserialize)]
#[serde(try_from = "Options")]
pub struct SpecAugment(Options);

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct Options {
    freq_masks: u32,
    freq_width: u32,
    time_masks: Share,
    time_width: Share,
    /// The most frames of a sequence that all masks of frames may hide together.
    time_most: Share,
    time_warp: u32,
    fill: Fill,
    probability: f64,
}

/// What stands under a mask.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Fill {
    Zero,
    /// The mean of the dimension over the sequence.
    Mean,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            freq_masks: 2,
            freq_width: 27,
            time_masks: Share::Number(2),
            time_width: Share::Number(100),
            time_most: Share::Of(1.0),
            time_warp: 0,
            fill: Fill::Zero,
            probability: 1.0,
        }
    }
}

impl TryFrom<Options> for SpecAugment {
    type Error = &'static str;

    fn try_from(options: Options) -> Result<Self, &'static str> {
        let many = |masks: u32| masks as usize > MOST_MASKS;
        if many(options.freq_masks) || matches!(options.time_masks, Share::Number(n) if many(n)) {
            return Err("`freq-masks` and `time-masks` are 1000 at most");
        }
        if !(options.probability > 0.0 && options.probability <= 1.0) {
            return Err("`probability` is a number above 0, and 1 at most");
        }
        Ok(Self(options))
    }
}

/// What is drawn for one sequence in one stream.
#[derive(Clone, Debug, Default, PartialEq)]
struct Drawn {
    /// The frame that moves, and the place that it moves to.
    warp: Option<(usize, usize)>,
    /// First and number of masked frames.
    frames: Vec<(usize, usize)>,
    /// First and number of masked dimensions.
    dims: Vec<(usize, usize)>,
}

impl SpecAugment {
    fn draw(&self, mut random: Random, frames: usize, dim: usize) -> Drawn {
        let options = &self.0;
        if random.next_f64() >= options.probability || frames == 0 {
            return Drawn::default();
        }
        let warp = options.time_warp as usize;
        // The frame must be able to move in both directions and stay inside.
        let warp = (warp > 0 && frames > 2 * warp).then(|| {
            let from = warp + random.below((frames - 2 * warp) as u64) as usize;
            (from, from - warp + 1 + random.below(2 * warp as u64 - 1) as usize)
        });
        let mut mask = |width: usize, length: usize| {
            let width = random.below(width.min(length) as u64 + 1) as usize;
            (random.below((length - width) as u64 + 1) as usize, width)
        };
        let masks = options.time_masks.of(frames).min(MOST_MASKS);
        let mut left = options.time_most.of(frames);
        let mut hidden = Vec::with_capacity(masks);
        for _ in 0..masks {
            let (first, width) = mask(options.time_width.of(frames).min(left), frames);
            hidden.push((first, width));
            left -= width;
        }
        let dims = (0..options.freq_masks).map(|_| mask(options.freq_width as usize, dim));
        Drawn { warp, dims: dims.collect(), frames: hidden }
    }

    fn run<T: Float>(&self, drawn: &Drawn, values: &mut [T], dim: usize) {
        if let Some((from, to)) = drawn.warp {
            warp(values, dim, from, to);
        }
        let fill = match self.0.fill {
            Fill::Zero => vec![T::from_f64(0.0); dim],
            Fill::Mean => means(values, dim),
        };
        for &(first, width) in &drawn.dims {
            for row in values.chunks_exact_mut(dim) {
                row[first..first + width].copy_from_slice(&fill[first..first + width]);
            }
        }
        for &(first, width) in &drawn.frames {
            let rows = values[first * dim..(first + width) * dim].chunks_exact_mut(dim);
            rows.for_each(|row| row.copy_from_slice(&fill));
        }
    }
}

/// The mean of each dimension.
fn means<T: Float>(values: &[T], dim: usize) -> Vec<T> {
    let mut sums = vec![0.0f64; dim];
    for row in values.chunks_exact(dim) {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value.to_f64());
    }
    let rows = (values.len() / dim) as f64;
    sums.into_iter().map(|sum| T::from_f64(sum / rows)).collect()
}

/// Moves frame `from` to place `to`, and spreads the frames before and behind it evenly. Values
/// between two frames are on the line between them.
fn warp<T: Float>(values: &mut [T], dim: usize, from: usize, to: usize) {
    let before = values.to_vec();
    let last = values.len() / dim - 1;
    for (at, row) in values.chunks_exact_mut(dim).enumerate() {
        let place = match at < to {
            true => at as f64 * from as f64 / to as f64,
            false if last == to => from as f64,
            false => from as f64 + (at - to) as f64 * (last - from) as f64 / (last - to) as f64,
        };
        let left = (place as usize).min(last);
        let (share, right) = (T::from_f64(place - left as f64), (left + 1).min(last));
        let (left, right) = (&before[left * dim..], &before[right * dim..]);
        let pairs = left.iter().zip(right);
        row.iter_mut().zip(pairs).for_each(|(to, (a, b))| *to = *a + (*b - *a) * share);
    }
}

impl Transform for SpecAugment {
    fn name(&self) -> &str {
        "spec-augment"
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        frames_in_place(streams, self.name())
    }

    fn varies(&self) -> bool {
        true
    }

    fn change(&self, _output: usize, given: &Given<'_>, values: SamplesMut<'_>) -> Result<()> {
        let stream = given.stream(0);
        let drawn = self.draw(given.random(), values.len(), stream.dim);
        match stream.element {
            Element::F64 => self.run::<f64>(&drawn, values.into_numbers(), stream.dim),
            _ => self.run::<f32>(&drawn, values.into_numbers(), stream.dim),
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use seqfeed_core::{Draw, Key};

    use super::*;

    fn read(options: &str) -> SpecAugment {
        toml::from_str(options).unwrap()
    }

    fn draws(augment: &SpecAugment, frames: usize, dim: usize) -> Vec<Drawn> {
        let key = |number: u32| number.to_string();
        let random = |number| Draw::new(5, 0).random(Key(key(number).as_bytes()));
        (0..20_000).map(|number| augment.draw(random(number), frames, dim)).collect()
    }

    /// Means that differ from their expectation by less than five deviations.
    fn is_mean(values: &[f64], expected: f64) -> bool {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        (mean - expected).abs() <= 5.0 * (variance / count).sqrt() + 1e-12
    }

    #[test]
    fn masks_are_spread_as_defined() {
        let augment = read("freq-masks = 3\nfreq-width = 8\ntime-masks = '2 %'\ntime-width = 20");
        let drawn = draws(&augment, 100, 40);
        let masks: Vec<(usize, usize)> = drawn.iter().flat_map(|one| one.dims.clone()).collect();
        assert_eq!(masks.len(), 60_000);
        assert!(drawn.iter().all(|one| one.frames.len() == 2 && one.warp.is_none()));
        // Each width from 0 to 8 is as likely as the others, and so is each place.
        for wanted in 0..=8 {
            let hit = |mask: &(usize, usize)| f64::from(u8::from(mask.1 == wanted));
            let hits: Vec<f64> = masks.iter().map(hit).collect();
            assert!(is_mean(&hits, 1.0 / 9.0), "{wanted}");
            let places = masks.iter().filter(|mask| mask.1 == wanted);
            let places: Vec<f64> = places.map(|mask| mask.0 as f64).collect();
            assert!(is_mean(&places, (40 - wanted) as f64 / 2.0), "{wanted}");
            assert!(places.contains(&0.0) && places.contains(&((40 - wanted) as f64)));
        }
        let widths: Vec<f64> = drawn.iter().map(|one| one.frames[0].1 as f64).collect();
        assert!(is_mean(&widths, 10.0) && widths.contains(&20.0));
    }

    #[test]
    fn masks_keep_to_their_limits() {
        let augment =
            read("time-masks = 10\ntime-width = '20 %'\ntime-most = '30 %'\nfreq-width = 50");
        for drawn in draws(&augment, 57, 7) {
            assert!(drawn.frames.iter().map(|mask| mask.1).sum::<usize>() <= 17);
            assert!(drawn.frames.iter().all(|(first, width)| *width <= 11 && first + width <= 57));
            assert!(drawn.dims.iter().all(|(first, width)| first + width <= 7));
        }
        let rare = draws(&read("probability = 0.25"), 50, 10);
        let some: Vec<f64> =
            rare.iter().map(|one| f64::from(u8::from(!one.dims.is_empty()))).collect();
        assert!(is_mean(&some, 0.25));
    }

    #[test]
    fn masked_values_are_replaced() {
        let drawn = Drawn { warp: None, frames: vec![(1, 2)], dims: vec![(0, 1)] };
        let values: Vec<f32> = (1..=8).map(|value| value as f32).collect();
        let mut zero = values.clone();
        read("").run(&drawn, &mut zero, 2);
        assert_eq!(zero, [0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 8.0]);
        let mut mean = values;
        read("fill = 'mean'").run(&drawn, &mut mean, 2);
        assert_eq!(mean, [4.0, 2.0, 4.0, 5.0, 4.0, 5.0, 4.0, 8.0]);
    }

    #[test]
    fn a_warp_moves_one_frame_and_keeps_the_ends() {
        let mut values: Vec<f64> = (0..11).map(f64::from).collect();
        warp(&mut values, 1, 4, 8);
        assert_eq!(values[..=8], [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0]);
        assert_eq!(values[8..], [4.0, 7.0, 10.0]);
        let augment = read("time-warp = 5");
        for drawn in draws(&augment, 30, 4) {
            let (from, to) = drawn.warp.unwrap();
            assert!((5..25).contains(&from) && from.abs_diff(to) < 5, "{from} {to}");
            let mut values = vec![1.5f32; 30 * 4];
            warp(&mut values, 4, from, to);
            assert!(values.iter().all(|value| *value == 1.5));
        }
        assert!(draws(&augment, 10, 4).iter().all(|one| one.warp.is_none()));
    }

    #[test]
    fn wrong_options_are_refused() {
        let wrong = [
            "freq-masks = 1001",
            "freq-masks = -1",
            "time-masks = '200 %'",
            "time-masks = 0.5",
            "fill = 'one'",
            "probability = 0",
            "mask = 1",
        ];
        assert!(wrong.iter().all(|text| toml::from_str::<SpecAugment>(text).is_err()));
    }
}

//! `shuffle-bins`: neighbouring dimensions or frames in a random order.

use bytemuck::Pod;
use seqfeed_core::{Element, Given, Output, Random, Result, SamplesMut, Stream, Transform};
use serde::Deserialize;

use crate::dense::frames_in_place;

/// Divides the dimensions, or the frames, of each sequence into bins of `size` neighbours and
/// shuffles each bin.
///
/// Dimensions get the same order in all frames of a sequence. Labels of frames stay where they are,
/// so bins of frames are for networks that look at more than a bin.
#[derive(Deserialize)]
#[serde(try_from = "Options")]
pub struct ShuffleBins(Options);

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    size: u32,
    #[serde(default)]
    axis: Axis,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Axis {
    #[default]
    Dims,
    Frames,
}

impl TryFrom<Options> for ShuffleBins {
    type Error = &'static str;

    fn try_from(options: Options) -> Result<Self, &'static str> {
        if options.size < 2 {
            return Err("`size` is a number from 2: one neighbour alone has one order");
        }
        Ok(Self(options))
    }
}

/// The numbers below `count`, shuffled inside bins of `size`.
fn order(mut random: Random, count: usize, size: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for bin in order.chunks_mut(size) {
        for last in (1..bin.len()).rev() {
            bin.swap(last, random.below(last as u64 + 1) as usize);
        }
    }
    order
}

impl ShuffleBins {
    fn run<T: Pod>(&self, random: Random, values: &mut [T], dim: usize) {
        let size = self.0.size as usize;
        match self.0.axis {
            Axis::Dims => {
                let order = order(random, dim, size);
                let mut before = Vec::with_capacity(dim);
                for row in values.chunks_exact_mut(dim) {
                    before.clear();
                    before.extend_from_slice(row);
                    row.iter_mut().zip(&order).for_each(|(to, &from)| *to = before[from]);
                }
            }
            Axis::Frames => {
                let (before, order) = (values.to_vec(), order(random, values.len() / dim, size));
                for (row, from) in values.chunks_exact_mut(dim).zip(order) {
                    row.copy_from_slice(&before[from * dim..(from + 1) * dim]);
                }
            }
        }
    }
}

impl Transform for ShuffleBins {
    fn name(&self) -> &str {
        "shuffle-bins"
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        frames_in_place(streams, self.name())
    }

    fn varies(&self) -> bool {
        true
    }

    fn change(&self, _output: usize, given: &Given<'_>, values: SamplesMut<'_>) -> Result<()> {
        let stream = given.stream(0);
        match stream.element {
            Element::F64 => self.run::<f64>(given.random(), values.into_numbers(), stream.dim),
            _ => self.run::<f32>(given.random(), values.into_numbers(), stream.dim),
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use seqfeed_core::{Draw, Key};

    use super::*;

    #[test]
    fn bins_keep_their_values_and_get_all_orders() {
        let mut seen = std::collections::BTreeMap::new();
        for number in 0..6000u32 {
            let random = Draw::new(3, 0).random(Key(&number.to_le_bytes()));
            let found = order(random, 8, 3);
            let bins: Vec<usize> = found.iter().map(|from| from / 3).collect();
            assert_eq!(bins, [0, 0, 0, 1, 1, 1, 2, 2]);
            *seen.entry(found[..3].to_vec()).or_insert(0) += 1;
        }
        // Six orders, each equally likely: five deviations around 1000.
        assert!(seen.len() == 6 && seen.values().all(|&count| (855..1145).contains(&count)));
    }

    #[test]
    fn dims_are_shuffled_alike_in_all_frames() {
        let random = || Draw::new(1, 0).random(Key(b"utt"));
        let mut values: Vec<f32> = (0..20).map(|value| value as f32).collect();
        let dims: ShuffleBins = toml::from_str("size = 5").unwrap();
        dims.run(random(), &mut values, 5);
        let order = order(random(), 5, 5);
        assert_ne!(order, [0, 1, 2, 3, 4]);
        let expected = (0..20).map(|at| (at / 5 * 5 + order[at % 5]) as f32);
        assert!(values.iter().copied().eq(expected));
        let frames: ShuffleBins = toml::from_str("size = 2\naxis = 'frames'").unwrap();
        let mut rows: Vec<f64> = (0..12).map(f64::from).collect();
        frames.run(random(), &mut rows, 3);
        assert!(rows.chunks(3).all(|row| row[0] % 3.0 == 0.0 && row[2] == row[0] + 2.0));
    }

    #[test]
    fn wrong_options_are_refused() {
        let wrong = ["size = 1", "", "size = 3\naxis = 'time'"];
        assert!(wrong.iter().all(|text| toml::from_str::<ShuffleBins>(text).is_err()));
    }
}

//! `shift-deltas`: slopes at several places, as Kaldi's `add-deltas-sdc`.

use seqfeed_core::{Block, Element, Given, Output, Result, Stream, Transform, numbers};
use serde::Deserialize;

use crate::deltas::Slopes;
use crate::dense::{check_frames, has_frames};

/// Adds the slopes of features at the frame itself and at frames behind it, as Kaldi's
/// `add-deltas-sdc`.
#[derive(Deserialize)]
#[serde(try_from = "Options")]
pub struct ShiftDeltas {
    slopes: Slopes<f32>,
    slopes_of_f64: Slopes<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Options {
    /// Frames to either side that a slope is taken over.
    window: usize,
    /// The number of slopes.
    num_blocks: usize,
    /// Frames from one slope to the next.
    block_shift: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { window: 1, num_blocks: 7, block_shift: 3 }
    }
}

impl TryFrom<Options> for ShiftDeltas {
    type Error = &'static str;

    fn try_from(options: Options) -> Result<Self, &'static str> {
        let Options { window, num_blocks, block_shift } = options;
        if [window, num_blocks, block_shift].iter().any(|one| !(1..1000).contains(one)) {
            return Err("`window`, `num-blocks` and `block-shift` are numbers from 1 to 999");
        }
        let slopes = Slopes::shifted(window, num_blocks, block_shift);
        Ok(Self { slopes, slopes_of_f64: Slopes::shifted(window, num_blocks, block_shift) })
    }
}

impl Transform for ShiftDeltas {
    fn name(&self) -> &str {
        "shift-deltas"
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        check_frames(streams, self.name())?;
        let wide = |stream: Stream| {
            let dim = stream.dim.saturating_mul(self.slopes.orders());
            Stream { dim, ..stream }
        };
        Ok(Output::change(streams, has_frames, wide))
    }

    fn apply(&self, _output: usize, given: &Given<'_>, to: &mut Block) -> Result<()> {
        let (samples, dim) = (given.samples(0), given.stream(0).dim);
        if given.stream(0).element == Element::F64 {
            let frames = numbers(samples.bytes());
            self.slopes_of_f64.compute(&frames, dim, dim, to.push_f64(samples.len()));
        } else {
            let frames = numbers(samples.bytes());
            self.slopes.compute(&frames, dim, dim, to.push_f32(samples.len()));
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn slopes_stand_at_later_frames() {
        let deltas: ShiftDeltas = toml::from_str("num-blocks = 2\nblock-shift = 1").unwrap();
        let mut out = [f32::NAN; 12];
        deltas.slopes.compute(&[0.0, 2.0, 6.0, 6.0], 1, 1, &mut out);
        // Half the difference of the neighbours. Frames beyond the end are like the last.
        assert_eq!(out, [0.0, 1.0, 3.0, 2.0, 3.0, 2.0, 6.0, 2.0, 0.0, 6.0, 0.0, 0.0]);
        assert!(toml::from_str::<ShiftDeltas>("block-shift = 0").is_err());
    }
}

//! `time-crop`: a random part of each long sequence.

use seqfeed_core::{Block, Given, Kind, Most, Output, Result, Stream, Transform};
use serde::Deserialize;

use crate::dense::refuse_apart;
use crate::subsample::extent_of_frames;

/// Keeps a random part of so many samples of each longer sequence. Each part is equally likely.
///
/// All streams with one sample a time step lose the same samples, so it is for all streams of a
/// corpus together.
#[derive(Deserialize)]
#[serde(try_from = "Options")]
pub struct TimeCrop {
    /// The most samples that stay.
    frames: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    frames: u32,
}

impl TryFrom<Options> for TimeCrop {
    type Error = &'static str;

    fn try_from(Options { frames }: Options) -> Result<Self, &'static str> {
        if frames == 0 {
            return Err("`frames` is a number from 1");
        }
        Ok(Self { frames })
    }
}

impl Transform for TimeCrop {
    fn name(&self) -> &str {
        "time-crop"
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        refuse_apart(streams, self.name())?;
        let frames = extent_of_frames(streams, self.name())?;
        Ok(Output::change(streams, |stream| stream.extent == frames, |stream| stream))
    }

    fn samples(&self, samples: u32) -> u32 {
        samples.min(self.frames)
    }

    fn varies(&self) -> bool {
        true
    }

    /// A part has no more values than the whole.
    fn most(&self, _output: usize, given: Most) -> Option<Most> {
        Some(given)
    }

    fn apply(&self, _output: usize, given: &Given<'_>, to: &mut Block) -> Result<()> {
        let is_sparse = given.stream(0).kind == Kind::Sparse;
        let length = match is_sparse {
            true => given.sparse_samples(0).len(),
            false => given.samples(0).len(),
        };
        let kept = length.min(self.frames as usize);
        // The same part of all streams: they have the same random numbers.
        let first = given.random().below((length - kept) as u64 + 1) as usize;
        if is_sparse {
            let samples = given.sparse_samples(0);
            let (values, size) =
                (samples.values_in(first..first + kept), given.stream(0).element.size());
            let ends: Vec<u32> = (first + 1..=first + kept)
                .map(|end| samples.values_in(first..end).len() as u32)
                .collect();
            let bytes = &samples.values[values.start * size..values.end * size];
            to.push_sparse(bytes, &samples.indices[values], &ends);
            return Ok(());
        }
        to.push_bytes(kept).copy_from_slice(given.samples(0).rows(first..first + kept));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_options_are_refused() {
        let wrong = ["frames = 0", "", "frames = -1", "frames = 1\nsamples = 1"];
        assert!(wrong.iter().all(|text| toml::from_str::<TimeCrop>(text).is_err()));
        let crop = TimeCrop { frames: 10 };
        assert_eq!([crop.samples(0), crop.samples(10), crop.samples(11)], [0, 10, 10]);
    }
}

//! `stack`: several frames in one row at a lower frame rate (LFR).

use seqfeed_core::{About, Block, Given, Kind, Most, Output, Result, Stream, Transform};
use serde::Deserialize;

use crate::Subsample;
use crate::dense::refuse_apart;
use crate::splice::{context, widened};
use crate::subsample::extent_of_frames;

/// Puts `m` frames side by side for every `n`-th frame.
///
/// The row of frame t begins (m - 1) / 2 frames before it, so t is the middle one for an odd m. The
/// first and last frame stand for frames beyond the ends. Of T frames, ceil(T / n) rows come out.
/// Labels and other samples that are not dense follow: each row keeps those of its frame t.
#[derive(Deserialize)]
#[serde(try_from = "Options")]
pub struct Stack {
    /// Frames in a row.
    m: usize,
    /// Frames from one row to the next.
    n: u32,
    others: Subsample,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    m: u32,
    n: u32,
}

impl TryFrom<Options> for Stack {
    type Error = &'static str;

    fn try_from(Options { m, n }: Options) -> Result<Self, &'static str> {
        if !(1..=10_000).contains(&m) || !(1..=10_000).contains(&n) {
            return Err("`m` and `n` are numbers from 1 to 10000");
        }
        Ok(Self { m: m as usize, n, others: Subsample::every(n) })
    }
}

impl Transform for Stack {
    fn name(&self) -> &str {
        "stack"
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        refuse_apart(streams, self.name())?;
        let frames = extent_of_frames(streams, self.name())?;
        let is_wide = widened(streams, self.name(), frames, self.m)?;
        let change = |stream: Stream| match is_wide(&stream) {
            true => Stream { dim: stream.dim * self.m, ..stream },
            false => stream,
        };
        Ok(Output::change(streams, |stream| stream.extent == frames, change))
    }

    fn samples(&self, samples: u32) -> u32 {
        samples.div_ceil(self.n)
    }

    fn about(&self, about: About) -> About {
        self.others.about(about)
    }

    /// Sparse samples are kept or left out.
    fn most(&self, output: usize, given: Most) -> Option<Most> {
        self.others.most(output, given)
    }

    fn apply(&self, output: usize, given: &Given<'_>, to: &mut Block) -> Result<()> {
        if given.stream(0).kind != Kind::Dense {
            return self.others.apply(output, given, to);
        }
        let samples = given.samples(0);
        let out = to.push_bytes(samples.len().div_ceil(self.n as usize));
        let before = (self.m - 1) / 2;
        let (rows, width, first) = (samples.bytes(), samples.row_bytes(), -(before as isize));
        context(rows, width, first, self.m, self.n as usize, out);
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The first frame is put in front of all; then each row takes m frames from n times its
        /// number on.
        #[test]
        fn rows_are_those_of_padded_frames(frames in 1usize..40, m in 1usize..12, n in 1usize..12) {
            let padded: Vec<usize> = std::iter::repeat_n(0, (m - 1) / 2).chain(0..frames).collect();
            let rows = frames.div_ceil(n);
            let expected = (0..rows).flat_map(|row| {
                (row * n..row * n + m).map(|at| *padded.get(at).unwrap_or(&(frames - 1)))
            });
            let expected: Vec<usize> = expected.collect();
            let given: Vec<usize> = (0..frames).collect();
            let mut found = vec![usize::MAX; rows * m];
            context(&given, 1, -(((m - 1) / 2) as isize), m, n, &mut found);
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn wrong_options_are_refused() {
        for wrong in ["m = 0\nn = 1", "m = 1\nn = 0", "m = 7", "m = 10001\nn = 1"] {
            assert!(toml::from_str::<Stack>(wrong).is_err(), "{wrong}");
        }
    }
}

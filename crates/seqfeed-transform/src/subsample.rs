//! `subsample`: keeps every n-th sample, as Kaldi's `subsample-feats`.

use seqfeed_core::{
    About, Block, Error, Extent, Given, Kind, Most, Output, Result, Stream, Transform,
};
use serde::Deserialize;

/// The most times that a sample is repeated.
const MOST_REPEATS: i32 = 1000;

/// Keeps every n-th sample, as Kaldi's `subsample-feats`. With a negative n, repeats each sample -n
/// times.
#[derive(Deserialize)]
#[serde(try_from = "Options")]
pub struct Subsample(Options);

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    /// The distance from one kept sample to the next; if negative, how often each sample stands.
    n: i32,
    /// The first kept sample, from 0.
    #[serde(default)]
    offset: u32,
}

impl TryFrom<Options> for Subsample {
    type Error = &'static str;

    fn try_from(options: Options) -> Result<Self, &'static str> {
        match options {
            Options { n: 0, .. } => Err("`n` is a number from 1, or negative to repeat samples"),
            Options { n, .. } if n < -MOST_REPEATS => Err("`n` is at least -1000"),
            Options { n, offset } if n < 0 && offset != 0 => Err("`offset` needs a positive `n`"),
            options => Ok(Self(options)),
        }
    }
}

impl Subsample {
    /// Every `n`-th sample.
    pub(crate) fn every(n: u32) -> Self {
        Self(Options { n: n.try_into().unwrap_or(i32::MAX), offset: 0 })
    }

    /// The numbers of the samples that come out of `samples` samples.
    fn rows(&self, samples: usize) -> impl Iterator<Item = usize> {
        rows(samples, self.0.n, self.0.offset as usize)
    }
}

/// The numbers of the rows that `subsample-feats` takes out of `rows` rows: every `n`-th from
/// `offset` on. With a negative `n`, each row -n times.
pub fn rows(rows: usize, n: i32, offset: usize) -> impl Iterator<Item = usize> {
    let step = if n > 0 { n.unsigned_abs() as usize } else { 1 };
    let times = if n < 0 { n.unsigned_abs() as usize } else { 1 };
    (offset..rows).step_by(step).flat_map(move |row| std::iter::repeat_n(row, times))
}

/// The extent of the streams that a change of lengths is for. If there are streams of frames,
/// streams with lengths of their own are something else, such as words.
pub(crate) fn extent_of_frames(streams: &[Stream], transform: &str) -> Result<Extent> {
    let frames = match streams.iter().any(|stream| stream.extent == Extent::Samples) {
        true => Extent::Samples,
        false => Extent::Own,
    };
    if streams.iter().all(|stream| stream.extent != frames) {
        let what = format!("transform {transform}: streams have one sample a sequence");
        return Err(Error::usage(what).with_help("it is for streams with a sample for each frame"));
    }
    Ok(frames)
}

impl Subsample {
    fn apply_sparse(&self, given: &Given<'_>, to: &mut Block) {
        let (samples, size) = (given.sparse_samples(0), given.stream(0).element.size());
        let (mut values, mut indices, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for row in self.rows(samples.len()) {
            let of_row = samples.values_in(row..row + 1);
            values.extend_from_slice(&samples.values[of_row.start * size..of_row.end * size]);
            indices.extend_from_slice(&samples.indices[of_row]);
            ends.push(indices.len() as u32);
        }
        to.push_sparse(&values, &indices, &ends);
    }
}

impl Transform for Subsample {
    fn name(&self) -> &str {
        "subsample"
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        let frames = extent_of_frames(streams, self.name())?;
        Ok(Output::change(streams, |stream| stream.extent == frames, |stream| stream))
    }

    fn samples(&self, samples: u32) -> u32 {
        match u32::try_from(self.0.n) {
            Ok(n) => samples.saturating_sub(self.0.offset).div_ceil(n),
            Err(_) => samples.saturating_mul(self.0.n.unsigned_abs()),
        }
    }

    fn about(&self, about: About) -> About {
        let n = f64::from(self.0.n);
        let factor = if n > 0.0 { n } else { -1.0 / n };
        About { frame_shift: about.frame_shift.map(|seconds| seconds * factor), ..about }
    }

    /// Each sample comes once at most, or as often as it is repeated.
    fn most(&self, _output: usize, given: Most) -> Option<Most> {
        let times = u64::from(self.0.n.min(-1).unsigned_abs());
        let Most { samples, values } = given;
        let [samples, values] = [samples, values].map(|count| count.saturating_mul(times));
        Some(Most { samples, values })
    }

    fn apply(&self, _output: usize, given: &Given<'_>, to: &mut Block) -> Result<()> {
        if given.stream(0).kind == Kind::Sparse {
            self.apply_sparse(given, to);
            return Ok(());
        }
        let samples = given.samples(0);
        let most = u32::MAX as usize / self.0.n.min(-1).unsigned_abs() as usize;
        if samples.len() > most {
            let what = format!("transform subsample: {} samples are too many", samples.len());
            return Err(Error::corpus(what).of_key(given.key()));
        }
        let count = self.samples(samples.len() as u32) as usize;
        let bytes = to.push_bytes(count).chunks_exact_mut(samples.row_bytes().max(1));
        for (row, to) in self.rows(samples.len()).zip(bytes) {
            to.copy_from_slice(samples.row(row));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_numbers_of_rows() {
        for (n, offset) in [(1, 0), (3, 0), (3, 1), (4, 9), (-1, 0), (-3, 0)] {
            let subsample = Subsample(Options { n, offset });
            for samples in 0..20 {
                let rows = subsample.rows(samples as usize).count();
                assert_eq!(subsample.samples(samples) as usize, rows, "{n} {offset} {samples}");
            }
        }
        assert_eq!(rows(3, -2, 0).collect::<Vec<_>>(), [0, 0, 1, 1, 2, 2]);
        assert_eq!(rows(8, 3, 1).collect::<Vec<_>>(), [1, 4, 7]);
    }

    #[test]
    fn wrong_options_are_refused() {
        let wrong = ["n = 0", "n = -2\noffset = 1", "n = -1001", "", "n = 1\nm = 2"];
        assert!(wrong.iter().all(|text| toml::from_str::<Subsample>(text).is_err()));
    }
}

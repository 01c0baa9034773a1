//! `subsample`: keeps every n-th sample, as Kaldi's `subsample-feats`.

use std::sync::Arc;

use seqfeed_core::{About, Block, Error, Extent, Given, Kind, Output, Result, Stream, Transform};
use seqfeed_io::Opener;
use serde::Deserialize;

use super::TransformSpec;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Subsample {
    /// The distance from one kept sample to the next.
    n: u32,
    /// The first kept sample, from 0.
    #[serde(default)]
    offset: u32,
}

pub(super) fn make(spec: &TransformSpec, _opener: &Opener) -> Result<Arc<dyn Transform>> {
    let subsample: Subsample = spec.read()?;
    if subsample.n == 0 {
        return Err(Error::usage("transform subsample: `n` is a number from 1"));
    }
    Ok(Arc::new(subsample))
}

impl Subsample {
    fn apply_sparse(&self, given: &Given<'_>, to: &mut Block) {
        let (samples, size) = (given.sparse_samples(0), given.stream(0).element.size());
        let (mut values, mut indices, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for row in (self.offset as usize..samples.len()).step_by(self.n as usize) {
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
        // If there are streams of frames, streams with lengths of their own are something else,
        // such as words.
        let frames = match streams.iter().any(|stream| stream.extent == Extent::Samples) {
            true => Extent::Samples,
            false => Extent::Own,
        };
        if streams.iter().all(|stream| stream.extent != frames) {
            return Err(Error::usage("transform subsample: streams have one sample a sequence")
                .with_help("it is for streams with a sample for each frame"));
        }
        Ok(Output::change(streams, |stream| stream.extent == frames, |stream| stream))
    }

    fn samples(&self, samples: u32) -> u32 {
        samples.saturating_sub(self.offset).div_ceil(self.n)
    }

    fn about(&self, about: About) -> About {
        let frame_shift = about.frame_shift.map(|seconds| seconds * f64::from(self.n));
        About { frame_shift, ..about }
    }

    fn apply(&self, _output: usize, given: &Given<'_>, to: &mut Block) -> Result<()> {
        if given.stream(0).kind == Kind::Sparse {
            self.apply_sparse(given, to);
            return Ok(());
        }
        let samples = given.samples(0);
        let rows = (self.offset as usize..samples.len()).step_by(self.n as usize);
        let bytes = to.push_bytes(rows.len());
        for (row, to) in rows.zip(bytes.chunks_exact_mut(samples.row_bytes().max(1))) {
            to.copy_from_slice(samples.row(row));
        }
        Ok(())
    }
}

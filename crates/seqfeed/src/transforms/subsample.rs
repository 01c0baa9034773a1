//! `subsample`: every n-th sample, as Kaldi's `subsample-feats` takes them.

use std::sync::Arc;

use seqfeed_core::{About, Block, Error, Extent, Given, Kind, Output, Result, Stream, Transform};
use seqfeed_io::Opener;
use serde::Deserialize;

use super::TransformSpec;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Subsample {
    /// How far it is from one sample to the next.
    n: u32,
    /// The first one, from 0.
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

impl Transform for Subsample {
    fn name(&self) -> &str {
        "subsample"
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        let changes = |stream: &Stream| stream.extent == Extent::Samples;
        if let Some(sparse) = streams.iter().find(|s| changes(s) && s.kind == Kind::Sparse) {
            let what = format!("transform subsample: stream {} is sparse", sparse.name);
            return Err(Error::usage(what));
        }
        Ok(Output::change(streams, changes, |stream| stream))
    }

    fn samples(&self, samples: u32) -> u32 {
        samples.saturating_sub(self.offset).div_ceil(self.n)
    }

    fn about(&self, about: About) -> About {
        let frame_shift = about.frame_shift.map(|seconds| seconds * f64::from(self.n));
        About { frame_shift, ..about }
    }

    fn apply(&self, _output: usize, given: &Given<'_>, to: &mut Block) -> Result<()> {
        let samples = given.samples(0);
        let rows = (self.offset as usize..samples.len()).step_by(self.n as usize);
        let bytes = to.push_bytes(rows.len());
        for (row, to) in rows.zip(bytes.chunks_exact_mut(samples.row_bytes().max(1))) {
            to.copy_from_slice(samples.row(row));
        }
        Ok(())
    }
}

//! `noise`: adds normally distributed values to all values of dense streams.

use std::sync::Arc;

use seqfeed_core::{
    Block, Element, Error, Given, Kind, Output, Result, Stream, Transform, numbers,
};
use seqfeed_io::Opener;
use serde::Deserialize;

use super::TransformSpec;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Noise {
    /// The standard deviation.
    deviation: f64,
}

pub(super) fn make(spec: &TransformSpec, _opener: &Opener) -> Result<Arc<dyn Transform>> {
    let noise: Noise = spec.read()?;
    // Values mostly have 32 bits.
    if !((noise.deviation as f32).is_finite() && noise.deviation as f32 > 0.0) {
        return Err(Error::usage("transform noise: `deviation` is a finite number above 0"));
    }
    Ok(Arc::new(noise))
}

impl Noise {
    /// The noise for the values of a sequence. Both numbers of each pair of draws are used.
    fn values(&self, output: usize, given: &Given<'_>) -> impl Iterator<Item = f64> {
        let (mut random, deviation) = (given.random_of(output), self.deviation);
        std::iter::repeat_with(move || random.next_normal())
            .flatten()
            .map(move |one| one * deviation)
    }
}

impl Transform for Noise {
    fn name(&self) -> &str {
        "noise"
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        if streams.iter().all(|stream| stream.kind != Kind::Dense) {
            return Err(Error::usage("transform noise: there is no dense stream"));
        }
        Ok(Output::change(streams, |stream| stream.kind == Kind::Dense, |stream| stream))
    }

    fn varies(&self) -> bool {
        true
    }

    fn apply(&self, output: usize, given: &Given<'_>, to: &mut Block) -> Result<()> {
        let samples = given.samples(0);
        let noise = self.values(output, given);
        if given.stream(0).element == Element::F64 {
            let values = numbers::<f64>(samples.bytes());
            let sums = values.iter().zip(noise).map(|(value, noise)| value + noise);
            to.push_f64(samples.len()).iter_mut().zip(sums).for_each(|(to, sum)| *to = sum);
        } else {
            let values = numbers::<f32>(samples.bytes());
            let sums = values.iter().zip(noise).map(|(value, noise)| value + noise as f32);
            to.push_f32(samples.len()).iter_mut().zip(sums).for_each(|(to, sum)| *to = sum);
        }
        Ok(())
    }
}

//! `noise`: adds normally distributed values to all values of dense streams.

use seqfeed_core::{Element, Error, Given, Kind, Output, Result, SamplesMut, Stream, Transform};
use serde::Deserialize;

/// Adds normally distributed values to all values of dense streams.
#[derive(Deserialize)]
#[serde(try_from = "Options")]
pub struct Noise(Options);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    /// The standard deviation.
    deviation: f64,
}

impl TryFrom<Options> for Noise {
    type Error = &'static str;

    fn try_from(options: Options) -> Result<Self, &'static str> {
        // Values mostly have 32 bits.
        if !((options.deviation as f32).is_finite() && options.deviation as f32 > 0.0) {
            return Err("`deviation` is a finite number above 0");
        }
        Ok(Self(options))
    }
}

impl Noise {
    /// The noise for the values of a sequence. Both numbers of each pair of draws are used.
    fn values(&self, output: usize, given: &Given<'_>) -> impl Iterator<Item = f64> {
        let (mut random, deviation) = (given.random_of(output), self.0.deviation);
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
        Ok(Output::change_in_place(streams, |stream| stream.kind == Kind::Dense))
    }

    fn varies(&self) -> bool {
        true
    }

    fn change(&self, output: usize, given: &Given<'_>, values: SamplesMut<'_>) -> Result<()> {
        let noise = self.values(output, given);
        if given.stream(0).element == Element::F64 {
            let values = values.into_numbers::<f64>().iter_mut();
            values.zip(noise).for_each(|(value, noise)| *value += noise);
        } else {
            let values = values.into_numbers::<f32>().iter_mut();
            values.zip(noise).for_each(|(value, noise)| *value += noise as f32);
        }
        Ok(())
    }
}

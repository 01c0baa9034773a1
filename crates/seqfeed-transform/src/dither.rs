//! `dither`: evenly distributed noise below the precision of the values.

use seqfeed_core::{Element, Given, Output, Result, SamplesMut, Stream, Transform};
use serde::Deserialize;

use crate::Float;
use crate::dense::dense_in_place;

/// Adds evenly distributed values from `-amount` to `amount` to all values of dense streams.
///
/// It hides the steps of compressed features. It also keeps values that are all alike, such as
/// those of digital silence, from having no variance.
#[derive(Deserialize)]
#[serde(try_from = "Options")]
pub struct Dither {
    amount: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    amount: f64,
}

impl TryFrom<Options> for Dither {
    type Error = &'static str;

    fn try_from(Options { amount }: Options) -> Result<Self, &'static str> {
        // Values mostly have 32 bits.
        if !((amount as f32).is_finite() && amount as f32 > 0.0) {
            return Err("`amount` is a finite number above 0");
        }
        Ok(Self { amount })
    }
}

impl Dither {
    fn run<T: Float>(&self, output: usize, given: &Given<'_>, values: &mut [T]) {
        let mut random = given.random_of(output);
        for value in values {
            *value += T::from_f64((2.0 * random.next_f64() - 1.0) * self.amount);
        }
    }
}

impl Transform for Dither {
    fn name(&self) -> &str {
        "dither"
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        dense_in_place(streams, self.name())
    }

    fn varies(&self) -> bool {
        true
    }

    fn change(&self, output: usize, given: &Given<'_>, values: SamplesMut<'_>) -> Result<()> {
        match given.stream(0).element {
            Element::F64 => self.run::<f64>(output, given, values.into_numbers()),
            _ => self.run::<f32>(output, given, values.into_numbers()),
        }
        Ok(())
    }
}

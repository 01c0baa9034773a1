//! `clip`: values between limits.

use seqfeed_core::{Element, Given, Output, Result, SamplesMut, Stream, Transform};
use serde::Deserialize;

use crate::Float;
use crate::dense::dense_in_place;

/// Raises the values of dense streams to a least value, and lowers them to a greatest one.
#[derive(Deserialize)]
#[serde(try_from = "Options")]
pub struct Clip {
    min: f64,
    max: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    min: Option<f64>,
    max: Option<f64>,
}

impl TryFrom<Options> for Clip {
    type Error = &'static str;

    fn try_from(options: Options) -> Result<Self, &'static str> {
        if options.min.is_none() && options.max.is_none() {
            return Err("give `min`, `max` or both");
        }
        let is_narrow = |limit: Option<f64>| limit.is_none_or(|limit| (limit as f32).is_finite());
        if !is_narrow(options.min) || !is_narrow(options.max) {
            return Err("`min` and `max` are numbers of 32 bits");
        }
        let min = options.min.unwrap_or(f64::NEG_INFINITY);
        let max = options.max.unwrap_or(f64::INFINITY);
        // A limit that is not a number fails here, too.
        if min <= max { Ok(Self { min, max }) } else { Err("`min` is at most `max`") }
    }
}

impl Clip {
    /// Values that are not numbers stay.
    fn run<T: Float>(&self, values: &mut [T]) {
        let (min, max) = (T::from_f64(self.min), T::from_f64(self.max));
        for value in values {
            let raised = if *value < min { min } else { *value };
            *value = if raised > max { max } else { raised };
        }
    }
}

impl Transform for Clip {
    fn name(&self) -> &str {
        "clip"
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        dense_in_place(streams, self.name())
    }

    fn change(&self, _output: usize, given: &Given<'_>, values: SamplesMut<'_>) -> Result<()> {
        match given.stream(0).element {
            Element::F64 => self.run::<f64>(values.into_numbers()),
            _ => self.run::<f32>(values.into_numbers()),
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_between_the_limits() {
        let mut values = [-3.0f32, 0.5, 7.0, f32::NAN, f32::INFINITY];
        toml::from_str::<Clip>("min = -1\nmax = 2").unwrap().run(&mut values);
        assert_eq!((values[..3].to_vec(), values[4]), (vec![-1.0, 0.5, 2.0], 2.0));
        assert!(values[3].is_nan());
        for wrong in ["", "min = 1\nmax = 0", "min = nan", "least = 1"] {
            assert!(toml::from_str::<Clip>(wrong).is_err(), "{wrong}");
        }
    }
}

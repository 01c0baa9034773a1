//! `log`: logarithms of values.

use seqfeed_core::{Element, Given, Output, Result, SamplesMut, Stream, Transform};
use serde::Deserialize;

use crate::Float;
use crate::dense::dense_in_place;

/// The smallest value whose logarithm Kaldi's tools take.
pub const FLOOR: f32 = 1e-20;

/// Natural logarithms of values. Values below `floor` are raised to it.
pub fn log<T: Float>(values: &mut [T], floor: T) {
    // Not `max`, which would give the floor for NaN.
    let floored = |value: T| if value < floor { floor } else { value };
    values.iter_mut().for_each(|value| *value = floored(*value).ln());
}

/// Takes the natural logarithms of the values of dense streams.
#[derive(Deserialize)]
#[serde(try_from = "Options")]
pub struct Log(f64);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    /// Values below it are raised to it first.
    floor: Option<f64>,
}

impl TryFrom<Options> for Log {
    type Error = &'static str;

    fn try_from(options: Options) -> Result<Self, &'static str> {
        let floor = options.floor.unwrap_or(1e-20);
        // Values mostly have 32 bits.
        let is_positive = floor as f32 > 0.0 && (floor as f32).is_finite();
        if is_positive { Ok(Self(floor)) } else { Err("`floor` is a finite number above 0") }
    }
}

impl Transform for Log {
    fn name(&self) -> &str {
        "log"
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        dense_in_place(streams, self.name())
    }

    fn change(&self, _output: usize, given: &Given<'_>, values: SamplesMut<'_>) -> Result<()> {
        match given.stream(0).element {
            Element::F64 => log::<f64>(values.into_numbers(), self.0),
            _ => log::<f32>(values.into_numbers(), self.0 as f32),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_below_the_floor_are_raised() {
        let mut values = [0.0, 1.0, -1.0, f32::NAN];
        log(&mut values, FLOOR);
        assert_eq!(values[..3], [FLOOR.ln(), 0.0, FLOOR.ln()]);
        assert!(values[3].is_nan());
    }
}

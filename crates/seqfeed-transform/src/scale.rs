//! `scale`: values times a factor, plus an offset.

use std::fmt;

use seqfeed_core::{Element, Error, Given, Output, Result, SamplesMut, Stream, Transform};
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};

use crate::Float;
use crate::dense::{dense_in_place, is_dense};

/// Multiplies the values of dense streams with a factor, then adds an offset. Both are one number
/// or a list with one for each dimension.
#[derive(Deserialize)]
#[serde(try_from = "Options")]
pub struct Scale {
    factor: Numbers,
    offset: Numbers,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    factor: Option<Numbers>,
    offset: Option<Numbers>,
}

impl TryFrom<Options> for Scale {
    type Error = &'static str;

    fn try_from(Options { factor, offset }: Options) -> Result<Self, &'static str> {
        if factor.is_none() && offset.is_none() {
            return Err("give `factor`, `offset` or both");
        }
        let is_finite = |one: &Numbers| one.0.iter().all(|value| (*value as f32).is_finite());
        if !factor.iter().chain(&offset).all(is_finite) {
            return Err("`factor` and `offset` are finite numbers");
        }
        Ok(Self {
            factor: factor.unwrap_or(Numbers(vec![1.0])),
            offset: offset.unwrap_or(Numbers(vec![0.0])),
        })
    }
}

/// One number for all dimensions, or one for each.
struct Numbers(Vec<f64>);

impl Numbers {
    fn fits(&self, dim: usize) -> bool {
        self.0.len() == 1 || self.0.len() == dim
    }

    fn each(&self) -> impl Iterator<Item = f64> {
        // One number is for all; of more, the row takes as many as it has values.
        self.0.iter().copied().cycle()
    }
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumbersVisitor)
    }
}

struct NumbersVisitor;

impl<'de> Visitor<'de> for NumbersVisitor {
    type Value = Numbers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or a list with a number for each dimension")
    }

    fn visit_f64<E>(self, number: f64) -> Result<Numbers, E> {
        Ok(Numbers(vec![number]))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Numbers, E> {
        Ok(Numbers(vec![number as f64]))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Numbers, E> {
        Ok(Numbers(vec![number as f64]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut several: A) -> Result<Numbers, A::Error> {
        let mut numbers = Vec::new();
        while let Some(number) = several.next_element()? {
            numbers.push(number);
        }
        Ok(Numbers(numbers))
    }
}

impl Scale {
    fn run<T: Float>(&self, values: &mut [T], dim: usize) {
        let of_row =
            |numbers: &Numbers| -> Vec<T> { numbers.each().take(dim).map(T::from_f64).collect() };
        let (factors, offsets) = (of_row(&self.factor), of_row(&self.offset));
        for row in values.chunks_exact_mut(dim.max(1)) {
            let each = row.iter_mut().zip(&factors).zip(&offsets);
            each.for_each(|((value, factor), offset)| *value = *value * *factor + *offset);
        }
    }
}

impl Transform for Scale {
    fn name(&self) -> &str {
        "scale"
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        let outputs = dense_in_place(streams, self.name())?;
        for (what, numbers) in [("factor", &self.factor), ("offset", &self.offset)] {
            let dense = streams.iter().filter(|stream| is_dense(stream));
            if let Some(other) = dense.into_iter().find(|stream| !numbers.fits(stream.dim)) {
                return Err(Error::usage(format!(
                    "transform scale: `{what}` has {} numbers, but stream {} has {} dimensions",
                    numbers.0.len(),
                    other.name,
                    other.dim
                )));
            }
        }
        Ok(outputs)
    }

    fn change(&self, _output: usize, given: &Given<'_>, values: SamplesMut<'_>) -> Result<()> {
        let stream = given.stream(0);
        match stream.element {
            Element::F64 => self.run::<f64>(values.into_numbers(), stream.dim),
            _ => self.run::<f32>(values.into_numbers(), stream.dim),
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn factors_come_before_offsets() {
        let mut values = [1.0f32, 2.0, 3.0, 4.0];
        let scale: Scale = toml::from_str("factor = 10\noffset = [1, 0.5]").unwrap();
        scale.run(&mut values, 2);
        assert_eq!(values, [11.0, 20.5, 31.0, 40.5]);
        for wrong in ["", "factor = 'x'", "factor = [true]", "factor = inf", "offset = 1e300"] {
            assert!(toml::from_str::<Scale>(wrong).is_err(), "{wrong}");
        }
    }
}

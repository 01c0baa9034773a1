//! Lists of dimensions in options.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Unexpected, Visitor};

/// More dimensions than any features have.
const MOST: usize = 1 << 20;

/// Dimensions, counted from 0, in a given order. A dimension may occur more than once.
///
/// Read from a number, from a list of numbers, or from text. Text may hold ranges, also backward
/// ones: `0,24-22,3-12`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dims(pub Vec<usize>);

impl Dims {
    /// Reads numbers and ranges that are separated by commas or, as in Kaldi's `--skip-dims`, by
    /// colons. `None` if the text is anything else, or means far too many dimensions.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| text.trim().parse().ok().filter(|number: &usize| *number < MOST);
        let mut dims = Vec::new();
        for part in text.split([',', ':']) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            match first <= last {
                true => dims.extend(first..=last),
                false => dims.extend((last..=first).rev()),
            }
            if dims.len() > MOST {
                return None;
            }
        }
        Some(Self(dims))
    }
}

impl<'de> Deserialize<'de> for Dims {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DimsVisitor)
    }
}

struct DimsVisitor;

impl<'de> Visitor<'de> for DimsVisitor {
    type Value = Dims;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("dims such as `0-12,15`")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Dims, E> {
        Dims::parse(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Dims, E> {
        let dim = usize::try_from(number).ok().filter(|&dim| dim < MOST);
        let invalid = || E::invalid_value(Unexpected::Signed(number), &self);
        dim.map(|dim| Dims(vec![dim])).ok_or_else(invalid)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Dims, E> {
        self.visit_i64(number.try_into().unwrap_or(i64::MAX))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut several: A) -> Result<Dims, A::Error> {
        let mut dims = Vec::new();
        while let Some(Dims(some)) = several.next_element()? {
            dims.extend(some);
            if dims.len() > MOST {
                return Err(A::Error::invalid_length(dims.len(), &self));
            }
        }
        Ok(Dims(dims))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn reads_selections() {
        let dims = |text| Dims::parse(text).map(|dims| dims.0);
        assert_eq!(dims("0,24-22, 3-5").unwrap(), [0, 24, 23, 22, 3, 4, 5]);
        assert_eq!(dims("13:14:15").unwrap(), [13, 14, 15]);
        assert_eq!(dims("7").unwrap(), [7]);
        for text in ["", "a", "1,", "-3", "0-99999999", "1048576"] {
            assert!(dims(text).is_none(), "{text}");
        }
        assert!(dims(&["0-1048575"; 4].join(",")).is_none());
    }

    #[test]
    fn reads_numbers_and_lists() {
        #[derive(serde::Deserialize, Debug)]
        struct One {
            dims: Dims,
        }
        let read = |text: &str| toml::from_str::<One>(&format!("dims = {text}"));
        assert_eq!(read("3").unwrap().dims.0, [3]);
        assert_eq!(read("[3, 1, '5-6']").unwrap().dims.0, [3, 1, 5, 6]);
        for wrong in ["-1", "1.5", "'x'", "[true]", "1048576"] {
            let error = read(wrong).unwrap_err();
            assert!(error.message().contains("expected dims such as"), "{error}");
        }
    }
}

//! Numbers in options that may be shares of a length.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};

/// A number, or a share of the length of a sequence (`5 %`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Share {
    /// So many, whatever the length.
    Number(u32),
    /// A share of the length, from 0 to 1.
    Of(f64),
}

impl Share {
    /// The number for a sequence of `length` samples, rounded down.
    #[must_use]
    pub fn of(self, length: usize) -> usize {
        match self {
            Self::Number(number) => number as usize,
            Self::Of(share) => (share * length as f64) as usize,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let percent: f64 = text.strip_suffix('%')?.trim_end().parse().ok()?;
        (0.0..=100.0).contains(&percent).then_some(Self::Of(percent / 100.0))
    }
}

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShareVisitor)
    }
}

struct ShareVisitor;

impl Visitor<'_> for ShareVisitor {
    type Value = Share;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number such as `10`, or a share such as `5 %`")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Share, E> {
        Share::parse(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Share, E> {
        let invalid = || E::invalid_value(Unexpected::Signed(number), &self);
        u32::try_from(number).map(Share::Number).map_err(|_| invalid())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Share, E> {
        self.visit_i64(number.try_into().unwrap_or(i64::MAX))
    }
}

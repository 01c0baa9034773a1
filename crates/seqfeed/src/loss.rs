//! Losses of a conversion.

use std::fmt;

use serde::Serialize;

/// Data that a source holds and the written files do not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// The kind of loss.
    pub kind: LossKind,
    /// In words: "features: float64 values become float32".
    pub what: String,
    /// A way to keep the data, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cure: Option<&'static str>,
}

/// The kinds of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LossKind {
    /// Digits of values.
    Precision,
    /// Keys of sequences.
    Keys,
    /// The beginnings and ends of sequences.
    Boundaries,
    /// A whole stream.
    Stream,
    /// Names of streams.
    Names,
    /// Frame periods and kinds of parameters.
    Times,
}

impl Loss {
    pub(crate) fn new(kind: LossKind, what: String, cure: Option<&'static str>) -> Self {
        Self { kind, what, cure }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match self.cure {
            Some(cure) => write!(f, " ({cure})"),
            None => Ok(()),
        }
    }
}

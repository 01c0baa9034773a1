//! A single finding of a check.

use std::fmt;

use seqfeed_core::{Damage, Error, Key, Remark, Severity};
use serde::{Serialize, Serializer};

/// A finding in a corpus: what, where, and how to cure it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// How bad it is.
    #[serde(serialize_with = "word")]
    pub severity: Severity,
    /// The kind of finding, in one word for machines: `nan`, `missing-key`.
    pub kind: &'static str,
    /// The stream, if it concerns one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    /// The sequence, if it concerns one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The place: a file and a position in it, or a sample and a dimension.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The finding and its meaning.
    pub message: String,
    /// The cure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cure: Option<String>,
}

impl Finding {
    pub(super) fn new(severity: Severity, kind: &'static str, message: impl Into<String>) -> Self {
        let (stream, key, place, cure) = (None, None, None, None);
        Self { severity, kind, stream, key, place, message: message.into(), cure }
    }

    /// A finding from an error in the data.
    pub(super) fn of_error(kind: &'static str, stream: Option<&str>, error: &Damage) -> Self {
        let found = Self::said(Severity::Error, kind, error);
        Self { stream: stream.map(str::to_owned), ..found }
    }

    /// A finding from the remark of a source.
    pub(super) fn of_remark(remark: &Remark) -> Self {
        Self::said(remark.severity, remark.kind, &remark.error)
    }

    fn said(severity: Severity, kind: &'static str, error: &Error) -> Self {
        let mut place = error.place().clone();
        let key = place.key.take();
        let place = place.to_string();
        Self {
            key,
            place: (!place.is_empty()).then_some(place),
            cure: error.help().map(str::to_owned),
            ..Self::new(severity, kind, error.message())
        }
    }

    pub(super) fn stream(mut self, stream: &str) -> Self {
        self.stream = Some(stream.to_owned());
        self
    }

    pub(super) fn key(mut self, key: Key<'_>) -> Self {
        self.key = Some(key.to_string());
        self
    }

    pub(super) fn at(mut self, place: impl Into<String>) -> Self {
        self.place = Some(place.into());
        self
    }

    pub(super) fn cure(mut self, cure: impl Into<String>) -> Self {
        self.cure = Some(cure.into());
        self
    }
}

fn word<S: Serializer>(severity: &Severity, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(severity)
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: ", self.severity, self.kind)?;
        let of = [&self.stream, &self.key, &self.place];
        let of: Vec<&str> = of.into_iter().flatten().map(String::as_str).collect();
        if !of.is_empty() {
            write!(f, "{}: ", of.join(", "))?;
        }
        f.write_str(&self.message)
    }
}

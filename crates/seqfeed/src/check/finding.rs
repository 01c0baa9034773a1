//! What is wrong with a corpus, one by one.

use std::fmt;

use seqfeed_core::{Damage, Key};
use serde::Serialize;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing has to be done.
    Note,
    /// Probably not meant so; a feed goes on, without what is left out.
    Warning,
    /// Wrong: a feed stops at it, or delivers values that are no numbers, or those of
    /// another sequence.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// Something found in a corpus: what, where, and how to cure it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The kind of finding, in one word for machines: `nan`, `missing-key`.
    pub kind: &'static str,
    /// The stream, if it is one's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    /// The sequence, if it is one's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Where: a file and a place in it, or a sample and a dimension.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// What it is, and what it means.
    pub message: String,
    /// How to cure it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cure: Option<String>,
}

impl Finding {
    pub(super) fn new(severity: Severity, kind: &'static str, message: impl Into<String>) -> Self {
        let (stream, key, place, cure) = (None, None, None, None);
        Self { severity, kind, stream, key, place, message: message.into(), cure }
    }

    /// An error as a finding: what lies in the data alone.
    pub(super) fn of_error(kind: &'static str, stream: Option<&str>, error: &Damage) -> Self {
        let mut place = error.place().clone();
        let key = place.key.take();
        let place = place.to_string();
        Self {
            stream: stream.map(str::to_owned),
            key,
            place: (!place.is_empty()).then_some(place),
            cure: error.help().map(str::to_owned),
            ..Self::new(Severity::Error, kind, error.message())
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

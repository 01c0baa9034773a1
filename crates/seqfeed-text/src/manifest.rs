//! Lists of utterances as lines of JSON: wenet's and FunASR's lists, NeMo's and lhotse's manifests.

use seqfeed_core::{Error, Problem, Result};
use serde_json::Value as Json;

use crate::form::{JSON, field_of, key_of, parse_json};
use crate::reference::Reference;

/// The fields that can hold features, the likeliest first.
const FEATURES: [&str; 12] = [
    "features",
    "feats",
    "feat",
    "feature",
    "feat_path",
    "feats_path",
    "feature_path",
    "feature_file",
    "feature_filepath",
    "source",
    "wav",
    "audio_filepath",
];
/// The fields that can hold labels: stream, fields, and whether there is one for a sequence.
const LABELS: [(&str, &[&str], bool); 4] = [
    ("text", &["txt", "text", "target", "sentence", "supervisions.0.text"], false),
    ("speaker", &["speaker", "spk", "speaker_id", "spk_id", "supervisions.0.speaker"], true),
    ("language", &["language", "lang", "supervisions.0.language"], true),
    ("gender", &["gender", "supervisions.0.gender"], true),
];

/// The streams of a list of utterances, as its first line tells them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The field of the features.
    pub features: String,
    /// The streams of labels.
    pub labels: Vec<ManifestStream>,
}

/// A stream of labels in a [`Manifest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestStream {
    /// Its name.
    pub name: &'static str,
    /// Its field.
    pub field: &'static str,
    /// Whether a sequence has one label.
    pub of_sequence: bool,
}

impl Manifest {
    /// The streams that a list has, from its first line. `None` if it is no such list.
    ///
    /// # Errors
    ///
    /// Fails if it is a list of utterances, but points at sound and not at features.
    pub fn of_line(line: &[u8]) -> Result<Option<Self>> {
        let Ok(object) = parse_json(line) else { return Ok(None) };
        if key_of(&object).is_err() {
            return Ok(None);
        }
        let text = |field: &&str| matches!(field_of(&object, field), Some(Json::String(_)));
        let labels = LABELS.into_iter().filter_map(|(name, fields, of_sequence)| {
            let field = *fields.iter().find(|field| text(field))?;
            Some(ManifestStream { name, field, of_sequence })
        });
        let labels: Vec<ManifestStream> = labels.collect();
        let there = |field: &&str| field_of(&object, field).is_some();
        let known: Vec<&str> = FEATURES.into_iter().filter(there).collect();
        if known.is_empty() && object.get("recording").is_none() {
            return Ok(None);
        }
        let mut first_error = None;
        for field in known {
            match Reference::parse(line, field) {
                Ok(_) => return Ok(Some(Self { features: field.to_owned(), labels })),
                Err(error) => drop(first_error.get_or_insert(error)),
            }
        }
        let missing = || Error::format(JSON, Problem::Unsupported("it points at sound".into()));
        let error = first_error.unwrap_or_else(missing).at_line(1);
        Err(error.with_help("a network is fed with features: compute them first"))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_tells_the_streams() {
        let shown = |line: &str| {
            Manifest::of_line(line.as_bytes()).map(|found| {
                found.map(|Manifest { features, labels }| {
                    let labels = labels.iter().map(|s| format!("{}={}", s.name, s.field));
                    format!("{features} {}", labels.collect::<Vec<_>>().join(" "))
                })
            })
        };
        let cases = [
            (r#"{"key": "a", "feat": "f.ark:1", "txt": "x"}"#, "feat text=txt"),
            (r#"{"key": "a", "source": "f.ark:1", "target": "x"}"#, "source text=target"),
            (
                r#"{"audio_filepath": "a.wav", "feature_file": "a.npy", "text": "x", "lang": "en"}"#,
                "feature_file text=text language=lang",
            ),
            (
                r#"{"id": "c", "start": 0, "supervisions": [{"text": "x", "speaker": "s"}],
                "features": {"storage_type": "numpy_files", "storage_path": "d", "storage_key": "k"}}"#,
                "features text=supervisions.0.text speaker=supervisions.0.speaker",
            ),
        ];
        for (line, expected) in cases {
            assert_eq!(shown(line).unwrap().unwrap(), expected);
        }
        for line in ["", "a b", "[1]", "{", r#"{"reader": 1}"#, r#"{"id": "a", "x": 1}"#] {
            assert_eq!(shown(line).unwrap(), None, "{line}");
        }
        for line in [
            r#"{"key": "a", "wav": "a.wav", "txt": "x"}"#,
            r#"{"audio_filepath": "a.wav", "duration": 1, "text": "x"}"#,
            r#"{"id": "a", "recording": {}, "supervisions": []}"#,
        ] {
            let error = shown(line).unwrap_err();
            assert!(error.message().contains("sound"), "{error}");
            assert!(error.help().unwrap().contains("compute them"), "{error}");
        }
    }
}

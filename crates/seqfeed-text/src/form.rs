//! The form of a line: a key and a text.

use std::borrow::Cow;

use seqfeed_core::{Error, Key, Problem, Result};
use serde_json::Value as Json;

/// The fields of a JSON object that can hold its key. The first one that is there counts.
const KEYS: [&str; 5] = ["key", "utt_id", "utt", "uttid", "id"];
/// The fields that hold the name of a file. Without a key, the name without directory and
/// extension is the key.
const FILES: [&str; 3] = ["audio_filepath", "audio_file", "wav"];

/// The form of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// A key, white space, and a text.
    Text,
    /// An object of JSON. Its text is in this field; `supervisions.0.text` is a field inside
    /// others.
    Json {
        /// The field.
        field: String,
    },
}

/// The value for a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// A text.
    Text(Cow<'a, [u8]>),
    /// A text that is divided already.
    Parts(Vec<String>),
}

impl Form {
    /// The key of a line and its value.
    ///
    /// # Errors
    ///
    /// Fails if the line is not of this form.
    pub fn parse<'a>(&self, line: &'a [u8]) -> Result<(Cow<'a, [u8]>, Value<'a>)> {
        match self {
            Self::Text => {
                let line = line.trim_ascii();
                let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
                let (key, text) = line.split_at(end);
                check_key("table of text", key)?;
                Ok((Cow::Borrowed(key), Value::Text(Cow::Borrowed(text.trim_ascii()))))
            }
            Self::Json { field } => {
                let object = parse_json(line)?;
                let key = key_of(&object)?;
                let value = value_of(&object, field).map_err(|error| error.of_key(Key(&key)))?;
                Ok((Cow::Owned(key), value))
            }
        }
    }

    /// The format's name in messages.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Text => "table of text",
            Self::Json { .. } => JSON,
        }
    }
}

pub(crate) const JSON: &str = "JSON lines";

fn check_key(format: &'static str, key: &[u8]) -> Result<()> {
    if Key(key).is_valid() {
        return Ok(());
    }
    let found = key[..key.len().min(32)].to_vec();
    let expected = "a key without white space and control characters".into();
    Err(Error::format(format, Problem::Unexpected { expected, found }))
}

/// Parses a line as an object of JSON.
pub(crate) fn parse_json(line: &[u8]) -> Result<Json> {
    let unexpected = |expected: String| {
        let found = line[..line.len().min(32)].to_vec();
        Error::format(JSON, Problem::Unexpected { expected: expected.into(), found })
    };
    match serde_json::from_slice(line) {
        Ok(object @ Json::Object(_)) => Ok(object),
        Ok(_) => Err(unexpected("an object {...}".to_owned())),
        Err(error) => Err(unexpected(format!("an object {{...}} in one line ({error})"))),
    }
}

/// The key of an object.
pub(crate) fn key_of(object: &Json) -> Result<Vec<u8>> {
    let text = |name: &&str| match object.get(*name)? {
        Json::String(text) => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let stem = |name: String| {
        let file = name.rsplit('/').next().unwrap_or_default();
        file.split_once('.').map_or(file, |(stem, _)| stem).to_owned()
    };
    let found = KEYS.iter().find_map(text).or_else(|| FILES.iter().find_map(text).map(stem));
    let Some(key) = found else {
        let what = format!("an object has no key: none of the fields {} is there", KEYS.join(", "));
        return Err(Error::format(JSON, Problem::Unsupported(what.into())));
    };
    check_key(JSON, key.as_bytes())?;
    Ok(key.into_bytes())
}

/// The value of a field, which may lie inside others: `supervisions.0.text`.
pub(crate) fn field_of(object: &Json, field: &str) -> Option<Json> {
    let inner = |value: &Json, name: &str| match value {
        Json::Array(values) => values.get(name.parse::<usize>().ok()?).cloned(),
        object => object.get(name).cloned(),
    };
    let whole = object.get(field).cloned();
    whole.or_else(|| field.split('.').try_fold(object.clone(), |value, name| inner(&value, name)))
}

/// The value of a field as text.
fn value_of(object: &Json, field: &str) -> Result<Value<'static>> {
    let value = field_of(object, field);
    let part = |value: &Json| match value {
        Json::String(text) => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let wrong = |what: String| Error::format(JSON, Problem::Unsupported(what.into()));
    match &value {
        Some(Json::Array(values)) => {
            let parts = values.iter().map(part).collect::<Option<Vec<String>>>();
            parts.map(Value::Parts).ok_or_else(|| {
                wrong(format!("the list `{}` must hold texts or numbers", Key(field.as_bytes())))
            })
        }
        Some(value) => {
            let text = part(value).map(|text| Value::Text(Cow::Owned(text.into_bytes())));
            text.ok_or_else(|| {
                wrong(format!("`{}` must be a text, a number or a list", Key(field.as_bytes())))
            })
        }
        None => {
            let fields = object.as_object().into_iter().flat_map(|object| object.keys());
            let fields: Vec<String> = fields.map(|name| Key(name.as_bytes()).to_string()).collect();
            let what = format!("there is no field `{}`", Key(field.as_bytes()));
            Err(wrong(what).with_help(format!("the fields here are {}", fields.join(", "))))
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_key_and_a_text() {
        let (key, text) = Form::Text.parse(b" utt1 \t seven  one\r").unwrap();
        assert_eq!((&*key, text), (&b"utt1"[..], Value::Text(b"seven  one"[..].into())));
        let (key, text) = Form::Text.parse(b"utt1").unwrap();
        assert_eq!((&*key, text), (&b"utt1"[..], Value::Text(b""[..].into())));
        assert!(Form::Text.parse(b"\x01 a").is_err());
    }

    #[test]
    fn a_line_is_an_object() {
        let json = |line: &str, field: &str| {
            let form = Form::Json { field: field.to_owned() };
            form.parse(line.as_bytes()).map(|(key, value)| match value {
                Value::Text(text) => format!("{} {}", Key(&key), Key(&text)),
                Value::Parts(parts) => format!("{} {}", Key(&key), parts.join("+")),
            })
        };
        let line = r#"{"id": "a", "n": 3, "s": [{"text": "x y"}], "t": ["b", 1], "o": {}}"#;
        assert_eq!(json(line, "n").unwrap(), "a 3");
        assert_eq!(json(line, "s.0.text").unwrap(), "a x y");
        assert_eq!(json(line, "t").unwrap(), "a b+1");
        assert!(json(line, "o").unwrap_err().message().contains("must be a text"));
        let error = json(line, "text").unwrap_err();
        assert!(error.help().unwrap().contains("id, n, o, s, t"), "{error}");
        assert_eq!(json(r#"{"audio_filepath": "/d/u1.wav", "t": "w"}"#, "t").unwrap(), "u1 w");
        for line in ["{", "[1]", r#"{"t": "w"}"#, r#"{"id": "a b", "t": "w"}"#] {
            assert!(json(line, "t").is_err(), "{line}");
        }
    }
}

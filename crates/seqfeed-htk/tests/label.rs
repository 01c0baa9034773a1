//! Label files and MLFs as HTK and CNTK read them, and as nobody should write them.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

#[path = "label/cntk.rs"]
mod cntk;
#[path = "label/golden.rs"]
mod golden;
#[path = "label/models.rs"]
mod models;
#[path = "label/own.rs"]
mod own;
#[path = "label/properties.rs"]
mod properties;
#[path = "param/shared.rs"]
#[allow(dead_code)]
mod shared;

use seqfeed_htk::label::{Labels, Segment, Transcription};
use serde_json::{Value, json};

use crate::shared::shared;

/// Bytes as a string of as many characters, as JSON has them.
fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

/// A segment as `{st, en, lab, score, aux}`, with as many `aux` as the list has.
fn segment_as_json(segment: Segment<'_>, levels: usize) -> Value {
    let name = segment.name();
    let mut object = json!({
        "st": segment.start.unwrap_or(-1.0),
        "en": segment.end.unwrap_or(-1.0),
        "lab": latin1(name.text),
        "score": f64::from(name.score),
    });
    if levels > 1 {
        let aux = (1..levels).map(|level| match segment.level(level) {
            Some(name) => json!([latin1(name.text), f64::from(name.score)]),
            None => Value::Null,
        });
        object["aux"] = aux.collect();
    }
    object
}

fn as_json(transcription: &Transcription) -> Value {
    let list = |labels: &Labels| -> Value {
        labels.segments().map(|segment| segment_as_json(segment, labels.levels())).collect()
    };
    transcription.alternatives.iter().map(list).collect()
}

/// The same JSON with numbers as 32-bit floats where they are scores, and to 15 digits else:
/// infinite ones are null, as `serde_json` has it.
fn normal(value: &Value, score: bool) -> Value {
    match value {
        Value::Number(number) => {
            let number = number.as_f64().unwrap();
            // Reading JSON may miss the last bit of a double.
            if score { json!(f64::from(number as f32)) } else { json!(format!("{number:.14e}")) }
        }
        Value::Array(values) => {
            let aux = values.len() == 2 && values[0].is_string();
            values.iter().map(|value| normal(value, score || aux)).collect()
        }
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), normal(value, score || name == "score")))
            .collect(),
        other => other.clone(),
    }
}

//! Random label files and MLFs, against models of HTK and of CNTK.

use std::fs;
use std::process::Command;

use seqfeed_htk::label::cntk::FrameParser;
use seqfeed_htk::label::{ParseOptions, parse};
use seqfeed_htk::state_list::StateList;
use serde_json::{Value, json};

use crate::{as_json, normal, shared};

/// The cases that the script makes with a model, or `None` (said loudly).
fn cases(what: &str, count: u32) -> Option<Vec<Value>> {
    let oracles = shared("oracles/htk_label_model.py")?;
    let python = std::env::var_os("SEQFEED_PYTHON").unwrap_or_else(|| "python3".into());
    let output = Command::new(python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/random_labels.py"))
        .args([oracles.parent().unwrap().as_os_str(), what.as_ref(), count.to_string().as_ref()])
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            eprintln!("SKIPPED: python3 does not run: {error}");
            return None;
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = output.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let cases: Vec<Value> = lines.map(|line| serde_json::from_slice(line).unwrap()).collect();
    assert_eq!(cases.len(), count as usize);
    Some(cases)
}

fn bytes(value: &Value) -> Vec<u8> {
    value.as_str().unwrap().chars().map(|c| c as u8).collect()
}

#[test]
fn label_files_are_read_as_the_model_of_htk_reads_them() {
    let Some(cases) = cases("htk", 6000) else { return };
    let mut refused = 0;
    for case in cases {
        let data = bytes(&case["data"]);
        let options = ParseOptions { dot_ends: case["mlf"] == true, ..ParseOptions::default() };
        let shown = data.escape_ascii();
        match parse(&data, &options) {
            Ok(read) => {
                assert_eq!(case["error"], Value::Null, "{shown}");
                assert_eq!(normal(&as_json(&read), false), normal(&case["alts"], false), "{shown}");
            }
            Err(error) => {
                refused += 1;
                // An escape that is none, where HTK stops reading.
                let escape = error.to_string().contains("an escape");
                let number = case["error"].as_u64().map(|number| number.to_string());
                let said = number.is_some_and(|number| error.help().unwrap().contains(&number));
                assert!(said || escape, "{shown}: {error} {case}");
            }
        }
    }
    assert!((1000..5000).contains(&refused), "{refused}");
}

#[test]
fn frames_are_those_of_the_model_of_cntk() {
    let Some(cases) = cases("cntk", 1500) else { return };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("random.mlf");
    let (mut good, mut bad) = (0, 0);
    for case in cases {
        let data = bytes(&case["data"]);
        fs::write(&path, &data).unwrap();
        let states = case["states"].as_str().map(|text| StateList::parse(text.as_bytes()).unwrap());
        let parser = FrameParser::new(states.as_ref(), case["dim"].as_u64().unwrap() as u32);
        let (utterances, _) = crate::cntk::read(&[&path], &parser);
        let read: Value = utterances
            .into_iter()
            .map(|(key, frames)| {
                (key, frames.into_iter().map(|(c, v)| json!([c, f64::from(v)])).collect())
            })
            .collect::<serde_json::Map<String, Value>>()
            .into();
        assert_eq!(normal(&read, false), normal(&case["good"], false), "{}", data.escape_ascii());
        good += case["good"].as_object().unwrap().len();
        bad += case["bad"].as_u64().unwrap();
    }
    assert!(good > 500 && bad > 500, "{good} {bad}");
}

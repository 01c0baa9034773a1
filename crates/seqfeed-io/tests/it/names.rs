//! Names are told apart as Kaldi does it.

use std::fs;

use seqfeed_io::{Location, RxFilename, WxFilename};
use serde_json::Value;

use crate::support::shared;

#[test]
fn classified_as_by_kaldi() {
    let Some(path) = shared("golden/kaldi/classify/expected.jsonl") else { return };
    let text = fs::read_to_string(path).unwrap();
    let mut count = 0;
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let name = case["s"].as_str().unwrap();
        assert_eq!(rx(name), case["rx"].as_str().unwrap(), "reading {name:?}");
        assert_eq!(wx(name), case["wx"].as_str().unwrap(), "writing {name:?}");
        count += 1;
    }
    assert!(count >= 100, "only {count} names");
}

fn rx(name: &str) -> &'static str {
    match RxFilename::parse(name) {
        Ok(parsed) => {
            written_back(name, &parsed.to_string());
            match parsed.offset() {
                Some(_) => "offset",
                None => kind(parsed.location(), "stdin"),
            }
        }
        // Kaldi takes it for an offset and fails when it opens it.
        Err(error) if error.message().contains("offset") => "offset",
        Err(error) => {
            assert!(error.is_usage());
            "none"
        }
    }
}

fn wx(name: &str) -> &'static str {
    match WxFilename::parse(name) {
        Ok(parsed) => {
            written_back(name, &parsed.to_string());
            kind(parsed.location(), "stdout")
        }
        Err(error) => {
            assert!(error.is_usage());
            "none"
        }
    }
}

fn kind(location: &Location, standard: &'static str) -> &'static str {
    match (location.is_standard(), location.command()) {
        (true, _) => standard,
        (_, Some(_)) => "pipe",
        _ => "file",
    }
}

fn written_back(name: &str, shown: &str) {
    assert_eq!(shown, if name.is_empty() { "-" } else { name });
}

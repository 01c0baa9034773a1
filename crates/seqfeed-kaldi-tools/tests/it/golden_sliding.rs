//! Calls that Kaldi's `apply-cmvn-sliding` was given: same bytes, same log lines.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::calls::{WorkingDirectory, call, shared};

/// What log lines say. Before that, they have version and place in parentheses.
fn messages(log: &str) -> Vec<&str> {
    log.lines().filter_map(|line| line.split_once(") ").map(|(_, message)| message)).collect()
}

#[test]
fn sliding_windows_are_those_of_kaldi() {
    let Some(golden) = shared("golden/kaldi_sound") else { return };
    let here = WorkingDirectory::new();
    symlink(golden.join("inputs"), here.path().join("inputs")).unwrap();
    fs::create_dir("out").unwrap();
    let cases = fs::read_to_string(golden.join("manifest.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&cases).unwrap();
    let mut compared = 0;
    let mut failures = Vec::new();
    for case in cases.iter().filter(|case| case["tool"] == "apply-cmvn-sliding") {
        compared += 1;
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let words: Vec<String> = case["argv"].as_array().unwrap().iter().map(text).collect();
        let called = call(&words[0], &words[1..]);
        let name = case["name"].as_str().unwrap();
        let code = case["exit"].as_u64().unwrap();
        // Where Kaldi aborts, tools end with an error.
        if u64::from(called.code) != if code == 134 { 1 } else { code } {
            failures.push(format!("{name}: exit code {}\n{}", called.code, called.log));
            continue;
        }
        if code != 0 {
            continue;
        }
        if messages(&called.log) != messages(case["stderr"].as_str().unwrap()) {
            failures.push(format!("{name}: other messages\n{}", called.log));
        }
        for output in case["outputs"].as_array().unwrap() {
            let output = output.as_str().unwrap();
            let (found, expected) =
                (fs::read(output).unwrap(), fs::read(golden.join(output)).unwrap());
            if found != expected {
                let other = found.iter().zip(&expected).filter(|(a, b)| a != b).count();
                let (found, expected) = (found.len(), expected.len());
                failures.push(format!("{name}: {other} other bytes of {found} and {expected}"));
            }
        }
    }
    assert!(compared >= 18, "{compared} calls");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

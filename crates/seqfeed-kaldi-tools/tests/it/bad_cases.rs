//! Wrong inputs and odd calls: the exit codes of Kaldi's tools.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::{env, fs};

use serde_json::Value;

use crate::calls::{WorkingDirectory, call, shared, words};

/// Where we do better than Kaldi, or refuse what it makes something of.
const DIFFERENT: &[&str] = &[];

#[test]
fn exit_codes_are_kaldis() {
    let Some(golden) = shared("golden/kaldi") else { return };
    let here = WorkingDirectory::new();
    let cases = fs::read_to_string(golden.join("bad/cases.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&cases).unwrap();
    // Some calls write beside the files they read.
    fs::create_dir("files").unwrap();
    for file in fs::read_dir(golden.join("bad/files")).unwrap() {
        let file = file.unwrap();
        if file.file_type().unwrap().is_file() {
            fs::write(
                here.path().join("files").join(file.file_name()),
                fs::read(file.path()).unwrap(),
            )
            .unwrap();
        }
    }
    for directory in ["ark", "inputs", "wav"] {
        symlink(golden.join(directory), directory).unwrap();
    }
    let mut failures = Vec::new();
    let mut compared = 0;
    let mut different: BTreeSet<&str> = DIFFERENT.iter().copied().collect();
    for case in &cases {
        let (id, line) = (case["id"].as_str().unwrap(), case["cmd"].as_str().unwrap());
        let line = line
            .split_once("; ")
            .filter(|_| line.starts_with("ulimit"))
            .map_or(line, |(_, line)| line);
        let line = line.split_once(" | head").map_or(line, |(line, _)| line);
        let all = words(line);
        let tool = all[0].as_str();
        // Pipelines and redirections are for the shell; the program itself is tested with those.
        let shell = all.iter().any(|word| {
            ["|", ";", "<", ">&-", "<&-"].iter().any(|mark| word == mark || word.ends_with(';'))
        });
        if seqfeed_kaldi_tools::find(tool).is_none() || shell {
            continue;
        }
        // Standard output belongs to all tests.
        let to_file = all.iter().map(|word| match word.as_str() {
            "ark,t:-" => "ark,t:files/out".to_owned(),
            "ark:-" => "ark:files/out".to_owned(),
            "-" => "files/out".to_owned(),
            _ => word.clone(),
        });
        let all: Vec<String> = to_file.collect();
        let called = call(tool, &all[1..]);
        compared += 1;
        let wanted = match case["rc"].as_i64().unwrap() {
            134 => 1,
            code => code,
        };
        let out = fs::read("files/out").unwrap_or_default();
        let _ = fs::remove_file("files/out");
        let same = i64::from(called.code) == wanted
            && (wanted != 0
                || !line.ends_with('-')
                || String::from_utf8_lossy(&out) == case["stdout"].as_str().unwrap());
        if !same && !different.remove(id) {
            failures.push(format!(
                "{id}: {line}: {} for {}: {} {:?}",
                called.code,
                case["rc"],
                called.last(),
                case["note"]
            ));
        }
    }
    let _ = env::current_dir();
    assert!(
        failures.is_empty() && different.is_empty(),
        "{} of {compared}\n{}\n{different:?}",
        failures.len(),
        failures.join("\n")
    );
    assert!(compared > 300, "{compared}");
}

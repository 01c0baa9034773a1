//! Calls that Kaldi's own tools were given: same bytes, same exit codes, same last log lines.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;

use crate::calls::{WorkingDirectory, call, shared, words};

/// Tools that compute features are not asked for; sliding normalization aborted in this call.
const NOT_ASKED_FOR: &[&str] = &["compute-mfcc-feats", "compute-fbank-feats", "apply-cmvn-sliding"];

/// Makes the inputs of the calls findable by the same relative names.
fn link_inputs(golden: &Path, here: &Path) {
    for directory in ["inputs", "ark", "misc", "wav", "htk", "fstlat"] {
        symlink(golden.join(directory), here.join(directory)).unwrap();
    }
    fs::create_dir(here.join("tools")).unwrap();
}

#[test]
fn tools_do_what_kaldis_did() {
    let Some(golden) = shared("golden/kaldi") else { return };
    let here = WorkingDirectory::new();
    link_inputs(&golden, here.path());
    let results = fs::read_to_string(golden.join("tools/results.json")).unwrap();
    let results: Vec<Value> = serde_json::from_str(&results).unwrap();
    fs::copy(golden.join("tools/cmvn_utt_partial"), "tools/cmvn_utt_partial").unwrap();
    let mut failures = Vec::new();
    let mut compared = 0;
    for result in &results {
        let line = result["cmd"].as_str().unwrap();
        let (line, printed) = match line.split_once(" > ") {
            Some((line, file)) => (line, Some(file)),
            None => (line, None),
        };
        let all = words(line);
        if NOT_ASKED_FOR.contains(&all[0].as_str()) {
            continue;
        }
        compared += 1;
        let called = call(&all[0], &all[1..]);
        let code = u8::try_from(result["rc"].as_i64().unwrap()).unwrap();
        if called.code != code {
            failures.push(format!("{line}: exit code {}, not {code}\n{}", called.code, called.log));
            continue;
        }
        if let Some(file) = printed.or(result["file"].as_str()) {
            let found = match printed {
                Some(_) => called.out.clone(),
                None => fs::read(file).unwrap(),
            };
            if found != fs::read(golden.join(file)).unwrap() {
                failures.push(format!("{line}: other bytes"));
            }
        }
        // Usage is in our own words, and the name of the exception is not printed.
        let mut stderr =
            result["stderr"].as_array().unwrap().iter().map(|line| line.as_str().unwrap());
        let wanted = stderr.rfind(|line| !line.starts_with("kaldi::")).unwrap();
        // One command line was noted down otherwise than it was given.
        let wanted =
            wanted.replace("inputs/../misc/one.mat misc/one.mat", "misc/one.mat misc/one.mat");
        if called.last() != wanted {
            failures.push(format!("{line}: last line\n  {}\nnot\n  {wanted}", called.last()));
        }
    }
    assert!(compared >= 35, "{compared} calls");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

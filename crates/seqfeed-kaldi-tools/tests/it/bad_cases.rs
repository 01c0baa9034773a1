//! Wrong inputs and odd calls: the exit codes of Kaldi's tools.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::calls::{WorkingDirectory, call, shared, words};

/// Cases with other exit codes or other output than Kaldi's, and why.
const DIFFERENT: &[(&str, &[&str])] = &[
    (
        "what Kaldi writes can be read back",
        &["matform/minus_inf", "matform/minus_nan", "matform/close_cr_only"],
    ),
    (
        "an archive that ends inside a key is damaged; Kaldi copies what is before it and ends with 0",
        &[
            "mateof/eof_no_value",
            "trunc/p_first_key_partial",
            "trunc/first_key",
            "trunc/p_first_key",
            "trunc/second_key_partial",
            "trunc/second_key",
            "size/CM2_zero_cols",
        ],
    ),
    (
        "a line of a script file that is none is an error; Kaldi leaves out all behind it and ends with 0",
        &[
            "scp/copy_blank_line_mid",
            "scp/copy_p_blank_line_mid",
            "scp/copy_blank_line_end",
            "scp/copy_p_blank_line_end",
            "scp/copy_p_spaces_line",
            "scp/copy_no_rx_mid",
        ],
    ),
    (
        "an object or a name that cannot be is an error like others, 255; Kaldi aborts",
        &[
            "size/neg_rows",
            "size/zero_rows",
            "size/zero_cols",
            "size/vec_neg",
            "size/CM_neg",
            "size/CM_zero_rows",
            "size/CM2_zero_rows",
            "size/CM_huge",
            "size/CM3_huge",
            "scp/copy_off_huge",
            "w/both_stdout_both",
        ],
    ),
    (
        "p means wrong names and ranges, too; an empty range means all",
        &["scp/copy_p_off_huge", "range/mat_p [:,0:3]", "range/mat_p [,0:1]"],
    ),
    (
        "a command that fails is an error, and what it printed is not trusted",
        &["ra/copy_pipe_nofound_p", "w/pipe_notfound"],
    ),
];

/// Cases whose files are not there, or that write to standard output beside other tests.
const NOT_HERE: &[&str] =
    &["range/vec [0:1]", "range/vec [3:6]", "range/vec [4:5]", "w/both_stdout_scp"];

/// The warnings of what readers notice, word by word those of Kaldi.
fn warnings(log: &str) -> Vec<&str> {
    let ours = |line: &&str| {
        [" had nonzero return status ", " goes beyond "].iter().any(|w| line.contains(w))
    };
    log.lines().filter(|line| line.starts_with("WARNING ")).filter(ours).collect()
}

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
    let mut different: BTreeSet<&str> =
        DIFFERENT.iter().flat_map(|(_, ids)| *ids).copied().collect();
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
        if seqfeed_kaldi_tools::find(tool).is_none() || shell || NOT_HERE.contains(&id) {
            continue;
        }
        // Standard output belongs to all tests.
        let to_file = |word: &String| match word.strip_suffix('-') {
            Some(start) if start.is_empty() || start.ends_with([':', '|']) => {
                format!("{start}files/out")
            }
            _ => word.clone(),
        };
        let all: Vec<String> = all.iter().map(to_file).collect();
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
        // An archive of a failed command that is read with `p` has a warning of its own.
        if same && wanted == 0 && !line.contains("ark,p:") {
            let said: String = case["stderr"]
                .as_array()
                .unwrap()
                .iter()
                .fold(String::new(), |all, line| all + line.as_str().unwrap() + "\n");
            assert_eq!(warnings(&called.log), warnings(&said), "{id}");
        }
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
    assert!(
        failures.is_empty() && different.is_empty(),
        "{} of {compared}\n{}\n{different:?}",
        failures.len(),
        failures.join("\n")
    );
    assert!(compared > 300, "{compared}");
}

//! Threads do not matter, and a killed run goes on with the very next minibatch.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::corpora::corpus;
use crate::program::{dump, lines, run, seqfeed};

const SETTINGS: [&str; 14] = [
    "--features",
    "scp:feats.scp",
    "--labels",
    "ark:ali.ark",
    "--batch-size",
    "20",
    "--seed",
    "2",
    "--chunk-size",
    "50",
    "--window",
    "4 chunks",
    "--sweeps",
    "4",
];

#[test]
fn threads_change_nothing_and_seeds_everything() {
    let directory = tempfile::tempdir().unwrap();
    corpus(40).write(directory.path());
    for unit in [&[][..], &["--unit", "sequence"]] {
        let feed = |more: &[&str]| dump(directory.path(), &[&SETTINGS[..], unit, more].concat());
        let one = feed(&["--threads", "1"]);
        assert!(one == feed(&["--threads", "2"]));
        assert!(one == feed(&["--threads", "8", "--queue", "1"]));
        let other: Vec<&str> =
            SETTINGS.iter().map(|&word| if word == "2" { "9" } else { word }).collect();
        let other = dump(directory.path(), &[&other[..], unit].concat());
        assert!(one[0]["keys"] != other[0]["keys"] || one[0]["starts"] != other[0]["starts"]);
    }
}

#[test]
fn a_killed_run_goes_on_with_the_very_next_minibatch() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    corpus(40).write(path);
    let whole = dump(path, &SETTINGS);
    assert!(whole.len() > 100);
    let arguments = [&["feed", "--dump", "jsonl", "--state", "state.json"], &SETTINGS[..]].concat();
    let mut seen = Vec::new();
    let mut kills = 0;
    loop {
        let log = path.join("log.jsonl");
        let mut child = seqfeed(path, &arguments).stdout(Stdio::piped()).spawn().unwrap();
        // Read some minibatches, then kill -9 while it works on others.
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        let mut text = Vec::new();
        for _ in 0..17 {
            reader.read_until(b'\n', &mut text).unwrap();
        }
        child.kill().unwrap();
        std::io::copy(&mut reader, &mut File::create(&log).unwrap()).unwrap();
        let status = child.wait().unwrap();
        text.extend(std::fs::read(&log).unwrap());
        let minibatches = lines(&text);
        if status.success() && minibatches.is_empty() {
            break;
        }
        kills += u32::from(!status.success());
        // What the state did not yet call done when the run was killed comes again.
        let first = minibatches[0]["index"].as_u64().unwrap() as usize;
        assert!(first <= seen.len() && first + 1 >= seen.len(), "{first} after {}", seen.len());
        seen.truncate(first);
        seen.extend(minibatches);
    }
    assert!(kills >= 2, "killed {kills} times");
    assert!(seen == whole);
}

#[test]
fn a_state_of_another_run_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    corpus(10).write(directory.path());
    let feed = ["feed", "--features", "ark:feats.ark", "--state", "state.json"];
    assert!(run(directory.path(), &feed).status.success());
    let output = run(directory.path(), &[&feed[..], &["--seed", "4"]].concat());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("another corpus or order"), "{errors}");
    std::fs::write(directory.path().join("state.json"), "{\"version\":1,").unwrap();
    let output = run(directory.path(), &feed);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("state.json"));
}

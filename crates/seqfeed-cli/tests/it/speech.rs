//! Real speech with real alignments.

use std::collections::BTreeMap;
use std::fs;

use crate::program::{dump, examples, frames, run, shared};

#[test]
fn an4_gives_each_labelled_frame_once_with_its_label() {
    let Some(an4) = shared("data/an4/kaldi") else { return };
    let arguments = [
        "--features",
        "scp:feats.scp",
        "--labels",
        "ark:ali.ark",
        "--context",
        "5",
        "--seed",
        "3",
        "--batch-size",
        "100",
    ];
    let output = run(&an4, &[&["feed", "--dump", "jsonl"], &arguments[..]].concat());
    let warnings = String::from_utf8_lossy(&output.stderr);
    assert!(warnings.contains("skipped 2 not in stream labels"), "{warnings}");
    let minibatches = dump(&an4, &arguments);
    assert!(minibatches.iter().all(|m| m["streams"]["features"]["dim"] == 440));
    // The alignments as text are the judge.
    let text = fs::read_to_string(an4.join("ali.txt")).unwrap();
    let mut expected = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let key = words.next().unwrap();
        expected.extend(
            words.enumerate().map(|(t, label)| (key.to_owned(), t as u64, label.parse().unwrap())),
        );
    }
    expected.sort();
    assert_eq!(expected.len(), 1008);
    let mut seen = frames(&minibatches);
    assert_ne!(seen, expected, "not shuffled");
    seen.sort();
    assert_eq!(seen, expected);
}

#[test]
fn an4_context_repeats_the_edges_and_is_the_neighbours() {
    let Some(an4) = shared("data/an4/kaldi") else { return };
    let streams = ["--features", "scp:feats.scp", "--labels", "ark:ali.ark"];
    let sequential = [&streams[..], &["--order", "sequential"]].concat();
    let plain = dump(&an4, &sequential);
    let spliced = dump(&an4, &[&streams[..], &["--context", "2:3"]].concat());
    let mut rows: BTreeMap<(String, u64), Vec<serde_json::Value>> = BTreeMap::new();
    let mut lengths: BTreeMap<String, u64> = BTreeMap::new();
    let with_data = |minibatches: &[serde_json::Value]| {
        let data =
            |m: &serde_json::Value| m["streams"]["features"]["data"].as_array().unwrap().clone();
        let data: Vec<_> = minibatches.iter().flat_map(data).collect();
        frames(minibatches).into_iter().zip(data).collect::<Vec<_>>()
    };
    for ((key, t, _), row) in with_data(&plain) {
        lengths.entry(key.clone()).and_modify(|n| *n = (*n).max(t + 1)).or_insert(t + 1);
        rows.insert((key, t), row.as_array().unwrap().clone());
    }
    let mut compared = 0;
    for ((key, t, _), row) in with_data(&spliced) {
        let last = lengths[&key] - 1;
        let expected: Vec<_> = (0..6)
            .flat_map(|i| rows[&(key.clone(), (t + i).saturating_sub(2).min(last))].clone())
            .collect();
        assert_eq!(row.as_array().unwrap(), &expected);
        compared += 1;
    }
    assert_eq!(compared, 1008);
}

#[test]
fn the_digits_corpus_feeds_from_its_description() {
    let output = run(&examples(), &["feed", "digits/train.toml", "--sweeps", "1"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("10,402 samples"), "{text}");
    assert!(text.contains("features     dense float32 x 440"), "{text}");
    assert!(text.contains("peak memory"), "{text}");
    // From another directory, with an option instead of a key.
    let digits = examples().join("digits");
    let minibatches = dump(&digits, &["test.toml", "--batch-size", "1000"]);
    let samples: Vec<u64> = minibatches.iter().map(|m| m["samples"].as_u64().unwrap()).collect();
    assert_eq!(samples, [1000, 1000, 159]);
    assert_eq!(minibatches[2]["end_of_sweep"], true);
}

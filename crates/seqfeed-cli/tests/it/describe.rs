//! `seqfeed describe`: what is printed gives the same minibatches.

use std::fs;
use std::path::Path;

use crate::program::{copy_directory, dump, examples, run};

/// What a corpus is described as, written to a file, gives what the corpus gives.
fn same(directory: &Path, arguments: &[&str], expected: &[&str]) {
    let output = run(directory, &[&["describe"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    for expected in expected {
        assert!(text.contains(expected), "{arguments:?}: no {expected} in\n{text}");
    }
    fs::write(directory.join("described.toml"), &text).unwrap();
    let one_sweep = ["--sweeps", "1"];
    let named = dump(directory, &[arguments, &one_sweep].concat());
    let described = dump(directory, &[&["described.toml"], &one_sweep[..]].concat());
    assert!(!named.is_empty(), "{arguments:?}");
    assert!(named == described, "{arguments:?}:\n{text}");
    // A description of the description says the same once more.
    let again = run(directory, &["describe", "described.toml"]);
    let body = |text: &str| {
        text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(body(&String::from_utf8(again.stdout).unwrap()), body(&text));
}

#[test]
fn every_kind_of_name_gives_the_same_minibatches_described() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    copy_directory(&examples().join("digits"), path);
    same(
        path,
        &["train.toml"],
        &["[streams.features]\nsource = \"scp:train/feats.scp\"", "batch-size = 128"],
    );
    let kaldi = ["scp:train/feats.scp", "--labels", "ark:train/ali.ark", "--context", "2:3"];
    same(path, &kaldi, &["context = \"2:3\"", "window = \"32 chunks\""]);
    let by_sequence = ["--unit", "sequence", "--batch-size", "4000", "--batch-unit", "padded"];
    same(
        path,
        &[&kaldi[..], &by_sequence].concat(),
        &["unit = \"sequence\"", "batch-unit = \"padded\""],
    );
    for name in ["whole.parquet", "whole.arrow"] {
        let output = run(path, &["convert", "train.toml", name]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        same(path, &[name, "--context", "1"], &[&format!("corpus = \"{name}\"")]);
    }
    let spec = "scp:train/feats.scp,label=train/ali.ark,context=1,random=True,ignore-label=0";
    same(path, &[spec], &["preset = \"pdnn\"", "[streams.labels]", "ignore = \"0\""]);
    let htk = [
        "htk/train.scp",
        "--labels",
        "htk/train.mlf",
        "--states",
        "htk/train.states",
        "--seed",
        "9",
    ];
    same(path, &htk, &["states = \"htk/train.states\"", "seed = 9"]);
    same(path, &["train.pfile,context=5,random=True"], &["data = \"train.pfile\"", "seed = 18877"]);
    same(path, &["train.pfile,partition=1m,map-label=1-10:1"], &["map = \"1-10:1\""]);
    same(path, &["train.ctf"], &["[inputs.features]", "dim = 40", "format = \"sparse\""]);
    let reader = ["# The reader stays", "preset = \"cntk\"", "cross-sweeps = false"];
    same(path, &["train.cntk#Train.reader"], &reader);
    same(path, &["train.cntk#TrainFrames.reader", "--batch-size", "512"], &reader);
}

#[test]
fn names_are_seen_from_where_one_stands() {
    let directory = tempfile::tempdir().unwrap();
    copy_directory(&examples().join("digits"), &directory.path().join("data"));
    same(
        directory.path(),
        &["data/train.toml"],
        &["[streams.labels]\nsource = \"ark:data/train/ali.ark\""],
    );
}

#[test]
fn what_cannot_be_opened_is_not_described() {
    let directory = tempfile::tempdir().unwrap();
    let output = run(directory.path(), &["describe", "scp:none.scp"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert_eq!(run(directory.path(), &["describe"]).status.code(), Some(2));
}

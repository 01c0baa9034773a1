//! Damaged and lying data give a clear error, at once and without taking memory.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::corpora::{corpus, integers, matrix};
use crate::program::{dump, run};

/// Runs a feed that must fail; what it says.
fn failure(directory: &Path, arguments: &[&str]) -> String {
    let started = Instant::now();
    let output = run(directory, &[&["feed"], arguments].concat());
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {errors}");
    assert!(output.stdout.is_empty());
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert!(errors.starts_with("error: "), "{errors}");
    errors
}

fn contains(errors: &str, words: &[&str]) {
    for word in words {
        assert!(errors.contains(word), "no `{word}` in: {errors}");
    }
}

#[test]
fn a_truncated_archive() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    corpus(10).write(path);
    let feats = fs::read(path.join("feats.ark")).unwrap();
    fs::write(path.join("cut.ark"), &feats[..feats.len() - 5]).unwrap();
    let errors = failure(path, &["--features", "ark:cut.ark"]);
    contains(&errors, &["spk0-utt009", "cut.ark @ ", "5 bytes are missing"]);
    // Skipped where that is allowed, and said.
    let output = run(path, &["feed", "--features", "ark:cut.ark", "--errors", "1"]);
    assert!(output.status.success());
    contains(&String::from_utf8_lossy(&output.stderr), &["warning", "spk0-utt009"]);
}

#[test]
fn a_missing_file() {
    let directory = tempfile::tempdir().unwrap();
    contains(&failure(directory.path(), &["--features", "ark:none.ark"]), &["none.ark"]);
    contains(&failure(directory.path(), &["--features", "scp:none.scp"]), &["none.scp"]);
    fs::write(directory.path().join("a.scp"), "utt1 gone.ark:5\n").unwrap();
    let errors = failure(directory.path(), &["--features", "scp:a.scp"]);
    contains(&errors, &["gone.ark", "utt1"]);
    contains(&failure(directory.path(), &["none.toml"]), &["none.toml"]);
}

#[test]
fn a_label_longer_than_its_features() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let mut corpus = corpus(10);
    corpus.utterances[4].labels.push(7);
    corpus.write(path);
    let arguments = ["--features", "ark:feats.ark", "--labels", "ark:ali.ark"];
    let errors = failure(path, &arguments);
    contains(&errors, &["spk0-utt004", "labels has 14 samples", "features has 13", "help: "]);
    let skipped = dump(path, &[&arguments[..], &["--errors", "skip"]].concat());
    let keys = skipped.iter().flat_map(|m| m["keys"].as_array().unwrap());
    assert!(keys.into_iter().all(|key| key != "spk0-utt004"));
}

#[test]
fn an_absurd_offset_in_a_script_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    corpus(2).write(path);
    for offset in ["99999999", "9223372036854775807", "18446744073709551616", "3"] {
        fs::write(path.join("bad.scp"), format!("utt1 feats.ark:{offset}\n")).unwrap();
        let errors = failure(path, &["--features", "scp:bad.scp"]);
        contains(&errors, &["utt1"]);
    }
}

#[test]
fn headers_that_lie() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let mut lies: Vec<(&str, Vec<u8>)> = Vec::new();
    for (name, rows, cols) in [
        ("rows", i32::MAX, 3),
        ("cols", 4, i32::MAX),
        ("both", i32::MAX, i32::MAX),
        ("negative", -1, 3),
        ("min", i32::MIN, i32::MIN),
        ("none", 0, 3),
    ] {
        let mut bytes = matrix(&[[1.0, 2.0, 3.0]; 4]);
        bytes[6..10].copy_from_slice(&rows.to_le_bytes());
        bytes[11..15].copy_from_slice(&cols.to_le_bytes());
        lies.push((name, bytes));
    }
    let mut vector = integers(&[1, 2, 3]);
    vector[3..7].copy_from_slice(&i32::MAX.to_le_bytes());
    for (name, bytes) in &lies {
        let archive = [b"utt1 ", &bytes[..]].concat();
        fs::write(path.join("lie.ark"), &archive).unwrap();
        let errors = failure(path, &["--features", "ark:lie.ark"]);
        contains(&errors, &["utt1", "lie.ark"]);
        // Where the size of the data is not known beforehand, too.
        let errors = failure(path, &["--features", "ark:cat lie.ark |"]);
        assert!(errors.contains("utt1"), "{name}: {errors}");
        fs::write(path.join("lie.scp"), "utt1 lie.ark:5\n").unwrap();
        failure(path, &["--features", "scp:lie.scp"]);
    }
    fs::write(path.join("lie.ark"), [b"utt1 ", &vector[..]].concat()).unwrap();
    let arguments = ["--features", "ark:lie.ark", "--labels", "ark:lie.ark"];
    contains(&failure(path, &arguments), &["utt1"]);
}

#[test]
fn lies_take_no_memory() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let mut bytes = matrix(&[[1.0, 2.0, 3.0]; 4]);
    bytes[6..10].copy_from_slice(&i32::MAX.to_le_bytes());
    fs::write(path.join("lie.ark"), [b"utt1 ", &bytes[..]].concat()).unwrap();
    // 25 GB are claimed; 200 MB of address space are allowed.
    for name in ["ark:lie.ark", "ark:cat lie.ark |"] {
        let command = format!(
            "ulimit -v 200000; exec '{}' feed --features '{name}' --threads 1",
            env!("CARGO_BIN_EXE_seqfeed")
        );
        let output = std::process::Command::new("sh")
            .args(["-c", &command])
            .current_dir(path)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        contains(&errors, &["utt1"]);
    }
}

#[test]
fn a_failing_command() {
    let directory = tempfile::tempdir().unwrap();
    corpus(3).write(directory.path());
    let errors = failure(directory.path(), &["--features", "ark:cat feats.ark; exit 3 |"]);
    contains(&errors, &["exit 3"]);
}

#[test]
fn features_of_varying_dim() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let narrow = b"utt2 \0BFM \x04\x01\0\0\0\x04\x02\0\0\0\0\0\0\0\0\0\0\0";
    let archive = [b"utt1 ", &matrix(&[[1.0, 2.0, 3.0]])[..], &narrow[..]].concat();
    fs::write(path.join("mixed.ark"), archive).unwrap();
    contains(&failure(path, &["--features", "ark:mixed.ark"]), &["utt2", "2", "3"]);
}

#[test]
fn labels_that_are_features() {
    let directory = tempfile::tempdir().unwrap();
    corpus(3).write(directory.path());
    let arguments = ["--features", "ark:feats.ark", "--labels", "ark:feats.ark"];
    contains(&failure(directory.path(), &arguments), &["spk0-utt000"]);
    contains(&failure(directory.path(), &["--features", "ark:ali.ark"]), &["spk0-utt000"]);
}

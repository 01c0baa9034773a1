//! Arrow and Parquet files, and tables of waves, by their names alone.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::program::{dump, run};

fn foreign() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../seqfeed-arrow/tests/foreign")
}

fn info(directory: &Path, arguments: &[&str]) -> Value {
    let output = run(directory, &[&["info", "--json"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_file_is_a_corpus() {
    let directory = foreign();
    let expected = dump(&directory, &["plain.arrow", "--order", "sequential"]);
    assert_eq!(expected[0]["keys"].as_array().unwrap().len(), 6);
    for name in ["stream.arrows", "lz4.feather", "snappy.parquet", "duckdb.parquet"] {
        assert_eq!(dump(&directory, &[name, "--order", "sequential"]), expected, "{name}");
        let summary = info(&directory, &[name]);
        assert_eq!((&summary["sequences"], &summary["samples"]), (&3.into(), &6.into()), "{name}");
        assert_eq!(summary["streams"][0]["dim"], 2);
    }
    let column = info(&directory, &["zstd.parquet#labels"]);
    assert_eq!(column["streams"].as_array().unwrap().len(), 1);
    assert_eq!(column["streams"][0]["kind"], "label");
    let context = dump(&directory, &["plain.arrow,context=1", "--partial", "keep"]);
    assert_eq!(context[0]["streams"]["features"]["dim"], 6);
}

#[test]
fn what_is_wrong_is_said() {
    let directory = foreign();
    for (name, says) in [
        ("null_value.arrow", "null values"),
        ("missing.parquet", "missing.parquet"),
        ("plain.arrow#colour", "there is no column colour"),
    ] {
        let output = run(&directory, &["info", name]);
        assert!(!output.status.success());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn files_are_checked_compared_and_repaired() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let features = "utt1  [\n 1 2\n 3 4 ]\nutt2  [\n 5 nan\n 7 8 ]\n";
    fs::write(at.join("f.txt"), features).unwrap();
    fs::write(at.join("l.txt"), "utt1 0 1\nutt2 1 0\n").unwrap();
    let text = ["ark:f.txt", "--labels", "ark:l.txt"];
    for name in ["x.parquet", "x.arrow"] {
        let output = run(at, &[&["convert"], &text[..], &[name]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let output = run(at, &[&["check"], &text[..], &["--against", name, "--json"]].concat());
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["findings"].as_array().unwrap().len(), 1, "the NaN alone: {found}");
        let fixed = format!("{name}-fixed");
        let output = run(at, &["check", name, "--fix", &fixed]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("error[nan]") && said.contains("key utt2"), "{said}");
        let output = run(&at.join(&fixed), &["check", "corpus.toml", "--json"]);
        let whole: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(whole["findings"], serde_json::json!([]), "{whole}");
        assert_eq!(info(&at.join(&fixed), &["corpus.toml"])["sequences"], 1);
    }
    let bytes = fs::read(at.join("x.parquet")).unwrap();
    fs::write(at.join("cut.parquet"), &bytes[..bytes.len() - 9]).unwrap();
    let output = run(at, &["check", "cut.parquet"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("error[unreadable]") && said.contains("cut.parquet"), "{said}");
}

#[test]
fn waves_are_a_stream() {
    let directory = tempfile::tempdir().unwrap();
    let mut wave =
        b"RIFF\x2c\0\0\0WAVEfmt \x10\0\0\0\x01\0\x02\0\x80\x3e\0\0\0\xfa\0\0\x04\0\x10\0".to_vec();
    wave.extend_from_slice(b"data\x08\0\0\0\x01\0\xff\xff\x02\0\xfe\xff");
    fs::write(directory.path().join("a.wav"), wave).unwrap();
    fs::write(directory.path().join("wav.scp"), "utt1 a.wav\n").unwrap();
    let text = "[streams.audio]\nsource = 'scp:wav.scp'\n";
    fs::write(directory.path().join("corpus.toml"), text).unwrap();
    let summary = info(directory.path(), &["corpus.toml"]);
    let stream = &summary["streams"][0];
    assert_eq!((&stream["name"], &stream["dim"]), (&"audio".into(), &2.into()));
    assert_eq!(stream["format"], "waves at 16000 Hz");
    let found = dump(directory.path(), &["corpus.toml", "--order", "sequential"]);
    assert_eq!(found[0]["streams"]["audio"]["data"], serde_json::json!([[1.0, -1.0], [2.0, -2.0]]));
}

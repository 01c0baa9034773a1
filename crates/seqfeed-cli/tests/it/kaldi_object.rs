//! `show` and `info` of one object of Kaldi's.

use std::fs;
use std::path::Path;

use seqfeed::Key;
use seqfeed::io::Opener;
use seqfeed::kaldi::{Matrix, Mode, TableWriter, Vector, save};
use serde_json::Value;

use crate::program::run;

/// An archive with one matrix, and the same and a vector in files of their own.
fn objects(directory: &Path) {
    let (name, opener) =
        (|file: &str| directory.join(file).display().to_string(), Opener::default());
    let matrix = Matrix { rows: 3, cols: 2, values: vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.5] };
    let mut table =
        TableWriter::create(&format!("ark,scp:{},{}", name("f.ark"), name("f.scp")), &opener)
            .unwrap();
    table.write(Key(b"utt1"), &matrix).unwrap();
    table.close().unwrap();
    save(&name("obj.mat"), &matrix, Mode::Binary, &opener).unwrap();
    save(&name("text.mat"), &matrix, Mode::Text, &opener).unwrap();
    save(&name("text.vec"), &Vector(vec![0.5f64]), Mode::Text, &opener).unwrap();
}

const VALUES: &str = "  float-matrix 3 x 2\n [\n  1 2 \n  3 4 \n  5 6.5 ]\n";

#[test]
fn an_object_is_shown_by_its_name() {
    let directory = tempfile::tempdir().unwrap();
    objects(directory.path());
    let cases = [
        ("f.ark:5", VALUES),
        ("f.ark:5[1:2,0:0]", "  float-matrix 2 x 1\n [\n  3 \n  5 ]\n"),
        ("obj.mat", VALUES),
        ("obj.mat[0:0]", "  float-matrix 1 x 2\n [\n  1 2 ]\n"),
        ("text.mat", VALUES),
        ("text.vec", "  float-vector 1\n [ 0.5 ]\n"),
    ];
    for (name, expected) in cases {
        let output = run(directory.path(), &["show", name]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            format!("{name}\n{expected}"),
            "{errors}"
        );
        assert_eq!((output.status.code(), &*errors), (Some(0), ""));
    }
    let output = run(directory.path(), &["show", "obj.mat", "--json"]);
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(shown["type"], "float-matrix");
    assert_eq!(shown["text"], " [\n  1 2 \n  3 4 \n  5 6.5 ]\n");
}

#[test]
fn info_says_what_an_object_is() {
    let directory = tempfile::tempdir().unwrap();
    objects(directory.path());
    let output = run(directory.path(), &["info", "f.ark:5"]);
    let expected = "object       f.ark:5\ntype         float-matrix\nsize         3 x 2\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    let output = run(directory.path(), &["info", "text.vec", "--json"]);
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&shown["name"], &shown["type"]), (&"text.vec".into(), &"float-vector".into()));
    assert_eq!(shown["size"], serde_json::json!([1]));
}

#[test]
fn types_that_nothing_tells_apart_are_named() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("one"), b"\0B\x04\x00\x00\x80\x3f").unwrap();
    let output = run(directory.path(), &["info", "one"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.starts_with("note: one is taken for ") && errors.contains("float"), "{errors}");
}

#[test]
fn names_of_corpora_stay_such() {
    let directory = tempfile::tempdir().unwrap();
    objects(directory.path());
    let at = directory.path();
    fs::write(at.join("corpus.toml"), "[streams.features]\nsource = \"scp:f.scp\"\n").unwrap();
    for name in ["scp:f.scp", "ark:f.ark", "corpus.toml"] {
        let output = run(at, &["info", name]);
        let errors = String::from_utf8_lossy(&output.stderr);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("dense float32 x 2"), "{name}: {text}{errors}");
    }
}

#[test]
fn options_for_corpora_and_damaged_objects_are_errors() {
    let directory = tempfile::tempdir().unwrap();
    objects(directory.path());
    fs::write(directory.path().join("short.mat"), b"\0BFM \x04\x03\0\0\0\x04\x02").unwrap();
    let cases: [(&[&str], i32, &str); 6] = [
        (&["show", "f.ark:5", "utt1"], 2, "a key is for corpora"),
        (&["show", "f.ark:5", "--range", "0:1"], 2, "named by a range"),
        (&["info", "obj.mat", "--stats"], 2, "--stats is for corpora"),
        (&["show", "f.ark:5[7:9]"], 1, "range"),
        (&["info", "short.mat"], 1, "short.mat"),
        (&["info", "f.ark:9999"], 1, "f.ark"),
    ];
    for (arguments, code, expected) in cases {
        let output = run(directory.path(), arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {errors}");
        assert!(errors.contains(expected), "{arguments:?}: {errors}");
    }
}

#[test]
fn a_command_is_the_name_of_one_object() {
    let directory = tempfile::tempdir().unwrap();
    objects(directory.path());
    for (name, expected) in
        [("cat obj.mat |", VALUES), ("cat obj.mat |[0:0]", "  float-matrix 1 x 2\n [\n  1 2 ]\n")]
    {
        let output = run(directory.path(), &["show", name]);
        let errors = String::from_utf8_lossy(&output.stderr);
        let shown = String::from_utf8_lossy(&output.stdout);
        assert_eq!(shown, format!("{name}\n{expected}"), "{errors}");
        let output = run(directory.path(), &["info", name]);
        assert!(output.status.success(), "{output:?}");
    }
    let output = run(directory.path(), &["info", "cat obj.mat; false |"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

//! `seqfeed info`.

use serde_json::Value;

use crate::corpora::corpus;
use crate::program::{examples, run};

#[test]
fn says_what_a_corpus_holds() {
    let output = run(&examples(), &["info", "digits/test.toml", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&summary["sequences"], &summary["samples"]), (&12.into(), &2159.into()));
    assert_eq!(summary["streams"][0]["dim"], 40);
    assert_eq!(summary["streams"][1]["kind"], "label");
    assert_eq!(
        (&summary["lengths"]["min"], &summary["lengths"]["max"]),
        (&110.into(), &315.into())
    );
}

#[test]
fn takes_an_rspecifier() {
    let directory = tempfile::tempdir().unwrap();
    corpus(3).write(directory.path());
    let output = run(directory.path(), &["info", "ark:feats.ark"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("dense float32 x 3") && text.contains("samples      36"), "{text}");
}

#[test]
fn draws_lengths_and_sums_up_values() {
    let directory = tempfile::tempdir().unwrap();
    let mut corpus = corpus(3);
    corpus.utterances[1].features[0] = [f32::NAN, f32::INFINITY, 5.0];
    corpus.write(directory.path());
    let arguments =
        ["info", "ark:feats.ark", "--labels", "ark:ali.ark", "--stats", "--frame-shift", "5 ms"];
    let output = run(directory.path(), &arguments);
    let text = String::from_utf8_lossy(&output.stdout);
    for expected in [
        "duration     0.18 s (at 5 ms a sample)",
        "lengths      min 5, median 12, mean 12.0, max 19",
        "              5  ######################################## 1\n",
        "features     36 samples\n",
        "           1       7.05714       5.07624             0            18        0        1\n",
        "       label       samples         share\n",
        "           0             1         2.78% ####################\n",
    ] {
        assert!(text.contains(expected), "{expected:?} in\n{text}");
    }
    let output = run(directory.path(), &[&arguments[..], &["--json", "--threads", "3"]].concat());
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let dims = &json["statistics"][0]["dims"];
    assert_eq!(
        (&dims[0]["nan"], &dims[0]["count"], &dims[1]["inf"]),
        (&1.into(), &35.into(), &1.into())
    );
    assert_eq!(json["statistics"][1]["counts"]["218"], 1);
    assert_eq!((&json["seconds"], &json["length_histogram"][0]["from"]), (&0.18.into(), &5.into()));
}

#[test]
fn wrong_usage_of_info() {
    let directory = tempfile::tempdir().unwrap();
    corpus(3).write(directory.path());
    for more in [&["--frame-shift", "x"][..], &["--frame-shift", "0"], &["--threads", "2"]] {
        let output = run(directory.path(), &[&["info", "ark:feats.ark"], more].concat());
        assert_eq!(output.status.code(), Some(2), "{more:?}");
    }
    assert_eq!(run(directory.path(), &["info", "ark:none.ark"]).status.code(), Some(1));
}

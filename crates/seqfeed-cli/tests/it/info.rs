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

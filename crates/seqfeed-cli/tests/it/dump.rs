//! Minibatches as JSON lines.

use std::fs;

use serde_json::{Value, json};

use crate::program::run;

#[test]
fn values_that_are_not_finite_are_json_too() {
    let directory = tempfile::tempdir().unwrap();
    let text = "a  [\n  nan inf -inf \n  0.5 1 -0 ]\n";
    fs::write(directory.path().join("f.ark"), text).unwrap();
    let arguments = ["feed", "--dump", "jsonl", "--order", "sequential", "ark:f.ark"];
    let output = run(directory.path(), &arguments);
    assert!(output.status.success(), "{output:?}");
    // A reader that knows no more than JSON.
    let minibatch: Value = serde_json::from_slice(&output.stdout).unwrap();
    let data = &minibatch["streams"]["features"]["data"];
    assert_eq!(data, &json!([["NaN", "Infinity", "-Infinity"], [0.5, 1.0, -0.0]]));
}

//! A mixture of corpora on the command line.

use serde_json::Value;

use crate::program::{dump, examples, run, try_dump};

#[test]
fn every_command_takes_a_mixture() {
    let directory = examples().join("digits");
    let succeeds = |arguments: &[&str]| {
        let output = run(&directory, arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    };
    let info: Value = serde_json::from_str(&succeeds(&["info", "mixture.toml", "--json"])).unwrap();
    assert_eq!((&info["sequences"], &info["samples"]), (&63.into(), &10_880.into()));
    assert!(succeeds(&["check", "mixture.toml"]).contains("63 sequences"));
    assert!(succeeds(&["show", "mixture.toml", "htk/en+f3-0002"]).contains("151"));
    assert!(succeeds(&["describe", "mixture.toml"]).contains("[mix.htk]\ncorpus = \"htk.toml\""));
    let out = tempfile::tempdir().unwrap();
    let ctf = out.path().join("out.ctf");
    succeeds(&["convert", "mixture.toml", ctf.to_str().unwrap(), "--allow-lossy"]);
    let info: Value =
        serde_json::from_str(&succeeds(&["info", ctf.to_str().unwrap(), "--json"])).unwrap();
    assert_eq!(info["sequences"], 63);
}

#[test]
fn the_summary_says_what_came_of_each_corpus() {
    let output = run(&examples(), &["feed", "digits/mixture.toml", "--sweeps", "1"]);
    let text = String::from_utf8_lossy(&output.stdout);
    // All 10,402 frames of one come once; the other has a tenth of all.
    for line in [
        "htk          1,156 samples (10.0 %), in 3 sweeps of its own\n",
        "kaldi        10,402 samples (90.0 %), in 1 sweep of its own\n",
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
    let json = run(&examples(), &["feed", "digits/mixture.toml", "--sweeps", "1", "--json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["mixture"][0]["samples"], 1156);
    assert_eq!(json["mixture"][1]["sweeps"], 1);
}

#[test]
fn a_mixture_goes_on_from_its_state() {
    let mixture = examples().join("digits/mixture.toml").display().to_string();
    let directory = tempfile::tempdir().unwrap();
    let whole = dump(directory.path(), &[&mixture, "--samples", "9000"]);
    let mut parts = Vec::new();
    for samples in ["3000", "9000"] {
        let arguments = [&mixture, "--samples", samples, "--state", "state.json"];
        parts.extend(dump(directory.path(), &arguments));
    }
    // Cut where the first run ended.
    let keys = |minibatches: &[Value]| -> Vec<Value> {
        minibatches.iter().flat_map(|one| one["keys"].as_array().unwrap().clone()).collect()
    };
    assert_eq!(keys(&parts), keys(&whole));
    let refused = try_dump(directory.path(), &[&mixture, "--preset", "cntk", "--sweeps", "1"]);
    assert!(refused.unwrap_err().contains("preset = \"none\""));
}

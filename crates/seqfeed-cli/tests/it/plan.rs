//! `seqfeed plan` foretells what a feed gives.

use serde_json::Value;

use crate::corpora::corpus;
use crate::program::run;

fn json(directory: &std::path::Path, arguments: &[&str]) -> Value {
    let output = run(directory, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_plan_has_the_minibatches_of_each_rank() {
    let directory = tempfile::tempdir().unwrap();
    corpus(40).write(directory.path());
    let corpus = ["--features", "scp:feats.scp", "--labels", "ark:ali.ark", "--ranks", "3"];
    let in_buckets =
        ["--unit", "sequence", "--window", "corpus", "--buckets", "3", "--batch-size", "40"];
    let at_lengths = in_buckets.map(|one| if one == "3" { "4,9" } else { one });
    for settings in [&["--batch-size", "20"][..], &in_buckets, &at_lengths] {
        let common = [&corpus[..], settings].concat();
        let plan = json(directory.path(), &[&["plan", "--json"][..], &common].concat());
        let mut samples = 0;
        for rank in 0..3 {
            let number = rank.to_string();
            let own = [&["feed", "--json", "--rank", &number][..], &common].concat();
            let fed = json(directory.path(), &own);
            for key in ["minibatches", "sequences", "samples"] {
                assert_eq!(plan["ranks"][rank][key], fed[key], "{key} of rank {rank}");
            }
            samples += fed["samples"].as_u64().unwrap();
            // Each rank has minibatches from all over the corpus.
            let chunks = plan["ranks"][rank]["chunks"].as_u64().unwrap();
            assert!(chunks >= 1 && plan["ranks"][rank]["bytes"].as_u64().unwrap() > 0);
        }
        assert_eq!(plan["samples"], samples);
        let histogram = plan["histogram"].as_array().unwrap().iter();
        let counted: u64 = histogram.map(|bar| bar["minibatches"].as_u64().unwrap()).sum();
        assert_eq!(plan["minibatches"], counted);
    }
}

#[test]
fn what_a_feed_refuses_a_plan_refuses_too() {
    let directory = tempfile::tempdir().unwrap();
    corpus(6).write(directory.path());
    let wrong: [&[&str]; 5] = [
        &["--ranks", "0"],
        &["--ranks", "2", "--batch-size", "0"],
        &["--unit", "frame", "--bucket", "2"],
        &["--unit", "frame", "--layout", "padded"],
        &["--min-length", "100000"],
    ];
    for settings in wrong {
        let said = ["feed", "plan"].map(|command| {
            let arguments = [&[command, "--features", "scp:feats.scp"], settings].concat();
            let output = run(directory.path(), &arguments);
            assert!(!output.status.success(), "{arguments:?}");
            String::from_utf8_lossy(&output.stderr).into_owned()
        });
        assert_eq!(said[0], said[1], "{settings:?}");
    }
}

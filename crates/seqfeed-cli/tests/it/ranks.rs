//! Ranks divide a sweep, and another number of ranks can go on with it.

use crate::corpora::corpus;
use crate::program::{dump, frames};

const SETTINGS: [&str; 12] = [
    "--features",
    "scp:feats.scp",
    "--labels",
    "ark:ali.ark",
    "--batch-size",
    "20",
    "--seed",
    "2",
    "--chunk-size",
    "50",
    "--window",
    "4 chunks",
];

#[test]
fn the_union_of_the_ranks_is_the_corpus() {
    let directory = tempfile::tempdir().unwrap();
    let corpus = corpus(40);
    corpus.write(directory.path());
    for ranks in ["1", "2", "3", "7"] {
        for shard in ["minibatches", "chunks"] {
            let mut seen = Vec::new();
            let mut counts = Vec::new();
            for rank in 0..ranks.parse().unwrap() {
                let rank: u32 = rank;
                let rank = rank.to_string();
                let own =
                    ["--ranks", ranks, "--rank", &rank, "--shard", shard, "--partial", "even"];
                let minibatches = dump(directory.path(), &[&SETTINGS[..], &own].concat());
                counts.push(minibatches.len());
                seen.extend(frames(&minibatches));
            }
            assert!(counts.iter().all(|&count| count == counts[0]), "{counts:?}");
            seen.sort();
            assert_eq!(seen, corpus.frames(), "{ranks} {shard}");
        }
    }
}

#[test]
fn stopped_with_four_ranks_and_resumed_with_three() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let corpus = corpus(40);
    corpus.write(path);
    // Four ranks stop after 240 samples: three steps of 4 x 20.
    let mut seen = Vec::new();
    for rank in ["0", "1", "2", "3"] {
        let state = format!("state{rank}.json");
        let own = ["--ranks", "4", "--rank", rank, "--samples", "240", "--state", &state];
        let minibatches = dump(path, &[&SETTINGS[..], &own].concat());
        assert_eq!(minibatches.len(), 3);
        seen.extend(frames(&minibatches));
    }
    let read = |name: &str| std::fs::read_to_string(path.join(name)).unwrap();
    assert_eq!(read("state0.json"), read("state3.json"));
    for rank in ["0", "1", "2"] {
        let state = format!("three{rank}.json");
        std::fs::copy(path.join("state0.json"), path.join(&state)).unwrap();
        let own = ["--ranks", "3", "--rank", rank, "--sweeps", "1", "--state", &state];
        seen.extend(frames(&dump(path, &[&SETTINGS[..], &own].concat())));
    }
    seen.sort();
    assert_eq!(seen, corpus.frames());
}

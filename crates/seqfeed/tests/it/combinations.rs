//! A setting that is accepted has an effect, whatever the other settings.

use std::path::Path;

use seqfeed::io::Opener;
use seqfeed::{Description, Table};

use crate::small_corpus::{keys, open, shown, write};

/// All that two ranks get, and what it takes; an error where the keys do not go together.
fn run(directory: &Path, base: &Table) -> seqfeed::Result<Vec<String>> {
    let mut all = Vec::new();
    for rank in 0..2 {
        let mut keys = base.clone();
        keys.entry("rank").or_insert(seqfeed::Value::Integer(rank));
        let opened = open(directory, &keys)?;
        let mut feed = opened.feed(None)?;
        all.push(format!("rank {rank}"));
        for minibatch in feed.by_ref() {
            all.push(shown(&minibatch?));
        }
        // How much is in memory together is the effect of some.
        all.push(feed.memory_bound().to_string());
    }
    Ok(all)
}

/// Pairs of values of a key that must not give the same.
const PAIRS: [(&str, &str, &str); 48] = [
    ("unit", "'frame'", "'sequence'"),
    ("context", "0", "2"),
    ("order", "'sequential'", "'shuffle'"),
    ("order", "'sequential'", "'blocks'"),
    ("order", "'shuffle'", "'blocks'"),
    ("window", "'1 chunk'", "'corpus'"),
    ("seed", "3", "4"),
    ("batch-size", "9", "40"),
    ("batch-unit", "'samples'", "'sequences'"),
    ("batch-unit", "'samples'", "'padded'"),
    ("batch-unit", "'sequences'", "'padded'"),
    ("bucket", "5", "14"),
    ("buckets", "1", "4"),
    ("buckets", "[2]", "[4]"),
    ("buckets", "2", "[1, 9]"),
    ("pack", "15", "40"),
    ("max-sequences", "1", "3"),
    ("max-padded", "5", "12"),
    ("max-tokens", "5", "12"),
    ("quadratic", "2", "1000"),
    ("layout", "'padded'", "'packed'"),
    ("layout", "'padded'", "'concatenated'"),
    ("layout", "'frames'", "'truncated'"),
    ("label-padding", "-1", "-2"),
    ("feature-padding", "-1", "0.5"),
    ("streams.labels.padding", "-1", "-2"),
    ("streams.features.dtype", "'float32'", "'float16'"),
    ("streams.labels.dtype", "'int32'", "'int64'"),
    ("ignore-label", "1", "2"),
    ("map-label", "'1:2'", "'2:0'"),
    ("sweeps", "1", "2"),
    ("samples", "60", "120"),
    ("shard", "'minibatches'", "'chunks'"),
    ("shard", "'minibatches'", "'groups'"),
    ("groups", "2", "6"),
    ("partial", "'keep'", "'even'"),
    ("partition", "'20 frames'", "'50 frames'"),
    ("stream", "true", "false"),
    ("reshuffle", "true", "false"),
    ("local-timeline", "true", "false"),
    ("cross-sweeps", "true", "false"),
    ("epoch", "'sweep'", "70"),
    ("start", "0", "50"),
    ("truncation", "3", "5"),
    ("order", "'shuffle'", "'rolling'"),
    ("right-splice", "1", "2"),
    ("generator", "'mt19937-64'", "'rand'"),
    ("htkmlf-epochs", "false", "true"),
];

#[test]
fn changing_a_setting_that_is_accepted_changes_something() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let mut bases = Vec::new();
    for preset in ["none", "cntk", "cntk-timeline", "pdnn"] {
        for order in [
            "order = 'sequential'",
            "order = 'shuffle'",
            "order = 'shuffle'\nwindow = 'corpus'",
            "order = 'blocks'\nwindow = '3 chunks'",
            "order = 'blocks'\nshard = 'groups'\ngroups = 4",
        ] {
            for unit in [
                "unit = 'frame'",
                "unit = 'sequence'",
                "unit = 'sequence'\nbucket = 11",
                "unit = 'sequence'\ntruncation = 4",
                "unit = 'sequence'\nbatch-unit = 'sequences'\nbatch-size = 4",
            ] {
                bases.push(format!("preset = '{preset}'\n{order}\n{unit}\n"));
            }
        }
    }
    let (mut effects, mut refused) = (0, 0);
    for base in &bases {
        for (key, one, other) in PAIRS {
            // In sequential order it only says how much is in memory, which is little here anyway.
            if key == "stream" && base.contains("sequential") {
                continue;
            }
            // It changes with which minibatch the end of a sweep is told, where sequences are as
            // short as in a kept job of CNTK's reader (random_jobs.jsonl, 696).
            if key == "cross-sweeps" && base.contains("truncation") {
                continue;
            }
            let with = |value: &str, size: i64| {
                let mut all = keys(base);
                all.insert("ranks".to_owned(), seqfeed::Value::Integer(2));
                // `pack` says the size itself.
                if !base.contains("batch-size") && key != "pack" {
                    all.insert("batch-size".to_owned(), seqfeed::Value::Integer(size));
                }
                if base.contains("'pdnn'") {
                    all.extend(keys("partition = '30 frames'"));
                }
                if key != "samples" {
                    all.insert("sweeps".to_owned(), seqfeed::Value::Integer(2));
                }
                all.extend(keys(&format!("{key} = {value}")));
                run(directory.path(), &all)
            };
            match (with(one, 17), with(other, 17)) {
                (Ok(one_run), Ok(other_run)) => {
                    // Whether a sweep ends with a full step depends on the size.
                    let differ =
                        |size: &i64| with(one, *size).unwrap() != with(other, *size).unwrap();
                    assert!(
                        one_run != other_run || [16, 19, 23, 31, 50].iter().any(differ),
                        "{key} changes nothing with\n{base}"
                    );
                    effects += 1;
                }
                (one, other) => {
                    for error in [one.err(), other.err()].into_iter().flatten() {
                        assert!(error.is_usage(), "{key} with\n{base}{error}");
                    }
                    refused += 1;
                }
            }
        }
    }
    assert!(effects > 300 && refused > 300, "{effects} effects, {refused} refused");
}

#[test]
fn an_explicit_description_packs_alike() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let features = format!("'ark:{}'", directory.path().join("f.ark").display());
    let all = keys(&format!("features = {features}\nunit = 'sequence'\npack = 20\nsweeps = 1"));
    let description = Description::from_options(all).unwrap();
    let opened = description.open(&Opener::default()).unwrap();
    let explicit = description.explicit(&opened, &Opener::default()).unwrap().to_toml();
    let again = Description::from_toml(&explicit).unwrap().open(&Opener::default()).unwrap();
    assert_eq!(again.settings(), opened.settings(), "{explicit}");
}

#[test]
fn sizes_beyond_all_reason_are_refused_before_memory_is_taken() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    for (key, says) in [
        ("ranks = 4294967296", "number of ranks"),
        ("threads = 4294967296", "number of threads"),
        ("queue = 4294967296", "kept ready"),
        ("context = 4294967296", "context"),
        ("preset = 'cntk-timeline'\nbatch-size = 4294967297", "batch size"),
        ("preset = 'cntk'\nbatch-size = 4294967297", "batch size"),
        ("preset = 'cntk'\nunit = 'sequence'\ntruncation = 4294967296", "truncation length"),
        ("preset = 'cntk'\nunit = 'sequence'\ntruncation = 1\nbatch-size = 4294967296", "parallel"),
    ] {
        let opened = open(directory.path(), &keys(key));
        let error = opened.and_then(|opened| opened.feed(None)).unwrap_err();
        assert!(error.is_usage() && error.message().contains(says), "{key}: {error}");
    }
    // These are as much as there is.
    for key in [
        "batch-size = 9223372036854775807",
        "window = '9223372036854775807 samples'",
        "bucket = 4294967296\nunit = 'sequence'",
        "preset = 'cntk'\nstart = 4611686018427387904",
        "partition = '9223372036854775807 frames'",
    ] {
        let opened = open(directory.path(), &keys(&format!("{key}\nsweeps = 1"))).unwrap();
        assert!(opened.feed(None).unwrap().all(|minibatch| minibatch.is_ok()), "{key}");
    }
}

//! Options and keys of a description mean the same; wrong ones are refused.

use std::fs;

use crate::corpora::corpus;
use crate::program::{dump, run};

#[test]
fn a_description_and_options_give_the_same_minibatches() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    fs::create_dir(path.join("data")).unwrap();
    corpus(20).write(&path.join("data"));
    fs::write(
        path.join("data/corpus.toml"),
        "[streams.features]\nsource = 'scp:feats.scp'\ncontext = '1:2'\n\
         [streams.labels]\nsource = 'ark:ali.ark'\nkind = 'label'\n\
         [feed]\nbatch-size = 30\nseed = 4\nunit = 'sequence'\nlayout = 'concatenated'\nwindow = '100 samples'\n",
    )
    .unwrap();
    let options = [
        "--features",
        "scp:data/feats.scp",
        "--labels",
        "ark:data/ali.ark",
        "--context",
        "1:2",
        "--batch-size",
        "30",
        "--seed",
        "4",
        "--unit",
        "sequence",
        "--layout",
        "concatenated",
        "--window",
        "100 samples",
    ];
    let described = dump(path, &["data/corpus.toml"]);
    assert!(described == dump(path, &options));
    // An option replaces a key; its names are relative to the working directory.
    let other = ["data/corpus.toml", "--labels", "ark:data/ali.txt", "--order", "sequential"];
    let sequential = dump(path, &other);
    assert_eq!(sequential[0]["keys"][0], "spk0-utt000");
}

#[test]
fn streams_of_one_sample_a_sequence() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    corpus(3).write(path);
    fs::write(path.join("spk.txt"), "spk0-utt000 7 \nspk0-utt001 8 \nspk0-utt002 9 \n").unwrap();
    fs::write(
        path.join("corpus.toml"),
        "[feed]\norder = 'sequential'\nbatch-size = 100\n\
         [streams.features]\nsource = 'ark:feats.ark'\n[streams.speaker]\nsource = 'ark:spk.txt'\nkind = 'label'\nextent = 'sequence'\n",
    )
    .unwrap();
    let frames = dump(path, &["corpus.toml"]);
    let speakers = frames[0]["streams"]["speaker"]["data"].as_array().unwrap();
    assert_eq!(
        (speakers.len(), &speakers[0][0], &speakers[5][0]),
        (5 + 12 + 19, &7.into(), &8.into())
    );
    let whole = dump(path, &["corpus.toml", "--unit", "sequence"]);
    assert_eq!(whole[0]["streams"]["speaker"]["data"], serde_json::json!([[7], [8], [9]]));
}

#[test]
fn wrong_usage_ends_with_2() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    corpus(3).write(path);
    let wrong: [&[&str]; 9] = [
        &["feed"],
        &["feed", "--no-such-option"],
        &["feed", "--features", "ark:feats.ark", "--unit", "word"],
        &["feed", "--features", "ark:feats.ark", "--window", "wide"],
        &["feed", "--features", "ark:feats.ark", "--batch-size", "0"],
        &["feed", "--features", "ark:feats.ark", "--rank", "2", "--ranks", "2"],
        &["feed", "--features", "ark:feats.ark", "--context", "a"],
        &["feed", "--features", "ark:feats.ark", "--missing", "some"],
        &["feed", "scp:feats.scp", "--features", "ark:feats.ark"],
    ];
    for arguments in wrong {
        let output = run(path, arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.starts_with("error: "), "{errors}");
    }
}

#[test]
fn a_memory_limit_is_kept_or_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    corpus(20).write(path);
    let output = run(path, &["feed", "--features", "ark:feats.ark", "--memory", "1 kB"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("at most 1000 allowed"), "{errors}");
    assert!(
        run(path, &["feed", "--features", "ark:feats.ark", "--memory", "10 MB"]).status.success()
    );
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let directory = tempfile::tempdir().unwrap();
    corpus(40).write(directory.path());
    let command = format!(
        "'{}' feed --features ark:feats.ark --sweeps 100 --dump jsonl | head -n 1 >first; \
         echo ${{PIPESTATUS[0]}}",
        env!("CARGO_BIN_EXE_seqfeed")
    );
    let output = std::process::Command::new("bash")
        .args(["-c", &command])
        .current_dir(directory.path())
        .output()
        .unwrap();
    assert_eq!(output.stdout, b"0\n", "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty());
}

//! The same corpus in whatever container gives the same minibatches.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::corpora::corpus;
use crate::program::{dump, run, seqfeed};

fn sh(directory: &Path, command: &str) {
    let status = Command::new("sh").args(["-c", command]).current_dir(directory).status().unwrap();
    assert!(status.success(), "{command}");
}

#[test]
fn archives_scripts_text_gzip_and_pipes_give_the_same_minibatches() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    corpus(30).write(path);
    // Two archives, the second one from utterance 15 on.
    let feats = fs::read(path.join("feats.ark")).unwrap();
    let second = feats.windows(11).position(|bytes| bytes == b"spk1-utt015").unwrap();
    fs::write(path.join("a.ark"), &feats[..second]).unwrap();
    fs::write(path.join("b.ark"), &feats[second..]).unwrap();
    sh(path, "gzip -k feats.ark && gzip -c feats.txt > text.gz");
    fs::write(path.join("list.scp"), {
        let script = fs::read_to_string(path.join("feats.scp")).unwrap();
        script.replace(" feats.ark:", " ./feats.ark:").replace('\n', "\r\n")
    })
    .unwrap();
    let settings = [
        "--context",
        "1",
        "--batch-size",
        "32",
        "--seed",
        "5",
        "--chunk-size",
        "64",
        "--window",
        "3 chunks",
        "--sweeps",
        "2",
    ];
    let feed = |features: &[&str], labels: &str| {
        let mut arguments = settings.to_vec();
        for features in features {
            arguments.extend(["--features", features]);
        }
        arguments.extend(["--labels", labels]);
        dump(path, &arguments)
    };
    let expected = feed(&["ark:feats.ark"], "ark:ali.ark");
    assert!(expected.len() > 20);
    let others: [(&[&str], &str); 9] = [
        (&["scp:feats.scp"], "ark:ali.ark"),
        (&["scp:list.scp"], "ark:ali.txt"),
        (&["ark:a.ark", "ark:b.ark"], "ark:ali.ark"),
        (&["ark:feats.txt"], "ark:ali.ark"),
        (&["ark:feats.ark.gz"], "ark:ali.ark"),
        (&["ark:text.gz"], "ark:ali.ark"),
        (&["ark:cat feats.ark |"], "ark:cat ali.ark |"),
        (&["ark:cat a.ark b.ark |"], "ark:gzip -c ali.txt | gunzip -c |"),
        (&["scp:cat feats.scp |"], "ark,s,cs:ali.ark"),
    ];
    for (features, labels) in others {
        assert!(feed(features, labels) == expected, "{features:?} {labels}");
    }
    for mapped in [&["--map"][..], &["--map", "--threads", "1"]] {
        let arguments = ["--features", "ark:feats.ark", "--labels", "ark:ali.ark"];
        assert!(dump(path, &[&settings[..], &arguments, mapped].concat()) == expected);
    }
}

#[test]
fn standard_input_is_a_container_too() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    corpus(5).write(path);
    let arguments = ["feed", "--dump", "jsonl", "--labels", "ark:ali.ark", "--features"];
    let from_file = run(path, &[&arguments[..], &["ark:feats.ark"]].concat());
    let mut child = seqfeed(path, &[&arguments[..], &["ark:-"]].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let feats = fs::read(path.join("feats.ark")).unwrap();
    child.stdin.take().unwrap().write_all(&feats).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(output.stdout == from_file.stdout);
}

#[test]
fn commands_in_script_files_run_only_when_allowed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    corpus(1).write(path);
    fs::write(path.join("pipe.scp"), "u touch ran; tail -c +13 feats.ark |\n").unwrap();
    let output = run(path, &["feed", "--features", "scp:pipe.scp"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("--allow-pipes"), "{errors}");
    assert!(!path.join("ran").exists());
    let output = run(path, &["feed", "--features", "scp:pipe.scp", "--allow-pipes"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(path.join("ran").exists());
    // A description must not allow itself.
    let text = "[streams.features]\nsource = 'ark:touch two; cat feats.ark |'\n";
    fs::write(path.join("corpus.toml"), text).unwrap();
    let output = run(path, &["feed", "corpus.toml"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(!path.join("two").exists());
}

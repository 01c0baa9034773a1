//! Sizes that data or settings ask for have limits.

use std::fs;

use crate::corpora::corpus;
use crate::program::run;

/// Commands that open a corpus, as they stand around its name.
const COMMANDS: [(&str, &[&str]); 6] = [
    ("info", &[]),
    ("show", &["spk0-utt000"]),
    ("check", &[]),
    ("describe", &[]),
    ("feed", &["--batch-size", "4"]),
    ("convert", &["ark:out.ark"]),
];

#[test]
fn every_command_takes_a_line_limit() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let mut corpus = corpus(3);
    corpus.utterances[1].key = "k".repeat(70_000);
    corpus.write(path);
    let toml = |limit: &str| format!("features = 'scp:feats.scp'\n{limit}");
    fs::write(path.join("short.toml"), toml("")).unwrap();
    fs::write(path.join("long.toml"), toml("line-limit = 80000\n")).unwrap();
    for (command, options) in COMMANDS {
        let says = |name: &str, more: &[&str]| {
            let output = run(path, &[&[command, name], options, more].concat());
            // What `check` finds, it prints.
            let said = [output.stdout, output.stderr].concat();
            (output.status.code().unwrap(), String::from_utf8_lossy(&said).into_owned())
        };
        for name in ["scp:feats.scp", "short.toml"] {
            let (code, said) = says(name, &[]);
            let explained = said.contains("65536") && said.contains("`line-limit`");
            assert!(code == 1 && explained, "{command} {name}: {said}");
            let (code, said) = says(name, &["--line-limit", "80000"]);
            assert_eq!(code, 0, "{command} {name}: {said}");
            assert_eq!(says(name, &["--line-limit", "0"]).0, 2, "{command} {name}");
        }
        assert_eq!(says("long.toml", &[]).0, 0, "{command}");
        assert_eq!(says("long.toml", &["--line-limit", "60000"]).0, 1, "{command}");
    }
}

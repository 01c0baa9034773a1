//! Sizes that data or settings ask for have limits.

use std::fs;
use std::process::Command;

use seqfeed::OptionValues;

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
    let toml = |limit: &str| format!("[streams.features]\nsource = 'scp:feats.scp'\n{limit}");
    fs::write(path.join("short.toml"), toml("")).unwrap();
    fs::write(path.join("long.toml"), toml("[reading]\nline-limit = 80000\n")).unwrap();
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

/// A file whose lines never end is refused for that, before it fills the memory.
#[test]
fn lines_that_never_end_are_not_read_to_their_end() {
    /// The file's zeros, which take no room on the disk, are more than the process may have.
    const BYTES: u64 = 2 << 30;
    const MEMORY: &str = "500000";
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    corpus(2).write(path);
    let endless = |name: &str, head: &str| {
        fs::write(path.join(name), head).unwrap();
        let file = fs::OpenOptions::new().write(true).open(path.join(name)).unwrap();
        file.set_len(BYTES).unwrap();
    };
    endless("kaldi.scp", "a");
    endless("second.scp", "spk0-utt000 feats.ark:12\na");
    endless("htk.list", &"a".repeat(5000));
    endless("outside.mlf", "#!MLF!#\na");
    endless("inside.mlf", "#!MLF!#\n\"*/a.lab\"\n0 1 a\n0");
    endless("last.mlf", "#!MLF!#\n\"*/a.lab\"\n0 1 a\n.\n0");
    endless("states.list", "a");
    endless("key.ali", "a");
    endless("label.ali", "a 1 2");
    endless("key.txt", "a");
    fs::write(path.join("good.mlf"), "#!MLF!#\n\"*/a.lab\"\n0 1 a\n.\n").unwrap();
    let cntk = "reader=[\n readerType=HTKMLFReader\n readMethod=blockRandomize\n \
                features=[\n  dim=3\n  scpFile=htk.list\n ]\n labels=[\n  \
                mlfFile=good.mlf\n  labelDim=2\n  labelMappingFile=states.list\n ]\n]\n";
    fs::write(path.join("train.cntk"), cntk).unwrap();
    let commands: [&[&str]; 13] = [
        &["info", "scp:kaldi.scp"],
        &["info", "scp:second.scp"],
        &["copy", "scp:kaldi.scp", "ark:out.ark"],
        &["copy", "ark:feats.ark", "ark:out.ark", "--select", "@key.txt"],
        &["info", "--labels", "ark:key.txt"],
        &["info", "htk:htk.list"],
        &["info", "train.cntk"],
        &["info", "--labels", "outside.mlf"],
        &["info", "--labels", "inside.mlf"],
        &["info", "--labels", "last.mlf"],
        &["info", "--labels", "good.mlf", "--states", "states.list"],
        &["info", "feats.scp,label=key.ali"],
        &["info", "feats.scp,label=label.ali"],
    ];
    let mut wrong = Vec::new();
    for arguments in commands {
        let script = format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"");
        let mut limited = Command::new("sh");
        limited.current_dir(path).args(["-c", &script, env!("CARGO_BIN_EXE_seqfeed")]);
        let output = limited.args(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let refused = said.contains("65536") && said.contains("`line-limit`");
        if output.status.code() != Some(1) || !refused {
            wrong.push(format!("{arguments:?}: {said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The largest number that a setting can have works or is refused: it takes no memory by itself.
#[test]
fn the_largest_numbers_of_settings_do_no_harm() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    corpus(5).write(path);
    let numbers = seqfeed::options().into_iter().filter(|option| {
        // These two say where a feed ends, and it would not.
        let ends = option.name == "sweeps" || option.name == "samples";
        matches!(option.values, OptionValues::Unsigned | OptionValues::Integer) && !ends
    });
    let mut commands: Vec<Vec<String>> = Vec::new();
    let mut add = |text: &str, value: &str| {
        let words = text.split(' ').map(|word| word.replace("MOST", value));
        commands.push(words.collect());
    };
    for option in numbers {
        for value in ["4294967296", "9223372036854775807", "18446744073709551615"] {
            for unit in ["frame", "sequence"] {
                let flag = format!("--{}", option.name);
                add(&format!("feed scp:feats.scp --unit {unit} {flag} MOST"), value);
            }
        }
    }
    for text in [
        "feed scp:feats.scp --context MOST",
        "feed scp:feats.scp --window MOSTchunks",
        "feed scp:feats.scp --window MOST",
        "feed scp:feats.scp --memory MOST",
        "feed scp:feats.scp --partition MOSTm",
        "feed scp:feats.scp --line-limit MOST",
        "feed scp:feats.scp --errors MOST --missing MOST",
        "convert scp:feats.scp out.ctf --allow-lossy --shards MOST",
        "convert scp:feats.scp out.ctf --allow-lossy --shards 2 --jobs MOST",
        "copy scp:feats.scp ark:JOB.ark --split MOST",
        "copy scp:feats.scp ark:some.ark --head MOST",
        "info scp:feats.scp --stats --threads MOST",
        "check scp:feats.scp --trim MOST",
        "show scp:feats.scp spk0-utt000 --frames MOST",
    ] {
        add(text, "18446744073709551615");
        add(text, "9223372036854775807");
        add(text, "4294967295");
    }
    for words in commands {
        let script = "ulimit -v 4000000; exec \"$0\" \"$@\"";
        let output = Command::new("/bin/sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_seqfeed")])
            .args(&words)
            .current_dir(path)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        assert!(matches!(code, Some(0..=2)), "{words:?}: {:?} {said}", output.status);
        assert!(!said.contains("panicked"), "{words:?}: {said}");
    }
}

//! The examples at the end of every command's help are run, each in a directory of its own in which
//! the files that they name are there.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::program::{copy_directory, examples, run, seqfeed};

#[test]
fn every_example_of_help_runs() {
    let template = tempfile::tempdir().unwrap();
    prepare(template.path());
    let help = seqfeed(template.path(), &["--help"]).env("COLUMNS", "1000").output().unwrap();
    let mut commands = vec![String::new()];
    let listed = String::from_utf8(help.stdout).unwrap();
    let listed = listed.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = listed.map_while(|line| line.split_whitespace().next());
    commands.extend(names.filter(|name| *name != "help").map(str::to_owned));
    assert!(commands.len() > 10, "{commands:?}");
    for command in &commands {
        let words: Vec<&str> =
            [command.as_str(), "--help"].into_iter().filter(|word| !word.is_empty()).collect();
        let output = seqfeed(template.path(), &words).env("COLUMNS", "1000").output().unwrap();
        let help = String::from_utf8(output.stdout).unwrap();
        let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1);
        let lines: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
        assert!(!lines.is_empty(), "seqfeed {command} --help has no examples:\n{help}");
        for line in lines {
            assert!(line.len() <= 100, "would be wrapped: {line}");
            succeeds(template.path(), line.trim());
        }
    }
}

/// Runs a line of shell in a copy of a directory.
fn succeeds(template: &Path, line: &str) {
    let directory = tempfile::tempdir().unwrap();
    copy_directory(template, directory.path());
    let home = directory.path().join("home");
    let program = Path::new(env!("CARGO_BIN_EXE_seqfeed")).parent().unwrap();
    let mut path = vec![program.to_owned(), home.join("bin")];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
    let output = Command::new("sh")
        .args(["-e", "-c", line])
        .current_dir(directory.path())
        .env("PATH", std::env::join_paths(path).unwrap())
        .env("HOME", home)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}\n{}\n{errors}", output.status);
}

/// Files under the names that examples use, made from those of `examples/digits`.
fn prepare(directory: &Path) {
    let digits = examples().join("digits").canonicalize().unwrap();
    let script = fs::read_to_string(digits.join("train/feats.scp")).unwrap();
    let keys: Vec<&str> =
        script.lines().take(8).map(|line| line.split_whitespace().next().unwrap()).collect();
    // Text archives are the easiest to rename keys in.
    fs::write(directory.join("keys"), keys.join("\n")).unwrap();
    let (from, select) = (digits.display(), ["--select", "@keys"]);
    for (table, name) in [
        (format!("scp:{from}/train/feats.scp"), "feats"),
        (format!("ark:{from}/train/ali.ark"), "ali"),
    ] {
        let text = directory.join("text");
        done(directory, &[&["copy", &table, "ark,t:text"], &select[..]].concat());
        let mut renamed = fs::read_to_string(&text).unwrap();
        for (i, key) in keys.iter().enumerate() {
            renamed = renamed.replace(key, &format!("utt{}", i + 1));
        }
        fs::write(&text, renamed).unwrap();
        done(directory, &["copy", "ark:text", &format!("ark,scp:{name}.ark,{name}.scp")]);
        fs::remove_file(text).unwrap();
    }
    fs::remove_file(directory.join("keys")).unwrap();
    fs::write(directory.join("utterances.txt"), "utt2\nutt5\n").unwrap();
    let description = |place: &str| {
        format!(
            "[streams.features]\nsource = \"scp:{place}feats.scp\"\n\
             [streams.labels]\nsource = \"ark:{place}ali.ark\"\nkind = \"label\"\n"
        )
    };
    fs::write(directory.join("corpus.toml"), description("")).unwrap();
    fs::create_dir(directory.join("copy")).unwrap();
    fs::write(directory.join("copy/corpus.toml"), description("../")).unwrap();
    for name in ["train.ctf", "train.cntk", "train.pfile", "train.pickle"] {
        fs::copy(digits.join(name), directory.join(name)).unwrap();
    }
    fs::write(directory.join("final.mat"), " [\n  1 0 \n  0 1 ]\n").unwrap();
    copy_directory(&digits.join("htk"), &directory.join("htk"));
    let htk = [
        ("train.scp", "train.scp"),
        ("train.htk", "train.htk"),
        ("train.mlf", "train.mlf"),
        ("train.states", "states.list"),
    ];
    for (from, to) in htk {
        fs::copy(digits.join("htk").join(from), directory.join(to)).unwrap();
    }
    for made in [
        "out",
        "split",
        "home/bin",
        "home/.zfunc",
        "home/.config/fish/completions",
        "home/.local/share/bash-completion/completions",
    ] {
        fs::create_dir_all(directory.join(made)).unwrap();
    }
}

fn done(directory: &Path, arguments: &[&str]) {
    let output = run(directory, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

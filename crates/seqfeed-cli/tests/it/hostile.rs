//! Keys, names and contents that try to do something to the terminal: nothing of them is printed as
//! it is, by no command, whether it succeeds or fails.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::corpora::{corpus, matrix};
use crate::program::{run, seqfeed};

/// An escape sequence, its one-byte form, a bell, an override of direction, and a letter
/// that is seen.
const HOSTILE: &str = "\x1b[666m\u{9b}666m\x07\u{202e}\u{200b}é";
/// Begins each escape sequence of it.
const MARK: &str = "[666m";

/// Commands that print no data, and why.
const WITHOUT_DATA: [&str; 3] = ["completions", "manual", "help"];

fn is_hidden(letter: char) -> bool {
    letter != '\n' && (letter.is_control() || matches!(letter, '\u{200b}' | '\u{202e}'))
}

/// The letters of an output that should not be there.
fn hidden(output: &[u8]) -> BTreeSet<char> {
    String::from_utf8_lossy(output).chars().filter(|&letter| is_hidden(letter)).collect()
}

/// Corpora of hostile keys in files of hostile names, and descriptions of hostile streams.
fn write(path: &Path) {
    let mut corpus = corpus(6);
    for (number, utterance) in corpus.utterances.iter_mut().enumerate() {
        utterance.key = format!("k{number}{HOSTILE}");
    }
    corpus.utterances[2].features[1][1] = f32::NAN;
    corpus.utterances[3].labels.push(1);
    corpus.write(path);
    // Labels of other keys, so that some are missing.
    let labels = fs::read_to_string(path.join("ali.txt")).unwrap();
    fs::write(path.join("fewer.txt"), labels.replace("k4", "x4")).unwrap();
    let features = fs::read(path.join("feats.ark")).unwrap();
    let named = format!("f{HOSTILE}.ark");
    fs::write(path.join(&named), &features).unwrap();
    fs::write(path.join(format!("cut{HOSTILE}.ark")), &features[..features.len() - 5]).unwrap();
    let mut twice = features.clone();
    twice.extend_from_slice(&features);
    fs::write(path.join("twice.ark"), twice).unwrap();
    fs::write(path.join("gone.scp"), format!("k{HOSTILE} gone{HOSTILE}.ark:5\n")).unwrap();
    fs::write(path.join("wrong.scp"), format!("k{HOSTILE} {named}:1\n")).unwrap();
    fs::write(path.join("pipe.scp"), format!("k{HOSTILE} cat {HOSTILE} |\n")).unwrap();
    fs::write(path.join("good.mat"), matrix(&[[1.0; 3]; 4])).unwrap();
    let toml = serde_json::to_string(HOSTILE).unwrap();
    let stream = |source: &str| format!("[streams.{toml}]\nsource = \"{source}\"\n");
    fs::write(path.join("streams.toml"), stream("ark:feats.ark")).unwrap();
    fs::write(path.join("typo.toml"), format!("{toml} = 1\n")).unwrap();
    fs::write(path.join("syntax.toml"), format!("features = {HOSTILE}\n")).unwrap();
    fs::write(
        path.join(format!("{HOSTILE}.toml")),
        "[streams.features]\nsource = 'ark:feats.ark'\n",
    )
    .unwrap();
    fs::write(path.join("wrong.ctf"), format!("0 |a 1\n1 |a {HOSTILE} |{HOSTILE} 1\n")).unwrap();
    fs::write(path.join("names.ctf"), format!("0 |a 1 |b{MARK}é 2\n1 |a 1\n")).unwrap();
    fs::write(path.join("x.cntk"), format!("r=[readerType={HOSTILE}]\n{HOSTILE}=[\n")).unwrap();
    fs::write(path.join("x.json"), format!("{{{toml}: 1}}")).unwrap();
    fs::write(path.join("htk.scp"), format!("a{HOSTILE}=b{HOSTILE}.htk[0,1]\n")).unwrap();
    let mlf = format!("#!MLF!#\n\"*/k{HOSTILE}.lab\"\n0 100000 {HOSTILE}\n.\nnone{HOSTILE}\n.\n");
    fs::write(path.join("labels.mlf"), mlf).unwrap();
    fs::write(path.join("states.list"), format!("{HOSTILE}\n")).unwrap();
    fs::write(path.join("bad.npy"), format!("\u{93}NUMPY{HOSTILE}")).unwrap();
    fs::write(path.join("bad.pickle"), format!("c{HOSTILE}\n{HOSTILE}\n.")).unwrap();
    fs::write(path.join("bad.pfile"), format!("-pfile_header {HOSTILE}\n")).unwrap();
    fs::write(path.join("bad.parquet"), format!("PAR1{HOSTILE}PAR1")).unwrap();
    fs::write(path.join("bad.arrow"), format!("ARROW1{HOSTILE}ARROW1")).unwrap();
}

/// Names of corpora, all of which are given to all commands that take one.
fn corpora() -> Vec<Vec<String>> {
    let one = |name: &str| vec![name.to_owned()];
    let names = [
        "ark:feats.ark",
        "scp:feats.scp",
        "ark:feats.txt",
        "ark:twice.ark",
        "scp:gone.scp",
        "scp,p:gone.scp",
        "scp:wrong.scp",
        "scp:pipe.scp",
        "streams.toml",
        "typo.toml",
        "syntax.toml",
        "wrong.ctf",
        "names.ctf",
        "x.cntk",
        "x.cntk#r",
        "x.json",
        "htk.scp",
        "labels.mlf",
        "bad.npy",
        "bad.pickle",
        "bad.pfile",
        "bad.parquet",
        "bad.arrow",
        "feats.ark",
        "feats.scp",
    ];
    let mut corpora: Vec<Vec<String>> = names.into_iter().map(one).collect();
    corpora.push(one(&format!("ark:f{HOSTILE}.ark")));
    corpora.push(one(&format!("ark,p:cut{HOSTILE}.ark")));
    corpora.push(one(&format!("ark:cut{HOSTILE}.ark")));
    corpora.push(one(&format!("{HOSTILE}.toml")));
    corpora.push(one(&format!("ark:{HOSTILE}")));
    corpora.push(one(&format!("feats.pfile,{HOSTILE}=1")));
    for labels in ["ark:ali.ark", "ark:fewer.txt", "labels.mlf"] {
        for errors in ["stop", "skip"] {
            let words = ["--features", "ark:feats.ark", "--labels", labels, "--errors", errors];
            corpora.push(words.map(str::to_owned).to_vec());
        }
    }
    let words =
        ["--features", "ark:feats.ark", "--labels", "labels.mlf", "--states", "states.list"];
    corpora.push(words.map(str::to_owned).to_vec());
    corpora
}

#[test]
fn no_command_prints_what_data_want_a_terminal_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    write(path);
    let key = format!("k0{HOSTILE}");
    let commands: Vec<Vec<&str>> = vec![
        vec!["info"],
        vec!["info", "--stats", "--json"],
        vec!["feed"],
        vec!["feed", "--missing", "stop"],
        vec!["feed", "--dump", "jsonl"],
        vec!["feed", "--json"],
        vec!["check"],
        vec!["check", "--json", "--against", "ark:twice.ark"],
        vec!["show"],
        vec!["describe"],
        vec!["plan"],
        vec!["plan", "--json"],
    ];
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let (mut succeeded, mut failed) = (0, 0);
    let mut check = |arguments: Vec<&str>| {
        let output = run(path, &arguments);
        let (mut out, errors) = (hidden(&output.stdout), hidden(&output.stderr));
        if arguments[0] == "describe" {
            // In a pipe it is TOML for a file, which escapes what is ASCII; the terminal gets all
            // of it escaped.
            out.retain(char::is_ascii);
        }
        assert!(out.is_empty() && errors.is_empty(), "{arguments:?}: {out:?} {errors:?}");
        *(if output.status.success() { &mut succeeded } else { &mut failed }) += 1;
        output
    };
    let corpora = corpora();
    for corpus in &corpora {
        for command in &commands {
            seen.insert(command[0]);
            check(command.iter().copied().chain(corpus.iter().map(String::as_str)).collect());
        }
    }
    let (fix, hostile_fix) = ("fixed", format!("fixed{HOSTILE}"));
    let png = format!("{HOSTILE}.png");
    let (to, text) = (format!("ark:{HOSTILE}.out"), format!("ark,t:absent{HOSTILE}/out"));
    let others: Vec<Vec<&str>> = vec![
        vec!["show", "ark:feats.ark", &key],
        vec!["show", "ark:feats.ark", &key, "--json"],
        vec!["show", "ark:feats.ark", &key, "--stream", HOSTILE],
        vec!["show", "ark:feats.ark", &key, "--png", &png],
        vec!["show", "ark:feats.ark", "another"],
        vec!["show", "streams.toml", &key],
        vec!["check", "ark:feats.ark", "--fix", fix],
        vec!["check", "ark:feats.ark", "--fix", &hostile_fix],
        vec!["check", "ark:feats.ark", "--fix", &hostile_fix],
        vec!["convert", "ark:feats.ark", "out.pfile"],
        vec!["convert", "ark:feats.ark", "out.pfile", "--allow-lossy"],
        vec!["convert", "ark:feats.ark", &to, "--json"],
        vec!["convert", "streams.toml", "out.arrow", "--describe"],
        vec!["convert", "streams.toml", "out.ctf", "--allow-lossy"],
        vec!["convert", "ark:feats.ark", "htk-files:htk", "--allow-lossy"],
        vec!["convert", "ark:feats.ark", &text],
        vec!["copy", "ark:feats.ark", &to, "--select", HOSTILE],
        vec!["copy", "scp,p:gone.scp", "ark:out.ark"],
        vec!["copy", "scp:gone.scp", "ark:out.ark"],
        vec!["copy", "ark:twice.ark", "ark:out.ark", "--sort"],
        vec!["copy", "ark:feats.ark", &text],
        vec!["kaldi", "copy-feats", "scp,p:gone.scp", "ark:out.ark"],
        vec!["kaldi", "copy-feats", "scp:gone.scp", "ark:out.ark"],
        vec!["kaldi", "copy-feats", "ark:twice.ark", "ark:out.ark"],
        vec!["kaldi", "apply-cmvn", "ark:feats.ark", "ark:feats.ark", "ark:out.ark"],
        vec!["kaldi", "feat-to-len", "ark:cut.ark", "ark,t:out.txt"],
    ];
    for arguments in others {
        seen.insert(arguments[0]);
        check(arguments);
    }
    assert!(succeeded > 50 && failed > 50, "{succeeded} succeed, {failed} fail");
    // Pictures for the terminal are escape sequences themselves, but not those of the data.
    let picture = run(path, &["show", "ark:feats.ark", &key, "--color", "always"]);
    let picture = String::from_utf8_lossy(&picture.stdout);
    assert!(picture.contains("\x1b[") && !picture.contains("\x1b[666m"), "{picture}");
    assert!(!picture.contains('\u{9b}') && !picture.contains('\u{202e}'));
    // A command that is new is to be added here.
    let help = seqfeed(path, &["--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let listed = help.split("Commands:").nth(1).unwrap().split("\n\n").next().unwrap();
    // Texts that are longer than a line go on further to the right.
    let first = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    for line in listed.lines().filter(first) {
        let command = line.split_whitespace().next().unwrap();
        assert!(
            seen.contains(command) || WITHOUT_DATA.contains(&command),
            "{command} is not tried"
        );
    }
}

#[test]
fn json_says_what_data_hold() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let mut corpus = corpus(2);
    let key = format!("k0{HOSTILE}");
    corpus.utterances[0].key.clone_from(&key);
    corpus.write(path);
    let shown = run(path, &["show", "ark:feats.ark", &key, "--json"]);
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(shown["key"], key);
    let fed = run(path, &["feed", "ark:feats.ark", "--dump", "jsonl", "--unit", "sequence"]);
    let text = String::from_utf8(fed.stdout).unwrap();
    let minibatch: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert!(minibatch["keys"].as_array().unwrap().iter().any(|found| *found == key.as_str()));
}

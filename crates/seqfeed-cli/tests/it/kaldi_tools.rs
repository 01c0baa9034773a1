//! `seqfeed kaldi`, and links by the tools' names.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::program::{run, seqfeed};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A directory with an archive of two utterances.
fn features() -> tempfile::TempDir {
    let here = tempfile::tempdir().unwrap();
    fs::write(here.path().join("a.ark"), "u1 [ 1 2\n3 4 ]\nu2 [ 5 6 ]\n").unwrap();
    here
}

/// Runs a line in a shell that finds `seqfeed` and the links in `bin` first.
fn shell(here: &Path, line: &str) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_seqfeed")).parent().unwrap();
    let before = std::env::var("PATH").unwrap();
    let path = format!("{}:{}:{before}", here.join("bin").display(), program.display());
    Command::new("bash").current_dir(here).env("PATH", path).args(["-c", line]).output().unwrap()
}

#[test]
fn tools_are_listed_and_found() {
    let here = features();
    let listed = run(here.path(), &["kaldi", "--list"]);
    assert!(listed.status.success());
    let listed = text(&listed.stdout);
    assert!(listed.lines().count() >= 40, "{listed}");
    assert!(listed.lines().any(|line| line.starts_with("copy-feats   ")), "{listed}");
    let wrong = run(here.path(), &["kaldi", "copy-feets", "ark:a.ark", "ark:b.ark"]);
    assert_eq!(wrong.status.code(), Some(2));
    let said = text(&wrong.stderr);
    assert!(said.starts_with("error: there is no tool `copy-feets`\n"), "{said}");
    assert!(said.contains("help: did you mean `copy-feats`?"), "{said}");
    let help = text(&run(here.path(), &["kaldi", "copy-feats", "--help"]).stderr);
    assert!(help.contains("Usage: copy-feats [options]"), "{help}");
}

#[test]
fn output_and_log_go_where_kaldis_go() {
    let here = features();
    let copied =
        run(here.path(), &["kaldi", "copy-feats", "--binary=true", "ark:a.ark", "ark,t:-"]);
    assert!(copied.status.success());
    assert_eq!(text(&copied.stdout), "u1  [\n  1 2 \n  3 4 ]\nu2  [\n  5 6 ]\n");
    assert_eq!(
        text(&copied.stderr),
        "copy-feats --binary=true ark:a.ark ark,t:- \n\
         LOG (copy-feats[5.5.0]:main():featbin/copy-feats.cc:143) Copied 2 feature matrices.\n"
    );
    let total = run(here.path(), &["kaldi", "feat-to-len", "--print-args=false", "ark:a.ark"]);
    assert_eq!((text(&total.stdout), text(&total.stderr)), ("3\n".into(), String::new()));
    let missing = run(here.path(), &["kaldi", "copy-feats", "ark:none.ark", "ark:b.ark"]);
    assert_eq!(missing.status.code(), Some(255));
    assert!(text(&missing.stderr).contains("ERROR (copy-feats[5.5.0]) none.ark: "));
}

#[test]
fn links_make_kaldis_command_lines_run() {
    let here = features();
    let installed = run(here.path(), &["kaldi", "--install", "bin"]);
    assert!(installed.status.success(), "{}", text(&installed.stderr));
    assert!(text(&installed.stdout).ends_with("links made in bin\n"));
    let again = run(here.path(), &["kaldi", "--install", "bin"]);
    assert!(text(&again.stdout).starts_with("0 links made in bin, "));
    let line = "set -o pipefail; copy-feats ark:a.ark ark:- 2>/dev/null | \
                add-deltas --print-args=false ark:- ark:- | \
                feat-to-dim --print-args=false 'ark:splice-feats --left-context=1 --right-context=1 ark:- ark:- |' -";
    let piped = shell(here.path(), line);
    assert_eq!((piped.status.code(), text(&piped.stdout)), (Some(0), "18\n".into()));
    let echoed = shell(here.path(), "bin/copy-feats ark:a.ark 'ark:b c.ark'");
    assert!(text(&echoed.stderr).starts_with("bin/copy-feats ark:a.ark 'ark:b c.ark' \n"));
    assert!(here.path().join("b c.ark").exists());
    // What is there and is none of ours stays, and is said.
    fs::remove_file(here.path().join("bin/copy-feats")).unwrap();
    fs::write(here.path().join("bin/copy-feats"), "mine").unwrap();
    let taken = run(here.path(), &["kaldi", "--install", "bin"]);
    assert_eq!(taken.status.code(), Some(1));
    assert!(text(&taken.stderr).contains("copy-feats"));
    assert_eq!(fs::read(here.path().join("bin/copy-feats")).unwrap(), b"mine");
}

#[test]
fn standard_input_is_read() {
    let here = features();
    let line = "seqfeed kaldi copy-feats ark:- ark,t:- < a.ark; seqfeed kaldi copy-feats ark:- ark:- < /dev/null; echo $?";
    let output = shell(here.path(), line);
    assert!(text(&output.stdout).ends_with("u2  [\n  5 6 ]\n1\n"), "{}", text(&output.stdout));
}

#[test]
fn a_reader_that_has_gone_is_not_an_error_to_speak_of() {
    let here = features();
    let many: String = (0..50_000).map(|number| format!("u{number:06} [ 1 2 3 ]\n")).collect();
    fs::write(here.path().join("many.ark"), many).unwrap();
    let mut child = seqfeed(here.path(), &["kaldi", "copy-feats", "ark:many.ark", "ark,t:-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(141));
    assert_eq!(text(&ended.stderr), "copy-feats ark:many.ark ark,t:- \n");
}

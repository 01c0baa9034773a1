//! What commands write: never over what they read, and for whoever reads it meanwhile.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::corpora::{corpus, matrix};
use crate::program::{run, seqfeed};

const PATIENCE: Duration = Duration::from_secs(60);

/// Calls that would overwrite what they read, or write a file twice. `<` and `>` redirect,
/// as in a shell.
const OVERWRITING: &[&[&str]] = &[
    &["convert", "mine.toml", "mine.htk", "--allow-lossy"],
    &["convert", "mine.toml", "kaldi:mine"],
    &["convert", "mine.toml", "htk-files:mine", "--allow-lossy"],
    &["convert", "mine.toml", "ark:feats.ark"],
    &["convert", "mine.toml", "ark:sub/../feats.ark"],
    &["convert", "mine.toml", "ark:link.ark"],
    &["convert", "mine.toml", "ark:hard.ark"],
    &["convert", "mine.toml", "ark,scp:new.ark,feats.scp"],
    &["convert", "mine.toml", "ark,scp:new.ark,new.ark"],
    &["convert", "mine.toml", "ark:l.ark", "--to", "labels=ark:l.ark"],
    &["convert", "mine.toml", "ark:l.ark", "--to", "labels=ark:./l.ark"],
    &["convert", "mine.toml", "ark:f.ark", "--to", "labels=ark,scp:l.ark,f.ark"],
    &["convert", "mine.toml", "ark:-", "--to", "labels=ark:-"],
    &["convert", "mine.toml", "ark:f.ark", "--to", "labels=scp:over.scp"],
    &["convert", "mine.toml", "scp:over.scp", "--streams", "features"],
    &["convert", "mine.toml", "scp:same.scp", "--streams", "features"],
    &["convert", "mine.toml", "ark,scp:f.JOB.ark,f.scp", "--shards", "2"],
    &["convert", "mine.toml", "ctf:feats.ark", "--allow-lossy"],
    &["convert", "mine.toml", "x.htk", "--state-names", "x.states", "--allow-lossy"],
    &["convert", "x.ctf", "./x.ctf", "--allow-lossy"],
    &["convert", "x.pfile", "x.pfile"],
    &["convert", "x.parquet", "x.parquet"],
    &["convert", "x.npz", "npz:x.npz"],
    &["convert", "made.scp", "made.htk", "--allow-lossy"],
    &["copy", "ark:feats.ark", "ark:feats.ark"],
    &["copy", "ark:feats.ark", "ark:link.ark"],
    &["copy", "ark:-", "ark:feats.ark", "<", "feats.ark"],
    &["copy", "scp:feats.scp", "ark:feats.ark"],
    &["copy", "scp:feats.scp", "ark:feats.ark", "--sort"],
    &["copy", "scp:feats.scp", "ark,scp:new.ark,feats.scp"],
    &["copy", "scp:pair.scp", "scp:swapped.scp"],
    &["copy", "ark:feats.ark", "ark:keys.txt", "--select", "@keys.txt"],
    &["copy", "ark:feats.ark", "ark,scp:f.JOB.ark,f.scp", "--split", "2"],
    &["copy", "ark:feats.ark", "ark,scp:new.ark,./new.ark"],
    &["check", "mine.toml", "--fix", "sub"],
    &["check", "mine.toml", "--fix", "feats.ark"],
    &["feed", "mine.toml", "--state", "feats.ark"],
    &["feed", "mine.toml", "--state", "mine.toml"],
    &["feed", "mine.toml", "--dump", "jsonl", "--state", "dump", ">", "dump"],
    &["show", "mine.toml", "spk0-utt000", "--png", "feats.ark"],
    &["show", "mine.toml", "spk0-utt000", "--svg", "link.ark"],
    &["show", "mine.toml", "spk0-utt000", "--png", "new", "--svg", "./new"],
    &["kaldi", "copy-feats", "--write-num-frames=ark,t:new", "ark:feats.ark", "ark:./new"],
    &["kaldi", "copy-feats", "ark:feats.ark", "ark,scp:new,sub/../new"],
    &["kaldi", "copy-feats", "ark:feats.ark", "scp:same.scp"],
];

/// Commands that name no file to be written, or files that are theirs alone, and why.
const OTHERS: &[(&str, &str)] = &[
    ("info", "prints"),
    ("describe", "prints"),
    ("plan", "prints"),
    ("completions", "prints"),
    ("manual", "writes pages of its own names, and reads no file"),
    ("help", "prints"),
];

/// Names and contents of all files.
fn contents(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            let below = contents(&path).into_iter();
            found.extend(below.map(|(below, bytes)| (format!("{name}/{below}"), bytes)));
        } else {
            found.insert(name, fs::read(&path).unwrap());
        }
    }
    found
}

fn sources(at: &Path) {
    corpus(6).write(at);
    fs::create_dir(at.join("sub")).unwrap();
    fs::write(at.join("sub/file"), "here").unwrap();
    let text = "[streams.features]\nsource = 'scp:feats.scp'\n\
                [streams.labels]\nsource = 'ark:ali.ark'\nkind = 'label'\n";
    fs::write(at.join("mine.toml"), text).unwrap();
    symlink("feats.ark", at.join("link.ark")).unwrap();
    fs::hard_link(at.join("feats.ark"), at.join("hard.ark")).unwrap();
    let keys = fs::read_to_string(at.join("feats.scp")).unwrap();
    let keys: Vec<&str> = keys.lines().map(|line| line.split(' ').next().unwrap()).collect();
    fs::write(at.join("keys.txt"), format!("{}\n", keys[0])).unwrap();
    let script = |name: fn(usize) -> String| -> String {
        let lines = keys.iter().enumerate();
        lines.map(|(number, key)| format!("{key} {}\n", name(number))).collect()
    };
    let over = |number| if number == 3 { "ali.ark".to_owned() } else { format!("{number}.mat") };
    fs::write(at.join("over.scp"), script(over)).unwrap();
    fs::write(at.join("same.scp"), script(|number| format!("{}.mat", number / 2))).unwrap();
    for name in ["a.mat", "b.mat"] {
        fs::write(at.join(name), matrix(&[[1.0, 2.0, name.len() as f32]])).unwrap();
    }
    fs::write(at.join("pair.scp"), "a a.mat\nb b.mat\n").unwrap();
    fs::write(at.join("swapped.scp"), "a b.mat\nb a.mat\n").unwrap();
    let states: String = (0..600).map(|state| format!("s{state}\n")).collect();
    fs::write(at.join("x.states"), states).unwrap();
    for sink in ["x.ctf", "x.pfile", "x.parquet", "x.npz", "made.htk"] {
        let done = run(at, &["convert", "mine.toml", sink, "--allow-lossy"]);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
}

/// Runs a call, with what it redirects.
fn call(at: &Path, words: &[&str]) -> std::process::Output {
    let end = words.iter().position(|word| ["<", ">"].contains(word)).unwrap_or(words.len());
    let mut command = seqfeed(at, &words[..end]);
    command.stdin(Stdio::null());
    match words[end..] {
        ["<", name] => drop(command.stdin(fs::File::open(at.join(name)).unwrap())),
        [">", name] => drop(command.stdout(fs::File::create(at.join(name)).unwrap())),
        _ => {}
    }
    command.output().unwrap()
}

#[test]
fn no_command_writes_over_what_it_reads_or_writes() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    sources(at);
    let before = contents(at);
    for words in OVERWRITING {
        let output = call(at, words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{words:?}: {said}");
        let reasons =
            ["it is read here", "two outputs", "another output", "same name", "there already"];
        let state = words.contains(&"--state");
        assert!(state || reasons.iter().any(|reason| said.contains(reason)), "{words:?}: {said}");
        // What the shell has made is empty.
        let mut after = contents(at);
        if words.contains(&">") {
            assert_eq!(after.remove("dump").as_deref(), Some(&b""[..]), "{words:?}");
            fs::remove_file(at.join("dump")).unwrap();
        }
        let names = |found: &BTreeMap<String, Vec<u8>>| found.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&after), names(&before), "{words:?}");
        assert!(after == before, "{words:?} has changed a file");
    }
}

#[test]
fn every_command_is_among_those_that_were_tried() {
    let help = Command::new(env!("CARGO_BIN_EXE_seqfeed")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let mut count = 0;
    for line in commands.take_while(|line| !line.is_empty()) {
        // Longer explanations go on in lines of their own.
        let Some(command) = line.strip_prefix("  ").filter(|line| !line.starts_with(' ')) else {
            continue;
        };
        let command = command.split(' ').next().unwrap();
        let tried = OVERWRITING.iter().any(|words| words[0] == command);
        let other = OTHERS.iter().any(|(name, _)| *name == command);
        assert!(tried != other, "{command}: what does it write? see OVERWRITING and OTHERS");
        count += 1;
    }
    assert!(count >= 10, "{help}");
}

fn shell(at: &Path, line: &str) {
    let program = env!("CARGO_BIN_EXE_seqfeed");
    let done = Command::new("bash")
        .current_dir(at)
        .args(["-c", &format!("set -e -o pipefail; seqfeed() {{ '{program}' \"$@\"; }}; {line}")])
        .output()
        .unwrap();
    assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_script_file_in_a_pipeline_leads_to_the_new_data() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    corpus(40).write(at);
    let expected = fs::read(at.join("feats.ark")).unwrap();
    let copy = "seqfeed copy scp:- ark:y.ark";
    for line in [
        format!("seqfeed copy ark:feats.ark ark,scp:o.ark,- | {copy}"),
        format!("seqfeed kaldi copy-feats ark:feats.ark ark,scp:o.ark,- | {copy}"),
        format!("seqfeed convert ark:feats.ark ark,scp:o.ark,- | {copy}"),
        format!(
            "seqfeed copy ark:feats.ark 'ark,scp:o.ark,|\"{}\" copy scp:- ark:y.ark'",
            env!("CARGO_BIN_EXE_seqfeed")
        ),
        format!(
            "mkfifo pipe; seqfeed copy ark:feats.ark ark,scp:o.ark,pipe & {copy} < pipe; wait $!"
        ),
        format!("seqfeed copy ark:feats.ark ark,scp:o.ark,- > o.scp; {copy} < o.scp"),
    ] {
        for old in [false, true] {
            let _ = fs::remove_file(at.join("pipe"));
            if old {
                // Another corpus of the same keys.
                let mut other = corpus(40);
                for utterance in &mut other.utterances {
                    utterance.features.iter_mut().for_each(|row| row[0] += 1000.0);
                }
                let there = at.join("other");
                fs::create_dir_all(&there).unwrap();
                other.write(&there);
                fs::rename(there.join("feats.ark"), at.join("o.ark")).unwrap();
            } else {
                let _ = fs::remove_file(at.join("o.ark"));
            }
            shell(at, &line);
            assert!(fs::read(at.join("y.ark")).unwrap() == expected, "{line} (old: {old})");
            assert!(fs::read(at.join("o.ark")).unwrap() == expected, "{line} (old: {old})");
            fs::remove_file(at.join("y.ark")).unwrap();
        }
    }
}

#[test]
fn an_error_in_the_middle_keeps_what_was_before_for_readers() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    corpus(30).write(at);
    let mut bytes = fs::read(at.join("feats.ark")).unwrap();
    bytes.truncate(bytes.len() - 5);
    fs::write(at.join("bad.ark"), bytes).unwrap();
    for line in [
        "seqfeed copy ark:bad.ark ark,t:- > got || true",
        "seqfeed copy ark:bad.ark 'ark,t:|cat > got' || true",
        "seqfeed kaldi copy-feats ark:bad.ark ark,t:- > got || true",
        "seqfeed kaldi copy-feats ark:bad.ark 'ark,t:|cat > got' || true",
    ] {
        shell(at, line);
        let got = fs::read_to_string(at.join("got")).unwrap();
        assert_eq!(got.matches('[').count(), 29, "{line}");
        assert_eq!(got.matches(']').count(), 29, "{line}");
        fs::remove_file(at.join("got")).unwrap();
    }
    // A file is whole or not there.
    assert!(!run(at, &["copy", "ark:bad.ark", "ark:new.ark"]).status.success());
    assert!(!at.join("new.ark").exists());
}

#[test]
fn what_is_read_slowly_is_passed_on_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let line = "ark,t:| while read line; do echo $line; done 1>&2";
    for (words, to_error) in [
        (vec!["kaldi", "copy-feats", "ark:-", "ark,t:-"], false),
        (vec!["kaldi", "copy-feats", "ark:cat |", "ark,t:-"], false),
        (vec!["kaldi", "copy-feats", "ark:-", line], true),
        (vec!["copy", "ark:-", "ark,t:-"], false),
        (vec!["copy", "ark:cat |", "ark,t:-"], false),
    ] {
        let mut child = seqfeed(at, &words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let output: Box<dyn std::io::Read + Send> = match to_error {
            true => Box::new(child.stderr.take().unwrap()),
            false => Box::new(child.stdout.take().unwrap()),
        };
        let (sender, lines) = std::sync::mpsc::channel();
        let reading = std::thread::Builder::new().spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            lines.for_each(|line| drop(sender.send(line)));
        });
        reading.unwrap();
        for number in 0..3 {
            let mut object = format!("utt{number} ").into_bytes();
            object.extend(matrix(&[[number as f32, 2.0, 3.0]]));
            stdin.write_all(&object).unwrap();
            let begun = Instant::now();
            loop {
                let line =
                    lines.recv_timeout(PATIENCE).expect("the object, while more is waited for");
                if line.contains(']') {
                    break;
                }
                assert!(begun.elapsed() < PATIENCE, "{words:?}");
            }
        }
        drop(stdin);
        assert!(child.wait().unwrap().success(), "{words:?}");
    }
}

#[test]
fn signals_take_temporary_files_away() {
    for signal in ["TERM", "HUP", "INT"] {
        let directory = tempfile::tempdir().unwrap();
        let at = directory.path();
        fs::create_dir(at.join("out")).unwrap();
        fs::create_dir(at.join("tmp")).unwrap();
        // It is recorded into a temporary file, to be sorted.
        for more in [&[][..], &["--sort"]] {
            // Shells start what runs in the background with SIGINT ignored, tests among it.
            let mut child = Command::new("env")
                .args(["--default-signal=TERM,HUP,INT", env!("CARGO_BIN_EXE_seqfeed")])
                .args([&["copy", "ark:-", "ark:out/x.ark"], more].concat())
                .current_dir(at)
                .env("TMPDIR", at.join("tmp"))
                .stdin(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let mut stdin = child.stdin.take().unwrap();
            let mut object = b"utt0 ".to_vec();
            object.extend(matrix(&[[1.0, 2.0, 3.0]]));
            stdin.write_all(&object).unwrap();
            stdin.flush().unwrap();
            let count = |name: &str| fs::read_dir(at.join(name)).unwrap().count();
            let begun = Instant::now();
            while count("out") + count("tmp") == 0 {
                assert!(begun.elapsed() < PATIENCE, "nothing is written");
                std::thread::sleep(Duration::from_millis(2));
            }
            let process = child.id().to_string();
            let mut kill = Command::new("kill");
            assert!(kill.args([&format!("-{signal}"), &process]).status().unwrap().success());
            let status = child.wait().unwrap();
            assert!([1, 2, 15].contains(&status.signal().unwrap_or(0)), "{signal}: {status}");
            assert_eq!((count("out"), count("tmp")), (0, 0), "{signal}");
        }
    }
}

#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    corpus(3).write(at);
    let program = env!("CARGO_BIN_EXE_seqfeed");
    let line = format!(
        "trap '' HUP; (sleep 0.5; cat feats.ark) | '{program}' copy ark:- ark:x.ark & sleep 0.2; \
         kill -HUP $!; wait $!"
    );
    shell(at, &line);
    assert_eq!(fs::read(at.join("x.ark")).unwrap(), fs::read(at.join("feats.ark")).unwrap());
}

#[test]
fn what_has_no_name_in_a_script_file_is_counted() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    corpus(5).write(at);
    let text = fs::read_to_string(at.join("feats.scp")).unwrap();
    let keys = text.lines().map(|line| line.split(' ').next().unwrap()).enumerate();
    let names = keys.filter(|(number, _)| *number != 2);
    let names: String = names.map(|(number, key)| format!("{key} {number}.mat\n")).collect();
    fs::write(at.join("gap.scp"), names).unwrap();
    let done = run(at, &["convert", "scp:feats.scp", "scp,p:gap.scp"]);
    let (out, said) =
        (String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap());
    assert!(done.status.success(), "{said}");
    assert!(said.contains("features: 1 sequence not written"), "{said}");
    assert!(out.contains("sequences    4\n"), "{out}");
    let written: u64 =
        [0, 1, 3, 4].iter().map(|n| fs::metadata(at.join(format!("{n}.mat"))).unwrap().len()).sum();
    let done = run(at, &["convert", "scp:feats.scp", "scp,p:gap.scp", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(json["bytes"], written);
    assert_eq!(json["not_written"]["features"], 1);
    assert_eq!(json["sequences"], 4);
    let done = run(at, &["copy", "scp:feats.scp", "scp,p:gap.scp"]);
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(said.contains("1 object not written") && said.contains("copied 4 objects"), "{said}");
    // A stream beside it is written whole.
    let arguments = ["convert", "scp:feats.scp", "--labels", "ark:ali.ark", "ark:|cat > f.ark"];
    let more = ["--to", "labels=scp,p:gap.scp", "--json"];
    let done = run(at, &[&arguments[..], &more].concat());
    let json: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(json["not_written"]["labels"], 1, "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(json["not_written"].as_object().unwrap().len(), 1);
    assert_eq!(json["sequences"], 5);
    let written: u64 = ["f.ark", "0.mat", "1.mat", "3.mat", "4.mat"]
        .iter()
        .map(|name| fs::metadata(at.join(name)).unwrap().len())
        .sum();
    assert_eq!(json["bytes"], written);
}

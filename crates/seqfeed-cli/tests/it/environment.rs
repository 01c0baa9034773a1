//! What is missing for reasons of the environment is never taken for damage: no tolerance excuses
//! it, no command succeeds without it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::corpora::{corpus, integers, matrix};
use crate::program::{lines, run, seqfeed};

/// A regular file of which nothing can be read: what its first address holds is an I/O error.
const UNREADABLE: &str = "/proc/self/mem";

/// Sequences of [`many_files`].
const FILES: usize = 80;

/// Runs a command that must fail for what the system said, and leave nothing behind.
fn must_fail(mut command: Command, said: &[&str], left: &[&Path]) {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{command:?} succeeds: {errors}");
    assert!(said.iter().all(|said| errors.contains(said)), "{command:?}: {errors}");
    for path in left {
        assert!(!path.exists(), "{command:?} leaves {}", path.display());
    }
}

#[test]
fn an_io_error_is_excused_by_no_tolerance() {
    if fs::metadata(UNREADABLE).is_err() {
        eprintln!("SKIPPED: there is no {UNREADABLE}, which fails when it is read");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    corpus(5).write(path);
    let script = fs::read_to_string(path.join("feats.scp")).unwrap();
    fs::write(path.join("io.scp"), format!("{script}zz {UNREADABLE}\n")).unwrap();
    fs::write(path.join("io_labels.scp"), format!("spk0-utt000 {UNREADABLE}\n")).unwrap();
    fs::write(path.join("io_htk.scp"), format!("{UNREADABLE}\n")).unwrap();
    let sparse = "[streams.post]\nsource = 'scp:io.scp'\nkind = 'sparse'\ndim = 3\n";
    fs::write(path.join("sparse.toml"), format!("[reading]\nerrors = 'skip'\n{sparse}")).unwrap();
    let many = "[reading]\nerrors = 1000\n[streams.features]\nsource = 'scp:io.scp'\n";
    fs::write(path.join("many.toml"), many).unwrap();
    let labels = ["--features", "ark:feats.ark", "--labels", "scp:io_labels.scp"];
    let commands: Vec<Vec<&str>> = vec![
        vec!["feed", "scp:io.scp", "--errors", "skip"],
        vec!["feed", "scp:io.scp", "--errors", "1000"],
        vec!["feed", "scp,p:io.scp"],
        vec!["feed", "many.toml"],
        vec!["feed", "sparse.toml"],
        [&["feed", "--errors", "skip"], &labels[..]].concat(),
        vec!["feed", "htk:io_htk.scp", "--errors", "skip"],
        vec!["info", "scp,p:io.scp"],
        vec!["info", "many.toml"],
        vec!["show", "scp,p:io.scp"],
        vec!["check", "scp:io.scp"],
        vec!["check", "htk:io_htk.scp"],
        vec!["check", "scp:io.scp", "--fix", "fixed"],
        [&["check", "--fix", "fixed"], &labels[..]].concat(),
        vec!["convert", "scp,p:io.scp", "out.pfile", "--allow-lossy"],
        vec!["convert", "many.toml", "out.pfile", "--allow-lossy"],
        vec!["copy", "scp,p:io.scp", "ark:out.ark"],
        vec!["copy", "scp,p:io.scp", "ark:out.ark", "--sort"],
        vec!["copy", "scp,p,bg:io.scp", "ark:out.ark"],
        vec!["kaldi", "copy-feats", "scp,p:io.scp", "ark:out.ark"],
        vec!["kaldi", "subset-feats", "scp,p:io.scp", "ark:out.ark"],
        vec!["kaldi", "transform-feats", "scp,p:io_labels.scp", "scp:feats.scp", "ark:out.ark"],
    ];
    for arguments in commands {
        let left: Vec<_> = ["fixed", "out.pfile", "out.ark"].map(|name| path.join(name)).into();
        let left: Vec<&Path> = left.iter().map(AsRef::as_ref).collect();
        must_fail(seqfeed(path, &arguments), &["Input/output error"], &left);
    }
}

#[test]
fn temporary_files_that_cannot_be_made_are_no_damage() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    corpus(5).write(path);
    let text = fs::read_to_string(path.join("feats.txt")).unwrap();
    // One object of a script file has to be decoded into a temporary file, the others need none.
    let (first, _) = text.split_once("]\n").unwrap();
    fs::write(path.join("one.txt"), format!("{}]\n", first.split_once(' ').unwrap().1)).unwrap();
    let script = fs::read_to_string(path.join("feats.scp")).unwrap();
    let rest = script.split_once('\n').unwrap().1;
    fs::write(path.join("mixed.scp"), format!("spk0-utt000 one.txt\n{rest}")).unwrap();
    let both = ["--features", "ark:feats.ark", "--labels", "ark:ali.txt"];
    let commands: Vec<Vec<&str>> = vec![
        vec!["feed", "scp:mixed.scp", "--errors", "skip"],
        vec!["feed", "scp,p:mixed.scp"],
        [&["feed", "--errors", "skip"], &both[..]].concat(),
        vec!["check", "scp:mixed.scp"],
        [&["check", "--fix", "fixed"], &both[..]].concat(),
    ];
    for arguments in commands {
        let mut command = seqfeed(path, &arguments);
        command.env("TMPDIR", path.join("absent"));
        must_fail(command, &["temporary file in", "TMPDIR"], &[&path.join("fixed")]);
    }
}

/// A script of features and one of labels in files of their own, and HTK's parameter files with
/// their script.
fn many_files(directory: &Path) {
    let (mut script, mut labels, mut htk) = (String::new(), String::new(), String::new());
    for number in 0..FILES {
        let rows = vec![[number as f32; 3]; 4];
        fs::write(directory.join(format!("f{number}.mat")), matrix(&rows)).unwrap();
        fs::write(directory.join(format!("l{number}.vec")), integers(&[1, 2, 3, 4])).unwrap();
        writeln!(script, "u{number} f{number}.mat").unwrap();
        writeln!(labels, "u{number} l{number}.vec").unwrap();
        // 4 frames of 3 values, 10 ms apart, of kind USER.
        let mut file = Vec::new();
        file.extend(4i32.to_be_bytes());
        file.extend(100_000i32.to_be_bytes());
        file.extend(12i16.to_be_bytes());
        file.extend(9i16.to_be_bytes());
        file.extend(rows.iter().flatten().flat_map(|value| value.to_be_bytes()));
        fs::write(directory.join(format!("u{number}.htk")), file).unwrap();
        writeln!(htk, "u{number}.htk").unwrap();
    }
    fs::write(directory.join("feats.scp"), script).unwrap();
    fs::write(directory.join("labels.scp"), labels).unwrap();
    fs::write(directory.join("htk.scp"), htk).unwrap();
}

/// Runs the program with so many file handles.
fn with_handles(directory: &Path, handles: u32, arguments: &[&str]) -> Output {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("ulimit -n {handles} && exec \"$@\""), "sh"]);
    command.arg(env!("CARGO_BIN_EXE_seqfeed")).args(arguments).current_dir(directory);
    command.output().unwrap()
}

#[test]
fn few_file_handles_lose_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    many_files(path);
    let feeds: [&[&str]; 4] = [
        &["--features", "scp:feats.scp"],
        &["--features", "scp,p:feats.scp"],
        &["--features", "scp:feats.scp", "--labels", "scp:labels.scp"],
        &["--features", "htk:htk.scp"],
    ];
    for arguments in feeds {
        let arguments =
            [&["feed", "--dump", "jsonl", "--errors", "skip", "--missing", "stop"], arguments]
                .concat();
        for handles in [5, 6, 7, 8, 9, 10, 12, 16, 24] {
            let output = with_handles(path, handles, &arguments);
            let errors = String::from_utf8_lossy(&output.stderr);
            if !output.status.success() {
                assert!(errors.contains("as many files open as it may"), "{handles}: {errors}");
                assert!(handles < 16, "{handles} are enough: {arguments:?}: {errors}");
                continue;
            }
            let minibatches = lines(&output.stdout);
            let keys = minibatches.iter().flat_map(|one| one["keys"].as_array().unwrap());
            let keys: BTreeSet<&str> = keys.filter_map(Value::as_str).collect();
            assert_eq!(keys.len(), FILES, "{handles}: {arguments:?}: {errors}");
        }
    }
    let output = with_handles(path, 16, &["copy", "scp,p:feats.scp", "ark:out.ark"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let copied = run(path, &["info", "--json", "ark:out.ark"]);
    let summary: Value = serde_json::from_slice(&copied.stdout).unwrap();
    assert_eq!(summary["sequences"], FILES);
}

/// Waits for a command that must end by itself; it is killed when it takes too long.
fn ends(mut command: Command) -> (Option<i32>, String) {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("{command:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn pipes_and_devices_are_refused_where_files_are_needed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    fs::write(path.join("read.json"), "{}").unwrap();
    // Nobody writes into these pipes.
    for name in ["f.ctf", "f.toml", "f", "f.scp", "f.mlf"] {
        let made = Command::new("mkfifo").arg(path.join(name)).status().unwrap();
        assert!(made.success());
        let named = if name == "f.scp" { format!("htk:{name}") } else { name.to_owned() };
        for command in ["info", "check", "feed"] {
            if name == "f.mlf" && command == "feed" {
                continue;
            }
            let (code, said) = ends(seqfeed(path, &[command, &named]));
            assert_ne!(code, Some(0), "{command} {named}");
            assert!(said.contains("pipe") || command == "check", "{command} {named}: {said}");
        }
    }
    // What never ends is not copied until the disk is full.
    let names = [
        "z.ctf",
        "z.pfile",
        "z.arrow",
        "z.parquet",
        "z.toml",
        "z",
        "z.json",
        "z.cntk",
        "z.npy",
        "z.mlf",
    ];
    for name in names {
        std::os::unix::fs::symlink("/dev/zero", path.join(name)).unwrap();
        for command in ["info", "check"] {
            let mut limited = Command::new("/bin/sh");
            // At most 100 MB in any file, and 2 GB of memory.
            limited.args(["-c", "ulimit -f 200000 -v 4000000 && exec \"$@\"", "sh"]);
            limited.arg(env!("CARGO_BIN_EXE_seqfeed")).args([command, name]).current_dir(path);
            let (code, said) = ends(limited);
            assert!(matches!(code, Some(1 | 2)), "{command} {name}: {code:?} {said}");
        }
    }
}

/// Commands that say something on standard error: of success, of failure.
const SPEAKING: [&[&str]; 6] = [
    &["copy", "ark:feats.ark", "ark:copied.ark"],
    &["copy", "ark:absent.ark", "ark:copied.ark"],
    &["feed", "ark:absent.ark"],
    &["convert", "ark:feats.ark", "out.pfile"],
    &["kaldi", "copy-feats", "ark:feats.ark", "ark:copied.ark"],
    &["kaldi", "copy-feats", "ark:absent.ark", "ark:copied.ark"],
];

#[test]
fn a_standard_error_that_cannot_be_written_changes_no_exit_code() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    corpus(5).write(path);
    for arguments in SPEAKING {
        let heard = run(path, arguments).status.code();
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let unheard = seqfeed(path, arguments).stderr(full).status().unwrap().code();
        assert_eq!(unheard, heard, "{arguments:?}");
        let mut closed = Command::new("/bin/sh");
        closed.args(["-c", "exec \"$@\" 2>&-", "sh", env!("CARGO_BIN_EXE_seqfeed")]);
        let closed = closed.args(arguments).current_dir(path).status().unwrap().code();
        assert_eq!(closed, heard, "{arguments:?}");
    }
}

#[test]
fn files_and_numbers_without_end_are_refused_before_memory_is_taken() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    corpus(5).write(path);
    fs::write(path.join("a.mat"), "[\n 1 2 ]\n").unwrap();
    fs::write(path.join("long.scp"), vec![b'k'; 1 << 20]).unwrap();
    let split = u64::MAX.to_string();
    // One long sequence among short ones: padding is nearly all of a minibatch.
    let mut uneven = format!("0 [ {}]\n", "1 2\n".repeat(5000));
    (1..5000).for_each(|key| uneven += &format!("{key} [\n 1 2 ]\n"));
    fs::write(path.join("uneven.txt"), uneven).unwrap();
    let padded = "feed ark:uneven.txt --unit sequence --batch-size 20000 --context 20:20";
    let padded: Vec<&str> = padded.split(' ').collect();
    let commands: [&[&str]; 7] = [
        &padded,
        &["convert", "ark:feats.ark", "x.ctf", "--allow-lossy", "--shards", &split],
        &["feed", "ark:feats.ark", "--state", "/dev/zero"],
        &["feed", "ark:feats.ark", "--state", "feats.ark"],
        &["kaldi", "copy-matrix", "--config=/dev/zero", "a.mat", "b.mat"],
        &["copy", "ark:feats.ark", "ark:JOB.ark", "--split", &split],
        &["copy", "scp:long.scp", "ark:copied.ark"],
    ];
    for arguments in commands {
        let mut limited = Command::new("/bin/sh");
        limited.args(["-c", "ulimit -v 4000000 && exec \"$@\"", "sh"]);
        limited.arg(env!("CARGO_BIN_EXE_seqfeed")).args(arguments).current_dir(path);
        let (code, said) = ends(limited);
        assert!(matches!(code, Some(1 | 2 | 255)), "{arguments:?}: {code:?} {said}");
        let why = ["at most", "no state", "taking memory for a minibatch", "cannot be divided"]
            .iter()
            .any(|why| said.contains(why));
        assert!(why, "{arguments:?}: {said}");
    }
}

#[test]
fn without_threads_a_command_works_or_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    corpus(40).write(path);
    fs::write(path.join("f.ctf"), "0 |a 1\n1 |a 2\n".repeat(2000)).unwrap();
    // For others to write in, as the user of this test may be without limits.
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    let alone = |arguments: &[&str]| {
        let script = "ulimit -u 1 && exec \"$@\"";
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
        command.args(["/bin/sh", "-c", script, "sh"]).args(arguments).current_dir(path);
        command
    };
    // A copy, as that user may not be able to reach the place where the program was built.
    let copy = path.join("seqfeed");
    fs::copy(env!("CARGO_BIN_EXE_seqfeed"), &copy).unwrap();
    let program = copy.to_str().unwrap();
    let probe = alone(&[program, "--version"]).output();
    if !probe.as_ref().is_ok_and(|output| output.status.success()) {
        eprintln!("the probe: {probe:?}");
        eprintln!("SKIPPED: the program cannot be run by a user who may have no threads");
        return;
    }
    let commands: [&[&str]; 7] = [
        &["feed", "ark:feats.ark"],
        &["feed", "f.ctf"],
        &["check", "ark:feats.ark"],
        &["info", "ark:feats.ark", "--stats", "--threads", "4"],
        &["convert", "ark:feats.ark", "out.pfile", "--allow-lossy", "--shards", "4", "--jobs", "4"],
        &["copy", "ark,bg:feats.ark", "ark:copied.ark"],
        &["kaldi", "copy-feats", "ark,bg:feats.ark", "ark:copied.ark"],
    ];
    for arguments in commands {
        let (code, said) = ends(alone(&[&[program], arguments].concat()));
        assert!(matches!(code, Some(0 | 1 | 255)), "{arguments:?}: {code:?} {said}");
        assert!(code == Some(0) || said.contains("thread"), "{arguments:?}: {said}");
    }
}

#[test]
fn what_cannot_be_printed_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    corpus(3).write(path);
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["help"],
        &["feed", "--help"],
        &["kaldi", "--list"],
        &["completions", "bash"],
        &["info", "scp:feats.scp"],
        &["info", "scp:feats.scp", "--json"],
        &["info", "feats.ark:12"],
        &["show", "scp:feats.scp", "spk0-utt000"],
        &["describe", "scp:feats.scp"],
        &["check", "scp:feats.scp"],
        &["check", "scp:feats.scp", "--json"],
        &["copy", "scp:feats.scp", "ark,t:-"],
        &["feed", "scp:feats.scp", "--dump", "jsonl"],
        &["kaldi", "feat-to-len", "scp:feats.scp", "ark,t:-"],
        &["kaldi", "feat-to-dim", "scp:feats.scp", "-"],
    ] {
        let mut command = seqfeed(path, arguments);
        command.stdout(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code().unwrap();
        assert!(matches!(code, 1 | 255), "{arguments:?}: {code}: {said}");
        assert!(said.to_lowercase().contains("error"), "{arguments:?}: {said}");
    }
}

#[test]
fn a_file_that_may_grow_no_more_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    corpus(40).write(path);
    let before = fs::read_dir(path).unwrap().count();
    let program = env!("CARGO_BIN_EXE_seqfeed");
    for arguments in ["copy scp:feats.scp ark:x.ark", "kaldi copy-feats scp:feats.scp ark:x.ark"] {
        let script = format!("ulimit -f 1; exec {program} {arguments}");
        let output = Command::new("bash").args(["-c", &script]).current_dir(path).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code().is_some_and(|code| code != 0), "{arguments}: {said}");
        assert!(said.contains("x.ark"), "{said}");
        assert_eq!(fs::read_dir(path).unwrap().count(), before, "{arguments}: {said}");
    }
}

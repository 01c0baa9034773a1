//! PDNN's data specifications on the command line.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::program::{dump, examples, run};

const OPTIONS: &str = "context=2:1,ignore-label=0,map-label=1-4:0/5:7/7:5,batch=100";

/// Features and labels of each minibatch.
fn data(minibatches: &[Value]) -> Vec<(&Value, &Value)> {
    let of = |minibatch: &'static str| minibatch;
    let (x, y) = (of("features"), of("labels"));
    minibatches.iter().map(|m| (&m["streams"][x]["data"], &m["streams"][y]["data"])).collect()
}

#[test]
fn one_corpus_in_all_forms_gives_the_same_minibatches() {
    let digits = examples().join("digits");
    let of = |corpus: &str| dump(&digits, &[&format!("{corpus},{OPTIONS}")]);
    let pfile = of("train.pfile");
    assert!(pfile.len() > 1);
    assert_eq!(pfile[0]["streams"]["features"]["dim"], 160);
    let labels = pfile.iter().flat_map(|m| m["streams"]["labels"]["data"].as_array().unwrap());
    let mut labels: Vec<i64> = labels.map(|row| row[0].as_i64().unwrap()).collect();
    labels.sort_unstable();
    labels.dedup();
    assert!(!labels.contains(&1) && labels.contains(&0), "{labels:?}");
    // Others have more sequences, of which the first are the PFile's.
    let others = [
        "train/feats.scp,label=train/ali.ali",
        "scp:train/feats.scp,label=train/ali.ali",
        "train.toml",
        "train.ctf",
        "train.cntk#Train.reader",
    ];
    for other in others {
        let minibatches = of(other);
        assert!(minibatches.len() > pfile.len(), "{other}");
        let whole = pfile.len() - 1;
        assert!(data(&minibatches)[..whole] == data(&pfile)[..whole], "{other}");
    }
    // A pickle is one sentence: without context it is the same.
    let plain = |name: &str| dump(&digits, &[&format!("{name},ignore-label=0,random=True")]);
    assert!(data(&plain("train.pickle")) == data(&plain("train.pfile")));
}

#[test]
fn keys_of_a_description_and_options_say_the_same() {
    let digits = examples().join("digits");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    for file in ["train.pfile", "train.pickle"] {
        fs::copy(digits.join(file), path.join(file)).unwrap();
    }
    fs::create_dir(path.join("other")).unwrap();
    let spec = "train.pfile,context=1,ignore-label=0:3,map-label=1:0,random=True,stream=True,\
                partition=1m,seed=5,reshuffle=True,batch=50";
    let expected = dump(path, &[spec, "--sweeps", "2"]);
    assert_eq!(expected.iter().filter(|m| m["end_of_sweep"] == true).count(), 2);
    fs::write(
        path.join("corpus.toml"),
        "data = 'train.pfile,batch=999'\n[streams.features]\ncontext = 1\n\
         [streams.labels]\nignore = '0:3'\nmap = '1:0'\n\
         [feed]\norder = 'shuffle'\nseed = 5\nbatch-size = 50\nsweeps = 2\n\
         [pdnn]\nstream = true\npartition = '1m'\nreshuffle = true\n",
    )
    .unwrap();
    assert!(dump(path, &["corpus.toml"]) == expected);
    let options = [
        "../train.pfile",
        "--context",
        "1",
        "--ignore-label",
        "0:3",
        "--map-label",
        "1:0",
        "--order",
        "shuffle",
        "--stream",
        "true",
        "--partition",
        "1m",
        "--seed",
        "5",
        "--reshuffle",
        "true",
        "--batch-size",
        "50",
        "--sweeps",
        "2",
    ];
    assert!(dump(&path.join("other"), &options) == expected);
    // The second sweep has an order of its own, unless nothing is said.
    let halves = |m: &[Value]| (m[0]["starts"].clone(), m[m.len() / 2]["starts"].clone());
    let (first, second) = halves(&expected);
    assert_ne!(first, second);
    let same = dump(path, &[&spec.replace("reshuffle=True", "reshuffle=False"), "--sweeps", "2"]);
    let (first, second) = halves(&same);
    assert_eq!(first, second);
    // A remainder is kept on request.
    let kept = dump(path, &["train.pickle", "--partial", "keep"]);
    let dropped = dump(path, &["train.pickle"]);
    assert_eq!(kept.len(), dropped.len() + 1);
}

#[test]
fn of_several_tasks_one_is_fed() {
    let digits = examples().join("digits");
    let (a, b) = ("train.pfile", "train.pickle");
    let of = |arguments: &[&str]| dump(&digits, arguments);
    let options = "context=1,random=True,batch=50";
    let both = format!("{a}|{b},{options}");
    assert!(of(&[&both, "--task", "0"]) == of(&[&format!("{a},{options}")]));
    assert!(of(&[&both, "--task", "1"]) == of(&[&format!("{b},{options}")]));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    for file in [a, b] {
        fs::copy(digits.join(file), path.join(file)).unwrap();
    }
    let toml = path.join("corpus.toml");
    fs::write(&toml, format!("data = '{both}'\ntask = 1\n")).unwrap();
    assert!(dump(path, &["corpus.toml"]) == of(&[&format!("{b},{options}")]));
    assert!(dump(path, &["corpus.toml", "--task", "0"]) == of(&[&format!("{a},{options}")]));
    for (arguments, expected) in [
        (&["feed", &both, "--task", "2"][..], "from 0 to 1: there is no task 2"),
        (&["feed", "train.toml", "--task", "0"], "`task` is for data specifications"),
    ] {
        let output = run(&digits, arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn several_files_follow_one_another_in_sorted_order() {
    let digits = examples().join("digits");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    for (from, to) in [
        ("pfile", "b.pfile.2"),
        ("pfile", "a.pfile.1"),
        ("pickle", "a.pickle"),
        ("pickle", "b.pickle"),
    ] {
        fs::copy(digits.join(format!("train.{from}")), path.join(to)).unwrap();
    }
    let two = dump(path, &["?.pfile.*,batch=64"]);
    let one = dump(path, &["a.pfile.1,batch=64"]);
    assert_eq!(two.len(), 2 * one.len(), "a partition never goes over the end of a file");
    assert!(data(&two)[..one.len()] == data(&one));
    assert!(data(&two)[one.len()..] == data(&one));
    assert!(two[0]["keys"][0] == "0:0" && two[one.len()]["keys"][0] == "1:0");
    let pickles = dump(path, &["[ab].pickle,batch=64,random=True"]);
    let pickle = dump(path, &["a.pickle,batch=64,random=True"]);
    assert!(data(&pickles)[..pickle.len()] == data(&pickle));
}

#[test]
fn a_run_goes_on_where_it_was_stopped() {
    let digits = examples().join("digits");
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state").display().to_string();
    let spec = "train.pfile,random=True,batch=30,context=1,ignore-label=3";
    let whole = dump(&digits, &[spec, "--samples", "600"]);
    let mut parts = dump(&digits, &[spec, "--samples", "210", "--state", &state]);
    parts.extend(dump(&digits, &[spec, "--samples", "600", "--state", &state]));
    assert!(parts == whole && whole.len() == 20);
    let other = "train.pfile,random=True,batch=30,context=1,ignore-label=4";
    let output = run(&digits, &["feed", other, "--samples", "900", "--state", &state]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn wrong_specifications_are_shown_where_they_are_wrong() {
    let digits = examples().join("digits");
    let cases: [(&str, i32, &[&str]); 18] = [
        (
            "train.pfile,context=five",
            2,
            &["data specification:1:21", "train.pfile,context=five\n", "^"],
        ),
        ("train.pfile,", 2, &["an option is missing", "key=value"]),
        ("train.pfile,random", 2, &["`random` has no value"]),
        ("train.pfile,partition=1g", 2, &["megabytes"]),
        ("train.pfile,partition=0", 2, &["megabytes"]),
        ("train.pfile,map-label=1", 2, &["old and new label", "^"]),
        ("train.ctf,context=a", 2, &["data specification:1:19"]),
        ("nosuch.pfile", 1, &["nosuch.pfile", "No such file"]),
        ("nosuch*.pfile,random=True", 2, &["no file matches nosuch*.pfile"]),
        ("train.pfile|train.pickle,random=True", 2, &["2 tasks", "--task 0 to --task 1"]),
        ("train.pfile,ignore-label=0-99", 1, &["all frames have labels"]),
        ("train.pfile,batch=100000", 2, &["no minibatch of 100000", "keep"]),
        ("train.pfile,context=9999,partition=1m", 2, &["holds no frame", "larger partitions"]),
        ("train/feats.scp,ignore-label=0", 2, &["there are none", "label=FILE.ali"]),
        ("train/feats.scp,label=nosuch.ali", 1, &["nosuch.ali"]),
        ("train/feats.scp,label=train/text", 1, &["train/text:1", "a label"]),
        ("labels.txt,context=1", 1, &["labels.txt"]),
        ("scp:train/feats.scp,ignore-label=0,random=1", 2, &["there are no labels"]),
    ];
    for (spec, code, expected) in cases {
        let output = run(&digits, &["feed", spec]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{spec}: {text}");
        for part in expected {
            assert!(text.contains(part), "{spec}: {part} is missing in\n{text}");
        }
    }
    for (option, expected) in [
        (&["--window", "3 chunks"][..], "a window does not go with partitions"),
        (&["--unit", "sequence"], "of frames"),
        (&["--preset", "none", "--partition", "1m"], "is for preset"),
        (&["--features", "scp:train/feats.scp"], "their own streams"),
        (&["--ignore-label", "x"], "labels, such as"),
        (&["--partition", "12 pieces"], "megabytes"),
        (&["--task", "1"], "there is only task 0"),
    ] {
        let output = run(&digits, &[&["feed", "train.pfile"], option].concat());
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{option:?}: {text}");
        assert!(text.contains(expected), "{option:?}: {text}");
    }
}

#[test]
fn what_has_no_effect_is_warned_of() {
    let digits = examples().join("digits");
    let cases = [
        ("train.pfile, random=True", "is `random` meant?"),
        ("train.pfile,contxt=5", "is `context` meant?"),
        ("train.pfile,label=x.ali", "label= has no effect"),
        ("train.pfile,seed=3", "without random=True"),
        ("train.ctf,contxt=5", "is `context` meant?"),
    ];
    for (spec, expected) in cases {
        let output = run(&digits, &["feed", spec]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.contains(expected), "{spec}: {text}");
    }
}

/// An npy file of zeros, which are a hole in the file; gives the size of its array in bytes.
fn write_npy(path: &Path, dtype: &str, fortran: bool, rows: u64, cols: u64) -> u64 {
    let fortran = if fortran { "True" } else { "False" };
    let header = format!(
        "{{'descr': '{dtype}', 'fortran_order': {fortran}, 'shape': ({rows}, {cols}), }}\n"
    );
    let start = [b"\x93NUMPY\x01\0", &(header.len() as u16).to_le_bytes()[..]].concat();
    let start = [&start, header.as_bytes()].concat();
    fs::write(path, &start).unwrap();
    let size = rows * cols * dtype[2..].parse::<u64>().unwrap();
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(start.len() as u64 + size).unwrap();
    size
}

#[test]
fn arrays_are_in_memory_once() {
    let directory = tempfile::tempdir().unwrap();
    let (rows, cols) = (1 << 20, 12);
    let types = [("<f4", false), (">f4", true), ("<f8", true), ("<f2", false), ("|i1", true)];
    for (dtype, fortran) in types {
        let peak_of = |rows| {
            let size = write_npy(&directory.path().join("x.npy"), dtype, fortran, rows, cols);
            let output = run(directory.path(), &["feed", "x.npy", "--samples", "256", "--json"]);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
            (size, summary["peak_memory_bytes"].as_u64().unwrap())
        };
        // The program itself takes more or less, as it was built.
        let (_, program) = peak_of(256);
        let (size, peak) = peak_of(rows);
        // As it lies in the file, or as floats of 32 bits, whichever is more.
        let array = size.max(4 * rows * cols);
        let taken = peak.saturating_sub(program);
        assert!(taken < array + array / 10 + (2 << 20), "{dtype}: {taken} bytes for {array}");
    }
}

#[test]
fn of_several_large_files_two_are_in_memory() {
    let directory = tempfile::tempdir().unwrap();
    let (rows, cols, files) = (1u64 << 20, 12, 4);
    for file in 0..files {
        write_npy(&directory.path().join(format!("{file}.npy")), "<f4", false, rows, cols);
    }
    let spec = ["feed", "?.npy,batch=2048", "--threads", "2", "--json"];
    let output = run(directory.path(), &spec);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["samples"], files * rows);
    let array = rows * cols * 4;
    let peak = summary["peak_memory_bytes"].as_u64().unwrap();
    // The file that is fed and the next one; minibatches that wait are small, so that no
    // timing shows.
    assert!(peak < array * 5 / 2, "{peak} bytes for files of {array}");
}

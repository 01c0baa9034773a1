//! Names that are commands (`cmd |`): one rule for all commands of the program. What the user
//! types may be a command; what stands in a file may not, unless with `--allow-pipes`.
//! `seqfeed kaldi` is as Kaldi.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::program::run;

/// Commands that read a corpus: what stands before and behind its name.
const READERS: &[(&str, &[&str])] = &[
    ("check", &[]),
    ("convert", &["ctf:out.ctf", "--allow-lossy"]),
    ("describe", &[]),
    ("feed", &[]),
    ("info", &[]),
    ("plan", &[]),
    ("show", &["u1"]),
];

/// Commands that open no data, or that are Kaldi's.
const OTHERS: &[&str] = &["completions", "copy", "help", "kaldi", "manual"];

/// Corpora in whose files a name is a command that makes the file `ran`: name, files.
const HOSTILE: &[(&str, &[(&str, &str)])] = &[
    ("scp:entry.scp", &[("entry.scp", "u1 touch ran; cat one.mat |\n")]),
    ("scp,p:entry.scp", &[("entry.scp", "u1 touch ran; cat one.mat |\n")]),
    ("scp:range.scp", &[("range.scp", "u1 touch ran; cat one.mat |[0:0]\n")]),
    ("scp:second.scp", &[("second.scp", "u0 one.mat\nu1 touch ran; cat one.mat |\n")]),
    ("scp:wav.scp", &[("wav.scp", "u1 touch ran; cat one.wav |\n")]),
    ("scp:cat nested.scp |", &[("nested.scp", "u1 touch ran; cat one.mat |\n")]),
    ("ark.toml", &[("ark.toml", "[streams.x]\nsource = \"ark:touch ran; cat a.ark |\"\n")]),
    (
        "labels.toml",
        &[(
            "labels.toml",
            "[streams.features]\nsource = 'ark:a.ark'\n\
             [streams.labels]\nsource = 'ark:touch ran |'\nkind = 'label'\n",
        )],
    ),
    (
        "script.toml",
        &[("script.toml", "[streams.x]\nsource = \"scp:touch ran; echo u1 one.mat |\"\n")],
    ),
    (
        "entry.toml",
        &[
            ("entry.toml", "[streams.x]\nsource = \"scp:entry.scp\"\n"),
            ("entry.scp", "u1 touch ran; cat one.mat |\n"),
        ],
    ),
    (
        "sparse.toml",
        &[
            ("sparse.toml", "[streams.post]\nkind = 'sparse'\nsource = 'scp:post.scp'\n"),
            ("post.scp", "u1 touch ran; echo '[ 1 1 ]' |\n"),
        ],
    ),
    (
        "sparse.toml",
        &[("sparse.toml", "[streams.p]\nkind = 'sparse'\nsource = 'ark:touch ran |'\n")],
    ),
    (
        "statistics.toml",
        &[(
            "statistics.toml",
            "[streams.x]\nsource = 'ark:a.ark'\n\
             transforms = [{name = 'cmvn', stats = 'ark:touch ran |'}]\n",
        )],
    ),
    (
        "global.toml",
        &[(
            "global.toml",
            "[streams.x]\nsource = 'ark:a.ark'\n\
             transforms = [{name = 'cmvn', stats = 'touch ran |', by = 'global'}]\n",
        )],
    ),
    (
        "filter.toml",
        &[("filter.toml", "[streams.x]\nsource = 'ark:a.ark'\n[filter]\nkeys = 'touch ran |'\n")],
    ),
    (
        "noise.toml",
        &[(
            "noise.toml",
            "[streams.x]\nsource = 'ark:a.ark'\n\
             transforms = [{name = 'noise', corpus = 'ark:touch ran |', snr = [0, 5], domain = 'log'}]\n",
        )],
    ),
    (
        "all.toml",
        &[(
            "all.toml",
            "transforms = [{name = 'cmvn', stats = 'ark:touch ran |'}]\n\
             [streams.x]\nsource = 'ark:a.ark'\n",
        )],
    ),
    (
        "matrix.toml",
        &[(
            "matrix.toml",
            "[streams.x]\nsource = 'ark:a.ark'\n\
             transforms = [{name = 'transform', matrix = 'touch ran |'}]\n",
        )],
    ),
    (
        "words.toml",
        &[(
            "words.toml",
            "[streams.x]\nsource = 'ark:a.ark'\n\
             [streams.text]\nsource = 'text:touch ran |'\nkind = 'label'\nextent = 'own'\n",
        )],
    ),
    (
        "symbols.toml",
        &[
            (
                "symbols.toml",
                "[streams.x]\nsource = 'ark:a.ark'\n[streams.text]\nsource = 'text:words'\n\
                 kind = 'label'\nextent = 'own'\nsymbols = 'touch ran |'\n",
            ),
            ("words", "u1 a\nu2 b\n"),
        ],
    ),
    ("mix.toml", &[("mix.toml", "[mix.a]\ncorpus = 'ark:touch ran |'\n")]),
    ("data", &[("data/feats.scp", "u1 touch ran; cat one.mat |\n")]),
    (
        "cuts.jsonl",
        &[("cuts.jsonl", r#"{"key": "u1", "feats": "touch ran; cat one.mat |", "text": "a"}"#)],
    ),
    (
        "tokens.toml",
        &[
            (
                "tokens.toml",
                "[streams.x]\nkind = 'label'\nsource = 'text:a.txt'\ntokenizer = 'touch ran |'\n",
            ),
            ("a.txt", "u1 one\n"),
        ],
    ),
    ("arrow.toml", &[("arrow.toml", "corpus = 'touch ran |.arrow'\n")]),
    ("arrow.toml", &[("arrow.toml", "corpus = ['a.arrow', 'touch ran |']\n")]),
    ("data.toml", &[("data.toml", "data = 'entry.scp,label=touch ran |'\n"), ("entry.scp", "")]),
    ("reader.toml", &[("reader.toml", "reader = 'touch ran |#x'\n")]),
    ("entry.scp,context=1", &[("entry.scp", "u1 touch ran; cat one.mat |\n")]),
    ("htk:htk.scp", &[("htk.scp", "touch ran |\n")]),
    ("htk:htk.scp", &[("htk.scp", "u1=touch ran |[0,1]\n")]),
    (
        "train.cntk#reader",
        &[(
            "train.cntk",
            "reader=[\nreaderType=CNTKTextFormatReader\nfile=\"touch ran; cat a.ctf |\"\n\
             input=[\nfeatures=[\nalias=f\ndim=1\nformat=dense\n]\n]\n]\n",
        )],
    ),
    (
        "reader.json",
        &[(
            "reader.json",
            r#"{"deserializers": [{"type": "CNTKTextFormatDeserializer", "module": "CNTKTextFormatDeserializer",
                "file": "touch ran |", "input": {"f": {"dim": 1, "format": "dense", "alias": "f"}}}]}"#,
        )],
    ),
];

/// A directory with data that are harmless, and the files of a case.
fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
    let here = tempfile::tempdir().unwrap();
    let harmless = [
        ("a.ark", "u1 [\n1 2\n3 4 ]\nu2 [\n5 6 ]\n"),
        ("one.mat", " [ 1 2\n3 4 ]\n"),
        ("a.ctf", "0 |f 1\n0 |f 2\n1 |f 3\n"),
    ];
    for (name, text) in harmless.iter().chain(files) {
        let path = here.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::write(here.path().join("one.wav"), wave()).unwrap();
    here
}

/// Four samples at 8 kHz.
fn wave() -> Vec<u8> {
    let mut wave = b"RIFF\x2c\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0".to_vec();
    wave.extend(8000u32.to_le_bytes());
    wave.extend(16000u32.to_le_bytes());
    wave.extend(b"\x02\0\x10\0data\x08\0\0\0\x01\0\x02\0\x03\0\x04\0");
    wave
}

fn words<'a>(command: &'a str, corpus: &'a str, behind: &[&'a str]) -> Vec<&'a str> {
    [&[command, corpus], behind].concat()
}

fn ran(here: &Path) -> bool {
    here.join("ran").exists()
}

/// What the program printed: `check` says on standard output what is wrong.
fn said(output: &Output) -> String {
    let all = [&output.stderr[..], &output.stdout].concat();
    String::from_utf8_lossy(&all).into_owned()
}

#[test]
fn every_command_is_looked_at() {
    let help = run(Path::new("."), &["--help"]);
    let help = String::from_utf8(help.stdout).unwrap();
    let (_, list) = help.split_once("Commands:\n").unwrap();
    for line in list.lines().take_while(|line| !line.is_empty()) {
        let Some(command) = line.strip_prefix("  ").filter(|line| !line.starts_with(' ')) else {
            continue;
        };
        let command = command.split(' ').next().unwrap();
        let known = READERS.iter().any(|(name, _)| *name == command) || OTHERS.contains(&command);
        assert!(known, "`seqfeed {command}` is not in the tests of what names may do");
    }
}

#[test]
fn names_in_files_run_no_commands() {
    for (corpus, files) in HOSTILE {
        for (command, behind) in READERS {
            let here = directory(files);
            let output = run(here.path(), &words(command, corpus, behind));
            assert!(!ran(here.path()), "{command} {corpus}");
            // What is listed with `p` may be passed over; all else must not look like success.
            if !corpus.contains(",p:") {
                assert!(!output.status.success(), "{command} {corpus}: {}", said(&output));
            }
        }
        let here = directory(files);
        run(here.path(), &["check", "ark:a.ark", "--against", corpus]);
        assert!(!ran(here.path()), "check --against {corpus}");
        let here = directory(files);
        run(here.path(), &["check", corpus, "--fix", "repaired"]);
        assert!(!ran(here.path()), "check --fix {corpus}");
        if corpus.starts_with("scp") {
            for more in [&[][..], &["--sort"], &["--split", "2"], &["--select", "u1"]] {
                let here = directory(files);
                let copy = [&["copy", corpus, "ark:JOB.ark"], more].concat();
                run(here.path(), &copy);
                assert!(!ran(here.path()), "{copy:?}");
            }
        }
    }
}

#[test]
fn the_refusal_names_the_cure_and_the_cure_works() {
    let script = &[("entry.scp", "u1 touch ran; cat one.mat |\n")][..];
    for (command, behind) in [READERS, &[("copy", &["ark:out.ark"])]].concat() {
        let here = directory(script);
        let output = run(here.path(), &words(command, "scp:entry.scp", behind));
        assert!(said(&output).contains("--allow-pipes"), "{command}: {}", said(&output));
        let allowed = [&words(command, "scp:entry.scp", behind)[..], &["--allow-pipes"]].concat();
        let output = run(here.path(), &allowed);
        assert!(output.status.success(), "{allowed:?}: {}", said(&output));
        assert!(ran(here.path()), "{allowed:?}");
    }
}

#[test]
fn names_to_write_to_in_files_run_no_commands() {
    let script = &[("out.scp", "u1 | touch ran; cat > u1.mat\nu2 | touch ran; cat > u2.mat\n")];
    for words in [
        &["copy", "ark:a.ark", "scp:out.scp"][..],
        &["copy", "ark:a.ark", "scp,p:out.scp"],
        &["convert", "ark:a.ark", "scp:out.scp"],
    ] {
        let here = directory(script);
        let output = run(here.path(), words);
        assert!(!ran(here.path()) && !output.status.success(), "{words:?}: {}", said(&output));
        assert!(said(&output).contains("--allow-pipes"), "{words:?}: {}", said(&output));
        let output = run(here.path(), &[words, &["--allow-pipes"]].concat());
        assert!(output.status.success() && ran(here.path()), "{words:?}: {}", said(&output));
    }
}

#[test]
fn names_that_are_typed_may_be_commands() {
    for (command, behind) in [READERS, &[("copy", &["ark:out.ark"])]].concat() {
        let here = directory(&[]);
        let words = words(command, "ark:touch ran; cat a.ark |", behind);
        let output = run(here.path(), &words);
        assert!(output.status.success(), "{words:?}: {}", said(&output));
        assert!(ran(here.path()), "{words:?}");
    }
    let here = directory(&[]);
    let keys = ["copy", "ark:a.ark", "ark:b.ark", "--select", "@touch ran; echo u1 |"];
    let output = run(here.path(), &keys);
    assert!(output.status.success() && ran(here.path()), "{}", said(&output));
    let here = directory(&[]);
    let output = run(here.path(), &["copy", "ark:a.ark", "ark:| touch ran; cat > b.ark"]);
    assert!(output.status.success() && ran(here.path()), "{}", said(&output));
}

#[test]
fn kaldis_tools_run_commands_as_kaldi() {
    let here = directory(&[("entry.scp", "u1 touch ran; cat one.mat |\n")]);
    let output = run(here.path(), &["kaldi", "copy-feats", "scp:entry.scp", "ark:out.ark"]);
    assert!(output.status.success() && ran(here.path()), "{}", said(&output));
}

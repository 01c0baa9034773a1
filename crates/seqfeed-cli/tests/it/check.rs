//! `seqfeed check`: each thing that can be wrong is found, with key, place and cure.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::corpora::{Corpus, corpus, integers, matrix};
use crate::program::{examples, run, seqfeed};

/// How long is waited for something that must happen.
const PATIENCE: Duration = Duration::from_secs(60);
const BOTH: [&str; 3] = ["scp:feats.scp", "--labels", "ark:ali.ark"];

/// What a check says: the exit code, and findings.
fn check(directory: &Path, arguments: &[&str]) -> (i32, Vec<Value>) {
    let output = run(directory, &[&["check", "--json"], arguments].concat());
    let errors = String::from_utf8_lossy(&output.stderr);
    let json: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {errors}"));
    let findings = json["findings"].as_array().unwrap().clone();
    for finding in &findings {
        assert!(!finding["message"].as_str().unwrap().is_empty(), "{finding}");
    }
    (output.status.code().unwrap(), findings)
}

/// The findings of a kind.
fn of<'a>(findings: &'a [Value], kind: &str) -> Vec<&'a Value> {
    findings.iter().filter(|finding| finding["kind"] == kind).collect()
}

/// The only finding of a kind: severity, key, place and message.
fn only(findings: &[Value], kind: &str) -> (String, String, String, String) {
    let found = of(findings, kind);
    assert_eq!(found.len(), 1, "{kind}: {findings:#?}");
    let text = |name: &str| found[0][name].as_str().unwrap_or_default().to_owned();
    (text("severity"), text("key"), text("place"), text("message"))
}

fn written(change: impl FnOnce(&mut Corpus)) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let mut corpus = corpus(12);
    change(&mut corpus);
    corpus.write(directory.path());
    directory
}

#[test]
fn a_sound_corpus_has_no_findings() {
    let directory = written(|_| {});
    assert_eq!(check(directory.path(), &BOTH), (0, Vec::new()));
    let output = run(directory.path(), &[&["check"], &BOTH[..]].concat());
    assert!(String::from_utf8_lossy(&output.stdout).contains("0 errors, 0 warnings, 0 notes"));
    assert_eq!(check(&examples(), &["digits/train.toml"]), (0, Vec::new()));
}

#[test]
fn values_that_are_no_numbers() {
    let directory = written(|corpus| {
        corpus.utterances[3].features[2][1] = f32::NAN;
        corpus.utterances[3].features[4][0] = f32::NAN;
        corpus.utterances[5].features[0][2] = f32::NEG_INFINITY;
    });
    let (code, findings) = check(directory.path(), &BOTH);
    assert_eq!((code, findings.len()), (1, 2), "{findings:#?}");
    let (severity, key, place, message) = only(&findings, "nan");
    assert_eq!((&*severity, &*key, &*place), ("error", "spk0-utt003", "sample 2, dim 1"));
    assert_eq!(message, "NaN is no number to train on; 1 more like it here");
    let (_, key, place, _) = only(&findings, "infinite");
    assert_eq!((&*key, &*place), ("spk0-utt005", "sample 0, dim 2"));
    assert!(findings[0]["cure"].as_str().unwrap().contains("logarithm of 0"));
}

#[test]
fn values_that_never_change() {
    let directory = written(|corpus| {
        for utterance in &mut corpus.utterances {
            utterance.features.iter_mut().for_each(|frame| frame[2] = 0.1);
        }
        corpus.utterances[1].features.fill([1.0, 2.0, 0.1]);
    });
    let (code, findings) = check(directory.path(), &BOTH);
    assert_eq!((code, findings.len()), (0, 2), "{findings:#?}");
    assert_eq!(only(&findings, "constant-dim").2, "dim 2");
    assert_eq!(only(&findings, "constant").1, "spk0-utt001");
}

#[test]
fn an_archive_that_is_cut_short() {
    let directory = written(|_| {});
    let path = directory.path().join("feats.ark");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 30]).unwrap();
    let (code, findings) = check(directory.path(), &BOTH);
    let (severity, key, place, message) = only(&findings, "unreadable");
    assert_eq!((code, &*severity, &*key), (1, "error", "spk1-utt011"));
    assert!(
        place.starts_with("feats.ark @ ") && message.contains("bytes are missing"),
        "{place} {message}"
    );
    assert_eq!(only(&findings, "extra-key").1, "spk1-utt011");
    // The same as an archive; and all of it as text.
    let (code, findings) = check(directory.path(), &["ark:feats.ark"]);
    assert_eq!((code, &*only(&findings, "unreadable").1), (1, "spk1-utt011"));
    let text = fs::read_to_string(directory.path().join("feats.txt")).unwrap();
    fs::write(directory.path().join("feats.txt"), &text[..text.len() - 40]).unwrap();
    let (code, findings) = check(directory.path(), &["ark:feats.txt"]);
    assert_eq!((code, &*only(&findings, "unreadable").1), (1, "spk1-utt011"));
}

#[test]
fn a_script_file_that_is_older_than_its_archive() {
    // All objects are as long as before, but stand in another order: every entry can be read.
    let directory = written(|corpus| {
        corpus.utterances.iter_mut().for_each(|utterance| utterance.features.truncate(5));
    });
    let path = directory.path();
    let script = fs::read_to_string(path.join("feats.scp")).unwrap();
    let mut other = corpus(12);
    other.utterances.iter_mut().for_each(|utterance| utterance.features.truncate(5));
    other.utterances.rotate_left(1);
    // Two stand as before.
    other.utterances.swap(10, 11);
    other.utterances.swap(9, 10);
    other.write(path);
    fs::write(path.join("feats.scp"), &script).unwrap();
    let (code, findings) = check(path, &["scp:feats.scp"]);
    assert_eq!((code, findings.len()), (1, 10), "{findings:#?}");
    let first = of(&findings, "other-object")[0];
    assert_eq!((&first["severity"], &first["key"]), (&"error".into(), &"spk0-utt000".into()));
    assert_eq!((&first["place"], &first["stream"]), (&"feats.scp:1".into(), &"features".into()));
    assert_eq!(first["message"], "the object at 12 of feats.ark is that of spk0-utt001");
    assert!(first["cure"].as_str().unwrap().contains("written again"), "{first}");
    let wrong: Vec<&str> =
        of(&findings, "other-object").iter().map(|f| f["key"].as_str().unwrap()).collect();
    let places = fs::read(path.join("feats.ark")).unwrap();
    let expected: Vec<&str> = script
        .lines()
        .filter_map(|line| {
            let (key, name) = line.split_once(' ').unwrap();
            let offset: usize = name.split_once(':').unwrap().1.parse().unwrap();
            (!places[..offset].ends_with(format!("{key} ").as_bytes())).then_some(key)
        })
        .collect();
    assert!(wrong == expected && wrong.len() == 10, "{wrong:?} {expected:?}");
    // A repaired copy does not take them over.
    let (code, _) = check(path, &["scp:feats.scp", "--fix", "fixed"]);
    assert_eq!(code, 1);
    let kept = fs::read_to_string(path.join("fixed/features.scp")).unwrap();
    assert_eq!(kept.lines().count(), 12 - wrong.len());
    assert!(!wrong.iter().any(|key| kept.contains(key)), "{kept}");
}

#[test]
fn entries_of_script_files_that_need_no_key() {
    let directory = written(|_| {});
    let path = directory.path();
    let script = fs::read_to_string(path.join("feats.scp")).unwrap();
    // Keys that others end with, objects without keys one behind another, whole files,
    // and commands.
    let objects = [matrix(&[[1.0; 3]]), matrix(&[[2.0; 3]])].concat();
    fs::write(path.join("objects"), &objects).unwrap();
    fs::write(path.join("whole"), matrix(&[[3.0; 3]])).unwrap();
    let mut lines = script.clone();
    lines += &format!("x1 objects:{}\nx2 objects:0\nx3 whole\nx4 cat whole |\n", objects.len() / 2);
    fs::write(path.join("mixed.scp"), &lines).unwrap();
    let (code, findings) = check(path, &["scp:mixed.scp", "--allow-pipes"]);
    assert_eq!((code, findings), (0, Vec::new()));
    // Keys that were given a prefix, beside those without it: a note, since people do that.
    let renamed: String = script.lines().map(|line| format!("p-{line}\n")).collect();
    fs::write(path.join("both.scp"), renamed + &script).unwrap();
    let (code, findings) = check(path, &["scp:both.scp"]);
    assert_eq!((code, findings.len()), (0, 1), "{findings:#?}");
    let (severity, key, place, message) = only(&findings, "other-key");
    assert_eq!((&*severity, &*key, &*place), ("note", "p-spk0-utt000", "both.scp:1"));
    assert!(message.ends_with("has another key there; 11 more like it"), "{message}");
    // The same with an archive that was written later.
    fs::write(path.join("feats.ark"), fs::read(path.join("feats.ark")).unwrap()).unwrap();
    assert_eq!(only(&check(path, &["scp:both.scp"]).1, "other-key").0, "warning");
    // The byte of data before the key 1 makes it look like 11, which stands elsewhere.
    let data = matrix(&[[f32::from_le_bytes(*b"1111"); 3]]);
    let (mut archive, mut digits) = (Vec::new(), String::new());
    for key in ["0", "1", "11"] {
        archive.extend(format!("{key} ").bytes());
        digits += &format!("{key} digits.ark:{}\n", archive.len());
        archive.extend(&data);
    }
    fs::write(path.join("digits.ark"), archive).unwrap();
    fs::write(path.join("digits.scp"), digits).unwrap();
    let (code, findings) = check(path, &["scp:digits.scp"]);
    assert_eq!((code, findings.len()), (0, of(&findings, "constant-dim").len()), "{findings:#?}");
}

#[test]
fn wrong_offsets_types_and_widths() {
    let directory = written(|_| {});
    let path = directory.path();
    let script = fs::read_to_string(path.join("feats.scp")).unwrap();
    let mut lines: Vec<String> = script.lines().map(str::to_owned).collect();
    lines[2] += "1";
    lines[4] = "spk0-utt004 feats.ark:99999999".to_owned();
    lines[5] = "spk0-utt005 none.ark:3".to_owned();
    fs::write(
        path.join("narrow.ark"),
        [&b"\0BFM \x04\x01\0\0\0\x04\x02\0\0\0"[..], &[0; 8]].concat(),
    )
    .unwrap();
    lines[6] = "spk0-utt006 narrow.ark:0".to_owned();
    fs::write(path.join("labels.ark"), integers(&[1, 2, 3])).unwrap();
    lines[7] = "spk0-utt007 labels.ark:0".to_owned();
    fs::write(path.join("feats.scp"), lines.join("\n") + "\n").unwrap();
    let (code, findings) = check(path, &["scp:feats.scp"]);
    assert_eq!(code, 1);
    let found: Vec<(&str, &str)> = of(&findings, "unreadable")
        .iter()
        .map(|finding| (finding["key"].as_str().unwrap(), finding["message"].as_str().unwrap()))
        .collect();
    assert_eq!(found.len(), 5, "{findings:#?}");
    for (key, expected) in [
        ("spk0-utt002", ""),
        ("spk0-utt004", "the offset is 99999999"),
        ("spk0-utt005", "opening failed"),
        ("spk0-utt006", "expected 3, found 2"),
        ("spk0-utt007", "these are integers"),
    ] {
        assert!(found.iter().any(|(k, m)| *k == key && m.contains(expected)), "{key}: {found:#?}");
    }
}

#[test]
fn lengths_and_keys_that_differ() {
    let directory = written(|_| {});
    let mut other = corpus(12);
    other.utterances[2].labels.push(0);
    other.utterances[3].labels.truncate(1);
    other.utterances.remove(6);
    other.utterances[10].key = "stranger".to_owned();
    let labels = directory.path().join("labels");
    fs::create_dir(&labels).unwrap();
    other.write(&labels);
    let (code, findings) =
        check(directory.path(), &["scp:feats.scp", "--labels", "ark:labels/ali.ark"]);
    assert_eq!(code, 1);
    let lengths: Vec<_> =
        of(&findings, "length").iter().map(|f| f["key"].as_str().unwrap()).collect();
    assert_eq!(lengths, ["spk0-utt002", "spk0-utt003"]);
    assert!(of(&findings, "length")[0]["cure"].as_str().unwrap().contains("cuts the longer"));
    assert!(
        of(&findings, "length")[1]["cure"].as_str().unwrap().contains("leaves the utterance out")
    );
    let missing: Vec<_> =
        of(&findings, "missing-key").iter().map(|f| f["key"].as_str().unwrap()).collect();
    assert_eq!(missing, ["spk0-utt006", "spk1-utt011"]);
    assert_eq!(only(&findings, "extra-key").1, "stranger");
    // Missing keys alone are no errors.
    let directory = written(|corpus| drop(corpus.utterances.remove(3)));
    fs::create_dir(directory.path().join("all")).unwrap();
    corpus(12).write(&directory.path().join("all"));
    let (code, _) = check(directory.path(), &["ark:all/feats.ark", "--labels", "ark:ali.ark"]);
    assert_eq!(code, 0);
}

#[test]
fn tables_with_duplicates_out_of_order_or_with_nothing_in_them() {
    let directory = written(|_| {});
    let path = directory.path();
    fs::write(path.join("empty.txt"), " [ ]\n").unwrap();
    let script = fs::read_to_string(path.join("feats.scp")).unwrap();
    let mut lines: Vec<&str> = script.lines().collect();
    lines.swap(0, 1);
    lines.push(lines[4]);
    lines[5] = "spk0-utt005 empty.txt";
    fs::write(path.join("feats.scp"), lines.join("\n") + "\n").unwrap();
    let (code, findings) = check(path, &["scp:feats.scp", "--context", "2:3"]);
    assert_eq!(code, 1);
    let (severity, key, _, message) = only(&findings, "duplicate-key");
    assert_eq!((&*severity, &*key), ("error", "spk0-utt004"));
    assert_eq!(message, "the key stands twice: as entry 5 and as entry 13");
    assert_eq!(only(&findings, "unsorted").0, "note");
    assert_eq!(only(&findings, "empty").1, "spk0-utt005");
    let (severity, key, _, message) = only(&findings, "short");
    assert_eq!((&*severity, &*key), ("note", "spk0-utt000"));
    assert!(message.contains("5 samples are fewer than the 6"), "{message}");
}

#[test]
fn labels_that_are_no_classes() {
    let directory = written(|corpus| {
        corpus.utterances[0].labels[3] = -7;
        corpus.utterances[1].labels[1] = 5000;
    });
    let (code, findings) = check(directory.path(), &BOTH);
    assert_eq!((code, findings.len()), (0, 1), "{findings:#?}");
    let (severity, key, place, _) = only(&findings, "label-range");
    assert_eq!((&*severity, &*key, &*place), ("warning", "spk0-utt000", "sample 3"));
    let (code, findings) = check(directory.path(), &[&BOTH[..], &["--classes", "2000"]].concat());
    assert_eq!((code, of(&findings, "label-range").len()), (1, 2));
}

#[test]
fn labels_of_htk_with_gaps_overlaps_and_unknown_names() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    for file in ["train.scp", "train.htk", "train.mlf", "train.states"] {
        fs::copy(examples().join("digits/htk").join(file), path.join(file)).unwrap();
    }
    let arguments = ["train.scp", "--labels", "train.mlf", "--states", "train.states"];
    assert_eq!(check(path, &arguments), (0, Vec::new()));
    let mlf = fs::read_to_string(path.join("train.mlf")).unwrap();
    let mut lines: Vec<String> = mlf.lines().map(str::to_owned).collect();
    let starts: Vec<usize> = (0..lines.len()).filter(|&i| lines[i].starts_with('"')).collect();
    // A gap before the second line, an overlap, a name that is not in the list.
    for (utterance, change) in [(0, 100_000i64), (1, -100_000)] {
        let line = &mut lines[starts[utterance] + 2];
        let (start, rest) = line.split_once(' ').unwrap();
        *line = format!("{} {rest}", start.parse::<i64>().unwrap() + change);
    }
    let line = &mut lines[starts[2] + 1];
    *line = format!("{} nobody", line.rsplit_once(' ').unwrap().0);
    fs::write(path.join("train.mlf"), lines.join("\n") + "\n").unwrap();
    let (code, findings) = check(path, &arguments);
    let found = of(&findings, "unreadable");
    assert_eq!((code, found.len()), (1, 3), "{findings:#?}");
    for (finding, at) in found.iter().zip([starts[0] + 3, starts[1] + 3, starts[2] + 2]) {
        assert_eq!(finding["place"], format!("train.mlf:{at}"), "{finding}");
    }
    assert!(found[2]["message"].as_str().unwrap().contains("nobody"), "{}", found[2]);
}

#[test]
fn a_wrong_checksum_of_htk() {
    let directory = tempfile::tempdir().unwrap();
    // Three frames of two values, kind FBANK_K; no checksum is above 36896.
    let mut file = 3i32.to_be_bytes().to_vec();
    file.extend(100_000i32.to_be_bytes());
    file.extend(8i16.to_be_bytes());
    file.extend((7i16 | 0o10_000).to_be_bytes());
    file.extend([1.0f32, 2.0, 3.0, 4.0, 5.0, 7.0].iter().flat_map(|value| value.to_be_bytes()));
    file.extend([0xff, 0xff]);
    fs::write(directory.path().join("a.fbk"), file).unwrap();
    fs::write(directory.path().join("a.scp"), "a.fbk\n").unwrap();
    let (code, findings) = check(directory.path(), &["a.scp"]);
    assert_eq!((code, &*only(&findings, "checksum").0), (1, "error"), "{findings:#?}");
    assert!(only(&findings, "checksum").2.contains("a.fbk"));
}

#[test]
fn headers_of_htk_that_promise_something_else() {
    let directory = tempfile::tempdir().unwrap();
    // Two frames of two values, kind FBANK; a sample period of 0; three bytes too many.
    let mut file = 2i32.to_be_bytes().to_vec();
    file.extend(0i32.to_be_bytes());
    file.extend(8i16.to_be_bytes());
    file.extend(7i16.to_be_bytes());
    file.extend([1.0f32, 2.0, 3.0, 4.5].iter().flat_map(|value| value.to_be_bytes()));
    file.extend([1, 2, 3]);
    fs::write(directory.path().join("a.fbk"), file).unwrap();
    fs::write(directory.path().join("a.scp"), "a.fbk\n").unwrap();
    let (code, findings) = check(directory.path(), &["a.scp"]);
    let found = of(&findings, "header");
    assert_eq!((code, found.len(), findings.len()), (0, 2, 2), "{findings:#?}");
    for (finding, says) in found.iter().zip(["period is 0", "3 bytes behind"]) {
        assert!(finding["message"].as_str().unwrap().contains(says), "{finding}");
        assert_eq!((&finding["severity"], &finding["place"]), (&"warning".into(), &"a.fbk".into()));
    }
}

#[test]
fn columns_are_checked_as_well() {
    let directory = written(|corpus| {
        corpus.utterances[3].features[2][1] = f32::NAN;
        corpus.utterances[5].labels[1] = -9;
    });
    let path = directory.path();
    for name in ["x.parquet", "x.arrow"] {
        let output = run(path, &[&["convert"], &BOTH[..], &[name]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let (code, findings) = check(path, &[name]);
        assert_eq!((code, findings.len()), (1, 2), "{findings:#?}");
        let (_, key, place, _) = only(&findings, "nan");
        assert_eq!((&*key, &*place), ("spk0-utt003", "sample 2, dim 1"));
        assert_eq!(only(&findings, "label-range").1, "spk0-utt005");
        let (_, findings) = check(path, &[&[name, "--against"], &BOTH[..1]].concat());
        assert_eq!(of(&findings, "missing-stream").len(), 1, "{findings:#?}");
        assert!(of(&findings, "missing-key").is_empty() && of(&findings, "value").is_empty());
        let fixed = format!("fixed-{name}");
        assert_eq!(run(path, &["check", name, "--fix", &fixed]).status.code(), Some(1));
        let (_, findings) = check(path, &[&format!("{fixed}/corpus.toml")]);
        assert!(of(&findings, "nan").is_empty(), "{findings:#?}");
        let bytes = fs::read(path.join(name)).unwrap();
        fs::write(path.join("cut"), &bytes[..bytes.len() / 2]).unwrap();
        fs::rename(path.join("cut"), path.join(format!("cut-{name}"))).unwrap();
        let (code, findings) = check(path, &[&format!("cut-{name}")]);
        assert_eq!((code, &*only(&findings, "unreadable").0), (1, "error"), "{findings:#?}");
    }
}

#[test]
fn streams_that_only_one_of_two_corpora_has() {
    let directory = written(|_| {});
    let text = "[streams.features]\nsource = \"scp:feats.scp\"\n\
                [streams.labels]\nsource = \"ark:ali.ark\"\nkind = \"label\"\n";
    fs::write(directory.path().join("both.toml"), text).unwrap();
    let (code, findings) =
        check(directory.path(), &[&BOTH[..], &["--against", "scp:feats.scp"]].concat());
    assert_eq!((code, findings.len()), (1, 1), "{findings:#?}");
    assert_eq!(of(&findings, "missing-stream")[0]["stream"], "labels", "{findings:#?}");
    let (code, findings) = check(directory.path(), &["scp:feats.scp", "--against", "both.toml"]);
    assert_eq!((code, findings.len()), (1, 1), "{findings:#?}");
    assert_eq!(of(&findings, "extra-stream")[0]["stream"], "labels", "{findings:#?}");
}

#[test]
fn a_copy_is_compared() {
    let directory = written(|_| {});
    let copy = directory.path().join("copy");
    fs::create_dir(&copy).unwrap();
    let mut other = corpus(12);
    other.utterances.reverse();
    other.write(&copy);
    let against = |more: &[&str]| {
        check(
            directory.path(),
            &[&["scp:feats.scp", "--against", "scp:copy/feats.scp"], more].concat(),
        )
    };
    // Kaldi's script files name archives from where one stands.
    let script = fs::read_to_string(copy.join("feats.scp")).unwrap();
    fs::write(copy.join("feats.scp"), script.replace("feats.ark", "copy/feats.ark")).unwrap();
    let (code, findings) = against(&[]);
    assert_eq!((code, findings), (0, Vec::new()));
    other.utterances[0].features[4][1] += 0.5;
    other.utterances[1].features.pop();
    other.utterances[3].key = "stranger".to_owned();
    other.write(&copy);
    let script = fs::read_to_string(copy.join("feats.scp")).unwrap();
    fs::write(copy.join("feats.scp"), script.replace("feats.ark", "copy/feats.ark")).unwrap();
    let (code, findings) = against(&[]);
    assert_eq!((code, findings.len()), (1, 4), "{findings:#?}");
    let (_, key, place, message) = only(&findings, "value");
    assert_eq!((&*key, &*place), ("spk1-utt011", "sample 4, dim 1"));
    assert_eq!(message, "the value is 4 here, 4.5 in the other corpus");
    assert_eq!(only(&findings, "length").1, "spk1-utt010");
    assert_eq!(only(&findings, "missing-key").1, "spk0-utt008");
    assert_eq!(only(&findings, "extra-key").1, "stranger");
    let (_, findings) = against(&["--tolerance", "0.2"]);
    assert!(of(&findings, "value").is_empty());
}

#[test]
fn the_example_is_the_same_in_every_format() {
    let digits = examples().join("digits");
    let with_htk = ["htk/train.scp", "--labels", "htk/train.mlf", "--states", "htk/train.states"];
    // HTK's files have three of the utterances; those of PDNN the same ones, without names.
    let (_, findings) = check(&digits, &[&with_htk[..], &["--against", "train.toml"]].concat());
    assert_eq!((of(&findings, "extra-key").len(), findings.len()), (57, 57));
    let (code, findings) = check(&digits, &[&with_htk[..], &["--against", "train.pfile"]].concat());
    assert_eq!(
        (code, &*only(&findings, "keys").0, findings.len()),
        (0, "note", 1),
        "{findings:#?}"
    );
    let (code, findings) = check(&digits, &["train.ctf", "--against", "train.pfile"]);
    assert_eq!((code, of(&findings, "value").len()), (1, 0));
}

#[test]
fn a_repaired_copy_is_sound() {
    let directory = written(|corpus| {
        corpus.utterances[3].features[2][1] = f32::NAN;
        corpus.utterances[4].labels.push(9);
        corpus.utterances[5].labels.extend([9; 50]);
        corpus.utterances.swap(0, 7);
    });
    let path = directory.path();
    let output =
        run(path, &[&["check"], &BOTH[..], &["--fix", "fixed", "--context", "2"]].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}{}", String::from_utf8_lossy(&output.stderr));
    for expected in [
        "error[nan]: NaN is no number",
        "  --> sample 2, dim 1, key spk0-utt003, stream features",
        "wrote 10 sequences of ",
        "left out     1 sequence (different lengths)",
        "left out     1 sequence (unreadable or not all numbers)",
        "cut          1 sequence",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert_eq!(check(path, &["fixed/corpus.toml"]), (0, Vec::new()));
    let keys = fs::read_to_string(path.join("fixed/features.scp")).unwrap();
    assert!(keys.lines().is_sorted() && keys.lines().count() == 10);
    let report: Value =
        serde_json::from_str(&fs::read_to_string(path.join("fixed/report.json")).unwrap()).unwrap();
    assert_eq!(report["repair"]["trimmed"][0]["key"], "spk0-utt004");
    let description = fs::read_to_string(path.join("fixed/corpus.toml")).unwrap();
    assert!(
        description.contains("[streams.labels]\nsource = \"scp:labels.scp\"\nkind = \"label\"")
            && description.contains("context = \"2\"")
    );
    // Values that were right are as they were.
    let (_, findings) = check(path, &[&BOTH[..], &["--against", "fixed/corpus.toml"]].concat());
    assert!(of(&findings, "value").is_empty(), "{findings:#?}");
    // Nothing is replaced.
    let again = run(path, &[&["check"], &BOTH[..], &["--fix", "fixed"]].concat());
    assert_eq!(again.status.code(), Some(2));
}

#[test]
fn findings_that_are_many_are_counted() {
    let directory = written(|corpus| {
        corpus.utterances.iter_mut().for_each(|utterance| utterance.labels[0] = -1);
    });
    let output = run(directory.path(), &[&["check", "--most", "3"], &BOTH[..]].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text.matches("warning[label-range]").count(), 3);
    assert!(text.contains("... and 9 more of label-range"), "{text}");
}

#[test]
fn a_directory_is_freed_of_what_killed_runs_left() {
    let directory = written(|_| {});
    let path = directory.path();
    // Without features it is no data directory, and so no corpus.
    fs::remove_file(path.join("feats.scp")).unwrap();
    let before = names(path);
    let refused = || {
        let output = run(path, &["check", "."]);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.contains("name a file in it, such as its corpus.toml"), "{errors}");
        assert!(output.stdout.is_empty());
    };
    refused();
    // One run is killed, another one waits for more.
    let begin = |name: &str| {
        let output = format!("ark:{name}");
        let mut child = seqfeed(path, &["kaldi", "copy-feats", "ark:-", &output])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(&fs::read(path.join("feats.ark")).unwrap()).unwrap();
        let begun = Instant::now();
        while !names(path).iter().any(|found| found.contains(name)) {
            assert!(begun.elapsed() < PATIENCE, "nothing is written");
            std::thread::sleep(Duration::from_millis(2));
        }
        (child, input)
    };
    let (mut killed, _input) = begin("killed.ark");
    killed.kill().unwrap();
    killed.wait().unwrap();
    let (mut living, input) = begin("living.ark");
    let unfinished = |names: &[String]| -> Vec<String> {
        names.iter().filter(|name| name.ends_with(".part")).cloned().collect()
    };
    let [left, written] = <[String; 2]>::try_from(unfinished(&names(path))).unwrap();
    assert!(left.contains("killed") && written.contains("living"), "{left} {written}");
    // Other options want a corpus: nothing is removed.
    for more in [["--fix", "fixed"], ["--against", "scp:feats.scp"], ["--labels", "ark:ali.ark"]] {
        let output = run(path, &[&["check", "."], &more[..]].concat());
        assert_ne!(output.status.code(), Some(0), "{more:?}");
    }
    assert_eq!(unfinished(&names(path)).len(), 2);
    let output = run(path, &["check", ".", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let (left, written) = (format!("./{left}"), format!("./{written}"));
    assert_eq!(said, serde_json::json!({ "removed": [left], "kept": [written] }));
    let output = run(path, &["check", "."]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with(&format!("kept         {written} (")), "{text}");
    // The run that lives comes to its end as if nothing had been.
    drop(input);
    assert!(living.wait().unwrap().success());
    let copied = fs::read(path.join("living.ark")).unwrap();
    assert_eq!(copied, fs::read(path.join("feats.ark")).unwrap());
    fs::remove_file(path.join("living.ark")).unwrap();
    assert_eq!(names(path), before);
    refused();
}

/// The names in a directory, sorted.
fn names(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn wrong_usage() {
    let directory = written(|_| {});
    for arguments in [
        &["check"][..],
        &["check", "scp:feats.scp", "--classes", "0"],
        &["check", "scp:feats.scp", "--tolerance", "1"],
        &["check", "scp:feats.scp", "--context", "x"],
    ] {
        let output = run(directory.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
    // A file that is not there is a finding.
    let (code, findings) = check(directory.path(), &["scp:none.scp"]);
    assert_eq!((code, findings.len()), (1, 1));
    let _ = matrix(&[]);
}

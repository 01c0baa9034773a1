//! `seqfeed convert`: every format to every other, what is refused, shards, and runs
//! that are killed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use seqfeed::Description;
use seqfeed::io::Opener;
use seqfeed_convert::{Fingerprint, StreamFingerprint, fingerprint};
use serde_json::Value;

use crate::corpora::corpus;
use crate::program::{examples, run, seqfeed, shared};

/// A way to write a corpus.
struct Format {
    /// The sink, in a directory.
    sink: &'static str,
    features: bool,
    labels: bool,
    keys: bool,
    sequences: bool,
}

const fn format(sink: &'static str, holds: &str) -> Format {
    let holds = holds.as_bytes();
    Format {
        sink,
        features: holds[0] == b'f',
        labels: holds[1] == b'l',
        keys: holds[2] == b'k',
        sequences: holds[3] == b's',
    }
}

const FORMATS: [Format; 13] = [
    format("kaldi:x", "flks"),
    format("x.htk", "flks"),
    format("htk-files:x", "flks"),
    format("x.ctf", "fl-s"),
    format("x.ctf.gz", "fl-s"),
    format("x.pfile", "fl-s"),
    format("x.pickle", "fl--"),
    format("x.pkl.gz", "fl--"),
    format("x.npz", "fl--"),
    format("x.npy", "f---"),
    format("x.ali", "-lks"),
    format("x.parquet", "flks"),
    format("x.arrow", "flks"),
];

/// Runs `convert` in a directory; what it says, as JSON.
pub(crate) fn convert(
    directory: &Path,
    arguments: &[&str],
) -> Result<Value, (Option<i32>, String)> {
    let output = run(directory, &[&["convert", "--json"], arguments].concat());
    match output.status.success() {
        true => Ok(serde_json::from_slice(&output.stdout).expect("JSON")),
        false => Err((output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())),
    }
}

fn opened(description: &Path) -> Fingerprint {
    let opened = Description::from_file(description).unwrap().open(&Opener::default()).unwrap();
    fingerprint(opened.corpus().as_ref()).unwrap()
}

fn stream<'a>(found: &'a Fingerprint, name: &str) -> Option<&'a StreamFingerprint> {
    found.streams.iter().find(|stream| stream.name == name)
}

/// What is left of a corpus that went through formats.
fn check(found: &Fingerprint, original: &Fingerprint, through: &[&Format], what: &str) {
    let all = |holds: fn(&Format) -> bool| through.iter().all(|format| holds(format));
    for (name, there) in
        [("features", all(|format| format.features)), ("labels", all(|format| format.labels))]
    {
        let (found, original) = (stream(found, name), stream(original, name).unwrap());
        assert_eq!(found.is_some(), there, "{what}: {name}");
        let Some(found) = found else { continue };
        assert_eq!(
            (found.samples, found.values),
            (original.samples, original.values),
            "{what}: {name}"
        );
        let keys = all(|format| format.keys);
        assert_eq!(found.sequences == original.sequences, keys, "{what}: keys of {name}");
    }
    let sequences = if all(|format| format.sequences) { original.sequences } else { 1 };
    assert_eq!(found.sequences, sequences, "{what}");
}

/// Writes a corpus as each format, and each of these as each format again; values are those
/// of the corpus.
fn every_pair(source: &[&str], original: &Fingerprint) {
    let directory = tempfile::tempdir().unwrap();
    let mut pairs = 0;
    for (number, first) in FORMATS.iter().enumerate() {
        let at = directory.path().join(number.to_string());
        fs::create_dir(&at).unwrap();
        let arguments = [source, &[first.sink, "--allow-lossy", "--describe", "--verify"]].concat();
        let done =
            convert(&at, &arguments).unwrap_or_else(|error| panic!("{}: {error:?}", first.sink));
        assert_eq!(done["verified"], true, "{}", first.sink);
        check(&opened(&at.join("x.toml")), original, &[first], first.sink);
        for second in &FORMATS {
            let pair = format!("{} -> {}", first.sink, second.sink);
            let there = at.join("again");
            fs::create_dir(&there).unwrap();
            let mut arguments = vec!["../x.toml", second.sink, "--allow-lossy", "--describe"];
            // CTF calls labels sparse; as such they would be posteriors of Kaldi's, which are no
            // stream. Columns hold them as they are.
            if first.sink.contains("ctf") {
                arguments.extend(["--classes", "labels"]);
            }
            let done = convert(&there, &arguments);
            // What has no features cannot become features.
            let possible = first.features && second.features || first.labels && second.labels;
            let needs = second.labels && !second.features
                || first.features
                || second.sink.contains("ctf")
                || second.sink.contains("kaldi")
                || second.sink.contains("parquet")
                || second.sink.contains("arrow")
                || second.sink.contains("pfile");
            match done {
                Ok(_) => {
                    assert!(possible && needs, "{pair}");
                    check(&opened(&there.join("x.toml")), original, &[first, second], &pair);
                }
                Err((code, text)) => {
                    assert!(!(possible && needs), "{pair}: {text}");
                    assert_eq!(code, Some(2), "{pair}: {text}");
                    assert!(text.contains("there is no stream of"), "{pair}: {text}");
                    assert_eq!(fs::read_dir(&there).unwrap().count(), 0, "{pair}");
                }
            }
            fs::remove_dir_all(&there).unwrap();
            pairs += 1;
        }
    }
    assert_eq!(pairs, FORMATS.len() * FORMATS.len());
}

#[test]
fn every_format_becomes_every_other_without_a_value_changed() {
    let description = examples().join("digits/test.toml").canonicalize().unwrap();
    every_pair(&[description.to_str().unwrap()], &opened(&description));
}

#[test]
fn real_speech_goes_through_every_pair_of_formats() {
    let Some(directory) = shared("data/an4/kaldi") else { return };
    let directory = directory.canonicalize().unwrap();
    let description = tempfile::tempdir().unwrap();
    let path = description.path().join("an4.toml");
    let at = directory.display();
    let text = format!(
        "[streams.features]\nsource = 'ark:{at}/feats.ark'\n\
         [streams.labels]\nsource = 'ark:{at}/ali.ark'\nkind = 'label'\n"
    );
    fs::write(&path, text).unwrap();
    every_pair(&[path.to_str().unwrap()], &opened(&path));
}

#[test]
fn sparse_samples_go_through_ctf_and_are_refused_where_they_are_no_classes() {
    let Some(directory) = shared("data/atis") else { return };
    let directory = directory.canonicalize().unwrap();
    let source = directory.join("atis.test.ctf").display().to_string();
    let at = tempfile::tempdir().unwrap();
    let first = convert(at.path(), &[&source, "x.ctf"]).unwrap();
    let second = convert(at.path(), &["x.ctf", "y.ctf.gz"]).unwrap();
    assert_eq!(first["streams"], second["streams"]);
    assert_eq!(first["losses"], Value::Array(Vec::new()));
    // Posteriors, and from them a column and CTF once more: each stream with its own length.
    let mut source = "x.ctf";
    for (sink, written) in [
        ("kaldi:p", "p.toml"),
        ("p.parquet", "p.parquet"),
        ("p.arrow", "p.arrow"),
        ("p.ctf", "p.ctf"),
    ] {
        let found = convert(at.path(), &[source, sink, "--verify", "--allow-lossy"]).unwrap();
        assert_eq!(found["streams"], first["streams"], "{sink}");
        source = written;
    }
    let checked = run(at.path(), &["check", "p.toml", "--against", "x.ctf", "--fix", "fixed"]);
    assert_eq!(checked.status.code(), Some(0), "{}", String::from_utf8_lossy(&checked.stdout));
    let fixed = convert(at.path(), &["fixed/corpus.toml", "q.ctf", "--allow-lossy"]).unwrap();
    assert_eq!(fixed["streams"][0]["samples"], first["streams"][0]["samples"]);
    let labels = convert(at.path(), &["x.ctf", "kaldi:l", "--classes", "S0,S1,S2"]).unwrap();
    for (labels, sparse) in
        labels["streams"].as_array().unwrap().iter().zip(first["streams"].as_array().unwrap())
    {
        assert_eq!(labels["values"], sparse["values"]);
    }
}

/// Five utterances with 64-bit values that 32 bits do not hold.
fn doubles(directory: &Path) {
    let mut archive = Vec::new();
    for (number, key) in ["a", "b", "c", "d", "e"].iter().enumerate() {
        archive.extend(format!("{key} \0BDM \x04").bytes());
        archive.extend((number as i32 + 1).to_le_bytes());
        archive.push(4);
        archive.extend(3i32.to_le_bytes());
        for value in 0..3 * (number + 1) {
            archive.extend((0.1 * (value + 1) as f64).to_le_bytes());
        }
    }
    fs::write(directory.join("doubles.ark"), archive).unwrap();
}

#[test]
fn doubles_stay_doubles_or_are_said_to_be_lost() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    doubles(at);
    let kept = convert(at, &["ark:doubles.ark", "kaldi:k"]).unwrap();
    assert!(fs::read_to_string(at.join("k.toml")).unwrap().contains("dtype = \"float64\""));
    assert_eq!(
        fs::read(at.join("k.features.ark")).unwrap(),
        fs::read(at.join("doubles.ark")).unwrap()
    );
    let values = stream(&opened(&at.join("k.toml")), "features").unwrap().values;
    assert_eq!(kept["streams"][0]["values"], format!("{values:016x}"));

    let (code, text) = convert(at, &["ark:doubles.ark", "x.htk"]).unwrap_err();
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("would be lost: stream features: float64 values become float32"),
        "{text}"
    );
    assert!(text.contains("--allow-lossy"), "{text}");
    assert!(!at.join("x.htk").exists());
    let lossy = convert(at, &["ark:doubles.ark", "x.htk", "--allow-lossy"]).unwrap();
    assert_eq!(lossy["losses"][0]["kind"], "precision");
    // Asked for, it needs no leave.
    let narrow = convert(at, &["ark:doubles.ark", "ark:n.ark", "--dtype", "float32"]).unwrap();
    assert_eq!(narrow["streams"][0]["values"], lossy["streams"][0]["values"]);
    assert_ne!(narrow["streams"][0]["values"], kept["streams"][0]["values"]);
    // Wider values are the same values.
    let wide = convert(at, &["ark:n.ark", "ark:w.ark", "--dtype", "float64"]).unwrap();
    assert_eq!(wide["streams"][0]["values"], narrow["streams"][0]["values"]);
    assert_eq!(
        fs::metadata(at.join("w.ark")).unwrap().len(),
        fs::metadata(at.join("doubles.ark")).unwrap().len()
    );
}

#[test]
fn what_would_be_lost_is_said_before_and_refused() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    corpus(8).write(at);
    let source = ["scp:feats.scp", "--labels", "ark:ali.ark"];
    let cases: [(&[&str], &[&str]); 8] = [
        (&["x.pfile"], &["keys of sequences (spk0-utt000 ...) become numbers from 0"]),
        (&["x.ctf"], &["become numbers from 0; they stand in comments"]),
        (&["x.pickle"], &["8 sequences become one"]),
        (
            &["x.npy"],
            &["stream labels (label) is left out: npy holds one stream of floats", "8 sequences"],
        ),
        (&["x.ali"], &["stream features (dense) is left out"]),
        (&["ark:x.ark"], &["stream labels is left out: it has no table to go to"]),
        (&["ark,t:x.ark", "--streams", "features"], &["text of Kaldi's has 7 digits"]),
        (&["x.npz", "--streams", "labels,features"], &["8 sequences become one"]),
    ];
    let before = fs::read_dir(at).unwrap().count();
    for (arguments, losses) in cases {
        let all = [&source, arguments].concat();
        let (code, text) = convert(at, &all).unwrap_err();
        assert_eq!(code, Some(1), "{arguments:?}: {text}");
        assert!(losses.iter().all(|loss| text.contains(loss)), "{arguments:?}: {text}");
        assert!(text.contains("help: if that is all right, allow it with --allow-lossy"), "{text}");
        assert_eq!(fs::read_dir(at).unwrap().count(), before, "{arguments:?} leaves nothing");
    }
    // Nothing is lost, so nothing needs leave.
    for arguments in [
        &["kaldi:k"][..],
        &["h.htk"],
        &["ark:f.ark", "--to", "labels=ark:a.ark"],
        &["a.ali", "--streams", "labels"],
    ] {
        let done = convert(at, &[&source, arguments].concat()).unwrap();
        assert_eq!(done["losses"], Value::Array(Vec::new()), "{arguments:?}");
    }
}

#[test]
fn wrong_requests_are_refused_with_a_cure() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    corpus(4).write(at);
    let source = ["scp:feats.scp", "--labels", "ark:ali.ark"];
    let cases: [(&[&str], i32, &str); 16] = [
        (&["x"], 2, "the name does not tell what shall be written"),
        (&["x.ark"], 2, "write ark:x.ark"),
        (&["x.pfile.gz"], 2, "leave .gz out"),
        (&["kaldi:x", "--streams", "speaker"], 2, "it has features, labels"),
        (&["x.htk", "--streams", "labels"], 2, "there is no stream of floats"),
        (&["x.htk", "--compress"], 2, "--compress is for Kaldi's tables"),
        (&["ark:x", "--compress=9"], 2, "2 (speech features)"),
        (&["x.pfile", "--dtype", "float64"], 2, "pfile holds float32 values"),
        (&["kaldi:x", "--shards", "5"], 2, "4 sequences cannot be divided into 5 shards"),
        (&["kaldi:x", "--shards", "0"], 2, "one shard and one job"),
        (&["ark:-", "--streams", "features", "--json"], 2, "--json"),
        (&["x.pickle", "--protocol", "3"], 2, "protocol 2 or 5"),
        (&["kaldi:x", "--to", "labels=ark:y"], 2, "--to is for streams beside"),
        (&["ark:x", "--to", "labels"], 2, "--to labels=ark:ali.ark"),
        (&["x.htk", "--htk-kind", "MFC"], 2, "kinds are WAVEFORM"),
        (
            &["no/such/directory/x.htk"],
            1,
            "there is no directory no/such/directory (make it first)",
        ),
    ];
    for (arguments, code, expected) in cases {
        let (found, text) = convert(at, &[&source, arguments].concat()).unwrap_err();
        assert_eq!(found, Some(code), "{arguments:?}: {text}");
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
    // Data that a format has no way to say, known only when they come.
    fs::write(at.join("bad.ark"), "u1 [ 1 2\n 3 inf ]\n").unwrap();
    let (code, text) = convert(at, &["ark:bad.ark", "x.ctf", "--allow-lossy"]).unwrap_err();
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("(key u1)"), "{text}");
    fs::write(at.join("negative.ark"), "u1 3 -4 5 \n").unwrap();
    let (code, text) =
        convert(at, &["--labels", "ark:negative.ark", "x.ctf", "--allow-lossy"]).unwrap_err();
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("negative label"), "{text}");
    assert!(!at.join("x.ctf").exists());
    // Damage in the source.
    let feats = fs::read(at.join("feats.ark")).unwrap();
    fs::write(at.join("short.ark"), &feats[..feats.len() - 7]).unwrap();
    let (code, text) = convert(at, &["ark:short.ark", "ark:y.ark"]).unwrap_err();
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("7 bytes are missing"), "{text}");
    assert!(!at.join("y.ark").exists());
}

#[test]
fn sinks_of_kaldi_take_streams_as_they_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    corpus(6).write(at);
    let source = ["scp:feats.scp", "--labels", "ark:ali.ark"];
    let sink = ["ark,scp:f.ark,f.scp", "--to", "labels=ark,t:ali.txt2", "--describe"];
    convert(at, &[&source[..], &sink].concat()).unwrap();
    assert_eq!(fs::read(at.join("f.ark")).unwrap(), fs::read(at.join("feats.ark")).unwrap());
    assert_eq!(
        fs::read_to_string(at.join("f.scp")).unwrap(),
        fs::read_to_string(at.join("feats.scp")).unwrap().replace("feats.ark", "f.ark")
    );
    assert_eq!(fs::read(at.join("ali.txt2")).unwrap(), fs::read(at.join("ali.txt")).unwrap());
    opened(&at.join("f.toml"));
    // To standard output; what was written is then said beside it.
    let output = run(at, &[&["convert"], &source[..], &["ark:-", "--streams", "labels"]].concat());
    assert!(output.status.success());
    assert!(output.stdout.starts_with(b"spk0-utt000 \0B"), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("checksum"));
    // Compressed matrices are what Kaldi's compression says, and small.
    let compressed = [&source[..], &["kaldi:c", "--compress=3", "--streams", "features"]].concat();
    let report = convert(at, &compressed).unwrap();
    assert!(report["bytes"].as_u64().unwrap() < fs::metadata(at.join("feats.ark")).unwrap().len());
    let info = run(at, &["info", "c.toml"]);
    assert!(String::from_utf8_lossy(&info.stdout).contains("6 compressed matrices"));
}

#[test]
fn names_of_states_and_frame_periods_go_from_htk_to_htk() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let digits = examples().join("digits/htk").canonicalize().unwrap();
    let name = |file: &str| digits.join(file).display().to_string();
    let source = [
        name("train.scp"),
        "--labels".into(),
        name("train.mlf"),
        "--states".into(),
        name("train.states"),
    ];
    let source: Vec<&str> = source.iter().map(String::as_str).collect();
    convert(at, &[&source[..], &["train.htk"]].concat()).unwrap();
    for file in ["train.htk", "train.mlf", "train.states", "train.scp"] {
        assert_eq!(
            fs::read(at.join(file)).unwrap(),
            fs::read(digits.join(file)).unwrap(),
            "{file}"
        );
    }
    let (code, text) = convert(at, &[&source[..], &["kaldi:k"]].concat()).unwrap_err();
    assert_eq!(code, Some(1));
    assert!(text.contains("kind USER, one every 10 ms, is not held by kaldi"), "{text}");
    convert(
        at,
        &[&source[..], &["htk-files:each", "--htk-kind", "FBANK", "--htk-period", "125000"]]
            .concat(),
    )
    .unwrap();
    assert_eq!(fs::read_dir(at.join("each")).unwrap().count(), 3);
    let again = convert(at, &[&source[..], &["htk-files:each"]].concat()).unwrap_err();
    assert!(again.1.contains("remove the old one"), "{again:?}");
    let again = convert(at, &["each.scp", "kaldi:k"]).unwrap_err();
    assert!(again.1.contains("kind FBANK, one every 12.5 ms"), "{again:?}");
}

/// Names of unfinished files in a directory.
fn parts(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
    let names = entries.map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(".seqfeed-")).collect()
}

/// Names and times of the files in a directory, without those of unfinished ones.
fn files(directory: &Path) -> BTreeMap<PathBuf, std::time::SystemTime> {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    let finished =
        entries.filter(|entry| !entry.file_name().to_string_lossy().starts_with(".seqfeed-"));
    finished.map(|entry| (entry.path(), entry.metadata().unwrap().modified().unwrap())).collect()
}

#[test]
fn shards_hold_all_and_are_kept_when_they_are_whole() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    corpus(40).write(at);
    let source = ["scp:feats.scp", "--labels", "ark:ali.ark"];
    let whole = convert(at, &[&source[..], &["kaldi:whole"]].concat()).unwrap();
    for (sink, end) in [
        ("kaldi:out", "labels.ark"),
        ("out.htk", "htk"),
        ("out.pfile", "pfile"),
        ("out.ctf.gz", "ctf.gz"),
        ("out.npz", "npz"),
        ("out.parquet", "parquet"),
        ("out.arrow", "arrow"),
    ] {
        let there = at.join("shards");
        fs::create_dir(&there).unwrap();
        let sink = match sink.split_once(':') {
            Some((format, name)) => format!("{format}:shards/{name}"),
            None => format!("shards/{sink}"),
        };
        let arguments =
            [&source[..], &[&sink, "--shards", "7", "--jobs", "3", "--allow-lossy", "--describe"]]
                .concat();
        let first = convert(at, &arguments).unwrap();
        let streams = |report: &Value| -> Vec<(Value, Value)> {
            let all = report["streams"].as_array().unwrap();
            all.iter().map(|stream| (stream["samples"].clone(), stream["values"].clone())).collect()
        };
        assert_eq!(streams(&first), streams(&whole), "{sink}");
        let shards = first["shards"].as_array().unwrap();
        assert_eq!(shards.len(), 7);
        assert!(shards.iter().all(|shard| shard["kept"] == false));
        let largest = shards
            .iter()
            .map(|s| s["fingerprint"]["streams"][0]["samples"].as_u64().unwrap())
            .max();
        assert!(
            largest.unwrap() < 2 * whole["streams"][0]["samples"].as_u64().unwrap() / 7,
            "{sink}"
        );
        let path = there.join(format!("out-00003-of-00007.{end}"));
        assert!(path.exists(), "{}", path.display());
        // One description for all of them, where there is a way to name them all.
        let description = there.join("out.toml");
        assert_eq!(description.exists(), !sink.contains("ctf"), "{sink}");
        if description.exists() {
            let found = opened(&description);
            assert_eq!(
                format!("{:016x}", found.streams[0].values),
                whole["streams"][0]["values"],
                "{sink}"
            );
            assert_eq!(
                format!("{:016x}", found.streams[1].values),
                whole["streams"][1]["values"],
                "{sink}"
            );
        }

        // A second run writes nothing but what is missing.
        let before = files(&there);
        fs::remove_file(&path).unwrap();
        let second = convert(at, &arguments).unwrap();
        assert_eq!(second["streams"], first["streams"], "{sink}");
        let kept: Vec<bool> =
            second["shards"].as_array().unwrap().iter().map(|s| s["kept"] == true).collect();
        assert_eq!(kept, [true, true, false, true, true, true, true], "{sink}");
        let after = files(&there);
        assert!(before.keys().eq(after.keys()), "{sink}");
        let same = |path: &PathBuf| before[path] == after[path];
        let written = |path: &&PathBuf| path.to_string_lossy().contains("00003-of");
        assert!(
            after
                .keys()
                .filter(|path| path.to_string_lossy().contains("-of-"))
                .filter(|p| !written(p))
                .all(same),
            "{sink}"
        );
        // Another conversion does not take them for its own.
        let other =
            [&arguments[..], &["--streams", "features,labels", "--missing", "stop"]].concat();
        let same = convert(at, &other).unwrap();
        assert!(same["shards"].as_array().unwrap().iter().all(|shard| shard["kept"] == true));
        let anew = convert(at, &[&arguments[..], &["--anew"]].concat()).unwrap();
        assert!(anew["shards"].as_array().unwrap().iter().all(|shard| shard["kept"] == false));
        fs::remove_dir_all(&there).unwrap();
    }
}

#[test]
fn shards_of_changed_values_are_written_again() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let mut first = corpus(4);
    first.write(at);
    let arguments = ["scp:feats.scp", "ark:out.ark", "--shards", "4"];
    convert(at, &arguments).unwrap();
    first.utterances[2].features[0][1] = 77.0;
    first.write(at);
    let second = convert(at, &arguments).unwrap();
    let kept: Vec<bool> =
        second["shards"].as_array().unwrap().iter().map(|shard| shard["kept"] == true).collect();
    assert_eq!(kept, [true, true, false, true]);
    let again = convert(at, &["ark:out-00003-of-00004.ark", "ark:again.ark"]).unwrap();
    assert_eq!(
        again["streams"][0]["values"],
        second["shards"][2]["fingerprint"]["streams"][0]["values"]
    );
}

#[test]
fn a_conversion_that_is_killed_leaves_nothing_and_is_finished_by_the_next() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    corpus(3000).write(at);
    let source = ["scp:feats.scp", "--labels", "ark:ali.ark"];
    let expected = convert(at, &[&source[..], &["kaldi:expected"]].concat()).unwrap();
    let mut interrupted = 0;
    let there = at.join("out");
    for delay in 0..12u64 {
        let _ = fs::remove_dir_all(&there);
        fs::create_dir(&there).unwrap();
        let sink = if delay % 2 == 0 { "out/x.htk" } else { "out/x.ctf.gz" };
        let more = ["--allow-lossy", "--streams", "features"];
        let arguments = [&["convert"], &source[..], &[sink], &more].concat();
        let mut child =
            seqfeed(at, &arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let started = Instant::now();
        // Killed as soon as it has begun to write, or a little later.
        while fs::read_dir(&there).unwrap().next().is_none()
            && child.try_wait().unwrap().is_none()
            && started.elapsed() < Duration::from_secs(20)
        {
            std::thread::sleep(Duration::from_micros(200));
        }
        std::thread::sleep(Duration::from_millis(delay * 3));
        let ended = child.try_wait().unwrap().is_some();
        child.kill().unwrap();
        child.wait().unwrap();
        let left = files(&there);
        if !ended && left.is_empty() {
            interrupted += 1;
        }
        // All or nothing, but for the moment in which the names are given.
        for path in left.keys() {
            let text = fs::read(path).unwrap();
            assert!(!text.is_empty(), "{}", path.display());
        }
        let report = convert(at, &[&source[..], &[sink], &more].concat()).unwrap();
        assert_eq!(report["streams"][0]["values"], expected["streams"][0]["values"]);
        assert_eq!(parts(&there), [""; 0], "what was left is taken away");
        if sink.ends_with(".htk") {
            let values = stream(&opened(&there.join("x.toml")), "features").unwrap().values;
            assert_eq!(
                format!("{values:016x}"),
                expected["streams"][0]["values"].as_str().unwrap()
            );
        }
    }
    assert!(interrupted >= 3, "only {interrupted} of 12 were killed while they wrote");
}

#[test]
fn killed_shards_go_on_where_they_were() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    corpus(3000).write(at);
    fs::create_dir(at.join("out")).unwrap();
    let arguments =
        ["scp:feats.scp", "out/x.ctf.gz", "--shards", "12", "--jobs", "2", "--allow-lossy"];
    let all = [&["convert"], &arguments[..]].concat();
    let mut child = seqfeed(at, &all).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let started = Instant::now();
    while files(&at.join("out")).len() < 4 && started.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let report = convert(at, &arguments).unwrap();
    let shards = report["shards"].as_array().unwrap();
    let kept = shards.iter().filter(|shard| shard["kept"] == true).count();
    assert!((1..12).contains(&kept), "{kept} of 12 were kept");
    assert_eq!(parts(&at.join("out")), [""; 0]);
    let whole = convert(at, &["scp:feats.scp", "ark:whole.ark"]).unwrap();
    assert_eq!(report["streams"][0]["values"], whole["streams"][0]["values"]);
}

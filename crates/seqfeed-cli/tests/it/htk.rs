//! The same minibatches as CNTK 2.7 from HTK's files, from the readers' own settings.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::cntk::{Recorded, compare, fails, options, recorded, same_values, values};
use crate::program::{dump, examples, shared, try_dump};

/// Runs that go otherwise here, on purpose (docs/htk-differences.md), and how.
const DIFFERENT: [(&str, Instead); 6] = [
    // Labels shorter than the features, in frame mode: CNTK takes those of the next utterance.
    ("mlf-frame-short", Instead::Fails),
    // `[0,3` without `]`.
    ("htk-scp-rev_e", Instead::Fails),
    // Symbolic ids are no errors.
    ("htk-ctf-join", Instead::Same("htk-ctf-join-maxerr")),
    ("mlf-seq-badstate", Instead::Fails),
    ("mlf-nostates-err", Instead::Fails),
    // The last name of a state list needs no newline.
    ("mlf-states-nonewline", Instead::Same("mlf-seq-more")),
];

#[derive(Clone, Copy)]
enum Instead {
    Fails,
    /// The minibatches of another run.
    Same(&'static str),
}

fn is_htk(job: &Value) -> bool {
    job["mode"] == "v1"
        || job["reader"]["deserializers"].as_array().is_some_and(|parts| {
            parts.iter().any(|part| part["type"].as_str().unwrap_or_default().starts_with("HTK"))
        })
}

#[test]
fn every_htk_case_gives_the_minibatches_of_cntk() {
    let Some(golden) = shared("golden/cntk") else { return };
    let manifest: Value =
        serde_json::from_str(&fs::read_to_string(golden.join("manifest.json")).unwrap()).unwrap();
    let jobs = manifest["jobs"].as_array().unwrap();
    let (mut runs, mut failures, mut different, mut wrong) = (0, 0, 0, Vec::new());
    for entry in jobs.iter().filter(|entry| is_htk(&entry["job"])) {
        let mut recorded = recorded(&golden, entry);
        let id = entry["id"].as_str().unwrap();
        let instead = DIFFERENT.iter().find(|(other, _)| *other == id).map(|(_, instead)| *instead);
        if let Some(Instead::Same(other)) = instead {
            let other = jobs.iter().find(|entry| entry["id"] == other).unwrap();
            let expected = crate::cntk::recorded(&golden, other);
            (recorded.minibatches, recorded.error) = (expected.minibatches, expected.error);
        }
        let must_fail = recorded.error.is_some() || matches!(instead, Some(Instead::Fails));
        let problem = match (must_fail, recorded.job["mode"] == "v1") {
            (true, _) => fails(&golden, &recorded),
            (false, true) => compare_section(&golden, &recorded),
            (false, false) => compare(&golden, &recorded),
        };
        runs += 1;
        failures += u32::from(must_fail);
        different += u32::from(instead.is_some());
        if let Err(problem) = problem {
            wrong.push(format!("{id}: {}", &problem[..problem.len().min(600)]));
        }
    }
    assert!(wrong.is_empty(), "{} of {runs} differ:\n{}", wrong.len(), wrong.join("\n"));
    eprintln!(
        "{runs} runs of CNTK's HTK readers, of which {failures} fail, are the same here; {different} \
         of them go otherwise on purpose"
    );
    assert_eq!(runs, 77);
}

/// A reader section, whose minibatches were recorded without keys and ends.
fn compare_section(golden: &Path, recorded: &Recorded) -> Result<(), String> {
    let job = &recorded.job;
    let temporary = tempfile::tempdir().unwrap();
    let reader = temporary.path().join("reader.cntk");
    fs::write(&reader, job["configText"].as_str().unwrap()).unwrap();
    let reader = format!("{}#reader", reader.display());
    let options = options(job, job["minibatchSize"].as_u64().unwrap());
    let mut arguments = vec![reader.as_str()];
    arguments.extend(options.iter().map(String::as_str));
    let found = try_dump(&golden.join("data"), &arguments)?;
    if found.len() != recorded.minibatches.len() {
        return Err(format!("{} minibatches, not {}", found.len(), recorded.minibatches.len()));
    }
    for (number, (expected, found)) in recorded.minibatches.iter().zip(&found).enumerate() {
        for (name, stream) in expected["data"].as_object().unwrap() {
            let ours = &found["streams"][name];
            let dim = ours["dim"].as_u64().unwrap() as usize;
            let sequences = stream["seqs"].as_array().unwrap();
            let mut lengths = ours["lengths"].as_array().unwrap().clone();
            if job["configText"].as_str().unwrap().contains("HTKMLFReader") && sequences.len() == 1
            {
                // In its one row nothing tells where a sequence ends.
                lengths = vec![json!(lengths.iter().filter_map(Value::as_u64).sum::<u64>())];
            }
            let wrong = |what: String| Err(format!("minibatch {number}: {name}: {what}"));
            if sequences.len() != lengths.len() {
                return wrong(format!("{} sequences, not {}", lengths.len(), sequences.len()));
            }
            let mut rows = ours["data"].as_array().unwrap().iter();
            for (sequence, length) in sequences.iter().zip(&lengths) {
                let expected = sequence[2].as_u64().unwrap() - sequence[1].as_u64().unwrap();
                if length.as_u64() != Some(expected) {
                    return wrong(format!("length {length}, not {expected}"));
                }
                let rows: Vec<&Value> = rows.by_ref().take(expected as usize).collect();
                if !same_values(&sequence[3], &rows, Some(dim)) {
                    return wrong(format!("other values in row {}", sequence[0]));
                }
            }
        }
    }
    Ok(())
}

/// FNV-1a over the bytes of a minibatch.
struct Hash(u64);

impl Hash {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(1_099_511_628_211);
        }
    }
}

/// Compares a stream of which only a hash was recorded: over keys, places and values.
pub(crate) fn same_hash(
    job: &Value,
    name: &str,
    stream: &Value,
    found: &Value,
) -> Result<(), String> {
    let truncated = job["reader"]["truncated"] == true;
    let ours = &found["streams"][name];
    let (keys, starts) = (found["keys"].as_array().unwrap(), found["starts"].as_array().unwrap());
    let lengths: Vec<i64> =
        ours["lengths"].as_array().unwrap().iter().map(|length| length.as_i64().unwrap()).collect();
    if stream["nseq"].as_u64() != Some(lengths.len() as u64) {
        return Err(format!("{} sequences, not {}", lengths.len(), stream["nseq"]));
    }
    let width = stream["T"].as_i64().unwrap();
    let whole = if truncated { whole_lengths(job) } else { HashMap::new() };
    let mut used: Vec<i64> = Vec::new();
    let mut rows = ours["data"].as_array().unwrap().iter();
    let mut hash = Hash(1_469_598_103_934_665_603);
    for (piece, &length) in lengths.iter().enumerate() {
        let key = keys[piece].as_str().unwrap();
        let row = match truncated {
            // Row after row is filled.
            true => used.len() - usize::from(used.last().is_some_and(|&used| used < width)),
            false => used.iter().position(|used| used + length <= width).unwrap_or(used.len()),
        };
        if row == used.len() {
            used.push(0);
        }
        let mut begin = used[row];
        used[row] += length;
        let mut end = used[row];
        if truncated {
            begin -= starts[piece].as_i64().unwrap();
            end = begin + whole[key];
        }
        // In CNTK a truncated sequence has the key of the last stream, and labels have none.
        hash.add(if truncated { stream["firstKey"].as_str().unwrap() } else { key }.as_bytes());
        for number in [row as i64, begin, end] {
            hash.add(&number.to_le_bytes());
        }
        for row in rows.by_ref().take(length as usize) {
            let row = row.as_array().unwrap();
            let float = |value: &Value| (value.as_f64().unwrap() as f32).to_le_bytes();
            if ours["kind"] == "dense" {
                row.iter().for_each(|value| hash.add(&float(value)));
            } else if truncated {
                let mut full = vec![0f32; ours["dim"].as_u64().unwrap() as usize];
                for pair in row {
                    full[pair[0].as_u64().unwrap() as usize] = pair[1].as_f64().unwrap() as f32;
                }
                full.iter().for_each(|value| hash.add(&value.to_le_bytes()));
            } else {
                for pair in row {
                    hash.add(&(pair[0].as_i64().unwrap() as i32).to_le_bytes());
                    hash.add(&float(&pair[1]));
                }
                hash.add(&(-1i32).to_le_bytes());
            }
        }
    }
    let found = format!("{:016x}", hash.0);
    (stream["hash"] == found).then_some(()).ok_or(format!("hash {found}, not {}", stream["hash"]))
}

/// Frames of the utterances that the run's script names.
fn whole_lengths(job: &Value) -> HashMap<String, i64> {
    let golden = shared("golden/cntk").unwrap();
    let input = &job["reader"]["deserializers"][0]["input"];
    let script = input.as_object().unwrap().values().next().unwrap()["scpFile"].as_str().unwrap();
    let text = fs::read_to_string(golden.join("data").join(script)).unwrap();
    let of_line = |line: &str| {
        let (key, rest) = line.split_once(".mfc=").unwrap();
        let range = rest.split_once('[').unwrap().1.trim_end_matches(']');
        let (first, last) = range.split_once(',').unwrap();
        let number = |text: &str| text.parse::<i64>().unwrap();
        (key.to_owned(), number(last) - number(first) + 1)
    };
    text.lines().map(of_line).collect()
}

/// Values of a stream, row after row.
fn rows(minibatches: &[Value], stream: &str) -> Vec<Value> {
    let rows = |m: &Value| m["streams"][stream]["data"].as_array().unwrap().clone();
    minibatches.iter().flat_map(rows).collect()
}

#[test]
fn all_forms_of_a_real_corpus_are_the_same() {
    let Some(an4) = shared("data/an4") else { return };
    let htk = an4.join("htk");
    let plain = |name: &str, more: &[&str]| {
        let labels = ["--labels=an4.mlf", "--states=state.list", "--batch-size=64"];
        try_dump(&htk, &[&[name], &labels[..], more].concat()).unwrap()
    };
    for more in [&["--order=sequential"][..], &["--context=5"], &["--unit=sequence", "--seed=3"]] {
        let archive = plain("archive.scp", more);
        assert_eq!(archive, plain("files.scp", more));
        assert_eq!(archive, plain("relative.scp", more));
        assert_eq!(archive, plain("htk:archive.scp", more));
    }
    // The values of Kaldi's form of it.
    let kaldi = ["scp:feats.scp", "--labels=ark:ali.ark", "--order=sequential", "--batch-size=64"];
    let kaldi = try_dump(&an4.join("kaldi"), &kaldi).unwrap();
    let ours = plain("archive.scp", &["--order=sequential"]);
    let base = |key: &Value| key.as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let keys = |minibatches: &[Value]| -> Vec<String> {
        minibatches.iter().flat_map(|m| m["keys"].as_array().unwrap().iter().map(base)).collect()
    };
    assert_eq!(keys(&ours), keys(&kaldi));
    for stream in ["features", "labels"] {
        assert_eq!(rows(&ours, stream), rows(&kaldi, stream), "{stream}");
    }
    // And as a reader of CNTK.
    let reader = |script: &str| {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().join("an4.cntk");
        let text = format!(
            "reader = [ readerType = HTKDeserializers ; randomize = auto\n\
             features = [ dim = 440 ; scpFile = {script} ]\n\
             labels = [ mlfFile = an4.mlf ; labelMappingFile = state.list ; labelDim = 132 ] ]"
        );
        fs::write(&path, text).unwrap();
        try_dump(&htk, &[&path.display().to_string(), "--batch-size=64"]).unwrap()
    };
    let archive = reader("archive.scp");
    assert_eq!(archive[0]["streams"]["features"]["dim"], 440);
    assert_eq!(archive, reader("files.scp"));
    assert_eq!(archive, reader("relative.scp"));
    let mut classes: Vec<i64> =
        rows(&archive, "labels").iter().map(|row| row[0][0].as_i64().unwrap()).collect();
    let mut expected: Vec<i64> =
        rows(&ours, "labels").iter().map(|row| row[0].as_i64().unwrap()).collect();
    classes.sort_unstable();
    expected.sort_unstable();
    assert_eq!(classes, expected);
}

#[test]
fn kinds_of_integers_are_written_again() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    // A waveform, and symbols of two streams.
    for (kind, columns) in [(0u8, 1u8), (10, 2)] {
        let mut file = Vec::new();
        file.extend(4i32.to_be_bytes());
        file.extend(625i32.to_be_bytes());
        file.extend([0, 2 * columns, 0, kind]);
        file.extend((0..4 * i16::from(columns)).flat_map(|i| (i * 3000 - 9000).to_be_bytes()));
        fs::write(at.join("u.htk"), &file).unwrap();
        fs::write(at.join("in.scp"), "u.htk\n").unwrap();
        let sequential = "--order=sequential";
        let expected = try_dump(at, &["htk:in.scp", sequential]).unwrap();
        for sink in ["htk-files:files", "htk:archive"] {
            let output = crate::program::run(at, &["convert", "htk:in.scp", sink]);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let script = format!("{}.scp", sink.split(':').nth(1).unwrap());
            assert_eq!(try_dump(at, &[&script, sequential]).unwrap(), expected, "{sink}");
        }
        // Of one utterance both are that file, byte for byte.
        assert_eq!(fs::read(at.join("files/u.htk")).unwrap(), file);
        assert_eq!(fs::read(at.join("archive.htk")).unwrap(), file);
        fs::remove_dir_all(at.join("files")).unwrap();
        for name in ["files.scp", "archive.scp", "archive.htk"] {
            fs::remove_file(at.join(name)).unwrap();
        }
    }
}

#[test]
fn keys_that_scripts_cannot_say_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    fs::write(at.join("x.ark"), "-u [\n 1 2 ]\n").unwrap();
    for sink in ["htk:out", "htk-files:out"] {
        let output = crate::program::run(at, &["convert", "ark:x.ark", sink]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.contains("-u") && errors.contains("begin with `-`"), "{errors}");
        assert!(!at.join("out.scp").exists() && !at.join("out").exists());
    }
}

#[test]
fn a_script_of_damaged_files_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    fs::write(at.join("bad.mfc"), [0, 0, 0, 9, 0, 1, 134, 160, 0, 4, 0, 9, 1, 2]).unwrap();
    fs::write(at.join("a.scp"), "bad.mfc\n").unwrap();
    let feed = crate::program::run(at, &["feed", "htk:a.scp"]);
    let feed = String::from_utf8_lossy(&feed.stderr).into_owned();
    let reason = feed.lines().next().unwrap().trim_start_matches("error: ").to_owned();
    let check = crate::program::run(at, &["check", "htk:a.scp"]);
    let check = String::from_utf8_lossy(&check.stdout).into_owned();
    assert!(check.contains(&reason) && !check.contains("holds no sequences"), "{feed}\n{check}");
}

/// A small corpus: utterances of 3, 5, 1, 8 and 2 frames, and a section to read them.
fn small(directory: &Path, options: &str) {
    let mut archive = Vec::new();
    archive.extend(19i32.to_be_bytes());
    archive.extend(100_000i32.to_be_bytes());
    archive.extend(4i16.to_be_bytes());
    archive.extend(9i16.to_be_bytes());
    (0..19).for_each(|frame| archive.extend((frame as f32).to_be_bytes()));
    fs::write(directory.join("all.chunk"), archive).unwrap();
    let (mut script, mut labels, mut start) = (String::new(), "#!MLF!#\n".to_owned(), 0);
    for (number, frames) in [3, 5, 1, 8, 2].into_iter().enumerate() {
        script += &format!("u{number}.x=all.chunk[{start},{}]\n", start + frames - 1);
        labels += &format!("\"u{number}.lab\"\n0 {frames} s{}\n.\n", number % 2);
        start += frames;
    }
    fs::write(directory.join("a.scp"), script).unwrap();
    fs::write(directory.join("a.mlf"), labels).unwrap();
    fs::write(directory.join("states"), "s0\ns1\n").unwrap();
    let section = format!(
        "reader = [ {options}\nx = [ dim = 1 ; scpFile = a.scp ]\n\
         y = [ mlfFile = a.mlf ; labelMappingFile = states ; labelDim = 2 ] ]"
    );
    fs::write(directory.join("a.cntk"), section).unwrap();
}

#[test]
fn options_of_the_older_reader() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let counts = |options: &str, more: &[&str]| -> Vec<u64> {
        small(at, options);
        let found = try_dump(at, &[&["a.cntk"], more].concat()).unwrap();
        found.iter().map(|m| m["samples"].as_u64().unwrap()).collect()
    };
    let legacy = "readerType = HTKMLFReader ; ";
    let with = |options: &str| format!("{legacy}{options}");
    assert_eq!(counts(&with(""), &["--batch-size=8"]), [8, 8, 3]);
    assert_eq!(counts(&with("minibatchMode = full"), &["--batch-size=8"]), [8, 8]);
    assert_eq!(counts(&with("minibatchMode = full"), &["--batch-size=80"]), [19]);
    let whole = "frameMode = false ; readMethod = none ; randomize = none ; ";
    assert_eq!(counts(&with(whole), &["--batch-size=8"]), [8, 1, 8, 2]);
    let rows = format!("{whole}nbruttsineachrecurrentiter = 2");
    assert_eq!(counts(&with(&rows), &["--batch-size=8"]), [8, 9, 2]);
    let rows = format!("{whole}nbruttsineachrecurrentiter = 3:2");
    assert_eq!(counts(&with(&rows), &["--batch-size=8"]), [9, 10]);
    assert_eq!(counts(&with("maxUtteranceLength = 4"), &["--batch-size=80"]), [6]);
    let rolling = "readMethod = rollingWindow ; randomize = 6 ; pageFilePath = nowhere";
    assert_eq!(counts(&with(rolling), &["--batch-size=10"]), [10, 9]);
    // A minibatch is T samples of each of two rows; or of so many as fit.
    let truncated =
        "frameMode = false ; truncated = true ; readMethod = none ; randomize = none ; ";
    for legacy in ["readerType = HTKDeserializers ; ", legacy] {
        let two = format!("{legacy}{truncated}nbruttsineachrecurrentiter = 2");
        assert_eq!(counts(&two, &["--batch-size=4"])[0], 8);
        let given = format!("{legacy}{truncated}truncationLength = 2");
        assert_eq!(counts(&given, &["--batch-size=6"])[0], 6);
    }
}

/// The recorded section of whole sequences, with others of its options.
fn recorded_section(golden: &Path, from: &str, to: &str) -> tempfile::TempDir {
    let manifest: Value =
        serde_json::from_str(&fs::read_to_string(golden.join("manifest.json")).unwrap()).unwrap();
    let jobs = manifest["jobs"].as_array().unwrap();
    let job = jobs.iter().find(|job| job["id"] == "v1-HTKMLFReader-seq-auto").unwrap();
    let text = job["job"]["configText"].as_str().unwrap();
    assert!(text.contains(from), "{text}");
    let temporary = tempfile::tempdir().unwrap();
    fs::write(temporary.path().join("r.cntk"), text.replace(from, to)).unwrap();
    temporary
}

#[test]
fn a_minibatch_of_the_older_reader_is_no_larger_than_the_rest_of_the_epoch() {
    let Some(golden) = shared("golden/cntk") else { return };
    let temporary = recorded_section(&golden, "frameMode=false", "frameMode=false");
    let reader = format!("{}#reader", temporary.path().join("r.cntk").display());
    let counts = |epoch: &str| -> Vec<u64> {
        let options = ["--batch-size=32", epoch, "--samples=90"];
        let found =
            try_dump(&golden.join("data"), &[&[reader.as_str()], &options[..]].concat()).unwrap();
        found.iter().map(|m| m["samples"].as_u64().unwrap()).collect()
    };
    // What CNTK gives: of 5 and 17 frames the latter would go beyond the epoch.
    assert_eq!(counts("--epoch=90"), [9, 25, 40, 5, 17]);
}

#[test]
fn rows_of_the_older_reader_get_one_utterance_each_before_they_are_filled() {
    let Some(golden) = shared("golden/cntk") else { return };
    let truncated = "frameMode=false ; truncated=true ; nbruttsineachrecurrentiter=3";
    let temporary = recorded_section(&golden, "frameMode=false", truncated);
    let reader = format!("{}#reader", temporary.path().join("r.cntk").display());
    let found = try_dump(&golden.join("data"), &[reader.as_str(), "--batch-size=12"]).unwrap();
    assert_eq!(found[0]["keys"], json!(["s02/u05", "s01/u10", "s01/u04", "s02/u02"]));
    assert_eq!(found[0]["streams"]["features"]["lengths"], json!([9, 3, 12, 12]));
    // Each sequence comes whole and once, as from the newer reader, whose rows are
    // filled one by one.
    let total =
        |found: &[Value]| -> u64 { found.iter().map(|m| m["samples"].as_u64().unwrap()).sum() };
    let newer = recorded_section(
        &golden,
        "readerType=HTKMLFReader ; readMethod=blockRandomize ; miniBatchMode=partial ; \
         randomize=auto ; frameMode=false",
        &format!("readerType=HTKDeserializers ; randomize=auto ; {truncated}"),
    );
    let reader = format!("{}#reader", newer.path().join("r.cntk").display());
    let others = try_dump(&golden.join("data"), &[reader.as_str(), "--batch-size=12"]).unwrap();
    assert_eq!(others[0]["keys"], json!(["s02/u05", "s01/u04", "s02/u02", "s01/u10", "s00/u00"]));
    assert_eq!(total(&found), total(&others));
}

#[test]
fn a_rolling_window_reads_lengths_from_files() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    small(at, "readerType = HTKMLFReader ; readMethod = rollingWindow ; randomize = none");
    let expected = try_dump(at, &["a.cntk", "--batch-size=5"]).unwrap();
    // The same utterances in a file each, named as the document allows it for this read method.
    let frames = [3, 5, 1, 8, 2];
    let mut script = String::new();
    let mut value = 0;
    for (number, frames) in frames.into_iter().enumerate() {
        let mut file = Vec::new();
        file.extend(i32::to_be_bytes(frames));
        file.extend(100_000i32.to_be_bytes());
        file.extend([0, 4, 0, 9]);
        for _ in 0..frames {
            file.extend((value as f32).to_be_bytes());
            value += 1;
        }
        let name = format!("u{number}.mfc");
        fs::write(at.join(&name), file).unwrap();
        // With another name, and without.
        script +=
            &if number % 2 == 0 { format!("u{number}.x={name}\n") } else { format!("{name}\n") };
    }
    fs::write(at.join("a.scp"), script).unwrap();
    let mut found = try_dump(at, &["a.cntk", "--batch-size=5"]).unwrap();
    assert_eq!(found, expected);
    small(at, "readerType = HTKMLFReader ; readMethod = rollingWindow ; randomize = 6");
    let expected = try_dump(at, &["a.cntk", "--batch-size=5"]).unwrap();
    let plain: String = (0..5).map(|number| format!("u{number}.mfc\n")).collect();
    fs::write(at.join("a.scp"), plain).unwrap();
    found = try_dump(at, &["a.cntk", "--batch-size=5"]).unwrap();
    assert_eq!(found, expected);
    // Other read methods need the frames, as in CNTK; and say which does not.
    let text = fs::read_to_string(at.join("a.cntk")).unwrap();
    fs::write(at.join("a.cntk"), text.replace("rollingWindow", "blockRandomize")).unwrap();
    let error = try_dump(at, &["a.cntk"]).unwrap_err();
    assert!(error.contains("a.scp:1") && error.contains("readMethod=rollingWindow"), "{error}");
}

#[test]
fn sections_that_write_give_one_utterance_after_the_other() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    // As in CNTK's examples: no read method, and labels that are not looked at.
    small(at, "readerType = HTKMLFReader ; randomize = auto");
    let text = fs::read_to_string(at.join("a.cntk")).unwrap();
    fs::write(at.join("a.cntk"), format!("Write = [ action = write\n{text} ]")).unwrap();
    let found = try_dump(at, &["a.cntk#Write.reader", "--batch-size=2"]).unwrap();
    let samples: Vec<&Value> = found.iter().map(|m| &m["samples"]).collect();
    assert_eq!(samples, [3, 5, 1, 8, 2]);
    assert!(found.iter().all(|m| m["streams"]["y"].is_null()));
    // The newer reader wants the read method.
    let text = fs::read_to_string(at.join("a.cntk")).unwrap();
    fs::write(at.join("a.cntk"), text.replace("HTKMLFReader", "HTKDeserializers")).unwrap();
    let error = try_dump(at, &["a.cntk#Write.reader"]).unwrap_err();
    assert!(error.contains("'readMethod' must be 'none' for write action."), "{error}");
}

#[test]
fn a_rolling_window_leaves_no_files() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    small(at, "readerType = HTKMLFReader ; readMethod = rollingWindow ; randomize = 8");
    let names = || {
        let entries = fs::read_dir(at).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = entries.collect();
        names.sort();
        names
    };
    let before = names();
    let found = try_dump(at, &["a.cntk", "--batch-size=19", "--sweeps=2"]).unwrap();
    assert_eq!(names(), before);
    for sweep in &found {
        let mut values: Vec<i64> = rows(std::slice::from_ref(sweep), "x")
            .iter()
            .map(|v| v[0].as_f64().unwrap() as i64)
            .collect();
        assert!(values.iter().enumerate().all(|(at, &value)| (value - at as i64).abs() <= 4));
        values.sort_unstable();
        assert_eq!(values, (0..19).collect::<Vec<_>>());
    }
}

#[test]
fn wrong_inputs_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let fails = |arguments: &[&str], words: &[&str]| {
        let output = crate::program::run(at, &[&["feed"], arguments].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{arguments:?}: {errors}");
        for word in words {
            assert!(errors.contains(word), "no `{word}` in: {errors}");
        }
    };
    let edit = |file: &str, from: &str, to: &str| {
        small(at, "readerType = HTKDeserializers");
        let text = fs::read_to_string(at.join(file)).unwrap();
        assert!(text.contains(from));
        fs::write(at.join(file), text.replacen(from, to, 1)).unwrap();
    };
    let plain = ["a.scp", "--labels=a.mlf", "--states=states"];
    for run in [&["a.cntk"][..], &plain] {
        edit("a.scp", "all.chunk[9,16]", "gone.chunk[9,16]");
        fails(run, &["gone.chunk"]);
        edit("a.scp", "[17,18]", "[17,19]");
        fails(run, &["a.scp:5", "19"]);
        edit("a.scp", "[17,18]", "[18,17]");
        edit("a.mlf", "0 5 s1", "0 2 s1\n3 5 s0");
        fails(run, &["a.mlf:7", "u1"]);
        edit("a.mlf", "0 5 s1", "0 5 s9");
        fails(run, &["a.mlf:6", "u1", "s9"]);
        edit("a.mlf", "0 5 s1", "0 4 s1");
        fails(run, &["u1", "4 samples"]);
        edit("a.mlf", "#!MLF!#", "MLF");
        fails(run, &["a.mlf"]);
    }
    // Passed over where that is allowed, and said.
    edit("a.mlf", "0 5 s1", "0 4 s1");
    let allowed = [&plain[..], &["--errors=1", "--batch-size=80"]].concat();
    let found = try_dump(at, &allowed).unwrap();
    assert_eq!(found[0]["samples"], 14);
    small(
        at,
        "readerType = HTKDeserializers ; maxErrors = 1 ; readMethod = none ; randomize = none",
    );
    let text = fs::read_to_string(at.join("a.mlf")).unwrap();
    fs::write(at.join("a.mlf"), text.replace("0 5 s1", "0 4 s1")).unwrap();
    let found = try_dump(at, &["a.cntk", "--batch-size=6"]).unwrap();
    let counts: Vec<u64> = found.iter().map(|m| m["samples"].as_u64().unwrap()).collect();
    // Its frames keep their places: those of 3 to 7 are missing.
    assert_eq!(counts, [3, 4, 6, 1]);
    edit("a.cntk", "dim = 1 ", "dim = 2 ");
    fails(&["a.cntk"], &["a.scp", "2 values"]);
    edit("a.cntk", "labelDim = 2", "labelDim = 1");
    fails(&["a.cntk"], &["a.mlf:6", "below 1"]);
    fails(&["a.scp", "--labels=a.scp"], &["labels stand in master label files"]);
    fails(&["htk:states"], &["s0", "named in states, line 1"]);
    fails(&["htk:none.scp"], &["none.scp"]);
    fails(&["scp:a.scp"], &["a.scp"]);
}

#[test]
fn the_digits_in_htk_s_files_are_those_in_kaldi_s() {
    let examples = examples();
    let order = ["--order=sequential", "--batch-size=100000", "--sweeps=1"];
    let kaldi = |context: &str| {
        dump(&examples, &[&["digits/train.toml", "--unit=frame", context], &order[..]].concat())
    };
    let plain = kaldi("--context=0");
    let labels: Vec<Value> = values(&plain, "labels")[..478].to_vec();
    let script = ["digits/htk/train.scp", "--labels=digits/htk/train.mlf", "--unit=frame"];
    let htk = [&script[..], &["--states=digits/htk/train.states"], &order[..]].concat();
    let htk = dump(&examples, &htk);
    assert_eq!(values(&htk, "features"), values(&plain, "features")[..478]);
    assert_eq!(values(&htk, "labels"), labels);
    let cntk = dump(&examples, &[&["digits/train.cntk#TrainFrames.reader"], &order[..]].concat());
    assert_eq!(values(&cntk, "features"), values(&kaldi("--context=5"), "features")[..478]);
    let classes = values(&cntk, "labels").into_iter().map(|pairs| json!([pairs[0][0]]));
    assert_eq!(classes.collect::<Vec<_>>(), labels);
}

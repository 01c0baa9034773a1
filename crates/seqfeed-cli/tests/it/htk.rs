//! The same minibatches as CNTK 2.7 from HTK's files, from the readers' own settings.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::cntk::{Recorded, compare, fails, options, recorded, same_values};
use crate::program::{shared, try_dump};

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
            if job["configText"].as_str().unwrap().contains("HTKMLFReader") && sequences.len() == 1 {
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

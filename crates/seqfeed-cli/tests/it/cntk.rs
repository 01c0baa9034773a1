//! The same minibatches as CNTK 2.7, from the readers' own settings.

use std::fs;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use serde_json::{Value, json};

use crate::program::{dump, examples, run, shared, try_dump};

/// What CNTK recorded of one run.
pub(crate) struct Recorded {
    pub(crate) job: Value,
    pub(crate) minibatches: Vec<Value>,
    pub(crate) error: Option<String>,
}

pub(crate) fn recorded(golden: &Path, entry: &Value) -> Recorded {
    let file = fs::File::open(golden.join(entry["output"].as_str().unwrap())).unwrap();
    let mut text = String::new();
    MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
    let text = text.replace("Infinity", "1e300").replace("\"inf\"", "1e300");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let (mut minibatches, mut error) = (Vec::new(), None);
    for line in lines {
        if let Some(message) = line["error"].as_str() {
            error = Some(message.to_owned());
        }
        // What has no data is no minibatch.
        if line["data"].as_object().is_some_and(|data| !data.is_empty()) {
            minibatches.push(line);
        }
    }
    Recorded { job: entry["job"].clone(), minibatches, error }
}

/// Whether all parts of a run are in CTF.
fn is_ctf(job: &Value) -> bool {
    job["reader"]["deserializers"]
        .as_array()
        .is_some_and(|parts| parts.iter().all(|part| part["type"] == "CNTKTextFormatDeserializer"))
}

/// The options that stand for what the API of CNTK was called with.
pub(crate) fn options(job: &Value, size: u64) -> Vec<String> {
    let mut options = vec![format!("--batch-size={size}")];
    let number = |name: &str| job[name].as_u64();
    if let (Some(ranks), Some(rank)) = (number("numWorkers"), number("workerRank")) {
        options.extend([format!("--ranks={ranks}"), format!("--rank={rank}")]);
    }
    let epochs = number("epochs").unwrap_or(1);
    match (number("maxSweeps"), &job["epochSize"]) {
        (Some(sweeps), _) => options.push(format!("--sweeps={sweeps}")),
        (None, Value::Number(samples)) => {
            let samples = samples.as_u64().unwrap();
            options
                .extend([format!("--epoch={samples}"), format!("--samples={}", samples * epochs)]);
        }
        (None, _) => options.extend(["--epoch=sweep".into(), format!("--sweeps={epochs}")]),
    }
    // CNTK takes it for every reader; here it is refused where it has no effect.
    let in_text = |text: &str| text.to_lowercase().replace(' ', "").contains("truncated=true");
    let truncated =
        job["reader"]["truncated"] == true || job["configText"].as_str().is_some_and(in_text);
    let several = job["numWorkers"].as_u64().is_some_and(|ranks| ranks > 1);
    if job["allowCrossSweep"] == false && (several || !truncated) {
        options.push("--cross-sweeps=false".into());
    }
    if let Some(start) = job["restoreState"]["minibatchSourcePosition"].as_u64() {
        options.push(format!("--start={start}"));
    }
    options
}

#[test]
fn every_ctf_case_gives_the_minibatches_of_cntk() {
    let Some(golden) = shared("golden/cntk") else { return };
    let manifest: Value =
        serde_json::from_str(&fs::read_to_string(golden.join("manifest.json")).unwrap()).unwrap();
    let (mut runs, mut failures, mut wrong) = (0, 0, Vec::new());
    for entry in manifest["jobs"].as_array().unwrap() {
        if !is_ctf(&entry["job"]) {
            continue;
        }
        let recorded = recorded(&golden, entry);
        let id = entry["id"].as_str().unwrap();
        let problem = match recorded.error {
            Some(_) => fails(&golden, &recorded),
            None => compare(&golden, &recorded),
        };
        runs += 1;
        failures += u32::from(recorded.error.is_some());
        if let Err(problem) = problem {
            wrong.push(format!("{id}: {problem}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {runs} differ:\n{}", wrong.len(), wrong.join("\n"));
    eprintln!("{runs} runs of CNTK's CTF readers, of which {failures} fail, are the same here");
    assert!(runs >= 80, "{runs} runs");
}

/// Where the run's files lie, and the reader's settings in a file.
fn prepare(golden: &Path, job: &Value) -> (std::path::PathBuf, tempfile::TempDir, String) {
    let directory = match job["cwd"].as_str().unwrap() {
        "@CTF@" => golden.join("ctf"),
        _ => golden.join("data"),
    };
    let temporary = tempfile::tempdir().unwrap();
    let (name, text) = match job["configText"].as_str() {
        Some(text) => ("reader.cntk", text.to_owned()),
        None => ("reader.json", job["reader"].to_string()),
    };
    let reader = temporary.path().join(name);
    fs::write(&reader, text).unwrap();
    let reader = reader.display().to_string();
    (directory, temporary, reader)
}

pub(crate) fn fails(golden: &Path, recorded: &Recorded) -> Result<(), String> {
    let job = &recorded.job;
    let (directory, _temporary, reader) = prepare(golden, job);
    let options = options(job, job["minibatchSize"].as_u64().unwrap());
    let mut arguments = vec!["feed", "--dump", "jsonl", reader.as_str()];
    arguments.extend(options.iter().map(String::as_str));
    let output = run(&directory, &arguments);
    let message = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        return Err(format!("CNTK fails ({}), we don't", recorded.error.as_deref().unwrap()));
    }
    match output.status.code() {
        Some(1 | 2) if message.starts_with("error: ") || message.contains("\nerror: ") => Ok(()),
        _ => Err(format!("not an error: {message}")),
    }
}

pub(crate) fn compare(golden: &Path, recorded: &Recorded) -> Result<(), String> {
    let job = &recorded.job;
    let (directory, _temporary, reader) = prepare(golden, job);
    let mut size = job["minibatchSize"].as_u64().unwrap();
    let changes = job["changes"].as_array().cloned().unwrap_or_default();
    let most = job["maxMinibatches"].as_u64().unwrap_or(u64::MAX) as usize;
    let mut found = Vec::new();
    if changes.is_empty() {
        let options = options(job, size);
        let mut arguments = vec![reader.as_str()];
        arguments.extend(options.iter().map(String::as_str));
        found = try_dump(&directory, &arguments)?;
    } else if changes.iter().all(|change| change["state"].is_null()) {
        // Each change is a run of its own that begins where the one before was left.
        for at in 0..=changes.len() {
            let mut arguments = vec![reader.clone()];
            arguments.extend(options(job, size));
            if let Some(last) = found.len().checked_sub(1) {
                let position = &recorded.minibatches[last]["state"]["minibatchSourcePosition"];
                arguments.push(format!("--start={position}"));
            }
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let until = changes.get(at).and_then(|change| change["at"].as_u64());
            let count = until.map_or(usize::MAX, |until| until as usize - found.len());
            found.extend(dump(&directory, &arguments).into_iter().take(count));
            if let Some(change) = changes.get(at) {
                size = change["minibatchSize"].as_u64().unwrap_or(size);
            }
        }
    } else {
        return compare_rollback(&directory, &reader, recorded, size);
    }
    // Those whose sequences are all invalid have no data.
    found.retain(|minibatch| minibatch["keys"].as_array().is_some_and(|keys| !keys.is_empty()));
    found.truncate(most);
    same(&recorded.minibatches, &found, job)
}

/// CNTK forgets the seed when it goes back inside a sweep; we don't: so what comes after is what
/// came the first time.
fn compare_rollback(
    directory: &Path,
    reader: &str,
    recorded: &Recorded,
    size: u64,
) -> Result<(), String> {
    let job = &recorded.job;
    let change = &job["changes"][0];
    let at = change["at"].as_u64().unwrap() as usize;
    let options = options(job, size);
    let mut arguments = vec![reader];
    arguments.extend(options.iter().map(String::as_str));
    let first = dump(directory, &arguments);
    same(&recorded.minibatches[..at], &first[..at], job)?;
    let start = format!("--start={}", change["state"]["minibatchSourcePosition"]);
    arguments.push(&start);
    let again = dump(directory, &arguments);
    let keys = |minibatches: &[Value]| -> Vec<Value> {
        minibatches.iter().flat_map(|m| m["keys"].as_array().unwrap().clone()).collect()
    };
    let (first, again) = (keys(&first), keys(&again));
    if first[first.len() - again.len()..] != again {
        return Err("another order after going back".into());
    }
    Ok(())
}

fn same(expected: &[Value], found: &[Value], job: &Value) -> Result<(), String> {
    if expected.len() != found.len() {
        return Err(format!("{} minibatches, not {}", found.len(), expected.len()));
    }
    for (number, (expected, found)) in expected.iter().zip(found).enumerate() {
        let wrong = |what: String| Err(format!("minibatch {number}: {what}"));
        if expected["sweepEnd"] != found["end_of_sweep"] {
            return wrong(format!("the end of the sweep is {}", expected["sweepEnd"]));
        }
        let streams = expected["data"].as_object().unwrap();
        if streams.len() != found["streams"].as_object().unwrap().len() {
            return wrong("other streams".into());
        }
        for (name, stream) in streams {
            if stream["hash"].is_string() {
                crate::htk::same_hash(job, name, stream, found)
                    .map_err(|what| format!("minibatch {number}: {name}: {what}"))?;
                continue;
            }
            let sequences = stream["seqs"].as_array().unwrap();
            let keys: Vec<&Value> = sequences.iter().map(|sequence| &sequence[0]).collect();
            // Label files give CNTK no keys, and the last stream's count there.
            let last = job["reader"]["deserializers"].as_array().and_then(|all| all.last());
            let without = job["reader"]["truncated"] == true
                && last.is_some_and(|last| last["type"] == "HTKMLFDeserializer");
            if !without && keys != found["keys"].as_array().unwrap().iter().collect::<Vec<_>>() {
                return wrong(format!("keys {:?}, not {keys:?}", found["keys"]));
            }
            let ours = &found["streams"][name];
            let mut rows = ours["data"].as_array().unwrap().iter();
            let lengths = ours["lengths"].as_array().unwrap();
            for (sequence, length) in sequences.iter().zip(lengths) {
                let begin = sequence[2].as_i64().unwrap().max(0);
                let end = sequence[3].as_i64().unwrap().min(stream["T"].as_i64().unwrap());
                if length.as_i64() != Some(end - begin) {
                    return wrong(format!("{name} {}: length {length}", sequence[0]));
                }
                let rows: Vec<&Value> = rows.by_ref().take((end - begin) as usize).collect();
                let dense = stream_is_dense_there(job, ours);
                let dim = ours["dim"].as_u64().unwrap() as usize;
                if !same_values(&sequence[4], &rows, dense.then_some(dim)) {
                    return wrong(format!(
                        "{name} {}: {}, not {}",
                        sequence[0],
                        json!(rows),
                        sequence[4]
                    ));
                }
            }
        }
    }
    Ok(())
}

/// CNTK makes sparse data dense when it truncates sequences; we never do.
fn stream_is_dense_there(job: &Value, ours: &Value) -> bool {
    job["reader"]["truncated"] == true || ours["kind"] == "dense"
}

/// Whether values are the same; `dense` is the dim where CNTK gave dense values.
pub(crate) fn same_values(expected: &Value, rows: &[&Value], dense: Option<usize>) -> bool {
    let pairs = |row: &Value| -> Vec<(i32, f32)> {
        let pairs = row.as_array().unwrap().iter();
        let pair =
            |pair: &Value| (pair[0].as_i64().unwrap() as i32, pair[1].as_f64().unwrap() as f32);
        pairs.map(pair).collect()
    };
    let full = |row: &Value, dim: usize| -> Vec<f32> {
        let values = row.as_array().unwrap();
        if values.first().is_none_or(Value::is_array) {
            let mut full = vec![0.0; dim];
            for (index, value) in pairs(row) {
                full[index as usize] = value;
            }
            return full;
        }
        values.iter().map(|value| value.as_f64().unwrap() as f32).collect()
    };
    if let Some(hash) = expected.as_str() {
        let hash_of = |value: fn(f32) -> f32| {
            let mut found = 1469598103934665603u64;
            let mut add = |bytes: [u8; 4]| {
                for byte in bytes {
                    found = (found ^ u64::from(byte)).wrapping_mul(1099511628211);
                }
            };
            for row in rows {
                match dense {
                    Some(dim) => {
                        full(row, dim).iter().for_each(|&v| add(value(v).to_le_bytes()));
                    }
                    None => {
                        for (index, v) in pairs(row) {
                            add(index.to_le_bytes());
                            add(value(v).to_le_bytes());
                        }
                        add((-1i32).to_le_bytes());
                    }
                }
            }
            format!("{found:016x}")
        };
        return hash == hash_of(|value| value) || hash == hash_of(as_cntk_computes);
    }
    let number = |value: &Value| value.as_f64().unwrap() as f32;
    match dense {
        Some(dim) => {
            let expected: Vec<f32> = expected.as_array().unwrap().iter().map(number).collect();
            expected == rows.iter().flat_map(|row| full(row, dim)).collect::<Vec<f32>>()
        }
        None => {
            let expected = expected.as_array().unwrap();
            expected.len() == rows.len()
                && expected.iter().zip(rows).all(|(expected, row)| {
                    let flat: Vec<f32> = expected.as_array().unwrap().iter().map(number).collect();
                    let pairs = pairs(row);
                    flat == pairs.iter().flat_map(|&(i, v)| [i as f32, v]).collect::<Vec<f32>>()
                })
        }
    }
}

/// What CNTK's arithmetic makes of the six digits that stand in the files for a value: it is not
/// always the nearest float.
fn as_cntk_computes(value: f32) -> f32 {
    let scientific = format!("{:.5e}", value.abs());
    let (digits, exponent) = scientific.split_once('e').unwrap();
    let exponent: i32 = exponent.parse().unwrap();
    let (text, exponent) = match exponent {
        -4..6 => (format!("{:.*}", (5 - exponent) as usize, value.abs()), 0),
        _ => (digits.to_owned(), exponent),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let fraction = fraction.trim_end_matches('0');
    let number = |digits: &str| digits.bytes().fold(0.0, |n, d| n * 10.0 + f64::from(d - b'0'));
    let divisor = fraction.bytes().fold(1.0, |divisor, _| divisor * 10.0);
    let mut found = number(whole) + number(fraction) / divisor;
    if exponent != 0 {
        found *= 10f64.powf(f64::from(exponent));
    }
    (found as f32).copysign(value)
}

/// The values of a stream, sequence after sequence.
pub(crate) fn values(minibatches: &[Value], stream: &str) -> Vec<Value> {
    let rows = |m: &Value| m["streams"][stream]["data"].as_array().unwrap().clone();
    minibatches.iter().flat_map(rows).collect()
}

#[test]
fn the_digits_in_ctf_are_those_in_kaldi_s_files() {
    let examples = examples();
    let order = ["--order=sequential", "--batch-size=100000"];
    let kaldi = [&["digits/train.toml", "--context=0"], &order[..], &["--sweeps=1"]].concat();
    let kaldi = dump(&examples, &kaldi);
    for name in ["digits/train.ctf", "digits/train.cntk#Train.reader"] {
        let ctf = dump(&examples, &[&[name], &order[..]].concat());
        let features = values(&ctf, "features");
        assert_eq!(features.len(), 1028, "{name}");
        assert_eq!(features, values(&kaldi, "features")[..1028], "{name}");
        let labels = values(&ctf, "labels").into_iter().map(|pairs| json!([pairs[0][0]]));
        assert_eq!(labels.collect::<Vec<_>>(), values(&kaldi, "labels")[..1028], "{name}");
        assert_eq!(ctf[0]["streams"]["labels"]["kind"], "sparse");
    }
}

#[test]
fn a_wrong_section_names_the_right_ones_and_a_wrong_option_the_known_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    fs::write(path.join("a.ctf"), "1 |x 1\n1 |x 2\n2 |x 3 |y 4\n").unwrap();
    let reader = "readerType=CNTKTextFormatReader\nfile=a.ctf\nrandomise=false\n\
                  input=[x=[dim=1;format=dense]]";
    fs::write(path.join("a.cntk"), format!("One=[reader=[{reader}]]\n")).unwrap();
    let output = run(path, &["feed", "a.cntk#Two.reader"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && message.contains("One.reader"), "{message}");
    let output = run(path, &["feed", "a.cntk#one.READER"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && message.contains("is randomize meant?"), "{message}");
    let output = run(path, &["feed", "a.cntk", "--missing=stop"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && message.contains("missing"), "{message}");
    // An error says where, with the text, and what can be done.
    fs::write(path.join("a.ctf"), "1 |x 1\n1 |x 2 z\n").unwrap();
    let output = run(path, &["feed", "a.cntk"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("maximum number of allowed errors"), "{message}");
    assert!(message.contains("a.ctf") && message.contains("maxErrors"), "{message}");
}

#[test]
fn inputs_of_a_bare_file_can_be_named_and_it_can_be_compressed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let text = "0 |F 0.5 1 |L 3:1\n0 |F 2 3\n1 |F 4 5 |L 0:1\n";
    let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut zipped, text.as_bytes()).unwrap();
    fs::write(path.join("a.ctf"), text).unwrap();
    fs::write(path.join("a.ctf.gz"), zipped.finish().unwrap()).unwrap();
    fs::write(
        path.join("corpus.toml"),
        "reader = 'a.ctf'\n[feed]\norder = 'sequential'\n[inputs.features]\nalias = 'F'\ndim = 2\n\
         format = 'dense'\n[inputs.label]\nalias = 'L'\ndim = 9\nformat = 'sparse'\n",
    )
    .unwrap();
    let found = dump(path, &["a.ctf", "--order=sequential"]);
    assert_eq!(dump(path, &["a.ctf.gz", "--order=sequential"]), found);
    assert_eq!(found[0]["streams"]["L"]["dim"], 4);
    // From another directory: names in a description are relative to it.
    let named = dump(Path::new("/"), &[path.join("corpus.toml").to_str().unwrap()]);
    assert_eq!(named[0]["keys"], json!(["0", "1"]));
    assert_eq!(values(&named, "features"), values(&found, "F"));
    assert_eq!(named[0]["streams"]["label"]["dim"], 9);
    assert_eq!(named[0]["streams"]["label"]["lengths"], json!([1, 1]));
}

/// Writes a file, also compressed, and a reader of it with input `x` of dimension 2.
fn write_reader(path: &Path, text: &str, max_errors: u64) {
    let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut zipped, text.as_bytes()).unwrap();
    fs::write(path.join("x.ctf"), text).unwrap();
    fs::write(path.join("x.ctf.gz"), zipped.finish().unwrap()).unwrap();
    for name in ["x.ctf", "x.ctf.gz"] {
        let reader = json!({
            "randomize": false,
            "deserializers": [{
                "type": "CNTKTextFormatDeserializer", "file": name, "maxErrors": max_errors,
                "input": {"x": {"dim": 2, "format": "dense"}},
            }],
        });
        fs::write(path.join(format!("{name}.json")), reader.to_string()).unwrap();
    }
}

#[test]
fn errors_and_warnings_show_the_line_of_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let cases = [
        // The line is that of the file, not of the sequence.
        ("1 |x 1 2\n2 |x 3 4\n2 |x 5 nan\n", ":3:8 (key 2)", " 3 | 2 |x 5 nan\n   |        ^\n"),
        ("\n\n1 |x 1 2\r\n2 |x 1 2 3\r\n", ":4:3 (key 2)", " 4 | 2 |x 1 2 3\n   |   ^\n"),
        ("1 |x 1 2\n2 |y 1 2\n", ":2:1 (key 2)", " 2 | 2 |y 1 2\n   | ^\n"),
        // The indexer's.
        ("\n x |x 1 2\n", ":2:2", " 2 |  x |x 1 2\n   |  ^\n"),
    ];
    for (text, place, quote) in cases {
        write_reader(path, text, 0);
        for name in ["x.ctf", "x.ctf.gz"] {
            let output = run(path, &["feed", &format!("{name}.json")]);
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(1), "{message}");
            assert!(message.contains(&format!("--> {name}{place}\n")), "{text}: {message}");
            assert!(message.contains(quote), "{text}: {message}");
        }
    }
    write_reader(path, cases[0].0, 1_000_000);
    for name in ["x.ctf", "x.ctf.gz"] {
        let output = run(path, &["feed", &format!("{name}.json")]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{message}");
        let warning = format!("{name}:3:8: a value is not a number: \"nan\"");
        assert!(message.contains(&warning), "{message}");
    }
}

#[test]
fn each_rank_can_have_an_order_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let lines = (0..60).map(|i| format!("{i} |x {i} 1\n"));
    fs::write(path.join("x.ctf"), lines.collect::<String>()).unwrap();
    fs::write(
        path.join("corpus.toml"),
        "reader = 'reader.json'\npreset = 'cntk-timeline'\n[feed]\nwindow = '2 chunks'\n\
         [ranks]\nranks = 2\n",
    )
    .unwrap();
    let reader = json!({"deserializers": [{
        "type": "CNTKTextFormatDeserializer", "file": "x.ctf", "chunkSizeInBytes": 60,
        "input": {"x": {"dim": 2, "format": "dense"}},
    }]});
    fs::write(path.join("reader.json"), reader.to_string()).unwrap();
    let mut keys = Vec::new();
    for rank in ["--rank=0", "--rank=1"] {
        let minibatches = dump(path, &["corpus.toml", "--batch-size=8", rank]);
        assert!(minibatches.iter().all(|minibatch| minibatch["samples"].as_u64() <= Some(4)));
        let state = ["--state=s.json", "corpus.toml", "--batch-size=8", rank];
        let first = dump(path, &[&state[..], &["--samples=24"]].concat());
        assert!(!first.is_empty() && first[..] == minibatches[..first.len()]);
        let rest = dump(path, &state);
        assert_eq!(rest[..], minibatches[first.len()..]);
        fs::remove_file(path.join("s.json")).unwrap();
        for minibatch in minibatches {
            keys.extend(minibatch["keys"].as_array().unwrap().iter().cloned());
        }
    }
    let mut numbers: Vec<u64> =
        keys.iter().map(|key| key.as_str().unwrap().parse().unwrap()).collect();
    assert!(!numbers.is_sorted());
    numbers.sort_unstable();
    assert_eq!(numbers, (0..60).collect::<Vec<u64>>());
}

#[test]
fn a_bad_sequence_of_data_kept_in_memory_is_blamed_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    fs::write(path.join("a.ctf"), "0 |x 1\n1 |x 3\n2 |x abc\n3 |x 7\n4 |x 9\n").unwrap();
    for keep in [true, false] {
        let reader = json!({"keepDataInMemory": keep, "deserializers": [{
            "type": "CNTKTextFormatDeserializer", "file": "a.ctf",
            "input": {"x": {"dim": 1, "format": "dense"}},
        }]});
        fs::write(path.join("r.json"), reader.to_string()).unwrap();
        let checked = run(path, &["check", "r.json", "--json"]);
        let found: Value = serde_json::from_slice(&checked.stdout).unwrap();
        let said: Vec<&Value> = found["findings"].as_array().unwrap().iter().collect();
        assert_eq!(said.len(), 1, "keepDataInMemory = {keep}: {said:?}");
        assert_eq!(said[0]["key"], "2");
        let shown = run(path, &["show", "r.json", "1"]);
        assert!(shown.status.success() && !run(path, &["show", "r.json", "2"]).status.success());
        let fixed = format!("fixed-{keep}");
        run(path, &["check", "r.json", "--fix", &fixed]);
        assert_eq!(
            dump(path, &[&format!("{fixed}/corpus.toml"), "--unit=sequence", "--batch-size=9"])[0]
                ["keys"]
                .as_array()
                .map(Vec::len),
            Some(4)
        );
    }
}

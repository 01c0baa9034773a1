//! Files that Kaldi wrote, against the values it says they hold.

use std::fs;
use std::path::Path;

use npyz::npz::NpzArchive;
use seqfeed_core::{Element, Key};
use seqfeed_io::Opener;
use seqfeed_kaldi::{Matrix, TableOptions, TableWriter};
use serde_json::Value;

use crate::tables::{Contents, contents, features, labels, shared, whole};

/// The arrays `k0`, `k1`, ... as bytes of 32- or 64-bit floats.
fn expected(path: &Path, keys: &[String], element: Element) -> Contents {
    let mut archive = NpzArchive::open(path).unwrap();
    let mut contents = Contents::new();
    for (number, key) in keys.iter().enumerate() {
        let array = archive.by_name(&format!("k{number}")).unwrap().unwrap();
        let values: Vec<f64> = match array.dtype().descr().as_str() {
            "'<f4'" => array.into_vec::<f32>().unwrap().into_iter().map(f64::from).collect(),
            _ => array.into_vec::<f64>().unwrap(),
        };
        let bytes = values.into_iter().flat_map(|value| match element {
            Element::F64 => value.to_ne_bytes().to_vec(),
            _ => (value as f32).to_ne_bytes().to_vec(),
        });
        contents.push((key.clone(), bytes.collect()));
    }
    contents
}

/// Compares bit for bit, except that any NaN equals any other.
fn compare(found: &Contents, expected: &Contents, what: &str) {
    let keys =
        |contents: &Contents| contents.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>();
    // Keys that are no text are shown escaped.
    if !what.contains("keys") {
        assert_eq!(keys(found), keys(expected), "{what}");
    }
    assert_eq!(found.len(), expected.len(), "{what}");
    for ((key, found), (_, expected)) in found.iter().zip(expected) {
        assert_eq!(found.len(), expected.len(), "{what} {key}");
        for (a, b) in found.chunks_exact(4).zip(expected.chunks_exact(4)) {
            let nan = |bytes: &[u8]| f32::from_ne_bytes(bytes.try_into().unwrap()).is_nan();
            assert!(a == b || (nan(a) && nan(b)), "{what} {key}");
        }
    }
}

#[test]
fn values_equal_kaldi_bit_for_bit() {
    let Some(golden) = shared("golden/kaldi") else { return };
    let manifest = fs::read_to_string(golden.join("manifest.json")).unwrap();
    let manifest: Vec<Value> = serde_json::from_str(&manifest).unwrap();
    let mut compared = 0;
    for entry in &manifest {
        let (Some(file), Some(expect)) = (entry["file"].as_str(), entry["expected"].as_str())
        else {
            continue;
        };
        if !expect.ends_with(".npz") || !file.starts_with("ark/") {
            continue;
        }
        let keys: Vec<String> = match entry["keys"].as_array() {
            Some(keys) => keys.iter().map(|key| key.as_str().unwrap().to_owned()).collect(),
            None => continue,
        };
        let name = Path::new(file).file_stem().unwrap().to_string_lossy().into_owned();
        let vectors = ["bfv", "dv", "fv"].iter().any(|prefix| name.starts_with(prefix))
            || name.starts_with("ranges_vec");
        let double = name.starts_with("dm.") || name.starts_with("dv.");
        let kind = if file.ends_with(".scp") { "scp" } else { "ark" };
        // Files of the tests of Kaldi's own I/O tool hold other objects; text keeps 7 digits, and
        // `expected` is what was written.
        let text = entry["mode"].as_str().is_some_and(|mode| mode.starts_with("text"));
        let lossy = text && kind == "ark" && !file.contains("crlf") && !file.contains("mixed");
        if lossy || (text && name.contains("txt")) || file.contains("npy") || name == "tolerant" {
            continue;
        }
        // Names of it are commands.
        if file == "ark/mixed.scp" {
            continue;
        }
        // Elements become samples of one value: dims may differ from vector to vector.
        let mut options = features(&golden);
        options.element = if double { Element::F64 } else { Element::F32 };
        let found = match contents(&format!("{kind}:{file}"), &options) {
            Ok(found) => found,
            Err(error) if error.message().contains("columns (the number") => {
                // A table of matrices of different widths, as no corpus has: one by one.
                one_by_one(&golden, file, kind, &options)
            }
            Err(error) => panic!("{file}: {error}"),
        };
        assert!(!vectors || !found.is_empty());
        let expected = expected(&golden.join(expect), &keys, options.element);
        compare(&found, &expected, file);
        compared += 1;
    }
    assert!(compared >= 20, "{compared} files compared");
}

/// Opens each object of a table as a table of its own.
fn one_by_one(golden: &Path, file: &str, kind: &str, options: &TableOptions) -> Contents {
    let script = match kind {
        "scp" => fs::read_to_string(golden.join(file)).unwrap(),
        _ => archive_to_script(golden, file),
    };
    let directory = tempfile::tempdir().unwrap();
    let mut all = Contents::new();
    for line in script.lines() {
        let (key, name) = line.trim().split_once(char::is_whitespace).unwrap();
        let path = directory.path().join("one.scp");
        let name = name.trim();
        // Names in the golden script files are relative to the golden directory.
        fs::write(&path, format!("{key} {}/{name}\n", golden.display())).unwrap();
        all.extend(contents(&format!("scp:{}", path.display()), options).unwrap_or_else(|error| {
            panic!("{file}: {line}: {error}");
        }));
    }
    all
}

/// A script file to a binary archive, by looking for its keys.
fn archive_to_script(golden: &Path, file: &str) -> String {
    // An offset into a compressed file counts decoded bytes.
    let bytes = fs::read(golden.join(file.trim_end_matches(".gz"))).unwrap();
    let manifest = fs::read_to_string(golden.join("manifest.json")).unwrap();
    let manifest: Vec<Value> = serde_json::from_str(&manifest).unwrap();
    let entry = manifest.iter().find(|entry| entry["file"] == file).unwrap();
    let mut script = String::new();
    let mut from = 0;
    for key in entry["keys"].as_array().unwrap() {
        let key = key.as_str().unwrap();
        let mark = [key.as_bytes(), b" "].concat();
        let at = bytes[from..].windows(mark.len()).position(|window| window == mark);
        let at = at.unwrap_or_else(|| panic!("no {key} in {file}"));
        from += at + mark.len();
        script += &format!("{key} {file}:{from}\n");
    }
    script
}

#[test]
fn integers_and_scalars() {
    let Some(golden) = shared("golden/kaldi") else { return };
    let ints = |contents: Contents| {
        let values = contents.into_iter().map(|(key, bytes)| {
            let values = bytes.chunks_exact(4).map(|v| i32::from_ne_bytes(v.try_into().unwrap()));
            (key, values.collect::<Vec<_>>())
        });
        values.collect::<Vec<_>>()
    };
    let text = fs::read_to_string(golden.join("inputs/i32v.src.txt")).unwrap();
    let expected: Vec<(String, Vec<i32>)> = text
        .lines()
        .map(|line| {
            let mut words = line.split_whitespace();
            let key = words.next().unwrap().to_owned();
            (key, words.map(|word| word.parse().unwrap()).collect())
        })
        .collect();
    for file in ["ark:ark/i32v.bin.ark", "ark:ark/i32v.txt.ark"] {
        assert_eq!(ints(contents(file, &labels(&golden)).unwrap()), expected, "{file}");
    }
    let options = whole(labels(&golden));
    let binary = ints(contents("ark:ark/i32.bin.ark", &options).unwrap());
    assert_eq!(binary, ints(contents("ark:ark/i32.txt.ark", &options).unwrap()));
    assert!(binary.len() >= 3 && binary.iter().all(|(_, values)| values.len() == 1));
}

#[test]
fn what_we_write_equals_what_kaldi_writes() {
    let Some(golden) = shared("golden/kaldi") else { return };
    let directory = tempfile::tempdir().unwrap();
    let archive = directory.path().join("out.ark");
    let script = archive_to_script(&golden, "ark/bfm.bin.ark");
    let shapes = |bytes: &[u8]| {
        let number = |at: usize| i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        (number(6), number(11))
    };
    let bytes = fs::read(golden.join("ark/bfm.bin.ark")).unwrap();
    for (mode, golden_file) in [("ark", "ark/bfm.bin.ark"), ("ark,t", "ark/bfm.txt.ark")] {
        let wspecifier = format!("{mode}:{}", archive.display());
        let mut table = TableWriter::create(&wspecifier, &Opener::default()).unwrap();
        for line in script.lines() {
            let (key, name) = line.split_once(' ').unwrap();
            let offset: usize = name.rsplit(':').next().unwrap().parse().unwrap();
            let (rows, cols) = shapes(&bytes[offset..]);
            let data = bytes[offset + 15..].chunks_exact(4).take(rows * cols);
            let values = data.map(|v| f32::from_le_bytes(v.try_into().unwrap())).collect();
            table.write(Key(key.as_bytes()), &Matrix { rows, cols, values }).unwrap();
        }
        table.close().unwrap();
        assert_eq!(fs::read(&archive).unwrap(), fs::read(golden.join(golden_file)).unwrap());
    }
}

#[test]
fn floats_are_printed_as_kaldi_prints_them() {
    let Some(golden) = shared("golden/kaldi/misc") else { return };
    let check = |values: Vec<f64>, text: &str| {
        let mut out = Vec::new();
        for value in values {
            seqfeed_core::float_text::write_g(&mut out, value, 7);
            out.push(b'\n');
        }
        assert!(String::from_utf8(out).unwrap() == fs::read_to_string(golden.join(text)).unwrap());
    };
    let bytes = fs::read(golden.join("floats.f32")).unwrap();
    let floats = bytes.chunks_exact(4).map(|v| f32::from_le_bytes(v.try_into().unwrap()));
    check(floats.map(f64::from).collect(), "floats.f32.txt");
    let bytes = fs::read(golden.join("doubles.f64")).unwrap();
    let doubles = bytes.chunks_exact(8).map(|v| f64::from_le_bytes(v.try_into().unwrap()));
    check(doubles.collect(), "doubles.f64.txt");
}

#[test]
fn compressed_speech_is_read() {
    let Some(data) = shared("data/mini_librispeech") else { return };
    let found = contents("scp:feats.scp", &features(&data)).unwrap();
    let rows: Vec<usize> = found.iter().map(|(_, bytes)| bytes.len() / (13 * 4)).collect();
    let text = fs::read_to_string(data.join("utt2num_frames")).unwrap();
    let expected: Vec<usize> =
        text.lines().map(|line| line.split(' ').nth(1).unwrap().parse().unwrap()).collect();
    assert_eq!(rows, expected);
}

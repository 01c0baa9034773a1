//! Index caches that CNTK wrote, against what it says they hold.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use seqfeed_cntk::ctf::CtfSequence;
use seqfeed_cntk::ctf::KeyKind;
use seqfeed_cntk::ctf::cache::{self, Reason, Settings};
use serde_json::Value;
use tempfile::TempDir;

/// A directory of the files of the original programs, if it is there.
fn shared(directory: &str) -> Option<PathBuf> {
    let root = std::env::var_os("SEQFEED_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let directory = root.join(directory);
    if directory.exists() {
        return Some(directory);
    }
    eprintln!("SKIPPED: {} is missing; set SEQFEED_SHARED", directory.display());
    None
}

/// Copies of a data file and, newer, its cache.
fn copies(golden: &Path, data: &str, cache: &str) -> (TempDir, PathBuf, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let copy = |name: &str| {
        let path = directory.path().join(name);
        fs::write(&path, fs::read(golden.join(name)).unwrap()).unwrap();
        path
    };
    let (data, cache) = (copy(data), copy(cache));
    (directory, data, cache)
}

/// The settings of a recorded case, as its reader section says them.
fn settings_of(reader: &Value, section: &Value) -> Settings {
    let streams = section["input"].as_object().unwrap();
    let main = streams.iter().find(|(_, stream)| stream["definesMBSize"] == true);
    let main = main.map(|(name, stream)| stream["alias"].as_str().unwrap_or(name).into());
    let keys = match (&reader["useNumericSequenceKeys"], &reader["hashSequenceKeys"]) {
        (_, Value::Bool(true)) => KeyKind::Hashed,
        (Value::Bool(false), _) => KeyKind::Symbolic,
        _ => KeyKind::Numeric,
    };
    Settings { main, skip_ids: section["skipSequenceIds"] == true, keys }
}

fn numbers(record: &CtfSequence) -> Value {
    serde_json::json!([record.key, record.samples, record.offset, record.bytes])
}

#[test]
fn all_caches_of_cntk_give_what_they_hold() {
    let Some(golden) = shared("golden/cntk/cache") else { return };
    let cases: Vec<Value> =
        serde_json::from_str(&fs::read_to_string(golden.join("cache.json")).unwrap()).unwrap();
    let mut compared = 0;
    for case in &cases {
        let reader = &case["reader"];
        let section = reader["deserializers"].as_array().unwrap().last().unwrap();
        let Some(decoded) = case["decoded"].as_array().unwrap().first() else {
            // No cache for symbolic keys, and no name for one.
            let settings = settings_of(reader, section);
            assert!(cache::cntk_path(Path::new("a"), &settings).is_none(), "{}", case["name"]);
            compared += 1;
            continue;
        };
        let name = decoded["file"].as_str().unwrap();
        if section["type"] == "HTKMLFDeserializer" {
            let (_directory, data, cache) = copies(&golden, "tiny.mlf", name);
            let reason = cache::read_from(&cache, &data, &Settings::default()).unwrap_err();
            assert!(matches!(reason, Reason::Unsupported(_)), "{reason}");
            assert!(cache::read(&data, &Settings::default()).unwrap().is_none());
            compared += 1;
            continue;
        }
        let (_directory, data, cache) = copies(&golden, section["file"].as_str().unwrap(), name);
        let settings = settings_of(reader, section);
        let found = cache::read(&data, &settings).unwrap().unwrap();
        assert_eq!((&found.cache, found.by_cntk), (&cache, true));
        let sequences = found.index.sequences;
        assert_eq!(Value::from(sequences.len()), decoded["sequences"], "{name}");
        let first = decoded["records_key_samples_offset_size"].as_array().unwrap();
        for (sequence, expected) in sequences.iter().zip(first) {
            assert_eq!(numbers(sequence), *expected, "{name}");
        }
        assert_eq!(numbers(sequences.last().unwrap()), decoded["last"], "{name}");
        assert_eq!(found.index.file_bytes, fs::metadata(&data).unwrap().len());
        compared += 1;
    }
    assert_eq!(compared, 6);
}

/// A cache as CNTK writes it, with rubbish where it does not say what stands there.
fn written(records: &[(u64, u32, u64, u32)]) -> Vec<u8> {
    let head = [0x636e_746b_5f69_6478, 1, records.len() as u64, 32];
    let mut bytes: Vec<u8> = head.into_iter().flat_map(u64::to_le_bytes).collect();
    for &(key, samples, offset, size) in records {
        let words = [key, u64::from(samples) | 0xdead << 32, offset, u64::from(size) | 7 << 40];
        bytes.extend(words.into_iter().flat_map(u64::to_le_bytes));
    }
    bytes
}

#[test]
fn what_is_not_plausible_is_refused() {
    let plain = Settings::default();
    let main = Settings { main: Some(b"y".to_vec()), ..Settings::default() };
    let good = written(&[(0, 2, 3, 10), (1, 1, 13, 7)]);
    assert_eq!(cache::decode_cntk(&good, &plain, 20).unwrap().sequences.len(), 2);
    // What a main stream leaves out leaves gaps.
    let gaps = written(&[(0, 2, 3, 10), (1, 1, 15, 7)]);
    assert!(cache::decode_cntk(&gaps, &plain, 22).is_err());
    assert!(cache::decode_cntk(&gaps, &main, 30).is_ok());
    // A file that has grown.
    assert!(matches!(cache::decode_cntk(&good, &plain, 21), Err(Reason::Stale)));
    let bad = [
        ("outside", written(&[(0, 2, 3, 10), (1, 1, 13, 8)])),
        ("beyond counting", written(&[(0, 2, u64::MAX, 10)])),
        ("overlapping", written(&[(0, 2, 3, 10), (1, 1, 12, 8)])),
        ("no bytes", written(&[(0, 2, 3, 10), (1, 1, 13, 0)])),
        ("no samples", written(&[(0, 0, 3, 10), (1, 1, 13, 7)])),
        ("no sequences", written(&[])),
    ];
    for (name, bytes) in bad {
        for settings in [&plain, &main] {
            let reason = cache::decode_cntk(&bytes, settings, 20).unwrap_err();
            assert!(matches!(reason, Reason::Damaged(_)), "{name}: {reason}");
        }
    }
    for at in 0..good.len() {
        assert!(cache::decode_cntk(&good[..at], &plain, 20).is_err(), "cut at {at}");
        for flip in [1, 0x80, 0xff] {
            let mut damaged = good.clone();
            damaged[at] ^= flip;
            let result = cache::decode_cntk(&damaged, &plain, 20);
            // The head is checked; the keys have no check.
            assert!(result.is_err() || at >= 32, "byte {at}");
        }
    }
    let mut other = good.clone();
    other[8] = 2;
    assert!(matches!(cache::decode_cntk(&other, &plain, 20), Err(Reason::OtherVersion(2))));
    other[0] = 0;
    assert!(matches!(cache::decode_cntk(&other, &plain, 20), Err(Reason::Foreign)));
    let symbolic = Settings { keys: KeyKind::Symbolic, ..plain };
    assert!(matches!(cache::decode_cntk(&good, &symbolic, 20), Err(Reason::Unsupported(_))));
}

#[test]
fn is_used_while_it_is_not_older_than_the_data() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("a.ctf");
    fs::write(&data, "0 |x 1\n").unwrap();
    let settings = Settings::default();
    let path = cache::cntk_path(&data, &settings).unwrap();
    fs::write(&path, written(&[(0, 1, 0, 7)])).unwrap();
    let modified = fs::metadata(&data).unwrap().modified().unwrap();
    let set = |time| File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    set(modified + Duration::from_secs(1));
    assert!(cache::read(&data, &settings).unwrap().unwrap().by_cntk);
    set(modified - Duration::from_secs(1));
    assert!(matches!(cache::read(&data, &settings).unwrap_err().reason, Reason::Stale));

    // Other settings: the name says which.
    let other = Settings { skip_ids: true, ..settings.clone() };
    assert!(cache::read(&data, &other).unwrap().is_none());
    assert!(matches!(cache::read_from(&path, &data, &other), Err(Reason::OtherSettings)));

    // More than any index of so short a file: not even read.
    set(modified);
    fs::write(&path, vec![0; 32 * 9]).unwrap();
    assert!(matches!(cache::read_from(&path, &data, &settings), Err(Reason::Damaged(_))));

    // Offsets in compressed data mean nothing to CNTK.
    fs::write(&data, b"\x1f\x8b\x08\0\0\0\0").unwrap();
    fs::write(&path, written(&[(0, 1, 0, 7)])).unwrap();
    assert!(matches!(cache::read_from(&path, &data, &settings), Err(Reason::Unsupported(_))));
}

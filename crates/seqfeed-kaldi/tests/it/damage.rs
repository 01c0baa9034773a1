//! Malformed tables: errors where Kaldi has errors, never a panic, never memory for a lie.

use std::fs;

use proptest::prelude::*;
use seqfeed_core::{Key, Tolerance};
use seqfeed_io::Opener;
use seqfeed_kaldi::{Matrix, TableWriter};
use serde_json::Value;

use crate::tables::{contents, features, labels, shared};

/// Cases where we differ from Kaldi on purpose.
const BETTER: [(&str, &str); 9] = [
    ("mateof_eof_no_value", "a key without an object is an error, not a silent end"),
    ("trunc_first_key_partial", "a key cut short is an error, not a silent end"),
    ("trunc_second_key_partial", "a key cut short is an error, not a silent end"),
    ("trunc_first_key", "a key cut short is an error, not a silent end"),
    ("trunc_second_key", "a key cut short is an error, not a silent end"),
    ("mateof_two_eof", "a key cut short is an error, not a silent end"),
    ("matform_minus_inf", "-inf, which Kaldi writes, is read"),
    ("matform_minus_nan", "-nan, which Kaldi writes, is read"),
    ("matform_inf_close", "inf] is read as inf"),
];

#[test]
fn malformed_archives_fail_where_kaldi_fails() {
    let Some(bad) = shared("golden/kaldi/bad") else { return };
    let cases: Vec<Value> =
        serde_json::from_str(&fs::read_to_string(bad.join("cases.json")).unwrap()).unwrap();
    let mut compared = 0;
    for case in &cases {
        let Some(file) = case["cmd"]
            .as_str()
            .and_then(|cmd| cmd.strip_prefix("copy-feats ark:"))
            .and_then(|rest| rest.strip_suffix(" ark,t:-"))
            .filter(|file| file.starts_with("files/") && !file.contains(' '))
        else {
            continue;
        };
        let name = file.trim_start_matches("files/").trim_end_matches(".ark");
        let mut options = features(&bad);
        options.errors = Tolerance::Stop;
        let ours = contents(&format!("ark:{file}"), &options);
        let kaldi_failed = case["rc"] != 0;
        // Read by Kaldi as by us, but not to be written again.
        if case["stderr"].to_string().contains("invalid key") {
            continue;
        }
        if BETTER.iter().any(|&(better, _)| better == name) {
            continue;
        }
        // An empty archive is for Kaldi's copying tools an error, for us an empty table.
        let nothing = ours.as_ref().is_ok_and(|found| found.iter().all(|(_, b)| b.is_empty()));
        // A table of different widths is a table, but no stream.
        let widths = ours.as_ref().is_err_and(|e| e.message().contains("columns (the number"));
        if nothing || widths {
            continue;
        }
        assert_eq!(ours.is_err(), kaldi_failed, "{file}: {ours:?}");
        compared += 1;
    }
    assert!(compared >= 40, "{compared} cases compared");
}

#[test]
fn no_malformed_file_panics() {
    let Some(bad) = shared("golden/kaldi/bad") else { return };
    for file in fs::read_dir(bad.join("files")).unwrap() {
        let path = file.unwrap().path();
        if !path.is_file() {
            continue;
        }
        for kind in ["ark", "scp"] {
            for options in [features(&bad), labels(&bad)] {
                let _ = contents(&format!("{kind}:{}", path.display()), &options);
                let skip = crate::tables::whole(options);
                let skip = seqfeed_kaldi::TableOptions { errors: Tolerance::Skip, ..skip };
                let _ = contents(&format!("{kind}:{}", path.display()), &skip);
            }
        }
    }
}

/// An archive of three matrices and where they begin.
fn archive(directory: &std::path::Path, text: bool) -> Vec<u8> {
    let path = directory.join("a.ark");
    let mode = if text { "ark,t" } else { "ark" };
    let wspecifier = format!("{mode}:{}", path.display());
    let mut table = TableWriter::create(&wspecifier, &Opener::default()).unwrap();
    for (key, rows) in [("a", 3usize), ("bb", 1), ("ccc", 2)] {
        let values = (0..rows * 2).map(|i| i as f32 / 3.0).collect();
        table.write(Key(key.as_bytes()), &Matrix { rows, cols: 2, values }).unwrap();
    }
    table.close().unwrap();
    fs::read(path).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn damage_never_panics(text: bool, at in 0usize..200, byte: u8, cut: bool, map: bool) {
        let directory = tempfile::tempdir().unwrap();
        let mut bytes = archive(directory.path(), text);
        let at = at % bytes.len();
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] = byte;
        }
        fs::write(directory.path().join("a.ark"), &bytes).unwrap();
        for errors in [Tolerance::Stop, Tolerance::Skip] {
            let mut options = features(directory.path());
            (options.errors, options.map) = (errors, map);
            let _ = contents("ark:a.ark", &options);
            let _ = contents("ark:a.ark", &labels(directory.path()));
        }
    }

    #[test]
    fn a_cut_archive_is_an_error(at in 1usize..200, text: bool) {
        let directory = tempfile::tempdir().unwrap();
        let bytes = archive(directory.path(), text);
        let whole = contents("ark:a.ark", &features(directory.path())).unwrap();
        let at = at % bytes.len();
        fs::write(directory.path().join("a.ark"), &bytes[..at]).unwrap();
        // Cut between two objects it is a shorter archive; elsewhere it must not go unnoticed.
        if let Ok(found) = contents("ark:a.ark", &features(directory.path())) {
            prop_assert_eq!(&found[..], &whole[..found.len()]);
            let rest = String::from_utf8_lossy(&bytes[at..]).into_owned();
            let next = ["a ", "bb ", "ccc "].get(found.len()).copied().unwrap_or("");
            prop_assert!(rest.trim_start().starts_with(next), "{} {}", at, rest);
        }
    }
}

#[test]
fn a_file_rewritten_under_us_is_an_error() {
    use seqfeed_core::Source;
    let directory = tempfile::tempdir().unwrap();
    let bytes = archive(directory.path(), false);
    for map in [false, true] {
        fs::write(directory.path().join("a.ark"), &bytes).unwrap();
        let options = seqfeed_kaldi::TableOptions { map, ..features(directory.path()) };
        let table = seqfeed_kaldi::TableSource::open(&["ark:a.ark".to_owned()], &options).unwrap();
        // Cut short in place, as a program that writes it anew does.
        let file = fs::OpenOptions::new().write(true).open(directory.path().join("a.ark")).unwrap();
        file.set_len(20).unwrap();
        let mut blocks = table.new_blocks();
        let error = table.load(&[0, 1, 2], &mut blocks).unwrap_err();
        assert!(error.place().key.is_some(), "{error}");
    }
}

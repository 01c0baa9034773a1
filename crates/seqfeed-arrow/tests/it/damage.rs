//! Damaged files are errors, never panics, and never take memory for what is not there.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use seqfeed_core::{Result, Source};

use crate::{load, open};

fn files() -> Vec<(String, Vec<u8>)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign");
    let mut files: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end != "py"))
        .map(|path| {
            (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

fn read(bytes: &[u8]) -> Result<usize> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x");
    fs::write(&path, bytes).unwrap();
    let source = open(&path)?;
    let blocks = load(&source)?;
    for sequence in 0..source.index().len() as u32 {
        drop(source.fault(sequence));
    }
    Ok(blocks.len())
}

#[test]
fn files_that_are_cut_short_are_errors() {
    for (name, bytes) in files() {
        for len in (0..bytes.len()).step_by(13) {
            let found = read(&bytes[..len]);
            // A stream may end with any message.
            if !name.ends_with("arrows") {
                assert!(found.is_err(), "{name} cut to {len} bytes");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]
    #[test]
    fn files_with_wrong_bytes_do_not_panic(
        file in any::<prop::sample::Index>(),
        wrong in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![
            any::<u8>(), Just(0u8), Just(0xff), Just(0x7f)
        ]), 1..6),
    ) {
        let files = files();
        let (_, mut bytes) = files[file.index(files.len())].clone();
        for (at, byte) in wrong {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        drop(read(&bytes));
    }
}

#[test]
fn other_files_are_named() {
    for (bytes, says) in [
        (&b"FEA1 and more"[..], "version 1 of Feather"),
        (b"utt1 [ 1 2 ]", "the beginning of an Arrow or Parquet file"),
        (b"", "the beginning of an Arrow or Parquet file"),
        (b"PAR1PAR1", "Parquet file"),
        (b"ARROW1\0\0ARROW1", "the file ends inside"),
    ] {
        let error = read(bytes).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
        assert!(error.place().file.is_some(), "{error}");
    }
}

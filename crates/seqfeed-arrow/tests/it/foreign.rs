//! Files of pyarrow, polars and `DuckDB`; `tests/foreign/make.py` wrote them.

use std::path::{Path, PathBuf};

use seqfeed_arrow::{ArrowOptions, ColumnChoice};
use seqfeed_core::{Element, Extent, Key, Kind, Source};

use crate::{load, open, open_with};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign").join(name)
}

/// The four utterances that make.py writes.
fn check(name: &str) {
    let source = open(&path(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let what: Vec<_> = source.streams().iter().map(|s| (s.name.as_str(), s.kind, s.dim)).collect();
    let expected = [("features", Kind::Dense, 2), ("labels", Kind::Label, 1)];
    assert_eq!(what, expected, "{name}");
    let index = source.index();
    let keys: Vec<Key<'_>> = (0..index.len() as u32).map(|n| index.key(n)).collect();
    assert_eq!(
        keys,
        [Key(b"utt-a"), Key(b"utt-b"), Key(b"empty"), Key("späh".as_bytes())],
        "{name}"
    );
    let lengths: Vec<u32> = (0..4).map(|n| index.samples(n)).collect();
    assert_eq!(lengths, [3, 1, 0, 2], "{name}");
    let blocks = load(&source).unwrap_or_else(|error| panic!("{name}: {error}"));
    for (u, &samples) in lengths.iter().enumerate() {
        let values = (0..samples).flat_map(|t| (0..2).map(move |d| (t, d)));
        let values = values.map(|(t, d)| (100 * u as u32 + 10 * t + d) as f32);
        let bytes: Vec<u8> = match source.streams()[0].element {
            Element::F64 => values.flat_map(|v| f64::from(v).to_ne_bytes()).collect(),
            _ => values.flat_map(f32::to_ne_bytes).collect(),
        };
        assert_eq!(blocks[0].samples(u).bytes(), bytes, "{name}");
        let labels = (0..samples as i32).map(|t| 7 * u as i32 + t);
        let bytes: Vec<u8> = labels.flat_map(i32::to_ne_bytes).collect();
        assert_eq!(blocks[1].samples(u).bytes(), bytes, "{name}");
    }
}

#[test]
fn arrow_files_of_others_are_read() {
    for name in [
        "plain.arrow",
        "batches.arrow",
        "stream.arrows",
        "zstd.arrow",
        "lz4.feather",
        "large.arrow",
        "dictionary.arrow",
        "half.arrow",
        "slice.arrow",
        "polars.arrow",
    ] {
        check(name);
    }
}

/// Pages whose checksums are written are verified: a value that has changed is no value.
#[test]
fn checksums_of_parquet_pages_are_verified() {
    let mut bytes = std::fs::read(path("checksums.parquet")).unwrap();
    let value = 100f32.to_le_bytes();
    let at = bytes.windows(4).position(|found| found == value).expect("a feature of utt-b");
    bytes[at] ^= 1;
    let directory = tempfile::tempdir().unwrap();
    let changed = directory.path().join("changed.parquet");
    std::fs::write(&changed, bytes).unwrap();
    let error = match open(&changed) {
        Ok(source) => load(&source).unwrap_err(),
        Err(error) => error,
    };
    assert!(error.to_string().contains("CRC"), "{error}");
}

#[test]
fn parquet_files_of_others_are_read() {
    for name in [
        "snappy.parquet",
        "checksums.parquet",
        "zstd.parquet",
        "gzip.parquet",
        "lz4.parquet",
        "large.parquet",
        "dictionary.parquet",
        "polars.parquet",
        "duckdb.parquet",
    ] {
        check(name);
    }
}

#[test]
fn columns_are_chosen_and_told() {
    for name in ["mixed.arrow", "mixed.parquet"] {
        let source = open(&path(name)).unwrap();
        let what: Vec<_> =
            source.streams().iter().map(|s| (s.name.as_str(), s.kind, s.dim, s.extent)).collect();
        assert_eq!(
            what,
            [
                ("tokens", Kind::Label, 1, Extent::Samples),
                ("wave", Kind::Label, 1, Extent::Own),
                ("words", Kind::Sparse, 9, Extent::Own),
                ("xvector", Kind::Dense, 3, Extent::Sequence),
            ],
            "{name}"
        );
        let index = source.index();
        assert_eq!((index.key(1), index.samples(0), index.samples(1)), (Key(b"1"), 2, 3));
        let blocks = load(&source).unwrap();
        let words = blocks[2].sparse_samples(0);
        assert_eq!((words.len(), words.indices), (3, &[3, 8, 0][..]));
        assert_eq!(words.values, [0.5f64, 2.0, 1.0].map(f64::to_ne_bytes).as_flattened());
        assert_eq!((words.values_in(1..2), words.values_in(2..3)), (1..1, 1..3));
        assert_eq!(blocks[2].sparse_samples(1).values_in(0..1), 0..0);
        assert_eq!(
            blocks[3].samples(1).bytes(),
            [4.5f32, 5.5, 6.5].map(f32::to_ne_bytes).as_flattened()
        );

        let choice = |column: &str, kind| ColumnChoice {
            column: column.into(),
            kind,
            ..ColumnChoice::default()
        };
        let mut wave = choice("wave", Some(Kind::Dense));
        wave.stream = "audio".into();
        let columns = vec![wave, choice("speaker", None)];
        let options =
            ArrowOptions { columns, key: Some("speaker".into()), ..ArrowOptions::default() };
        let source = open_with(&path(name), &options).unwrap();
        let (audio, speaker) = (&source.streams()[0], &source.streams()[1]);
        assert_eq!(
            (audio.name.as_str(), audio.kind, audio.element),
            ("audio", Kind::Dense, Element::F32)
        );
        assert_eq!((speaker.kind, speaker.extent), (Kind::Label, Extent::Sequence));
        assert_eq!((source.index().key(0), source.index().samples(0)), (Key(b"12"), 3));
        let blocks = load(&source).unwrap();
        assert_eq!(
            blocks[0].samples(0).bytes(),
            [1f32, -2.0, 3.0].map(f32::to_ne_bytes).as_flattened()
        );
        assert_eq!(blocks[1].samples(1).bytes(), 13i32.to_ne_bytes());
    }
}

#[test]
fn what_is_no_sample_is_refused() {
    for format in ["arrow", "parquet"] {
        for name in ["null_row", "null_value"] {
            let name = format!("{name}.{format}");
            let error = open(&path(&name)).and_then(|source| load(&source)).unwrap_err();
            assert!(error.message().contains("null"), "{name}: {error}");
            assert!(error.help().is_some() && error.place().file.is_some(), "{error}");
        }
        let source = open(&path(&format!("ragged.{format}"))).unwrap();
        let error = load(&source).unwrap_err();
        assert!(error.message().contains("expected 2, found 1"), "{error}");
        assert_eq!(error.place().key.as_deref(), Some("a"));
    }
}

//! Script files whose lengths another file states.

use std::fs;
use std::path::Path;

use seqfeed_core::{Key, Source, Tolerance};
use seqfeed_io::{Opener, name_from_text};
use seqfeed_kaldi::{
    CompressedMatrix, CompressionMethod, Matrix, TableOptions, TableSource, TableWriter,
};

use crate::tables::{contents, features, labels};

const ROWS: [usize; 6] = [3, 1, 7, 2, 5, 4];

fn matrix(number: usize) -> Matrix<f32> {
    let values = (0..2 * ROWS[number]).map(|value| (10 * number + value) as f32).collect();
    Matrix { rows: ROWS[number], cols: 2, values }
}

/// Tables of matrices, of compressed ones and of labels, and their lengths.
fn write(base: &Path) {
    let of = |name: &str| {
        let name = format!("ark,scp:{0}/{name}.ark,{0}/{name}.scp", base.display());
        name_from_text(&name)
    };
    let opener = Opener::default();
    let mut plain = TableWriter::<Matrix<f32>>::create(&of("plain"), &opener).unwrap();
    let mut small = TableWriter::<CompressedMatrix>::create(&of("small"), &opener).unwrap();
    let mut classes = TableWriter::<Vec<i32>>::create(&of("classes"), &opener).unwrap();
    let (mut lengths, mut shapes) = (String::new(), String::new());
    for (number, &rows) in ROWS.iter().enumerate() {
        let key = format!("utt{number}");
        let key = Key(key.as_bytes());
        plain.write(key, &matrix(number)).unwrap();
        let method = CompressionMethod::TwoByteAuto;
        small.write(key, &CompressedMatrix::compress(&matrix(number), method).unwrap()).unwrap();
        classes.write(key, &vec![number as i32; rows]).unwrap();
        lengths += &format!("{key} {rows}\n");
        shapes = format!("{key} {rows},2\n{shapes}");
    }
    plain.close().unwrap();
    small.close().unwrap();
    classes.close().unwrap();
    fs::write(base.join("utt2num_frames"), lengths).unwrap();
    // Another order, and one line less.
    let shapes = shapes.replace("utt4 5,2\n", "");
    fs::write(base.join("feats_shape"), shapes).unwrap();
}

fn stated(options: TableOptions, by: &str) -> TableOptions {
    TableOptions { lengths: Some(by.into()), ..options }
}

#[test]
fn stated_lengths_change_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let base = directory.path();
    write(base);
    for (table, options) in [
        ("scp:plain.scp", features(base)),
        ("scp:plain.scp", TableOptions { map: true, ..features(base) }),
        ("scp:small.scp", features(base)),
        ("scp:classes.scp", labels(base)),
    ] {
        let expected = contents(table, &options).unwrap();
        for by in ["utt2num_frames", "feats_shape"] {
            let found = contents(table, &stated(options.clone(), by)).unwrap();
            assert_eq!(found, expected, "{table} by {by}");
        }
    }
    // Ranges of objects are looked at, as ever.
    let script = fs::read_to_string(base.join("plain.scp")).unwrap();
    let lines = script.lines().enumerate().map(|(number, line)| match number {
        2 | 4 => format!("{line}[1:2]\n"),
        _ => format!("{line}\n"),
    });
    fs::write(base.join("ranges.scp"), lines.collect::<String>()).unwrap();
    let expected = contents("scp:ranges.scp", &features(base)).unwrap();
    let found = contents("scp:ranges.scp", &stated(features(base), "utt2num_frames")).unwrap();
    assert_eq!(found, expected);
}

#[test]
fn objects_are_looked_at_when_they_are_loaded() {
    let directory = tempfile::tempdir().unwrap();
    let base = directory.path();
    write(base);
    let wrong = fs::read_to_string(base.join("utt2num_frames")).unwrap();
    for (rows, says) in [("utt3 3", "expected 3, found 2"), ("utt3 1", "expected 1, found 2")] {
        fs::write(base.join("wrong"), wrong.replace("utt3 2", rows)).unwrap();
        for (table, options) in
            [("scp:plain.scp", features(base)), ("scp:classes.scp", labels(base))]
        {
            let options = stated(options, "wrong");
            let source = TableSource::open(&[table], &options).unwrap();
            let mut blocks = source.new_blocks();
            source.load(&[0, 1, 2], &mut blocks).unwrap();
            let error = source.load(&[3], &mut blocks).unwrap_err();
            let text = error.to_string();
            assert!(text.contains("file of lengths"), "{text}");
            assert!(text.contains(says) || text.contains(rows), "{text}");
            assert_eq!(error.place().key.as_deref(), Some("utt3"));
        }
    }
    // An object that is none, in the middle of the file.
    let mut bytes = fs::read(base.join("plain.ark")).unwrap();
    let script = fs::read_to_string(base.join("plain.scp")).unwrap();
    let line = script.lines().nth(3).unwrap();
    let offset: usize = line.rsplit_once(':').unwrap().1.parse().unwrap();
    bytes[offset + 2] = b'X';
    fs::write(base.join("plain.ark"), bytes).unwrap();
    assert!(TableSource::open(&["scp:plain.scp"], &features(base)).is_err());
    let options = stated(features(base), "utt2num_frames");
    let source = TableSource::open(&["scp:plain.scp"], &options).unwrap();
    assert!(source.load(&[2, 4], &mut source.new_blocks()).is_ok());
    assert!(source.load(&[3], &mut source.new_blocks()).is_err());
}

#[test]
fn wrong_files_of_lengths_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let base = directory.path();
    write(base);
    let open = |table: &str, options: TableOptions| {
        TableSource::open(&[table], &options).err().unwrap().to_string()
    };
    let archive = open("ark:plain.ark", stated(features(base), "utt2num_frames"));
    assert!(archive.contains("lengths are for script files"), "{archive}");
    let missing = open("scp:plain.scp", stated(features(base), "no_such_file"));
    assert!(missing.contains("no_such_file"), "{missing}");
    for (line, says) in [
        ("utt1\n", "wrong:2"),
        ("utt1 many\n", "expected a key and its number of frames"),
        ("utt1 -1\n", "wrong:2"),
        ("utt1 99999999999\n", "wrong:2"),
    ] {
        fs::write(base.join("wrong"), format!("utt0 3\n{line}")).unwrap();
        // Not even where damaged objects are passed over.
        let options = TableOptions { errors: Tolerance::Skip, ..features(base) };
        let error = open("scp:plain.scp", stated(options, "wrong"));
        assert!(error.contains(says), "{error}");
    }
}

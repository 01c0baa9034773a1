//! Values that are read only when somebody asks for them.

use std::fs;
use std::path::Path;

use seqfeed_core::{Key, Result};
use seqfeed_io::Opener;
use seqfeed_kaldi::{
    Holder, Matrix, Mode, ObjectReader, ReadOptions, SequentialReader, TableWriter,
};

/// A byte that says how long the object is, and as many bytes of one value. It can be read if that
/// is not `x`.
#[derive(Debug, PartialEq)]
struct Letters(Vec<u8>);

impl Holder for Letters {
    const TYPE: &'static str = "letters";

    fn read(reader: &mut ObjectReader, _: Mode) -> Result<Self> {
        let len = reader.next_byte()?.map_or(0, |digit| usize::from(digit - b'0'));
        let mut letters = vec![0; len];
        reader.read_exact(&mut letters, "letters")?;
        match letters.contains(&b'x') {
            true => Err(reader.unexpected("letters", "letters without x")),
            false => Ok(Self(letters)),
        }
    }

    fn skip(reader: &mut ObjectReader, _: Mode) -> Result<()> {
        let len = reader.next_byte()?.map_or(0, |digit| u64::from(digit - b'0'));
        reader.skip_bytes(len, "letters")
    }

    fn write(&self, _: &mut Vec<u8>, _: Mode) -> Result<()> {
        unreachable!("nothing is written")
    }
}

/// An archive of three objects, of which the second cannot be read, and its script file.
fn write(at: &Path) -> [String; 2] {
    let (ark, scp) = (at.join("t.ark"), at.join("t.scp"));
    fs::write(&ark, "a 2aab 1xc 3ccc").unwrap();
    let entry = |key: &str, offset: u64| format!("{key} {}:{offset}\n", ark.display());
    fs::write(&scp, entry("a", 2) + &entry("b", 7) + &entry("c", 11)).unwrap();
    [format!("ark:{}", ark.display()), format!("scp:{}", scp.display())]
}

/// The keys that are read, with the objects of those that are wanted, and the error that ends it.
type Read = (Vec<(String, Option<Vec<u8>>)>, Option<String>);

fn read(name: &str, options: &ReadOptions, wanted: &str) -> Read {
    let mut table = SequentialReader::<Letters>::open_with(name, options).unwrap();
    let (mut all, mut key, mut failed) = (Vec::new(), Vec::new(), None);
    loop {
        match table.next_key(&mut key) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                failed = Some(error.to_string());
                continue;
            }
        }
        let key = String::from_utf8(key.clone()).unwrap();
        let value = wanted.contains(&key).then(|| table.value().map(|value| value.0.clone()));
        match value.transpose() {
            Ok(value) => all.push((key, value)),
            Err(error) => failed = Some(error.to_string()),
        }
    }
    (all, failed)
}

fn keys(keys: &[&str], wanted: &str) -> Vec<(String, Option<Vec<u8>>)> {
    let value = |key: &str| match key {
        "a" => b"aa".to_vec(),
        _ => b"ccc".to_vec(),
    };
    let all = keys.iter();
    all.map(|&key| (key.to_owned(), wanted.contains(key).then(|| value(key)))).collect()
}

#[test]
fn an_object_is_read_when_somebody_asks_for_it() {
    let directory = tempfile::tempdir().unwrap();
    let [ark, scp] = write(directory.path());
    let sorted = ReadOptions { any_order: true, ..ReadOptions::default() };
    for (name, options) in
        [(&ark, ReadOptions::default()), (&scp, ReadOptions::default()), (&scp, sorted)]
    {
        for wanted in ["", "a", "ac", "c"] {
            // What cannot be read is no error where nobody reads it.
            assert_eq!(
                read(name, &options, wanted),
                (keys(&["a", "b", "c"], wanted), None),
                "{name}"
            );
        }
    }
    // Of an archive, nothing is found behind what could not be read; a script file has more
    // entries.
    for (name, found) in [(&ark, &["a"][..]), (&scp, &["a", "c"])] {
        let (all, failed) = read(name, &ReadOptions::default(), "abc");
        assert_eq!(all, keys(found, "abc"), "{name}");
        assert!(
            failed.as_ref().is_some_and(|error| error.contains("(key b)") || error.contains('b')),
            "{failed:?}"
        );
    }
}

#[test]
fn what_p_passes_over_has_no_key() {
    let directory = tempfile::tempdir().unwrap();
    let [ark, scp] = write(directory.path());
    for (name, found) in [(&ark, &["a"][..]), (&scp, &["a", "c"])] {
        for options in [",p:", ",p,bg:"] {
            let name = name.replacen(':', options, 1);
            for wanted in ["", "ac"] {
                let read = read(&name, &ReadOptions::default(), wanted);
                assert_eq!(read, (keys(found, wanted), None), "{name}");
            }
        }
    }
}

#[test]
fn an_archive_that_is_cut_short_fails_behind_the_last_key() {
    let directory = tempfile::tempdir().unwrap();
    let name = directory.path().join("cut.ark");
    fs::write(&name, "a 2aab 9bb").unwrap();
    let name = format!("ark:{}", name.display());
    let (all, failed) = read(&name, &ReadOptions::default(), "");
    assert_eq!(all, keys(&["a", "b"], ""));
    assert!(failed.is_some_and(|error| error.contains("7 bytes are missing")));
    let mut table = SequentialReader::<Letters>::open(&name, &Opener::default()).unwrap();
    let mut key = Vec::new();
    while let Ok(true) = table.next_key(&mut key) {}
    assert!(table.close().is_err(), "the end was not reached");
}

#[test]
fn values_are_lent_and_taken() {
    let directory = tempfile::tempdir().unwrap();
    let name = format!("ark:{}", directory.path().join("m.ark").display());
    let matrix = |value: f32| Matrix { rows: 2, cols: 2, values: vec![value; 4] };
    let mut writer = TableWriter::create(&name, &Opener::default()).unwrap();
    for (key, value) in [("a", 1.0), ("b", 2.0), ("c", 3.0)] {
        writer.write(Key(key.as_bytes()), &matrix(value)).unwrap();
    }
    writer.close().unwrap();
    let mut table = SequentialReader::<Matrix<f32>>::open(&name, &Opener::default()).unwrap();
    let mut key = Vec::new();
    assert!(table.value().unwrap_err().is_usage());
    assert!(table.next_key(&mut key).unwrap());
    for _ in 0..2 {
        assert_eq!(table.value().unwrap(), &matrix(1.0));
    }
    assert_eq!(table.take_value().unwrap(), matrix(1.0));
    assert!(table.value().unwrap_err().is_usage(), "it was taken");
    // All ways to read on may take turns.
    let mut value = Matrix::default();
    assert!(table.next_into(&mut key, &mut value).unwrap());
    assert_eq!((&key[..], &value), (&b"b"[..], &matrix(2.0)));
    assert!(table.value().unwrap_err().is_usage(), "it was given");
    assert!(table.next_key(&mut key).unwrap());
    assert!(table.next().is_none() && table.value().is_err());
}

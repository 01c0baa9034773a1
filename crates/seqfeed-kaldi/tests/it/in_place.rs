//! Tables that are read while they are written.

use std::fs;

use seqfeed_core::{Key, Result};
use seqfeed_io::Opener;
use seqfeed_kaldi::{SequentialReader, TableWriter, Vector};

type Floats = Vector<f32>;

fn read(rspecifier: &str) -> Vec<(String, Vec<f32>)> {
    let reader = SequentialReader::<Floats>::open(rspecifier, &Opener::default()).unwrap();
    let entries: Result<Vec<_>> = reader.collect();
    let text = |key: Vec<u8>| String::from_utf8(key).unwrap();
    entries.unwrap().into_iter().map(|(key, vector)| (text(key), vector.0)).collect()
}

#[test]
#[allow(clippy::mem_forget)]
fn each_entry_can_be_read_when_it_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let [ark, scp] = ["a.ark", "a.scp"].map(|name| directory.path().join(name));
    fs::write(&ark, "what stood here").unwrap();
    let wspecifier = format!("ark,scp:{},{}", ark.display(), scp.display());
    let mut table = TableWriter::create_in_place(&wspecifier, &Opener::default()).unwrap();
    assert_eq!(fs::read(&ark).unwrap(), b"");
    assert_eq!(fs::read(&scp).unwrap(), b"");
    for (number, key) in ["a", "b", "c"].into_iter().enumerate() {
        // Larger than any buffer, so that part of it would arrive before the rest.
        let vector = Vector(vec![number as f32; 100_000]);
        table.write(Key(key.as_bytes()), &vector).unwrap();
        for rspecifier in [format!("ark:{}", ark.display()), format!("scp:{}", scp.display())] {
            let found = read(&rspecifier);
            assert_eq!(found.len(), number + 1, "{rspecifier}");
            assert_eq!(found[number], (key.to_owned(), vector.0.clone()));
        }
    }
    // What can be no key leaves no trace, and what comes behind it is whole.
    table.write(Key(b"d e"), &Vector(vec![1.0])).unwrap_err();
    table.write(Key(b"f"), &Vector(vec![1.0])).unwrap();
    // As with a job that is killed: nothing is done at its end.
    std::mem::forget(table);
    let keys =
        |found: Vec<(String, Vec<f32>)>| found.into_iter().map(|(key, _)| key).collect::<String>();
    assert_eq!(keys(read(&format!("ark:{}", ark.display()))), "abcf");
    assert_eq!(keys(read(&format!("scp:{}", scp.display()))), "abcf");
}

#[test]
fn a_table_that_is_dropped_or_closed_keeps_what_was_written() {
    let directory = tempfile::tempdir().unwrap();
    let name = format!("ark,t:{}/a.ark", directory.path().display());
    for closed in [false, true] {
        let mut table = TableWriter::create_in_place(&name, &Opener::default()).unwrap();
        table.write(Key(b"a"), &Vector(vec![0.5f32])).unwrap();
        match closed {
            true => assert_eq!(table.close().unwrap().objects, 1),
            false => drop(table),
        }
        let text = fs::read_to_string(directory.path().join("a.ark")).unwrap();
        assert_eq!(text, "a  [ 0.5 ]\n");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}

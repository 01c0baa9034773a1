//! Files read at offsets, mapped, or made out of what can't be.

use std::fs::{self, OpenOptions};
use std::path::Path;
use std::process::Command;
use std::thread;

use seqfeed_core::{ErrorKind, Problem};
use seqfeed_io::{Compression, DataFile, Mapped, Spool};
use tempfile::tempdir;

use crate::support::{gzip, sample};

#[test]
fn reads_what_there_is() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("data");
    fs::write(&path, b"0123456789").unwrap();
    let file = DataFile::open(&path).unwrap();
    assert_eq!((file.len(), file.is_empty()), (10, false));
    assert_eq!(file.name(), path.display().to_string());
    let mut buf = [0; 4];
    for (offset, expected) in
        [(0, &b"0123"[..]), (8, b"89"), (10, b""), (99, b""), (u64::MAX / 2, b""), (u64::MAX, b"")]
    {
        let count = file.read_at(&mut buf, offset).unwrap();
        assert_eq!(&buf[..count], expected, "at {offset}");
    }
    file.read_exact_at(&mut buf, 6, "data").unwrap();
    assert_eq!(&buf, b"6789");
    let error = file.read_exact_at(&mut buf, 7, "data").unwrap_err();
    let ErrorKind::Format { problem, .. } = error.kind() else { panic!("{error}") };
    assert_eq!(*problem, Problem::UnexpectedEnd { inside: "data", missing: Some(1) });
    assert_eq!(error.place().to_string(), format!("{} @ 7", path.display()));
}

#[test]
fn threads_read_without_disturbing_each_other() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("data");
    let data = sample(100_000);
    fs::write(&path, &data).unwrap();
    let file = DataFile::open(&path).unwrap();
    thread::scope(|scope| {
        for start in 0..4 {
            let (file, data) = (&file, &data);
            scope.spawn(move || {
                let mut buf = [0; 1000];
                for offset in (start * 17..99_000).step_by(997) {
                    file.read_exact_at(&mut buf, offset as u64, "data").unwrap();
                    assert_eq!(buf, data[offset..offset + 1000]);
                }
            });
        }
    });
}

#[test]
fn only_regular_files() {
    let directory = tempdir().unwrap();
    let error = DataFile::open(directory.path()).err().unwrap();
    assert!(error.to_string().contains("is a directory"), "{error}");
    assert!(error.help().is_some());
    let error = DataFile::open(Path::new("/dev/null")).err().unwrap();
    assert!(error.to_string().contains("not a regular file"), "{error}");
    // Opening a named pipe would wait for a writer.
    let fifo = directory.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    assert!(DataFile::open(&fifo).is_err());
    assert!(DataFile::open(&directory.path().join("absent")).unwrap_err().is_not_found());
}

#[test]
fn tells_compression_and_takes_another_name() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("data");
    fs::write(&path, gzip(b"abc")).unwrap();
    let file = DataFile::open(&path).unwrap().with_name("other");
    assert_eq!(file.compression().unwrap(), Compression::Gzip);
    assert_eq!(file.name(), "other");
    fs::write(&path, b"").unwrap();
    assert_eq!(DataFile::open(&path).unwrap().compression().unwrap(), Compression::None);
}

#[test]
fn maps_and_notices_when_cut_short() {
    fn shared<T: Send + Sync>(value: T) -> T {
        value
    }
    let directory = tempdir().unwrap();
    let path = directory.path().join("data");
    let data = sample(10_000);
    fs::write(&path, &data).unwrap();
    let file = DataFile::open(&path).unwrap();
    let mapped: Mapped = shared(file.map().unwrap());
    assert_eq!(mapped.as_ref(), data);
    assert_eq!((mapped.len(), mapped.is_empty()), (10_000, false));
    mapped.check().unwrap();
    OpenOptions::new().write(true).open(&path).unwrap().set_len(9_999).unwrap();
    let error = mapped.check().unwrap_err();
    assert!(error.to_string().contains("1 byte is missing"), "{error}");
    assert!(file.map().is_err(), "mapped as long as it was when opened");

    fs::write(&path, b"").unwrap();
    let empty = DataFile::open(&path).unwrap().map().unwrap();
    assert!(empty.is_empty() && empty.as_ref().is_empty());
    empty.check().unwrap();
}

#[test]
fn spooled_data_are_read_at_offsets() {
    let data = sample(300_000);
    let mut spool = Spool::new().unwrap();
    for part in data.chunks(777) {
        spool.write_all(part).unwrap();
    }
    assert_eq!(spool.position(), 300_000);
    let file = spool.into_data_file().unwrap();
    assert_eq!(file.len(), 300_000);
    assert!(file.name().contains("temporary file"));
    let mut buf = vec![0; 250_000];
    file.read_exact_at(&mut buf, 50_000, "data").unwrap();
    assert_eq!(buf, data[50_000..]);
    assert_eq!(file.map().unwrap().as_ref(), data);
    assert!(Spool::new().unwrap().into_data_file().unwrap().is_empty());
}

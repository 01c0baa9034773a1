//! Files and readers, compressed or not, from their start or an offset.

use std::fs;
use std::io::{self, BufRead, Read};

use seqfeed_core::{ErrorKind, Problem};
use seqfeed_io::{Compression, Input, Opener, RxFilename};
use tempfile::tempdir;

use crate::support::{bzip2, gzip, open, read_all, sample, zstd};

type Encoder = fn(&[u8]) -> Vec<u8>;

const ENCODERS: [(Encoder, Compression); 3] =
    [(gzip, Compression::Gzip), (bzip2, Compression::Bzip2), (zstd, Compression::Zstd)];

fn from_bytes(bytes: Vec<u8>) -> Input {
    Input::from_reader("memory", io::Cursor::new(bytes))
}

/// Gives one byte at a time, with signals between.
struct Dripping(io::Cursor<Vec<u8>>, bool);

impl Read for Dripping {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let len = buf.len().min(1);
        self.0.read(&mut buf[..len])
    }
}

#[test]
fn compression_is_undone_also_of_several_members() {
    let data = sample(300_000);
    let (first, second) = data.split_at(123_456);
    for (encode, compression) in ENCODERS {
        let cases = [
            encode(&data),
            [encode(first), encode(second)].concat(),
            [encode(first), encode(b""), encode(second), encode(b"")].concat(),
        ];
        for bytes in cases {
            let mut input = from_bytes(bytes.clone());
            assert_eq!(input.compression(), compression);
            assert_eq!(read_all(&mut input).unwrap(), data, "{compression}");
            assert_eq!(input.position(), data.len() as u64);
            assert_eq!(input.read(&mut [0; 8]).unwrap(), 0, "the end stays the end");
            input.finish().unwrap();
        }
        let dripping = Dripping(io::Cursor::new(encode(&data[..5000])), false);
        assert_eq!(read_all(Input::from_reader("drops", dripping)).unwrap(), data[..5000]);
        assert_eq!(read_all(from_bytes(encode(b""))).unwrap(), b"");
    }
}

#[test]
fn cut_short_is_an_error_wherever_it_is_cut() {
    let data = sample(3000);
    for (encode, compression) in ENCODERS {
        let one = encode(&data);
        let two = [encode(&data[..1000]), encode(&data[1000..])].concat();
        let boundary = encode(&data[..1000]).len();
        for whole in [one, two] {
            for len in 10..whole.len() {
                let Ok(read) = read_all(from_bytes(whole[..len].to_vec())) else { continue };
                assert!(len == boundary && read == data[..1000], "{compression} cut at {len}");
            }
        }
    }
}

#[test]
fn damage_is_an_error_with_a_place() {
    let data = sample(200_000);
    for (encode, compression) in ENCODERS {
        let mut bytes = encode(&data);
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x55;
        let mut input = from_bytes(bytes);
        let error = read_all(&mut input).expect_err("damaged");
        let shown = input.error(error).to_string();
        assert!(shown.starts_with("memory @ "), "{shown}");
        assert!(shown.contains(&format!("the {compression} data are damaged")), "{shown}");
        assert!(input.read(&mut [0; 8]).is_err() || compression != Compression::Gzip);
    }
}

#[test]
fn behind_the_end_zeros_pass_after_gzip_and_nothing_else() {
    let padded = [gzip(b"abc"), vec![0; 200_000]].concat();
    assert_eq!(read_all(from_bytes(padded)).unwrap(), b"abc");
    let padded_data = [gzip(b"abc"), vec![0; 512], gzip(b"abc")].concat();
    assert!(read_all(from_bytes(padded_data)).is_err());
    for (encode, compression) in ENCODERS {
        let garbage = [encode(b"abc"), b"garbage behind the end".to_vec()].concat();
        assert!(read_all(from_bytes(garbage)).is_err(), "{compression}");
    }
}

#[test]
fn large_and_small_reads_and_lines_give_the_same_bytes() {
    let data = sample(500_000);
    let mut input = from_bytes(data.clone());
    let mut got = vec![0; 100_000];
    input.read_exact(&mut got).unwrap();
    assert_eq!(input.position(), 100_000);
    let read = input.read_until(5, &mut got).unwrap() as u64;
    assert_eq!(input.position(), 100_000 + read);
    let mut small = [0; 7];
    for _ in 0..1000 {
        input.read_exact(&mut small).unwrap();
        got.extend_from_slice(&small);
    }
    input.read_to_end(&mut got).unwrap();
    assert_eq!(got, data);
    assert_eq!(input.position(), data.len() as u64);
}

#[test]
fn offsets_count_decoded_bytes_from_the_start() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("data");
    let data = sample(200_000);
    let encoders: [Encoder; 4] = [|bytes| bytes.to_vec(), gzip, bzip2, zstd];
    for encode in encoders {
        fs::write(&path, encode(&data)).unwrap();
        for offset in [0, 1, 100_000, data.len()] {
            let mut input = open(&format!("{}:{offset}", path.display())).unwrap();
            assert_eq!(input.position(), offset as u64);
            assert_eq!(read_all(&mut input).unwrap(), data[offset..]);
            assert_eq!(input.position(), data.len() as u64);
            assert_eq!(input.name(), path.display().to_string());
        }
        let error = open(&format!("{}:200001", path.display())).err().unwrap();
        let ErrorKind::Format { problem: Problem::OutOfRange { found, .. }, .. } = error.kind()
        else {
            panic!("{error}");
        };
        assert_eq!(*found, 200_001);
        assert!(error.to_string().contains("at most 200000"), "{error}");
    }
}

#[test]
fn what_cannot_be_opened_says_so() {
    let directory = tempdir().unwrap();
    let absent = directory.path().join("absent");
    let error = open(&absent.display().to_string()).err().unwrap();
    assert!(error.is_not_found());
    assert_eq!(error.place().file, Some(absent.display().to_string()));
    let error = open(&directory.path().display().to_string()).err().unwrap();
    assert!(error.to_string().contains("directory"), "{error}");
    assert!(open(":12").is_err());
}

#[test]
fn a_reader_that_fails_at_once_fails_when_read() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("broken"))
        }
    }
    let mut input = Input::from_reader("x", Broken);
    let error = read_all(&mut input).unwrap_err();
    assert_eq!(input.error(error).to_string(), "x @ 0: reading failed: broken");
    assert!(input.fill_buf().is_err());
}

#[test]
fn inputs_cross_threads() {
    fn sendable<T: Send>(value: T) -> T {
        value
    }
    let name = RxFilename::parse("/dev/null").unwrap();
    let input = sendable(Input::open(&name, &Opener::default()).unwrap());
    assert_eq!(read_all(input).unwrap(), b"");
}

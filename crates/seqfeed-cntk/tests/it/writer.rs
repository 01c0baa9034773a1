//! What the writer writes, read by a small reader that knows nothing of it.

use std::io;

use proptest::prelude::*;
use seqfeed_cntk::ctf::{Floats, Writer, WriterSamples, WriterStream};
use seqfeed_core::{Error, Key};

/// A sample as it stands in the text: indices, where there are any, and values.
type Sample = Vec<(Option<u32>, String)>;

/// A sequence as it stands in the text: its id, its key, and its samples in each stream.
#[derive(Debug, Default, PartialEq)]
struct Sequence {
    id: u64,
    key: Option<String>,
    streams: Vec<Vec<Sample>>,
}

/// Whether a text is a number by CTF's grammar.
fn is_number(text: &str) -> bool {
    let digits = |text: &mut &str| {
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let found = rest.len() < text.len();
        *text = rest;
        found
    };
    let mut text = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !digits(&mut text) {
        return false;
    }
    if let Some(rest) = text.strip_prefix('.') {
        text = rest;
        if !digits(&mut text) {
            return false;
        }
    }
    if let Some(rest) = text.strip_prefix(['e', 'E']) {
        text = rest.strip_prefix(['+', '-']).unwrap_or(rest);
        if !digits(&mut text) {
            return false;
        }
    }
    text.is_empty()
}

fn read(text: &[u8], aliases: &[&str]) -> Vec<Sequence> {
    let text = std::str::from_utf8(text).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    let mut sequences: Vec<Sequence> = Vec::new();
    for line in text.lines() {
        // Pieces begin with `|`; one that begins with `|#` and is no comment goes on with the last.
        let (id, line) = line.split_once(' ').unwrap();
        let id: u64 = id.parse().unwrap();
        if sequences.last().is_none_or(|last| last.id != id) {
            let streams = vec![Vec::new(); aliases.len()];
            sequences.push(Sequence { id, key: None, streams });
        }
        let sequence = sequences.last_mut().unwrap();
        for piece in line.split('|').skip(1) {
            if let Some(comment) = piece.strip_prefix('#') {
                let comment = comment.trim_end();
                match &mut sequence.key {
                    Some(key) => *key = format!("{key}|{comment}"),
                    None => sequence.key = Some(comment.trim_start().to_owned()),
                }
                continue;
            }
            let mut words = piece.split_ascii_whitespace();
            let alias = words.next().unwrap();
            let stream = aliases.iter().position(|&other| other == alias).unwrap();
            let sample = words.map(|word| match word.split_once(':') {
                Some((index, value)) => (Some(index.parse().unwrap()), value.to_owned()),
                None => (None, word.to_owned()),
            });
            let sample: Sample = sample.collect();
            assert!(sample.iter().all(|(_, value)| is_number(value)), "{sample:?}");
            sequence.streams[stream].push(sample);
        }
    }
    sequences
}

/// What is written of one sequence: 32-bit dense values, 64-bit ones, and sparse ones.
#[derive(Clone, Debug)]
struct Given {
    key: String,
    dense: Vec<[f32; 3]>,
    wide: Vec<f64>,
    sparse: Vec<Vec<(u32, f32)>>,
}

fn finite_f32() -> impl Strategy<Value = f32> {
    prop_oneof![
        any::<u32>().prop_map(f32::from_bits),
        (-1000..1000).prop_map(|number| number as f32),
        Just(-0.0),
        Just(f32::MAX),
        Just(f32::from_bits(1)),
    ]
    .prop_filter("finite", |value| value.is_finite())
}

fn finite_f64() -> impl Strategy<Value = f64> {
    prop_oneof![any::<u64>().prop_map(f64::from_bits), -1e3..1e3, Just(-0.0), Just(f64::MIN)]
        .prop_filter("finite", |value| value.is_finite())
}

fn given(key: impl Strategy<Value = String>) -> impl Strategy<Value = Given> {
    let dense = prop::collection::vec(prop::array::uniform3(finite_f32()), 1..5);
    let wide = prop::collection::vec(finite_f64(), 1..5);
    let sample = prop::collection::vec((0..50_u32, finite_f32()), 0..4);
    let sparse = prop::collection::vec(sample, 1..5);
    (key, dense, wide, sparse).prop_map(|(key, dense, wide, sparse)| Given {
        key,
        dense,
        wide,
        sparse,
    })
}

fn write(given: &[Given]) -> Vec<u8> {
    let streams = vec![
        WriterStream::dense("x", 3),
        WriterStream::dense("x2#", 1),
        WriterStream::sparse("10", 50),
    ];
    let mut writer = Writer::new(Vec::new(), streams).unwrap();
    for Given { key, dense, wide, sparse } in given {
        let (indices, values): (Vec<_>, Vec<_>) = sparse.iter().flatten().copied().unzip();
        let mut end = 0;
        let ends = sparse.iter().map(|sample| {
            end += sample.len() as u32;
            end
        });
        let ends: Vec<u32> = ends.collect();
        let samples = [
            WriterSamples::dense(dense.as_flattened()),
            WriterSamples::dense(wide),
            WriterSamples::sparse(&values, &indices, &ends),
        ];
        writer.write_sequence(Key(key.as_bytes()), &samples).unwrap();
    }
    writer.finish().unwrap()
}

/// Compares bit for bit.
fn compare(given: &[Given], text: &[u8], ids: impl Fn(usize) -> u64, with_keys: bool) {
    let read = read(text, &["x", "x2#", "10"]);
    assert_eq!(read.len(), given.len());
    for (number, (read, given)) in read.iter().zip(given).enumerate() {
        assert_eq!(read.id, ids(number));
        assert_eq!(read.key.as_deref(), with_keys.then_some(&*given.key));
        let f32s = |sample: &Sample| -> Vec<(Option<u32>, u32)> {
            let bits = |text: &str| text.parse::<f32>().unwrap().to_bits();
            sample.iter().map(|(index, value)| (*index, bits(value))).collect()
        };
        let dense: Vec<_> = read.streams[0].iter().map(f32s).collect();
        let expected =
            given.dense.iter().map(|row| row.map(|value| (None, value.to_bits())).to_vec());
        assert_eq!(dense, expected.collect::<Vec<_>>());
        let wide: Vec<u64> =
            read.streams[1].iter().map(|s| s[0].1.parse::<f64>().unwrap().to_bits()).collect();
        assert_eq!(wide, given.wide.iter().map(|value| value.to_bits()).collect::<Vec<_>>());
        let sparse: Vec<_> = read.streams[2].iter().map(f32s).collect();
        let expected = given.sparse.iter().map(|sample| {
            sample.iter().map(|&(index, value)| (Some(index), value.to_bits())).collect::<Vec<_>>()
        });
        assert_eq!(sparse, expected.collect::<Vec<_>>());
    }
}

proptest! {
    #[test]
    fn sequences_with_names_read_back(
        given in prop::collection::vec(given("[a-z|#_0-9é-]{0,6}[a-z|]"), 0..6),
    ) {
        compare(&given, &write(&given), |number| number as u64, true);
    }

    #[test]
    fn sequences_with_numbers_read_back(
        start in any::<u64>(),
        given in prop::collection::vec(given(Just(String::new())), 0..6),
    ) {
        let id = |number| start.wrapping_add(number as u64 * 0x1234_5678_9abc_def1);
        let mut given = given;
        for (number, given) in given.iter_mut().enumerate() {
            given.key = id(number).to_string();
        }
        compare(&given, &write(&given), id, false);
    }
}

#[test]
fn streams_of_different_lengths_begin_together() {
    let streams = vec![WriterStream::dense("a", 1), WriterStream::sparse("b", 9)];
    let mut writer = Writer::new(Vec::new(), streams).unwrap();
    let a = WriterSamples::dense(&[1.0_f32, 0.25]);
    let b = WriterSamples::sparse(&[1.0_f64, 1e300, -3.0], &[8, 0, 0], &[1, 1, 3]);
    writer.write_sequence(Key(b"12"), &[a, b]).unwrap();
    let b = WriterSamples::sparse(&[0.1_f32], &[5], &[1]);
    writer.write_sequence(Key(b"3"), &[a, b]).unwrap();
    let expected =
        "12 |a 1 |b 8:1\n12 |a 0.25 |b\n12 |b 0:1e+300 0:-3\n3 |a 1 |b 5:0.1\n3 |a 0.25\n";
    assert_eq!(String::from_utf8(writer.finish().unwrap()).unwrap(), expected);
}

fn numbered() -> Writer<Vec<u8>> {
    Writer::new(Vec::new(), vec![WriterStream::dense("x", 1)]).unwrap()
}

#[test]
fn the_first_key_tells_what_ids_are() {
    let x = [WriterSamples::dense(&[1.0_f32])];
    let mut writer = numbered();
    writer.write_sequence(Key(b"7"), &x).unwrap();
    for key in ["007", "u1", "-1", "+1", "18446744073709551616", ""] {
        let error = writer.write_sequence(Key(key.as_bytes()), &x).unwrap_err();
        assert!(error.help().unwrap().contains("number_sequences"), "{key}");
    }
    writer.write_sequence(Key(b"7"), &x).unwrap_err();
    writer.write_sequence(Key(b"18446744073709551615"), &x).unwrap();
    writer.write_sequence(Key(b"7"), &x).unwrap();
    let expected = b"7 |x 1\n18446744073709551615 |x 1\n7 |x 1\n";
    assert_eq!(writer.finish().unwrap(), expected);

    let mut writer = numbered();
    writer.write_sequence(Key(b"007"), &x).unwrap();
    writer.write_sequence(Key(b"7"), &x).unwrap();
    assert_eq!(writer.finish().unwrap(), b"0 |# 007 |x 1\n1 |# 7 |x 1\n");

    let mut writer = numbered().number_sequences();
    writer.write_sequence(Key(b"7"), &x).unwrap();
    assert_eq!(writer.finish().unwrap(), b"0 |# 7 |x 1\n");
}

#[test]
fn what_ctf_cannot_say_is_refused_and_nothing_of_it_written() {
    let streams = || vec![WriterStream::dense("x", 2), WriterStream::sparse("y", 3)];
    let x = WriterSamples::dense(&[1.0_f32, 2.0]);
    let y = WriterSamples::sparse(&[1.0_f32], &[2], &[1]);
    let none: &[f32] = &[];
    let cases: [(&str, &[WriterSamples<'_>], &str); 12] = [
        ("k", &[x], "streams of a sequence: expected 2, found 1"),
        ("k", &[WriterSamples::dense(none), y], "stream x has no samples"),
        ("k", &[x, WriterSamples::sparse(none, &[], &[])], "stream y has no samples"),
        ("k", &[WriterSamples::dense(&[1.0_f32, f32::NAN]), y], "stream x: a value is NaN"),
        ("k", &[x, WriterSamples::sparse(&[f64::NEG_INFINITY], &[2], &[1])], "is -inf"),
        ("k", &[WriterSamples::dense(&[1.0_f32]), y], "1 values are not whole samples of 2"),
        ("k", &[y, x], "it is dense, its samples are not"),
        ("k", &[x, x], "it is sparse, its samples are not"),
        ("k", &[x, WriterSamples::sparse(&[1.0_f32], &[3], &[1])], "is 3, expected below 3"),
        ("k", &[x, WriterSamples::sparse(&[1.0_f32], &[2], &[2])], "are not as many"),
        ("k", &[x, WriterSamples::sparse(&[1.0_f32], &[2], &[1, 0, 1])], "ends before it begins"),
        ("a b", &[x, y], "white space"),
    ];
    let mut writer = Writer::new(Vec::new(), streams()).unwrap();
    for (key, samples, expected) in cases {
        let error = writer.write_sequence(Key(key.as_bytes()), samples).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(error.place().key.as_deref(), Some(key));
    }
    writer.write_sequence(Key(b"good"), &[x, y]).unwrap();
    assert_eq!(writer.finish().unwrap(), b"0 |# good |x 1 2 |y 2:1\n");
}

#[test]
fn streams_that_cntk_cannot_read_are_refused() {
    let refused = |streams: Vec<WriterStream>| -> Error {
        Writer::new(Vec::new(), streams).map(|_| ()).unwrap_err()
    };
    for alias in ["", "#x", "a b", "a|b", "a\tb", "a\n", "\x7f", "é"] {
        let error = refused(vec![WriterStream::dense(alias, 1)]);
        assert!(error.is_usage() && error.help().is_some(), "{alias:?}");
    }
    refused(vec![]);
    refused(vec![WriterStream::dense("x", 0)]);
    refused(vec![WriterStream::sparse("x", 1 << 31)]);
    refused(vec![WriterStream::dense("x", 1), WriterStream::sparse("x", 1)]);
    Writer::new(Vec::new(), vec![WriterStream::sparse("x#", (1 << 31) - 1)]).unwrap();
}

/// Takes a thousand bytes, then no more.
struct Full(usize);

impl io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.0);
        self.0 -= taken;
        if taken == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(taken) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_told_once_and_for_all() {
    let mut writer = Writer::new(Full(1000), vec![WriterStream::dense("x", 1)]).unwrap();
    let values = vec![0.1_f32; 100_000];
    let samples = [WriterSamples::Dense(Floats::F32(&values))];
    writer.write_sequence(Key(b"a"), &samples).unwrap_err();
    writer.write_sequence(Key(b"b"), &samples).unwrap_err();
    assert!(writer.finish().is_err());
}

/// A number as CNTK reads it: in double arithmetic, digit by digit.
fn as_cntk_reads(text: &str) -> f64 {
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
    let (text, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let number = |digits: &str| digits.bytes().fold(0.0, |n, d| n * 10.0 + f64::from(d - b'0'));
    let divisor = fraction.bytes().fold(1.0, |divisor, _| divisor * 10.0);
    let mut value: f64 = number(whole) + number(fraction) / divisor;
    let exponent: f64 = exponent.parse().unwrap();
    if exponent != 0.0 {
        value *= 10f64.powf(exponent);
    }
    if negative { -value } else { value }
}

/// No rule says so, since CNTK rounds more than once; but no 32-bit float of a great many differs.
#[test]
fn cntk_reads_the_same_floats() {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 32) as u32
    };
    // Any bits, and the magnitudes that data have.
    let values: Vec<f32> = (0..400_000)
        .map(|number| match number % 2 {
            0 => f32::from_bits(next()),
            _ => f32::from_bits(next() % (40 << 23) + ((127 - 20) << 23)),
        })
        .filter(|value| value.is_finite())
        .collect();
    let mut writer = numbered();
    writer.write_sequence(Key(b"0"), &[WriterSamples::dense(&values)]).unwrap();
    let text = String::from_utf8(writer.finish().unwrap()).unwrap();
    let mut different = Vec::new();
    for (line, value) in text.lines().zip(&values) {
        let text = line.rsplit(' ').next().unwrap();
        if (as_cntk_reads(text) as f32).to_bits() != value.to_bits() {
            different.push(text);
        }
    }
    assert!(different.is_empty(), "{} {different:?}", different.len());
}

//! Compressed and sparse matrices at the edges: against Kaldi's files, against a model,
//! and damaged.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use seqfeed_core::{Error, Result};
use seqfeed_kaldi::{
    CompressedMatrix, CompressionMethod, GeneralMatrix, Holder, Matrix, Mode, ObjectReader,
    PackedMatrix, Range, SparseMatrix, SparseVector, write_object,
};

use crate::tables::{contents, features, shared};

/// All objects of an archive.
fn read_archive<T: Holder>(path: &Path) -> Result<Vec<(Vec<u8>, T)>> {
    let bytes = fs::read(path).unwrap();
    let mut reader = ObjectReader::from_bytes(path.display().to_string(), bytes);
    let (mut key, mut objects) = (Vec::new(), Vec::new());
    while reader.read_key(&mut key)? {
        objects.push((key.clone(), reader.read::<T>()?));
    }
    Ok(objects)
}

/// An archive of objects.
fn write_archive<T: Holder>(objects: &[(Vec<u8>, T)], mode: Mode) -> Vec<u8> {
    let mut out = Vec::new();
    for (key, object) in objects {
        out.extend_from_slice(key);
        out.push(b' ');
        write_object(object, &mut out, mode).unwrap();
    }
    out
}

/// Fails without printing all of both.
fn assert_same(found: &[u8], expected: &[u8], what: &str) {
    let differ = found.iter().zip(expected).position(|(a, b)| a != b);
    assert_eq!((differ, found.len()), (None, expected.len()), "{what}");
}

#[test]
fn floats_and_doubles_are_compressed_to_the_bytes_of_kaldi() {
    let Some(golden) = shared("golden/kaldi") else { return };
    let floats = read_archive::<Matrix<f32>>(&golden.join("inputs/cm_src.ark")).unwrap();
    let doubles = read_archive::<Matrix<f64>>(&golden.join("inputs/cm_src.ark")).unwrap();
    assert!(floats.len() > 20);
    for method in CompressionMethod::ALL {
        let name = format!("ark/cm_m{}.ark", method as i32);
        let binary = fs::read(golden.join(&name)).unwrap();
        let text = fs::read(golden.join(name.replace(".ark", ".txt.ark"))).unwrap();
        let compressed: Vec<_> = floats
            .iter()
            .map(|(key, m)| (key.clone(), CompressedMatrix::compress(m, method).unwrap()))
            .collect();
        assert_same(&write_archive(&compressed, Mode::Binary), &binary, &name);
        assert_same(&write_archive(&compressed, Mode::Text), &text, &name);
        let compressed: Vec<_> = doubles
            .iter()
            .map(|(key, m)| (key.clone(), CompressedMatrix::compress(m, method).unwrap()))
            .collect();
        assert_same(&write_archive(&compressed, Mode::Binary), &binary, &name);
    }
}

#[test]
fn the_four_bytes_too_many_of_kaldi_are_no_part_of_a_key() {
    let Some(golden) = shared("golden/kaldi/ark") else { return };
    let read = read_archive::<CompressedMatrix>(&golden.join("cm_empty.ark")).unwrap();
    assert_eq!((&read[0].0[..], &read[1].0[..], read.len()), (&b"e"[..], &b"b"[..], 2));
    let rows: Vec<_> = read.iter().map(|(_, matrix)| matrix.rows()).collect();
    assert_eq!(rows, [0, 2]);
    let keys = contents("ark:cm_empty.ark", &features(&golden)).unwrap();
    assert_eq!(keys.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), ["e", "b"]);
    // Written without them, and not taken from what follows.
    let mut written = Vec::new();
    write_object(&read[0].1, &mut written, Mode::Binary).unwrap();
    assert_eq!(written, [&b"\0BCM "[..], &[0; 16]].concat());
    written.extend_from_slice(b"next");
    let mut reader = ObjectReader::from_bytes("empty", written);
    reader.read::<CompressedMatrix>().unwrap();
    assert_eq!(reader.position(), 21);
}

/// Kaldi's conversion of a float to an integer: what does not fit is the least integer.
fn truncate(value: f64) -> i64 {
    let fits = value > -2_147_483_649.0 && value < 2_147_483_648.0;
    if fits { value as i64 } else { i64::from(i32::MIN) }
}

/// Kaldi's formulas one value at a time, on sorted columns. Nothing where Kaldi aborts.
fn by_the_book(matrix: &Matrix<f32>, method: i32) -> Option<Vec<u8>> {
    let method = match method {
        1 if matrix.rows > 8 => 2,
        1 => 3,
        method => method,
    };
    let (min, range) = match method {
        4 => (-32768.0, 65535.0),
        6 => (0.0, 255.0),
        7 => (0.0, 1.0),
        _ => {
            let values = &matrix.values;
            let min = values.iter().copied().reduce(|a, b| if b < a { b } else { a })?;
            let max = values.iter().copied().reduce(|a, b| if b > a { b } else { a })?;
            let above = (f64::from(min) + (1.0 + f64::from(min.abs()))) as f32;
            let max = if max == min { above } else { max };
            let sound = values.iter().all(|v| v.is_finite()) && (max - min).is_finite();
            sound.then_some((min, max - min))?
        }
    };
    let code = |value: f32, top: f32| {
        let place = (value - min) / range;
        let place = if place > 1.0 { 1.0 } else { place };
        let place = if place < 0.0 { 0.0 } else { place };
        truncate(f64::from(place * top) + 0.499)
    };
    let mut out = match method {
        2 => b"\0BCM ".to_vec(),
        3 | 4 => b"\0BCM2 ".to_vec(),
        _ => b"\0BCM3 ".to_vec(),
    };
    out.extend([min, range].iter().flat_map(|v| v.to_le_bytes()));
    out.extend([matrix.rows as i32, matrix.cols as i32].iter().flat_map(|v| v.to_le_bytes()));
    match method {
        2 => {}
        3 | 4 => {
            let codes = matrix.values.iter().map(|&value| code(value, 65535.0) as u16);
            out.extend(codes.flat_map(u16::to_le_bytes));
            return Some(out);
        }
        _ => {
            out.extend(matrix.values.iter().map(|&value| code(value, 255.0) as u8));
            return Some(out);
        }
    }
    let mut bytes = Vec::new();
    for col in 0..matrix.cols {
        let column: Vec<f32> = (0..matrix.rows).map(|row| matrix.row(row)[col]).collect();
        let mut sorted = column.clone();
        sorted.sort_by(f32::total_cmp);
        let n = sorted.len();
        let picks = if n < 5 { [0, 1, 2, 3] } else { [0, n / 4, n / 4 * 3, n - 1] };
        let picks = picks.map(|at| sorted.get(at).map(|&value| code(value, 65535.0)));
        let p0 = picks[0]?.min(65532);
        let p25 = picks[1].map_or(p0 + 1, |p| p.max(p0 + 1).min(65533));
        let p75 = picks[2].map_or(p25 + 1, |p| p.max(p25 + 1).min(65534));
        let p100 = picks[3].map_or(p75 + 1, |p| p.max(p75 + 1));
        out.extend([p0, p25, p75, p100].iter().flat_map(|&p| (p as u16).to_le_bytes()));
        let [f0, f25, f75, f100] =
            [p0, p25, p75, p100].map(|p| min + (range * 1.525_902_2e-5_f32) * p as f32);
        bytes.extend(column.iter().map(|&v| {
            let step = |a: f32, b: f32, n: f32| truncate(f64::from((v - a) / (b - a) * n) + 0.5);
            let byte = if v < f25 {
                step(f0, f25, 64.0).clamp(0, 64)
            } else if v < f75 {
                (64 + step(f25, f75, 128.0)).clamp(64, 192)
            } else {
                (192 + step(f75, f100, 63.0)).clamp(192, 255)
            };
            byte as u8
        }));
    }
    out.extend(bytes);
    Some(out)
}

/// Compares all methods with the model.
fn check_against_the_book(matrix: &Matrix<f32>) {
    for method in CompressionMethod::ALL {
        let found = CompressedMatrix::compress(matrix, method).ok().map(|compressed| {
            let mut bytes = Vec::new();
            write_object(&compressed, &mut bytes, Mode::Binary).unwrap();
            bytes
        });
        let expected = by_the_book(matrix, method as i32);
        assert_eq!(found.is_some(), expected.is_some(), "{method:?} {matrix:?}");
        assert!(found == expected, "{method:?} {matrix:?}");
    }
}

#[test]
fn compression_at_the_edges_goes_by_the_book() {
    let columns = |columns: &[f32], rows: usize| Matrix {
        rows,
        cols: columns.len(),
        values: columns.repeat(rows),
    };
    let column = |values: &[f32]| Matrix { rows: values.len(), cols: 1, values: values.to_vec() };
    // A range so narrow that levels coincide.
    let mut narrow = [0.0; 12];
    narrow[11] = 1e-42;
    check_against_the_book(&column(&narrow));
    for ulps in [1, 2, 3, 7, 1000] {
        let steps = (0..30u32).map(|i| f32::from_bits(1e8f32.to_bits() + i * i % (ulps + 1)));
        check_against_the_book(&column(&steps.collect::<Vec<_>>()));
    }
    // The sign of a zero, the first of which is kept.
    check_against_the_book(&column(&[1.0, 0.0, -0.0]));
    check_against_the_book(&column(&[1.0, -0.0, 0.0]));
    check_against_the_book(&columns(&[-0.0, 0.0], 9));
    // Constants, and ranges that don't fit 32 bits.
    for value in [0.0, -1.5, 1e-45, 1e30, -1e30, f32::MAX, f32::MIN] {
        check_against_the_book(&columns(&[value], 1));
        check_against_the_book(&columns(&[value, value], 20));
    }
    check_against_the_book(&columns(&[f32::MAX, f32::MIN], 20));
    // What is no number, for methods with a range of their own.
    check_against_the_book(&columns(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 70000.0], 3));
    // Where codes round up.
    let halves: Vec<f32> = (0..2000).map(|i| i as f32 / 8.0 - 3.0).collect();
    check_against_the_book(&column(&halves));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn compression_goes_by_the_book(
        rows in 1usize..40,
        cols in 1usize..20,
        seed: u64,
        offset in prop::sample::select(vec![0.0f32, 1.0, -3.0, 1000.0, 1e6, -1e8, 1e-40]),
        scale in prop::sample::select(vec![1.0f32, 1e-3, 255.0, 65535.0, 4062.0, 1e-42, 1e30]),
        levels in prop::sample::select(vec![1u64, 2, 3, 17, 256, 65536, 1 << 24]),
    ) {
        let mut state = seed;
        let values = (0..rows * cols).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            offset + ((state >> 32) % levels) as f32 / levels as f32 * scale
        });
        check_against_the_book(&Matrix { rows, cols, values: values.collect() });
    }

    #[test]
    fn a_part_has_the_values_of_the_whole(
        sizes in (1usize..400, 1usize..40),
        parts in (any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>()),
        method in prop::sample::select(CompressionMethod::ALL.to_vec()),
    ) {
        let (rows, cols) = sizes;
        let span = |a: u32, b: u32, size: usize| {
            let (a, b) = (a % size as u32, b % size as u32);
            Some((a.min(b), a.max(b)))
        };
        let range = Range { rows: span(parts.0, parts.1, rows), cols: span(parts.2, parts.3, cols) };
        let values = (0..rows * cols).map(|i| (i as f32 * 0.7).sin() * 9.0).collect();
        let matrix = Matrix { rows, cols, values };
        let compressed = CompressedMatrix::compress(&matrix, method).unwrap();
        let expected = compressed.to_matrix::<f32>().extract(&range).unwrap();
        // Stays compressed, without being compressed once more.
        let part = compressed.extract(&range).unwrap();
        prop_assert_eq!(&part.to_matrix::<f32>(), &expected);
        prop_assert_eq!(&compressed.part::<f32>(&range).unwrap(), &expected);
        let mut bytes = Vec::new();
        write_object(&part, &mut bytes, Mode::Binary).unwrap();
        let back: CompressedMatrix = ObjectReader::from_bytes("part", bytes).read().unwrap();
        prop_assert_eq!(back, part);
        let GeneralMatrix::Full(full) =
            GeneralMatrix::Compressed(compressed.clone()).extract(&range).unwrap()
        else {
            panic!("a part of a general matrix is full");
        };
        prop_assert_eq!(full, expected);
    }
}

/// Reads an object that is none: the error, and where it is.
fn refusal<T: Holder>(bytes: &[u8]) -> (Option<u64>, Error) {
    let mut reader = ObjectReader::from_bytes("bad", bytes);
    let error = reader.read::<T>().err().expect("it is refused");
    let at = match error.place().position {
        Some(seqfeed_core::Position::Byte(at)) => Some(at),
        _ => None,
    };
    assert_eq!(error.place().file.as_deref(), Some("bad"), "{error}");
    (at, error)
}

#[test]
fn what_is_malformed_is_refused_where_it_is() {
    fn cases<T: Holder>(cases: &[(&[u8], u64, &str)]) {
        for &(bytes, at, message) in cases {
            let shown = bytes.escape_ascii();
            let (found, error) = refusal::<T>(bytes);
            assert!(error.message().contains(message), "{shown}: {error}");
            assert_eq!(found, Some(at), "{shown}: {error}");
        }
    }
    cases::<CompressedMatrix>(&[
        (b"\0BCM ", 5, "header"),
        (b"\0BCM4 ", 2, "CM2 or CM3"),
        (b"\0BFV \x04\0\0\0\0", 2, "CM2 or CM3"),
        (b"\0BCM \0\0\0\0\0\0\0\0\xff\xff\xff\xff\x01\0\0\0", 5, "number of rows is -1"),
        (b"\0BCM \0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0", 5, "0 rows and 1 columns"),
        (b"\0BCM \0\0\0\0\0\0\0\0\x02\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0x", 30, "1 byte"),
        // 4611686014132420609 bytes are not there.
        (b"\0BCM3 \0\0\0\0\0\0\0\0\xff\xff\xff\x7f\xff\xff\xff\x7f", 22, "missing"),
        (b"\0BCM2 \0\0\0\0\0\0\0\0\xff\xff\xff\x7f\xff\xff\xff\x7f12", 24, "missing"),
        // Compressed by us: what cannot be.
        (b"\0BFM \x04\x01\0\0\0\x04\x01\0\0\0\0\0\x80\x7f", 2, "compress"),
        (b" [ 1 inf ]\n", 0, "compress"),
        (b" [ 1 2\n 3 ]\n", 10, "columns"),
    ]);
    cases::<PackedMatrix<f32>>(&[
        (b"\0BFP \x04\xff\xff\xff\xff", 5, "size is -1"),
        (b"\0BFP \x04\x02\0\0\0\0\0\0\0", 14, "missing"),
        (b"\0BFP \x04\xff\xff\xff\x7f", 5, "more than any file"),
        (b"\0BFM \x04\x02\0\0\0", 2, "FP or DP"),
        (b"[\n1 \n2 ]\n", 0, "triangle"),
        (b"[\n1 \n2 x ]\n", 7, "x"),
    ]);
    cases::<SparseVector<f32>>(&[
        (b"\0BSV \x04\xff\xff\xff\xff", 5, "dimension is -1"),
        (b"\0BSV \x04\x02\0\0\0\x04\x01\0\0\0\x04\x02\0\0\0\x04\0\0\0\0", 15, "index"),
        (b"\0BSV \x04\x02\0\0\0\x04\x01\0\0\0\x04\xff\xff\xff\xff\x04\0\0\0\0", 15, "index"),
        (b"\0BSV \x04\x02\0\0\0\x04\x01\0\0\0\x08\x02\0\0\0\x04\0\0\0\0", 15, "size byte"),
        (b"\0BSV \x04\x02\0\0\0\x04\xff\xff\xff\x7f", 15, ""),
        (b"dim=x [ ] ", 0, "dim="),
        (b"dim=-1 [ ] ", 0, "dim="),
        (b"dim=3 [ 0 1 3 1 ] ", 12, "index"),
        (b"dim=3 [ 0 1 2 ] ", 14, "float"),
        (b"dim=3 [ 0 1 ", 12, ""),
    ]);
    cases::<SparseMatrix<f32>>(&[
        (b"\0BSM \x04\xff\xff\xff\xff", 5, "-1"),
        (b"\0BSM \x04\xff\xff\xff\x7f", 10, ""),
        (b"rows=2147483647 dim=3 [ ] ", 26, ""),
        (b"rows=2 dim=3 [ ] dim=4 [ ] \n", 17, "columns of a row"),
        (b"\0BSM \x04\x01\0\0\0FV \x04\0\0\0\0", 10, "SV"),
    ]);
    cases::<GeneralMatrix>(&[
        (b"\0BXM ", 2, "CM2 or CM3"),
        (b"\0BCV ", 2, "CM2 or CM3"),
        (b"\0BSX ", 2, "SM"),
        (b"rows=x ", 0, "rows="),
        (b"hello", 0, "["),
    ]);
}

#[test]
fn rows_of_other_dimensions_make_no_sparse_matrix() {
    let row = |dim| SparseVector { dim, pairs: vec![(1, 1.0f32)] };
    let matrix = SparseMatrix { rows: vec![row(2), row(3)] };
    assert!(matrix.to_matrix().is_err());
    for mode in [Mode::Binary, Mode::Text] {
        assert!(write_object(&matrix, &mut Vec::new(), mode).is_err());
    }
}

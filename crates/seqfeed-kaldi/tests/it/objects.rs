//! Basic types, vectors, matrices: files that Kaldi wrote, read and written back.

use std::fmt::Debug;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use seqfeed_kaldi::{
    AnyObject, CompressedMatrix, CompressionMethod, GeneralMatrix, Holder, IntegerPairVector,
    IntegerVector, Matrix, Mode, ObjectReader, ObjectType, PackedMatrix, Range, SparseMatrix,
    SparseVector, Token, TokenVector, Vector, write_object,
};

use crate::tables::shared;

/// Reads an archive and writes it again.
pub(crate) fn rewritten<T: Holder>(bytes: &[u8], mode: Mode) -> (Vec<u8>, Vec<T>) {
    let mut reader = ObjectReader::from_bytes("archive", bytes);
    let (mut out, mut values, mut key) = (Vec::new(), Vec::new(), Vec::new());
    while reader.read_key(&mut key).unwrap() {
        let value: T = reader.read().unwrap_or_else(|error| panic!("{error}"));
        out.extend_from_slice(&key);
        out.push(b' ');
        write_object(&value, &mut out, mode).unwrap();
        values.push(value);
    }
    (out, values)
}

/// Both forms of a golden archive: read and written to the same bytes, and the one from the other.
pub(crate) fn golden<T: Holder>(directory: &Path, binary: &str, text: &str) {
    let read = |name: &str| fs::read(directory.join(name)).unwrap();
    if !binary.is_empty() {
        let (written, _) = rewritten::<T>(&read(binary), Mode::Binary);
        assert!(written == read(binary), "{binary} is written otherwise");
    }
    if !text.is_empty() {
        let (written, _) = rewritten::<T>(&read(text), Mode::Text);
        assert!(written == read(text), "{text} is written otherwise");
    }
    if !binary.is_empty() && !text.is_empty() {
        let (written, _) = rewritten::<T>(&read(binary), Mode::Text);
        assert!(written == read(text), "{binary} gives another text");
    }
}

#[test]
fn archives_are_written_as_kaldi_wrote_them() {
    let Some(directory) = shared("golden/kaldi/ark") else { return };
    let both = |name: &str| (format!("{name}.bin.ark"), format!("{name}.txt.ark"));
    macro_rules! check {
        ($($name:literal $type:ty),* $(,)?) => {
            $(let (binary, text) = both($name);
            golden::<$type>(&directory, &binary, &text);)*
        };
    }
    check! {
        "bfm" Matrix<f32>, "dm" Matrix<f64>, "bfv" Vector<f32>, "dv" Vector<f64>, "keys" Matrix<f32>,
        "i8" i8, "i16" i16, "i32" i32, "i64" i64, "u8" u8, "u16" u16, "u32" u32, "u64" u64,
        "f" f32, "d" f64, "bool" bool,
        "i8v" Vec<i8>, "i32v" Vec<i32>, "i64v" Vec<i64>, "fv" Vec<f32>,
        "i32vv" Vec<Vec<i32>>, "i32pv" Vec<(i32, i32)>, "fpv" Vec<(f32, f32)>,
        "tok" Token, "tokv" TokenVector,
        "sm" SparseMatrix<f32>, "gm" GeneralMatrix,
        "spm" PackedMatrix<f32>, "dspm" PackedMatrix<f64>,
    }
    golden::<SparseMatrix<f64>>(&directory, "dsm.bin.ark", "");
    golden::<GeneralMatrix>(&directory, "gm_cm.bin.ark", "");
    for method in 1..=7 {
        golden::<CompressedMatrix>(&directory, &format!("cm_m{method}.ark"), "");
        golden::<GeneralMatrix>(&directory, &format!("cm_m{method}.ark"), "");
    }
    golden::<Vec<i32>>(&directory, "", "i32v.tool.txt.ark");
    golden::<Vec<Vec<i32>>>(&directory, "", "i32vv.tool.txt.ark");
    let read = |name: &str| fs::read(directory.join(name)).unwrap();
    // Either width, containers of both modes, CRLF, odd forms.
    for (from, to, text) in [
        ("dm.bin.ark", "dm_as_float.bin.ark", false),
        ("bfm.txt.ark", "bfm.from_txt.bin.ark", false),
        ("mixed_bt.ark", "mixed_bt.out.ark", false),
        ("crlf.ark", "crlf.out.ark", false),
    ] {
        let mode = if text { Mode::Text } else { Mode::Binary };
        let (written, _) = rewritten::<Matrix<f32>>(&read(from), mode);
        // What Kaldi cannot read of its own text, it has left out.
        assert!(written == read(to), "{from} gives another {to}");
    }
    for method in 1..=7 {
        let name = format!("cm_m{method}");
        let (written, _) = rewritten::<Matrix<f32>>(&read(&format!("{name}.ark")), Mode::Text);
        assert!(written == read(&format!("{name}.txt.ark")), "{name}");
    }
}

#[test]
fn types_are_learned_from_the_data() {
    let Some(directory) = shared("golden/kaldi") else { return };
    let cases = [
        ("bfm", ObjectType::FloatMatrix),
        ("dm", ObjectType::DoubleMatrix),
        ("bfv", ObjectType::FloatVector),
        ("dv", ObjectType::DoubleVector),
        ("keys", ObjectType::FloatMatrix),
        ("i8", ObjectType::Int8),
        ("i16", ObjectType::Int16),
        ("i32", ObjectType::Int32),
        ("u8", ObjectType::Uint8),
        ("u16", ObjectType::Uint16),
        ("u32", ObjectType::Uint32),
        ("u64", ObjectType::Uint64),
        ("f", ObjectType::Float),
        ("d", ObjectType::Double),
        ("bool", ObjectType::Bool),
        ("i32v", ObjectType::Int32Vector),
        ("i32vv", ObjectType::Int32VectorVector),
        ("i32pv", ObjectType::Int32PairVector),
        ("fpv", ObjectType::FloatPairVector),
        ("tok", ObjectType::Token),
        ("tokv", ObjectType::TokenVector),
        ("sm", ObjectType::SparseMatrix),
        ("spm", ObjectType::FloatPackedMatrix),
        ("dspm", ObjectType::DoublePackedMatrix),
        ("post", ObjectType::Posterior),
        ("gpost", ObjectType::GaussPosterior),
    ];
    for (name, expected) in cases {
        for (extension, mode) in [("bin", Mode::Binary), ("txt", Mode::Text)] {
            let file = format!("ark/{name}.{extension}.ark");
            if mode == Mode::Text && matches!(name, "dm" | "dv" | "d") {
                // Nothing in text tells doubles from floats, and these are too large for floats.
                continue;
            }
            let bytes = fs::read(directory.join(&file)).unwrap();
            let (written, values) = rewritten::<AnyObject>(&bytes, mode);
            assert!(written == bytes, "{file} is written otherwise");
            // An empty one may be anything.
            let found = values[0].object_type();
            assert!(found == expected || mode == Mode::Text, "{file}: {found}");
        }
    }
    for (file, expected) in [
        ("ark/cm_m2.ark", ObjectType::CompressedMatrix),
        ("ark/npyf.ark", ObjectType::FloatNumpyArray),
        ("wav/wav.ark", ObjectType::Wave),
    ] {
        let bytes = fs::read(directory.join(file)).unwrap();
        let (written, values) = rewritten::<AnyObject>(&bytes, Mode::Binary);
        assert!(written == bytes, "{file} is written otherwise");
        assert_eq!(values[0].object_type(), expected, "{file}");
    }
    for object_type in ObjectType::ALL {
        assert_eq!(object_type.name().parse::<ObjectType>().unwrap(), *object_type);
    }
    assert!("matrix".parse::<ObjectType>().unwrap_err().to_string().contains("float-matrix"));
}

#[test]
fn matrices_are_compressed_to_the_bytes_of_kaldi() {
    let Some(directory) = shared("golden/kaldi") else { return };
    let source = fs::read(directory.join("inputs/cm_src.ark")).unwrap();
    for number in 1..=7 {
        let method = CompressionMethod::try_from(number).unwrap();
        let expected = fs::read(directory.join(format!("ark/cm_m{number}.ark"))).unwrap();
        let mut reader = ObjectReader::from_bytes("archive", source.clone());
        let (mut out, mut key) = (Vec::new(), Vec::new());
        while reader.read_key(&mut key).unwrap() {
            let matrix: Matrix<f32> = reader.read().unwrap();
            out.extend_from_slice(&key);
            out.push(b' ');
            let compressed = CompressedMatrix::compress(&matrix, method).unwrap();
            write_object(&compressed, &mut out, Mode::Binary).unwrap();
            // A part is that part of the whole.
            if matrix.rows > 3 {
                let range = Range { rows: Some((1, 2)), cols: Some((0, 0)) };
                let part: CompressedMatrix = compressed.extract(&range).unwrap();
                assert_eq!(part.to_matrix::<f64>(), compressed.part(&range).unwrap());
                let whole = compressed.to_matrix::<f64>().extract(&range).unwrap();
                assert_eq!(compressed.part::<f64>(&range).unwrap(), whole);
            }
        }
        assert!(out == expected, "method {number}");
    }
    // Kaldi writes empty ones wrongly.
    let bytes = fs::read(directory.join("ark/cm_empty.ark")).unwrap();
    let (_, values) = rewritten::<CompressedMatrix>(&bytes, Mode::Binary);
    assert_eq!(values[0].rows(), 0);
    assert!(values.len() > 1);
}

#[test]
fn what_cannot_be_compressed_is_refused() {
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut values = vec![0.5; 20];
        values[13] = value;
        let matrix = Matrix { rows: 10, cols: 2, values };
        for method in 1..=7 {
            let method = CompressionMethod::try_from(method).unwrap();
            let compressed = CompressedMatrix::compress(&matrix, method);
            let fixed = matches!(
                method,
                CompressionMethod::TwoByteSignedInteger
                    | CompressionMethod::OneByteUnsignedInteger
                    | CompressionMethod::OneByteZeroOne
            );
            assert_eq!(compressed.is_ok(), fixed, "{method:?} {value}");
        }
    }
    assert!(CompressionMethod::try_from(8).is_err());
    let sparse = SparseVector { dim: 3, pairs: vec![(3, 1.0f32)] };
    assert!(write_object(&sparse, &mut Vec::new(), Mode::Text).is_err());
}

/// Kaldi's formulas one value at a time, on sorted columns.
fn compressed_by_the_book(matrix: &Matrix<f32>) -> Vec<u8> {
    let min = matrix.values.iter().copied().fold(f32::INFINITY, f32::min);
    let max = matrix.values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let max = if max == min { (f64::from(min) + (1.0 + f64::from(min.abs()))) as f32 } else { max };
    let range = max - min;
    let code16 = |value: f32| {
        let f = ((value - min) / range).clamp(0.0, 1.0);
        (f64::from(f * 65535.0) + 0.499) as i32
    };
    let float = |code: i32| min + (range * 1.525_902_2e-5_f32) * code as f32;
    let mut out = b"\0BCM ".to_vec();
    out.extend([min, range].iter().flat_map(|v| v.to_le_bytes()));
    out.extend([matrix.rows as i32, matrix.cols as i32].iter().flat_map(|v| v.to_le_bytes()));
    let mut bytes = Vec::new();
    for col in 0..matrix.cols {
        let column: Vec<f32> = (0..matrix.rows).map(|row| matrix.row(row)[col]).collect();
        let mut s = column.clone();
        s.sort_by(f32::total_cmp);
        let n = s.len();
        let at = |i: usize| s.get(i).map(|&v| code16(v));
        let picks = match n {
            0..5 => [at(0), at(1), at(2), at(3)],
            _ => [at(0), at(n / 4), at(3 * (n / 4)), at(n - 1)],
        };
        let p0 = picks[0].unwrap().min(65532);
        let p25 = picks[1].map_or(p0 + 1, |p| p.max(p0 + 1)).min(65533);
        let p75 = picks[2].map_or(p25 + 1, |p| p.max(p25 + 1)).min(65534);
        let p100 = picks[3].map_or(p75 + 1, |p| p.max(p75 + 1));
        out.extend([p0, p25, p75, p100].iter().flat_map(|&p| (p as u16).to_le_bytes()));
        let (f0, f25, f75, f100) = (float(p0), float(p25), float(p75), float(p100));
        for v in column {
            let step = |low: f32, high: f32, steps: f32| {
                (f64::from((v - low) / (high - low) * steps) + 0.5) as i32
            };
            bytes.push(if v < f25 {
                step(f0, f25, 64.0).clamp(0, 64)
            } else if v < f75 {
                (64 + step(f25, f75, 128.0)).clamp(64, 192)
            } else {
                (192 + step(f75, f100, 63.0)).clamp(192, 255)
            } as u8);
        }
    }
    out.extend(bytes);
    out
}

#[test]
fn sizes_beyond_all_counting_are_errors() {
    let mut bytes = b"\0BDM \x04\xff\xff\xff\x7f\x04\xff\xff\xff\x7f".to_vec();
    assert!(ObjectReader::from_bytes("huge", bytes.clone()).skip::<Matrix<f32>>().is_err());
    assert!(ObjectReader::from_bytes("huge", bytes.clone()).read::<Matrix<f32>>().is_err());
    bytes.truncate(11);
    bytes[3] = b'P';
    assert!(ObjectReader::from_bytes("huge", bytes.clone()).skip::<PackedMatrix<f64>>().is_err());
    assert!(ObjectReader::from_bytes("huge", bytes).read::<PackedMatrix<f64>>().is_err());
}

#[test]
fn single_objects_are_written_as_kaldi_wrote_them() {
    let Some(directory) = shared("golden/kaldi/misc") else { return };
    fn both<T: Holder>(directory: &Path, name: &str) {
        for (extension, mode) in [("bin", Mode::Binary), ("txt", Mode::Text)] {
            let name = format!("obj.{name}.{extension}");
            let bytes = fs::read(directory.join(&name)).unwrap();
            let value: T = ObjectReader::from_bytes(name.as_str(), bytes.clone()).read().unwrap();
            let mut written = Vec::new();
            write_object(&value, &mut written, mode).unwrap();
            assert!(written == bytes, "{name} is written otherwise");
        }
    }
    both::<Matrix<f32>>(&directory, "bfm");
    both::<Vector<f32>>(&directory, "bfv");
    both::<PackedMatrix<f32>>(&directory, "spm");
    both::<PackedMatrix<f32>>(&directory, "tpm");
    both::<PackedMatrix<f64>>(&directory, "dspm");
    both::<IntegerVector<i32>>(&directory, "ivec");
    both::<IntegerVector<i8>>(&directory, "i8vec");
    both::<IntegerVector<i64>>(&directory, "i64vec");
    both::<IntegerPairVector<i32>>(&directory, "ipvec");
}

/// Writes a value, reads it, and reads over it.
pub(crate) fn round_trip<T: Holder + PartialEq + Debug>(value: &T, mode: Mode) {
    let mut bytes = Vec::new();
    write_object(value, &mut bytes, mode).unwrap();
    let len = bytes.len() as u64;
    bytes.extend_from_slice(b"next ");
    let mut reader = ObjectReader::from_bytes("object", bytes.clone());
    assert_eq!(&reader.read::<T>().unwrap(), value);
    assert_eq!(reader.position(), len);
    let mut reader = ObjectReader::from_bytes("object", bytes);
    reader.skip::<T>().unwrap();
    assert_eq!(reader.position(), len);
}

const MODES: [Mode; 2] = [Mode::Binary, Mode::Text];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn basic_types(a: i8, b: u16, c: i32, d: u64, e: i64, f: bool, bits in any::<f32>()) {
        for mode in MODES {
            round_trip(&a, mode);
            round_trip(&b, mode);
            round_trip(&c, mode);
            round_trip(&d, mode);
            round_trip(&e, mode);
            round_trip(&f, mode);
        }
        if !bits.is_nan() {
            round_trip(&bits, Mode::Binary);
        }
    }

    #[test]
    fn vectors(
        ints in prop::collection::vec(any::<i32>(), 0..40),
        rows in prop::collection::vec(prop::collection::vec(any::<i64>(), 0..5), 0..9),
        pairs in prop::collection::vec(any::<(u8, u8)>(), 0..9),
        bools in prop::collection::vec(any::<bool>(), 0..9),
    ) {
        for mode in MODES {
            round_trip(&ints, mode);
            round_trip(&rows, mode);
            round_trip(&pairs, mode);
            round_trip(&bools, mode);
            round_trip(&IntegerVector(ints.clone()), mode);
            round_trip(&IntegerPairVector(pairs.clone()), mode);
        }
    }

    #[test]
    fn matrices(rows in 0usize..7, cols in 1usize..7, seed in any::<u32>()) {
        let cols = if rows == 0 { 0 } else { cols };
        // Seven digits are enough for these.
        let value = |i: usize| (seed % 1000) as f32 + i as f32 / 8.0;
        let matrix = Matrix { rows, cols, values: (0..rows * cols).map(value).collect() };
        let doubles = Matrix {
            rows, cols, values: matrix.values.iter().map(|&v| f64::from(v)).collect(),
        };
        for mode in MODES {
            round_trip(&matrix, mode);
            round_trip(&doubles, mode);
            round_trip(&Vector(matrix.values.clone()), mode);
            round_trip(&Vector(doubles.values.clone()), mode);
        }
    }

    #[test]
    fn compression(rows in 1usize..300, cols in 1usize..40, scale in 0.001f32..1e6, levels in 1u32..5000, seed: u32) {
        let mut state = u64::from(seed);
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((state >> 33) as u32 % levels) as f32 / levels as f32 * scale - scale / 3.0
        };
        let matrix = Matrix { rows, cols, values: (0..rows * cols).map(|_| next()).collect() };
        let compressed =
            CompressedMatrix::compress(&matrix, CompressionMethod::Speech).unwrap();
        let mut written = Vec::new();
        write_object(&compressed, &mut written, Mode::Binary).unwrap();
        prop_assert!(written == compressed_by_the_book(&matrix));
        round_trip(&compressed, Mode::Binary);
        round_trip(&GeneralMatrix::Compressed(compressed.clone()), Mode::Binary);
        // Parts, short and long, come out as the whole does.
        let whole = compressed.to_matrix::<f32>();
        let range = Range { rows: Some((rows as u32 / 3, rows as u32 / 2)), cols: None };
        prop_assert_eq!(compressed.part::<f32>(&range).unwrap(), whole.extract(&range).unwrap());
        for method in [CompressionMethod::TwoByteAuto, CompressionMethod::OneByteAuto] {
            let compressed = CompressedMatrix::compress(&matrix, method).unwrap();
            round_trip(&compressed, Mode::Binary);
            let worst = if method == CompressionMethod::TwoByteAuto { 1.0 / 65535.0 } else { 1.0 / 255.0 };
            let header = compressed.header();
            for (a, b) in compressed.to_matrix::<f32>().values.iter().zip(&matrix.values) {
                prop_assert!((a - b).abs() <= header.range * worst * 0.51 + header.min.abs() * 1e-6);
            }
        }
    }

    #[test]
    fn sparse_and_packed(
        rows in prop::collection::vec(prop::collection::btree_map(0i32..50, -9i8..9, 0..6), 1..6),
        size in 0usize..7,
    ) {
        let rows: Vec<SparseVector<f32>> = rows
            .into_iter()
            .map(|row| SparseVector {
                dim: 50,
                pairs: row.into_iter().map(|(i, v)| (i, f32::from(v) / 4.0)).collect(),
            })
            .collect();
        let packed = PackedMatrix {
            size, values: (0..size * (size + 1) / 2).map(|i| i as f64 / 8.0).collect(),
        };
        for mode in MODES {
            round_trip(&rows[0], mode);
            round_trip(&SparseMatrix { rows: rows.clone() }, mode);
            round_trip(&GeneralMatrix::Sparse(SparseMatrix { rows: rows.clone() }), mode);
            round_trip(&packed, mode);
        }
    }

    #[test]
    fn damage_is_an_error(bytes in prop::collection::vec(any::<u8>(), 0..60), cut in 0usize..60) {
        fn read<T: Holder>(bytes: &[u8]) {
            let _ = ObjectReader::from_bytes("damage", bytes).read::<T>();
            let _ = ObjectReader::from_bytes("damage", bytes).skip::<T>();
        }
        let mut matrix = Vec::new();
        let values = vec![1.5f32; 12];
        write_object(&Matrix { rows: 3, cols: 4, values }, &mut matrix, Mode::Binary).unwrap();
        matrix.truncate(cut);
        matrix.extend_from_slice(&bytes);
        for bytes in [&bytes[..], &matrix] {
            read::<Matrix<f32>>(bytes);
            read::<Vector<f64>>(bytes);
            read::<CompressedMatrix>(bytes);
            read::<GeneralMatrix>(bytes);
            read::<SparseMatrix<f32>>(bytes);
            read::<PackedMatrix<f32>>(bytes);
            read::<Vec<i32>>(bytes);
            read::<Vec<Vec<i8>>>(bytes);
            read::<Vec<(i32, i32)>>(bytes);
            read::<f32>(bytes);
            read::<IntegerVector<i32>>(bytes);
            read::<Token>(bytes);
            read::<TokenVector>(bytes);
        }
    }
}

#[test]
fn what_begins_elsewhere_is_no_text() {
    // An archive for an object, and an object that begins two bytes later.
    let archive = b"utt1 \0BFV \x04\x02\0\0\0\0\0\x80\x3f\0\0\0\x40";
    for start in [0, 6, 8] {
        let mut reader = ObjectReader::from_bytes("memory", &archive[start..]);
        let error = reader.read::<AnyObject>().unwrap_err();
        assert!(error.help().is_some_and(|help| help.contains("damaged")), "{start}: {error}");
    }
    assert!(ObjectReader::from_bytes("memory", &archive[5..]).read::<AnyObject>().is_ok());
}

//! Basic types, vectors, matrices: files that Kaldi wrote, read and written back.

use std::fmt::Debug;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use seqfeed_kaldi::{
    Holder, IntegerPairVector, IntegerVector, Matrix, Mode, ObjectReader, Token, TokenVector,
    Vector, write_object,
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

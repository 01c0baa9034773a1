//! Tokens, posteriors, HTK's and Sphinx's files, NumPy's arrays: against what Kaldi wrote, and
//! damaged. What waves are tested with stands beside.

use std::collections::HashMap;
use std::fmt::Debug;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use seqfeed_core::Result;
use seqfeed_io::{Opener, RxFilename};
use seqfeed_kaldi::{
    GaussPosterior, Holder, HtkMatrix, Matrix, Mode, NumpyArray, ObjectReader, Posterior,
    SphinxMatrix, Token, TokenVector, Vector, Wave, WaveInfo, write_object,
};

use crate::tables::shared;
use crate::waves::wav;

type Entries<T> = Vec<(Vec<u8>, T)>;

/// The objects of an archive.
pub(crate) fn entries<T: Holder>(archive: impl Into<Vec<u8>>) -> Result<Entries<T>> {
    let mut reader = ObjectReader::from_bytes("archive", archive);
    let (mut key, mut entries) = (Vec::new(), Vec::new());
    while reader.read_key(&mut key)? {
        entries.push((key.clone(), reader.read()?));
    }
    Ok(entries)
}

/// Keys and where each object ends, reading over them.
pub(crate) fn skipped<T: Holder>(archive: impl Into<Vec<u8>>) -> Result<Vec<(Vec<u8>, u64)>> {
    let mut reader = ObjectReader::from_bytes("archive", archive);
    let (mut key, mut found) = (Vec::new(), Vec::new());
    while reader.read_key(&mut key)? {
        reader.skip::<T>()?;
        found.push((key.clone(), reader.position()));
    }
    Ok(found)
}

pub(crate) fn archive<T: Holder>(entries: &Entries<T>, mode: Mode) -> Vec<u8> {
    let mut out = Vec::new();
    for (key, value) in entries {
        out.extend_from_slice(key);
        out.push(b' ');
        write_object(value, &mut out, mode).unwrap();
    }
    out
}

pub(crate) fn object<T: Holder>(value: &T, mode: Mode) -> Vec<u8> {
    let mut out = Vec::new();
    write_object(value, &mut out, mode).unwrap();
    out
}

pub(crate) fn from_bytes<T: Holder>(bytes: impl Into<Vec<u8>>) -> Result<T> {
    ObjectReader::from_bytes("object", bytes).read()
}

pub(crate) fn from_file<T: Holder>(path: &Path) -> Result<T> {
    let name = RxFilename::parse(path.to_str().unwrap())?;
    ObjectReader::open(&name, &Opener::default())?.read()
}

/// Every beginning of an object is an error that says where; but for those of `fine` bytes on.
pub(crate) fn check_cuts<T: Holder + Debug>(bytes: &[u8], fine: usize) {
    for len in 0..bytes.len() {
        let found = from_bytes::<T>(&bytes[..len]);
        if len >= fine {
            found.unwrap();
            continue;
        }
        let error = found.expect_err(&format!("{} {len} of {} bytes", T::TYPE, bytes.len()));
        assert!(error.place().position.is_some(), "{error}");
        assert!(from_bytes::<T>(&bytes[..len]).is_err());
    }
}

pub(crate) fn matrix(rows: usize, cols: usize, values: &[f32]) -> Matrix<f32> {
    Matrix { rows, cols, values: values.to_vec() }
}

fn posterior() -> Posterior {
    vec![vec![(1, 0.5), (2, 0.25)], vec![(3, 1.0)], vec![]].into()
}

fn gauss_posterior() -> GaussPosterior {
    let vector = |values: &[f32]| Vector(values.to_vec());
    vec![vec![(5, vector(&[1.0, 2.0]))], vec![(7, vector(&[3.0])), (8, vector(&[]))]].into()
}

#[test]
fn tables_are_kaldis_byte_for_byte() {
    fn check<T: Holder + PartialEq + Debug>(golden: &Path, name: &str) {
        let binary = fs::read(golden.join(format!("ark/{name}.bin.ark"))).unwrap();
        let text = fs::read(golden.join(format!("ark/{name}.txt.ark"))).unwrap();
        let values = entries::<T>(binary.clone()).unwrap();
        assert_eq!(values, entries::<T>(text.clone()).unwrap(), "{name}");
        assert!(values.len() >= 2);
        assert_eq!(archive(&values, Mode::Binary), binary, "{name}");
        assert_eq!(archive(&values, Mode::Text), text, "{name}");
        assert_eq!(skipped::<T>(binary).unwrap().len(), values.len());
    }
    let Some(golden) = shared("golden/kaldi") else { return };
    check::<Token>(&golden, "tok");
    check::<TokenVector>(&golden, "tokv");
    check::<Posterior>(&golden, "post");
    check::<GaussPosterior>(&golden, "gpost");
    for name in ["ali.post.txt.ark", "post.tool.txt.ark", "post.scaled.ark"] {
        let bytes = fs::read(golden.join("ark").join(name)).unwrap();
        let values = entries::<Posterior>(bytes.clone()).unwrap();
        let mode = if bytes.contains(&0) { Mode::Binary } else { Mode::Text };
        assert_eq!(archive(&values, mode), bytes, "{name}");
    }
}

#[test]
fn arrays_are_kaldis_byte_for_byte() {
    let Some(golden) = shared("golden/kaldi/ark") else { return };
    let bytes = fs::read(golden.join("npyf.ark")).unwrap();
    let arrays = entries::<NumpyArray<f32>>(bytes.clone()).unwrap();
    assert_eq!(archive(&arrays, Mode::Binary), bytes);
    let bits = |matrix: Matrix<f32>| {
        let values: Vec<u32> = matrix.values.iter().map(|value| value.to_bits()).collect();
        (matrix.rows, matrix.cols, values)
    };
    let matrices = fs::read(golden.join("bfm.bin.ark")).unwrap();
    let matrices: HashMap<_, _> = entries::<Matrix<f32>>(matrices).unwrap().into_iter().collect();
    for (key, array) in arrays {
        let expected = matrices[&key].clone();
        assert_eq!(bits(array.into_matrix().unwrap()), bits(expected));
    }
}

#[test]
fn htk_files_are_kaldis_byte_for_byte() {
    let Some(golden) = shared("golden/kaldi") else { return };
    let matrices = fs::read(golden.join("htk/from_htk.ark")).unwrap();
    let matrices = entries::<Matrix<f32>>(matrices).unwrap();
    assert!(!matrices.is_empty());
    for (key, expected) in matrices {
        let name = format!("htk/{}.htk", String::from_utf8_lossy(&key));
        let htk: HtkMatrix = from_file(&golden.join(&name)).unwrap();
        assert_eq!(htk, expected.into(), "{name}");
        let bytes = fs::read(golden.join(&name)).unwrap();
        assert_eq!(object(&htk, Mode::Binary), bytes);
        check_cuts::<HtkMatrix>(&bytes, usize::MAX);
    }
    for name in ["htk/utt-1x1.mfc", "htk/utt-3x4.mfc"] {
        let bytes = fs::read(golden.join(name)).unwrap();
        let htk: HtkMatrix = from_bytes(bytes.clone()).unwrap();
        assert_eq!((htk.sample_period, htk.kind), (50_000, 6));
        assert_eq!(object(&htk, Mode::Binary), bytes);
    }
    // What Kaldi writes but cannot read.
    let features = fs::read(golden.join("inputs/m13.ark")).unwrap();
    for (key, expected) in entries::<Matrix<f32>>(features).unwrap() {
        let path = golden.join(format!("htk/{}.sph", String::from_utf8_lossy(&key)));
        let bytes = fs::read(&path).unwrap();
        assert_eq!(from_file::<SphinxMatrix>(&path).unwrap().0, expected);
        let sphinx: SphinxMatrix = from_bytes(bytes.clone()).unwrap();
        assert_eq!(sphinx.0, expected);
        let written = object(&sphinx, Mode::Binary);
        let swapped: Vec<u8> =
            written.chunks_exact(4).flat_map(|word| word.iter().rev().copied()).collect();
        assert_eq!(swapped, bytes);
    }
}

#[test]
fn checksums_of_htk_are_read_checked_and_written() {
    let Some(golden) = shared("golden/htk/parm") else { return };
    let mut checked = 0;
    for file in fs::read_dir(golden).unwrap() {
        let path = file.unwrap().path();
        let bytes = fs::read(&path).unwrap_or_default();
        let Ok(htk) = from_bytes::<HtkMatrix>(bytes.clone()) else { continue };
        if htk.kind & 0o10000 == 0 || htk.matrix.rows == 0 {
            continue;
        }
        assert_eq!(object(&htk, Mode::Binary), bytes, "{}", path.display());
        let mut damaged = bytes.clone();
        damaged[13] ^= 4;
        assert!(from_bytes::<HtkMatrix>(damaged).is_err());
        checked += 1;
    }
    assert!(checked >= 1);
}

#[test]
fn words_are_read_as_kaldi_reads_them() {
    let tokens = |text: &str| entries::<Token>(text);
    for text in ["k a\r\nz q\n", "k a  \nz q\n", "k \n a\nz q\n"] {
        let found = tokens(text).unwrap();
        assert_eq!(
            (found[0].1.as_str(), found[1].1.to_string()),
            (Some("a"), "q".into()),
            "{text}"
        );
    }
    for text in ["k a b\nz q\n", "k\n", "k \nz q\n", "k a", "k "] {
        let error = tokens(text).unwrap_err();
        assert!(error.place().position.is_some(), "{text}");
    }
    let words = |text: &str| {
        let found = entries::<TokenVector>(text)?;
        Ok::<_, seqfeed_core::Error>(
            found.into_iter().map(|(_, v)| v.to_string()).collect::<Vec<_>>(),
        )
    };
    assert_eq!(words("k\n").unwrap(), [""]);
    assert_eq!(words("k a\x01 \x0b b\r\nz q").unwrap(), ["a\x01 b", "q"]);
    assert!(words("k ").is_err());
    for word in ["", "a b", "a\n", "a\0", "\x7f"] {
        assert!(write_object(&Token::from(word), &mut Vec::new(), Mode::Text).is_err(), "{word:?}");
        let words: TokenVector = ["fine", word].into_iter().collect();
        assert!(write_object(&words, &mut Vec::new(), Mode::Binary).is_err());
    }
    assert!(write_object(&Token(vec![0xff]), &mut Vec::new(), Mode::Text).is_err());
    assert_eq!(object(&Token::from("été"), Mode::Binary), "été\n".as_bytes());
    let words: TokenVector = ["a", "b"].into_iter().collect();
    assert_eq!(object(&words, Mode::Binary), b"a b \n");
}

#[test]
fn posteriors_lie_as_kaldi_writes_them() {
    let mut expected = b"\0B\x04\x03\0\0\0\x04\x02\0\0\0".to_vec();
    for (number, weight) in [(1i32, 0.5f32), (2, 0.25)] {
        expected.push(4);
        expected.extend(number.to_le_bytes());
        expected.push(4);
        expected.extend(weight.to_le_bytes());
    }
    expected.extend(b"\x04\x01\0\0\0\x04\x03\0\0\0\x04\0\0\x80\x3f\x04\0\0\0\0");
    assert_eq!(object(&posterior(), Mode::Binary), expected);
    assert_eq!(object(&posterior(), Mode::Text), b"[ 1 0.5 2 0.25 ] [ 3 1 ] [ ] \n");
    let text = b"2 1 5  [ 1 2 ]\n2 7  [ 3 ]\n8  [ ]\n\n";
    assert_eq!(object(&gauss_posterior(), Mode::Text), text);
    check_cuts::<Posterior>(&expected, usize::MAX);
    check_cuts::<GaussPosterior>(&object(&gauss_posterior(), Mode::Binary), usize::MAX);
    // The last bracket, and line's ends, need not be there.
    check_cuts::<GaussPosterior>(text, text.len() - 2);

    // Weights of 64 bits.
    let double = b"\0B\x04\x01\0\0\0\x04\x01\0\0\0\x04\x07\0\0\0\x08\0\0\0\0\0\0\xe0\x3f";
    assert_eq!(from_bytes::<Posterior>(*double).unwrap().0, [[(7, 0.5)]]);
    for wrong in ["1 0.5 ]\n", "[ 1 0.5\n", "[ 1 ]\n", "[ 1 0.5 ] x\n", "[ 1.5 a ]\n", ""] {
        let error = from_bytes::<Posterior>(wrong).unwrap_err();
        assert!(error.place().position.is_some(), "{wrong}");
    }
    assert_eq!(from_bytes::<Posterior>("[ 1 0.5 ][ ]").unwrap().0, [vec![(1, 0.5)], vec![]]);
    // Counts that lie, negative ones, too many frames.
    for count in [-1, i32::MAX, 10_000_001, 10_000_000] {
        let bytes = [b"\0B\x04", &count.to_le_bytes()[..], b"\x04\0\0\0\0"].concat();
        assert!(from_bytes::<Posterior>(bytes.clone()).is_err());
        assert!(from_bytes::<GaussPosterior>(bytes).is_err());
        let bytes = [b"\0B\x04\x01\0\0\0\x04", &count.to_le_bytes()[..], b"\x04\0\0\0\0"].concat();
        assert!(from_bytes::<Posterior>(bytes.clone()).is_err());
        assert!(from_bytes::<GaussPosterior>(bytes).is_err());
    }
    let many = Posterior(vec![Vec::new(); 10_000_001]);
    assert!(write_object(&many, &mut Vec::new(), Mode::Binary).is_err());
    assert!(from_bytes::<GaussPosterior>("2 -1 ").is_err());
}

#[test]
fn posteriors_larger_than_buffers() {
    let frame = |t: i32| (0..t % 4000).map(|n| (n, n as f32)).collect();
    let posterior = Posterior((0..3000).step_by(7).map(frame).collect());
    let mut bytes = b"k ".to_vec();
    write_object(&posterior, &mut bytes, Mode::Binary).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("p.ark");
    fs::write(&path, &bytes).unwrap();
    let name = RxFilename::parse(path.to_str().unwrap()).unwrap();
    let mut reader = ObjectReader::open(&name, &Opener::default()).unwrap();
    assert!(reader.read_key(&mut Vec::new()).unwrap());
    assert_eq!(reader.read::<Posterior>().unwrap(), posterior);
    assert_eq!(reader.position(), bytes.len() as u64);
}

#[test]
fn htk_files_by_hand() {
    let bytes = b"\0\0\0\x02\0\x01\x86\xa0\0\x04\0\x09\x3f\x80\0\0\xc0\0\0\0".to_vec();
    let htk: HtkMatrix = from_bytes(bytes.clone()).unwrap();
    assert_eq!(htk, matrix(2, 1, &[1.0, -2.0]).into());
    assert_eq!(object(&htk, Mode::Binary), bytes);
    check_cuts::<HtkMatrix>(&bytes, usize::MAX);
    assert!(write_object(&htk, &mut Vec::new(), Mode::Text).is_err());
    // A checksum, in an archive, or forgotten at the end.
    let summed = HtkMatrix { kind: 0o10006, ..htk.clone() };
    let bytes = object(&summed, Mode::Binary);
    assert_eq!(bytes.len(), 12 + 8 + 2);
    assert_eq!(from_bytes::<HtkMatrix>(&bytes[..20]).unwrap(), summed);
    assert!(from_bytes::<HtkMatrix>(&bytes[..21]).is_err());
    let twice = vec![(b"a".to_vec(), summed.clone()), (b"b".to_vec(), summed)];
    assert_eq!(entries::<HtkMatrix>(archive(&twice, Mode::Binary)).unwrap(), twice);
    // Headers that cannot be.
    let header = |rows: i32, bytes: i16, kind: u16| {
        let mut out = rows.to_be_bytes().to_vec();
        out.extend([0, 0, 0, 1]);
        out.extend(bytes.to_be_bytes());
        out.extend(kind.to_be_bytes());
        out.extend([0; 8]);
        from_bytes::<HtkMatrix>(out)
    };
    assert!(header(1, 8, 9).is_ok() && header(0, 8, 9).unwrap().matrix.rows == 0);
    for (rows, bytes, kind) in [
        (-1, 8, 9),
        (1, 6, 9),
        (1, 0, 9),
        (1, -4, 9),
        (i32::MAX, i16::MAX - 3, 9),
        (1, 8, 0),
        (1, 8, 5),
        (1, 8, 10),
        (1, 8, 0o2006),
        (1, 8, 0o40006),
    ] {
        let error = header(rows, bytes, kind).unwrap_err();
        assert!(error.place().position.is_some());
    }
    let wide = HtkMatrix::from(matrix(1, 8192, &[0.0; 8192]));
    assert!(write_object(&wide, &mut Vec::new(), Mode::Binary).is_err());
}

#[test]
fn sphinx_files_by_hand() {
    let two: SphinxMatrix<2> = matrix(2, 2, &[1.0, -2.0, 3.0, 0.5]).into();
    let bytes = object(&two, Mode::Binary);
    assert_eq!(bytes[..8], *b"\0\0\0\x04\x3f\x80\0\0");
    let swapped: Vec<u8> = bytes.chunks_exact(4).flat_map(|w| w.iter().rev().copied()).collect();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.sph");
    for file in [&bytes, &swapped] {
        assert_eq!(from_bytes::<SphinxMatrix<2>>(file.clone()).unwrap(), two);
        fs::write(&path, file).unwrap();
        assert_eq!(from_file::<SphinxMatrix<2>>(&path).unwrap(), two);
        check_cuts::<SphinxMatrix<2>>(file, usize::MAX);
        let twice = [b"a ", &file[..], b"b ", file].concat();
        assert_eq!(entries::<SphinxMatrix<2>>(twice).unwrap().len(), 2);
    }
    // Orders in which both counts could be are told by the length of the file.
    let values: Vec<f32> = (0..1 << 16).map(|n| n as f32).collect();
    let long: SphinxMatrix<1> = matrix(1 << 16, 1, &values).into();
    fs::write(&path, object(&long, Mode::Binary)).unwrap();
    assert_eq!(from_file::<SphinxMatrix<1>>(&path).unwrap(), long);
    assert!(from_bytes::<SphinxMatrix>(bytes).is_err());
    assert!(write_object(&two, &mut Vec::new(), Mode::Text).is_err());
    let wrong: SphinxMatrix = two.0.into();
    assert!(write_object(&wrong, &mut Vec::new(), Mode::Binary).is_err());
}

fn npy(version: &[u8], header: &str, values: &[u8]) -> Vec<u8> {
    let length = header.len() as u32;
    let length = &length.to_le_bytes()[..if version[0] == 1 { 2 } else { 4 }];
    [b"\0B\x93NUMPY", version, length, header.as_bytes(), values].concat()
}

#[test]
fn arrays_by_hand() {
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
    let padded = format!("{header:117}\n");
    let values = [1.0f32, -2.0].map(f32::to_le_bytes).concat();
    let array = NumpyArray { shape: vec![2], values: vec![1.0f32, -2.0] };
    let bytes = npy(&[1, 0], &padded, &values);
    assert_eq!(object(&array, Mode::Binary), bytes);
    check_cuts::<NumpyArray<f32>>(&bytes, usize::MAX);
    let plain: NumpyArray<f32> = from_bytes(&bytes[2..]).unwrap();
    assert_eq!(plain, array);
    assert_eq!(from_bytes::<NumpyArray<f64>>(bytes).unwrap().values, [1.0, -2.0]);
    let doubles = NumpyArray { shape: vec![1, 2], values: vec![1.0f64, -2.0] };
    let bytes = object(&doubles, Mode::Binary);
    assert!(bytes.windows(5).any(|window| window == b"'<f8'") && (bytes.len() - 2 - 16) % 64 == 0);
    assert_eq!(from_bytes::<NumpyArray<f64>>(bytes.clone()).unwrap(), doubles);
    assert_eq!(from_bytes::<NumpyArray<f32>>(bytes).unwrap().values, [1.0, -2.0]);

    for (version, header) in [
        ([1, 0], "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}"),
        ([2, 0], "{\"shape\":(2,),\"fortran_order\":True,\"descr\":\"<f4\"}\n"),
        ([3, 0], "{ 'shape' : ( 2 , ) , 'descr' : '<f4' , 'fortran_order' : False , }\n"),
    ] {
        assert_eq!(from_bytes::<NumpyArray<f32>>(npy(&version, header, &values)).unwrap(), array);
    }
    let header = "{'descr': '>f4', 'fortran_order': True, 'shape': (2, 3), }\n";
    let values = [1.0f32, 4.0, 2.0, 5.0, 3.0, 6.0].map(f32::to_be_bytes).concat();
    let array: NumpyArray<f32> = from_bytes(npy(&[1, 0], header, &values)).unwrap();
    assert_eq!(array.into_matrix().unwrap(), matrix(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    for shape in ["(0, 3)", "(3, 0)", "(0,)"] {
        for order in ["True", "False"] {
            let header =
                format!("{{'descr': '<f4', 'fortran_order': {order}, 'shape': {shape}, }}");
            let array: NumpyArray<f32> = from_bytes(npy(&[1, 0], &header, b"")).unwrap();
            assert!(array.values.is_empty() && array.into_matrix().is_none());
        }
    }
    let huge = "{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999, 9999999999)}";
    let large = "{'descr': '<f8', 'fortran_order': True, 'shape': (999999, 999999)}";
    for wrong in [
        huge,
        large,
        "",
        "{",
        "{}",
        "{'descr': '<f4'}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 1), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } x",
        "{'descr': '<f4, 'fortran_order': False, 'shape': (2,), }",
    ] {
        let error = from_bytes::<NumpyArray<f32>>(npy(&[1, 0], wrong, &values)).unwrap_err();
        assert!(error.place().position.is_some(), "{wrong}");
    }
    assert!(from_bytes::<NumpyArray<f32>>(npy(&[4, 0], header, &values)).is_err());
    let text = write_object(&doubles, &mut Vec::new(), Mode::Text);
    assert!(text.is_err());
    let wrong = NumpyArray { shape: vec![3], values: vec![1.0f32] };
    assert!(write_object(&wrong, &mut Vec::new(), Mode::Binary).is_err());
}

fn float() -> impl Strategy<Value = f32> {
    prop::num::f32::NORMAL | prop::num::f32::SUBNORMAL | prop::num::f32::ZERO
}

/// Written with 7 digits.
fn rounded(value: f32) -> f32 {
    let mut text = Vec::new();
    seqfeed_core::float_text::write_g(&mut text, f64::from(value), 7);
    // Seven digits of the largest number are more than it.
    String::from_utf8(text).unwrap().parse::<f32>().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn words_come_back(lists in prop::collection::vec(prop::collection::vec("[!-~é☃]{1,8}", 0..5), 0..5)) {
        let words: Entries<TokenVector> = lists
            .iter()
            .enumerate()
            .map(|(n, list)| (n.to_string().into_bytes(), list.iter().map(String::as_str).collect()))
            .collect();
        let tokens: Entries<Token> = lists
            .iter()
            .flatten()
            .map(|word| (b"k".to_vec(), Token::from(word.as_str())))
            .collect();
        for mode in [Mode::Binary, Mode::Text] {
            prop_assert_eq!(&entries::<TokenVector>(archive(&words, mode)).unwrap(), &words);
            prop_assert_eq!(&entries::<Token>(archive(&tokens, mode)).unwrap(), &tokens);
        }
    }

    #[test]
    fn posteriors_come_back(
        frames in prop::collection::vec(prop::collection::vec((any::<i32>(), float()), 0..4), 0..6),
    ) {
        prop_assume!(frames.iter().flatten().all(|(_, weight)| rounded(*weight).is_finite()));
        let posterior = Posterior(frames.clone());
        let gauss = |f: fn(f32) -> f32| {
            let entry = |&(number, weight): &(i32, f32)| (number, Vector(vec![f(weight); 2]));
            let frame = |frame: &Vec<(i32, f32)>| frame.iter().map(entry).collect();
            GaussPosterior(frames.iter().map(frame).collect())
        };
        let twice = |value: Posterior| vec![(b"a".to_vec(), value.clone()), (b"b".to_vec(), value)];
        let posteriors = twice(posterior.clone());
        prop_assert_eq!(&entries::<Posterior>(archive(&posteriors, Mode::Binary)).unwrap(), &posteriors);
        let mut text = posterior;
        text.0.iter_mut().flatten().for_each(|(_, weight)| *weight = rounded(*weight));
        let text = twice(text);
        prop_assert_eq!(&entries::<Posterior>(archive(&posteriors, Mode::Text)).unwrap(), &text);
        for (mode, expected) in [(Mode::Binary, gauss(|v| v)), (Mode::Text, gauss(rounded))] {
            let written = vec![(b"a".to_vec(), gauss(|v| v)), (b"b".to_vec(), gauss(|v| v))];
            let expected = vec![(b"a".to_vec(), expected.clone()), (b"b".to_vec(), expected)];
            prop_assert_eq!(&entries::<GaussPosterior>(archive(&written, mode)).unwrap(), &expected);
        }
    }

    #[test]
    fn matrices_come_back(
        rows in 1usize..6,
        values in prop::collection::vec(any::<i16>(), 78..=78),
        period in any::<i32>(),
    ) {
        let values: Vec<f32> = values[..rows * 13].iter().map(|&v| v.into()).collect();
        let matrix = Matrix { rows, cols: 13, values };
        let wave = Wave { sample_rate: 16000.0, samples: matrix.clone(), warnings: vec![] };
        let htk = HtkMatrix { matrix: matrix.clone(), sample_period: period, kind: 0o10006 };
        let sphinx: SphinxMatrix = matrix.clone().into();
        let array: NumpyArray<f32> = matrix.into();
        let waves = vec![(b"a".to_vec(), wave.clone()), (b"b".to_vec(), wave)];
        prop_assert_eq!(&entries::<Wave>(archive(&waves, Mode::Binary)).unwrap(), &waves);
        prop_assert_eq!(from_bytes::<HtkMatrix>(object(&htk, Mode::Binary)).unwrap(), htk);
        prop_assert_eq!(from_bytes::<SphinxMatrix>(object(&sphinx, Mode::Binary)).unwrap(), sphinx);
        prop_assert_eq!(from_bytes::<NumpyArray<f32>>(object(&array, Mode::Binary)).unwrap(), array);
    }

    #[test]
    fn damage_is_no_panic(at in 0usize..64, byte in any::<u8>(), cut in 0usize..80) {
        let array: NumpyArray<f32> = matrix(2, 1, &[1.0, 2.0]).into();
        let objects = [
            object(&posterior(), Mode::Binary),
            object(&posterior(), Mode::Text),
            object(&gauss_posterior(), Mode::Binary),
            object(&gauss_posterior(), Mode::Text),
            object(&array, Mode::Binary),
            object(&HtkMatrix { kind: 0o10006, ..matrix(2, 1, &[1.0, 2.0]).into() }, Mode::Binary),
            wav(50, b"", 4, &[1, 2], b"LIST\x02\0\0\0ab"),
        ];
        for mut bytes in objects {
            if let Some(old) = bytes.get_mut(at) {
                *old = byte;
            }
            bytes.truncate(bytes.len().saturating_sub(cut.saturating_sub(40)));
            let _ = from_bytes::<Posterior>(bytes.clone());
            let _ = from_bytes::<GaussPosterior>(bytes.clone());
            let _ = from_bytes::<NumpyArray<f64>>(bytes.clone());
            let _ = from_bytes::<HtkMatrix>(bytes.clone());
            let _ = from_bytes::<SphinxMatrix>(bytes.clone());
            let _ = from_bytes::<WaveInfo>(bytes.clone());
            let _ = from_bytes::<Wave>(bytes);
        }
    }
}

//! Pickles of Python 2 and 3, of numpy 1 and 2; and such as should not be loaded anywhere.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::process::Command;

use seqfeed_core::{Result, Source};
use seqfeed_io::{Input, Opener, RxFilename, WxFilename};
use seqfeed_pdnn::pickle::{
    Array, Dtype, Limits, Number, PickleSource, PickledData, Protocol, Value, load, open_npz,
    read_npz, write_npy, write_npz, write_pickle,
};
use serde_json::Value as Json;

use crate::shared::{golden, manifest, npz};

fn value(path: &Path) -> Result<Value> {
    let name = RxFilename::from(path);
    load(&mut Input::open(&name, &Opener::default())?, &Limits::default())
}

pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Value> {
    load(
        &mut Input::from_reader("memory", std::io::Cursor::new(bytes.to_vec())),
        &Limits::default(),
    )
}

fn open(path: &Path) -> Result<PickledData> {
    PickledData::open(&path.display().to_string(), &Opener::default())
}

/// Compares a value with what Python said of it.
fn check_structure(value: &Value, expected: &Json, name: &str) {
    let kind = expected["t"].as_str().unwrap();
    let items = match value {
        Value::Tuple(items) if kind == "tuple" => items,
        Value::List(items) if kind == "list" => items,
        Value::Dict(items) if kind == "dict" => {
            let expected = expected["items"].as_object().unwrap();
            assert_eq!(items.len(), expected.len());
            for (key, value) in items.iter() {
                check_structure(value, &expected[key.as_text().unwrap()], name);
            }
            return;
        }
        Value::Array(array) if kind == "ndarray" => {
            let dtype = expected["dtype"].as_str().unwrap();
            let shape: Vec<usize> = serde_json::from_value(expected["shape"].clone()).unwrap();
            // Python's loader put values into the machine's order where the record says so.
            let expected_number = Dtype::from_description(dtype.as_bytes()).unwrap().number;
            assert_eq!(array.dtype().number, expected_number, "{name}");
            assert_eq!(array.dtype().big_endian, name.contains("be_i64be"), "{name}");
            assert_eq!(array.shape(), shape, "{name}");
            return;
        }
        Value::None if kind == "NoneType" => return,
        value if kind == "str" => {
            assert!(value.as_text().is_some(), "{name}");
            return;
        }
        other => panic!("{name}: {other:?} is no {kind}"),
    };
    assert_eq!(items.len() as u64, expected["n"].as_u64().unwrap(), "{name}");
    if let Some(expected) = expected["items"].as_array() {
        items
            .iter()
            .zip(expected)
            .for_each(|(item, expected)| check_structure(item, expected, name));
    }
}

#[test]
fn recorded_files() {
    let Some(golden) = golden() else { return };
    let mut refused = Vec::new();
    let (mut arrays, mut others, mut data, mut unfit) = (0, 0, 0, 0);
    for entry in manifest(&golden, "manifest_pickle.json") {
        let name = entry["file"].as_str().unwrap();
        let path = golden.join(name);
        let value = value(&path).unwrap_or_else(|error| panic!("{error}"));
        if !entry["structure"].is_null() {
            check_structure(&value, &entry["structure"], name);
        }
        let items: &[Value] = match &value {
            Value::Tuple(items) | Value::List(items) => items,
            _ => &[],
        };
        if let Some(expected) = entry["expected"].as_str() {
            for (item, part) in items.iter().zip(["feature", "label"]) {
                let expected = npz(&golden.join(expected), part);
                let found = item.as_array().unwrap();
                assert_eq!(found.shape(), expected.shape(), "{name}");
                if let (Ok(found), Ok(expected)) = (found.to_i32(), expected.to_i32()) {
                    assert_eq!(found, expected, "{name}");
                }
                let (found, expected) = (found.clone().into_f32(), expected.into_f32());
                assert!(found == expected, "{name}");
            }
            arrays += 1;
        } else {
            others += 1;
        }
        // What PDNN trains on, where it can.
        let read = open(&path);
        let pdnn = &entry["pdnn_python2"];
        match read {
            Ok(read) => {
                data += 1;
                if let (Some(rows), Some(labels)) = (pdnn["n"].as_u64(), pdnn["y"].as_array()) {
                    assert_eq!(read.rows() as u64, rows, "{name}");
                    let labels: Vec<f64> =
                        labels.iter().map(|label| label.as_f64().unwrap()).collect();
                    // PDNN's labels went through floats of 32 bits.
                    let found: Vec<f64> = read
                        .labels()
                        .unwrap()
                        .iter()
                        .map(|&label| f64::from(label as f32))
                        .collect();
                    assert_eq!(found, labels, "{name}");
                }
            }
            Err(error) => {
                assert!(!pdnn["error"].is_null(), "PDNN reads {name}: {error}");
                assert!(error.to_string().contains("features and labels: "), "{error}");
                unfit += 1;
                refused.push(format!("{name}: {}", error.message()));
            }
        }
    }
    assert_eq!((arrays, others), (135, 24));
    assert_eq!((data, unfit), (126, 33), "{refused:#?}");
}

#[test]
fn bad_files() {
    let Some(golden) = golden() else { return };
    let mut said = Vec::new();
    let mut paths: Vec<_> =
        fs::read_dir(golden.join("bad")).unwrap().map(|e| e.unwrap().path()).collect();
    paths.retain(|path| !path.file_name().unwrap().to_str().unwrap().starts_with("k_"));
    paths.sort();
    for path in &paths {
        let name = path.file_name().unwrap().to_str().unwrap();
        match open(path) {
            Ok(read) => said.push(format!("{name}: {} rows", read.rows())),
            Err(error) => said.push(format!("{name}: {}", error.message())),
        }
    }
    assert_eq!(paths.len(), 16);
    assert_eq!(said.join("\n"), include_str!("pickle_bad.txt").trim_end(), "{}", said.join("\n"));
}

#[test]
fn hostile_pickles() {
    let long = |opcode: u8, len: &[u8]| [&[opcode], len, b"abc"].concat();
    let mut bomb = b"]".to_vec();
    (0..64).for_each(|_| bomb.extend_from_slice(b"(22l"));
    let mut deep = vec![b']'; 100_000];
    deep.extend(vec![b'a'; 99_999]);
    deep.push(b'.');
    let cases: [(&[u8], &str); 18] = [
        (b"", "the file ends inside the pickle, 1 byte is missing"),
        (b"N", "the file ends inside the pickle"),
        (
            &long(b'T', &[0xff, 0xff, 0xff, 0x7f]),
            "the file ends inside a string, 2147483644 bytes are missing",
        ),
        (&long(b'T', &[0xff; 4]), "a string of negative length"),
        (&long(b'B', &[0xff; 4]), "the file ends inside a string"),
        (&long(0x8e, &[0xff; 8]), "the file ends inside a string"),
        (&long(0x96, &[0xff; 8]), "the file ends inside a string"),
        (&long(0x8d, &[0xff; 8]), "the file ends inside a text"),
        (&long(b'X', &[0xff; 4]), "the file ends inside a text"),
        (b"\x8b\xff\xff\xff\xff", "an integer of 4294967295 bytes"),
        (b".", "too little lies on the stack"),
        (b"(0(.", "too little lies on the stack"),
        (b"]2a.", "lists in lists"),
        (&deep, "lists in lists"),
        (b"h\0.", "number 0 of the memo is not set"),
        (b"\x80\x04\x8c\x02os\x8c\x06system\x93.", "`os.system`"),
        (b"(i__builtin__\neval\n.", "`__builtin__.eval`"),
        (b"cnumpy\nndarray\n.", "is no data"),
    ];
    for (bytes, message) in cases {
        let error = from_bytes(bytes).unwrap_err().to_string();
        assert!(
            error.contains(message),
            "{}: {error}",
            bytes[..bytes.len().min(40)].escape_ascii()
        );
    }
    // Sixty-four levels of two: a tree would have 2^64 leaves.
    bomb.push(b'.');
    let _ = from_bytes(&bomb);
    let limits = Limits { object_bytes: 1 << 20, string_bytes: 10 };
    for bytes in [
        [b']'; 1 << 16],
        [b'('; 1 << 18].first_chunk().copied().unwrap_or([b'('; 1 << 16]),
        [b'N'; 1 << 16],
    ] {
        let many = bytes.repeat(4);
        let mut input = Input::from_reader("memory", std::io::Cursor::new(many));
        let error = load(&mut input, &limits).unwrap_err().to_string();
        assert!(error.contains("at most 1048576 allowed"), "{error}");
    }
}

fn features() -> Array {
    let values: Vec<f32> =
        (0..300u32).map(|n| f32::from_bits(n.wrapping_mul(0x9e37_79b9) & 0xbfff_ffff)).collect();
    Array::from_f32(vec![60, 5], &values).unwrap()
}

fn labels() -> Array {
    Array::from_i32(vec![60], &(0..60).map(|n| n * n - 100).collect::<Vec<_>>()).unwrap()
}

#[test]
fn what_is_written_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.pickle");
    let wx = WxFilename::from(path.clone());
    for protocol in [Protocol::Two, Protocol::Five] {
        write_pickle(&wx, &features(), &labels(), protocol, &Opener::default()).unwrap();
        assert_eq!(
            value(&path).unwrap(),
            Value::Tuple([Value::Array(features()), Value::Array(labels())].into())
        );
        let source = PickleSource::open(&path.display().to_string(), &Opener::default()).unwrap();
        let mut blocks = source.new_blocks();
        source.load(&[0, 0], &mut blocks).unwrap();
        assert_eq!(blocks[0].samples(1).bytes(), features().data().as_slice());
        assert_eq!(blocks[1].samples(0).bytes(), labels().data().as_slice());
    }
    let mut bytes = Vec::new();
    write_npy(&mut bytes, &features()).unwrap();
    assert_eq!(bytes.len() % 64, 300 * 4 % 64);
    fs::write(&path, &bytes).unwrap();
    assert_eq!(open(&path).unwrap().labels(), None);
    write_npz(&wx, &[("feature", &features()), ("label", &labels())], &Opener::default()).unwrap();
    let read = read_npz(&path).unwrap();
    assert_eq!(read, [("feature".to_owned(), features()), ("label".to_owned(), labels())]);
}

#[test]
fn members_of_archives() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.npz");
    let wx = WxFilename::from(path.clone());
    let (x, y) = (features(), labels());
    let open = |members: &[(&str, &Array)]| {
        write_npz(&wx, members, &Opener::default()).unwrap();
        open_npz(&path.display().to_string(), &Opener::default())
    };
    let expected = PickledData::from_arrays(x.clone(), Some(&y)).unwrap();
    assert_eq!(open(&[("label", &y), ("other", &y), ("features", &x)]).unwrap(), expected);
    assert_eq!(open(&[("arr_0", &x), ("arr_1", &y)]).unwrap(), expected);
    assert_eq!(open(&[("x", &x)]).unwrap().labels(), None);
    assert!(open(&[]).unwrap_err().to_string().contains("it holds no arrays"));
    // Each byte of the data is under a checksum.
    open(&[("x", &x), ("y", &y)]).unwrap();
    let whole = fs::read(&path).unwrap();
    let data = x.data().as_slice();
    let at = whole.windows(data.len()).position(|window| window == data).unwrap();
    let mut damaged = whole.clone();
    damaged[at + 77] ^= 1;
    fs::write(&path, &damaged).unwrap();
    let error = read_npz(&path).unwrap_err().to_string();
    assert!(error.contains("x.npz (x.npy)") && error.contains("checksum"), "{error}");
    // Behind what is said of it in the header, a member has less than it needs.
    let shape = whole.windows(7).position(|window| window == b"(60, 5)").unwrap();
    let mut damaged = whole.clone();
    damaged[shape + 1] = b'9';
    fs::write(&path, &damaged).unwrap();
    assert!(read_npz(&path).is_err());
    for cut in [0, 10, at + 5, whole.len() - 30] {
        fs::write(&path, &whole[..cut]).unwrap();
        assert!(read_npz(&path).is_err(), "{cut}");
    }
}

/// An interpreter that can import a module, or `None` (said loudly): the one that a variable of the
/// environment names, or the usual one.
fn python(variable: &str, usual: &str, module: &str) -> Option<OsString> {
    let python = std::env::var_os(variable).unwrap_or_else(|| usual.into());
    let run = Command::new(&python).args(["-c", &format!("import {module}")]).output();
    if run.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    eprintln!("SKIPPED: {} cannot import {module}; set {variable}", python.display());
    None
}

/// Runs a script of Python in a directory.
fn run_python(python: &OsStr, script: &str, directory: &Path) {
    let run = Command::new(python).args(["-c", script]).current_dir(directory).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn protocol_2_uses_only_what_python_2_knows() {
    let Some(python) = python("SEQFEED_PYTHON", "python3", "pickletools") else { return };
    let directory = tempfile::tempdir().unwrap();
    let wx = WxFilename::from(directory.path().join("2.pickle"));
    write_pickle(&wx, &features(), &labels(), Protocol::Two, &Opener::default()).unwrap();
    let script = r#"
import pickletools
opcodes = [opcode for opcode, *_ in pickletools.genops(open("2.pickle", "rb"))]
assert len(opcodes) > 50 and max(opcode.proto for opcode in opcodes) == 2, opcodes
"#;
    run_python(&python, script, directory.path());
}

#[test]
fn python_2_reads_what_is_written() {
    let Some(python) = python("SEQFEED_PYTHON2", "python2", "numpy") else { return };
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| WxFilename::from(directory.path().join(name));
    let opener = Opener::default();
    write_pickle(&file("2.pickle"), &features(), &labels(), Protocol::Two, &opener).unwrap();
    write_npz(&file("a.npz"), &[("x", &features()), ("y", &labels())], &opener).unwrap();
    let script = r#"
import cPickle, pickle, sys, numpy as np
assert sys.version_info[0] == 2
z = np.load("a.npz")
for load in [cPickle.load, pickle.load]:
    x, y = load(open("2.pickle", "rb"))
    assert x.dtype == np.dtype("<f4") and x.shape == (60, 5) and y.dtype == np.dtype("<i4")
    assert x.tobytes() == z["x"].tobytes() and (y == [n * n - 100 for n in range(60)]).all()
    x[0, 0] = 1
x = np.asfortranarray(np.random.RandomState(1).randn(70, 3))
for protocol in range(3):
    cPickle.dump((x, np.arange(70)), open("%d.in" % protocol, "wb"), protocol)
np.save("x.npy", x)
"#;
    run_python(&python, script, directory.path());
    let expected = open(&directory.path().join("x.npy")).unwrap();
    for protocol in 0..3 {
        let read = open(&directory.path().join(format!("{protocol}.in"))).unwrap();
        assert_eq!(read.features(), expected.features(), "protocol {protocol}");
        assert_eq!(read.labels().unwrap()[69], 69);
    }
}

#[test]
fn numpy_reads_what_is_written() {
    let Some(python) = python("SEQFEED_PYTHON", "python3", "numpy") else { return };
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| WxFilename::from(directory.path().join(name));
    let opener = Opener::default();
    write_pickle(&file("2.pickle"), &features(), &labels(), Protocol::Two, &opener).unwrap();
    write_pickle(&file("5.pickle"), &features(), &labels(), Protocol::Five, &opener).unwrap();
    write_npz(&file("a.npz"), &[("x", &features()), ("y", &labels())], &opener).unwrap();
    let big = Dtype { number: Number::F32, big_endian: true };
    let fortran =
        Array::new(vec![2, 3], big, true, [0x3fu8, 0x80, 0, 0].repeat(6).as_slice().into())
            .unwrap();
    write_pickle(&file("f.pickle"), &fortran, &labels(), Protocol::Two, &opener).unwrap();
    let script = r#"
import pickle, sys, numpy as np, warnings
warnings.simplefilter("error", DeprecationWarning)
z = np.load("a.npz")
for name in ["2.pickle", "5.pickle"]:
    x, y = pickle.load(open(name, "rb"))
    assert x.dtype == "<f4" and x.shape == (60, 5) and y.dtype == "<i4"
    assert x.tobytes() == z["x"].tobytes() and (y == [n * n - 100 for n in range(60)]).all()
    x[0, 0] = 1
x, y = pickle.load(open("f.pickle", "rb"))
assert x.shape == (2, 3) and (x == 1).all() and x.flags.f_contiguous
# All types, both orders, all protocols, as this Python writes them.
r = np.random.default_rng(1)
for protocol in range(6):
    for code in "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8".split():
        for order in "<>":
            for layout in "CF":
                x = r.integers(0, 100, (7, 3)).astype(order + code, order=layout)
                pickle.dump((x, np.arange(7)), open("%d.%s%s%s.in" % (protocol, "lb"[order == ">"], code, layout), "wb"), protocol)
                np.save("%d.%s%s%s.npy" % (protocol, "lb"[order == ">"], code, layout), x)
x = r.standard_normal((400000,)).astype("f4").reshape(-1, 4)
for protocol in range(6):
    pickle.dump((x, np.arange(len(x))), open("%d.large.in" % protocol, "wb"), protocol)
    np.save("%d.large.npy" % protocol, x)
np.savez_compressed("c.npz", names=np.array(["a", "b"]), y=np.arange(len(x)), x=x)
"#;
    run_python(&python, script, directory.path());
    let compressed = directory.path().join("c.npz");
    let read = open_npz(&compressed.display().to_string(), &Opener::default()).unwrap();
    assert_eq!(read, open(&directory.path().join("5.large.in")).unwrap());
    assert!(read_npz(&compressed).unwrap_err().to_string().contains("c.npz (names.npy)"));
    let mut count = 0;
    for entry in fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "in") {
            let (read, array) = (open(&path).unwrap(), open(&path.with_extension("npy")).unwrap());
            assert_eq!(read.features(), array.features(), "{}", path.display());
            assert_eq!(read.labels().unwrap()[..7], [0, 1, 2, 3, 4, 5, 6]);
            count += 1;
        }
    }
    assert_eq!(count, 6 * 12 * 4 + 6);
}

#[test]
fn own_files() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut count = 0;
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let read = open(&path).unwrap();
        assert_eq!(read.features(), [1.5, -2.0, 0.0, 65504.0, 1e-8, 3.0], "{}", path.display());
        if path.extension().unwrap() == "pickle" {
            assert_eq!(read.labels().unwrap(), [7, -1, 300_000], "{}", path.display());
        }
        count += 1;
    }
    assert_eq!(count, 7);
}

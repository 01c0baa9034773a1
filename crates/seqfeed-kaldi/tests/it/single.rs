//! Objects in files of their own, and several behind one header.

use std::fs;

use seqfeed_core::Key;
use seqfeed_io::{Opener, RxFilename};
use seqfeed_kaldi::{
    AnyObject, CompressedMatrix, CompressionMethod, Holder, IntegerVector, Matrix, Mode,
    ObjectReader, ObjectWriter, PackedMatrix, TableWriter, Vector, load, save, write_token,
};

fn matrix() -> Matrix<f32> {
    Matrix { rows: 3, cols: 2, values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0] }
}

/// A model as Kaldi's own are: tokens, numbers and objects behind one header.
fn write_model(name: &str, mode: Mode) {
    let mut writer = ObjectWriter::create(name, mode, &Opener::default()).unwrap();
    writer.write_token("<Model>").unwrap();
    writer.write_pretty("dim =\n ").unwrap();
    writer.write_basic(12i32).unwrap();
    writer.write_basic(true).unwrap();
    writer.write(&matrix()).unwrap();
    writer.write_token("<Bias>").unwrap();
    writer.write(&Vector(vec![0.5f32])).unwrap();
    writer.write(&IntegerVector(vec![3i32, 4])).unwrap();
    writer.write_token("</Model>").unwrap();
    // What is no token leaves nothing behind.
    for wrong in ["", "a b", "a\n"] {
        assert!(writer.write_token(wrong).unwrap_err().to_string().contains("is no token"));
    }
    writer.write_pretty("\n").unwrap();
    assert!(!fs::exists(name).unwrap());
    writer.close().unwrap();
}

#[test]
fn several_objects_stand_behind_one_header() {
    let directory = tempfile::tempdir().unwrap();
    let name = directory.path().join("model").display().to_string();
    for mode in [Mode::Binary, Mode::Text] {
        write_model(&name, mode);
        let mut reader =
            ObjectReader::open(&RxFilename::parse(&name).unwrap(), &Opener::default()).unwrap();
        assert_eq!(reader.read_header().unwrap(), mode);
        reader.expect_token("<Model>", mode).unwrap();
        reader.expect_pretty("dim = ", mode).unwrap();
        assert_eq!(reader.read_basic::<i32>(mode).unwrap(), 12);
        assert!(reader.read_basic::<bool>(mode).unwrap());
        assert_eq!(reader.read_inside::<Matrix<f32>>(mode).unwrap(), matrix());
        assert_eq!(reader.read_token(mode).unwrap(), b"<Bias>");
        assert_eq!(reader.read_inside::<Vector<f32>>(mode).unwrap().0, [0.5]);
        assert_eq!(reader.read_inside::<IntegerVector<i32>>(mode).unwrap().0, [3, 4]);
        assert!(!reader.at_end(mode).unwrap());
        reader.expect_token("</Model>", mode).unwrap();
        assert!(reader.at_end(mode).unwrap(), "{mode:?}");
        reader.finish().unwrap();
        fs::remove_file(&name).unwrap();
    }
}

#[test]
fn the_bytes_of_a_model_are_kaldis() {
    let directory = tempfile::tempdir().unwrap();
    let name = directory.path().join("model").display().to_string();
    let write = |mode| {
        let mut writer = ObjectWriter::create(&name, mode, &Opener::default()).unwrap();
        writer.write_token("<Dim>").unwrap();
        writer.write_basic(258i32).unwrap();
        writer.write_pretty("\n").unwrap();
        writer.write(&Vector(vec![1.0f32])).unwrap();
        writer.close().unwrap();
        fs::read(&name).unwrap()
    };
    assert_eq!(write(Mode::Binary), b"\0B<Dim> \x04\x02\x01\0\0FV \x04\x01\0\0\0\0\0\x80\x3f");
    assert_eq!(write(Mode::Text), b"<Dim> 258 \n [ 1 ]\n");
    let mut token = Vec::new();
    write_token(b"<T>", &mut token).unwrap();
    assert_eq!(token, b"<T> ");
}

#[test]
fn expect_pretty_takes_white_space_for_white_space() {
    let read = |data: &str, text: &str| {
        let mut reader = ObjectReader::from_bytes("memory", data);
        reader.expect_pretty(text, Mode::Text).map(|()| reader.position())
    };
    assert_eq!(read("a  =\n\t b", "a = ").unwrap(), 7);
    assert_eq!(read("  a=b", "a=").unwrap(), 4);
    for (data, text) in [("a=b", "a = "), ("a = c", "a = b"), ("", "a"), ("a", "a b")] {
        let error = read(data, text).unwrap_err().to_string();
        assert!(error.contains(text.trim_end()), "{error}");
    }
    // The binary form holds no such text.
    let mut reader = ObjectReader::from_bytes("memory", "x");
    reader.expect_pretty("a = ", Mode::Binary).unwrap();
    assert_eq!(reader.position(), 0);
}

#[test]
fn a_zero_byte_alone_is_no_header() {
    let header = |data: &[u8]| ObjectReader::from_bytes("memory", data).read_header();
    assert_eq!(header(b"\0B").unwrap(), Mode::Binary);
    assert_eq!(header(b"").unwrap(), Mode::Text);
    assert_eq!(header(b"B").unwrap(), Mode::Text);
    assert!(header(b"\0").is_err() && header(b"\0C").is_err());
}

#[test]
fn objects_are_loaded_by_name_with_ranges() {
    let directory = tempfile::tempdir().unwrap();
    let opener = Opener::default();
    let name = |file: &str| directory.path().join(file).display().to_string();
    let ark = name("f.ark");
    let mut table = TableWriter::create(&format!("ark:{ark}"), &opener).unwrap();
    table.write(Key(b"u1"), &matrix()).unwrap();
    table.close().unwrap();
    let rows = |range: &str| load::<Matrix<f32>>(&format!("{ark}:3{range}"), &opener);
    assert_eq!(rows("").unwrap(), matrix());
    assert_eq!(rows("[1:2]").unwrap().values, [3.0, 4.0, 5.0, 6.0]);
    assert_eq!(rows("[0:0,1:1]").unwrap().values, [2.0]);
    for wrong in ["[1]", "]", "[0:1][0:1]", "[9:10]"] {
        rows(wrong).unwrap_err();
    }
    let object = load::<AnyObject>(&format!("{ark}:3[1:1]"), &opener).unwrap();
    assert_eq!(object.object_type().name(), "float-matrix");

    let text = name("v.vec");
    save(&text, &Vector(vec![1.5f32, 2.5]), Mode::Text, &opener).unwrap();
    assert_eq!(fs::read(&text).unwrap(), b" [ 1.5 2.5 ]\n");
    assert_eq!(load::<Vector<f32>>(&format!("{text}[1:1]"), &opener).unwrap().0, [2.5]);
    // An object that cannot be read as what it is asked for, and no file.
    load::<Matrix<f32>>(&name("none"), &opener).unwrap_err();
    // A command that fails may not have given all.
    let failing = format!("cat {text}; false |");
    load::<Vector<f32>>(&failing, &opener).unwrap_err();
    load::<Vector<f32>>(&failing, &Opener::with_pipes()).unwrap_err();
    load::<Vector<f32>>(&format!("cat {text} |"), &Opener::with_pipes()).unwrap();
}

#[test]
fn what_is_read_is_added() {
    let mut bytes = Vec::new();
    matrix().write(&mut bytes, Mode::Binary).unwrap();
    let read = || ObjectReader::from_bytes("memory", bytes.clone());
    let mut sum = Matrix::<f64>::default();
    sum.read_add(&mut read(), Mode::Binary).unwrap();
    sum.read_add(&mut read(), Mode::Binary).unwrap();
    assert_eq!((sum.rows, sum.cols), (3, 2));
    assert_eq!(sum.values, [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
    // As many values in another shape are not the same size.
    let before = Matrix { rows: 2, cols: 3, values: vec![1.0f32; 6] };
    let mut other = before.clone();
    let error = other.read_add(&mut read(), Mode::Binary).unwrap_err().to_string();
    assert!(error.contains("3 x 2") && error.contains("2 x 3"), "{error}");
    assert_eq!(other, before);

    let mut sum = Vector(vec![1.0f32, 0.1]);
    let mut add =
        |text: &str| sum.read_add(&mut ObjectReader::from_bytes("memory", text), Mode::Text);
    add(" [ 2 0.2 ]\n").unwrap();
    add(" [ ]\n").unwrap();
    add(" [ 1 2 3 ]\n").unwrap_err();
    assert_eq!(sum.0, [3.0, 0.1f32 + 0.2f32]);
}

#[test]
fn packed_matrices_are_added() {
    let mut sum = PackedMatrix::<f64>::default();
    // An empty one takes over what is read, and adds nothing.
    for text in ["[\n1 \n2 3 ]\n", "[ ]\n", "[\n10 \n20 30 ]\n"] {
        let mut reader = ObjectReader::from_bytes("text", text);
        sum.read_add(&mut reader, Mode::Text).unwrap();
    }
    assert_eq!((sum.size, &sum.values[..]), (2, &[11.0, 22.0, 33.0][..]));
    let mut bytes = Vec::new();
    PackedMatrix { size: 2, values: vec![0.5f32; 3] }.write(&mut bytes, Mode::Binary).unwrap();
    sum.read_add(&mut ObjectReader::from_bytes("binary", bytes), Mode::Binary).unwrap();
    assert_eq!(sum.values, [11.5, 22.5, 33.5]);
    let mut other = ObjectReader::from_bytes("text", "[\n1 ]\n");
    let error = sum.read_add(&mut other, Mode::Text).unwrap_err().to_string();
    assert!(error.contains("1 rows cannot be added to one of 2"), "{error}");
    assert_eq!(sum.values, [11.5, 22.5, 33.5]);
}

#[test]
fn a_part_of_an_object_of_any_type_comes_out_of_a_pipe() {
    let directory = tempfile::tempdir().unwrap();
    let name = directory.path().join("c.mat").display().to_string();
    let matrix = Matrix { rows: 3, cols: 2, values: vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0] };
    let compressed = CompressedMatrix::compress(&matrix, CompressionMethod::Auto).unwrap();
    for object in [AnyObject::CompressedMatrix(compressed), AnyObject::FloatMatrix(matrix)] {
        save(&name, &object, Mode::Binary, &Opener::default()).unwrap();
        let opener = Opener::with_pipes();
        let there: AnyObject = load(&format!("{name}[1:1]"), &opener).unwrap();
        let piped: AnyObject = load(&format!("cat {name} |[1:1]"), &opener).unwrap();
        assert_eq!(there, piped);
    }
}

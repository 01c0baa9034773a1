//! Configurations in files.

use std::fs;

use seqfeed_cntk::config::{Deserializer, ReaderConfig, path};
use seqfeed_io::Opener;

#[test]
fn loads_files_with_includes_and_overrides() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &[u8]| {
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let main = write(
        "main.cntk",
        b"\xef\xbb\xbfinclude=base.cntk\r\n# \xff\r\nTrain=[reader=[file=$Dir$/x]]\r\n",
    );
    write(
        "base.cntk",
        b"Dir=/base\nTrain=[reader=[readerType=CNTKTextFormatReader;input=[x=[dim=1;format=dense]]]]",
    );
    let more = write("more.cntk", b"Test=[reader=[readerType=HTKMLFReader]]");
    let opener = Opener::default();
    let load = |files: &str, dotted: &str, overrides: &[&str]| {
        ReaderConfig::load(files, dotted, overrides, &opener)
    };
    for dotted in ["Train.reader", "TRAIN.Reader", ""] {
        let reader = load(&main, dotted, &["Dir=/over"]).unwrap();
        assert_eq!(reader.directory, Some(directory.path().into()));
        let Deserializer::Ctf(ctf) = &reader.deserializers[0] else { panic!() };
        assert_eq!(ctf.file, "/over/x");
    }
    assert_eq!(path::load(&main, "train", &opener).unwrap().path(), "main.cntk:Train");
    let both = format!("{main}+{more}");
    let error = load(&both, "", &[]).unwrap_err().to_string();
    assert!(
        error.ends_with("which of the reader sections? (one of Test.reader, Train.reader)"),
        "{error}"
    );
    assert!(load(&both, "Train.reader", &[]).is_ok());
    let error = load(&both, "Test.reader", &[]).unwrap_err().to_string();
    assert!(
        error.contains("more.cntk:1: CNTK configuration: Network needs at least 1 feature"),
        "{error}"
    );
    let error = load("none.cntk", "", &[]).unwrap_err();
    assert!(error.is_not_found() && error.to_string().starts_with("none.cntk"), "{error}");
}

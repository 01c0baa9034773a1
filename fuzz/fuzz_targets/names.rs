//! Specifiers, extended filenames, lines of script files, ranges, archives' keys.
#![no_main]

use std::ffi::OsStr;
use std::fmt::Display;
use std::os::unix::ffi::OsStrExt;

use seqfeed_io::{RxFilename, WxFilename, name_from_text, name_to_text};
use seqfeed_kaldi::{ObjectReader, Range, Rspecifier, ScriptLine, Wspecifier};

/// What is shown does nothing to a terminal.
fn shown(name: &impl Display) {
    assert!(!name.to_string().contains(char::is_control));
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = ScriptLine::parse(bytes);
    let mut reader = ObjectReader::from_bytes("fuzz", bytes);
    let mut key = Vec::new();
    while reader.read_key(&mut key).unwrap_or(false) {
        if reader.skip::<Vec<i32>>().is_err() {
            break;
        }
    }
    let name = OsStr::from_bytes(bytes);
    assert_eq!(name_from_text(&name_to_text(name)), name);
    if let Ok(parsed) = Rspecifier::parse(name) {
        assert_eq!(Rspecifier::parse(&parsed.name()).unwrap(), parsed);
        shown(&parsed);
    }
    if let Ok(parsed) = Wspecifier::parse(name) {
        assert_eq!(Wspecifier::parse(&parsed.name()).unwrap(), parsed);
        shown(&parsed);
    }
    if let Ok(parsed) = RxFilename::parse(name) {
        assert_eq!(RxFilename::parse(&parsed.name()).unwrap(), parsed);
        shown(&parsed);
    }
    if let Ok(parsed) = WxFilename::parse(name) {
        assert_eq!(WxFilename::parse(&parsed.name()).unwrap(), parsed);
        shown(&parsed);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(range) = Range::parse(text) {
        for size in [0, 1, 7, u32::MAX] {
            let _ = (range.rows_of(size), range.cols_of(size));
        }
    }
});

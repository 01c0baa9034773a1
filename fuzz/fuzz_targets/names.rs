//! Specifiers, extended filenames, lines of script files, ranges, archives' keys.
#![no_main]

use seqfeed_io::{RxFilename, WxFilename};
use seqfeed_kaldi::{ObjectReader, Range, Rspecifier, ScriptLine, Wspecifier};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = ScriptLine::parse(bytes);
    let mut reader = ObjectReader::from_bytes("fuzz", bytes);
    let mut key = Vec::new();
    while reader.read_key(&mut key).unwrap_or(false) {
        if reader.skip::<Vec<i32>>().is_err() {
            break;
        }
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(parsed) = Rspecifier::parse(text) {
        assert_eq!(Rspecifier::parse(&parsed.to_string()).unwrap(), parsed);
    }
    if let Ok(parsed) = Wspecifier::parse(text) {
        assert_eq!(Wspecifier::parse(&parsed.to_string()).unwrap(), parsed);
    }
    if let Ok(parsed) = RxFilename::parse(text) {
        assert_eq!(RxFilename::parse(&parsed.to_string()).unwrap(), parsed);
    }
    if let Ok(parsed) = WxFilename::parse(text) {
        assert_eq!(WxFilename::parse(&parsed.to_string()).unwrap(), parsed);
    }
    if let Ok(range) = Range::parse(text) {
        for size in [0, 1, 7, u32::MAX] {
            let _ = (range.rows_of(size), range.cols_of(size));
        }
    }
});

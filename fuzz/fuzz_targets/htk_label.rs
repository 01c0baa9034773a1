//! Label files: any bytes are read or refused; what is read is written and read again to the same.
#![no_main]

use seqfeed_htk::label::other::{LabelFormat, parse_other};
use seqfeed_htk::label::{ParseOptions, Transcription, parse, write};

fn written_and_read(transcription: &Transcription) {
    let mut text = Vec::new();
    write(&mut text, transcription).expect("what was read can be written");
    let again = parse(&text, &ParseOptions::default()).expect("what was written can be read");
    assert_eq!(&again, transcription);
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for dot_ends in [false, true] {
        let options = ParseOptions { dot_ends, ..ParseOptions::default() };
        if let Ok(transcription) = parse(bytes, &options) {
            written_and_read(&transcription);
        }
        let _ = parse(bytes, &ParseOptions { level: Some(2), strip_triphones: true, ..options });
    }
    for format in [LabelFormat::Timit, LabelFormat::Scribe, LabelFormat::Esps] {
        if let Ok(transcription) = parse_other(bytes, format) {
            written_and_read(&transcription);
        }
    }
});

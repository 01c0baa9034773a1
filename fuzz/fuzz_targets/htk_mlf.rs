//! Master label files: pieces make no difference, nothing panics, what is indexed can be read.
#![no_main]

use std::io::Read;

use seqfeed_htk::label::cntk::{CntkIndex, FrameParser};
use seqfeed_htk::label::{Body, MlfIndex, MlfOptions, ParseOptions, parse};
use seqfeed_htk::state_list::StateList;

/// A stream that gives few bytes at a time.
struct Slow<'a>(&'a [u8], usize);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.1.min(buffer.len());
        self.0.read(&mut buffer[..count])
    }
}

/// What HTK's index says.
fn htk(text: &[u8], piece: usize, blanks_around_dot: bool) -> String {
    let mut index = MlfIndex::new(MlfOptions { v1_compat: blanks_around_dot, ..MlfOptions::default() });
    let result = index.add("m", Slow(text, piece)).map_err(|error| error.to_string());
    let mut said = format!("{result:?} {:?}", index.duplicates());
    for id in 0..index.len() as u32 {
        let entry = index.entry(id);
        said += &format!("{entry:?} {:?}", index.find(entry.name));
        if let Body::Here { offset, bytes } = entry.body {
            let body = &text[offset as usize..(offset + bytes) as usize];
            let _ = parse(body, &ParseOptions { dot_ends: true, ..ParseOptions::default() });
        }
    }
    said
}

/// What CNTK's index says.
fn cntk(text: &[u8], piece: usize) -> String {
    let states = StateList::parse(b"a\nb\n").expect("a list");
    let mut said = String::new();
    let mut index = CntkIndex::default();
    let incident = |error: seqfeed_core::Error| {
        said += &error.to_string();
        Ok(())
    };
    let result = index.add("m", Slow(text, piece), incident).map_err(|error| error.to_string());
    said += &format!("{result:?}");
    for utterance in index.utterances() {
        said += &format!("{utterance:?}");
        assert_eq!(index.get(utterance.key.0).map(|id| index.utterance(id)), Some(utterance));
        let bytes = &text[utterance.offset as usize..][..utterance.bytes as usize];
        for states in [None, Some(&states)] {
            let (mut classes, mut values) = (Vec::new(), Vec::new());
            let parser = FrameParser { max_frames: 1000, ..FrameParser::new(states, 4) };
            let result = parser.parse(&utterance, bytes, &mut classes, Some(&mut values));
            let frames = if result.is_ok() { utterance.frames as usize } else { 0 };
            assert_eq!((classes.len(), values.len()), (frames, frames));
        }
    }
    said
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = [b"#!MLF!#\n", bytes].concat();
    for text in [bytes, &text] {
        let piece = 1 + bytes.len() % 7;
        for blanks in [false, true] {
            assert_eq!(htk(text, piece, blanks), htk(text, usize::MAX, blanks));
        }
        assert_eq!(cntk(text, piece), cntk(text, usize::MAX));
    }
});

//! What holds for all transcriptions and for any bytes.

use std::io::Read;

use proptest::prelude::*;
use seqfeed_htk::label::cntk::{CntkIndex, FrameParser};
use seqfeed_htk::label::{
    Body, Labels, MLF_HEADER, MlfIndex, MlfOptions, ParseOptions, Transcription, parse, write,
    write_mlf_entry,
};
use seqfeed_htk::state_list::StateList;

/// A name: any bytes but NUL, and such as are easily mistaken.
fn names() -> impl Strategy<Value = Vec<u8>> {
    let odd = [
        "", ".", "///", "1", "-5", "1e3", "+4", "5.", "\"", "'", "a b", "\"'", "'\"", "\\",
        "\\101", "a\"b c'd", "#!MLF!#",
    ];
    prop_oneof![
        "[a-z]{1,4}".prop_map(String::into_bytes),
        proptest::sample::select(odd.to_vec()).prop_map(|name| name.as_bytes().to_vec()),
        proptest::collection::vec(1u8..=255, 0..6),
        "[ '\"/.\\\\0-9+e\n\r-]{0,6}".prop_map(String::into_bytes),
    ]
}

fn scores() -> impl Strategy<Value = f32> {
    prop_oneof![3 => Just(0.0f32), 1 => any::<f32>().prop_filter("a number", |score| !score.is_nan())]
}

fn times() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => (0u32..1_000_000).prop_map(f64::from),
        1 => any::<f64>().prop_filter("a number", |time| !time.is_nan()),
    ]
}

fn lists(least: usize) -> impl Strategy<Value = Labels> {
    let scored = || (names(), scores());
    let segment = (
        proptest::option::of((times(), proptest::option::of(times()))),
        proptest::collection::vec(scored(), 1..4),
    );
    proptest::collection::vec(segment, least..5).prop_map(|segments| {
        let mut labels = Labels::new();
        for (time, names) in segments {
            let (start, end) = time.map_or((None, None), |(start, end)| (Some(start), end));
            labels.push(start, end, &names[0].0, names[0].1);
            names[1..].iter().for_each(|(name, score)| labels.push_name(name, *score));
        }
        labels
    })
}

fn transcriptions() -> impl Strategy<Value = Transcription> {
    let lists =
        (lists(1), proptest::collection::vec(lists(0), 0..3)).prop_map(|(first, mut others)| {
            others.insert(0, first);
            others
        });
    prop_oneof![1 => Just(Vec::new()), 9 => lists]
        .prop_map(|alternatives| Transcription { alternatives })
}

/// A stream that gives few bytes at a time.
struct Slow<'a>(&'a [u8], usize);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.1.min(buffer.len());
        Read::read(&mut self.0, &mut buffer[..count])
    }
}

/// Text of an MLF, more or less.
fn mlf_text() -> impl Strategy<Value = Vec<u8>> {
    let piece = proptest::sample::select(vec![
        "\"*/a.lab\"\n",
        "\"b.lab\"\r\n",
        "\"*\" -> \"d\"\n",
        "\n",
        ".\n",
        ".\r\n",
        ". \n",
        "..\n",
        ".",
        "\r",
        "\r\r\n",
        "0 100000 a\n",
        "100000 300000 b -1.5\n",
        "0 2 a\r\n",
        "2 5 a\n",
        "1e5 3e5 b\n",
        "0 9e18 a\n",
        "a\n",
        "///\n",
        "'x y'\n",
        "\"x\n.\n\"\n",
        "#!MLF!#\n",
        "\\9",
        "\"",
        " ",
        "5 1 a\n",
        "-1 5 a\n",
        "0 1 x 3\n",
    ]);
    proptest::collection::vec(piece, 0..25).prop_map(|pieces| {
        let mut text = MLF_HEADER.to_vec();
        pieces.iter().for_each(|piece| text.extend_from_slice(piece.as_bytes()));
        text
    })
}

/// All that an index of an MLF says, as text.
fn index(text: &[u8], piece: usize, v1_compat: bool) -> String {
    let mut index = MlfIndex::new(MlfOptions { v1_compat, ..MlfOptions::default() });
    let result = index.add("m", Slow(text, piece)).map_err(|error| error.to_string());
    let mut said = format!("{result:?} {:?}", index.duplicates());
    for id in 0..index.len() as u32 {
        let entry = index.entry(id);
        said += &format!("\n{entry:?}");
        if let Body::Here { offset, bytes } = entry.body {
            let body = &text[offset as usize..(offset + bytes) as usize];
            // The body starts on the line after the name's.
            let line = memchr_lines(&text[..offset as usize]);
            assert!(line == entry.line || (bytes == 0 && line + 1 == entry.line), "{said}");
            let options = ParseOptions { dot_ends: true, ..ParseOptions::default() };
            said += &format!("{:?}", parse(body, &options));
        }
        let _ = index.find(entry.name);
    }
    said
}

fn memchr_lines(text: &[u8]) -> u64 {
    text.iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// All that CNTK's view of an MLF says, as text.
fn cntk(text: &[u8], piece: usize) -> String {
    let states = StateList::parse(b"a\nb\n").unwrap();
    let mut incidents = Vec::new();
    let mut index = CntkIndex::default();
    let keep = |error: seqfeed_core::Error| {
        incidents.push(error.to_string());
        Ok(())
    };
    let result = index.add("m", Slow(text, piece), keep);
    let mut said = format!("{:?} {incidents:?}", result.map_err(|error| error.to_string()));
    for utterance in index.utterances() {
        let bytes = &text[utterance.offset as usize..][..utterance.bytes as usize];
        assert_eq!(memchr_lines(&text[..utterance.offset as usize]) + 1, utterance.line);
        for states in [None, Some(&states)] {
            let (mut classes, mut values) = (Vec::new(), Vec::new());
            let parser = FrameParser { max_frames: 1000, ..FrameParser::new(states, 4) };
            let result = parser.parse(&utterance, bytes, &mut classes, Some(&mut values));
            assert_eq!(classes.len(), if result.is_ok() { utterance.frames as usize } else { 0 });
            assert_eq!(classes.len(), values.len());
            said += &format!(
                "\n{utterance:?} {classes:?} {values:?} {:?}",
                result.map_err(|e| e.to_string())
            );
        }
    }
    said
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn what_is_written_is_read(transcription in transcriptions()) {
        let mut text = Vec::new();
        write(&mut text, &transcription).unwrap();
        let read = parse(&text, &ParseOptions::default()).unwrap();
        prop_assert_eq!(&read, &transcription, "{}", text.escape_ascii());
        let mut mlf = MLF_HEADER.to_vec();
        for name in ["*/a.lab", "b.lab"] {
            write_mlf_entry(&mut mlf, name.as_bytes(), &transcription).unwrap();
        }
        let mut index = MlfIndex::default();
        index.add("m", &mlf[..]).unwrap();
        prop_assert_eq!(index.len(), 2);
        for id in 0..2 {
            let Body::Here { offset, bytes } = index.entry(id).body else { panic!() };
            let body = &mlf[offset as usize..];
            let options = ParseOptions { dot_ends: true, ..ParseOptions::default() };
            prop_assert_eq!(&parse(body, &options).unwrap(), &transcription);
            prop_assert_eq!(&parse(&body[..bytes as usize], &options).unwrap(), &transcription);
        }
    }

    #[test]
    fn pieces_make_no_difference(text in mlf_text(), piece in 1usize..9, cut in 0usize..400) {
        for text in [&text[..], &text[..cut.min(text.len())]] {
            for blanks in [false, true] {
                prop_assert_eq!(index(text, piece, blanks), index(text, usize::MAX, blanks));
            }
            prop_assert_eq!(cntk(text, piece), cntk(text, usize::MAX));
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(mut text in mlf_text(), damage in proptest::collection::vec((any::<usize>(), any::<u8>()), 0..8)) {
        for (at, byte) in damage {
            let at = at % text.len();
            text[at] = byte;
        }
        index(&text, 7, false);
        cntk(&text, 7);
        let options = ParseOptions { dot_ends: true, level: Some(2), ..ParseOptions::default() };
        let _ = parse(&text, &options);
        let _ = StateList::parse(&text);
        for format in [
            seqfeed_htk::label::other::LabelFormat::Timit,
            seqfeed_htk::label::other::LabelFormat::Scribe,
            seqfeed_htk::label::other::LabelFormat::Esps,
        ] {
            let _ = seqfeed_htk::label::other::parse_other(&text, format);
        }
    }
}

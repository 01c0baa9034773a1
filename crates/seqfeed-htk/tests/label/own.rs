//! Small files of our own.

use std::fs;
use std::path::Path;

use seqfeed_htk::label::cntk::{CntkIndex, FrameParser};
use seqfeed_htk::label::{Body, LabelFiles, Labels, MlfIndex, MlfOptions, ParseOptions, parse};
use seqfeed_htk::state_list::StateList;
use serde_json::json;

use crate::as_json;

fn fixtures() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/labels"))
}

#[test]
fn errors_have_lines_and_cures() {
    let message = |data: &[u8]| parse(data, &ParseOptions::default()).unwrap_err().to_string();
    assert_eq!(
        message(b"0 10 a\r\n10 20\r\n"),
        "line 2: HTK label file: expected a name, found \"\\r\" (a line is `[start [end]] name [score] \
         {name [score]}`; a name that looks like a number stands in quotes (HTK error 6550))",
    );
    assert!(
        message(b"a\n\nb\n").starts_with(
            "line 3: HTK label file: expected the end of the transcription, found \"b\""
        )
    );
    assert!(
        message(b"a\rb\r'c\n")
            .starts_with("line 3: HTK label file: the file ends inside a quoted name")
    );
    assert!(message(b"a\n\\18 b").starts_with("line 2: HTK label file: expected an escape, found"));
}

#[test]
fn blanks_may_stand_around_dots_and_separators() {
    let text = b"a\n /// \nb\n\t///\t\r\nc\n . \nleft\n";
    let lists = |v1_compat| -> Vec<Vec<String>> {
        let options = ParseOptions { v1_compat, dot_ends: true, ..ParseOptions::default() };
        let transcription = parse(text, &options).unwrap();
        let names = |labels: &Labels| {
            let name = |segment: seqfeed_htk::label::Segment<'_>| {
                String::from_utf8(segment.name().text.to_vec()).unwrap()
            };
            labels.segments().map(name).collect()
        };
        transcription.alternatives.iter().map(names).collect()
    };
    assert_eq!(lists(true), [["a"], ["b"], ["c"]]);
    // Otherwise they are labels.
    assert_eq!(lists(false), [["a", "///", "b", "///", "c", ".", "left"]]);
    // Other words stay what they are.
    let options = ParseOptions { v1_compat: true, ..ParseOptions::default() };
    let transcription = parse(b"a\n /// b\n x ///\n", &options).unwrap();
    assert_eq!(transcription.alternatives.len(), 1);
}

#[test]
fn master_label_files_are_looked_up_in_order() {
    let mut files =
        LabelFiles::new(ParseOptions::default(), MlfOptions::default()).relative_to(fixtures());
    files.add_mlf(Path::new("words.mlf")).unwrap();
    files.add_mlf(Path::new("more.mlf")).unwrap();
    let read = |name: &str| {
        let transcription = files.read(name.as_bytes()).unwrap();
        transcription.alternatives.first().map(|labels| {
            labels
                .segments()
                .map(|s| String::from_utf8(s.name().text.to_vec()).unwrap())
                .collect::<Vec<_>>()
        })
    };
    let words =
        |words: &[&str]| Some(words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
    assert_eq!(read("any/where/a.lab"), words(&["first", "two words"]));
    assert_eq!(read("b.lab"), None);
    assert_eq!(read("x/spk2/c.lab"), words(&["deep"]));
    assert_eq!(read("spk7_1.lab"), words(&["pattern"]));
    // The redirection before it has no such file.
    assert_eq!(read("x/d.lab"), words(&["later"]));
    assert_eq!(read("plain.lab"), words(&["plain"]));
    let error = files.read(b"nowhere.lab").unwrap_err();
    assert!(error.is_not_found() && error.help().unwrap().contains("6510"), "{error}");
    let duplicates = files.index().duplicates();
    assert_eq!(duplicates.len(), 1);
    let again = files.index().entry(duplicates[0].again);
    assert_eq!((again.name, again.line, again.file_number), (&b"*/a.lab"[..], 2, 1));
    let error = files.read(b"bad.lab").unwrap_err();
    assert_eq!(
        (error.place().position, error.place().key.as_deref()),
        (Some(seqfeed_core::Position::Line(8)), Some("bad.lab"))
    );
}

#[test]
fn redirections_are_indexed() {
    let text =
        b"  #!MLF!#\t\r\njunk\n\"*\" -> \"d\"\n\"*\" => \"e f\" \"g\"\n\"*\" > \"h\"\nx\n.\n";
    let mut index = MlfIndex::default();
    index.add("m", &text[..]).unwrap();
    let bodies: Vec<Body<'_>> =
        index.find(b"anything").iter().map(|&id| index.entry(id).body).collect();
    assert_eq!(
        bodies,
        [Body::Simple(b"d"), Body::Full(b"e f"), Body::Here { offset: 55, bytes: 2 }]
    );
    let error = MlfIndex::default().add("m", &b"#!MLF!#\n\"a\" -> b\n"[..]).unwrap_err();
    assert_eq!(error.place().to_string(), "m:2");
}

#[test]
fn cntk_sees_frames() {
    let states = StateList::parse(&fs::read(fixtures().join("states.list")).unwrap()).unwrap();
    let data = fs::read(fixtures().join("alignments.mlf")).unwrap();
    let mut index = CntkIndex::default();
    let mut incidents = Vec::new();
    let keep = |error: seqfeed_core::Error| {
        incidents.push(error.to_string());
        Ok(())
    };
    index.add("alignments.mlf", &data[..], keep).unwrap();
    assert_eq!(incidents.len(), 4, "{incidents:#?}");
    let parser = FrameParser::new(Some(&states), 3);
    let parse = |key: &str| {
        let utterance = index.utterance(index.get(key.as_bytes()).unwrap());
        let bytes = &data[utterance.offset as usize..][..utterance.bytes as usize];
        let (mut classes, mut values) = (vec![7], vec![7.0]);
        let result = parser.parse(&utterance, bytes, &mut classes, Some(&mut values));
        result.map(|()| (classes, values)).map_err(|error| error.to_string())
    };
    let expected = (vec![7, 0, 0, 2, 1, 1, 1], vec![7.0, 2.0, 1.0, 2.0, 2.0, 1.0, 1.0]);
    assert_eq!(parse("spk1/good").unwrap(), expected);
    assert_eq!(parse("frames").unwrap(), expected);
    assert_eq!(parse("decimals").unwrap(), expected);
    assert!(parse("gap").unwrap_err().starts_with(
        "alignments.mlf:19 (key gap): master label file: the first frame is 3, expected 2"
    ));
    assert!(parse("unknown").unwrap_err().contains("the list of states does not have it"));
    assert_eq!(index.get(b"huge").map(|id| index.utterance(id).frames), Some(4_000_000_000));
    assert!(parse("huge").unwrap_err().contains("frames of an utterance"));
    let four = FrameParser::new(None, 3);
    let utterance = index.utterance(index.get(b"four").unwrap());
    let bytes = &data[utterance.offset as usize..][..utterance.bytes as usize];
    let mut classes = Vec::new();
    four.parse(&utterance, bytes, &mut classes, None).unwrap();
    assert_eq!(classes, [2, 2, 1]);
    let mut stopped = CntkIndex::default();
    assert!(stopped.add("alignments.mlf", &data[..], Err).is_err());
}

#[test]
fn levels_and_alternatives_are_kept_apart() {
    let data = b"0 1 s1 m1 w1\n1 2 s2\n2 3 s3 m2\n///\n0 3 x\n///\n";
    let all = parse(data, &ParseOptions::default()).unwrap();
    assert_eq!(all.alternatives.iter().map(Labels::levels).collect::<Vec<_>>(), [3, 1, 0]);
    let options = ParseOptions { level: Some(2), alternative: Some(1), ..ParseOptions::default() };
    let kept = as_json(&parse(data, &options).unwrap());
    assert_eq!(
        kept,
        json!([[{"st": 0.0, "en": 2.0, "lab": "m1", "score": 0.0}, {"st": 2.0, "en": 3.0, "lab": "m2", "score": 0.0}]])
    );
    for options in [
        ParseOptions { level: Some(0), ..ParseOptions::default() },
        ParseOptions { level: Some(4), ..ParseOptions::default() },
        ParseOptions { alternative: Some(4), ..ParseOptions::default() },
    ] {
        assert!(parse(data, &options).is_err());
    }
}

//! HTK's style.

use std::fs;

use seqfeed_htk::script::{PathRule, Script, ScriptOptions, Segment};
use serde_json::Value;

use crate::shared::{manifest, shared};

fn parse(text: &str) -> seqfeed_core::Result<Script> {
    Script::parse(text.into(), &ScriptOptions::default())
}

/// Entries as text: `logical physical first end line`.
fn shown(script: &Script) -> Vec<String> {
    let entries = script.iter().map(|entry| {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let segment = match entry.segment() {
            None => "all".to_owned(),
            Some(segment) => format!("{}..{:?}", segment.first(), segment.end()),
        };
        let (logical, physical) = (text(&entry.logical()), text(&entry.physical()));
        format!("{logical}|{physical}|{segment}|{}", entry.line())
    });
    entries.collect()
}

/// What HTK makes of an entry, shown the same way.
fn expected(entry: &Value) -> String {
    let text = |name: &str| entry[name].as_str().unwrap().to_owned();
    let number = |name: &str| entry[name].as_i64().unwrap();
    let segment = match (number("st"), number("en")) {
        (-1, _) => "all".to_owned(),
        (first, -1) => format!("{first}..None"),
        (first, last) => format!("{first}..{:?}", Some(last + 1)),
    };
    format!("{}|{}|{segment}", text("log"), text("act"))
}

/// What is done otherwise: entries, or a part of the message.
fn otherwise(name: &str) -> Option<Result<&'static [&'static str], &'static str>> {
    Some(match name {
        // Options have no place among names.
        "dash.scp" => Err("-dash.mfc"),
        // Numbers are names.
        "number.scp" => Ok(&["123|123|all", "1.5|1.5|all", "+7|+7|all"]),
        // HTK takes the end for 0.
        "ext_noend.scp" => Err("a frame number is not a number"),
        // HTK takes the first comma and the first bracket, wherever they are.
        "ext_comma_in_name.scp" => Ok(&["a,b|phys.mfc|5..Some(10)"]),
        "ext_bracket_in_dir.scp" => Ok(&["log|/d[1]/phys.mfc|1..Some(3)"]),
        // HTK drops what follows.
        "ext_trailing.scp" => Err("the end of the name behind the range, found \"xyz\""),
        _ => return None,
    })
}

/// Scripts that are in no list of results, by the rules.
fn by_the_rules(name: &str) -> Option<&'static [&'static str]> {
    Some(match name {
        "comment.scp" => {
            &["#|#|all", "not|not|all", "a|a|all", "comment|comment|all", "a.mfc|a.mfc|all"]
        }
        "ext6.scp" => &[
            "l0|p0|0..Some(2)",
            "l1|p1|1..Some(3)",
            "l2|p2|2..Some(4)",
            "l3|p3|3..Some(5)",
            "l4|p4|4..Some(6)",
            "l5|p5|5..Some(7)",
            "l6|p6|6..Some(8)",
            "l7|p7|7..Some(9)",
        ],
        "ext_eq_twice.scp" => &["a|b=c.mfc|1..Some(3)"],
        "ext_neg.scp" => &["log|phys.mfc|5..None"],
        "ext_quoted.scp" => &["lo g|ph ys.mfc|1..Some(3)"],
        "plain.scp" => &["a.mfc|a.mfc|all", "dir/b.mfc|dir/b.mfc|all"],
        "several.scp" => {
            &["a.mfc|a.mfc|all", "b.mfc|b.mfc|all", "c.mfc|c.mfc|all", "d.mfc|d.mfc|all"]
        }
        _ => return None,
    })
}

#[test]
fn scripts_are_read_as_htk_reads_them() {
    let Some(lab) = shared("golden/htk/lab") else { return };
    let cases = manifest(&lab.join("../manifest_lab.json"));
    let mut counts = [0; 3];
    for entry in fs::read_dir(&lab).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if !name.ends_with(".scp") {
            continue;
        }
        let script = Script::parse(fs::read(&path).unwrap(), &ScriptOptions::default());
        let found = script.as_ref().map(|script| {
            let all = shown(script);
            all.iter().map(|entry| entry.rsplit_once('|').unwrap().0.to_owned()).collect::<Vec<_>>()
        });
        let case = cases.iter().find(|case| case["files"][0] == name);
        if let Some(other) = otherwise(name) {
            counts[0] += 1;
            match (found, other) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{name}"),
                (Err(error), Err(part)) => {
                    let error = error.clone().in_file(name).to_string();
                    assert!(error.contains(part) && error.starts_with(&format!("{name}:1: ")));
                }
                (found, expected) => panic!("{name}: {found:?}, {expected:?}"),
            }
        } else if let Some(expected) = by_the_rules(name) {
            counts[1] += 1;
            assert_eq!(found.unwrap(), expected, "{name}");
        } else {
            counts[2] += 1;
            let case = case.unwrap_or_else(|| panic!("{name} has no result"));
            if case["rc"] == 0 {
                let expected: Vec<String> =
                    case["expected"].as_array().unwrap().iter().map(expected).collect();
                assert_eq!(found.unwrap(), expected, "{name}");
            } else {
                assert!(found.is_err(), "{name}");
            }
        }
    }
    assert_eq!(counts, [6, 7, 8]);
}

#[test]
fn words_and_lines() {
    let script = parse("a.mfc\tb.mfc\r\n\r\n \x0b'c\nd' \"e'f\"\n\"g\"").unwrap();
    assert_eq!(
        shown(&script),
        ["a.mfc|a.mfc|all|1", "b.mfc|b.mfc|all|1", "c\nd|c\nd|all|3", "e'f|e'f|all|4", "g|g|all|5",]
    );
    let script = parse(r"x=\\server\data\a b.mfc ...\c.mfc[1,2] it's").unwrap();
    assert_eq!(
        shown(&script),
        [
            r"x|\\server\data\a|all|1",
            "b.mfc|b.mfc|all|1",
            r"...\c.mfc|...\c.mfc|1..Some(3)|1",
            "it's|it's|all|1",
        ]
    );
    let long = "a".repeat(100_000);
    assert_eq!(parse(&long).unwrap().get(0).unwrap().physical().len(), 100_000);
}

#[test]
fn errors_have_lines_and_say_what_is_wrong() {
    for (text, message) in [
        ("a\n'b\nc", "line 2: HTK script file: the file ends inside a quoted name (the quote"),
        ("a\n\n-T 1", "line 3: HTK script file: expected the name of a file, found \"-T\""),
        ("\"a\"b", "line 1: HTK script file: expected white space behind the closing quote"),
        ("a[1]", "expected a range [first,last], found \"1\""),
        ("a1,2]", "expected a `[` before the `]`"),
        ("a[1,x]", "a frame number is not a number that fits: \"x\""),
        ("a[1,99999999999]", "not a number that fits"),
        ("a[1, 2]", "expected a `]` behind the range, in the same word, found \"[1,\""),
        ("b a[9,5]", "the last frame is 5, expected 9 or more"),
        ("=a", "expected a name (file, or logical=file[first,last]), found \"=a\""),
        ("a=", "expected a name"),
        ("a=[1,2]", "expected a name"),
        ("''", "expected a name"),
        ("a\n\0", "line 2: HTK script file: expected a text, not binary data"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(message), "{text:?}: {error}");
        assert!(error.starts_with("line "), "{text:?}: {error}");
    }
}

#[test]
fn segments_are_inclusive() {
    let script = parse("a[0,9] b[5,-1] c[-1,7] d[5,4] e[+3,3]").unwrap();
    let segments: Vec<_> = script.iter().map(|entry| entry.segment()).collect();
    let frames = |segment: Option<Segment>, of| segment.unwrap().frames(of);
    assert_eq!(frames(segments[0], 10), Some(0..10));
    assert_eq!(frames(segments[0], 9), None);
    assert_eq!(frames(segments[1], 9), Some(5..9));
    assert_eq!(frames(segments[1], 5), Some(5..5));
    assert_eq!(frames(segments[1], 4), None);
    assert_eq!(segments[2], None);
    assert_eq!((frames(segments[3], 9), segments[3].unwrap().is_empty()), (Some(5..5), true));
    assert_eq!(segments[4].unwrap().len(), Some(1));
    assert_eq!(Segment::new(5, Some(3)), None);
    assert_eq!(Segment::new(5, Some(u32::MAX)), None);
}

#[test]
fn keys_lack_the_extension() {
    let script = parse("dir.d/noext dir.d/a.b.mfc x/y.lab=z.mfc .hidden").unwrap();
    let keys: Vec<_> = script.iter().map(|entry| entry.key().into_owned()).collect();
    assert_eq!(keys, [&b"dir.d/noext"[..], b"dir.d/a.b", b"x/y", b""]);
}

#[test]
fn names_can_be_taken_as_they_are() {
    let options = ScriptOptions { extended_names: false, ..ScriptOptions::default() };
    let script = Script::parse(b"a=b[1,2] c[".to_vec(), &options).unwrap();
    assert_eq!(shown(&script), ["a=b[1,2]|a=b[1,2]|all|1", "c[|c[|all|1"]);
    let options = ScriptOptions { path_rule: PathRule::under(b"C:\\d\\"), ..options };
    let script = Script::parse(b"a.mfc".to_vec(), &options).unwrap();
    assert_eq!(shown(&script), ["C:/d/a.mfc|C:/d/a.mfc|all|1"]);
}

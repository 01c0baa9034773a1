//! CNTK's style, and its corpora.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use seqfeed_htk::param::{ParamFile, ReadOptions};
use seqfeed_htk::script::{Script, ScriptOptions, Segment, Style, write_entry};

use crate::shared::{bits, shared};

fn parse(text: &str, options: &ScriptOptions) -> seqfeed_core::Result<Script> {
    Script::parse(text.into(), options)
}

fn places(text: &str, options: &ScriptOptions) -> Vec<(String, String)> {
    let script = parse(text, options).unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    script.iter().map(|entry| (text(&entry.key()), text(&entry.physical()))).collect()
}

fn pair(key: &str, physical: &str) -> (String, String) {
    (key.into(), physical.into())
}

#[test]
fn dots_are_the_directory_of_the_script() {
    let options = ScriptOptions::cntk(b"/data/train.scp");
    let text = "a/b.mfc=.../c.chunk[0,3]\r\n\nx.y.z=d/.../....[4,5]\ndir.d/e=f[6,6]";
    assert_eq!(
        places(text, &options),
        [pair("a/b", "/data/c.chunk"), pair("x.y", "d//data/...."), pair("dir", "f"),]
    );
    // The first dots only, even in the key.
    assert_eq!(places("...a=.../b[0,0]", &options), [pair("/dataa", ".../b")]);
    let here = ScriptOptions::cntk(b"train.scp");
    assert_eq!(places("a=.../b[0,0]", &here), [pair("a", "./b")]);
    let windows = ScriptOptions::cntk(br"D:\data\train.scp");
    assert_eq!(places(r"a=...\b[0,0]", &windows), [pair("a", r"D:\data\b")]);
}

#[test]
fn a_prefix_stands_before_files() {
    let options = ScriptOptions::cntk_with_prefix(br"\\server\data\\");
    assert_eq!(places("a.x=.../b[0,0]", &options), [pair("a", "//server/data/.../b")]);
}

#[test]
fn blanks_belong_to_names_and_may_stand_in_ranges() {
    let options = ScriptOptions::cntk(b"/d/s");
    assert_eq!(places(" a.mfc = b c[ 4, 5 ]\n", &options), [pair(" a", " b c")]);
    assert_eq!(places("\"a.mfc\"=\"b\"[0,1]", &options), [pair("\"a", "\"b\"")]);
}

#[test]
fn lines_must_be_complete() {
    let options = ScriptOptions::cntk(b"/d/s");
    for (text, message) in [
        ("a=b[0,1]\nc", "line 2: HTK script file: expected a logical name and a `=`, found \"c\""),
        ("a=b", "expected the first and the last frame, [first,last], found \"a=b\" (whole files"),
        ("a=b[5,2]", "the last frame is 2, expected 5 or more"),
        ("a=b[5,4]", "expected a last frame that is not before the first"),
        ("a=b[5,-1]", "expected a last frame that is not before the first"),
        ("a=b[0,3", "expected a `]`"),
        ("a=b[0,3] ", "expected the end of the name behind the range, found \" \""),
    ] {
        let error = parse(text, &options).unwrap_err().to_string();
        assert!(error.contains(message), "{text:?}: {error}");
    }
}

#[test]
fn whole_files_can_be_allowed() {
    let options = ScriptOptions { whole_files: true, ..ScriptOptions::cntk(b"/d/s") };
    let text = b"a/u1.mfc\nu2.x=.../b.mfc\n\nu3.x=b.mfc[2,3]\nd.d/plain\n".to_vec();
    let script = Script::parse(text, &options).unwrap();
    let found: Vec<_> = script
        .iter()
        .map(|entry| {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            let len = entry.segment().and_then(Segment::len);
            (text(&entry.key()), text(&entry.physical()), len)
        })
        .collect();
    let expected = [
        ("a/u1", "a/u1.mfc", None),
        ("u2", "/d/b.mfc", None),
        ("u3", "b.mfc", Some(2)),
        ("d.d/plain", "d.d/plain", None),
    ];
    assert_eq!(found, expected.map(|(key, file, len)| (key.to_owned(), file.to_owned(), len)));
    // Ranges that are there must make sense all the same.
    assert!(Script::parse(b"a=b[5,2]".to_vec(), &options).is_err());
}

/// A key and values.
type Utterance = (Vec<u8>, Vec<f32>);

/// Reads all entries of a script, or gives the first error.
fn read_all(script: &Path) -> Result<Vec<Utterance>, String> {
    let options = ScriptOptions::cntk(script.as_os_str().as_bytes());
    let name = script.display().to_string();
    let parsed = Script::parse(fs::read(script).unwrap(), &options);
    let parsed = parsed.map_err(|error| error.in_file(&name).to_string())?;
    let entries = parsed.iter().map(|entry| {
        let fail = |message: String| format!("{name}:{}: {message}", entry.line());
        let directory = script.parent().unwrap();
        let file = ParamFile::open(&directory.join(entry.path()), &ReadOptions::default());
        let file = file.map_err(|error| fail(error.to_string()))?;
        let frames = entry.segment().unwrap().frames(file.frames());
        let frames = frames.ok_or_else(|| fail("beyond the file".into()))?;
        let mut values = Vec::new();
        file.append_frames(frames, &mut values).map_err(|error| error.to_string())?;
        Ok((entry.key().into_owned(), values))
    });
    entries.collect()
}

#[test]
fn corpora_of_cntk_are_read() {
    let Some(data) = shared("golden/cntk/data") else { return };
    let (mut read, mut refused) = (0, Vec::new());
    for directory in ["htk", "htkbig"] {
        for entry in fs::read_dir(data.join(directory)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if !name.ends_with(".scp") {
                continue;
            }
            match read_all(&path) {
                Ok(entries) => {
                    assert!(entries.iter().all(|(key, values)| {
                        !key.is_empty()
                            && !values.is_empty()
                            && values.iter().all(|v| v.is_finite())
                    }));
                    read += 1;
                }
                Err(error) => {
                    assert!(error.starts_with(path.to_str().unwrap()), "{error}");
                    refused.push(name);
                }
            }
        }
    }
    refused.sort();
    assert_eq!(
        refused,
        [
            "tiny_badrange.scp",
            "tiny_beyond.scp",
            "tiny_norange.scp",
            "tiny_plainfile.scp",
            "tiny_quoted.scp",
            "tiny_rev_e.scp",
            "tiny_spaces.scp",
        ]
    );
    assert_eq!(read, 16);
    let same = ["tiny.scp", "tiny_le.scp", "tiny_k.scp", "tiny_crlf.scp"];
    let all = same.map(|name| read_all(&data.join("htk").join(name)).unwrap());
    for other in &all[1..] {
        assert!(other.iter().zip(&all[0]).all(|(a, b)| a.0 == b.0 && bits(&a.1) == bits(&b.1)));
    }
}

#[test]
fn an_archive_holds_what_its_files_do() {
    let Some(an4) = shared("data/an4/htk") else { return };
    let all = ["archive.scp", "files.scp", "relative.scp"].map(|name| read_all(&an4.join(name)));
    let [archive, files, relative] = all.map(Result::unwrap);
    assert!(archive == files && archive == relative);
    assert!(archive.len() >= 6 && archive[0].0 == b"An4/937/937/an152-mwhw-b");
}

#[test]
fn dots_of_a_name_are_not_taken_for_the_directory() {
    let segment = Segment::new(0, Some(3));
    let mut text = Vec::new();
    assert!(write_entry(b"a...b.x", b".../all.x", segment, Style::Cntk, &mut text).is_err());
    assert!(text.is_empty());
    write_entry(b"a...b.x", b"all.x", segment, Style::Cntk, &mut text).unwrap();
    assert_eq!(text, b"a...b.x=all.x[0,3]\n");
}

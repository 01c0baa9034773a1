//! Streams named by HTK's files, and corpora written as such.

use std::fs;
use std::path::Path;

use seqfeed::io::Opener;
use seqfeed::{Description, Opened, Result, Source, Table};

/// Writes a parameter file of 2 columns: frame `t` is `first + t` and 0.
fn parameters(path: &Path, first: usize, frames: usize, period: i32) {
    let mut bytes = Vec::new();
    bytes.extend((frames as i32).to_be_bytes());
    bytes.extend(period.to_be_bytes());
    bytes.extend([0, 8, 0, 9]);
    for t in first..first + frames {
        bytes.extend((t as f32).to_be_bytes());
        bytes.extend(0f32.to_be_bytes());
    }
    fs::write(path, bytes).unwrap();
}

fn write(at: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = at.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn describe(at: &Path, keys: &[(&str, &str)]) -> Result<Opened> {
    let mut table = Table::new();
    for &(key, value) in keys {
        let is_file = matches!(key, "features" | "labels" | "states" | "reader");
        let value = match value.strip_prefix("htk:") {
            Some(name) => format!("htk:{}", at.join(name).display()),
            None if is_file && !value.contains(':') => at.join(value).display().to_string(),
            None => value.to_owned(),
        };
        table.insert(key.into(), value.into());
    }
    Description::from_options(table)?.open(&Opener::default())
}

fn keys(opened: &Opened) -> Vec<String> {
    let index = opened.corpus().index();
    (0..index.len() as u32).map(|sequence| index.key(sequence).to_string()).collect()
}

fn error(result: Result<Opened>) -> String {
    result.map(|opened| keys(&opened)).unwrap_err().to_string()
}

/// Two utterances of 3 and 2 frames, as files and as an archive, with labels.
fn corpus() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    fs::create_dir_all(at.join("feats.d/spk1")).unwrap();
    parameters(&at.join("feats.d/spk1/u1.mfc"), 0, 3, 100_000);
    parameters(&at.join("feats.d/spk1/u2.mfc"), 3, 2, 100_000);
    parameters(&at.join("all.htk"), 0, 5, 100_000);
    write(
        at,
        &[
            ("archive.scp", "u1.mfc=all.htk[0,2]\r\nu2.mfc=all.htk[3,4]\r\n"),
            ("files.scp", "feats.d/spk1/u1.mfc\nfeats.d/spk1/u2.mfc\n"),
            ("one.list", "feats.d/spk1/u1.mfc \"feats.d/spk1/u2.mfc\""),
            ("windows.scp", "feats.d\\spk1\\u1.mfc\r\nfeats.d\\spk1\\u2.mfc\r\n"),
            ("states", "a\nb\n"),
            (
                "any.mlf",
                "#!MLF!#\n\"*/u1.lab\"\n0 200000 a\n200000 300000 b\n.\n\"*/u2.lab\"\n0 200000 b\n.\n",
            ),
        ],
    );
    directory
}

#[test]
fn every_form_of_a_script_goes_with_labels_in_any_directory() {
    let directory = corpus();
    let at = directory.path();
    for script in ["archive.scp", "files.scp", "htk:one.list", "windows.scp", "htk:archive.scp"] {
        let options = [("features", script), ("labels", "any.mlf"), ("states", "states")];
        let opened = describe(at, &options).unwrap();
        let index = opened.corpus().index();
        assert_eq!((index.len(), index.total_samples()), (2, 5), "{script}");
        assert!(opened.warnings().is_empty(), "{script}");
        let mut blocks = opened.corpus().new_blocks();
        opened.corpus().load(&[1, 0], &mut blocks).unwrap();
        let values: &[f32] = bytemuck::cast_slice(blocks[0].samples(0).bytes());
        assert_eq!(values, [3.0, 0.0, 4.0, 0.0], "{script}");
        let classes: &[i32] = bytemuck::cast_slice(blocks[1].samples(1).bytes());
        assert_eq!(classes, [0, 0, 1], "{script}");
    }
    // A name that stands in two directories is for neither.
    write(at, &[("two.scp", "x/u1.mfc=all.htk[0,2]\ny/u1.mfc=all.htk[0,2]\nu2.mfc=all.htk[3,4]")]);
    let options = [("features", "htk:two.scp"), ("labels", "any.mlf"), ("states", "states")];
    let opened = describe(at, &options).unwrap();
    assert_eq!((keys(&opened), opened.report().total()), (vec!["u2".to_owned()], 2));
}

#[test]
fn parameter_files_are_named_as_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    for name in ["x=y.htk", "a b.htk", "q\"q'.htk", "r[0,1].htk"] {
        parameters(&at.join(name), 0, 3, 100_000);
        let opened = describe(at, &[("features", name)]).unwrap();
        assert_eq!(opened.corpus().index().total_samples(), 3, "{name}");
    }
    // What is wrong with a file is said, not that it is none.
    let whole = fs::read(at.join("a b.htk")).unwrap();
    fs::write(at.join("short.htk"), &whole[..30]).unwrap();
    let text = error(describe(at, &[("features", "short.htk")]));
    assert!(text.contains("6 bytes are missing") && text.contains("@ 30"), "{text}");
    fs::write(at.join("header.htk"), &whole[..5]).unwrap();
    let text = error(describe(at, &[("features", "htk:header.htk")]));
    assert!(text.contains("inside the header"), "{text}");
}

#[test]
fn odd_files_are_read_with_a_warning() {
    let directory = corpus();
    let at = directory.path();
    parameters(&at.join("odd.htk"), 0, 5, 0);
    write(
        at,
        &[
            ("odd.scp", "u1.x=odd.htk[0,2]\nu2.x=odd.htk[3,4]\n"),
            ("twice", "a\nb\na\n"),
            (
                "odd.cntk",
                "r=[ readerType=HTKDeserializers ; x=[ dim=2 ; scpFile=odd.scp ]\n\
                 y=[ mlfFile=any.mlf ; labelMappingFile=twice ; labelDim=3 ] ]",
            ),
        ],
    );
    let both = |warnings: Vec<String>| {
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert!(warnings.iter().any(|text| text.contains("odd.htk: the sample period is 0")));
        assert!(warnings.iter().any(|text| text.contains("twice:3: a stands twice")));
    };
    let options = [("features", "odd.scp"), ("labels", "any.mlf"), ("states", "twice")];
    both(describe(at, &options).unwrap().warnings());
    // A reader's files are relative to its own directory too, those in a script with dots
    // or a prefix.
    let script = format!("u1.x={0}/odd.htk[0,2]\nu2.x={0}/odd.htk[3,4]\n", at.display());
    write(at, &[("odd.scp", &script)]);
    both(describe(at, &[("reader", "odd.cntk")]).unwrap().warnings());
}

#[test]
fn wrong_files_are_named() {
    let directory = corpus();
    let at = directory.path();
    write(
        at,
        &[
            ("nothing.mlf", ""),
            ("none.mlf", "\"*/u1.lab\"\n0 3 a\n.\n"),
            ("redirection.mlf", "#!MLF!#\n\"*\" -> \"labs\"\n"),
            ("empty", ""),
        ],
    );
    let cases = [
        ("archive.scp", "nothing.mlf", "states", "the file is empty"),
        ("archive.scp", "none.mlf", "states", "its header"),
        ("archive.scp", "redirection.mlf", "states", "redirections"),
        ("archive.scp", "any.mlf", "empty", "a name a line"),
        ("archive.scp", "archive.scp", "states", "stand in master label files"),
        ("any.mlf", "any.mlf", "states", "has labels"),
        ("archive.scp", "gone.mlf", "states", "gone.mlf"),
    ];
    for (features, labels, states, expected) in cases {
        let options = [("features", features), ("labels", labels), ("states", states)];
        let text = error(describe(at, &options));
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn the_older_reader_stops_where_more_than_half_is_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    parameters(&at.join("all.htk"), 0, 9, 100_000);
    let line = |u: usize| format!("u{u}.x=.../all.htk[{},{}]\n", 2 * u, 2 * u + 1);
    let script: String = (0..4).map(line).collect();
    let labels = |found: &[&str]| {
        let entry = |(u, lines): (usize, &&str)| format!("\"u{u}.lab\"\n{lines}\n.\n");
        "#!MLF!#\n".to_owned() + &found.iter().enumerate().map(entry).collect::<String>()
    };
    write(at, &[("a.scp", &script), ("states", "a\n")]);
    let reader = "r=[ readerType=HTKMLFReader ; x=[ dim=2 ; scpFile=a.scp ]\n\
                  y=[ mlfFile=a.mlf ; labelMappingFile=states ; labelDim=1 ] ]";
    write(at, &[("a.cntk", reader)]);
    // One is missing, and the length of one is wrong: half.
    write(at, &[("a.mlf", &labels(&["0 2 a", "0 3 a", "0 2 a"]))]);
    assert_eq!(keys(&describe(at, &[("reader", "a.cntk")]).unwrap()), ["u0", "u2"]);
    // Two are missing, and one is wrong.
    write(at, &[("a.mlf", &labels(&["0 2 a", "0 2 zz"]))]);
    let text = error(describe(at, &[("reader", "a.cntk")]));
    assert!(text.contains("3 of 4 utterances do not fit"), "{text}");
}

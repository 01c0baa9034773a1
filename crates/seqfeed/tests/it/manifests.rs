//! Lists of utterances as lines of JSON, which point at features.

use std::fs;
use std::path::Path;

use seqfeed::io::Opener;
use seqfeed::pdnn::pickle::{Array, write_npy};
use seqfeed::{Description, Error, Named, Opened, Source};

/// Two utterances of 3 and 2 frames `[utterance, frame]`, as Kaldi's and numpy's files.
fn write(directory: &Path) {
    let archive = "u1  [\n 1 0\n 1 1\n 1 2 ]\nu2  [\n 2 0\n 2 1 ]\n";
    fs::write(directory.join("feats.ark"), archive).unwrap();
    let second = archive.find("u2").unwrap() + 3;
    fs::write(directory.join("feats.scp"), format!("u1 feats.ark:3\nu2 feats.ark:{second}\n"))
        .unwrap();
    fs::create_dir(directory.join("npy")).unwrap();
    for (name, values) in [("u1", &[1., 0., 1., 1., 1., 2.][..]), ("u2", &[2., 0., 2., 1.][..])] {
        let array = Array::from_f32(vec![values.len() / 2, 2], values).unwrap();
        let mut bytes = Vec::new();
        write_npy(&mut bytes, &array).unwrap();
        fs::write(directory.join("npy").join(format!("{name}.npy")), bytes).unwrap();
    }
}

fn named(directory: &Path, name: &str, lines: &[&str]) -> Result<Named, Error> {
    let path = directory.join(name);
    fs::write(&path, lines.join("\n")).unwrap();
    Description::of_name(&path)
}

fn open(directory: &Path, name: &str, lines: &[&str]) -> Result<Opened, Error> {
    named(directory, name, lines)?.description.open(&Opener::default())
}

/// The values of all features, in order.
fn values(opened: &Opened) -> Vec<f32> {
    let corpus = opened.corpus();
    let mut blocks = corpus.new_blocks();
    let all: Vec<u32> = (0..corpus.index().len() as u32).collect();
    corpus.load(&all, &mut blocks).unwrap();
    let bytes = all.iter().flat_map(|&at| blocks[0].samples(at as usize).bytes().to_vec());
    let bytes: Vec<u8> = bytes.collect();
    bytes.chunks(4).map(|four| f32::from_ne_bytes(four.try_into().unwrap())).collect()
}

const ALL: [f32; 10] = [1., 0., 1., 1., 1., 2., 2., 0., 2., 1.];

fn cut(id: &str, storage: &str, start: f64, duration: f64) -> String {
    let frames = if id == "u1" { 3 } else { 2 };
    format!(
        r#"{{"id": "{id}", "start": {start}, "duration": {duration}, "supervisions": [{{"text": "{id} x", "speaker": "s{id}"}}], "features": {{"start": 0, "num_frames": {frames}, "frame_shift": 0.01, {storage}}}}}"#
    )
}

#[test]
fn lists_point_at_objects_and_arrays() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let second = fs::read_to_string(directory.path().join("feats.scp")).unwrap();
    let second = second.trim().rsplit_once(':').unwrap().1.to_owned();
    let kaldi = [
        r#"{"key": "u1", "feat": "feats.ark:3", "txt": "a b"}"#.to_owned(),
        format!(r#"{{"key": "u2", "feat": "feats.ark:{second}", "txt": "b"}}"#),
    ];
    let kaldi: Vec<&str> = kaldi.iter().map(String::as_str).collect();
    let opened = open(directory.path(), "data.list", &kaldi).unwrap();
    assert_eq!(values(&opened), ALL);
    assert_eq!(opened.corpus().about().symbols["text"].len(), 2);
    let arrays = [
        r#"{"audio_filepath": "a/u1.wav", "feature_file": "npy/u1.npy", "text": "a b"}"#,
        r#"{"audio_filepath": "a/u2.wav", "feature_file": "npy/u2.npy", "text": "b"}"#,
    ];
    let opened = open(directory.path(), "manifest.json", &arrays).unwrap();
    assert_eq!(values(&opened), ALL);
    assert_eq!(opened.corpus().index().key(1).to_string(), "u2");
}

#[test]
fn cuts_point_at_parts_of_features() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let scp = |key: &str| {
        format!(r#""storage_type": "kaldiio", "storage_path": "feats.scp", "storage_key": "{key}""#)
    };
    let npy = |key: &str| {
        format!(
            r#""storage_type": "numpy_files", "storage_path": "npy", "storage_key": "{key}.npy""#
        )
    };
    for storage in [scp, npy] {
        let whole = [cut("u1", &storage("u1"), 0.0, 0.03), cut("u2", &storage("u2"), 0.0, 0.02)];
        let whole: Vec<&str> = whole.iter().map(String::as_str).collect();
        let named = named(directory.path(), "cuts.jsonl", &whole).unwrap();
        let taken = "taken: features (stream features), supervisions.0.text (stream text), \
                     supervisions.0.speaker (stream speaker)";
        assert_eq!(named.notes, [taken]);
        let opener = Opener::default();
        let opened = named.description.open(&opener).unwrap();
        assert_eq!(values(&opened), ALL);
        // The description that it means opens the same corpus.
        let explicit = named.description.explicit(&opened, &opener).unwrap().to_toml();
        let again = Description::from_toml(&explicit).unwrap().open(&opener).unwrap();
        assert_eq!(values(&again), ALL);
        let part = cut("u1", &storage("u1"), 0.01, 0.02);
        let opened = open(directory.path(), "cuts.jsonl", &[&part]).unwrap();
        assert_eq!(values(&opened), [1., 1., 1., 2.]);
    }
}

#[test]
fn mistakes_have_their_lines() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let good = r#"{"key": "u1", "feat": "feats.ark:3", "txt": "a b"}"#;
    let array = r#"{"key": "u1", "feat": "npy/u1.npy", "txt": "a b"}"#;
    let missing = r#"{"key": "u3", "feat": "npy/u3.npy", "txt": "a"}"#;
    let cases: [(&[&str], &str, &str); 7] = [
        (&[r#"{"key": "u1", "wav": "u1.wav", "txt": "x"}"#], "sound", ":1"),
        (&[good, r#"{"key": "u2", "feat": "u2.flac", "txt": "x"}"#], "`u2.flac` is sound", ":2"),
        (&[good, "{"], "an object", ":2"),
        (&[good, r#"{"key": "u2", "feat": "feats.ark:999", "txt": "x"}"#], "offset", ":2"),
        (&[good, "", good], "blank", ":3"),
        (&[good, array], "not both", "data.list"),
        (&[array, missing], "No such file", "u3.npy"),
    ];
    for (lines, message, place) in cases {
        let error = open(directory.path(), "data.list", lines).unwrap_err();
        let shown = error.to_string();
        assert!(shown.contains(message) && shown.contains(place), "{shown}");
    }
    for line in ["", "x", "[]", r#"{"key": "u1", "txt": "no place"}"#] {
        let error = named(directory.path(), "m.jsonl", &[line]).err().unwrap().to_string();
        assert!(error.contains("has no features") && error.contains("m.jsonl:1"), "{error}");
    }
    let lilcom = cut("u1", r#""storage_type": "lilcom_chunky""#, 0.0, 0.03);
    let error = open(directory.path(), "cuts.jsonl", &[&lilcom]).unwrap_err();
    assert!(error.message().contains("lilcom_chunky"), "{error}");
}

//! The types that descriptions ask for.

use std::fs;
use std::path::Path;

use seqfeed::io::Opener;
use seqfeed::{Description, Element, Error, Opened, Source, f16};

/// Values that lie between two floats of 16 bits, one at the middle and one beyond the largest.
const VALUES: [f32; 4] = [0.1, 1.000_488_3, 2049.0, 70_000.0];

fn open(directory: &Path, features: &str, labels: &str) -> Result<Opened, Error> {
    fs::write(
        directory.join("f.ark"),
        format!("a [\n {} {}\n {} {} ]\n", VALUES[0], VALUES[1], VALUES[2], VALUES[3]),
    )
    .unwrap();
    fs::write(directory.join("l.ark"), "a 7 -3\n").unwrap();
    let text = format!(
        "[streams.features]\nsource = 'ark:f.ark'\n{features}\n\
         [streams.labels]\nsource = 'ark:l.ark'\nkind = 'label'\n{labels}\n\
         [feed]\norder = 'sequential'\nsweeps = 1\n"
    );
    fs::write(directory.join("corpus.toml"), text).unwrap();
    Description::from_file(&directory.join("corpus.toml"))?.open(&Opener::default())
}

#[test]
fn a_feed_rounds_once_after_all_transforms() {
    let directory = tempfile::tempdir().unwrap();
    let scaled = "dtype = 'float16'\ntransforms = 'scale,factor=0.5'";
    let opened = open(directory.path(), scaled, "dtype = 'int64'").unwrap();
    // Conversions keep the values of the files.
    let elements: Vec<Element> = opened.corpus().streams().iter().map(|s| s.element).collect();
    assert_eq!(elements, [Element::F32, Element::I32]);
    let minibatch = opened.feed(None).unwrap().next().unwrap().unwrap();
    let expected: Vec<f16> = VALUES.iter().map(|value| f16::from_f32(value * 0.5)).collect();
    assert_eq!(minibatch.stream("features").unwrap().as_f16().unwrap(), expected);
    assert_eq!(minibatch.stream("labels").unwrap().as_i64().unwrap(), [7, -3]);
}

#[test]
fn ties_go_to_the_even_value_and_large_ones_to_infinity() {
    let directory = tempfile::tempdir().unwrap();
    let opened = open(directory.path(), "dtype = 'float16'", "").unwrap();
    let minibatch = opened.feed(None).unwrap().next().unwrap().unwrap();
    let values = minibatch.stream("features").unwrap().as_f16().unwrap();
    assert_eq!(values[2..], [f16::from_f32(2048.0), f16::INFINITY]);
    let opened = open(directory.path(), "dtype = 'bfloat16'", "").unwrap();
    let minibatch = opened.feed(None).unwrap().next().unwrap().unwrap();
    let values = minibatch.stream("features").unwrap().as_bf16().unwrap();
    assert_eq!([values[2].to_f32(), values[3].to_f32()], [2048.0, 70_144.0]);
}

#[test]
fn an_explicit_description_gives_the_same_types() {
    let directory = tempfile::tempdir().unwrap();
    let opened = open(directory.path(), "dtype = 'bfloat16'", "dtype = 'int64'").unwrap();
    let types = &opened.settings().types;
    assert_eq!(
        types.iter().map(|one| one.element).collect::<Vec<_>>(),
        [Element::BF16, Element::I64]
    );
    let description = Description::from_file(&directory.path().join("corpus.toml")).unwrap();
    let explicit = description.explicit(&opened, &Opener::default()).unwrap();
    let again = explicit.open(&Opener::default()).unwrap();
    assert_eq!(&again.settings().types, types);
}

#[test]
fn types_of_another_kind_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    for (features, labels, expected) in [
        ("dtype = 'int64'", "", "stream features: only labels are integers"),
        ("", "dtype = 'float16'", "stream labels: labels are no floats"),
        ("dtype = 'float8'", "", "float16"),
    ] {
        let error = open(directory.path(), features, labels).expect_err(expected);
        assert!(error.to_string().contains(expected), "{error}");
    }
}

//! `[filter]`: which sequences of a corpus stay.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use seqfeed::io::Opener;
use seqfeed::{Description, Error, Opened, Source};

/// 200 utterances of 1 to 20 frames, and half as many words as frames.
fn write(directory: &Path) {
    let (mut features, mut text) = (String::new(), String::new());
    for utterance in 0..200 {
        features += &format!("utt{utterance:03}  [");
        (0..=utterance % 20).for_each(|frame| features += &format!("\n  {utterance} {frame}"));
        features += " ]\n";
        text += &format!("utt{utterance:03}{}\n", " a b".repeat(utterance % 20 / 4 + 1));
    }
    fs::write(directory.join("feats.ark"), features).unwrap();
    fs::write(directory.join("text"), text).unwrap();
}

fn described(directory: &Path, filter: &str) -> Result<Description, Error> {
    let text = format!(
        "[reading]\nchunk-size = 50\n[streams.features]\nsource = 'ark:feats.ark'\n\
         [streams.words]\nsource = 'text:text'\nkind = 'label'\n[filter]\n{filter}"
    );
    fs::write(directory.join("corpus.toml"), text).unwrap();
    Description::from_file(&directory.join("corpus.toml"))
}

fn open(directory: &Path, filter: &str) -> Result<Opened, Error> {
    described(directory, filter)?.open(&Opener::default())
}

fn keys(opened: &Opened) -> Vec<String> {
    let index = opened.corpus().index();
    (0..index.len() as u32).map(|sequence| index.key(sequence).to_string()).collect()
}

fn kept(directory: &Path, filter: &str) -> Vec<String> {
    keys(&open(directory, filter).unwrap())
}

/// The keys of utterances for which `is` holds.
fn those(is: impl Fn(u32) -> bool) -> Vec<String> {
    (0..200).filter(|&utterance| is(utterance)).map(|n| format!("utt{n:03}")).collect()
}

#[test]
fn lists_of_keys() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    fs::write(directory.path().join("some"), "utt007 spk\nutt003\n\nother 1\n").unwrap();
    assert_eq!(kept(directory.path(), "keys = 'some'\n"), ["utt003", "utt007"]);
    let others = kept(directory.path(), "not-keys = 'some'\n");
    assert_eq!(others, those(|n| n != 3 && n != 7));
    let report = open(directory.path(), "not-keys = 'some'\n").unwrap().report();
    assert_eq!(report.dropped[0].to_string(), "2 in not-keys: utt003, utt007");
    // Said in full, it means the same from another directory.
    let description = described(directory.path(), "keys = 'some'\n").unwrap();
    let opened = description.open(&Opener::default()).unwrap();
    let explicit = description.explicit(&opened, &Opener::default()).unwrap().to_toml();
    let again = Description::from_toml(&explicit).unwrap().open(&Opener::default()).unwrap();
    assert_eq!(keys(&again), ["utt003", "utt007"]);
}

#[test]
fn lengths_in_samples_and_seconds() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let frames = |n: u32| n % 20 + 1;
    for filter in [
        "min-length = 5\nmax-length = 9\n",
        "min-length = '0.05 s'\nmax-length = '90 ms'\nsample-time = '10 ms'\n",
        "min-length = 5\nmax-length = '0.09s'\nsample-time = '0.01 s'\n",
    ] {
        assert_eq!(kept(directory.path(), filter), those(|n| (5..=9).contains(&frames(n))));
    }
    let words = kept(directory.path(), "max-length = 4\nlength-of = 'words'\n");
    assert_eq!(words, those(|n| 2 * (n % 20 / 4 + 1) <= 4));
    let report = open(directory.path(), "min-length = 5\nmax-length = 9\n").unwrap().report();
    let reasons: Vec<(&str, u64)> =
        report.dropped.iter().map(|group| (group.reason.as_str(), group.count)).collect();
    assert_eq!(reasons, [("shorter than min-length", 40), ("longer than max-length", 110)]);
}

#[test]
fn the_sides_of_a_share_are_the_corpus() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    for (percent, most) in [("90 %", 30), ("50 %", 125), ("12.5%", 200)] {
        let train = kept(directory.path(), &format!("share = '{percent}'\n"));
        let test = kept(directory.path(), &format!("not-share = '{percent}'\n"));
        assert!(!test.is_empty() && test.len() <= most && train.len() > 10, "{}", test.len());
        let both: BTreeSet<String> = train.iter().chain(&test).cloned().collect();
        assert_eq!(both.len(), train.len() + test.len());
        assert_eq!(both, those(|_| true).into_iter().collect());
        // A key stays on its side when others are gone.
        let long = kept(directory.path(), &format!("share = '{percent}'\nmin-length = 11\n"));
        assert!(long.iter().all(|key| train.contains(key)));
    }
    // The same in each version: these numbers are part of what `share` means.
    assert_eq!(kept(directory.path(), "share = '2 %'\n").join(" "), SHARE);
    let between = kept(directory.path(), "share = '60 %'\nnot-share = '20 %'\n");
    assert!((50..110).contains(&between.len()), "{}", between.len());
}

const SHARE: &str = "utt073 utt144 utt145 utt168";

#[test]
fn the_first_of_what_is_left() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    assert_eq!(kept(directory.path(), "first = 3\n"), ["utt000", "utt001", "utt002"]);
    assert_eq!(kept(directory.path(), "first = 1000\n").len(), 200);
    let filter = "first = '10 %'\nmin-length = 20\n";
    assert_eq!(kept(directory.path(), filter), ["utt019"]);
}

#[test]
fn what_is_left_is_a_corpus_like_any_other() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let filtered = open(directory.path(), "min-length = 15\n").unwrap();
    let whole = fs::read_to_string(directory.path().join("feats.ark")).unwrap();
    let long = those(|n| n % 20 >= 14);
    let few = whole.split_inclusive("]\n").filter(|one| long.iter().any(|key| one.contains(key)));
    fs::write(directory.path().join("feats.ark"), few.collect::<String>()).unwrap();
    let alone = open(directory.path(), "first = '100 %'\n").unwrap();
    assert_eq!(filtered.corpus().index().digest(), alone.corpus().index().digest());
    let (filtered, alone) = (filtered.corpus().index(), alone.corpus().index());
    let chunks = |index: &seqfeed::Index| {
        (0..index.chunk_count()).map(|chunk| index.chunk(chunk)).collect::<Vec<_>>()
    };
    assert_eq!(chunks(filtered), chunks(alone));
}

#[test]
fn settings_without_meaning_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let cases = [
        ("share = '0.5'", "expected a share"),
        ("share = '101 %'", "expected a share"),
        ("first = 'all'", "expected a number or a share"),
        ("min-length = 'long'", "expected a length"),
        ("min-length = '1 s'", "no frame shift"),
        ("sample-time = '10 ms'", "sample-time has no effect"),
        ("length-of = 'words'", "length-of has no effect"),
        ("min-length = 1\nlength-of = 'word'", "no stream word"),
        ("min-length = 9\nmax-length = 8", "min-length is 9"),
        ("min-length = '1 s'\nsample-time = 10", "expected a time"),
        ("min-length = 21", "leaves no sequence (200 shorter than min-length)"),
        ("key = 'some'", "key"),
        ("keys = 'none'", "none"),
    ];
    for (filter, expected) in cases {
        let error = open(directory.path(), filter).unwrap_err();
        assert!(error.to_string().contains(expected), "{filter}: {error}");
    }
}

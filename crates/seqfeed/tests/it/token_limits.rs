//! `max-tokens`: a limit for the samples of another stream than the features.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use seqfeed::io::Opener;
use seqfeed::{Description, Error, Minibatch, Opened, State};

const UTTERANCES: u32 = 120;

fn words(utterance: u32) -> u64 {
    1 + u64::from(utterance * 5 % 7)
}

/// Utterances of 1 to 20 frames, with 1 to 7 words.
fn write(directory: &Path) {
    let (mut features, mut text) = (String::new(), String::new());
    for utterance in 0..UTTERANCES {
        features += &format!("utt{utterance:03}  [");
        (0..=utterance % 20).for_each(|frame| features += &format!("\n  {utterance} {frame}"));
        features += " ]\n";
        text += &format!("utt{utterance:03}{}\n", " w".repeat(words(utterance) as usize));
    }
    fs::write(directory.join("feats.ark"), features).unwrap();
    fs::write(directory.join("text"), text).unwrap();
}

fn open(directory: &Path, feed: &str) -> Result<Opened, Error> {
    let text = format!(
        "[reading]\nchunk-size = 50\n[streams.features]\nsource = 'ark:feats.ark'\n\
         [streams.words]\nsource = 'text:text'\nkind = 'label'\n\
         [feed]\nunit = 'sequence'\nsweeps = 1\n{feed}"
    );
    fs::write(directory.join("corpus.toml"), text).unwrap();
    Description::from_file(&directory.join("corpus.toml"))?.open(&Opener::default())
}

fn utterances(minibatch: &Minibatch) -> Vec<u32> {
    minibatch.segments().iter().map(|segment| segment.sequence).collect()
}

#[test]
fn no_minibatch_has_more_words() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    for how in [
        "batch-size = 60\norder = 'sequential'\n",
        "batch-size = 60\nmax-sequences = 4\n",
        "batch-size = 60\nbucket = 20\n",
        "batch-size = 9\nbatch-unit = 'sequences'\n",
        "batch-size = 60\nbuckets = 3\nwindow = 'corpus'\n",
        "pack = 60\n",
    ] {
        let mut limited = 0;
        for most in [1, 12, 1000] {
            let settings = format!("{how}max-tokens = {most}\ntokens-of = 'words'\n");
            let opened = open(directory.path(), &settings).unwrap();
            let all: Vec<Minibatch> =
                opened.feed(None).unwrap().map(|minibatch| minibatch.unwrap()).collect();
            let mut seen = BTreeSet::new();
            for minibatch in &all {
                let here = utterances(minibatch);
                let count: u64 = here.iter().map(|&utterance| words(utterance)).sum();
                assert!(count <= most || here.len() == 1, "{settings}: {count}");
                limited += usize::from(most == 12 && count > 6);
                assert!(here.into_iter().all(|utterance| seen.insert(utterance)));
            }
            assert_eq!(seen.len(), UTTERANCES as usize, "{settings}");
            for (at, minibatch) in all.iter().enumerate() {
                let state = State::from_json(&minibatch.state().to_json()).unwrap();
                let next = opened.feed(Some(&state)).unwrap().next();
                let next = next.map(|minibatch| utterances(&minibatch.unwrap()));
                assert_eq!(next, all.get(at + 1).map(utterances));
            }
            if most == 1000 {
                let without: Vec<Vec<u32>> = open(directory.path(), how)
                    .unwrap()
                    .feed(None)
                    .unwrap()
                    .map(|minibatch| utterances(&minibatch.unwrap()))
                    .collect();
                assert_eq!(all.iter().map(utterances).collect::<Vec<_>>(), without);
            }
        }
        assert!(limited > 5, "{how}: minibatches are no fuller than they must be");
    }
}

#[test]
fn other_words_are_another_order() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let settings = "batch-size = 60\nmax-tokens = 9\ntokens-of = 'words'\n";
    let mut feed = open(directory.path(), settings).unwrap().feed(None).unwrap();
    let state = feed.next().unwrap().unwrap().state().clone();
    let text = fs::read_to_string(directory.path().join("text")).unwrap();
    fs::write(directory.path().join("text"), text.replace("utt005", "utt005 w")).unwrap();
    let error = open(directory.path(), settings).unwrap().feed(Some(&state)).err().unwrap();
    assert!(error.message().contains("another corpus or order"), "{error}");
}

#[test]
fn what_has_no_meaning_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    for (settings, message) in [
        ("max-tokens = 9\n", "name it (tokens-of)"),
        ("tokens-of = 'words'\n", "it names the stream of max-tokens"),
        ("max-tokens = 0\ntokens-of = 'words'\n", "1 at least"),
        ("max-tokens = 9\ntokens-of = 'word'\n", "there is no stream word"),
    ] {
        let error = open(directory.path(), settings).and_then(|opened| opened.feed(None)).err();
        let error = error.unwrap().to_string();
        assert!(error.contains(message), "{settings}: {error}");
    }
}

//! `[segments]`: utterances cut into pieces of one length.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use seqfeed::io::Opener;
use seqfeed::{Description, Error, Minibatch, Opened, Source, State};

const UTTERANCES: u32 = 23;

fn length(utterance: u32) -> u32 {
    1 + utterance * 7 % 19
}

/// Utterance `u` has frames `100 u + t` with labels of the same numbers, and its speaker `u`.
fn write(directory: &Path) {
    let (mut features, mut labels, mut speakers) = (String::new(), String::new(), String::new());
    let mut words = String::new();
    for utterance in 0..UTTERANCES {
        let frames = (0..length(utterance)).map(|t| 100 * utterance + t);
        let lines: String = frames.clone().map(|frame| format!("\n  {frame} 0.5")).collect();
        let row: String = frames.map(|frame| format!(" {frame}")).collect();
        features += &format!("utt{utterance:02}  [{lines} ]\n");
        labels += &format!("utt{utterance:02}{row}\n");
        speakers += &format!("utt{utterance:02} {utterance}\n");
        words += &format!("utt{utterance:02} a b\n");
    }
    let files = [("feats", features), ("ali", labels), ("spk", speakers), ("text", words)];
    for (name, text) in files {
        fs::write(directory.join(name), text).unwrap();
    }
}

fn described(directory: &Path, more: &str, rest: &str) -> Result<Description, Error> {
    let text = format!(
        "{more}\n[reading]\nchunk-size = 40\n[streams.features]\nsource = 'ark:feats'\n\
         [streams.labels]\nsource = 'ark:ali'\nkind = 'label'\n\
         [streams.speaker]\nsource = 'ark:spk'\nkind = 'label'\nextent = 'sequence'\n{rest}"
    );
    fs::write(directory.join("corpus.toml"), text).unwrap();
    Description::from_file(&directory.join("corpus.toml"))
}

fn open(directory: &Path, rest: &str) -> Result<Opened, Error> {
    described(directory, "", rest)?.open(&Opener::default())
}

/// Labels, features and speaker of each segment of a minibatch.
fn segments(minibatch: &Minibatch) -> Vec<(Vec<i32>, Vec<f32>, i32)> {
    let labels = minibatch.stream("labels").unwrap();
    let features = minibatch.stream("features").unwrap();
    let speakers = minibatch.labels("speaker").unwrap();
    (0..minibatch.len())
        .map(|segment| {
            let (first, count) = labels.rows_of(segment);
            let own = labels.as_i32().unwrap()[first..first + count].to_vec();
            let (first, count) = features.rows_of(segment);
            let frames = &features.as_f32().unwrap()[first * 2..(first + count) * 2];
            (own, frames.chunks(2).map(|frame| frame[0]).collect(), speakers[segment])
        })
        .collect()
}

const CUT: &str = "[segments]\nsegment-length = 4\nsegment-shift = 3\nsegment-left = 2\n\
                   segment-right = 1\nsegment-rest = 'shift'\n\
                   [feed]\nunit = 'sequence'\nbatch-size = 30\nsweeps = 1\n";

#[test]
fn segments_come_in_any_order_with_any_ranks_and_after_a_resume() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let mut expected = BTreeMap::new();
    for utterance in 0..UTTERANCES {
        let samples = length(utterance) as i32;
        let mut starts: Vec<i32> =
            (0..).map(|n| 3 * n).take_while(|at| at + 4 <= samples).collect();
        if starts.last().is_some_and(|last| last + 4 < samples) {
            starts.push(samples - 4);
        }
        for start in starts {
            let at = |t: i32| 100 * utterance as i32 + t.clamp(0, samples - 1);
            let labels: Vec<i32> = (start..start + 4).map(at).collect();
            let features: Vec<f32> = (start - 2..start + 5).map(|t| at(t) as f32).collect();
            expected.insert(labels[0], (labels, features, utterance as i32));
        }
    }
    for order in ["'sequential'", "'shuffle'\nseed = 5"] {
        for ranks in [1, 3] {
            let mut found = BTreeMap::new();
            for rank in 0..ranks {
                let how =
                    format!("{CUT}order = {order}\n[ranks]\nranks = {ranks}\nrank = {rank}\n");
                let opened = open(directory.path(), &how).unwrap();
                let all: Vec<Minibatch> =
                    opened.feed(None).unwrap().map(|minibatch| minibatch.unwrap()).collect();
                for segment in all.iter().flat_map(segments) {
                    assert!(found.insert(segment.0[0], segment).is_none());
                }
                for (number, minibatch) in all.iter().enumerate() {
                    let state = State::from_json(&minibatch.state().to_json()).unwrap();
                    let mut rest = opened.feed(Some(&state)).unwrap();
                    let next = rest.next().map(|minibatch| segments(&minibatch.unwrap()));
                    assert_eq!(next, all.get(number + 1).map(segments));
                }
            }
            assert_eq!(found, expected, "{order} {ranks}");
        }
    }
    let report = open(directory.path(), CUT).unwrap().report();
    let short = (0..UTTERANCES).filter(|&utterance| length(utterance) < 4).count() as u64;
    assert_eq!(
        (report.dropped[0].count, &report.dropped[0].reason[..]),
        (short, "shorter than a segment")
    );
}

#[test]
fn transforms_of_a_stream_see_utterances_and_those_at_the_top_see_segments() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let cut = "[segments]\nsegment-length = 4\n[feed]\nunit = 'sequence'\norder = 'sequential'\nsweeps = 1\n";
    let values = |more: &str, rest: &str| -> Vec<f32> {
        let opened = described(directory.path(), more, rest).unwrap().open(&Opener::default());
        let feed = opened.unwrap().feed(None).unwrap();
        let of = |minibatch: Minibatch| minibatch.dense("features").unwrap().to_vec();
        feed.flat_map(|minibatch| of(minibatch.unwrap())).step_by(2).collect()
    };
    let subsampled = values("transforms = 'subsample,n=3'", cut);
    let whole = values("", cut);
    // Frames 0 and 3 of each segment of four.
    let expected: Vec<f32> = whole.chunks(4).flat_map(|four| [four[0], four[3]]).collect();
    assert_eq!(subsampled, expected);
    let stream = "[streams.features]\nsource = 'ark:feats'\ntransforms = 'cmvn,by=utterance'\n";
    fs::write(directory.path().join("one.toml"), format!("{stream}{cut}")).unwrap();
    let opened = Description::from_file(&directory.path().join("one.toml")).unwrap();
    let opened = opened.open(&Opener::default()).unwrap();
    let first = opened.feed(None).unwrap().next().unwrap().unwrap();
    // Utterance 1 has 8 frames, 100 to 107.
    assert_eq!(first.dense("features").unwrap()[..8], [-3.5, 0.0, -2.5, 0.0, -1.5, 0.0, -0.5, 0.0]);
}

#[test]
fn dense_streams_alone_count_with_their_context() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let text = "[streams.features]\nsource = 'ark:feats'\n[segments]\nsegment-length = 4\n\
                segment-left = 1\nsegment-right = 2\nsegment-ends = 'drop'\n";
    fs::write(directory.path().join("one.toml"), text).unwrap();
    let description = Description::from_file(&directory.path().join("one.toml")).unwrap();
    let opened = description.open(&Opener::default()).unwrap();
    let index = opened.corpus().index();
    let count: u32 = (0..UTTERANCES).map(|u| length(u).saturating_sub(3) / 4).sum();
    assert_eq!((index.len() as u32, index.samples(0)), (count, 7));
    assert_eq!(index.key(0).to_string(), "utt01-0000001-0000005");
    // Said in full, it means the same.
    let explicit = description.explicit(&opened, &Opener::default()).unwrap().to_toml();
    let again = Description::from_toml(&explicit).unwrap().open(&Opener::default()).unwrap();
    assert_eq!(again.corpus().index(), index);
}

#[test]
fn what_has_no_meaning_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let text =
        "[streams.words]\nsource = 'text:text'\nkind = 'label'\n[segments]\nsegment-length = 4";
    for (rest, message) in [
        ("[segments]\nsegment-left = 4", "segment-left has no effect here"),
        ("[segments]\nsegment-length = 4\nsegment-ends = 'drop'", "segment-ends has no effect"),
        ("[segments]\nsegment-length = 0", "segments of 0 samples"),
        ("[segments]\nsegment-length = 400", "no utterance has 400 samples"),
        ("[segments]\nsegment-length = 4\nsegment-rest = 'all'", "expected"),
        (text, "stream words has a length of its own"),
    ] {
        let error = open(directory.path(), rest).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains(message), "{rest}: {error}");
    }
    let mixture = "[mix.a]\ncorpus = 'ark:feats'\n[segments]\nsegment-length = 4\n";
    fs::write(directory.path().join("mix.toml"), mixture).unwrap();
    let mixture = Description::from_file(&directory.path().join("mix.toml")).unwrap();
    let error = mixture.open(&Opener::default()).map(|_| ()).unwrap_err();
    assert!(error.message().contains("[segments] is not for a mixture"), "{error}");
}

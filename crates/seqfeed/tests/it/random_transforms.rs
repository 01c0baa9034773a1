//! Random transforms: what they draw depends on seed, sweep and utterance, and on nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use seqfeed::io::Opener;
use seqfeed::{Description, Error, Feed, Minibatch, Opened, Source, State};

/// Every random transform, and several together.
const TRANSFORMS: [&str; 8] = [
    "'noise,deviation=0.5'",
    "'dither,amount=0.1'",
    "'time-crop,frames=7'",
    "'shuffle-bins,size=2'",
    "'shuffle-bins,size=3,axis=frames'",
    "{ name = 'spec-augment', freq-masks = 1, freq-width = 1, time-width = '40 %', time-warp = 2 }",
    "{ name = 'noise', corpus = 'ark:noise.ark', snr = [-3, 9], domain = 'linear' }",
    "['time-crop,frames=9', 'spec-augment,time-width=2,freq-masks=0', 'noise,deviation=1']",
];

/// 20 utterances of 1 to 20 frames `[utterance, frame]` counted from 1, labels that count the
/// frames, and five utterances of noise of 3 to 15 frames.
fn write(directory: &Path) {
    let (mut features, mut labels) = (String::new(), String::new());
    for utterance in 1..=20 {
        features += &format!("utt{utterance:02}  [");
        labels += &format!("utt{utterance:02}");
        for frame in 1..=utterance {
            features += &format!("\n  {utterance} {frame}");
            labels += &format!(" {frame}");
        }
        features += " ]\n";
        labels += "\n";
    }
    let rows = |noise: usize| (0..3 * noise).map(move |row| format!("\n  {} {noise}", row % 4));
    let noise = |noise| format!("n{noise}  [{} ]\n", rows(noise).collect::<String>());
    fs::write(directory.join("noise.ark"), (1..=5).map(noise).collect::<String>()).unwrap();
    fs::write(directory.join("feats.ark"), features).unwrap();
    fs::write(directory.join("ali.ark"), labels).unwrap();
}

fn open(directory: &Path, transforms: &str, feed: &str) -> Result<Opened, Error> {
    let text = format!(
        "transforms = {transforms}\n[reading]\nchunk-size = 40\n[streams.features]\n\
         source = 'ark:feats.ark'\n[streams.labels]\nsource = 'ark:ali.ark'\nkind = 'label'\n\
         [feed]\nunit = 'sequence'\nlayout = 'concatenated'\n{feed}"
    );
    fs::write(directory.join("corpus.toml"), text).unwrap();
    Description::from_file(&directory.join("corpus.toml"))?.open(&Opener::default())
}

/// Values and labels of each utterance of each sweep.
type Fed = BTreeMap<(u64, String), (Vec<u32>, Vec<i32>)>;

/// Feeds two sweeps. After minibatch `stop`, the feed is given up, and another one goes on from its
/// state.
fn fed(opened: &Opened, (rank, ranks): (usize, usize), stop: usize) -> Fed {
    let mut settings = opened.settings().clone();
    (settings.rank, settings.ranks, settings.sweeps) = (rank, ranks, Some(2));
    let start = |state: Option<&State>| {
        let corpus = Arc::clone(opened.corpus()) as Arc<dyn Source>;
        Feed::new(corpus, settings.clone(), state).unwrap()
    };
    let mut all = Fed::new();
    let mut take = |minibatch: Minibatch| {
        let (features, labels) =
            (minibatch.stream("features").unwrap(), minibatch.stream("labels").unwrap());
        let (values, numbers) = (features.as_f32().unwrap(), labels.as_i32().unwrap());
        for (segment, key) in minibatch.keys().enumerate() {
            let (first, rows) = features.rows_of(segment);
            assert_eq!(labels.rows_of(segment), (first, rows));
            let values = values[2 * first..2 * (first + rows)].iter().map(|one| one.to_bits());
            let numbers = numbers[first..first + rows].to_vec();
            let fed = (values.collect(), numbers);
            assert!(all.insert((minibatch.sweep(), key.to_string()), fed).is_none());
        }
    };
    let mut state = None;
    let mut feed = start(None);
    for minibatch in feed.by_ref().take(stop) {
        let minibatch = minibatch.unwrap();
        // As after kill -9: what is left of it is the text of its state.
        state = Some(serde_json::to_string(minibatch.state()).unwrap());
        take(minibatch);
    }
    drop(feed);
    let state: Option<State> = state.map(|text| serde_json::from_str(&text).unwrap());
    start(state.as_ref()).for_each(|minibatch| take(minibatch.unwrap()));
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn values_stay_with_other_orders_ranks_and_resumed_runs(
        transforms in prop::sample::select(&TRANSFORMS[..]),
        seed in 0u64..5,
        size in 1usize..60,
        window in prop::sample::select(&["corpus", "2 chunks", "70 samples"][..]),
        threads in 1usize..4,
        ranks in 1usize..4,
        stop in 0usize..12,
    ) {
        let directory = tempfile::tempdir().unwrap();
        write(directory.path());
        let plain = format!("seed = {seed}\nbatch-size = 30\nthreads = 1\n");
        let expected = fed(&open(directory.path(), transforms, &plain).unwrap(), (0, 1), 0);
        let other = format!(
            "seed = {seed}\nbatch-size = {size}\nthreads = {threads}\nwindow = '{window}'\n"
        );
        let opened = open(directory.path(), transforms, &other).unwrap();
        let mut found = Fed::new();
        for rank in 0..ranks {
            found.extend(fed(&opened, (rank, ranks), stop));
        }
        prop_assert_eq!(found, expected, "{}", transforms);
    }
}

#[test]
fn other_seeds_and_sweeps_have_other_values() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    for transforms in TRANSFORMS {
        let of = |seed| {
            let feed = format!("seed = {seed}\nbatch-size = 30\n");
            fed(&open(directory.path(), transforms, &feed).unwrap(), (0, 1), 0)
        };
        let (one, other) = (of(1), of(2));
        let differ = |a: &Fed, b: &Fed, sweep: u64| {
            let pairs = a.iter().filter(|((of, _), _)| *of == 0);
            pairs.filter(|((_, key), fed)| b[&(sweep, key.clone())] != **fed).count()
        };
        assert!(differ(&one, &one, 1) > 5, "{transforms}");
        assert!(differ(&one, &other, 0) > 5, "{transforms}");
    }
}

#[test]
fn a_crop_takes_the_same_frames_of_all_streams() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let opened = open(directory.path(), TRANSFORMS[2], "batch-size = 30\n").unwrap();
    let mut starts = std::collections::BTreeSet::new();
    for ((_, key), (values, labels)) in fed(&opened, (0, 1), 0) {
        let utterance: usize = key[3..].parse().unwrap();
        assert_eq!(labels.len(), utterance.min(7));
        for (row, &label) in values.as_chunks::<2>().0.iter().zip(&labels) {
            assert_eq!(row.map(f32::from_bits), [utterance as f32, label as f32]);
        }
        assert!(labels.windows(2).all(|pair| pair[1] == pair[0] + 1));
        starts.insert(labels[0]);
    }
    assert!(starts.len() > 5, "{starts:?}");
}

#[test]
fn a_crop_of_one_stream_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let text = "[streams.features]\nsource = 'ark:feats.ark'\ntransforms = 'time-crop,frames=3'\n";
    fs::write(directory.path().join("corpus.toml"), text).unwrap();
    let description = Description::from_file(&directory.path().join("corpus.toml")).unwrap();
    let error = description.open(&Opener::default()).unwrap_err();
    assert!(error.is_usage() && error.message().contains("all streams"), "{error}");
    assert!(error.help().unwrap().contains("at the top"), "{error}");
}

#[test]
fn noise_of_a_corpus_is_described_in_full() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let cases = [
        ("corpus = 'ark:noise.ark', snr = [0, 5]", "domain"),
        ("corpus = 'ark:noise.ark', domain = 'log'", "snr"),
        ("snr = [0, 5], domain = 'log'", "corpus"),
        ("corpus = 'ark:noise.ark', snr = [5, 0], domain = 'log'", "snr"),
        ("corpus = 'ark:noise.ark', deviation = 1, snr = [0, 5], domain = 'log'", "either"),
        ("corpus = 'corpus.toml', snr = [0, 5], domain = 'log'", "noise of a corpus of noise"),
        ("corpus = 'ark:wide.ark', snr = [0, 5], domain = 'log'", "the noise has 3"),
    ];
    fs::write(directory.path().join("wide.ark"), "n1  [\n 1 2 3 ]\n").unwrap();
    for (options, said) in cases {
        let transforms = format!("{{ name = 'noise', {options} }}");
        let error = open(directory.path(), &transforms, "").err().unwrap();
        assert!(error.message().contains(said), "{options}: {error}");
    }
    // One ratio is both.
    let with = |snr: &str| {
        let options = format!("corpus = 'ark:noise.ark', snr = {snr}, domain = 'linear'");
        let opened = open(directory.path(), &format!("{{ name = 'noise', {options} }}"), "");
        fed(&opened.unwrap(), (0, 1), usize::MAX)
    };
    assert!(with("3") == with("[3, 3.0]") && with("3") != with("[4, 4]"));
    // A corpus that was refused leaves no trace.
    let opened = open(directory.path(), TRANSFORMS[6], "").unwrap();
    let kept = opened.corpus().kept_bytes();
    assert_eq!(kept, 4 * 2 * (3 + 6 + 9 + 12 + 15), "the memory that is kept counts");
}

#[test]
fn dither_is_spread_evenly() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let of = |transforms| {
        fed(&open(directory.path(), transforms, "batch-size = 30\n").unwrap(), (0, 1), 0)
    };
    let (plain, dithered) = (of("[]"), of("'dither,amount=0.5'"));
    let values = |fed: &Fed| -> Vec<f64> {
        let bits = fed.values().flat_map(|(values, _)| values.clone());
        bits.map(|bits| f64::from(f32::from_bits(bits))).collect()
    };
    let added: Vec<f64> = values(&dithered)
        .iter()
        .zip(values(&plain))
        .map(|(with, without)| with - without)
        .collect();
    let count = added.len() as f64;
    assert_eq!(added.len(), 2 * 2 * 210);
    assert!(added.iter().all(|one| (-0.500_01..0.500_01).contains(one)));
    let mean = added.iter().sum::<f64>() / count;
    let variance = added.iter().map(|one| one * one).sum::<f64>() / count - mean * mean;
    // The variance of an even distribution is the square of its width by 12.
    assert!(mean.abs() < 0.05 && (variance * 12.0 - 1.0).abs() < 0.15, "{mean} {variance}");
    for tenth in 0..10 {
        let from = -0.5 + f64::from(tenth) / 10.0;
        let there = added.iter().filter(|&&one| (from..from + 0.1).contains(&one)).count();
        assert!((50..120).contains(&there), "{there} of 840 from {from}");
    }
}

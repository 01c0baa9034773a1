//! Transforms of descriptions: of streams, and of a whole corpus.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use seqfeed::io::Opener;
use seqfeed::{Description, Error, Minibatch, Opened, Source};

/// 20 utterances of 1 to 20 frames `[utterance, frame]`, and labels that count the frames.
fn write(directory: &Path) {
    let (mut features, mut labels) = (String::new(), String::new());
    for utterance in 0..20 {
        features += &format!("utt{utterance:02}  [");
        labels += &format!("utt{utterance:02}");
        for frame in 0..=utterance {
            features += &format!("\n  {utterance} {frame}");
            labels += &format!(" {frame}");
        }
        features += " ]\n";
        labels += "\n";
    }
    fs::write(directory.join("feats.ark"), features).unwrap();
    fs::write(directory.join("ali.ark"), labels).unwrap();
}

const STREAMS: [&str; 2] = [
    "[streams.features]\nsource = 'ark:feats.ark'\n",
    "[streams.labels]\nsource = 'ark:ali.ark'\nkind = 'label'\n",
];

fn described(directory: &Path, text: &str) -> Result<Description, Error> {
    fs::write(directory.join("corpus.toml"), text).unwrap();
    Description::from_file(&directory.join("corpus.toml"))
}

fn open(directory: &Path, text: &str) -> Result<Opened, Error> {
    described(directory, text)?.open(&Opener::default())
}

/// Floats of frames by their labels, for each utterance of each sweep.
fn fed(opened: &Opened, rank: usize, ranks: usize) -> BTreeMap<(u64, String), Vec<f32>> {
    let mut settings = opened.settings().clone();
    (settings.rank, settings.ranks, settings.sweeps) = (rank, ranks, Some(2));
    let corpus = std::sync::Arc::clone(opened.corpus()) as _;
    let feed = seqfeed::Feed::new(corpus, settings, None).unwrap();
    let mut all = BTreeMap::new();
    for minibatch in feed {
        let minibatch: Minibatch = minibatch.unwrap();
        let (features, sweep) = (minibatch.stream("features").unwrap(), minibatch.sweep());
        let values = features.as_f32().unwrap();
        for (segment, key) in minibatch.keys().enumerate() {
            let (first, rows) = features.rows_of(segment);
            let key = key.to_string();
            let values = values[2 * first..2 * (first + rows)].to_vec();
            assert!(all.insert((sweep, key), values).is_none());
        }
    }
    all
}

#[test]
fn lengths_of_all_streams_follow() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let [features, labels] = STREAMS;
    let each = "transforms = 'subsample,n=3,offset=1'\n";
    let table = "transforms = [{ name = 'subsample', n = 3, offset = 1 }]\n";
    let texts = [
        format!("{each}{features}{labels}"),
        format!("{features}{each}{labels}{each}"),
        format!("{features}{table}{labels}{table}"),
    ];
    for text in texts {
        let opened = open(directory.path(), &text).unwrap();
        // Of 1 frame, nothing is left.
        let lengths: Vec<u32> =
            (0..19).map(|sequence| opened.corpus().index().samples(sequence)).collect();
        let expected: Vec<u32> = (2..21u32).map(|frames| (frames - 1).div_ceil(3)).collect();
        assert_eq!(lengths, expected, "{text}");
        let mut blocks = opened.corpus().new_blocks();
        opened.corpus().load(&[18], &mut blocks).unwrap();
        let labels = blocks[1].samples(0).bytes().as_chunks().0.iter().copied();
        assert_eq!(labels.map(i32::from_ne_bytes).collect::<Vec<_>>(), [1, 4, 7, 10, 13, 16, 19]);
        // Said in full, it means the same.
        let description = described(directory.path(), &text).unwrap();
        let explicit = description.explicit(&opened, &Opener::default()).unwrap();
        let again = Description::from_toml(&explicit.to_toml()).unwrap();
        assert_eq!(again.to_toml(), explicit.to_toml());
        let again = again.open(&Opener::default()).unwrap();
        assert_eq!(again.corpus().index().digest(), opened.corpus().index().digest());
    }
    // One stream alone no longer fits the others.
    let error = open(directory.path(), &format!("{features}{each}{labels}")).unwrap_err();
    assert!(error.message().contains("samples"), "{error}");
}

#[test]
fn dimensions_are_selected() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let [features, labels] = STREAMS;
    let opened =
        open(directory.path(), &format!("{features}transforms = 'select,dims=1-0,1'\n{labels}"));
    let opened = opened.unwrap();
    assert_eq!(opened.corpus().streams()[0].dim, 3);
    let mut blocks = opened.corpus().new_blocks();
    opened.corpus().load(&[4], &mut blocks).unwrap();
    let row = blocks[0].samples(0).row(2).as_chunks().0.iter().copied().map(f32::from_ne_bytes);
    assert_eq!(row.collect::<Vec<_>>(), [2.0, 4.0, 2.0]);
    let beyond = open(directory.path(), &format!("{features}transforms = 'select,dims=2'\n"));
    assert!(beyond.unwrap_err().message().contains("stream features has 2"));
}

#[test]
fn noise_depends_on_seed_sweep_and_utterance_alone() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let [features, labels] = STREAMS;
    let noise = "transforms = 'noise,deviation=0.5'\n";
    let text = |noise: &str, feed: &str| format!("{features}{noise}{labels}[feed]\n{feed}");
    let feed = "unit = 'sequence'\nlayout = 'concatenated'\n";
    let open = |feed: &str| open(directory.path(), &text(noise, feed)).unwrap();
    let shuffled = fed(&open(&format!("{feed}seed = 3\nbatch-size = 30\n")), 0, 1);
    // Neither order nor size of minibatches, ranks nor threads change it; the layout shows no more.
    for other in ["order = 'sequential'\nseed = 3\n", "seed = 3\nthreads = 1\nwindow = 'corpus'\n"]
    {
        let opened = open(&format!("{feed}{other}"));
        let mut all = fed(&opened, 0, 2);
        all.extend(fed(&opened, 1, 2));
        assert_eq!(all, shuffled, "{other}");
    }
    let other_seed = fed(&open(&format!("{feed}seed = 4\n")), 0, 1);
    let mut sum = 0.0;
    for ((sweep, key), values) in &shuffled {
        assert_ne!(*values, shuffled[&(1 - sweep, key.clone())], "{key}");
        assert_ne!(*values, other_seed[&(*sweep, key.clone())], "{key}");
        let utterance: f32 = key[3..].parse().unwrap();
        for (frame, row) in values.as_chunks::<2>().0.iter().enumerate() {
            let noise = [row[0] - utterance, row[1] - frame as f32];
            assert!(noise.iter().all(|one| *one != 0.0 && one.abs() < 3.0), "{noise:?}");
            sum += noise.iter().map(|one| one * one).sum::<f32>();
        }
    }
    let deviation = (sum / (2.0 * 2.0 * 210.0)).sqrt();
    assert!((0.45..0.55).contains(&deviation), "{deviation}");
    // Without a feed, values are those of seed 0 in sweep 0.
    let opened = open(&format!("{feed}order = 'sequential'\n"));
    let mut blocks = opened.corpus().new_blocks();
    opened.corpus().load(&[7], &mut blocks).unwrap();
    let first = &fed(&opened, 0, 1)[&(0, "utt07".to_owned())];
    let loaded = blocks[0].samples(0).bytes().as_chunks().0.iter().copied().map(f32::from_ne_bytes);
    assert_eq!(loaded.collect::<Vec<_>>(), *first);
}

#[test]
fn all_streams_of_ctf_are_subsampled_together() {
    let directory = tempfile::tempdir().unwrap();
    let mut text = String::new();
    for sequence in 0..3 {
        for frame in 0..5 + sequence {
            text += &format!("{sequence} |x {sequence} {frame} |y {frame}:1\n");
        }
    }
    fs::write(directory.path().join("a.ctf"), text).unwrap();
    let (x, y) =
        ("[inputs.x]\ndim = 2\nformat = 'dense'\n", "[inputs.y]\ndim = 9\nformat = 'sparse'\n");
    let reader = |more: &str| format!("reader = 'a.ctf'\n{more}{x}{y}");
    let opened = open(directory.path(), &reader("transforms = { name = 'subsample', n = 3 }\n"));
    let mut opened = opened.unwrap();
    let index = opened.corpus().index();
    assert_eq!((0..3).map(|n| index.samples(n)).collect::<Vec<_>>(), [2, 2, 3]);
    let mut blocks = opened.corpus().new_blocks();
    opened.corpus().load(&[2], &mut blocks).unwrap();
    let rows = (0..3)
        .map(|row| f32::from_ne_bytes(blocks[0].samples(0).row(row)[4..].try_into().unwrap()));
    assert_eq!(rows.collect::<Vec<_>>(), [0.0, 3.0, 6.0]);
    assert_eq!(blocks[1].sparse_samples(0).indices, [0, 3, 6]);
    opened = opened.one_sweep(0, 0, 1, None);
    let fed: usize = opened.feed(None).unwrap().map(|minibatch| minibatch.unwrap().samples()).sum();
    assert_eq!(fed, 7);
    // One of them would no longer fit the other.
    let alone = "[streams.x]\ntransforms = 'subsample,n=3'\n";
    let error = open(directory.path(), &format!("{}{alone}", reader(""))).unwrap_err();
    assert!(error.message().contains("but stream y stays"), "{error}");
}

#[test]
fn noise_of_two_streams_is_drawn_for_each() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let features = "source = 'ark:feats.ark'\n";
    let text =
        format!("transforms = 'noise,deviation=1'\n[streams.a]\n{features}[streams.b]\n{features}");
    let opened = open(directory.path(), &text).unwrap();
    let mut blocks = opened.corpus().new_blocks();
    opened.corpus().load(&[3], &mut blocks).unwrap();
    assert_ne!(blocks[0].samples(0).bytes(), blocks[1].samples(0).bytes());
}

#[test]
fn what_has_no_effect_or_does_not_fit_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let [features, labels] = STREAMS;
    let subsample = "transforms = 'subsample,n=2'\n";
    let cases = [
        // A seed that nothing draws by.
        (
            format!("{subsample}{features}{labels}[feed]\norder = 'sequential'\nseed = 1\n"),
            "seed has no effect",
        ),
        (format!("{features}transforms = 'blur'\n"), "no transform called blur"),
        (format!("{features}transforms = 3\n"), "expected"),
        (format!("{features}transforms = 'noise,deviation=1e300'\n"), "a finite number"),
        (format!("{features}transforms = 'subsample,n=2,n=3'\n"), "each option once"),
        (format!("{features}transforms = [{{ n = 3 }}]\n"), "the `name` of a transform"),
        (format!("{features}{subsample}[streams.other]\n{subsample}"), "stream other"),
        (format!("{features}transforms = 'noise,deviation=-1'\n"), "a finite number above 0"),
        (format!("{labels}transforms = 'noise,deviation=1'\n"), "no dense stream"),
        // Rows without values, and rows that no memory holds.
        (format!("{features}transforms = [{{ name = 'select', dims = [] }}]\n"), "no values"),
        (format!("{features}transforms = 'deltas,window=2147483648'\n"), "at most 1000"),
        (format!("{features}transforms = 'deltas,order=4,window=1073741825'\n"), "at most 1000"),
        (
            format!(
                "{features}transforms = ['deltas,order=1000,window=1', 'deltas,order=1000,window=1', 'deltas,order=1000,window=1']\n"
            ),
            "makes more than 16777216 values",
        ),
        (
            format!(
                "{features}transforms = ['shift-deltas,num-blocks=999', 'shift-deltas,num-blocks=999', 'shift-deltas,num-blocks=999']\n"
            ),
            "makes more than 16777216 values",
        ),
        (format!("{features}transforms = 'clip,min=1e300'\n"), "numbers of 32 bits"),
        // Behind segments with context only the labels have a sample a time step.
        (
            format!(
                "transforms = 'time-crop,frames=2'\n{features}{labels}[segments]\nsegment-length = 2\nsegment-left = 1\n"
            ),
            "has lengths of its own",
        ),
        (
            format!(
                "transforms = 'splice'\n{features}{labels}[segments]\nsegment-length = 2\nsegment-left = 1\n"
            ),
            "has lengths of its own",
        ),
    ];
    for (text, expected) in cases {
        let error = open(directory.path(), &text).unwrap_err();
        let shown = format!("{error} {:?}", error.help());
        assert!(error.is_usage() && shown.contains(expected), "{text}: {shown}");
    }
}

#[test]
fn statistics_count_for_memory() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let speakers = (0..20).map(|utterance| format!("utt{utterance:02} s{utterance}\n"));
    fs::write(directory.path().join("utt2spk"), speakers.collect::<String>()).unwrap();
    let bound = |transform: &str| {
        let text = format!("{}transforms = '{transform}'\n", STREAMS[0]);
        open(directory.path(), &text).unwrap().feed(None).unwrap().memory_bound()
    };
    let (global, by_speaker) = (bound("cmvn,by=global"), bound("cmvn,by=speaker,utt2spk=utt2spk"));
    // Sums and squares of two dimensions and their count for each of 20 speakers.
    assert!(by_speaker >= global + 19 * 2 * 3 * 8, "{by_speaker} {global}");
}

#[test]
fn statistics_of_values_that_are_no_numbers_are_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let features = "good  [\n 1 2\n 3 4 ]\nbad  [\n 1 nan\n 3 4 ]\n";
    fs::write(directory.path().join("feats.ark"), features).unwrap();
    let feed = |by: &str| {
        let text = format!("{}transforms = 'cmvn,by={by}'\n[feed]\nsweeps = 1\n", STREAMS[0]);
        let all: Result<Vec<_>, Error> =
            open(directory.path(), &text).unwrap().feed(None).unwrap().collect();
        all
    };
    let error = feed("global").unwrap_err();
    assert_eq!(error.place().key.as_deref(), Some("bad"), "{error}");
    assert!(error.message().contains("no finite sum") && !error.is_usage(), "{error}");
    // By utterance the others are as they were.
    assert!(feed("utterance").is_ok());
}

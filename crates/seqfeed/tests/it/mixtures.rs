//! Mixtures as descriptions have them: `[mix]` and `[mix.NAME]`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use seqfeed::io::Opener;
use seqfeed::{Description, Error, Extent, Opened, Result, Source, State};

/// Writes a corpus `NAME.toml` with its table: sequence `n` has `n % 3 + 1` samples of two values.
fn write(directory: &Path, name: &str, sequences: usize, more: &str) {
    let (mut features, mut words) = (String::new(), String::new());
    for sequence in 0..sequences {
        write!(features, "utt{sequence:02}  [").unwrap();
        write!(words, "utt{sequence:02}").unwrap();
        for sample in 0..=sequence % 3 {
            write!(features, "\n {sequence} {sample}").unwrap();
            write!(words, " {sample}").unwrap();
        }
        features.push_str(" ]\n");
        words.push('\n');
    }
    std::fs::write(directory.join(format!("{name}.ark")), features).unwrap();
    std::fs::write(directory.join(format!("{name}.words")), words).unwrap();
    let text = format!("[streams.features]\nsource = 'ark:{name}.ark'\n{more}");
    std::fs::write(directory.join(format!("{name}.toml")), text).unwrap();
}

/// Two corpora of 12 and 30 sequences, in chunks of a few.
fn corpora() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, sequences) in [("small", 12), ("large", 30)] {
        write(directory.path(), name, sequences, "[reading]\nchunk-size = 9\n");
    }
    directory
}

const BOTH: &str = "[mix.small]\ncorpus = 'small.toml'\n[mix.large]\ncorpus = 'large.toml'\n";
const FEED: &str = "[feed]\nunit = 'sequence'\nbatch-unit = 'sequences'\nbatch-size = 3\n";

fn open(directory: &Path, text: &str) -> Result<Opened> {
    let path = directory.join("mix.toml");
    std::fs::write(&path, text).unwrap();
    Description::from_file(&path)?.open(&Opener::default())
}

fn refused(directory: &Path, text: &str) -> Error {
    let error = open(directory, text).and_then(|opened| opened.feed(None)).err().unwrap();
    assert!(error.is_usage() && error.help().is_some(), "{error}");
    error
}

/// How often each key came.
fn keys(opened: &Opened, state: Option<&State>) -> (BTreeMap<String, u32>, State) {
    let mut keys = BTreeMap::new();
    let mut feed = opened.feed(state).unwrap();
    for minibatch in feed.by_ref() {
        for key in minibatch.unwrap().keys() {
            *keys.entry(key.to_string()).or_default() += 1;
        }
    }
    (keys, feed.state().clone())
}

#[test]
fn without_weights_each_sequence_comes_once_under_the_name_of_its_corpus() {
    let directory = corpora();
    let text = format!("{BOTH}{FEED}sweeps = 1\n");
    let opened = open(directory.path(), &text).unwrap();
    assert_eq!(opened.corpus().index().len(), 42);
    let (keys, _) = keys(&opened, None);
    assert!(keys.len() == 42 && keys.values().all(|&count| count == 1), "{keys:?}");
    assert!(keys.contains_key("small/utt11") && keys.contains_key("large/utt29"));
    // It is a corpus like any other.
    let mut blocks = opened.corpus().new_blocks();
    opened.corpus().load(&[0, 41], &mut blocks).unwrap();
    assert_eq!(blocks[0].samples(1).row(0)[..4], 11f32.to_ne_bytes());
}

#[test]
fn weights_and_stops_and_schedules() {
    let directory = corpora();
    let run = |mix: &str, weights: [&str; 2], end: &str| {
        let text = format!(
            "[mix]\n{mix}\n[mix.a]\ncorpus = 'small.toml'\n{}\n[mix.b]\ncorpus = 'large.toml'\n{}\n\
             {FEED}{end}\n",
            weights[0], weights[1]
        );
        let (keys, state) = keys(&open(directory.path(), &text).unwrap(), None);
        let of =
            |name: &str| keys.iter().filter(|(key, _)| key.starts_with(name)).map(|(_, n)| n).sum();
        let counts: [u32; 2] = [of("a/"), of("b/")];
        (counts, state)
    };
    let same = ["weight = 1", "weight = 1.0"];
    assert_eq!(run("stop = 'first'", same, "sweeps = 1").0, [12, 11]);
    assert_eq!(run("stop = 'all'", same, "sweeps = 1").0, [30, 30]);
    assert_eq!(run("", ["", "weight = 3"], "sweeps = 1").0, [12, 35]);
    let (counts, state) = run("stop = 'never'", same, "samples = 600");
    assert!(counts[0].abs_diff(counts[1]) <= 1 && counts[0] > 140, "{counts:?}");
    assert_eq!(state.order.sweep, 0);
    // 60 units come in 20 minibatches.
    let schedule = ["weight = [[0, 1.0], [20, 0.0]]", "weight = [[0, 0.0], [20, 1.0]]"];
    assert_eq!(run("stop = 'first'", schedule, "sweeps = 5").0, [60, 0]);
    let units = "stop = 'first'\nschedule = 'units'";
    assert_eq!(run(units, schedule, "sweeps = 2").0, [20, 60]);
    // The large one weighs one part in a million more.
    assert_eq!(run("temperature = 1e6", ["", ""], "sweeps = 1").0, [29, 30]);
}

#[test]
fn a_state_goes_on_with_any_ranks_but_not_with_other_weights() {
    let directory = corpora();
    let text =
        |weight: &str, more: &str| format!("{BOTH}weight = {weight}\n{FEED}seed = 4\n{more}");
    let whole = keys(&open(directory.path(), &text("0.5", "sweeps = 2")).unwrap(), None).0;
    let stopped = open(directory.path(), &text("0.5", "sweeps = 2\nsamples = 60")).unwrap();
    let (mut seen, state) = keys(&stopped, None);
    for rank in 0..3 {
        let ranks = format!("sweeps = 2\n[ranks]\nranks = 3\nrank = {rank}");
        let opened = open(directory.path(), &text("0.5", &ranks)).unwrap();
        for (key, count) in keys(&opened, Some(&state)).0 {
            *seen.entry(key).or_default() += count;
        }
    }
    assert_eq!(seen, whole);
    for changed in [text("0.25", ""), text("[[0, 0.5], [9, 1.0]]", "")] {
        let error = open(directory.path(), &changed).unwrap().feed(Some(&state)).unwrap_err();
        assert!(error.message().contains("another corpus or order"), "{error}");
    }
}

#[test]
fn the_description_is_printed_and_means_the_same() {
    let directory = corpora();
    let mix = "[mix]\nstop = 'first'\noptional = ['features']\n";
    let text = format!("{mix}{BOTH}weight = [[0, 1.0], [10, 0.5]]\n{FEED}");
    let opened = open(directory.path(), &text).unwrap();
    let path = directory.path().join("mix.toml");
    let description = Description::from_file(&path).unwrap();
    let explicit = description.explicit(&opened, &Opener::default()).unwrap();
    let printed = explicit.to_toml();
    assert_eq!(Description::from_toml(&printed).unwrap().to_toml(), printed);
    let again = Description::from_toml(&printed).unwrap().open(&Opener::default()).unwrap();
    assert_eq!(again.settings().mixture, opened.settings().mixture);
    assert_eq!(again.corpus().index(), opened.corpus().index());
}

#[test]
fn a_stream_that_a_corpus_lacks_is_empty_there() {
    let directory = corpora();
    let words = "[streams.words]\nsource = 'ark:more.words'\nkind = 'label'\n";
    write(directory.path(), "more", 5, words);
    let text =
        format!("{BOTH}[mix.more]\ncorpus = 'more.toml'\n{FEED}layout = 'padded'\nsweeps = 1\n");
    let error = refused(directory.path(), &text);
    assert!(error.message().contains("has no stream words, but more has one"), "{error}");
    let text = format!("[mix]\noptional = 'words'\n{text}");
    let opened = open(directory.path(), &text).unwrap();
    assert_eq!(opened.corpus().streams()[1].extent, Extent::Own);
    let mut lengths = BTreeMap::new();
    for minibatch in opened.feed(None).unwrap() {
        let minibatch = minibatch.unwrap();
        let words = minibatch.stream("words").unwrap();
        for (number, key) in minibatch.keys().enumerate() {
            lengths.insert(key.to_string(), words.rows_of(number).1);
        }
    }
    assert_eq!((lengths["more/utt02"], lengths["small/utt02"], lengths["large/utt11"]), (3, 0, 0));
    let error =
        refused(directory.path(), &text.replace("optional = 'words'", "optional = 'wrods'"));
    assert!(error.message().contains("no corpus has a stream wrods"), "{error}");
}

#[test]
fn labels_mean_the_same_symbols_in_all_corpora() {
    let directory = corpora();
    for (name, text) in [("a", "utt00 x y\nutt01 x\n"), ("b", "utt00 y z\nutt01 z\n")] {
        std::fs::write(directory.path().join(format!("{name}.text")), text).unwrap();
    }
    let write = |symbols: &str| {
        for name in ["a", "b"] {
            let streams = "[streams.features]\nsource = 'ark:small.ark'\n[streams.words]\n";
            let text = format!("{streams}kind = 'label'\nsource = 'text:{name}.text'\n{symbols}");
            std::fs::write(directory.path().join(format!("{name}.toml")), text).unwrap();
        }
    };
    let text = format!("[mix.a]\ncorpus = 'a.toml'\n[mix.b]\ncorpus = 'b.toml'\n{FEED}");
    write("");
    let error = refused(directory.path(), &text);
    assert!(error.message().contains("words mean other symbols in b than in a"), "{error}");
    std::fs::write(directory.path().join("words.txt"), "x 0\ny 1\nz 2\n").unwrap();
    write("symbols = 'words.txt'\n");
    assert_eq!(open(directory.path(), &text).unwrap().corpus().index().len(), 4);
}

#[test]
fn keys_of_their_own_must_differ() {
    let directory = corpora();
    let error = refused(directory.path(), &format!("[mix]\nprefix = false\n{BOTH}{FEED}"));
    assert!(error.message().contains("has a key that another one has too"), "{error}");
    assert_eq!(error.place().key.as_deref(), Some("utt00"));
    let text = format!("[mix]\nprefix = false\n[mix.small]\ncorpus = 'small.toml'\n{FEED}");
    let opened = open(directory.path(), &text).unwrap();
    assert_eq!(opened.corpus().index().key(0).to_string(), "utt00");
}

#[test]
fn what_does_not_fit_is_refused() {
    let directory = corpora();
    let wide = "transforms = 'select,dims=0'\n";
    write(directory.path(), "narrow", 3, wide);
    std::fs::write(directory.path().join("mixed.toml"), BOTH).unwrap();
    for (text, says) in [
        (format!("{BOTH}[mix.c]\ncorpus = 'narrow.toml'\n"), "but dense float32 x 1"),
        (format!("{BOTH}[mix.c]\ncorpus = 'mixed.toml'\n"), "a mixture itself"),
        (format!("{BOTH}[mix.c]\nweight = 1\n"), "no corpus"),
        (format!("{BOTH}[mix.'a b']\ncorpus = 'small.toml'\n"), "no space"),
        (format!("[mix]\ntemperature = 2\n{BOTH}weight = 1\n"), "weights or a temperature"),
        (format!("{BOTH}[streams.x]\nsource = 'ark:small.ark'\n"), "none besides"),
        (format!("{BOTH}[feed]\npreset = 'cntk'\n"), "preset"),
        (format!("{BOTH}weight = 'much'\n"), "expected a number"),
        (format!("{BOTH}wieght = 1\n"), "unknown key `wieght`"),
        ("[mix]\nstopp = 'all'\n".to_owned(), "unknown key `stopp`"),
        ("[mix]\nstop = 'all'\n".to_owned(), "no corpora"),
        (format!("transforms = 'subsample,n=3,offset=1'\n{BOTH}"), "leaves out sequences"),
    ] {
        let error = open(directory.path(), &text).and_then(|opened| opened.feed(None)).err();
        let error = error.unwrap_or_else(|| panic!("{text}"));
        assert!(error.message().contains(says), "{text}{error}");
    }
}

#[test]
fn options_of_reading_reach_the_corpora() {
    let directory = corpora();
    let chunks = |more: &str| {
        open(directory.path(), &format!("{BOTH}{more}")).unwrap().corpus().index().chunk_count()
    };
    assert!(chunks("") > 8);
    assert_eq!(chunks("[reading]\nchunk-size = 1000\n"), 2);
}

#[test]
fn random_values_change_from_one_own_sweep_to_the_next() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        let sequences = if name == "a" { 2 } else { 8 };
        write(directory.path(), name, sequences, "transforms = 'noise,deviation=1'\n");
    }
    let text = format!(
        "[mix.a]\ncorpus = 'a.toml'\n[mix.b]\ncorpus = 'b.toml'\nweight = 1\n{}sweeps = 1\n",
        FEED.replace("batch-size = 3", "batch-size = 1")
    );
    let opened = open(directory.path(), &text).unwrap();
    let mut values: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
    for minibatch in opened.feed(None).unwrap() {
        let minibatch = minibatch.unwrap();
        let key = minibatch.keys().next().unwrap().to_string();
        let bytes = minibatch.dense("features").unwrap().iter().flat_map(|v: &f32| v.to_ne_bytes());
        values.entry(key).or_default().push(bytes.collect());
    }
    let repeated = values.get_mut("a/utt00").unwrap();
    assert_eq!(repeated.len(), 4);
    repeated.sort();
    repeated.dedup();
    assert_eq!(repeated.len(), 4, "each time with other noise");
    // Equal keys of two corpora have noise of their own.
    let (a, b) = (values["a/utt01"].first(), values["b/utt01"].first());
    assert_ne!(a, b);
}

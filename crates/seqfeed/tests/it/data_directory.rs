//! Kaldi's data directories.

use std::fs;
use std::path::Path;

use seqfeed::io::Opener;
use seqfeed::{Description, Error, Named, Source};

const DIGITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/digits/train");

fn named(directory: &Path) -> Result<Named, Error> {
    Description::of_name(directory)
}

#[test]
fn the_digits_are_a_data_directory() {
    let Named { description, notes, .. } = named(Path::new(DIGITS)).unwrap();
    assert_eq!(notes, ["taken: feats.scp, text (stream text), utt2spk (stream speaker)"]);
    let opener = Opener::default();
    let opened = description.open(&opener).unwrap();
    let corpus = opened.corpus();
    let streams: Vec<&str> = corpus.streams().iter().map(|stream| stream.name.as_str()).collect();
    assert_eq!((streams, corpus.index().len()), (vec!["features", "speaker", "text"], 60));
    let symbols = corpus.about().symbols;
    assert_eq!((symbols["text"].len(), symbols["speaker"].len()), (10, 10));
    // The description that it means opens the same corpus.
    let explicit = description.explicit(&opened, &opener).unwrap().to_toml();
    let again = Description::from_toml(&explicit).unwrap().open(&opener).unwrap();
    assert_eq!(again.corpus().index().digest(), corpus.index().digest());
    assert_eq!(again.corpus().about().symbols, symbols);
    assert!(opened.one_sweep(0, 0, 1, None).feed(None).unwrap().all(|minibatch| minibatch.is_ok()));
}

#[test]
fn options_stand_over_a_data_directory() {
    let options = "batch-size = 7\n[streams.text]\nunits = 'characters'".parse().unwrap();
    let named = Description::of_name_with(DIGITS, options, &Opener::default()).unwrap();
    let opened = named.description.open(&Opener::default()).unwrap();
    // <space> and the letters of the digits' names
    assert_eq!(opened.corpus().about().symbols["text"].len(), 16);
}

#[test]
fn symbols_and_genders_are_found() {
    let directory = tempfile::tempdir().unwrap();
    let files = [
        ("feats.ark", "u1  [\n 1 ]\nu2  [\n 2 ]\n"),
        ("text", "u1 a b\nu2 b\n"),
        ("tokens.txt", "b 1\na 2\n"),
        ("utt2spk", "u1 s1\nu2 s2\n"),
        ("spk2gender", "s1 m\ns2 f\n"),
        ("spk2utt", "s1 u1\ns2 u2\n"),
        ("wav.scp", "u1 u1.wav\n"),
        ("segments", "u1 r 0 1\nu2 r 1 2\n"),
    ];
    for (name, text) in files {
        fs::write(directory.path().join(name), text).unwrap();
    }
    let error = named(directory.path()).unwrap_err();
    assert!(error.message().contains("no feats.scp; it has wav.scp, text, utt2spk"), "{error}");
    assert!(error.help().unwrap().contains("compute them first"), "{error}");
    let scp = |keys: [&str; 2]| {
        let lines = keys
            .map(|key| format!("{key} feats.ark:{}\n", if key.ends_with('1') { 3 } else { 13 }));
        fs::write(directory.path().join("feats.scp"), lines.concat()).unwrap();
    };
    scp(["u1", "u2"]);
    let Named { description, notes, .. } = named(directory.path()).unwrap();
    assert!(notes[0].contains("tokens.txt (symbols of text)"), "{notes:?}");
    assert!(notes[1].contains("wav.scp") && notes[1].contains("segments"), "{notes:?}");
    let opened = description.open(&Opener::default()).unwrap();
    let symbols = opened.corpus().about().symbols;
    assert_eq!(symbols["text"].number(b"a"), Some(2));
    assert_eq!(symbols["gender"].number(b"m"), Some(1));
    fs::write(directory.path().join("feats.scp"), "r feats.ark:3\n").unwrap();
    let error = named(directory.path()).unwrap_err();
    assert!(error.help().unwrap().contains("extract-feature-segments"), "{error}");
}

#[test]
fn other_directories_are_none() {
    let directory = tempfile::tempdir().unwrap();
    let error = named(directory.path()).unwrap_err();
    assert!(error.help().unwrap().contains("name a file in it"), "{error}");
    fs::write(directory.path().join("text"), "u1 a\n").unwrap();
    let error = named(directory.path()).unwrap_err();
    assert!(error.message().contains("it has text"), "{error}");
    fs::write(directory.path().join("corpus.toml"), "").unwrap();
    let error = named(directory.path()).unwrap_err();
    assert!(error.help().unwrap().contains("corpus.toml"), "{error}");
}

#[test]
fn statistics_normalize_the_features() {
    let directory = tempfile::tempdir().unwrap();
    let files = [
        ("feats.ark", "u1  [\n 1\n 3 ]\nu2  [\n 5\n 9 ]\n"),
        ("feats.scp", "u1 feats.ark:3\nu2 feats.ark:17\n"),
        ("utt2spk", "u1 s1\nu2 s2\n"),
        ("cmvn.ark", "s1  [\n 4 2\n 10 0 ]\ns2  [\n 14 2\n 106 0 ]\n"),
        ("cmvn.scp", "s1 cmvn.ark:3\ns2 cmvn.ark:22\n"),
    ];
    for (name, text) in files {
        fs::write(directory.path().join(name), text).unwrap();
    }
    let Named { description, notes, .. } = named(directory.path()).unwrap();
    assert!(notes[0].contains("cmvn.scp"), "{notes:?}");
    let opener = Opener::default();
    let opened = description.open(&opener).unwrap();
    // The description names the same files from the working directory.
    let explicit = description.explicit(&opened, &opener).unwrap().to_toml();
    let again = Description::from_toml(&explicit).unwrap().open(&opener).unwrap();
    for opened in [opened, again] {
        let mut blocks = opened.corpus().new_blocks();
        opened.corpus().load(&[0, 1], &mut blocks).unwrap();
        let bytes = [blocks[0].samples(0).bytes(), blocks[0].samples(1).bytes()].concat();
        let values: Vec<f32> =
            bytes.chunks(4).map(|four| f32::from_ne_bytes(four.try_into().unwrap())).collect();
        assert_eq!(values, [-1.0, 1.0, -2.0, 2.0]);
    }
}

#[test]
fn a_file_states_the_lengths_of_a_stream() {
    let opener = Opener::default();
    let plain = named(Path::new(DIGITS)).unwrap().description.open(&opener).unwrap();
    let index = plain.corpus().index();
    let directory = tempfile::tempdir().unwrap();
    let lengths = directory.path().join("utt2num_frames");
    let lines = (0..index.len() as u32)
        .map(|sequence| format!("{} {}\n", index.key(sequence), index.samples(sequence)));
    fs::write(&lengths, lines.collect::<String>()).unwrap();
    let options = |stream: &str| {
        let keys = format!("[streams.{stream}]\nlengths = '{}'", lengths.display());
        Description::of_name_with(DIGITS, keys.parse().unwrap(), &opener).unwrap().description
    };
    let description = options("features");
    let stated = description.open(&opener).unwrap();
    assert_eq!(stated.corpus().index().digest(), index.digest());
    let feed = |opened: &seqfeed::Opened| -> Vec<Vec<f32>> {
        let minibatches = opened.one_sweep(0, 0, 1, None).feed(None).unwrap();
        let values = |minibatch: seqfeed::Minibatch| {
            minibatch.stream("features").unwrap().as_f32().unwrap().to_vec()
        };
        minibatches.map(|minibatch| values(minibatch.unwrap())).collect()
    };
    assert_eq!(feed(&stated), feed(&plain));
    // The description that it means has the key.
    let explicit = description.explicit(&stated, &opener).unwrap().to_toml();
    assert!(explicit.contains("lengths = "), "{explicit}");
    assert!(Description::from_toml(&explicit).unwrap().open(&opener).is_ok());
    let error = options("text").open(&opener).unwrap_err();
    assert!(error.is_usage() && error.message().contains("Kaldi's script files"), "{error}");
}

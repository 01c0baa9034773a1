//! A corpus gives the same minibatches from Arrow and Parquet files as from Kaldi's.

use std::path::{Path, PathBuf};

use seqfeed::arrow::{Compress, WriteOptions};
use seqfeed::io::Opener;
use std::sync::Arc;

use seqfeed::{Description, Minibatch, Source};
use seqfeed_core::{Block, Element, Extent, Index, IndexBuilder, Key, Kind, Result, Stream};

use crate::row_files::write_rows;

fn digits() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/digits")
}

/// Keys, first frames, features and labels of each minibatch.
type Data = Vec<(Vec<(Vec<u8>, u32)>, Vec<f32>, Vec<i32>)>;

fn feed(description: &Description) -> Data {
    let opened = description.open(&Opener::default()).unwrap();
    let data = |minibatch: &Minibatch| {
        let keys = minibatch.keys().zip(minibatch.segments());
        (
            keys.map(|(key, segment)| (key.0.to_vec(), segment.first)).collect(),
            minibatch.dense("features").unwrap().to_vec(),
            minibatch.labels("labels").unwrap().to_vec(),
        )
    };
    opened.feed(None).unwrap().map(|minibatch| data(&minibatch.unwrap())).collect()
}

fn settings(text: &str) -> Description {
    let settings = "context = '5:5'\nbatch-size = 128\nseed = 1\nsweeps = 2\nchunk-size = 2000\n";
    Description::from_options(format!("{settings}{text}").parse().unwrap()).unwrap()
}

#[test]
fn digits_are_the_same_from_every_container() {
    let train = digits().join("train").display().to_string();
    let kaldi =
        settings(&format!("features = 'scp:{train}/feats.scp'\nlabels = 'ark:{train}/ali.ark'"));
    let expected = feed(&kaldi);
    assert!(expected.len() > 20);
    let opened = kaldi.open(&Opener::default()).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let name = |name: &str| directory.path().join(name).display().to_string();
    // Row groups that are read in place, and such that are decoded into the spool.
    for (file, group_samples, compress) in [
        ("small.arrow", 2000, Compress::None),
        ("zstd.arrow", 2000, Compress::Zstd(1)),
        ("small.parquet", 2000, Compress::Zstd(1)),
        ("large.parquet", 1 << 20, Compress::None),
    ] {
        let options = WriteOptions { group_samples, compress };
        write_rows(opened.corpus().as_ref(), name(file).as_ref(), &options);
        let whole = settings(&format!("corpus = '{}'", name(file)));
        let again = whole.open(&Opener::default()).unwrap();
        assert_eq!(again.corpus().index(), opened.corpus().index(), "{file}");
        assert_eq!(again.spooled_bytes() > 0, file != "small.arrow" && file != "small.parquet");
        assert!(feed(&whole) == expected, "{file}: other minibatches");
        // Columns as streams of their own, and joined with Kaldi's.
        let parts = settings(&format!("features = '{0}'\nlabels = '{0}#labels'", name(file)));
        assert!(feed(&parts) == expected, "{file}: other minibatches of columns");
        let ali = digits().join("train/ali.ark").display().to_string();
        let mixed = format!("features = '{}#features'\nlabels = 'ark:{ali}'", name(file));
        assert!(feed(&settings(&mixed)) == expected, "{file}: other minibatches of a join");
    }
}

#[test]
fn names_that_say_too_little_are_explained() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../seqfeed-arrow/tests/foreign");
    let open = |text: &str| {
        let mut description = Description::from_toml(text).unwrap();
        description.base = Some(fixture.as_path().into());
        description.open(&Opener::default())
    };
    let opened = open("corpus = 'mixed.arrow'\n[streams.more]\nsource = 'mixed.parquet#xvector'");
    assert_eq!(opened.unwrap().corpus().streams().len(), 5);
    let error = open("[streams.x]\nsource = 'mixed.arrow'").unwrap_err();
    assert!(error.is_usage() && error.help().unwrap().ends_with("mixed.arrow#tokens"), "{error}");
    let error = open("corpus = 'mixed.arrow#wave'").unwrap_err();
    assert!(error.is_usage() && error.help().unwrap().contains("[streams.wave]"), "{error}");
    let error = open("[streams.features]\nsource = 'mixed.arrow#speech'").unwrap_err();
    assert!(error.message().contains("there is no column speech"), "{error}");
    assert!(open("corpus = 'plain.arrow'\ndata = 'x.pfile'").unwrap_err().is_usage());
    // Files that follow one another.
    let two = open("corpus = ['plain.arrow', 'snappy.parquet']").unwrap();
    assert_eq!(two.corpus().index().len(), 6, "an empty sequence in each");
}

/// Four sequences of 3 samples.
struct Threes(Vec<Stream>, Arc<Index>);

impl Threes {
    fn new(name: &str) -> Self {
        let mut builder = IndexBuilder::new(100);
        (0..4).for_each(|n| builder.push(Key(format!("{name}{n}").as_bytes()), 3));
        let stream = |name: &str, kind, element| Stream {
            name: name.to_owned(),
            kind,
            element,
            dim: 1,
            extent: Extent::Samples,
        };
        let streams = vec![
            stream("features", Kind::Dense, Element::F32),
            stream("labels", Kind::Label, Element::I32),
        ];
        Self(streams, Arc::new(builder.finish()))
    }
}

impl Source for Threes {
    fn name(&self) -> &str {
        "threes"
    }
    fn streams(&self) -> &[Stream] {
        &self.0
    }
    fn index(&self) -> &Arc<Index> {
        &self.1
    }
    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
        for &sequence in sequences {
            blocks[0].push_f32(3).fill(sequence as f32);
            blocks[1].push_i32(3).fill(sequence as i32);
        }
        Ok(())
    }
}

#[test]
fn wrong_sequences_in_several_files_are_passed_over() {
    let directory = tempfile::tempdir().unwrap();
    let names: Vec<String> = ["a", "b"]
        .map(|name| {
            let path = directory.path().join(format!("{name}.arrow"));
            let options = WriteOptions { compress: Compress::None, ..WriteOptions::default() };
            write_rows(&Threes::new(name), &path, &options);
            // The second sequence of labels, which lie behind the features, ends too early.
            let mut bytes = std::fs::read(&path).unwrap();
            let ends: Vec<u8> = [3i32, 6, 9, 12].iter().flat_map(|end| end.to_le_bytes()).collect();
            let at = bytes.windows(ends.len()).rposition(|window| window == ends).unwrap();
            bytes[at + 4] = 5;
            std::fs::write(&path, bytes).unwrap();
            path.display().to_string()
        })
        .to_vec();
    let text = format!("corpus = {names:?}\nerrors = 'skip'\nunit = 'sequence'\nsweeps = 1");
    let opened =
        Description::from_options(text.parse().unwrap()).unwrap().open(&Opener::default()).unwrap();
    assert_eq!(opened.report().total(), 4);
    let mut keys = Vec::new();
    for minibatch in opened.feed(None).unwrap() {
        keys.extend(minibatch.unwrap().keys().map(|key| key.to_string()));
    }
    keys.sort();
    assert_eq!(keys, ["a0", "a3", "b0", "b3"]);
}

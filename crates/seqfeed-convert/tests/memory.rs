//! A feed never takes more memory than it promised, whatever the corpus, its format and
//! the settings.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

#[path = "../../seqfeed-feed/tests/it/memory_corpus.rs"]
mod memory_corpus;
#[cfg(feature = "arrow")]
#[path = "../../seqfeed/tests/it/row_files.rs"]
mod row_files;

use std::path::Path;
use std::sync::Arc;

use peak_alloc::PeakAlloc;
use seqfeed::io::Opener;
use seqfeed::{Corpus, Description, ErrorKind, Extent, Key};
use seqfeed_convert::{ConvertOptions, ConvertPlan, Target};
use seqfeed_core::{IndexBuilder, JoinPolicy};

use crate::memory_corpus::{MemoryCorpus, dense, labels};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// What the index, the threads and their channels take, which is no part of the promise.
const SLACK: u64 = 400 << 10;

/// Values of a sample.
const DIM: usize = 24;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) % end
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// Features and labels of given lengths, for formats of all kinds.
fn corpus(lengths: &[u32]) -> MemoryCorpus {
    let mut builder = IndexBuilder::new(1000);
    for (number, &length) in lengths.iter().enumerate() {
        builder.push(Key(format!("{number}").as_bytes()), length);
    }
    let streams = vec![dense("features", DIM), labels("labels", Extent::Samples)];
    let mut corpus = MemoryCorpus::of_streams(streams, builder.finish());
    corpus.classes = Some(7);
    corpus
}

/// Lengths: even, mixed, or few long ones among many short ones.
fn lengths(random: &mut Random) -> Vec<u32> {
    let kind = random.below(3);
    let count = 20 + random.below(if kind == 2 { 1500 } else { 150 });
    let mut lengths: Vec<u32> = (0..count)
        .map(|_| match kind {
            0 => 40,
            1 => 1 + random.below(120) as u32,
            _ => 1 + random.below(2) as u32,
        })
        .collect();
    if kind == 2 {
        for _ in 0..1 + random.below(3) {
            let at = random.below(count) as usize;
            lengths[at] = 300 + random.below(1500) as u32;
        }
    }
    lengths
}

fn convert(corpus: &Arc<Corpus>, name: &str) {
    let mut options = ConvertOptions::new(Target::parse(name).unwrap());
    options.allow_lossy = true;
    ConvertPlan::new(corpus, options).unwrap().run(&|_samples| {}).unwrap();
}

/// Writes a corpus, and again a smaller one behind it, in all formats; what opens it, and the units
/// it can be dealt in.
fn formats(directory: &Path, lengths: &[u32]) -> Vec<(String, bool)> {
    let (all, rest) = (corpus(lengths), corpus(&lengths[..lengths.len() / 2]));
    let path = |name: &str| directory.join(name).display().to_string();
    #[cfg(feature = "arrow")]
    for end in ["arrow", "parquet"] {
        let options = seqfeed::arrow::WriteOptions { group_samples: 2000, ..Default::default() };
        row_files::write_rows(&all, path(&format!("a.{end}")).as_ref(), &options);
    }
    let join =
        |corpus| Arc::new(Corpus::join(vec![Arc::new(corpus)], &JoinPolicy::default()).unwrap());
    let (all, rest) = (join(all), join(rest));
    for name in ["a.ctf", "a.pfile", "a.pickle", "h.htk"] {
        convert(&all, &path(name));
    }
    for name in ["b.pfile", "b.pickle"] {
        convert(&rest, &path(name));
    }
    let mut text = String::new();
    for (number, &length) in lengths.iter().enumerate() {
        text +=
            &format!("{number} [ {}]\n", format!("{}\n", "1 ".repeat(DIM)).repeat(length as usize));
    }
    std::fs::write(path("f.ark"), text).unwrap();
    let reader = |keep: bool| {
        let input = format!(
            r#"{{"features": {{"dim": {DIM}, "format": "dense"}}, "labels": {{"dim": 7, "format": "sparse"}}}}"#
        );
        let json = format!(
            r#"{{"randomize": true, "keepDataInMemory": {keep}, "deserializers": [{{
                "type": "CNTKTextFormatDeserializer", "file": {:?}, "input": {input},
                "chunkSizeInBytes": 20000}}]}}"#,
            path("a.ctf")
        );
        let name = path(if keep { "kept.json" } else { "read.json" });
        std::fs::write(&name, json).unwrap();
        name
    };
    #[allow(unused_mut)]
    let mut found = vec![
        (format!("features = 'ark:{}'", path("f.ark")), true),
        (format!("reader = '{}'", path("a.ctf")), false),
        (format!("reader = '{}'", reader(false)), false),
        (format!("reader = '{}'", reader(true)), false),
        (format!("data = '{}'", path("a.pfile")), true),
        (format!("data = '{}'", path("?.pfile")), true),
        (format!("data = '{},random=True'", path("?.pfile")), true),
        (format!("data = '{}'", path("a.pickle*")), true),
        (format!("data = '{},random=True'", path("?.pickle*")), true),
    ];
    found.push((format!("features = '{}'", path("h.scp")), true));
    // A small corpus that begins again and again beside a large one.
    std::fs::write(path("g.ark"), "0 [ ".to_owned() + &"1 ".repeat(DIM) + "]\n").unwrap();
    for transforms in ["", "transforms = 'noise,deviation=1'\n"] {
        let component = |name: &str, file: &str| {
            format!("[mix.{name}]\ncorpus = 'ark:{}'\nweight = 1\n", path(file))
        };
        let mixture = component("a", "f.ark") + &component("b", "g.ark");
        found.push((format!("{transforms}{mixture}"), true));
    }
    #[cfg(feature = "arrow")]
    {
        for end in ["arrow", "parquet"] {
            found.push((format!("corpus = '{}'", path(&format!("a.{end}"))), true));
        }
    }
    found
}

/// Some settings that go together.
fn settings(random: &mut Random, frames: bool, data: bool) -> String {
    let queue = 1 + random.below(3);
    let threads = 1 + random.below(3);
    let base = format!("sweeps = 2\nqueue = {queue}\nthreads = {threads}\n");
    let size = 1 + random.below(600);
    if data {
        return format!(
            "{base}batch-size = {size}\npartition = '{} frames'",
            1 + random.below(3000)
        );
    }
    let base = format!("{base}chunk-size = {}\n", 50 + random.below(1500));
    let order = random.one_of(&[
        "order = 'sequential'",
        "window = '2 chunks'",
        "window = '700 samples'",
        "window = 'corpus'",
    ]);
    let base = format!("{base}{order}\nranks = {}\n", 1 + random.below(3));
    if frames && random.below(2) == 0 {
        let shard = random.one_of(&["", "shard = 'chunks'\n", "partial = 'even'\n"]);
        return format!(
            "{base}{shard}unit = 'frame'\nbatch-size = {size}\ncontext = {}",
            random.below(4)
        );
    }
    let layout = random.one_of(&["padded", "concatenated", "packed"]);
    let base = format!("{base}unit = 'sequence'\nbatch-size = {}\n", 1 + size * random.below(5));
    match random.below(5) {
        0 => format!(
            "{base}layout = '{layout}'\npreset = 'none'\nbatch-unit = 'sequences'\npartial = 'even'"
        ),
        1 => format!(
            "{base}layout = '{layout}'\npreset = 'none'\nbucket = {}\nbatch-unit = 'padded'",
            1 + random.below(60)
        ),
        2 => format!("{base}preset = 'cntk'\ntruncation = {}", 5 + random.below(40)),
        3 => format!("{base}layout = '{layout}'\npreset = 'cntk-timeline'"),
        _ => format!("{base}layout = '{layout}'\npreset = 'none'\nbatch-unit = 'samples'"),
    }
}

/// What is promised and what is taken, in bytes; nothing where settings do not go with the corpus.
fn measure(text: &str) -> Option<(u64, u64)> {
    let description = Description::from_options(text.parse().unwrap())
        .unwrap_or_else(|error| panic!("{text}: {error}"));
    let before = MEMORY.current_usage();
    let opened = description.open(&Opener::default()).ok()?;
    MEMORY.reset_peak_usage();
    let mut feed = match opened.feed(None) {
        Ok(feed) => feed,
        Err(error) => {
            assert!(error.is_usage(), "{text}: {error}");
            return None;
        }
    };
    let promised = feed.memory_bound();
    for minibatch in feed.by_ref() {
        drop(minibatch.unwrap_or_else(|error| panic!("{text}: {error}")));
    }
    let taken = MEMORY.peak_usage().saturating_sub(before) as u64;
    // A limit below the promise is refused.
    let limited = format!("memory = {}\n{text}", promised - 1);
    let opened = Description::from_options(limited.parse().unwrap())
        .unwrap()
        .open(&Opener::default())
        .unwrap();
    let error = opened.feed(None).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    Some((promised, taken))
}

#[test]
fn no_feed_takes_more_than_it_promised() {
    let (mut measured, mut wrong) = (0, Vec::new());
    for seed in 0..8 {
        let mut random = Random(seed);
        let directory = tempfile::tempdir().unwrap();
        let lengths = lengths(&mut random);
        for (corpus, frames) in formats(directory.path(), &lengths) {
            for _ in 0..5 {
                let settings = settings(&mut random, frames, corpus.starts_with("data"));
                let settings = match corpus.starts_with("reader") {
                    true => settings
                        .lines()
                        .filter(|line| !line.starts_with("chunk-size"))
                        .fold(String::new(), |text, line| format!("{text}{line}\n")),
                    false => settings,
                };
                let text = format!("{settings}\n{corpus}");
                let Some((promised, taken)) = measure(&text) else { continue };
                measured += 1;
                if taken > promised + SLACK {
                    wrong.push(format!(
                        "{taken} of {promised} bytes, {} sequences:\n{text}",
                        lengths.len()
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {measured}:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(measured > 200, "{measured} feeds were measured");
    padding_is_counted_before_it_is_taken();
}

/// One sequence of 5,000 frames and 5,000 of one frame in a padded minibatch.
fn padding_is_counted_before_it_is_taken() {
    let directory = tempfile::tempdir().unwrap();
    let mut text = String::new();
    for sequence in 0..5001 {
        let frames = if sequence == 2500 { 5000 } else { 1 };
        text += &format!("utt{sequence} [{} ]\n", "\n1 2".repeat(frames));
    }
    let path = directory.path().join("f.ark");
    std::fs::write(&path, text).unwrap();
    let text = format!(
        "features = 'ark:{}'\nunit = 'sequence'\nbatch-size = 10000\nsweeps = 1\nmemory = '100 MB'",
        path.display()
    );
    let opened =
        Description::from_options(text.parse().unwrap()).unwrap().open(&Opener::default()).unwrap();
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let error = opened.feed(None).unwrap_err();
    let ErrorKind::Limit { wanted, .. } = error.kind() else { panic!("{error}") };
    assert!(*wanted > 5001 * 5000 * 8, "{wanted}");
    assert!(MEMORY.peak_usage() - before < 4 << 20, "it was refused before it was taken");
}

//! A small corpus of Kaldi's tables in text, and what a feed makes of it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use seqfeed::io::Opener;
use seqfeed::{Description, Feed, Layout, Minibatch, Opened, Result, State, Table, Value};

/// Lengths of the sequences.
pub(crate) const LENGTHS: [usize; 30] =
    [3, 9, 1, 4, 12, 6, 2, 8, 5, 7, 11, 3, 1, 10, 4, 6, 9, 2, 5, 8, 3, 7, 12, 1, 4, 2, 6, 10, 5, 3];

/// Writes tables `f.ark` (two values a sample, the number of the sequence and of the sample) and
/// `l.ark` (labels 0, 1, 2).
pub(crate) fn write(directory: &Path) {
    let (mut features, mut labels) = (String::new(), String::new());
    for (sequence, &length) in LENGTHS.iter().enumerate() {
        write!(features, "utt{sequence:02}  [").unwrap();
        write!(labels, "utt{sequence:02}").unwrap();
        for sample in 0..length {
            write!(features, "\n {sequence} {sample}").unwrap();
            write!(labels, " {}", (sequence + sample) % 3).unwrap();
        }
        features.push_str(" ]\n");
        labels.push('\n');
    }
    std::fs::write(directory.join("f.ark"), features).unwrap();
    std::fs::write(directory.join("l.ark"), labels).unwrap();
}

/// Reads keys, as a description has them.
pub(crate) fn keys(text: &str) -> Table {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Opens the corpus of a directory, to be fed as keys say.
pub(crate) fn open(directory: &Path, keys: &Table) -> Result<Opened> {
    let mut all = keys.clone();
    for (key, file) in [("features", "f.ark"), ("labels", "l.ark")] {
        let name = format!("ark:{}", directory.join(file).display());
        all.insert(key.to_owned(), Value::String(name));
    }
    all.entry("chunk-size").or_insert(Value::Integer(20));
    Description::from_options(all)?.open(&Opener::default())
}

/// How often each sample came, by sequence and number.
pub(crate) type Seen = BTreeMap<(u32, u32), u32>;

/// Takes minibatches, all or so many, and counts their samples; the state after them.
pub(crate) fn count(feed: &mut Feed, most: usize, seen: &mut Seen) -> State {
    for minibatch in feed.by_ref().take(most) {
        let minibatch = minibatch.unwrap();
        for segment in minibatch.segments() {
            for sample in segment.first..segment.first + segment.samples {
                *seen.entry((segment.sequence, sample)).or_default() += 1;
            }
        }
    }
    feed.state().clone()
}

/// All that a trainer sees of a minibatch.
pub(crate) fn shown(minibatch: &Minibatch) -> String {
    let mut text =
        format!("{:?} {}", minibatch.layout() == Layout::Frames, minibatch.end_of_sweep());
    for stream in minibatch.streams() {
        write!(text, " {:?} {:?} {:?}", stream.shape(), stream.as_f32(), stream.as_i32()).unwrap();
    }
    text
}

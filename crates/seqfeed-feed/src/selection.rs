//! The samples that are dealt out, if labels exclude some.

use std::sync::Arc;

use seqfeed_core::{Block, Error, Extent, Index, IndexBuilder, Kind, Result, Source};

use crate::labels::{LabelRules, LabelSet};

/// The samples that are dealt out. A sample that is left out stays in its sequence, as context of
/// others.
///
/// Orders and plans count only kept samples. They see [`index`](Selection::index), which has the
/// sequences and chunks of the source, with the numbers of kept samples as lengths.
pub(crate) struct Selection {
    pub(crate) index: Arc<Index>,
    /// The number of samples that are left out.
    pub(crate) dropped: u64,
    /// The number of runs of kept samples before each sequence, and in all.
    starts: Vec<u64>,
    /// For each run, how many samples of its sequence come before it: kept ones, and left out ones.
    runs: Vec<(u32, u32)>,
}

impl Selection {
    /// Reads the labels of all sequences, one chunk at a time.
    pub(crate) fn read(source: &dyn Source, rules: &LabelRules) -> Result<Self> {
        let streams = source.streams();
        let number = streams.iter().position(|stream| stream.name == rules.stream);
        let number = number.filter(|&number| streams[number].extent == Extent::Samples);
        let Some(number) = number else {
            return Err(Error::usage(format!(
                "frames are to be left out by stream {}, which has no label for each of them",
                rules.stream
            )));
        };
        let index = source.index();
        let mut builder = IndexBuilder::like(index, u64::MAX);
        let mut block = Block::of(&streams[number]);
        let (mut starts, mut runs) = (vec![0], Vec::new());
        for chunk in 0..index.chunk_count() {
            let sequences: Vec<u32> = index.chunk(chunk).collect();
            block.clear();
            source.load_stream(number, &sequences, &mut block)?;
            for (place, &sequence) in sequences.iter().enumerate() {
                let samples = block.samples(place);
                let kept = find_runs(samples.bytes(), &rules.ignore, &mut runs);
                starts.push(runs.len() as u64);
                builder.push(index.key(sequence), kept);
            }
            builder.end_chunk();
        }
        let kept = Arc::new(builder.finish());
        let dropped = index.total_samples() - kept.total_samples();
        if kept.total_samples() == 0 {
            return Err(Error::corpus("all frames have labels that are to be ignored")
                .in_file(source.name())
                .with_help("ignore fewer labels"));
        }
        Ok(Self { index: kept, dropped, starts, runs })
    }

    /// The number of a kept sample in its sequence.
    #[inline]
    pub(crate) fn sample(&self, sequence: u32, kept: u32) -> u32 {
        let own =
            self.starts[sequence as usize] as usize..self.starts[sequence as usize + 1] as usize;
        let runs = &self.runs[own];
        let after = runs.partition_point(|&(before, _)| before <= kept);
        kept + runs[after - 1].1
    }
}

/// Adds the runs of labels of a sequence that are not ignored. Returns how many such labels there
/// are.
fn find_runs(labels: &[u8], ignore: &LabelSet, runs: &mut Vec<(u32, u32)>) -> u32 {
    let (mut kept, mut dropped, mut inside) = (0, 0, false);
    let (labels, _) = labels.as_chunks::<4>();
    for &label in labels {
        if ignore.contains(i32::from_ne_bytes(label)) {
            (dropped, inside) = (dropped + 1, false);
            continue;
        }
        if !inside {
            runs.push((kept, dropped));
        }
        (kept, inside) = (kept + 1, true);
    }
    kept
}

/// Checks that the stream of the rules exists and holds labels.
pub(crate) fn check(source: &dyn Source, rules: &LabelRules) -> Result<()> {
    let streams = source.streams();
    let found = streams.iter().find(|stream| stream.name == rules.stream);
    if found.is_some_and(|stream| stream.kind == Kind::Label && stream.dim == 1) {
        return Ok(());
    }
    let labels = streams.iter().filter(|stream| stream.kind == Kind::Label);
    let labels: Vec<&str> = labels.map(|stream| stream.name.as_str()).collect();
    let there = match labels[..] {
        [] => "there are no labels".to_owned(),
        _ => format!("labels are in {}", labels.join(", ")),
    };
    Err(Error::usage(format!("labels of stream {} are to be changed, but {there}", rules.stream)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_runs() {
        let bytes: Vec<u8> =
            [0, 5, 5, 0, 0, 7, 5].iter().flat_map(|l: &i32| l.to_ne_bytes()).collect();
        let mut runs = Vec::new();
        let kept = find_runs(&bytes, &LabelSet::new([(0, 0), (7, 7)]), &mut runs);
        assert_eq!((kept, runs), (3, vec![(0, 1), (2, 4)]));
    }
}

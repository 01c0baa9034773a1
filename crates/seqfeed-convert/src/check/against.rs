//! Compares two corpora that should hold the same data.

use std::collections::HashMap;
use std::ops::Range;

use seqfeed_core::{Block, Key, Kind, Result, Severity, Source};

use super::Finding;
use super::keys::by_key;
use crate::runs::{all_cores, each_run};
use seqfeed::{Sample, Sequence, SequenceStream};

/// Compares corpora: keys, lengths, and the values of each stream. For each sequence and stream it
/// names the first difference. The order of sequences does not matter, with one exception: if the
/// corpora share no key and have equally many sequences, sequences are compared in their order.
/// Values may differ by `tolerance` times the larger of 1 and their sizes; with 0 they must be
/// equal. Streams are matched by name, or by kind if each corpus has one of that kind. Labels,
/// one-hot vectors and dense vectors with the same meaning are equal.
///
/// # Errors
///
/// Fails if data cannot be read.
pub fn compare(
    one: &dyn Source,
    other: &dyn Source,
    tolerance: f64,
    threads: Option<usize>,
    mut progress: impl FnMut(u64),
) -> Result<Vec<Finding>> {
    let mut found = Vec::new();
    let pairs = pair_streams(one, other, &mut found);
    let (mut ours, mut theirs) = (by_key(one), by_key(other));
    let sequences = one.index().len();
    if sequences == other.index().len() && !theirs.keys().any(|key| ours.contains_key(key)) {
        // CTF has numbers instead of names, and PFiles have no keys.
        let message = "no key is in both corpora: sequences are compared in their order";
        found.push(Finding::new(Severity::Note, "keys", message).at(other.name()));
        theirs = (0..sequences as u32).map(|number| (one.index().key(number), number)).collect();
        ours = HashMap::new();
    }
    let by_order = ours.is_empty();
    let named = if by_order { 0 } else { other.index().len() as u32 };
    for sequence in 0..named {
        let key = other.index().key(sequence);
        if !ours.contains_key(&key) && theirs.get(&key) == Some(&sequence) {
            found.push(
                Finding::new(
                    Severity::Error,
                    "extra-key",
                    "the other corpus has it, this one has not",
                )
                .key(key)
                .at(other.name()),
            );
        }
    }
    let work = |run: Range<u32>, _: &mut [Block]| {
        let mut found = Vec::new();
        for sequence in run {
            let key = one.index().key(sequence);
            let Some(&number) = theirs.get(&key) else {
                let message = "this corpus has it, the other one has not";
                found.push(
                    Finding::new(Severity::Error, "missing-key", message).key(key).at(other.name()),
                );
                continue;
            };
            let (here, there) = (Sequence::load(one, sequence)?, Sequence::load(other, number)?);
            for &(ours, theirs) in &pairs {
                let (ours, theirs) = (&here.streams()[ours], &there.streams()[theirs]);
                found.extend(compare_stream(key, ours, theirs, tolerance));
            }
        }
        Ok(found)
    };
    let threads = threads.unwrap_or_else(all_cores);
    each_run(one, threads, work, |run, findings| {
        found.extend(findings);
        progress(one.index().start(run.end) - one.index().start(run.start));
        Ok(())
    })?;
    Ok(found)
}

/// Matches the streams to compare.
fn pair_streams(
    one: &dyn Source,
    other: &dyn Source,
    found: &mut Vec<Finding>,
) -> Vec<(usize, usize)> {
    let (ours, theirs) = (one.streams(), other.streams());
    let mut pairs = Vec::new();
    let mut left: Vec<usize> = (0..theirs.len()).collect();
    for (number, stream) in ours.iter().enumerate() {
        let by_name = theirs.iter().position(|theirs| theirs.name == stream.name);
        let dense = |kind: Kind| kind == Kind::Dense;
        let alike = |streams: &[seqfeed_core::Stream]| {
            let of_kind =
                streams.iter().enumerate().filter(|(_, s)| dense(s.kind) == dense(stream.kind));
            let numbers: Vec<usize> = of_kind.map(|(number, _)| number).collect();
            (numbers.len() == 1).then(|| numbers[0])
        };
        let by_kind = || alike(ours).and(alike(theirs));
        match by_name.or_else(by_kind).filter(|number| left.contains(number)) {
            Some(their) => {
                left.retain(|&number| number != their);
                pairs.push((number, their));
            }
            None => found.push(
                Finding::new(
                    Severity::Error,
                    "missing-stream",
                    "the other corpus has no such stream",
                )
                .stream(&stream.name)
                .at(other.name()),
            ),
        }
    }
    found.extend(left.into_iter().map(|number| {
        Finding::new(Severity::Error, "extra-stream", "this corpus has no such stream")
            .stream(&theirs[number].name)
            .at(other.name())
    }));
    pairs
}

fn compare_stream(
    key: Key<'_>,
    ours: &SequenceStream,
    theirs: &SequenceStream,
    tolerance: f64,
) -> Option<Finding> {
    let finding = |kind, message: String| {
        Finding::new(Severity::Error, kind, message).stream(&ours.stream().name).key(key)
    };
    let (here, there) = (ours.range().len(), theirs.range().len());
    if here != there {
        let message = format!("it has {here} samples here, {there} in the other corpus");
        return Some(finding("length", message));
    }
    if ours.same_bytes(theirs) {
        return None;
    }
    for (number, (here, there)) in ours.samples().zip(theirs.samples()).enumerate() {
        if let Some((dim, here, there)) = first_difference(here, there, tolerance) {
            let message = format!("the value is {here} here, {there} in the other corpus");
            return Some(finding("value", message).at(format!("sample {number}, dim {dim}")));
        }
    }
    None
}

/// The first dimension in which samples differ, and both values. `nothing` is the value of a
/// dimension that one of them lacks.
fn first_difference(
    here: Sample,
    there: Sample,
    tolerance: f64,
) -> Option<(usize, String, String)> {
    let say =
        |value: Option<f64>| value.map_or_else(|| "nothing".to_owned(), |value| value.to_string());
    let pair = |dim: usize, here: Option<f64>, there: Option<f64>| {
        (!same(here?, there?, tolerance)).then(|| (dim, say(here), say(there)))
    };
    match (here, there) {
        (Sample::Label(here), Sample::Label(there)) => {
            (here != there).then(|| (0, here.to_string(), there.to_string()))
        }
        (Sample::Dense(here), Sample::Dense(there)) if here.len() != there.len() => {
            let dim = here.len().min(there.len());
            Some((dim, say(here.get(dim).copied()), say(there.get(dim).copied())))
        }
        (Sample::Dense(here), Sample::Dense(there)) => here
            .iter()
            .zip(&there)
            .enumerate()
            .find_map(|(dim, (&here, &there))| pair(dim, Some(here), Some(there))),
        (here, there) => {
            let (here, there) = (given(here), given(there));
            let dims = here
                .iter()
                .chain(&there)
                .map(|&(dim, _)| dim)
                .collect::<std::collections::BTreeSet<_>>();
            let value = |given: &[(usize, f64)], dim: usize| {
                given
                    .iter()
                    .filter(|&&(at, _)| at == dim)
                    .map(|&(_, value)| value)
                    .fold(0.0, |sum, value| sum + value)
            };
            dims.into_iter()
                .find_map(|dim| pair(dim, Some(value(&here, dim)), Some(value(&there, dim))))
        }
    }
}

/// The values other than 0, with their dimensions.
fn given(sample: Sample) -> Vec<(usize, f64)> {
    let all: Vec<(usize, f64)> = match sample {
        Sample::Label(label) => {
            usize::try_from(label).map(|label| (label, 1.0)).into_iter().collect()
        }
        Sample::Dense(values) => values.into_iter().enumerate().collect(),
        Sample::Sparse(given) => given
            .into_iter()
            .filter_map(|(at, value)| Some((usize::try_from(at).ok()?, value)))
            .collect(),
    };
    all.into_iter().filter(|&(_, value)| value != 0.0).collect()
}

fn same(here: f64, there: f64, tolerance: f64) -> bool {
    here == there
        || here.is_nan() && there.is_nan()
        || (here - there).abs() <= tolerance * here.abs().max(there.abs()).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_with_one_meaning_are_the_same() {
        let none = |here, there| first_difference(here, there, 0.0).is_none();
        assert!(none(Sample::Label(2), Sample::Sparse(vec![(2, 1.0)])));
        assert!(none(Sample::Dense(vec![0.0, 0.0, 1.0]), Sample::Label(2)));
        assert!(none(Sample::Dense(vec![f64::NAN]), Sample::Dense(vec![f64::NAN])));
        let difference = first_difference(Sample::Label(2), Sample::Sparse(vec![(1, 1.0)]), 0.0);
        assert_eq!(difference, Some((1, "0".to_owned(), "1".to_owned())));
        let longer = first_difference(Sample::Dense(vec![1.0]), Sample::Dense(vec![1.0, 3.0]), 0.0);
        assert_eq!(longer, Some((1, "nothing".to_owned(), "3".to_owned())));
    }

    #[test]
    fn a_tolerance_is_relative_above_one() {
        assert!(same(1000.0, 1001.0, 1e-3) && !same(1000.0, 1002.0, 1e-3));
        assert!(same(0.0, 0.001, 1e-3) && !same(0.0, 0.001, 0.0));
        assert!(!same(f64::INFINITY, 1.0, 0.0) && same(f64::INFINITY, f64::INFINITY, 0.0));
    }
}

//! Checks of keys and lengths: inside a source, and between sources.

use std::collections::HashMap;

use seqfeed_core::{Extent, Key, Severity, Source};

use super::checked_source::CheckedSource;
use super::{CheckOptions, Finding};

/// Checks the order and the names of each source's sequences, and how sources fit together.
pub(super) fn check(
    parts: &[CheckedSource],
    options: &CheckOptions,
    contexts: &[(String, usize)],
    found: &mut Vec<Finding>,
) {
    for part in parts {
        check_part(part, contexts, found);
    }
    let Some((primary, others)) = parts.split_first() else { return };
    for other in others {
        check_pair(primary, other, options, found);
    }
}

/// The first sequence of each key.
pub(super) fn by_key(source: &dyn Source) -> HashMap<Key<'_>, u32> {
    let index = source.index();
    let mut keys = HashMap::with_capacity(index.len());
    for sequence in (0..index.len() as u32).rev() {
        keys.insert(index.key(sequence), sequence);
    }
    keys
}

fn check_part(part: &CheckedSource, contexts: &[(String, usize)], found: &mut Vec<Finding>) {
    let index = part.source.index();
    let keys = by_key(part.source.as_ref());
    let context = contexts.iter().find(|(stream, _)| *stream == part.name);
    let file = part.source.name();
    for sequence in 0..index.len() as u32 {
        let (key, samples) = (index.key(sequence), index.samples(sequence));
        let finding = |severity, kind, message: String| {
            Finding::new(severity, kind, message).stream(&part.name).key(key)
        };
        let first = keys.get(&key).copied().unwrap_or(sequence);
        if first != sequence {
            let message = format!(
                "the key stands twice: as entry {} and as entry {}",
                u64::from(first) + 1,
                u64::from(sequence) + 1
            );
            let cure = "give each sequence a key of its own; --fix keeps the first one";
            found.push(finding(Severity::Error, "duplicate-key", message).at(file).cure(cure));
        }
        if samples == 0 {
            let message = "it has no samples, and is left out".to_owned();
            let cure = "leave it out of the corpus, as --fix does, or make it again";
            found.push(finding(Severity::Warning, "empty", message).at(file).cure(cure));
        } else if let Some((_, width)) = context
            && (samples as usize) < *width
        {
            let message = format!(
                "its {samples} samples are fewer than the {width} of a frame with its context: frames at \
                 the ends are repeated"
            );
            let cure = "leave out very short utterances, or take less context";
            found.push(finding(Severity::Note, "short", message).cure(cure));
        }
    }
}

fn check_pair(
    primary: &CheckedSource,
    other: &CheckedSource,
    options: &CheckOptions,
    found: &mut Vec<Finding>,
) {
    let (index, theirs) = (primary.source.index(), other.source.index());
    let (ours, keys) = (by_key(primary.source.as_ref()), by_key(other.source.as_ref()));
    let by_sample =
        |part: &CheckedSource| part.source.streams().iter().any(|s| s.extent == Extent::Samples);
    let compare = by_sample(primary) && by_sample(other);
    for sequence in 0..index.len() as u32 {
        let key = index.key(sequence);
        if ours.get(&key) != Some(&sequence) {
            continue;
        }
        let Some(&number) = keys.get(&key) else {
            let message =
                format!("it is in {} but not in {}: it is left out", primary.name, other.name);
            found.push(
                Finding::new(Severity::Warning, "missing-key", message)
                    .stream(&other.name)
                    .key(key)
                    .at(other.source.name())
                    .cure(format!("add it to {}, or take it out of {}", other.name, primary.name)),
            );
            continue;
        };
        let (here, there) = (index.samples(sequence), theirs.samples(number));
        if compare && here != there && here > 0 && there > 0 {
            let message =
                format!("{} has {there} samples, but {} has {here}", other.name, primary.name);
            let cure = match here.abs_diff(there) <= options.trim {
                true => "make them from the same frames; --fix cuts the longer one off at its end",
                false => "make them from the same frames; --fix leaves the utterance out",
            };
            found.push(
                Finding::new(Severity::Error, "length", message)
                    .stream(&other.name)
                    .key(key)
                    .at(other.source.name())
                    .cure(cure),
            );
        }
    }
    for sequence in 0..theirs.len() as u32 {
        let key = theirs.key(sequence);
        if !ours.contains_key(&key) && keys.get(&key) == Some(&sequence) {
            let message =
                format!("it is in {} but not in {}: it is not used", other.name, primary.name);
            found.push(
                Finding::new(Severity::Note, "extra-key", message)
                    .stream(&other.name)
                    .key(key)
                    .at(other.source.name())
                    .cure(format!("add it to {}, or leave it", primary.name)),
            );
        }
    }
}

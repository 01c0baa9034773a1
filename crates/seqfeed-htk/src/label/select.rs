//! Parts of transcriptions: one alternative, one level, the middle phone of triphones.

use seqfeed_core::{Error, Problem, Result};

use super::{FORMAT, Labels, ParseOptions, Transcription};

/// Reduces a transcription to the parts that the options name.
pub(super) fn apply(
    mut transcription: Transcription,
    options: &ParseOptions,
) -> Result<Transcription> {
    if let Some(number) = options.alternative {
        let lists = transcription.alternatives.len();
        let list =
            number.checked_sub(1).and_then(|index| transcription.alternatives.get_mut(index));
        let list = list.ok_or_else(|| missing("the alternative asked for", number, lists))?;
        transcription.alternatives = vec![std::mem::take(list)];
    }
    if let Some(number) = options.level {
        for list in &mut transcription.alternatives {
            *list = level(list, number)?;
        }
    }
    Ok(transcription)
}

fn missing(what: &'static str, number: usize, most: usize) -> Error {
    let found = i64::try_from(number).unwrap_or(i64::MAX);
    let allowed =
        if most == 0 { "none, since there are none".into() } else { format!("1 to {most}").into() };
    Error::format(FORMAT, Problem::OutOfRange { what, found, allowed })
}

/// The labels of one level, from 1. Each has the times of all segments that it covers: up to the
/// next label of that level.
fn level(labels: &Labels, number: usize) -> Result<Labels> {
    let absent = || missing("the level asked for", number, labels.levels());
    let index = number.checked_sub(1).ok_or_else(absent)?;
    if index >= labels.levels() && !labels.is_empty() {
        return Err(absent());
    }
    let mut kept = Labels::new();
    let mut open: Option<(usize, usize)> = None;
    let mut close = |(first, last): (usize, usize)| {
        let (first, last) = (labels.segment(first), labels.segment(last));
        if let Some(name) = first.level(index) {
            kept.push(first.start, last.end, name.text, name.score);
        }
    };
    for (number, segment) in labels.segments().enumerate() {
        if segment.level(index).is_some() {
            open.take().into_iter().for_each(&mut close);
            open = Some((number, number));
        } else if let Some((_, last)) = &mut open {
            *last = number;
        }
    }
    open.into_iter().for_each(&mut close);
    Ok(kept)
}

/// The name without its contexts: `b` of `a-b+c`.
pub(super) fn strip_triphone(name: &[u8]) -> &[u8] {
    let name = memchr::memchr(b'-', name).map_or(name, |at| &name[at + 1..]);
    memchr::memrchr(b'+', name).map_or(name, |at| &name[..at])
}

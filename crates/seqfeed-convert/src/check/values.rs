//! Checks of values: sequences that cannot be read, NaN and infinite values, constant dimensions.

use std::ops::Range;

use bytemuck::Pod;
use seqfeed_core::{Block, Element, Extent, Kind, Result, Severity, Source, Stream, numbers};

use super::checked_source::CheckedSource;
use super::{CheckOptions, Finding};
use crate::runs::{all_cores, each_run};
use crate::statistics::{Number, StreamStatistics};

/// The findings in a run of sequences.
struct Found {
    findings: Vec<Finding>,
    /// Sequences that cannot be used.
    bad: Vec<u32>,
    statistics: Vec<StreamStatistics>,
}

/// Reads all values of a source. Returns the sequences that cannot be used, ascending.
pub(super) fn check(
    part: &CheckedSource,
    options: &CheckOptions,
    progress: &mut dyn FnMut(u64),
    found: &mut Vec<Finding>,
) -> Result<Vec<u32>> {
    let source = part.source.as_ref();
    let streams = source.streams();
    let new = || streams.iter().map(StreamStatistics::new).collect::<Vec<_>>();
    let (mut all, mut bad) = (new(), Vec::new());
    let work = |run: Range<u32>, blocks: &mut [Block]| {
        let mut found = Found { findings: Vec::new(), bad: Vec::new(), statistics: new() };
        let sequences: Vec<u32> = run.collect();
        if source.load(&sequences, blocks).is_ok() {
            for (number, &sequence) in sequences.iter().enumerate() {
                check_sequence(source, sequence, blocks, number, options, &mut found);
            }
            return Ok(found);
        }
        // At least one cannot be read: find out which.
        for &sequence in &sequences {
            blocks.iter_mut().for_each(Block::clear);
            match source.load(&[sequence], blocks) {
                Ok(()) => check_sequence(source, sequence, blocks, 0, options, &mut found),
                Err(error) => {
                    let damage = error.of_key(source.index().key(sequence)).damage()?;
                    let finding = Finding::of_error("unreadable", Some(&part.name), &damage);
                    found.findings.push(finding);
                    found.bad.push(sequence);
                }
            }
        }
        Ok(found)
    };
    each_run(source, options.threads.unwrap_or_else(all_cores), work, |run, part| {
        found.extend(part.findings);
        bad.extend(part.bad);
        all.iter_mut().zip(&part.statistics).for_each(|(stream, part)| stream.merge(part));
        progress(source.index().start(run.end) - source.index().start(run.start));
        Ok(())
    })?;
    for (stream, statistics) in streams.iter().zip(&all) {
        check_stream(stream, statistics, found);
    }
    Ok(bad)
}

fn check_sequence(
    source: &dyn Source,
    sequence: u32,
    blocks: &[Block],
    number: usize,
    options: &CheckOptions,
    found: &mut Found,
) {
    let before = found.findings.len();
    let key = source.index().key(sequence);
    for ((stream, block), statistics) in
        source.streams().iter().zip(blocks).zip(&mut found.statistics)
    {
        let finding = |severity, kind, message: String| {
            Finding::new(severity, kind, message).stream(&stream.name).key(key)
        };
        statistics.add(block, number);
        match stream.kind {
            Kind::Label => {
                let labels = block.samples(number);
                let labels = numbers::<i32>(labels.bytes());
                let most = options.classes.unwrap_or(i32::MAX);
                let outside = |label: &i32| *label < 0 || *label >= most;
                let Some(at) = labels.iter().position(outside) else { continue };
                let count = labels.iter().filter(|label| outside(label)).count();
                let allowed = match options.classes {
                    Some(classes) => format!("0 to {}", i64::from(classes) - 1),
                    None => "0 and above".to_owned(),
                };
                let message =
                    format!("{} is no class: classes are {allowed}{}", labels[at], more(count));
                let severity =
                    if options.classes.is_some() { Severity::Error } else { Severity::Warning };
                let cure = "were labels made with another list of states? seqfeed feed --map-label or \
                            --ignore-label deals with single ones";
                found.findings.push(
                    finding(severity, "label-range", message).at(format!("sample {at}")).cure(cure),
                );
            }
            _ => {
                let values = if block.is_sparse() {
                    block.sparse_samples(number).values
                } else {
                    block.samples(number).bytes()
                };
                let dim = if block.is_sparse() { 1 } else { stream.dim };
                let seen = match stream.element {
                    Element::F64 => look::<f64>(values, dim),
                    Element::I32 => look::<i32>(values, dim),
                    _ => look::<f32>(values, dim),
                };
                if let Some((at, text)) = seen.first {
                    let place = match block.is_sparse() {
                        true => format!("value {at}"),
                        false => format!("sample {}, dim {}", at / dim, at % dim),
                    };
                    let message = format!("{text} is no number to train on{}", more(seen.count));
                    let cure = "make it again (a logarithm of 0, a division by a deviation of 0?), or leave \
                                it out, as --fix does";
                    let kind = if text == "NaN" { "nan" } else { "infinite" };
                    found
                        .findings
                        .push(finding(Severity::Error, kind, message).at(place).cure(cure));
                } else if seen.constant && stream.extent != Extent::Sequence && !block.is_sparse() {
                    let message = "all its samples are the same".to_owned();
                    let cure = "was it made of silence, or of a file that is cut short?";
                    found.findings.push(finding(Severity::Warning, "constant", message).cure(cure));
                }
            }
        }
    }
    let new = &found.findings[before..];
    if new.iter().any(|finding| matches!(finding.kind, "nan" | "infinite")) {
        found.bad.push(sequence);
    }
}

fn more(count: usize) -> String {
    if count > 1 { format!("; {} more like it here", count - 1) } else { String::new() }
}

struct Seen {
    /// The first value that is not finite, and the number of such values.
    first: Option<(usize, &'static str)>,
    count: usize,
    /// Whether there are several rows, all equal.
    constant: bool,
}

fn look<T: Number + Pod>(bytes: &[u8], dim: usize) -> Seen {
    let values = numbers::<T>(bytes);
    // The sum of zeros is 0 if all values are finite, and NaN otherwise.
    let zero: f64 = values.iter().map(|value| value.f64() * 0.0).sum();
    let wrong = |value: &&T| !value.f64().is_finite();
    let (mut first, mut count) = (None, 0);
    if zero != 0.0 {
        count = values.iter().filter(wrong).count();
        first = values.iter().position(|value| wrong(&value)).map(|at| {
            let value = values[at].f64();
            (
                at,
                if value.is_nan() {
                    "NaN"
                } else if value > 0.0 {
                    "Inf"
                } else {
                    "-Inf"
                },
            )
        });
    }
    let mut rows = values.chunks_exact(dim);
    let one = rows.next();
    let constant = values.len() > dim && rows.all(|row| Some(row) == one);
    Seen { first, count, constant }
}

/// Constant dimensions carry no information, and cannot be normalized.
fn check_stream(stream: &Stream, statistics: &StreamStatistics, found: &mut Vec<Finding>) {
    if stream.kind != Kind::Dense || statistics.samples < 2 {
        return;
    }
    for (number, dim) in statistics.dims.iter().enumerate() {
        if let (Some(mean), Some(0.0)) = (dim.mean(), dim.std()) {
            let message = format!(
                "the value is {mean} in all {} samples: its variance is 0",
                statistics.samples
            );
            found.push(
                Finding::new(Severity::Warning, "constant-dim", message)
                    .stream(&stream.name)
                    .at(format!("dim {number}"))
                    .cure("leave the dimension out, or find out why it is always the same"),
            );
        }
    }
}

//! `seqfeed info`: summarizes a corpus.

use std::io::{self, Write};

use anyhow::Result;
use clap::Args;
use seqfeed::Source;
use seqfeed_convert::{LengthsBin, Moments, Statistics, StreamStatistics, Summary};

use crate::options::{CorpusOptions, FrameShift};
use crate::progress;
use crate::report::{self, bytes, count};
use crate::screen::{Screen, print_json};
use crate::terminal::bar;

/// The length of the longest bar, in columns.
const BAR: usize = 40;
/// The number of labels to print: the most frequent ones.
const LABELS: usize = 20;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  seqfeed info scp:feats.scp
  seqfeed info corpus.toml --stats
  seqfeed info train.scp --labels train.mlf --states states.list --stats --json
  seqfeed info feats.ark:5
  seqfeed info final.mat")]
pub(crate) struct Arguments {
    #[command(flatten)]
    corpus: CorpusOptions,

    /// Read all values: mean, deviation and extremes of each dimension, NaN and infinite values,
    /// how often each label occurs
    #[arg(long)]
    stats: bool,

    #[command(flatten)]
    frame_shift: FrameShift,

    /// Threads that read values [default: one a core]; results are the same for any number
    #[arg(long, value_name = "N", requires = "stats")]
    threads: Option<usize>,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if let Some(object) = arguments.corpus.kaldi_object()? {
        object.refuse("--stats", arguments.stats)?;
        object.refuse("--frame-shift", arguments.frame_shift.is_given())?;
        return object.write_info(arguments.json);
    }
    let description = arguments.corpus.describe()?;
    let opened = arguments.corpus.open(&description)?;
    opened.warnings().iter().for_each(|warning| report::warning(warning));
    let summary = Summary::of(&opened);
    let shift = arguments.frame_shift.of(&opened);
    let statistics = match arguments.stats {
        false => None,
        true => {
            let corpus = opened.corpus();
            let progress = progress::bar(corpus.index().total_samples(), "samples");
            let statistics =
                Statistics::of(corpus.as_ref(), arguments.threads, |done| progress.inc(done))?;
            progress.finish_and_clear();
            Some(statistics)
        }
    };
    if arguments.json {
        let mut json = serde_json::to_value(&summary)?;
        json["frame_shift"] = shift.into();
        json["seconds"] = (summary.samples as f64 * shift).into();
        if let Some(statistics) = &statistics {
            json["statistics"] = serde_json::to_value(&statistics.streams)?;
        }
        return print_json(&json);
    }
    let mut out = Screen::text();
    write_text(&mut out, &summary, shift)?;
    for stream in statistics.iter().flat_map(|statistics| &statistics.streams) {
        write_statistics(&mut out, stream)?;
    }
    Ok(out.flush()?)
}

fn write_text(out: &mut impl Write, summary: &Summary, shift: f64) -> io::Result<()> {
    for stream in &summary.streams {
        let each = if stream.extent == "sequence" { ", one a sequence" } else { "" };
        writeln!(
            out,
            "{:<12} {} {} x {}{each}",
            stream.name, stream.kind, stream.dtype, stream.dim
        )?;
        writeln!(out, "{:<12} {} ({})", "", stream.source, stream.format)?;
    }
    let lengths = &summary.lengths;
    writeln!(out, "sequences    {}", count(summary.sequences))?;
    writeln!(
        out,
        "samples      {} ({} in memory)",
        count(summary.samples),
        bytes(summary.bytes as f64)
    )?;
    let said = if summary.frame_shift.is_some() { ", as the files say" } else { "" };
    writeln!(
        out,
        "duration     {} (at {} ms a sample{said})",
        duration(summary.samples as f64 * shift),
        (shift * 1e6).round() / 1e3
    )?;
    writeln!(
        out,
        "lengths      min {}, median {}, mean {:.1}, max {}",
        lengths.min, lengths.median, lengths.mean, lengths.max
    )?;
    write_histogram(out, &summary.length_histogram)?;
    writeln!(out, "chunks       {}", count(summary.chunks))?;
    if summary.spooled_bytes > 0 {
        let spooled = bytes(summary.spooled_bytes as f64);
        writeln!(out, "spooled      {spooled} decoded into temporary files")?;
    }
    for skipped in &summary.skipped {
        let more = if skipped.count > skipped.examples.len() as u64 { ", ..." } else { "" };
        let examples = skipped.examples.join(", ");
        writeln!(out, "skipped      {} {}: {examples}{more}", skipped.count, skipped.reason)?;
    }
    Ok(())
}

fn write_histogram(out: &mut impl Write, bins: &[LengthsBin]) -> io::Result<()> {
    let most = bins.iter().map(|bin| bin.sequences).max().unwrap_or(1).max(1);
    let named = |bin: &LengthsBin| match bin.from == bin.to {
        true => count(bin.from.into()),
        false => format!("{} - {}", count(bin.from.into()), count(bin.to.into())),
    };
    let width = bins.iter().map(|bin| named(bin).len()).max().unwrap_or(0);
    for bin in bins {
        let drawn = bar(bin.sequences as f64 / most as f64, BAR);
        let gap = if drawn.is_empty() { "" } else { " " };
        writeln!(out, "{:<12} {:>width$}  {drawn}{gap}{}", "", named(bin), count(bin.sequences))?;
    }
    Ok(())
}

fn write_statistics(out: &mut impl Write, stream: &StreamStatistics) -> io::Result<()> {
    writeln!(out, "\n{:<12} {} samples", stream.name, count(stream.samples))?;
    if !stream.dims.is_empty() {
        writeln!(
            out,
            "{:>12} {:>13} {:>13} {:>13} {:>13} {:>8} {:>8}",
            "dim", "mean", "std", "min", "max", "NaN", "Inf"
        )?;
        let sparse = stream.counts.is_some();
        for (number, dim) in stream.dims.iter().enumerate() {
            let name = if sparse { "all".to_owned() } else { number.to_string() };
            write_dim(out, &name, dim)?;
        }
    }
    let Some(counts) = &stream.counts else { return Ok(()) };
    let mut counts: Vec<(i32, u64)> = counts.iter().collect();
    let (classes, total) = (counts.len(), counts.iter().map(|(_, count)| count).sum::<u64>());
    counts.sort_by_key(|&(label, count)| (std::cmp::Reverse(count), label));
    let most = counts.first().map_or(1, |&(_, count)| count).max(1);
    writeln!(out, "{:>12} {:>13} {:>13}", "label", "samples", "share")?;
    for &(label, number) in counts.iter().take(LABELS) {
        let share = 100.0 * number as f64 / total.max(1) as f64;
        let drawn = bar(number as f64 / most as f64, BAR / 2);
        writeln!(out, "{label:>12} {:>13} {share:>12.2}% {drawn}", count(number))?;
    }
    if classes > LABELS {
        writeln!(
            out,
            "{:>12} {} more labels (--json has all)",
            "",
            count((classes - LABELS) as u64)
        )?;
    }
    Ok(())
}

fn write_dim(out: &mut impl Write, name: &str, dim: &Moments) -> io::Result<()> {
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), significant);
    writeln!(
        out,
        "{name:>12} {:>13} {:>13} {:>13} {:>13} {:>8} {:>8}",
        number(dim.mean()),
        number(dim.std()),
        number(dim.min()),
        number(dim.max()),
        dim.nan(),
        dim.infinite()
    )
}

/// A number with six significant digits.
fn significant(value: f64) -> String {
    let mut text = Vec::new();
    seqfeed::float_text::write_g(&mut text, value, 6);
    String::from_utf8(text).unwrap_or_default()
}

/// Seconds as hours, minutes and seconds.
fn duration(seconds: f64) -> String {
    let (hours, minutes) = ((seconds / 3600.0).floor(), (seconds / 60.0).floor() % 60.0);
    match (hours as u64, minutes as u64) {
        (0, 0) => format!("{seconds:.2} s"),
        (0, minutes) => format!("{minutes} min {:.0} s", (seconds % 60.0).floor()),
        (hours, minutes) => format!("{} h {minutes} min", count(hours)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_easy_to_read() {
        assert_eq!(duration(1.234), "1.23 s");
        assert_eq!(duration(119.9), "1 min 59 s");
        assert_eq!(duration(4_000_000.0), "1,111 h 6 min");
    }
}

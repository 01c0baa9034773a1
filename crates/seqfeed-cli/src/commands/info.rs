//! `seqfeed info`: what a corpus holds.

use std::io::{self, Write};

use anyhow::Result;
use clap::Args;
use seqfeed::Summary;

use crate::options::CorpusOptions;
use crate::report::{self, bytes, count};

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    corpus: CorpusOptions,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let description = arguments.corpus.describe(None)?;
    let opened = arguments.corpus.open(&description)?;
    opened.warnings().iter().for_each(|warning| report::warning(warning));
    let summary = Summary::of(&opened);
    let mut out = io::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &summary)?;
        writeln!(out)?;
    } else {
        write_text(&mut out, &summary)?;
    }
    Ok(())
}

fn write_text(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
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
    writeln!(
        out,
        "lengths      min {}, median {}, mean {:.1}, max {}",
        lengths.min, lengths.median, lengths.mean, lengths.max
    )?;
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

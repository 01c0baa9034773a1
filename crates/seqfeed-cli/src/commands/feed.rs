//! `seqfeed feed`: runs a feed, and prints a summary or its minibatches.

mod dump;
mod memory;

use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use seqfeed::io::{InputFiles, Location, WxFilename, read_record, shown_name, write_atomically};
use seqfeed::{Delivered, Error, Minibatch, Opened, Printable, Source, State, Unit};

use crate::options::{CorpusOptions, FeedOptions};
use crate::progress;
use crate::report;
use crate::screen::{Screen, print_json};

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  seqfeed feed corpus.toml
  seqfeed feed scp:feats.scp --labels ark:ali.ark --context 5 --batch-size 1024 --seed 7
  seqfeed feed train.scp --labels train.mlf --states states.list --unit sequence
  seqfeed feed train.cntk#Train.reader --ranks 2 --rank 0
  seqfeed feed train.pfile,context=5,random=True --dump jsonl
  seqfeed feed corpus.toml --state state.json --samples 100000")]
pub(crate) struct Arguments {
    #[command(flatten)]
    corpus: CorpusOptions,

    #[command(flatten)]
    feed: FeedOptions,

    /// Print each minibatch on standard output, one JSON object a line
    #[arg(long, value_name = "FORMAT")]
    dump: Option<Dump>,

    /// Print the summary as JSON
    #[arg(long, conflicts_with = "dump")]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Dump {
    Jsonl,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let inputs = InputFiles::record();
    let mut description = arguments.corpus.describe_fed(&arguments.feed)?;
    if description.feed.sweeps.is_none() && description.feed.samples.is_none() {
        description.feed.sweeps = Some(1);
    }
    let state_file = description.state_file();
    let state = state_file.as_deref().map(read_state).transpose()?.flatten();
    let started = Instant::now();
    let opened = arguments.corpus.open(&description)?;
    let opening = started.elapsed();
    let dump = arguments.dump.map(|_| WxFilename::from(Location::Standard));
    let state_output = state_file.clone().map(WxFilename::from);
    inputs.check_outputs(&state_output.into_iter().chain(dump).collect::<Vec<_>>())?;
    drop(inputs);
    for group in &opened.report().dropped {
        report::warning(&format!("skipped {group}"));
    }
    let mut warned = opened.warnings();
    warned.iter().for_each(|warning| report::warning(warning));
    let mut feed = opened.feed(state.as_ref())?;
    let already = state.as_ref().map_or(0, |state| state.samples);
    let bar = progress_bar(&opened, already);
    let mut dump = arguments.dump.map(|_| Screen::much_json());
    let mut tally = Tally::default();
    let started = Instant::now();
    for minibatch in &mut feed {
        let minibatch = minibatch?;
        tally.add(&minibatch);
        if let Some(out) = &mut dump {
            dump::write(out, &minibatch)?;
        }
        if let Some(path) = &state_file {
            // All minibatches that the state counts as done must have reached the reader before.
            if let Some(out) = &mut dump {
                out.flush()?;
            }
            write_atomically(path, minibatch.state().to_json().as_bytes(), false)?;
        }
        bar.set_position(minibatch.state().samples);
    }
    if let Some(out) = &mut dump {
        out.flush()?;
    }
    bar.finish_and_clear();
    let warnings = opened.warnings();
    warned.sort_unstable();
    let new = warnings.iter().filter(|warning| warned.binary_search(warning).is_err());
    new.for_each(|warning| report::warning(warning));
    let (feeding, bound) = (started.elapsed(), feed.memory_bound());
    let mixed = feed.delivered().to_vec();
    let tally = Tally { opening, feeding, bound, mixed, ..tally };
    match (arguments.json, &dump) {
        (true, _) => tally.print_json(&opened)?,
        (false, Some(_)) => {}
        (false, None) => tally.print(&opened, feed.streams())?,
    }
    Ok(())
}

/// The most bytes of a state. For truncated sequences it grows with the number of rows.
const MOST_OF_STATE: u64 = 64 << 20;

fn read_state(path: &Path) -> Result<Option<State>> {
    let bytes = match read_record(path, "bytes of a state", MOST_OF_STATE) {
        Ok(bytes) => bytes,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let state = String::from_utf8(bytes)
        .map_err(|_| {
            Error::usage("this file is no state: it is no text").with_help(
                "name a file that `seqfeed feed --state` wrote, or one that is not there yet",
            )
        })
        .and_then(|text| State::from_json(&text));
    Ok(Some(state.map_err(|error| error.in_file(shown_name(path)))?))
}

fn progress_bar(opened: &Opened, already: u64) -> ProgressBar {
    let settings = opened.settings();
    let sweep = opened.corpus().index().total_samples();
    let by_sweeps = settings.sweeps.map(|sweeps| sweeps.saturating_mul(sweep));
    // The sweeps of a mixture may have any number of samples.
    let by_sweeps = by_sweeps.filter(|_| settings.mixture.is_none());
    let total = [by_sweeps, settings.samples].into_iter().flatten().min().unwrap_or(0);
    progress::bar(total, "samples").with_position(already)
}

/// A summary of a run.
#[derive(Default)]
struct Tally {
    minibatches: u64,
    samples: u64,
    sequences: u64,
    bytes: u64,
    sweeps_ended: u64,
    opening: Duration,
    feeding: Duration,
    bound: u64,
    /// What came of each corpus of a mixture.
    mixed: Vec<Delivered>,
}

impl Tally {
    fn add(&mut self, minibatch: &Minibatch) {
        self.minibatches += 1;
        self.samples += minibatch.samples() as u64;
        self.sequences += minibatch.len() as u64;
        self.bytes += minibatch.bytes() as u64;
        self.sweeps_ended += u64::from(minibatch.end_of_sweep());
    }

    fn per_second(&self, number: u64) -> f64 {
        number as f64 / self.feeding.as_secs_f64().max(1e-9)
    }

    fn skipped(opened: &Opened) -> u64 {
        opened.report().total()
    }

    fn print(&self, opened: &Opened, streams: &[seqfeed::Stream]) -> io::Result<()> {
        let index = opened.corpus().index();
        let settings = opened.settings();
        let mut out = Screen::text();
        writeln!(
            out,
            "corpus       {}, {}, {} (opened in {:.1} ms)",
            report::counted(index.len() as u64, "sequence"),
            report::counted(index.total_samples(), "sample"),
            report::counted(index.chunk_count() as u64, "chunk"),
            self.opening.as_secs_f64() * 1e3
        )?;
        for stream in streams {
            let what = stream.element.name();
            writeln!(out, "{:<12} {} {what} x {}", stream.name, stream.kind.name(), stream.dim)?;
        }
        writeln!(
            out,
            "minibatches  {} in {}: {}{}",
            report::count(self.minibatches),
            report::counted(self.sweeps_ended, "sweep"),
            report::counted(self.samples, "sample"),
            match settings.unit {
                Unit::Frame => String::new(),
                Unit::Sequence => format!(" of {}", report::counted(self.sequences, "sequence")),
            }
        )?;
        for Delivered { name, units, samples, sweeps } in &self.mixed {
            let sequences = match settings.unit {
                Unit::Frame => String::new(),
                Unit::Sequence => format!(" of {}", report::counted(*units, "sequence")),
            };
            let share = 100.0 * *samples as f64 / self.samples.max(1) as f64;
            writeln!(
                out,
                "{:<12} {}{sequences} ({share:.1} %), in {} of its own",
                Printable(name).to_string(),
                report::counted(*samples, "sample"),
                report::counted(*sweeps, "sweep"),
            )?;
        }
        writeln!(
            out,
            "throughput   {}samples/s, {}/s into minibatches ({:.3} s)",
            report::rate(self.per_second(self.samples)),
            report::bytes(self.per_second(self.bytes)),
            self.feeding.as_secs_f64()
        )?;
        writeln!(out, "skipped      {} sequences", Self::skipped(opened))?;
        if opened.spooled_bytes() > 0 {
            let spooled = report::bytes(opened.spooled_bytes() as f64);
            writeln!(out, "spooled      {spooled} decoded into temporary files")?;
        }
        let peak = memory::peak_bytes().map_or("unknown".into(), |b| report::bytes(b as f64));
        let bound = report::bytes(self.bound as f64);
        writeln!(out, "peak memory  {peak} (chunks and minibatches: {bound} at most)")?;
        out.flush()
    }

    fn print_json(&self, opened: &Opened) -> Result<()> {
        let summary = serde_json::json!({
            "minibatches": self.minibatches,
            "samples": self.samples,
            "sequences": self.sequences,
            "sweeps_ended": self.sweeps_ended,
            "bytes": self.bytes,
            "opening_seconds": self.opening.as_secs_f64(),
            "seconds": self.feeding.as_secs_f64(),
            "samples_per_second": self.per_second(self.samples),
            "bytes_per_second": self.per_second(self.bytes),
            "mixture": self.mixed.iter().map(|component| serde_json::json!({
                "name": &*component.name,
                "units": component.units,
                "samples": component.samples,
                "sweeps": component.sweeps,
            })).collect::<Vec<_>>(),
            "skipped": Self::skipped(opened),
            "spooled_bytes": opened.spooled_bytes(),
            "memory_bound_bytes": self.bound,
            "peak_memory_bytes": memory::peak_bytes(),
        });
        print_json(&summary)
    }
}

//! `seqfeed plan`: says what the minibatches of a feed will be, and loads nothing.

use std::io::{self, Write};
use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use seqfeed::{
    BatchSize, Error, Layout, Opened, PlannedMinibatch, Preview, Settings, Source, Unit,
    units_in_sweep,
};
use serde_json::json;

use crate::options::{CorpusOptions, FeedOptions};
use crate::progress;
use crate::report::{self, bytes, count, counted};
use crate::screen::{Screen, print_json};
use crate::terminal::bar;

/// The length of the longest bar, in columns.
const BAR: usize = 40;
/// The number of bars.
const BARS: u64 = 10;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  seqfeed plan corpus.toml --ranks 64
  seqfeed plan scp:feats.scp --unit sequence --window corpus --buckets 30 --batch-size 32000
  seqfeed plan corpus.toml --sweeps 3 --json")]
pub(crate) struct Arguments {
    #[command(flatten)]
    corpus: CorpusOptions,

    #[command(flatten)]
    feed: FeedOptions,

    /// Print the plan as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut description = arguments.corpus.describe_fed(&arguments.feed)?;
    if description.feed.sweeps.is_none() && description.feed.samples.is_none() {
        description.feed.sweeps = Some(1);
    }
    let opened = arguments.corpus.open(&description)?;
    for group in &opened.report().dropped {
        report::warning(&format!("skipped {group}"));
    }
    opened.warnings().iter().for_each(|warning| report::warning(warning));
    let settings = opened.settings();
    if settings.samples.is_none() && units_in_sweep(opened.corpus().index(), settings).is_none() {
        return Err(Error::usage("a sweep of this mixture has no end, so it has no plan")
            .with_help("say how much of it is planned, with --samples N")
            .into());
    }
    let plan = Plan::new(&opened)?;
    match arguments.json {
        true => plan.print_json(),
        false => Ok(plan.print(&opened)?),
    }
}

/// The minibatches of all ranks.
struct Plan {
    ranks: Vec<Rank>,
    /// Samples of each minibatch, ascending.
    samples: Vec<u64>,
    /// Samples with padding.
    padded: u64,
}

/// What one rank gets.
#[derive(Default)]
struct Rank {
    minibatches: u64,
    sequences: u64,
    samples: u64,
    /// Chunks that it loads, each once a sweep, and bytes of their samples.
    chunks: u64,
    bytes: u64,
    memory_bound: u64,
}

impl Plan {
    fn new(opened: &Opened) -> Result<Self> {
        let settings = opened.settings();
        let progress = progress::bar(settings.ranks as u64, "ranks");
        let mut plan = Self { ranks: Vec::new(), samples: Vec::new(), padded: 0 };
        // No rank at all is refused with the settings of the first.
        for rank in 0..settings.ranks.max(1) {
            let settings = Settings { rank, ..settings.clone() };
            let corpus = Arc::clone(opened.corpus()) as Arc<dyn Source>;
            let mut preview = Preview::new(corpus, &settings)?;
            let mut all = Rank { memory_bound: preview.memory_bound(), ..Rank::default() };
            for minibatch in &mut preview {
                let PlannedMinibatch { segments, samples, .. } = minibatch;
                all.minibatches += 1;
                all.sequences += segments;
                all.samples += samples;
                plan.padded = plan.padded.saturating_add(minibatch.padded());
                plan.samples.push(samples);
            }
            (all.chunks, all.bytes) = (preview.chunks(), preview.bytes());
            plan.ranks.push(all);
            progress.inc(1);
        }
        progress.finish_and_clear();
        plan.samples.sort_unstable();
        Ok(plan)
    }

    fn least_and_most(&self, of: impl Fn(&Rank) -> u64) -> (u64, u64) {
        let least = self.ranks.iter().map(&of).min().unwrap_or(0);
        (least, self.ranks.iter().map(&of).max().unwrap_or(0))
    }

    fn total(&self) -> u64 {
        self.samples.iter().sum()
    }

    fn padding(&self) -> f64 {
        1.0 - self.total() as f64 / self.padded.max(1) as f64
    }

    /// Samples of the smallest, the median and the largest minibatch.
    fn sizes(&self) -> [u64; 3] {
        let at = |place: usize| self.samples.get(place).copied().unwrap_or(0);
        let count = self.samples.len();
        [at(0), at(count / 2), at(count.saturating_sub(1))]
    }

    /// The number of minibatches by samples: the first size of each range, and the one behind it.
    fn histogram(&self) -> Vec<(u64, u64, u64)> {
        let [least, _, most] = self.sizes();
        let width = (most - least + 1).div_ceil(BARS).max(1);
        let begins = (0..BARS).map(|number| least.saturating_add(number * width));
        let below = |size: u64| self.samples.partition_point(|&samples| samples < size) as u64;
        begins
            .take_while(|&begin| begin <= most)
            .map(|begin| (begin, begin + width, below(begin + width) - below(begin)))
            .collect()
    }

    fn print(&self, opened: &Opened) -> io::Result<()> {
        let mut out = Screen::text();
        let index = opened.corpus().index();
        writeln!(
            out,
            "corpus       {}, {}",
            counted(index.len() as u64, "sequence"),
            counted(index.total_samples(), "sample")
        )?;
        let (least, most) = self.least_and_most(|rank| rank.minibatches);
        let fewer =
            if least < most { format!(" ({} on some ranks)", count(least)) } else { String::new() };
        let ranks = counted(self.ranks.len() as u64, "rank");
        writeln!(out, "steps        {}{fewer} for {ranks}", count(most))?;
        let [smallest, median, largest] = self.sizes();
        writeln!(
            out,
            "minibatches  {} of {} to {} samples, half of them of {} at least",
            count(self.samples.len() as u64),
            count(smallest),
            count(largest),
            count(median)
        )?;
        let settings = opened.settings();
        let concatenated = settings.layout == Layout::Concatenated;
        if settings.unit == Unit::Sequence && !concatenated {
            let padding = 100.0 * self.padding();
            writeln!(out, "padding      {padding:.1} % of a padded minibatch, on average")?;
        }
        if let (BatchSize::Samples(size), true) = (settings.batch, concatenated) {
            let room = (self.samples.len() as f64 * size as f64).max(1.0);
            let fill = 100.0 * self.total() as f64 / room;
            writeln!(out, "fill         {fill:.1} % of a minibatch, on average")?;
        }
        let of_ranks = |of: fn(&Rank) -> u64, shown: fn(u64) -> String| {
            let (least, most) = self.least_and_most(of);
            match least == most {
                true => shown(most),
                false => format!("{} to {}", shown(least), shown(most)),
            }
        };
        writeln!(out, "a rank gets  {} samples", of_ranks(|rank| rank.samples, count))?;
        let size = of_ranks(|rank| rank.bytes, |number| bytes(number as f64));
        let chunks = of_ranks(|rank| rank.chunks, |number| counted(number, "chunk"));
        writeln!(out, "it reads     {size} ({chunks})")?;
        let memory = self.least_and_most(|rank| rank.memory_bound).1;
        writeln!(out, "memory       {} at most for each rank", bytes(memory as f64))?;
        writeln!(out, "\nminibatches by samples")?;
        let histogram = self.histogram();
        let highest = histogram.iter().map(|&(.., count)| count).max().unwrap_or(0).max(1);
        let wide = count(largest).len();
        for (begin, end, number) in histogram {
            let drawn = bar(number as f64 / highest as f64, BAR);
            let (begin, last) = (count(begin), count(end - 1));
            let line = format!("{begin:>wide$} to {last:>wide$}  {:>9}  {drawn}", count(number));
            writeln!(out, "{}", line.trim_end())?;
        }
        out.flush()
    }

    fn print_json(&self) -> Result<()> {
        let ranks = self.ranks.iter().map(|rank| {
            json!({
                "minibatches": rank.minibatches,
                "sequences": rank.sequences,
                "samples": rank.samples,
                "chunks": rank.chunks,
                "bytes": rank.bytes,
                "memory_bound_bytes": rank.memory_bound,
            })
        });
        let histogram = self.histogram().into_iter().map(|(begin, end, minibatches)| {
            json!({ "from": begin, "below": end, "minibatches": minibatches })
        });
        let [smallest, median, largest] = self.sizes();
        print_json(&json!({
            "steps": self.least_and_most(|rank| rank.minibatches).1,
            "minibatches": self.samples.len(),
            "samples": self.total(),
            "padded_samples": self.padded,
            "smallest": smallest,
            "median": median,
            "largest": largest,
            "ranks": ranks.collect::<Vec<_>>(),
            "histogram": histogram.collect::<Vec<_>>(),
        }))
    }
}

//! Which settings go together, and how large they may be: the one place that says so.
//!
//! A combination has its meaning or is refused. What cannot be told from a value, since it may be
//! the default, is asked by key: a key that was given must have an effect among the other settings.

use seqfeed_core::{Error, Result};

use super::{
    BatchSize, Cut, Epoch, Generator, Layout, Order, Partial, Settings, Shard, Unit, Window,
};

/// Most minibatches that wait: places for them are taken before the first is made.
const MOST_WAITING: usize = 1 << 16;
/// Most ranks: in a step there is a minibatch for each.
const MOST_RANKS: usize = 1 << 16;
/// Most threads of a kind.
const MOST_THREADS: usize = 1 << 10;
/// Most samples or units in a minibatch that goes on over the ends of sweeps: others end there.
const MOST_IN_BATCH: u64 = 1 << 32;
/// Most frames of context to one side.
const MOST_CONTEXT: usize = 10_000;
/// Most samples of a row of truncated sequences: a row takes its memory whether it is
/// filled or not.
const MOST_IN_ROW: u64 = 1 << 24;
/// Most sequences of a pool of like lengths: no corpus has more.
const MOST_IN_BUCKET: u64 = 1 << 32;
/// The latest sample from which a run can start: far beyond it, places could not be counted.
const MOST_START: u64 = 1 << 62;

impl Settings {
    /// Whether they fit one another: what a feed asks before it starts.
    ///
    /// # Errors
    ///
    /// Fails if they contradict one another, if one has no effect among the others, or if one is
    /// out of its range.
    pub fn check(&self) -> Result<()> {
        match self.out_of_range().or_else(|| self.contradiction().map(str::to_owned)) {
            Some(problem) => Err(Error::usage(problem)),
            None => Ok(()),
        }
    }

    fn out_of_range(&self) -> Option<String> {
        let (BatchSize::Samples(size) | BatchSize::Units(size) | BatchSize::Padded(size)) =
            self.batch;
        let most = |what: &str, most: u64, found: u64| {
            (found > most).then(|| format!("{what} can be {most} at most, not {found}"))
        };
        let widest = self.context.iter().map(|context| context.left.max(context.right)).max();
        let length = self.truncated.map_or(0, |truncation| truncation.length);
        if size == 0 {
            return Some("the batch size must be 1 at least".to_owned());
        } else if self.ranks == 0 {
            return Some("the number of ranks must be 1 at least".to_owned());
        } else if self.rank >= self.ranks {
            return Some(format!(
                "rank {} is not below the number of ranks, {} (ranks count from 0)",
                self.rank, self.ranks
            ));
        } else if self.threads == 0 {
            return Some("the number of threads must be 1 at least".to_owned());
        } else if self.bucket == Some(0) {
            return Some("a bucket must hold 1 sequence at least".to_owned());
        } else if self.queue > MOST_WAITING {
            return Some(format!(
                "at most {MOST_WAITING} minibatches are kept ready, not {}",
                self.queue
            ));
        } else if self.epoch == Epoch::Samples(0) {
            return Some("an epoch must have 1 sample at least".to_owned());
        } else if matches!(self.cut, Cut::Partitions { frames: 0, .. }) {
            return Some("a partition must hold 1 frame at least".to_owned());
        }
        let crosses = matches!(self.cut, Cut::Timeline | Cut::Worker { cross_sweeps: true, .. });
        most("the batch size", if crosses { MOST_IN_BATCH } else { u64::MAX }, size)
            .or_else(|| most("the number of ranks", MOST_RANKS as u64, self.ranks as u64))
            .or_else(|| most("the number of threads", MOST_THREADS as u64, self.threads as u64))
            .or_else(|| most("frames of context", MOST_CONTEXT as u64, widest.unwrap_or(0) as u64))
            .or_else(|| most("the truncation length", MOST_IN_ROW, length))
            .or_else(|| most("a bucket", MOST_IN_BUCKET, self.bucket.unwrap_or(0) as u64))
            .or_else(|| most("the sample that is started from", MOST_START, self.start))
    }

    /// The first combination that has no meaning.
    fn contradiction(&self) -> Option<&'static str> {
        let frames = self.unit == Unit::Frame;
        let worker = matches!(self.cut, Cut::Worker { .. });
        let timeline = self.cut == Cut::Timeline;
        let partitions = matches!(self.cut, Cut::Partitions { .. });
        // Each rank cuts minibatches of its own; otherwise the order of all ranks is cut,
        // and dealt out.
        let own = worker || timeline;
        let rolls = matches!(self.order, Order::Rolling(_));
        let counts_samples = matches!(self.batch, BatchSize::Samples(_));
        let by_rand = self.generator == Generator::Rand;
        let in_windows =
            matches!(self.order, Order::Shuffle(Window::Chunks(_) | Window::Samples(_)));
        let (truncated, shuffled) = (self.truncated.is_some(), self.order != Order::Sequential);
        let rules = [
            (
                self.bucket.is_some() && frames,
                "frames cannot be bucketed by length; bucketing needs unit = \"sequence\"",
            ),
            (
                self.bucket.is_some() && partitions,
                "minibatches of partitions are not bucketed by length",
            ),
            (
                self.bucket.is_some() && own,
                "where each rank cuts its own minibatches, they are not bucketed by length",
            ),
            (
                truncated && !own,
                "sequences are truncated where each rank cuts its own minibatches (cut = \"worker\")",
            ),
            (
                truncated && frames,
                "frames cannot be truncated; truncation needs unit = \"sequence\"",
            ),
            (
                !own && (self.start > 0 || self.epoch != Epoch::Run),
                "`start` and `epoch` are for minibatches that each rank cuts itself (cut = \"worker\")",
            ),
            (
                rolls && (!frames || timeline || partitions),
                "a rolling window shuffles frames (unit = \"frame\"), and not with cut = \"timeline\" or \
                 \"partitions\"",
            ),
            (
                timeline && self.start > 0,
                "where each rank has an order of its own, no common place can be started from; `start` is for \
                 cut = \"worker\", a state for this",
            ),
            (
                partitions && !frames,
                "partitions are of frames (unit = \"frame\"), not of sequences",
            ),
            (
                frames && matches!(self.batch, BatchSize::Padded(_)),
                "frames are not padded: batch-unit = \"padded\" needs unit = \"sequence\"",
            ),
            (
                own && !counts_samples
                    && (timeline || truncated || !matches!(self.batch, BatchSize::Units(_))),
                "where each rank cuts its own minibatches, the batch size counts samples",
            ),
            (
                partitions && self.shard == Shard::Chunks,
                "minibatches of partitions are dealt to ranks (shard = \"minibatches\"), not chunks",
            ),
            (
                own && self.shard == Shard::Chunks,
                "shard = \"chunks\" is for cut = \"steps\": where each rank cuts its own minibatches, its order \
                 says what is its own",
            ),
            (
                partitions && self.partial == Partial::Even && self.ranks > 1,
                "what is left of a partition is not spread over ranks: use partial = \"keep\" or \"drop\"",
            ),
            (
                own && self.partial == Partial::Even,
                "partial = \"even\" is for cut = \"steps\": where each rank cuts its own minibatches, nothing is \
                 left that could be spread over ranks",
            ),
            (
                timeline && self.partial == Partial::Drop,
                "partial = \"drop\" does not go with cut = \"timeline\": minibatches go on over the ends of sweeps",
            ),
            (
                truncated && self.partial == Partial::Drop,
                "partial = \"drop\" does not go with truncation: rows go on until the run ends",
            ),
            (
                partitions && shuffled && self.seed > u64::from(u32::MAX),
                "partitions are shuffled by numpy's generator, whose seeds are below 2^32",
            ),
            (
                by_rand && (!in_windows || timeline || partitions),
                "the generator `rand` shuffles in windows of chunks or samples, with cut = \"steps\" or \"worker\"",
            ),
        ];
        rules.into_iter().find_map(|(wrong, problem)| wrong.then_some(problem))
    }

    /// Why a key of a description has no effect among these settings, whatever its value; `None`
    /// where it has one.
    #[must_use]
    pub fn without_effect(&self, key: &str) -> Option<&'static str> {
        let worker = matches!(self.cut, Cut::Worker { .. });
        let in_rows = "sequences are truncated, and fill rows one by one";
        match key {
            "seed" => match self.order {
                Order::Shuffle(_) => None,
                Order::Sequential => Some("in sequential order nothing is shuffled"),
                Order::Rolling(_) => {
                    Some("a rolling window is seeded with the number of the sweep alone")
                }
            },
            "reshuffle" if self.order == Order::Sequential => {
                Some("in sequential order nothing is shuffled")
            }
            "shard" if self.cut != Cut::Steps => Some(
                "it is for cut = \"steps\"; with the others there is one way to divide a corpus",
            ),
            "layout" if self.truncated.is_some() => {
                Some("truncated sequences have one layout, rows side by side")
            }
            "label-padding" if self.unit == Unit::Frame => Some("frames are not padded"),
            "label-padding" if self.layout == Layout::Concatenated && self.truncated.is_none() => {
                Some("concatenated sequences are not padded")
            }
            "ignore-label" if self.unit == Unit::Sequence => Some(
                "labels are ignored frame by frame (unit = \"frame\"), but sequences are dealt out",
            ),
            "local-timeline" | "cross-sweeps" if !worker => Some("it is for cut = \"worker\""),
            "local-timeline" if self.truncated.is_some() => Some(in_rows),
            // With several ranks it says which minibatch the end of a sweep is told with: a rank
            // looks for its next sequence in the next sweep, or stops at the end of this one.
            "cross-sweeps" if self.truncated.is_some() && self.ranks == 1 => Some(in_rows),
            "local-timeline" if matches!(self.batch, BatchSize::Units(_)) => {
                Some("it says whose samples count for the size, but the size counts units")
            }
            _ => None,
        }
    }
}

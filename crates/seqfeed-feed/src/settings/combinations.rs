//! The rules for settings that go together, and their upper limits. All of them are here.
//!
//! A combination has a meaning or is refused. A value alone does not tell whether it was given,
//! since it may be the default. So there is a check by key: a given key must have an effect among
//! the other settings.

use seqfeed_core::{Error, Result};

use super::{
    BatchSize, Cut, Epoch, Generator, Layout, Limits, Order, Partial, Partitions, Settings, Shard,
    Steps, Unit, Window, Worker,
};

/// The most minibatches in the queue: their places are taken before the first is made.
const MOST_WAITING: usize = 1 << 16;
/// The most ranks: a step has a minibatch for each.
pub(crate) const MOST_RANKS: usize = 1 << 16;
/// The most threads of a kind.
const MOST_THREADS: usize = 1 << 10;
/// The most samples or units in a minibatch that goes on over the ends of sweeps. Other minibatches
/// end there.
const MOST_IN_BATCH: u64 = 1 << 32;
/// The most frames of context on one side.
const MOST_CONTEXT: usize = 10_000;
/// The most samples of a row of truncated sequences: a row takes its memory whether it is filled or
/// not.
const MOST_IN_ROW: u64 = 1 << 24;
/// The most sequences in a pool of similar lengths: no corpus has more.
const MOST_IN_BUCKET: u64 = 1 << 32;
/// The most bins of a whole corpus: each has lists of its own.
const MOST_BUCKETS: u64 = 1 << 16;
/// The most groups: each has an order of its own.
const MOST_GROUPS: u64 = 1 << 16;
/// The latest sample at which a run can start. Far beyond it, positions would overflow.
const MOST_START: u64 = 1 << 62;

impl Settings {
    /// Checks that the settings fit together. A feed calls it before it starts.
    ///
    /// # Errors
    ///
    /// Fails if settings contradict one another, if one has no effect among the others, or if one
    /// is out of its range.
    pub fn check(&self) -> Result<()> {
        let mixed = || self.mixture.as_ref().and_then(|mixture| mixture.problem(self));
        let contradiction = || self.contradiction().map(str::to_owned);
        match self.out_of_range().or_else(contradiction).or_else(mixed) {
            Some(problem) => Err(Error::usage(problem)),
            None => Ok(()),
        }
    }

    fn out_of_range(&self) -> Option<String> {
        let size = self.batch.number();
        let most = |what: &str, most: u64, found: u64| {
            (found > most).then(|| format!("{what} can be {most} at most, not {found}"))
        };
        let widest = self.context.iter().map(|context| context.left.max(context.right)).max();
        let length = self.cut.truncated().map_or(0, |truncation| truncation.length);
        let steps = if let Cut::Steps(steps) = self.cut { steps } else { Steps::default() };
        let start = if let Cut::Worker(worker) = self.cut { worker.start } else { 0 };
        let Limits { sequences, padded, tokens, quadratic } = steps.limits;
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
        } else if steps.bucket == Some(0) {
            return Some("a bucket must hold 1 sequence at least".to_owned());
        } else if steps.shard == Shard::Groups && !steps.groups.is_multiple_of(self.ranks) {
            return Some(format!(
                "the number of groups, {}, must be a multiple of the number of ranks, {}; {} is one",
                steps.groups,
                self.ranks,
                steps.groups.checked_next_multiple_of(self.ranks).unwrap_or(self.ranks)
            ));
        } else if steps.groups == 0 {
            return Some("there must be 1 group at least".to_owned());
        } else if steps.buckets == Some(0) {
            return Some("there must be 1 bucket at least".to_owned());
        } else if !self.bucket_edges.is_sorted_by(|one, next| one < next) {
            return Some("the lengths where buckets end must ascend, as in [200, 400]".to_owned());
        } else if [sequences, padded, tokens, quadratic].contains(&Some(0)) {
            let what = "max-sequences, max-padded, max-tokens and quadratic must be 1 at least";
            return Some(what.to_owned());
        } else if self.queue > MOST_WAITING {
            return Some(format!(
                "at most {MOST_WAITING} minibatches are kept ready, not {}",
                self.queue
            ));
        } else if self.cut.epoch() == Epoch::Samples(0) {
            return Some("an epoch must have 1 sample at least".to_owned());
        } else if matches!(self.cut, Cut::Partitions(Partitions { frames: 0, .. })) {
            return Some("a partition must hold 1 frame at least".to_owned());
        }
        let crosses =
            matches!(self.cut, Cut::Timeline(_) | Cut::Worker(Worker { cross_sweeps: true, .. }));
        most("the batch size", if crosses { MOST_IN_BATCH } else { u64::MAX }, size)
            .or_else(|| most("the number of ranks", MOST_RANKS as u64, self.ranks as u64))
            .or_else(|| most("the number of threads", MOST_THREADS as u64, self.threads as u64))
            .or_else(|| most("frames of context", MOST_CONTEXT as u64, widest.unwrap_or(0) as u64))
            .or_else(|| most("the truncation length", MOST_IN_ROW, length))
            .or_else(|| most("a bucket", MOST_IN_BUCKET, steps.bucket.unwrap_or(0) as u64))
            .or_else(|| {
                most("the number of buckets", MOST_BUCKETS, steps.buckets.unwrap_or(0) as u64)
            })
            .or_else(|| most("the number of groups", MOST_GROUPS, steps.groups as u64))
            .or_else(|| most("the sample that is started from", MOST_START, start))
    }

    /// The first combination without a meaning.
    fn contradiction(&self) -> Option<&'static str> {
        let frames = self.unit == Unit::Frame;
        let timeline = matches!(self.cut, Cut::Timeline(_));
        let partitions = matches!(self.cut, Cut::Partitions(_));
        let truncated = self.cut.truncated().is_some();
        let window = self.order.shuffled().map(|(window, _)| window);
        let generator = self.order.generator();
        let steps = if let Cut::Steps(steps) = self.cut { steps } else { Steps::default() };
        let limits = steps.limits;
        let rules = [
            (
                steps.buckets.is_some() && steps.bucket.is_some(),
                "bucket groups the sequences of a pool, buckets those of the whole corpus: give one of the two",
            ),
            (
                !self.bucket_edges.is_empty() && steps.buckets != Some(self.bucket_edges.len() + 1),
                "with lengths where buckets end there is one bucket more than lengths",
            ),
            (
                steps.pack && frames,
                "pack fills minibatches with whole sequences (unit = \"sequence\")",
            ),
            (
                steps.pack && self.layout != Layout::Concatenated,
                "pack fills minibatches up to their samples: it needs layout = \"concatenated\", since the other \
                 layouts pad",
            ),
            (
                steps.pack && (steps.buckets.is_some() || steps.bucket.is_some()),
                "bucket and buckets put sequences of similar length together, pack any that fill a minibatch: give \
                 one of them",
            ),
            (
                steps.pack && !matches!(self.batch, BatchSize::Samples(_)),
                "pack counts samples: leave batch-unit out",
            ),
            (
                steps.pack && steps.shard == Shard::Chunks,
                "with pack ranks divide minibatches, not chunks",
            ),
            (
                frames && (steps.buckets.is_some() || limits != Limits::default()),
                "buckets, max-sequences, max-padded, max-tokens and quadratic are for sequences \
                 (unit = \"sequence\")",
            ),
            (
                steps.buckets.is_some() && window.is_none_or(|window| window != Window::Corpus),
                "buckets reach over the whole corpus: they need window = \"corpus\" (a pool of the next \
                 sequences, `bucket`, goes with any window)",
            ),
            (
                steps.buckets.is_some() && steps.shard == Shard::Chunks,
                "with buckets ranks divide minibatches, not chunks",
            ),
            (
                steps.buckets.is_some() && self.mixture.is_some(),
                "buckets reach over one corpus, not over a mixture (a pool of the next sequences, `bucket`, \
                 does)",
            ),
            (
                limits.sequences.is_some() && matches!(self.batch, BatchSize::Units(_)),
                "max-sequences is for a batch size in samples; here batch-size counts sequences",
            ),
            (
                limits.tokens.is_some() && self.tokens_of.is_none(),
                "max-tokens limits the samples of another stream, such as words: name it (tokens-of)",
            ),
            (
                limits.padded.is_some() && matches!(self.batch, BatchSize::Padded(_)),
                "max-padded is for a batch size in samples or sequences; here batch-size counts padded samples",
            ),
            (
                limits.quadratic.is_some() && matches!(self.batch, BatchSize::Units(_)),
                "quadratic says what samples count for the size; here batch-size counts sequences",
            ),
            (
                frames && matches!(self.cut, Cut::Steps(Steps { bucket: Some(_), .. })),
                "frames cannot be bucketed by length; bucketing needs unit = \"sequence\"",
            ),
            (
                frames && truncated,
                "frames cannot be truncated; truncation needs unit = \"sequence\"",
            ),
            (
                matches!(self.order, Order::Rolling(_)) && (!frames || timeline || partitions),
                "a rolling window shuffles frames (unit = \"frame\"), and not with preset = \"cntk-timeline\" or \
                 \"pdnn\"",
            ),
            (
                matches!(self.order, Order::Blocks(_)) && !matches!(self.cut, Cut::Steps(_)),
                "order = \"blocks\" is for preset = \"none\": the other presets have orders of their own",
            ),
            (
                matches!(self.order, Order::Blocks(_))
                    && window == Some(Window::Corpus)
                    && steps.shard != Shard::Groups,
                "window = \"corpus\" shuffles all of it together, not in blocks: give order = \"shuffle\"",
            ),
            (
                steps.shard == Shard::Groups && !matches!(self.order, Order::Blocks(_)),
                "shard = \"groups\" needs order = \"blocks\": the other orders reach over the chunks of all ranks",
            ),
            (
                steps.shard == Shard::Groups && (steps.pack || steps.buckets.is_some()),
                "pack and buckets take sequences of the whole corpus: they do not go with shard = \"groups\"",
            ),
            (
                steps.shard == Shard::Groups && self.mixture.is_some(),
                "a mixture is not divided into groups: shard = \"minibatches\" or \"chunks\"",
            ),
            (
                steps.shard == Shard::Groups && self.samples.is_some(),
                "samples counts those of all ranks, but with shard = \"groups\" a rank knows only its own: end \
                 after a number of sweeps",
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
                match self.batch {
                    BatchSize::Samples(_) => false,
                    BatchSize::Units(_) => timeline || truncated,
                    BatchSize::Padded(_) => timeline || matches!(self.cut, Cut::Worker(_)),
                },
                "where each rank cuts its own minibatches, the batch size counts samples",
            ),
            (
                truncated && self.cut.partial() == Partial::Drop,
                "partial = \"drop\" does not go with truncation: rows go on until the run ends",
            ),
            (
                partitions && window.is_some_and(|window| window != Window::Corpus),
                "a window does not go with partitions: they are shuffled whole",
            ),
            (
                partitions && self.order.seed() > u64::from(u32::MAX),
                "partitions are shuffled by numpy's generator, whose seeds are below 2^32",
            ),
            (
                generator == Some(Generator::Rand)
                    && (timeline || partitions || window == Some(Window::Corpus)),
                "the generator `rand` shuffles in windows of chunks or samples, with preset = \"none\" or \"cntk\"",
            ),
        ];
        rules.into_iter().find_map(|(wrong, problem)| wrong.then_some(problem))
    }

    /// The reason why a key of a description has no effect among these settings, whatever its
    /// value; `None` if it has one.
    #[must_use]
    pub fn without_effect(&self, key: &str) -> Option<&'static str> {
        let worker = matches!(self.cut, Cut::Worker(_));
        let truncated = self.cut.truncated().is_some();
        let in_rows = "sequences are truncated, and fill rows one by one";
        let packs = matches!(self.cut, Cut::Steps(Steps { pack: true, .. }));
        let limits =
            if let Cut::Steps(steps) = self.cut { steps.limits } else { Limits::default() };
        match key {
            "tokens-of" if limits.tokens.is_none() => Some("it names the stream of max-tokens"),
            "groups" => match self.cut {
                Cut::Steps(Steps { shard: Shard::Groups, .. }) => None,
                _ => Some("it is for shard = \"groups\""),
            },
            "batch-size" if packs => Some("pack says how many samples a minibatch holds"),
            "batch-unit" if packs => Some("pack counts samples"),
            "seed" => match self.order {
                Order::Shuffle(_) | Order::Blocks(_) => None,
                Order::Sequential => Some("in sequential order nothing is shuffled"),
                Order::Rolling(_) => {
                    Some("a rolling window is seeded with the number of the sweep alone")
                }
            },
            "reshuffle" if self.order == Order::Sequential => {
                Some("in sequential order nothing is shuffled")
            }
            "layout" if truncated => Some("truncated sequences have one layout, rows side by side"),
            "label-padding" | "feature-padding" | "padding" if self.unit == Unit::Frame => {
                Some("frames are not padded")
            }
            "label-padding" | "feature-padding" | "padding"
                if self.layout == Layout::Concatenated && !truncated =>
            {
                Some("concatenated sequences are not padded")
            }
            "ignore" if self.unit == Unit::Sequence => Some(
                "labels are ignored frame by frame (unit = \"frame\"), but sequences are dealt out",
            ),
            "local-timeline" | "cross-sweeps" if !worker => Some("it is for preset = \"cntk\""),
            "local-timeline" if truncated => Some(in_rows),
            // With several ranks it decides which minibatch announces the end of a sweep: a rank
            // looks for its next sequence in the next sweep, or stops at the end of this one.
            "cross-sweeps" if truncated && self.ranks == 1 => Some(in_rows),
            "local-timeline" if matches!(self.batch, BatchSize::Units(_)) => {
                Some("it says whose samples count for the size, but the size counts units")
            }
            "htkmlf-epochs" if !worker => Some("it is for preset = \"cntk\""),
            "htkmlf-epochs" if self.unit == Unit::Frame => Some("frames end with an epoch anyway"),
            "htkmlf-epochs" if !truncated => match (self.cut.epoch(), self.batch) {
                (Epoch::Samples(_), BatchSize::Samples(_)) => None,
                _ => Some("sequences end with such an epoch anyway"),
            },
            "right-splice" if !truncated => Some("sequences are not truncated"),
            "generator" => match self.order {
                Order::Shuffle(shuffle) => match self.cut {
                    Cut::Timeline(_) | Cut::Partitions(_) => {
                        Some("these minibatches are shuffled in one way only")
                    }
                    _ if shuffle.window == Window::Corpus => {
                        Some("a whole corpus is permuted in one way only")
                    }
                    Cut::Steps(_) | Cut::Worker(_) => None,
                },
                Order::Sequential => Some("in sequential order nothing is shuffled"),
                Order::Rolling(_) => Some("a rolling window has random numbers of its own"),
                Order::Blocks(_) => Some("blocks are permuted in one way only"),
            },
            _ => None,
        }
    }
}

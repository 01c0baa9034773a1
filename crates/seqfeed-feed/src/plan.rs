//! Which units make up the next minibatch.

mod partitions;
mod steps;
mod timeline;
mod worker;

use std::collections::HashSet;
use std::sync::Arc;

use seqfeed_core::{Error, Index, Result};

use self::partitions::Partitions;
use self::steps::Steps;
use self::timeline::Timeline;
use self::worker::Worker;
use crate::order::Item;
use crate::order::local::PartState;
use crate::random;
use crate::settings::{BatchSize, Cut, Epoch, Generator, Order, Settings, Unit, Window};
use crate::state::State;
use crate::truncated::Segment;

/// The units of one minibatch of this rank.
pub(crate) struct Plan {
    /// Number of the minibatch since the very start.
    pub(crate) index: u64,
    pub(crate) sweep: u64,
    /// Whether the sweep ends with this step.
    pub(crate) end_of_sweep: bool,
    pub(crate) items: Vec<Item>,
    /// Where sequences are truncated, what part of each item it is, and where it lies.
    pub(crate) segments: Vec<Segment>,
    /// Where a feed goes on after it.
    pub(crate) after: State,
}

/// Cuts the order of each sweep into minibatches.
pub(crate) enum Planner {
    Steps(Box<Steps>),
    Worker(Box<Worker>),
    Timeline(Box<Timeline>),
    Partitions(Box<Partitions>),
}

impl Planner {
    /// Plans for an index of what is dealt out, and the first sequence of each file.
    pub(crate) fn new(index: Arc<Index>, files: &[u32], settings: Settings) -> Result<Self> {
        settings.check()?;
        if index.total_samples() == 0 {
            return Err(Error::corpus("the corpus holds no samples"));
        }
        let by_worker = matches!(settings.cut, Cut::Worker { .. });
        if index.withholds() && !by_worker {
            return Err(Error::usage(
                "wrong sequences keep their places only where each rank cuts its own minibatches",
            )
            .with_help("use cut = \"worker\", or mend the data"));
        }
        Ok(match settings.cut {
            Cut::Steps => Planner::Steps(Box::new(Steps::new(index, settings))),
            Cut::Worker { local_timeline, cross_sweeps } => {
                let worker = Worker::new(index, settings, local_timeline, cross_sweeps)?;
                Planner::Worker(Box::new(worker))
            }
            Cut::Timeline => Planner::Timeline(Box::new(Timeline::new(index, settings)?)),
            Cut::Partitions { .. } => {
                Planner::Partitions(Box::new(Partitions::new(index, files, settings)?))
            }
        })
    }

    /// Goes on where a state was taken.
    pub(crate) fn restore(&mut self, state: &State, index: &Index) -> Result<()> {
        let corpus = match self {
            Planner::Steps(steps) => steps.corpus(),
            Planner::Worker(worker) => worker.corpus(),
            Planner::Timeline(timeline) => timeline.corpus(),
            Planner::Partitions(partitions) => partitions.corpus(),
        };
        if state.corpus != corpus {
            return Err(Error::usage(format!(
                "the state belongs to another corpus or order (its digest is {}, here it is {corpus})",
                state.corpus
            ))
            .with_help(
                "use the corpus, seed, unit, order and window that it was saved with (and the rank, \
                 where each cuts its own minibatches), or remove the state to start from the \
                 beginning",
            ));
        }
        self.check_numbers(state, index)?;
        let units = match self.settings().unit {
            Unit::Frame => index.total_samples(),
            Unit::Sequence => index.len() as u64,
        };
        // With a timeline, units are counted in the rank's part of them, which is asked itself.
        if state.item > units && !matches!(self, Planner::Timeline(_)) {
            return Err(changed_by_hand(&format!(
                "the state names unit {} of a sweep, which has {units}",
                state.item
            )));
        }
        match self {
            Planner::Steps(steps) => steps.restore(state)?,
            Planner::Worker(worker) => worker.restore(state)?,
            Planner::Timeline(timeline) => timeline.restore(state)?,
            Planner::Partitions(partitions) => partitions.restore(state)?,
        }
        self.check_restored(state)
    }

    /// Refuses a state with something in it that this planner has no place for: no feed of these
    /// settings has given it. Its place may be another one: with another batch size, the end of a
    /// partition is dropped earlier.
    fn check_restored(&self, state: &State) -> Result<()> {
        let here = self.state();
        // Without a part, the first one is meant.
        let first = here.part.filter(|part| *part == PartState::default());
        let part = state.part.or(first);
        let fits = here.within == state.within
            && (here.pool, here.apart, here.part) == (state.pool, state.apart, part)
            && here.truncated.is_some() == state.truncated.is_some();
        if fits {
            return Ok(());
        }
        Err(changed_by_hand("the state says what a feed of these settings has no place for"))
    }

    /// Refuses a state whose numbers cannot have been counted: more samples than there are up
    /// to its place.
    fn check_numbers(&self, state: &State, index: &Index) -> Result<()> {
        // What a rank counts for itself alone is checked by its order.
        if matches!(self, Planner::Timeline(_)) {
            return Ok(());
        }
        let end =
            state.sweep.checked_add(1).and_then(|sweep| sweep.checked_mul(index.total_samples()));
        if end.is_some_and(|end| state.samples <= end) && state.minibatch < u64::MAX / 2 {
            return Ok(());
        }
        Err(changed_by_hand(&format!(
            "the state names {} samples and {} minibatches in sweep {}, of {} samples each",
            state.samples,
            state.minibatch,
            state.sweep,
            index.total_samples()
        )))
    }

    /// Rows and columns of minibatches of truncated sequences.
    pub(crate) fn rows(&self) -> Option<(usize, usize)> {
        match self {
            Planner::Steps(_) | Planner::Partitions(_) => None,
            Planner::Worker(worker) => worker.rows(),
            Planner::Timeline(timeline) => timeline.rows(),
        }
    }

    /// The most samples that the chunks of a window hold, those loaded ahead and one still in use
    /// counted in.
    pub(crate) fn most_samples(&self, index: &Index) -> u64 {
        match self {
            Planner::Steps(steps) => steps.cursor().most_samples(index),
            Planner::Worker(worker) => worker.cursor().most_samples(index),
            Planner::Timeline(timeline) => timeline.most_samples(index),
            Planner::Partitions(partitions) => partitions.most_samples(index),
        }
    }

    pub(crate) fn settings(&self) -> &Settings {
        match self {
            Planner::Steps(steps) => steps.settings(),
            Planner::Worker(worker) => worker.settings(),
            Planner::Timeline(timeline) => timeline.settings(),
            Planner::Partitions(partitions) => partitions.settings(),
        }
    }

    /// The chunks that this rank's next minibatches come from, each once.
    pub(crate) fn window(&self) -> Vec<u32> {
        let mut chunks = match self {
            Planner::Steps(steps) => steps.window(),
            Planner::Worker(worker) => worker.window(),
            Planner::Timeline(timeline) => timeline.window(),
            Planner::Partitions(partitions) => partitions.window(),
        };
        let mut seen = HashSet::with_capacity(chunks.len());
        chunks.retain(|&chunk| seen.insert(chunk));
        chunks
    }

    /// A number that changes when [`window`](Planner::window) may have changed.
    pub(crate) fn window_position(&self) -> (u64, u64, u64) {
        match self {
            Planner::Steps(steps) => steps.window_position(),
            Planner::Worker(worker) => worker.window_position(),
            Planner::Timeline(timeline) => timeline.window_position(),
            Planner::Partitions(partitions) => partitions.window_position(),
        }
    }

    /// Where the feed stands before the next minibatch.
    pub(crate) fn state(&self) -> State {
        match self {
            Planner::Steps(steps) => steps.state(),
            Planner::Worker(worker) => worker.state(),
            Planner::Timeline(timeline) => timeline.state(),
            Planner::Partitions(partitions) => partitions.state(),
        }
    }

    /// The next minibatch of this rank, or `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Plan> {
        match self {
            Planner::Steps(steps) => steps.next(),
            Planner::Worker(worker) => worker.next(),
            Planner::Timeline(timeline) => timeline.next(),
            Planner::Partitions(partitions) => partitions.next(),
        }
    }
}

/// The error for a state that no feed has given.
fn changed_by_hand(what: &str) -> Error {
    Error::usage(format!("{what}: it was changed by hand"))
        .with_help("use the state as it was saved, or remove it to start from the beginning")
}

/// The size of minibatches that each rank cuts for itself, over all ranks, in samples.
fn own_batch(settings: &Settings) -> u64 {
    match settings.batch {
        BatchSize::Samples(size) | BatchSize::Padded(size) => size,
        // Counted apart from samples.
        BatchSize::Units(_) => u64::MAX,
    }
}

/// What a state belongs to: the corpus and all that decides the order of its units.
pub(crate) fn digest(index: &Index, settings: &Settings) -> u64 {
    let order = match settings.order {
        Order::Sequential => [0, 0],
        Order::Shuffle(Window::Chunks(chunks)) => [1, chunks],
        Order::Shuffle(Window::Samples(samples)) => [2, samples],
        Order::Shuffle(Window::Corpus) => [3, 0],
        Order::Rolling(frames) => [4, frames],
    };
    let seed = if matches!(settings.order, Order::Shuffle(_)) { settings.seed } else { 0 };
    let bucket = settings.bucket.map_or(0, |bucket| bucket as u64 + 1);
    let labels = settings.labels.iter().flat_map(|rules| rules.ignore.ranges());
    let labels = labels.flat_map(|&(low, high)| [2, u64::from(low as u32), u64::from(high as u32)]);
    let parts = [order[0], order[1], seed, settings.unit as u64, bucket];
    // An order of the rank's own, and a place of its own in the common one, belong to it alone.
    let own = match settings.cut {
        Cut::Timeline => vec![1, settings.rank as u64, settings.ranks as u64],
        // At the end of an epoch units are dealt anew: ranks that stand on both sides of one must
        // agree on it.
        Cut::Worker { .. } => {
            let epoch = match settings.epoch {
                Epoch::Run => [0, 0],
                Epoch::Sweep => [1, 0],
                Epoch::Samples(samples) => [2, samples],
            };
            let (rank, ranks) = (settings.rank as u64, settings.ranks as u64);
            vec![4, rank, ranks, epoch[0], epoch[1], settings.start]
        }
        Cut::Partitions { frames, whole_files, reshuffle } => {
            vec![3, frames, u64::from(whole_files), u64::from(reshuffle)]
        }
        Cut::Steps => Vec::new(),
    };
    let rand = (settings.generator == Generator::Rand).then_some(2);
    parts
        .into_iter()
        .chain(own)
        .chain(rand)
        .chain(labels)
        .fold(index.digest(), |hash, part| random::mix(hash ^ part).wrapping_add(part))
}

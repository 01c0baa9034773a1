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
        let units = match self.settings().unit {
            Unit::Frame => index.total_samples(),
            Unit::Sequence => index.len() as u64,
        };
        // With a timeline, units are counted in the rank's part of them, which is asked itself.
        if state.item > units && !matches!(self, Planner::Timeline(_)) {
            return Err(Error::usage(format!(
                "the state names unit {} of a sweep, which has {units}: it was changed by hand",
                state.item
            )));
        }
        match self {
            Planner::Steps(steps) => steps.restore(state),
            Planner::Worker(worker) => worker.restore(state)?,
            Planner::Timeline(timeline) => timeline.restore(state)?,
            Planner::Partitions(partitions) => partitions.restore(state)?,
        }
        Ok(())
    }

    /// Rows and columns of minibatches of truncated sequences.
    pub(crate) fn rows(&self) -> (usize, usize) {
        match self {
            Planner::Steps(_) | Planner::Partitions(_) => (0, 0),
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

/// The size of minibatches that each rank cuts for itself, over all ranks, in samples.
fn own_batch(settings: &Settings) -> Result<u64> {
    let size = match settings.batch {
        BatchSize::Samples(size) => Some(size),
        // Counted apart from samples.
        BatchSize::Units(_) if matches!(settings.cut, Cut::Worker { .. }) => {
            settings.truncated.is_none().then_some(u64::MAX)
        }
        _ => None,
    };
    let Some(size) = size else {
        return Err(Error::usage(
            "where each rank cuts its own minibatches, the batch size counts samples",
        ));
    };
    if settings.bucket.is_some() {
        return Err(Error::usage(
            "where each rank cuts its own minibatches, they are not bucketed by length",
        ));
    }
    if settings.epoch == Epoch::Samples(0) {
        return Err(Error::usage("an epoch must have 1 sample at least"));
    }
    Ok(size)
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
    let seed = if settings.order == Order::Sequential { 0 } else { settings.seed };
    let bucket = settings.bucket.map_or(0, |bucket| bucket as u64 + 1);
    let labels = settings.labels.iter().flat_map(|rules| rules.ignore.ranges());
    let labels = labels.flat_map(|&(low, high)| [2, u64::from(low as u32), u64::from(high as u32)]);
    let parts = [order[0], order[1], seed, settings.unit as u64, bucket];
    // An order of the rank's own, and a place of its own in the common one, belong to it alone.
    let own = match settings.cut {
        Cut::Timeline => vec![1, settings.rank as u64, settings.ranks as u64],
        Cut::Worker { .. } => vec![4, settings.rank as u64, settings.ranks as u64],
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

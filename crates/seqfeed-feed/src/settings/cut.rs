//! Who cuts an order into minibatches, and how.

use serde::{Deserialize, Serialize};

/// When a minibatch is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BatchSize {
    /// At so many samples; a sequence that would exceed it goes to the next minibatch, and a
    /// longer one has a minibatch of its own.
    Samples(u64),
    /// At so many units (frames or sequences).
    Units(u64),
    /// At so many samples counting padding: the longest sequence times the number of sequences.
    Padded(u64),
}

impl BatchSize {
    /// The number alone.
    #[must_use]
    pub fn number(self) -> u64 {
        match self {
            Self::Samples(size) | Self::Units(size) | Self::Padded(size) => size,
        }
    }
}

/// Who cuts the order of a sweep into minibatches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The global order is cut, and minibatches are dealt to the ranks.
    Steps(Steps),
    /// Each rank cuts its own, as CNTK's workers do.
    Worker(Worker),
    /// Each rank has an order of its own, as with CNTK's local-timeline randomizers.
    Timeline(Timeline),
    /// The frames of each file are cut into partitions of so many, and those into minibatches, as
    /// PDNN does.
    Partitions(Partitions),
}

impl Default for Cut {
    fn default() -> Self {
        Self::Steps(Steps::default())
    }
}

impl Cut {
    /// How sequences are truncated, if they are.
    #[must_use]
    pub fn truncated(&self) -> Option<Truncation> {
        match self {
            Self::Worker(worker) => worker.truncated,
            Self::Timeline(timeline) => timeline.truncated,
            Self::Steps(_) | Self::Partitions(_) => None,
        }
    }

    /// What an epoch is: the whole run, where minibatches are dealt to ranks.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        match self {
            Self::Worker(worker) => worker.epoch,
            Self::Timeline(timeline) => timeline.epoch,
            Self::Steps(_) | Self::Partitions(_) => Epoch::Run,
        }
    }

    /// What becomes of what does not fill a minibatch.
    #[must_use]
    pub fn partial(&self) -> Partial {
        match self {
            Self::Steps(steps) => steps.partial,
            Self::Worker(Worker { drops_partial: true, .. })
            | Self::Partitions(Partitions { drops_partial: true, .. }) => Partial::Drop,
            Self::Worker(_) | Self::Timeline(_) | Self::Partitions(_) => Partial::Keep,
        }
    }
}

/// One order of all ranks is cut, and minibatches are dealt to them: a *step* is one for each. All
/// ranks stand at the same place, and a state fits any number of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// Group sequences of like length: out of a pool of so many sequences of the order,
    /// minibatches are cut by length and come in random order.
    pub bucket: Option<usize>,
    /// How ranks divide the corpus.
    pub shard: Shard,
    /// The end of a sweep.
    pub partial: Partial,
}

impl Default for Steps {
    /// Whole minibatches for each rank, as they come.
    fn default() -> Self {
        Self { bucket: None, shard: Shard::Minibatches, partial: Partial::Keep }
    }
}

/// How a sweep is divided among ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shard {
    /// Each rank gets every n-th minibatch of the global order: all equally large, and the same
    /// ones whatever the number of ranks. Every rank reads the whole corpus.
    Minibatches,
    /// Each rank gets the units of every n-th chunk, as CNTK's workers do: it reads only its own
    /// chunks, but minibatches differ in size and may be empty.
    Chunks,
}

/// What happens at the end of a sweep, where the last step does not fill all ranks' minibatches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Partial {
    /// They come as they are: some ranks may get a short minibatch, or one fewer.
    Keep,
    /// They are dropped: every minibatch is full, every rank gets as many.
    Drop,
    /// What is left is spread evenly: every rank gets as many minibatches, nothing is dropped; the
    /// last ones are smaller (or empty, where fewer units are left than there are ranks).
    Even,
}

/// Each rank goes through one order of all ranks, passes over the
/// units that are not its own (those of other chunks; in sequential order, all but every n-th) and
/// takes those that are, until its share of the minibatch is full. Ranks stand at different places,
/// so that a state belongs to one rank. Takes a batch size in samples or units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worker {
    /// Whether only the rank's own samples count (CNTK's `localTimeline`): its share of the
    /// minibatch is the size divided by the number of ranks. Otherwise the size is that of all
    /// ranks' samples together, as in CNTK's readers that stand alone.
    pub local_timeline: bool,
    /// Whether a minibatch goes on in the next sweep where one ends (as with CNTK's Python
    /// package) or is cut short there (as with its program).
    pub cross_sweeps: bool,
    /// What an epoch is; the next one begins at its nominal place.
    pub epoch: Epoch,
    /// Begin at the first unit that starts no earlier than so many samples from the very start
    /// (CNTK's `minibatchSourcePosition`).
    pub start: u64,
    /// Cut sequences into segments for truncated backpropagation through time.
    pub truncated: Option<Truncation>,
    /// Leave out minibatches that are not full.
    pub drops_partial: bool,
    /// The epochs of CNTK's `HTKMLFReader`: a minibatch is never larger than what
    /// is left of its epoch, so that a sequence that reaches beyond stays apart; and at the start
    /// of an epoch each row of truncated sequences gets one sequence, before they are filled.
    pub htkmlf_epochs: bool,
}

impl Default for Worker {
    /// As with CNTK's Python package: a local timeline, over the ends of sweeps.
    fn default() -> Self {
        Self {
            local_timeline: true,
            cross_sweeps: true,
            epoch: Epoch::Run,
            start: 0,
            truncated: None,
            drops_partial: false,
            htkmlf_epochs: false,
        }
    }
}

/// Each rank cuts an order of its own into minibatches of its share of the size, over the ends of
/// sweeps. It reads only its own chunks, and none of its minibatches is empty.
///
/// In [`Order::Sequential`](super::Order::Sequential) every n-th unit of a sweep is its own. In
/// [`Order::Shuffle`](super::Order::Shuffle) every n-th chunk of the sweep's order is, and the
/// window *tumbles*: as many of the rank's own chunks as it holds are shuffled together, then the
/// next ones. A window in samples is full with the chunk that reaches them.
///
/// A state belongs to one rank of so many. Takes a batch size in samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// What an epoch is; the next one begins where the one before ended.
    pub epoch: Epoch,
    /// Cut sequences into segments for truncated backpropagation through time.
    pub truncated: Option<Truncation>,
}

/// No minibatch goes over the end of a partition, and no partition over that of a file
/// ([`Source::files`](seqfeed_core::Source::files)).
///
/// Minibatches are dealt to the ranks as in [`Steps`]. [`Order::Shuffle`](super::Order::Shuffle)
/// shuffles each partition or file as numpy's `RandomState(seed).shuffle` does, and its window must
/// be [`Window::Corpus`](super::Window::Corpus). What is shuffled together is in memory together.
/// Needs [`Unit::Frame`](super::Unit::Frame).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partitions {
    /// Frames in a partition, 1 at least; those that labels exclude don't count.
    pub frames: u64,
    /// Whether a shuffle reaches over a whole file, which is kept in memory, and not over one
    /// partition only.
    pub whole_files: bool,
    /// Whether each sweep has an order of its own (sweep `s` is shuffled with `seed + s`).
    /// Otherwise all have the same one, as with PDNN.
    pub reshuffle: bool,
    /// Leave out what does not fill a minibatch, at the end of *each partition*.
    pub drops_partial: bool,
}

impl Default for Partitions {
    /// Whole files, shuffled in the same way each time.
    fn default() -> Self {
        Self { frames: u64::MAX, whole_files: true, reshuffle: false, drops_partial: false }
    }
}

/// What an epoch is, where each rank cuts its own minibatches: a part of the run at whose end a
/// minibatch ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Epoch {
    /// The whole run is one epoch.
    #[default]
    Run,
    /// Each sweep is.
    Sweep,
    /// So many samples, over all ranks.
    Samples(u64),
}

/// Minibatches for truncated backpropagation through time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// T: samples of each row in a minibatch. There are as many rows as fit into the batch size.
    pub length: u64,
    /// So many samples at the end of a row that one sequence fills come again at the beginning of
    /// the next, for models that look ahead.
    pub right_splice: u64,
}

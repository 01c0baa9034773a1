//! The settings of the cut: who cuts an order into minibatches, and how.

use serde::{Deserialize, Serialize};

/// The size at which a minibatch is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BatchSize {
    /// A number of samples. A sequence that would exceed it goes to the next minibatch. A longer
    /// sequence has a minibatch of its own.
    Samples(u64),
    /// A number of units (frames or sequences).
    Units(u64),
    /// A number of samples with padding: the longest sequence times the number of sequences.
    Padded(u64),
}

impl BatchSize {
    /// The number without its unit.
    #[must_use]
    pub fn number(self) -> u64 {
        match self {
            Self::Samples(size) | Self::Units(size) | Self::Padded(size) => size,
        }
    }
}

/// Limits of a minibatch of one rank beside [`BatchSize`]. A sequence that would exceed one of them
/// goes to the next minibatch; a sequence alone always fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The most sequences.
    pub sequences: Option<u64>,
    /// The most samples with padding.
    pub padded: Option<u64>,
    /// The most samples of the stream [`tokens_of`](super::Settings::tokens_of), such as words.
    pub tokens: Option<u64>,
    /// Long sequences count more for the size: a sequence of `n` samples counts `n + n² / q`, as
    /// suits the cost of attention. At `q` samples it counts double.
    pub quadratic: Option<u64>,
}

impl Limits {
    /// Whether a limit depends on the lengths of sequences.
    pub(crate) fn by_length(&self) -> bool {
        self.padded.is_some() || self.tokens.is_some()
    }

    /// What a sequence counts for the size.
    pub(crate) fn cost(&self, samples: u32) -> u64 {
        let samples = u64::from(samples);
        let more = self.quadratic.map_or(0, |quadratic| (samples * samples).div_ceil(quadratic));
        samples.saturating_add(more)
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
    /// The frames of each file are cut into partitions, and these into minibatches, as by PDNN.
    Partitions(Partitions),
}

impl Default for Cut {
    fn default() -> Self {
        Self::Steps(Steps::default())
    }
}

impl Cut {
    /// How sequences are truncated, if at all.
    #[must_use]
    pub fn truncated(&self) -> Option<Truncation> {
        match self {
            Self::Worker(worker) => worker.truncated,
            Self::Timeline(timeline) => timeline.truncated,
            Self::Steps(_) | Self::Partitions(_) => None,
        }
    }

    /// The epochs. If minibatches are dealt to ranks, the whole run is one epoch.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        match self {
            Self::Worker(worker) => worker.epoch,
            Self::Timeline(timeline) => timeline.epoch,
            Self::Steps(_) | Self::Partitions(_) => Epoch::Run,
        }
    }

    /// The rule for units that do not fill a minibatch.
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

/// One order of all ranks is cut, and minibatches are dealt to the ranks: a *step* is one for each.
/// All ranks stand at the same place, and a state fits any number of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// Groups sequences of similar length. A pool has this many sequences of the order. It is cut
    /// into minibatches by length, which come in random order.
    pub bucket: Option<usize>,
    /// Divides the sequences of the whole corpus into this many bins by length, with about the same
    /// number of samples in each unless there are [edges](super::Settings::bucket_edges). The
    /// minibatches of a step come from one bin, and steps come in random order. Needs
    /// [`Window::Corpus`](super::Window::Corpus).
    pub buckets: Option<usize>,
    /// Whether each sequence goes into the first open minibatch with room for it, so that
    /// minibatches are nearly full. No minibatch exceeds its size; a longer sequence is an error.
    /// Needs [`BatchSize::Samples`] and [`Layout::Concatenated`](super::Layout::Concatenated).
    pub pack: bool,
    /// Limits of a minibatch of sequences beside its size.
    pub limits: Limits,
    /// How ranks divide the corpus.
    pub shard: Shard,
    /// The number of groups with [`Shard::Groups`]: a multiple of the number of ranks. Each group
    /// has blocks as wide as the window of the order.
    pub groups: usize,
    /// The rule for the end of a sweep.
    pub partial: Partial,
}

impl Default for Steps {
    /// Whole minibatches for each rank, in the order in which they come.
    fn default() -> Self {
        Self {
            bucket: None,
            buckets: None,
            pack: false,
            limits: Limits::default(),
            shard: Shard::Minibatches,
            groups: 64,
            partial: Partial::Keep,
        }
    }
}

/// How a sweep is divided among ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shard {
    /// Each rank gets every n-th minibatch of the global order. All are equally large, and are the
    /// same for any number of ranks. Every rank reads the whole corpus.
    Minibatches,
    /// Each rank gets the units of every n-th chunk, as CNTK's workers do. It reads only its own
    /// chunks, but minibatches differ in size and may be empty.
    Chunks,
    /// The chunks are divided into [groups](Steps::groups). Minibatches come out of the groups in
    /// turn, and each rank gets those of its own groups. They are the same for any number of ranks,
    /// and a rank reads only its own chunks. Needs [`Order::Blocks`](super::Order::Blocks).
    Groups,
}

/// The rule for the end of a sweep, where the last step does not fill the minibatches of all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Partial {
    /// They stay as they are: some ranks may get a short minibatch, or one fewer.
    Keep,
    /// They are dropped: every minibatch is full, and every rank gets the same number.
    Drop,
    /// The rest is spread evenly. Every rank gets the same number of minibatches, and nothing is
    /// dropped. The last ones are smaller, or empty if fewer units are left than there are ranks.
    Even,
}

/// Each rank goes through one order of all ranks. It passes over units that are not its own: those
/// of other chunks, or in sequential order all but every n-th. It takes its own until its share of
/// the minibatch is full. Ranks stand at different places, so a state belongs to one rank. Takes a
/// batch size in samples or units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worker {
    /// Whether only the rank's own samples count (CNTK's `localTimeline`). Then its share of the
    /// minibatch is the size divided by the number of ranks. Otherwise the size counts the samples
    /// of all ranks together, as in CNTK's stand-alone readers.
    pub local_timeline: bool,
    /// Whether a minibatch goes on over the end of a sweep (as with CNTK's Python package), or is
    /// cut short there (as with its program).
    pub cross_sweeps: bool,
    /// The epochs. The next epoch begins at its nominal position.
    pub epoch: Epoch,
    /// Begins at the first unit that starts no earlier than this many samples from the very start
    /// (CNTK's `minibatchSourcePosition`).
    pub start: u64,
    /// Cuts sequences into segments for truncated backpropagation through time.
    pub truncated: Option<Truncation>,
    /// Leaves out minibatches that are not full.
    pub drops_partial: bool,
    /// The epochs of CNTK's `HTKMLFReader`. A minibatch is never larger than the rest of its epoch,
    /// so a sequence that reaches beyond stays apart. At the start of an epoch each row of
    /// truncated sequences first gets one sequence; then the rows are filled.
    pub htkmlf_epochs: bool,
}

impl Default for Worker {
    /// The defaults of CNTK's Python package: a local timeline, over the ends of sweeps.
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
/// [`Order::Shuffle`](super::Order::Shuffle) every n-th chunk of the sweep's order is its own, and
/// the window *tumbles*: the rank shuffles as many of its own chunks together as the window holds,
/// then the next ones. A window in samples is full with the chunk that reaches its number.
///
/// A state belongs to one rank and one number of ranks. Takes a batch size in samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// The epochs. The next epoch begins where the one before ended.
    pub epoch: Epoch,
    /// Cuts sequences into segments for truncated backpropagation through time.
    pub truncated: Option<Truncation>,
}

/// No minibatch crosses the end of a partition, and no partition the end of a file
/// ([`Source::files`](seqfeed_core::Source::files)).
///
/// Minibatches are dealt to the ranks as in [`Steps`]. [`Order::Shuffle`](super::Order::Shuffle)
/// shuffles each partition or file as numpy's `RandomState(seed).shuffle` does, and its window must
/// be [`Window::Corpus`](super::Window::Corpus). Frames that are shuffled together are in memory
/// together. Needs [`Unit::Frame`](super::Unit::Frame).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partitions {
    /// Frames in a partition, at least 1. Frames that labels exclude do not count.
    pub frames: u64,
    /// Whether a whole file is shuffled, and kept in memory. Otherwise a single partition is.
    pub whole_files: bool,
    /// Whether each sweep has an order of its own (sweep `s` is shuffled with `seed + s`).
    /// Otherwise all have the same one, as with PDNN.
    pub reshuffle: bool,
    /// Leaves out frames that do not fill a minibatch, at the end of *each partition*.
    pub drops_partial: bool,
}

impl Default for Partitions {
    /// Whole files, shuffled in the same way each time.
    fn default() -> Self {
        Self { frames: u64::MAX, whole_files: true, reshuffle: false, drops_partial: false }
    }
}

/// The epochs, if each rank cuts its own minibatches. An epoch is a part of the run; a minibatch
/// ends at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Epoch {
    /// The whole run is one epoch.
    #[default]
    Run,
    /// Each sweep is an epoch.
    Sweep,
    /// An epoch has this many samples, over all ranks.
    Samples(u64),
}

/// Minibatches for truncated backpropagation through time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// T: the samples of each row in a minibatch. There are as many rows as fit into the batch
    /// size.
    pub length: u64,
    /// The number of samples at the end of a row that come again at the beginning of the next row,
    /// if one sequence fills the row. This is for models that look ahead.
    pub right_splice: u64,
}

//! What a feed is asked to do.

mod combinations;

use seqfeed_core::Tolerance;
use serde::{Deserialize, Serialize};

use crate::labels::LabelRules;

/// What is shuffled and dealt out: single frames or whole sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// One sample at a time, each with its context.
    Frame,
    /// Whole sequences.
    Sequence,
}

/// In which order the units of a sweep come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As they lie in the corpus.
    Sequential,
    /// Shuffled anew in each sweep, inside a window.
    Shuffle(Window),
    /// Frames in the order of the corpus, each swapped with another one no farther than half so
    /// many frames: CNTK's `readMethod = rollingWindow`. With [`Unit::Frame`] and [`Cut::Worker`].
    Rolling(u64),
}

/// What random numbers a shuffle draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generator {
    /// C++'s `mt19937_64`, as CNTK's newer readers.
    #[default]
    MersenneTwister,
    /// The C library's `rand`, as CNTK's `HTKMLFReader` if it is not told otherwise.
    Rand,
}

/// How far a shuffle reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// So many chunks, as CNTK's `randomizationWindow` with
    /// `sampleBasedRandomizationWindow = false`.
    Chunks(u64),
    /// So many samples, as CNTK's with `sampleBasedRandomizationWindow = true`.
    Samples(u64),
    /// The whole corpus: one permutation of all units. A state is restored at once, and the
    /// permutation takes no memory; the data must be mapped or fit in memory.
    Corpus,
}

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

/// How the samples of a minibatch lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// N × dim: one row a frame. The layout of [`Unit::Frame`].
    Frames,
    /// B × T × dim: sequences padded at their ends to the longest one.
    Padded,
    /// N × dim: the samples of the sequences one after another, with offsets.
    Concatenated,
    /// S × T × dim: sequences side by side in S rows as long as the longest one, each in the first
    /// row that has room for it, as CNTK packs them; each stream by its own lengths.
    Packed,
    /// S × T × dim: S sequences side by side, of which each minibatch has the next T samples; for
    /// truncated backpropagation through time. Set by [`Settings::truncated`].
    Truncated,
}

/// Minibatches for truncated backpropagation through time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Truncation {
    /// T: samples of each row in a minibatch. There are as many rows as fit into the batch size.
    pub length: u64,
    /// So many samples at the end of a row that one sequence fills come again at the beginning of
    /// the next, for models that look ahead.
    #[serde(default)]
    pub right_splice: u64,
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

/// Who cuts the order of a sweep into minibatches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The global order is cut, and minibatches are dealt to the ranks: a *step* is one for each.
    /// All ranks stand at the same place, and a state fits any number of them.
    Steps,
    /// Each rank cuts its own, as CNTK's workers do: it goes through the order, passes over the
    /// units that are not its own (those of other chunks; in sequential order, all but every n-th)
    /// and takes those that are, until its share of the minibatch is full. Ranks stand at different
    /// places, so that a state belongs to one rank. Takes a batch size in samples.
    Worker {
        /// Whether only the rank's own samples count (CNTK's `localTimeline`): its share of the
        /// minibatch is the size divided by the number of ranks. Otherwise the size is that of all
        /// ranks' samples together, as in CNTK's readers that stand alone.
        local_timeline: bool,
        /// Whether a minibatch goes on in the next sweep where one ends (as with CNTK's Python
        /// package) or is cut short there (as with its program).
        cross_sweeps: bool,
    },
    /// Each rank has an order of its own, as with CNTK's local-timeline randomizers, and cuts it
    /// into minibatches of its share of the size, over the ends of sweeps. It reads only its own
    /// chunks, and none of its minibatches is empty. In [`Order::Sequential`] every n-th unit of a
    /// sweep is its own; in [`Order::Shuffle`] every n-th chunk of the sweep's order is, and the
    /// window *tumbles*: as many of the rank's own chunks as it holds are shuffled together, then
    /// the next ones. A window in samples is full with the chunk that reaches them. A state belongs
    /// to one rank of so many. Takes a batch size in samples.
    Timeline,
    /// The frames of each file are cut into partitions of so many, and those into minibatches, as
    /// PDNN does: no minibatch goes over the end of a partition, and no partition over that of a
    /// file ([`Source::files`](seqfeed_core::Source::files)). With [`Partial::Drop`] what does not
    /// fill a minibatch is dropped at the end of *each partition*.
    ///
    /// Minibatches are dealt to the ranks as with [`Cut::Steps`]. [`Order::Shuffle`] shuffles each
    /// partition or file as numpy's `RandomState(seed).shuffle` does, and has no window. What is
    /// shuffled together is in memory together. Needs [`Unit::Frame`].
    Partitions {
        /// Frames in a partition, 1 at least; those that labels exclude don't count.
        frames: u64,
        /// Whether a shuffle reaches over a whole file, which is kept in memory, and not over one
        /// partition only.
        whole_files: bool,
        /// Whether each sweep has an order of its own (sweep `s` is shuffled with `seed + s`).
        /// Otherwise all have the same one, as with PDNN.
        reshuffle: bool,
    },
}

/// What an epoch is, where each rank cuts its own minibatches: a part of the run at whose end a
/// minibatch ends. With [`Cut::Worker`] the next one begins at its nominal place, with
/// [`Cut::Timeline`] where this one ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Epoch {
    /// The whole run is one epoch.
    Run,
    /// Each sweep is.
    Sweep,
    /// So many samples, over all ranks.
    Samples(u64),
}

/// Left and right context of the frames of one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// Name of the stream.
    pub stream: String,
    /// Frames to the left.
    pub left: usize,
    /// Frames to the right.
    pub right: usize,
}

/// All settings of a feed.
///
/// The minibatches depend on the corpus and on these settings, but not on `threads` and `queue`.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// What is shuffled and dealt out.
    pub unit: Unit,
    /// In which order.
    pub order: Order,
    /// Seed of the shuffle; sweep `s` is shuffled with `seed + s`.
    pub seed: u64,
    /// What random numbers [`Order::Shuffle`] draws; those of [`Order::Rolling`] are `rand`'s.
    pub generator: Generator,
    /// Size of a minibatch of one rank.
    pub batch: BatchSize,
    /// Group sequences of like length: out of a pool of so many sequences of the shuffled order,
    /// minibatches are cut by length and come in random order.
    pub bucket: Option<usize>,
    /// How samples lie in a minibatch.
    pub layout: Layout,
    /// Context of frames, by stream.
    pub context: Vec<Context>,
    /// What is done to the labels of a stream: frames of some are left out, others are changed.
    /// Frames are left out after context is taken, so that they are still the context of others.
    pub labels: Option<LabelRules>,
    /// What stands where a label is padded (PyTorch's losses ignore -100).
    pub label_padding: i32,
    /// The end of a sweep.
    pub partial: Partial,
    /// This rank, from 0.
    pub rank: usize,
    /// Number of ranks.
    pub ranks: usize,
    /// How ranks divide the corpus.
    pub shard: Shard,
    /// Who cuts minibatches.
    pub cut: Cut,
    /// What an epoch is, with [`Cut::Worker`] or [`Cut::Timeline`].
    pub epoch: Epoch,
    /// Begin at the first unit that starts no earlier than so many samples from the very start
    /// (CNTK's `minibatchSourcePosition`), with [`Cut::Worker`].
    pub start: u64,
    /// Cut sequences into pieces for truncated backpropagation through time, with [`Cut::Worker`]
    /// or [`Cut::Timeline`].
    pub truncated: Option<Truncation>,
    /// With [`Cut::Worker`], the epochs of CNTK's `HTKMLFReader`: a minibatch is never larger than
    /// what is left of its epoch, so that a sequence that reaches beyond stays apart; and at the
    /// start of an epoch each row of truncated sequences gets one sequence, before they are filled.
    pub htkmlf_epochs: bool,
    /// End after so many sweeps, counted from the very start.
    pub sweeps: Option<u64>,
    /// End after so many samples over all ranks, counted from the very start.
    pub samples: Option<u64>,
    /// Threads that pack minibatches (and as many that load chunks).
    pub threads: usize,
    /// Minibatches kept ready.
    pub queue: usize,
    /// Most memory in bytes that a feed may take: chunks, minibatches with all padding that can
    /// come, what sources keep; where more may be needed, a feed does not start.
    pub memory: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            unit: Unit::Frame,
            order: Order::Shuffle(Window::Chunks(32)),
            seed: 0,
            generator: Generator::default(),
            batch: BatchSize::Samples(256),
            bucket: None,
            layout: Layout::Frames,
            context: Vec::new(),
            labels: None,
            label_padding: -100,
            partial: Partial::Keep,
            rank: 0,
            ranks: 1,
            shard: Shard::Minibatches,
            cut: Cut::Steps,
            epoch: Epoch::Run,
            start: 0,
            truncated: None,
            htkmlf_epochs: false,
            sweeps: None,
            samples: None,
            threads: std::thread::available_parallelism().map_or(2, |n| n.get().min(8)),
            queue: 4,
            memory: None,
        }
    }
}

/// Reads a tolerance as written in settings: `stop`, `skip`, or the most that are skipped.
#[must_use]
pub fn tolerance(text: &str) -> Option<Tolerance> {
    match text {
        "stop" => Some(Tolerance::Stop),
        "skip" => Some(Tolerance::Skip),
        number => number.parse().ok().map(Tolerance::SkipUpTo),
    }
}

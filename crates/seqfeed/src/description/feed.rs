//! The settings of a feed.

use std::path::PathBuf;

use seqfeed_feed::{Generator, Layout, Partial, Shard, Unit};

use super::option::options;
use super::values::{BatchUnit, Buckets, OrderName, PresetName, Text};

options! {
    /// The settings of a feed: the sections `[feed]`, `[ranks]`, `[cntk]` and `[pdnn]` of a
    /// `corpus.toml`, and its `preset`.
    pub struct FeedSpec {
        /// The system whose minibatches a feed gives. `none`: the global order is cut, and
        /// minibatches are dealt to the ranks. `cntk`: each rank cuts its own, as CNTK's workers
        /// do. `cntk-timeline`: each rank has an order of its own, as with CNTK's local-timeline
        /// randomizers. `pdnn`: files are cut into partitions, and these into minibatches.
        [""] "preset" "PRESET" preset: PresetName
            = "none; cntk with readers of CNTK; pdnn with data specifications", Feed;

        /// The unit that is shuffled and dealt out: single frames or whole sequences.
        ["feed"] "unit" "UNIT" unit: Unit = "frame", Feed;

        /// The order in a sweep: shuffled anew in each with CNTK's moving window, shuffled in
        /// blocks as wide as the window (any place is found at once), as the samples lie, or
        /// CNTK's rolling window (frames, each swapped with another one in the window).
        ["feed"] "order" "ORDER" order: OrderName
            = "blocks; shuffle with the presets of CNTK and PDNN, the window `corpus`, or a generator",
            Feed;

        /// How far the shuffle reaches: `32 chunks`, `200000 samples`, or `corpus`.
        ["feed"] "window" "WINDOW" window: Text = "32 chunks", Feed;

        /// The seed of the shuffle, and of random transforms: sweep `s` is shuffled with seed `s`
        /// more.
        ["feed"] "seed" "SEED" seed: u64 = "0; 18877 with preset pdnn", Feed;

        /// The size of a minibatch of one rank. With preset cntk or cntk-timeline: of all ranks.
        ["feed"] "batch-size" "N" batch_size: u64 = "256", Feed;

        /// What the size counts: samples, sequences, or samples with padding.
        ["feed"] "batch-unit" "UNIT" batch_unit: BatchUnit = "samples", Feed;

        /// Group sequences of like length out of pools of N sequences.
        ["feed"] "bucket" "N" bucket: usize, Feed;

        /// Divide the sequences of the whole corpus into N bins by length, or at the lengths of a
        /// list: `200,400` makes bins of up to 200, up to 400 and more samples. The minibatches of
        /// all ranks in a step come from one bin. Needs the window `corpus`.
        ["feed"] "buckets" "N" buckets: Buckets, Feed;

        /// Fill minibatches with whole sequences of at most N samples together, by first fit. Takes
        /// the place of `batch-size`. The layout is `concatenated`.
        ["feed"] "pack" "N" pack: u64, Feed;

        /// The most sequences of a minibatch, beside its size.
        ["feed"] "max-sequences" "N" max_sequences: u64, Feed;

        /// The most samples of a minibatch with padding, beside its size.
        ["feed"] "max-padded" "N" max_padded: u64, Feed;

        /// The most samples of a minibatch in the stream that `tokens-of` names, such as words,
        /// beside its size.
        ["feed"] "max-tokens" "N" max_tokens: u64, Feed;

        /// The stream whose samples `max-tokens` counts.
        ["feed"] "tokens-of" "STREAM" tokens_of: String, Feed;

        /// Count long sequences for more: a sequence of n samples counts n + n²/Q for the size.
        ["feed"] "quadratic" "Q" quadratic: u64, Feed;

        /// How sequences lie in a minibatch: padded (B x T x dim), concatenated (N x dim with
        /// offsets), or packed side by side in rows (S x T x dim), as CNTK does. Frames and
        /// truncated sequences have a layout of their own.
        ["feed"] "layout" "LAYOUT" layout: Layout
            = "padded; packed with readers of CNTK; concatenated with pack", Feed;

        /// The padding of labels.
        ["feed"] "label-padding" "LABEL" label_padding: i32 = "-100", Feed;

        /// The padding of dense values.
        ["feed"] "feature-padding" "VALUE" feature_padding: f32 = "0", Feed;

        /// The end of a sweep, where minibatches are not full: keep them, drop them, or spread the
        /// rest evenly over ranks.
        ["feed"] "partial" "WHAT" partial: Partial = "keep; even with pack", Feed;

        /// End after so many sweeps, counted from the very start.
        ["feed"] "sweeps" "N" sweeps: u64, Feed;

        /// End after so many samples over all ranks, counted from the very start.
        ["feed"] "samples" "N" samples: u64, Feed;

        /// Threads that pack minibatches, and as many that load chunks.
        ["feed"] "threads" "N" threads: usize = "one a core, at most 8", Feed;

        /// Minibatches that are kept ready.
        ["feed"] "queue" "N" queue: usize = "4", Feed;

        /// The most memory for chunks, for minibatches with all padding that can come, and for the
        /// data that files keep, such as `2 GB`. A feed that may need more does not start.
        ["feed"] "memory" "BYTES" memory: Text, Feed;

        /// The file that keeps the state after each minibatch. If it is there, the run goes on
        /// from it.
        ["feed"] "state" "FILE" state: PathBuf, Feed;

        /// This rank, from 0.
        ["ranks"] "rank" "R" rank: usize = "0", Feed;

        /// The number of ranks.
        ["ranks"] "ranks" "N" ranks: usize = "1", Feed;

        /// How ranks divide the corpus with preset none: by minibatches, by chunks, or by groups of
        /// chunks.
        ["ranks"] "shard" "BY" shard: Shard = "minibatches", Feed;

        /// The number of groups with shard groups: a multiple of any number of ranks that the run
        /// may have. Each group has a window of its own.
        ["ranks"] "groups" "N" groups: usize = "64", Feed;

        /// Whether only the rank's own samples count for the batch size, of which it has its
        /// share.
        ["cntk"] "local-timeline" "BOOL" local_timeline: bool
            = "true; as the reader says with readers of CNTK", Feed;

        /// Whether minibatches go on over the ends of sweeps.
        ["cntk"] "cross-sweeps" "BOOL" cross_sweeps: bool
            = "true; false with configurations of CNTK's program", Feed;

        /// Where a minibatch must end: at the end of the run, of each sweep, or of each N samples.
        ["cntk"] "epoch" "run|sweep|N" epoch: Text = "run", Feed;

        /// Begin so many samples from the very start (CNTK's `minibatchSourcePosition`).
        ["cntk"] "start" "N" start: u64 = "0", Feed;

        /// Truncate sequences to N samples a minibatch, side by side in rows, for truncated
        /// backpropagation through time.
        ["cntk"] "truncation" "N" truncation: u64, Feed;

        /// Where sequences are truncated: samples at the end of a row that come again at the
        /// beginning of the next one, for models that look ahead (CNTK's `rightSplice`).
        ["cntk"] "right-splice" "N" right_splice: u64 = "0", Feed;

        /// The random numbers of the shuffle: those of C++'s `mt19937_64`, or of C's `rand`.
        ["cntk"] "generator" "GENERATOR" generator: Generator = "mt19937-64", Feed;

        /// Whether epochs are those of CNTK's `HTKMLFReader`: no minibatch is larger than what is
        /// left of its epoch, and at the start of an epoch each row gets one sequence.
        ["cntk"] "htkmlf-epochs" "BOOL" htkmlf_epochs: bool = "false", Feed;

        /// The size of a partition: so many megabytes of features, context counted (`600m`), or
        /// `4096 frames`.
        ["pdnn"] "partition" "SIZE" partition: Text = "600m", Feed;

        /// Shuffle, and keep in memory, one partition and not a whole file.
        ["pdnn"] "stream" "BOOL" stream: bool = "false; true with Kaldi's files", Feed;

        /// Whether each sweep has an order of its own.
        ["pdnn"] "reshuffle" "BOOL" reshuffle: bool = "false", Feed;
    }
}

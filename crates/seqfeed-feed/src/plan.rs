//! Plans the units of the next minibatch, and gives the state between two minibatches.

use std::collections::HashSet;
use std::sync::Arc;

use seqfeed_core::{Error, Index, Result};

use crate::budget;
use crate::cut::Lengths;
use crate::dealt::Dealt;
use crate::groups::Groups;
use crate::order::{Cursor, Mixed};
use crate::preset::{TimelineStages, WorkerStages, partitions};
use crate::random;
use crate::refused::changed_by_hand;
use crate::settings::{
    BatchSize, Cut, Epoch, Generator, Limits, Order, Partitions, Settings, Shard, Unit, Window,
};
use crate::stages::{Needs, Planned, Position, Stages};
use crate::state::State;
use crate::swept_chunk::SweptChunk;
use crate::tokens::Tokens;

/// The units of one minibatch of this rank.
pub(crate) struct Plan {
    /// Number of the minibatch since the very start.
    pub(crate) index: u64,
    pub(crate) units: Planned,
    /// The state after it.
    pub(crate) after: State,
}

/// Plans minibatches, and gives the state between them.
pub(crate) struct Planner {
    stages: Box<dyn Stages>,
    /// The digest of the corpus and the order; a state belongs to it.
    corpus: String,
    /// Whether a chunk has other values in each sweep.
    varies: bool,
    minibatch: u64,
}

impl Planner {
    /// Plans for an index of the samples that are dealt out, and the first sequence of each file.
    /// `tokens` are what a limit of them counts; `varies` says that values change from sweep to
    /// sweep.
    pub(crate) fn new(
        index: &Arc<Index>,
        files: &[u32],
        settings: &Settings,
        tokens: Option<Arc<Tokens>>,
        varies: bool,
    ) -> Result<Self> {
        let of_tokens = tokens.as_ref().map(|tokens| tokens.digest());
        if index.total_samples() == 0 {
            return Err(Error::corpus("the corpus holds no samples"));
        }
        if index.has_masked() && !matches!(settings.cut, Cut::Worker(_)) {
            return Err(Error::usage(
                "wrong sequences keep their places only where each rank cuts its own minibatches",
            )
            .with_help("use preset = \"cntk\", or mend the data"));
        }
        let stages: Box<dyn Stages> = match settings.cut {
            Cut::Steps(steps) if steps.shard == Shard::Groups => {
                Box::new(Groups::new(index, settings, steps, tokens))
            }
            Cut::Steps(steps) => {
                if steps.pack {
                    budget::check(index, settings.batch, steps.limits)?;
                }
                let order = match &settings.mixture {
                    Some(mixture) => Cursor::Mixed(Box::new(Mixed::new(index, settings, mixture)?)),
                    None => Cursor::of_all(Arc::clone(index), settings),
                };
                Box::new(Dealt::new(index, order, settings, steps, tokens))
            }
            Cut::Worker(worker) => Box::new(WorkerStages::new(index, settings, worker)?),
            Cut::Timeline(timeline) => Box::new(TimelineStages::new(index, settings, timeline)?),
            Cut::Partitions(how) => Box::new(partitions(index, files, settings, how)?),
        };
        let mut corpus = stages.digest(digest(index, settings));
        if let Some(of_tokens) = of_tokens {
            corpus = random::mix(corpus ^ of_tokens);
        }
        if varies {
            corpus = random::mix(corpus ^ settings.transform_seed).wrapping_add(1);
        }
        Ok(Self { stages, corpus: format!("{corpus:016x}"), varies, minibatch: 0 })
    }

    /// Goes on from a state. `index` has the samples that are dealt out.
    pub(crate) fn restore(&mut self, state: &State, index: &Index) -> Result<()> {
        if state.corpus != self.corpus {
            return Err(Error::usage(format!(
                "the state belongs to another corpus or order (its digest is {}, here it is {})",
                state.corpus, self.corpus
            ))
            .with_help(
                "use the corpus, seed, unit, order and window that it was saved with (and the rank, \
                 where each cuts its own minibatches), or remove the state to start from the \
                 beginning",
            ));
        }
        if state.minibatch >= u64::MAX / 2 {
            let minibatch = state.minibatch;
            return Err(changed_by_hand(&format!("the state names {minibatch} minibatches")));
        }
        if state.rows.last_sweep() > state.order.sweep {
            return Err(changed_by_hand("the state names sequences of a sweep that is to come"));
        }
        self.stages.restore(state, index)?;
        self.minibatch = state.minibatch;
        // A state may name stages that this composition does not have; then it is refused. The
        // position itself may differ: with another batch size, the end of a partition is dropped
        // earlier.
        let here = self.state();
        let rows = |state: &State| state.rows.slots.len();
        let fits = (here.share, here.pool, here.deal) == (state.share, state.pool, state.deal)
            && rows(&here) == rows(state);
        match fits {
            true => Ok(()),
            false => Err(changed_by_hand(
                "the state says what a feed of these settings has no place for",
            )),
        }
    }

    /// Rows and columns of minibatches of truncated sequences.
    pub(crate) fn rows(&self) -> Option<(usize, usize)> {
        self.stages.rows()
    }

    /// The most that the stages hold and give, for the sequences of a source.
    pub(crate) fn needs(&self, index: &Index, unit: Unit) -> Needs {
        self.stages.needs(index, &Lengths::of(index, unit))
    }

    /// The chunks that this rank's next minibatches come from, each once.
    pub(crate) fn window(&self) -> Vec<SweptChunk> {
        let mut chunks = self.stages.window();
        chunks.iter_mut().for_each(|chunk| *chunk = self.resident(*chunk));
        let mut seen = HashSet::with_capacity(chunks.len());
        chunks.retain(|&chunk| seen.insert(chunk));
        chunks
    }

    /// The chunk that must be in memory. If values do not change, it is the same in all sweeps.
    pub(crate) fn resident(&self, chunk: SweptChunk) -> SweptChunk {
        let sweep = if self.varies { chunk.sweep } else { 0 };
        SweptChunk { sweep, ..chunk }
    }

    /// A value that changes when [`window`](Planner::window) may have changed.
    pub(crate) fn position(&self) -> Position {
        self.stages.position()
    }

    /// The state before the next minibatch.
    pub(crate) fn state(&self) -> State {
        let mut state = State::new(self.corpus.clone(), self.minibatch);
        self.stages.save(&mut state);
        state
    }

    /// The next minibatch of this rank, or `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Plan> {
        let units = self.stages.next()?;
        let index = self.minibatch;
        self.minibatch += 1;
        Some(Plan { index, units, after: self.state() })
    }
}

/// A digest of the corpus and of all settings that decide the order of its units. A state belongs
/// to it.
fn digest(index: &Index, settings: &Settings) -> u64 {
    let window = settings.order.shuffled().map(|(window, _)| window);
    let order = match (settings.order, window) {
        (Order::Rolling(frames), _) => [4, frames],
        (Order::Blocks(_), Some(Window::Chunks(chunks))) => [5, chunks],
        (Order::Blocks(_), Some(Window::Samples(samples))) => [6, samples],
        (_, None) => [0, 0],
        (_, Some(Window::Chunks(chunks))) => [1, chunks],
        (_, Some(Window::Samples(samples))) => [2, samples],
        (_, Some(Window::Corpus)) => [3, 0],
    };
    let labels = settings.labels.iter().flat_map(|rules| rules.ignore.ranges());
    let labels = labels.flat_map(|&(low, high)| [2, u64::from(low as u32), u64::from(high as u32)]);
    let (rank, ranks) = (settings.rank as u64, settings.ranks as u64);
    let mut bucket = 0;
    // A rank with an order or a position of its own has a state that belongs to it alone.
    let own = match settings.cut {
        Cut::Timeline(_) => vec![1, rank, ranks],
        // Units are dealt anew at the end of an epoch. Ranks before and behind such an end must
        // agree on it.
        Cut::Worker(worker) => {
            let epoch = match worker.epoch {
                Epoch::Run => [0, 0],
                Epoch::Sweep => [1, 0],
                Epoch::Samples(samples) => [2, samples],
            };
            vec![4, rank, ranks, epoch[0], epoch[1], worker.start]
        }
        Cut::Partitions(Partitions { frames, whole_files, reshuffle, .. }) => {
            vec![3, frames, u64::from(whole_files), u64::from(reshuffle)]
        }
        Cut::Steps(steps) => {
            bucket = steps.bucket.map_or(0, |bucket| bucket as u64 + 1);
            let Limits { sequences, padded, tokens, quadratic } = steps.limits;
            let buckets = steps.buckets.map(|buckets| buckets as u64);
            let all = [buckets, sequences, padded, tokens, quadratic];
            let mut own = match all.iter().any(Option::is_some) {
                true => all.map(|one| one.unwrap_or(0)).to_vec(),
                false => Vec::new(),
            };
            if steps.pack {
                own.extend([5, settings.batch.number()]);
            }
            if !settings.bucket_edges.is_empty() {
                own.push(6);
                own.extend(settings.bucket_edges.iter().map(|&edge| u64::from(edge)));
            }
            // The position is a number of minibatches.
            if steps.shard == Shard::Groups {
                let unit = match settings.batch {
                    BatchSize::Samples(_) => 0,
                    BatchSize::Units(_) => 1,
                    BatchSize::Padded(_) => 2,
                };
                own.extend([7, steps.groups as u64, unit, settings.batch.number()]);
            }
            own
        }
    };
    let parts = [order[0], order[1], settings.order.seed(), settings.unit as u64, bucket];
    let rand = settings.order.generator().filter(|one| *one == Generator::Rand).map(|_| 2);
    parts
        .into_iter()
        .chain(own)
        .chain(rand)
        .chain(labels)
        .fold(index.digest(), |hash, part| random::mix(hash ^ part).wrapping_add(part))
}

//! Minibatches that each rank cuts for itself equal those of CNTK's workers.

use std::sync::Arc;

use seqfeed_core::Source;
use seqfeed_feed::{BatchSize, Cut, Epoch, Feed, Order, Settings, State, Unit, Window, Worker};
use serde::Deserialize;

use crate::memory_corpus::MemoryCorpus;

#[derive(Deserialize)]
struct Case {
    frames: bool,
    lengths: Vec<u32>,
    chunk: u64,
    order: String,
    window: u64,
    seed: u64,
    batch: u64,
    rank: usize,
    ranks: usize,
    local: bool,
    cross: bool,
    epoch: EpochName,
    epochs: u64,
    sweeps: u64,
    start: u64,
    /// Units, whether the sweep ends, the position afterwards.
    minibatches: Vec<(Vec<u64>, bool, u64)>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum EpochName {
    Samples(u64),
    Word(String),
}

impl Case {
    fn cut(&self, epoch: Epoch, start: u64) -> Cut {
        let (local_timeline, cross_sweeps) = (self.local, self.cross);
        Cut::Worker(Worker { local_timeline, cross_sweeps, epoch, start, ..Worker::default() })
    }

    fn settings(&self) -> Settings {
        let (epoch, sweeps, samples) = match &self.epoch {
            EpochName::Samples(samples) => {
                (Epoch::Samples(*samples), None, Some(samples * self.epochs))
            }
            EpochName::Word(word) if word == "sweep" => (Epoch::Sweep, Some(self.epochs), None),
            EpochName::Word(_) => (Epoch::Run, Some(self.sweeps), None),
        };
        Settings {
            unit: if self.frames { Unit::Frame } else { Unit::Sequence },
            order: match self.order.as_str() {
                "sequential" => Order::Sequential,
                "chunks" => Order::shuffle(Window::Chunks(self.window), self.seed),
                _ => Order::shuffle(Window::Samples(self.window), self.seed),
            },
            batch: BatchSize::Samples(self.batch),
            rank: self.rank,
            ranks: self.ranks,
            cut: self.cut(epoch, self.start),
            sweeps,
            samples,
            ..Settings::default()
        }
    }

    fn run(&self, corpus: &Arc<dyn Source>, state: Option<&State>) -> Vec<(Vec<u64>, bool, State)> {
        let feed = Feed::new(Arc::clone(corpus), self.settings(), state).unwrap();
        feed.map(|minibatch| {
            let minibatch = minibatch.unwrap();
            let units = minibatch.segments().iter().map(|segment| match self.frames {
                true => corpus.index().start(segment.sequence) + u64::from(segment.first),
                false => u64::from(segment.sequence),
            });
            (units.collect(), minibatch.end_of_sweep(), minibatch.state().clone())
        })
        .collect()
    }
}

fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("../data/cntk_workers.json")).unwrap()
}

#[test]
fn minibatches_equal_those_of_cntk_s_workers() {
    let cases = cases();
    assert_eq!(cases.len(), 120);
    for (number, case) in cases.iter().enumerate() {
        let corpus: Arc<dyn Source> = Arc::new(MemoryCorpus::new(&case.lengths, case.chunk));
        let found = case.run(&corpus, None);
        let found: Vec<(Vec<u64>, bool)> =
            found.into_iter().map(|(units, end, _)| (units, end)).collect();
        let expected: Vec<(Vec<u64>, bool)> =
            case.minibatches.iter().map(|(units, end, _)| (units.clone(), *end)).collect();
        assert_eq!(found, expected, "case {number}");
    }
}

#[test]
fn a_worker_goes_on_exactly_where_it_was_stopped() {
    for (number, case) in cases().iter().enumerate() {
        let corpus: Arc<dyn Source> = Arc::new(MemoryCorpus::new(&case.lengths, case.chunk));
        let all = case.run(&corpus, None);
        for (after, (.., state)) in all.iter().enumerate().step_by(3) {
            let state = State::from_json(&state.to_json()).unwrap();
            let rest = case.run(&corpus, Some(&state));
            assert_eq!(rest, all[after + 1..], "case {number} after minibatch {after}");
        }
    }
}

#[test]
fn the_workers_of_a_sweep_together_take_each_unit_once() {
    for (number, case) in cases().iter().enumerate() {
        let corpus: Arc<dyn Source> = Arc::new(MemoryCorpus::new(&case.lengths, case.chunk));
        let mut seen = Vec::new();
        for rank in 0..case.ranks {
            let settings = Settings {
                rank,
                cut: case.cut(Epoch::Run, 0),
                sweeps: Some(1),
                samples: None,
                unit: Unit::Sequence,
                ..case.settings()
            };
            for minibatch in Feed::new(Arc::clone(&corpus), settings, None).unwrap() {
                seen.extend(minibatch.unwrap().segments().iter().map(|segment| segment.sequence));
            }
        }
        seen.sort_unstable();
        let all: Vec<u32> = (0..case.lengths.len() as u32).collect();
        assert_eq!(seen, all, "case {number}");
    }
}

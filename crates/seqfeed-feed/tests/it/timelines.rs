//! Orders of each rank's own equal CNTK's local-timeline randomizers, also after any minibatch.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use seqfeed_core::Source;
use seqfeed_feed::{
    BatchSize, Cut, Epoch, Feed, Layout, Minibatch, Order, OrderState, PartState, Settings,
    Shuffle, State, Timeline, Truncation, Unit, Window, Worker,
};
use serde::Deserialize;

use crate::memory_corpus::MemoryCorpus;
use crate::runs::{all_samples, corpus, run, samples};

/// Lengths of the sequences of each chunk, and settings.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Job {
    chunks: Vec<Vec<u32>>,
    #[serde(default)]
    window: u64,
    #[serde(default)]
    window_in_samples: bool,
    #[serde(default = "yes")]
    randomize: bool,
    #[serde(default)]
    seed: u64,
    workers: usize,
    #[serde(default)]
    rank: usize,
    /// Samples of this worker in a minibatch.
    mb: u64,
    samples: Option<u64>,
    sweeps: Option<u64>,
    /// For each rank: whether a sweep ended, and the sequences by number.
    #[serde(default)]
    minibatches: Vec<Vec<(bool, Vec<u32>)>>,
}

/// A recording of CNTK.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Golden {
    job: Job,
    out: Vec<Call>,
    model_agrees: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Call {
    sweep_end: bool,
    seqs: Vec<(usize, u32)>,
}

fn yes() -> bool {
    true
}

impl Job {
    fn settings(&self, rank: usize) -> Settings {
        let order = match (self.randomize, self.window_in_samples) {
            (false, _) => Order::Sequential,
            (true, true) => Order::shuffle(Window::Samples(self.window), self.seed),
            (true, false) => Order::shuffle(Window::Chunks(self.window), self.seed),
        };
        Settings {
            unit: Unit::Sequence,
            order,
            layout: Layout::Concatenated,
            batch: BatchSize::Samples(self.mb * self.workers as u64),
            cut: Cut::Timeline(Timeline::default()),
            rank,
            ranks: self.workers,
            sweeps: self.sweeps,
            samples: self.samples,
            ..Settings::default()
        }
    }

    /// Feeds it, from the start and after each minibatch.
    fn check(&self, rank: usize, expected: &[(bool, Vec<u32>)], what: &str) {
        let corpus: Arc<dyn Source> = Arc::new(MemoryCorpus::of_chunks(&self.chunks));
        let feed = |state: Option<&State>| {
            Feed::new(Arc::clone(&corpus), self.settings(rank), state).unwrap()
        };
        let mut states = Vec::new();
        let mut whole = feed(None);
        let mut found = Vec::new();
        while let Some(minibatch) = whole.next() {
            found.push(sequences(&minibatch.unwrap()));
            states.push(whole.state().to_json());
        }
        assert_eq!(found, expected, "{what}, rank {rank}");
        for (taken, state) in states.iter().enumerate() {
            let state = State::from_json(state).unwrap();
            let rest: Vec<_> = feed(Some(&state)).map(|m| sequences(&m.unwrap())).collect();
            assert_eq!(rest, expected[taken + 1..], "{what}, rank {rank}, after {taken}");
        }
    }
}

fn sequences(minibatch: &Minibatch) -> (bool, Vec<u32>) {
    let features = minibatch.dense("features").unwrap();
    let segments = minibatch.segments().iter().map(|segment| segment.sequence);
    let sequences: Vec<u32> = segments.collect();
    assert_eq!(features[0], sequences[0] as f32);
    (minibatch.end_of_sweep(), sequences)
}

#[test]
fn minibatches_equal_cntk() {
    let root = std::env::var_os("SEQFEED_SHARED").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let path = root.join("golden/cntk/lt/lt.json");
    if !path.exists() {
        eprintln!("SKIPPED: {} is missing; set SEQFEED_SHARED", path.display());
        return;
    }
    let golden: Vec<Golden> =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut jobs = 0;
    for (number, Golden { job, out, .. }) in
        golden.iter().enumerate().filter(|(_, golden)| golden.model_agrees)
    {
        let first: Vec<usize> = (0..job.chunks.len())
            .map(|chunk| job.chunks[..chunk].iter().map(Vec::len).sum())
            .collect();
        // An empty minibatch at the end is not delivered here.
        let calls = out.iter().filter(|call| !call.seqs.is_empty());
        let expected: Vec<_> = calls
            .map(|call| {
                let number = |&(chunk, number): &(usize, u32)| first[chunk] as u32 + number;
                (call.sweep_end, call.seqs.iter().map(number).collect())
            })
            .collect();
        job.check(job.rank, &expected, &format!("recording {number}"));
        jobs += 1;
    }
    assert_eq!(jobs, 12);
}

#[test]
fn minibatches_equal_the_model_of_cntk_for_all_workers() {
    let jobs: Vec<Job> = serde_json::from_str(include_str!("../data/cntk_timelines.json")).unwrap();
    assert_eq!(jobs.len(), 60);
    for (number, job) in jobs.iter().enumerate() {
        for (rank, expected) in job.minibatches.iter().enumerate() {
            job.check(rank, expected, &format!("job {number}"));
        }
    }
}

fn of(epoch: Epoch, truncated: Option<Truncation>) -> Cut {
    Cut::Timeline(Timeline { epoch, truncated })
}

fn settings(unit: Unit, order: Order) -> Settings {
    Settings {
        unit,
        order,
        layout: Layout::Concatenated,
        batch: BatchSize::Samples(60),
        cut: Cut::Timeline(Timeline::default()),
        ..Settings::default()
    }
}

fn orders() -> [Order; 4] {
    let windows = [Window::Chunks(2), Window::Samples(90), Window::Corpus];
    let [a, b, c] = windows.map(|window| Order::shuffle(window, 3));
    [a, b, c, Order::Sequential]
}

#[test]
fn each_sample_reaches_one_rank_which_reads_only_its_own_chunks() {
    let total: u64 = corpus().index().total_samples();
    for order in orders() {
        for unit in [Unit::Frame, Unit::Sequence] {
            let (mut seen, mut loaded) = (Vec::new(), 0);
            for rank in 0..3 {
                let corpus = corpus();
                let settings = settings(unit, order);
                let settings = Settings { rank, ranks: 3, sweeps: Some(1), ..settings };
                seen.extend(run(&corpus, &settings, None).concat());
                loaded += corpus.loaded.load(Ordering::Relaxed);
            }
            seen.sort_unstable();
            assert_eq!(seen, all_samples(&corpus()), "{order:?} {unit:?}");
            // What the next sweep begins with may be loaded ahead.
            if let Order::Shuffle(Shuffle { window: Window::Chunks(_), .. }) = order {
                assert!(loaded <= 2 * total, "{order:?} {unit:?}: {loaded} of {total}");
            }
        }
    }
}

/// Runs over epochs: samples of all minibatches, and the same from each state on.
fn run_and_resume(settings: &Settings) -> Vec<Vec<i32>> {
    let corpus = corpus();
    let source: Arc<dyn Source> = Arc::clone(&corpus) as _;
    let mut feed = Feed::new(source, settings.clone(), None).unwrap();
    let (mut found, mut states) = (Vec::new(), Vec::new());
    while let Some(minibatch) = feed.next() {
        found.push(samples(&minibatch.unwrap()));
        states.push(feed.state().to_json());
    }
    for (taken, state) in states.iter().enumerate() {
        let state = State::from_json(state).unwrap();
        let rest = run(&corpus, settings, Some(&state));
        assert_eq!(rest, found[taken + 1..], "{settings:?} after {taken}");
    }
    found
}

#[test]
fn epochs_end_minibatches_and_truncated_rows() {
    for order in orders() {
        for (rank, ranks) in [(0, 1), (1, 2)] {
            let base = Settings { rank, ranks, ..settings(Unit::Sequence, order) };
            let whole = Settings { sweeps: Some(3), ..base.clone() };
            let found = run_and_resume(&whole).concat();
            for epoch in [Epoch::Sweep, Epoch::Samples(101), Epoch::Samples(7)] {
                let settings = Settings { cut: of(epoch, None), ..whole.clone() };
                let minibatches = run_and_resume(&settings);
                assert_eq!(minibatches.concat(), found, "{order:?} {epoch:?}");
                if epoch == Epoch::Samples(7) {
                    // A sequence is longer than that, or few are shorter.
                    assert!(minibatches.iter().all(|minibatch| minibatch.len() < 45));
                }
            }
            let truncated = Some(Truncation { length: 10, right_splice: 0 });
            let worker = |epoch| Cut::Worker(Worker { epoch, truncated, ..Worker::default() });
            for (epoch, cut) in [
                (Epoch::Run, of(Epoch::Run, truncated)),
                (Epoch::Sweep, of(Epoch::Sweep, truncated)),
                (Epoch::Samples(101), of(Epoch::Samples(101), truncated)),
                (Epoch::Sweep, worker(Epoch::Sweep)),
                (Epoch::Samples(101), worker(Epoch::Samples(101))),
            ] {
                let settings = Settings { cut, ..whole.clone() };
                let mut seen = run_and_resume(&settings).concat();
                let mut all = found.clone();
                seen.sort_unstable();
                all.sort_unstable();
                if let Cut::Timeline(_) = cut {
                    assert_eq!(seen, all, "{order:?} {epoch:?}");
                }
            }
        }
    }
}

#[test]
fn memory_is_that_of_two_windows() {
    let bound = |window| {
        let settings = settings(Unit::Frame, Order::shuffle(window, 3));
        let corpus: Arc<dyn Source> = corpus();
        Feed::new(corpus, settings, None).unwrap().memory_bound()
    };
    assert!(bound(Window::Chunks(1)) < bound(Window::Chunks(2)));
    assert!(bound(Window::Chunks(2)) < bound(Window::Corpus));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let start = |settings: Settings, state: Option<&State>| {
        let corpus: Arc<dyn Source> = corpus();
        Feed::new(corpus, settings, state).map(|feed| feed.state().clone())
    };
    let base = || settings(Unit::Sequence, Order::shuffle(Window::Chunks(2), 3));
    let cases = [
        (Settings { batch: BatchSize::Units(5), ..base() }, "counts samples"),
        (Settings { cut: of(Epoch::Samples(0), None), ..base() }, "1 sample at least"),
    ];
    for (settings, expected) in cases {
        let error = start(settings, None).unwrap_err();
        assert!(error.is_usage() && error.message().contains(expected), "{error}");
    }
    let state = start(base(), None).unwrap();
    for other in [
        Settings { rank: 1, ranks: 2, ..base() },
        Settings { cut: Cut::Worker(Worker::default()), ..base() },
        Settings { order: Order::shuffle(Window::Chunks(2), 4), ..base() },
    ] {
        let error = start(other, Some(&state)).unwrap_err();
        assert!(error.message().contains("another corpus or order"), "{error}");
    }
    for order in [
        OrderState { item: u64::MAX, ..state.order },
        OrderState { part: PartState { place: 99, collected: 0 }, ..state.order },
    ] {
        assert!(start(base(), Some(&State { order, ..state.clone() })).is_err());
    }
    // A place that is far, but exists.
    let order = OrderState { sweep: u64::MAX, ..state.order };
    let far = State { order, samples: u64::MAX, ..state };
    for epoch in [Epoch::Run, Epoch::Sweep, Epoch::Samples(1)] {
        let corpus: Arc<dyn Source> = corpus();
        let settings = Settings { cut: of(epoch, None), ..base() };
        let feed = Feed::new(corpus, settings, Some(&far)).unwrap();
        assert!(feed.take(3).all(|minibatch| minibatch.is_ok()));
    }
}

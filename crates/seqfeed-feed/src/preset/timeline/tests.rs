use std::collections::BTreeSet;
use std::path::PathBuf;

use proptest::prelude::*;
use seqfeed_core::{IndexBuilder, Key};
use serde::Deserialize;

use super::*;
use crate::order::{OrderState, PartState};
use crate::settings::Window;

fn index(chunks: &[Vec<u32>]) -> Arc<Index> {
    let mut builder = IndexBuilder::new(u64::MAX);
    for (c, chunk) in chunks.iter().enumerate() {
        for (i, &samples) in chunk.iter().enumerate() {
            builder.push(Key(format!("{c}-{i}").as_bytes()), samples);
        }
        builder.end_chunk();
    }
    Arc::new(builder.finish())
}

/// What CNTK was asked for: lengths of the sequences of each chunk, and settings.
#[derive(Deserialize)]
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
    rank: usize,
    /// Samples of this worker in a minibatch.
    mb: u64,
    samples: Option<u64>,
    sweeps: Option<u64>,
}

fn yes() -> bool {
    true
}

/// What it did: chunk and number of each sequence, and where it stood afterwards.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Call {
    sweep_end: bool,
    epoch_end: bool,
    seqs: Vec<(u32, u32)>,
    state: CntkState,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CntkState {
    base_sweep_count: u64,
    base_sample_count: u64,
    base_current_sequence_position_in_window: u64,
    // Tumbling.
    #[serde(default)]
    chunk_position: u64,
    #[serde(default)]
    sweep_index: u64,
    // Sequential.
    #[serde(default)]
    current_chunk_position: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Golden {
    job: Job,
    out: Vec<Call>,
    model_agrees: bool,
}

impl Job {
    fn timeline(&self) -> Own {
        let kind = match (self.randomize, self.window_in_samples) {
            (false, _) => Order::Sequential,
            (true, true) => Order::shuffle(Window::Samples(self.window), self.seed),
            (true, false) => Order::shuffle(Window::Chunks(self.window), self.seed),
        };
        let limits = Run { sweeps: self.sweeps, samples: self.samples };
        let index = index(&self.chunks);
        let unit = Unit::Sequence;
        Own::new(&index, unit, kind, (self.rank, self.workers), limits)
    }

    /// The same place in our terms: CNTK counts from the beginning of the window, over the ends
    /// of sweeps.
    fn translate(&self, cntk: &CntkState) -> State {
        let in_window = cntk.base_current_sequence_position_in_window;
        let mut timeline = self.timeline();
        let (mut sweep, mut part, mut item) = (0, PartState::default(), 0);
        if self.randomize {
            (sweep, part.place) = (cntk.sweep_index, cntk.chunk_position);
        } else {
            let first: usize =
                self.chunks[..cntk.current_chunk_position].iter().map(Vec::len).sum();
            item = first.saturating_sub(self.rank).div_ceil(self.workers) as u64;
        }
        timeline.restore(&at(OrderState { sweep, item, part }, 0)).unwrap();
        for _ in 0..in_window {
            advance(&mut timeline);
        }
        let OrderState { item, part, .. } = state(&timeline).order;
        at(OrderState { sweep: cntk.base_sweep_count, item, part }, cntk.base_sample_count)
    }
}

fn at(order: OrderState, samples: u64) -> State {
    State { order, samples, ..State::default() }
}

fn state(timeline: &Own) -> State {
    let mut state = State::default();
    timeline.save(&mut state);
    state
}

/// Goes on by one unit, or over the end of a sweep.
fn advance(timeline: &mut Own) {
    match timeline.units.peek() {
        Some(_) => timeline.units.take(),
        None => timeline.units.next_sweep(),
    }
    timeline.units.settle();
}

fn held(timeline: &Own) -> BTreeSet<u32> {
    timeline.window().into_iter().map(|(swept, _)| swept.chunk).collect()
}

fn golden() -> Option<Vec<Golden>> {
    let root = std::env::var_os("SEQFEED_SHARED").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let path = root.join("golden/cntk/lt/lt.json");
    if !path.exists() {
        eprintln!("SKIPPED: {} is missing; set SEQFEED_SHARED", path.display());
        return None;
    }
    Some(serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
}

#[test]
fn minibatches_flags_and_states_equal_cntk() {
    let Some(golden) = golden() else { return };
    let (mut jobs, mut calls, mut states) = (0, 0, 0);
    for (number, Golden { job, out, .. }) in
        golden.iter().enumerate().filter(|(_, golden)| golden.model_agrees)
    {
        let mut timeline = job.timeline();
        let mut items = Vec::new();
        for (i, call) in out.iter().enumerate() {
            // CNTK returns nothing where a chunk has nothing for the worker (part of its bug B8).
            if call.seqs.is_empty() && !call.epoch_end {
                assert!(job.workers > 1 && !job.randomize);
                continue;
            }
            let flags = timeline.next_minibatch(job.mb, &mut items);
            let found: Vec<_> = items.iter().map(|item| (item.chunk, item.number)).collect();
            assert_eq!(found, call.seqs, "job {number} call {i}");
            let expected = Flags { end_of_sweep: call.sweep_end, end_of_epoch: call.epoch_end };
            assert_eq!(flags, expected, "job {number} call {i}");
            calls += 1;
            // After an empty minibatch CNTK's state is off by one window.
            if !call.seqs.is_empty() {
                assert_eq!(state(&timeline), job.translate(&call.state), "job {number} call {i}");
                states += 1;
            }
        }
        jobs += 1;
    }
    assert_eq!((jobs, calls, states), (12, 306, 304));
}

/// Jobs that crash CNTK, or make it read past its data.
#[test]
fn what_breaks_cntk_gives_every_sequence_once() {
    let Some(golden) = golden() else { return };
    let mut jobs = 0;
    for Golden { job, .. } in golden.into_iter().filter(|golden| !golden.model_agrees) {
        let workers = job.workers;
        let mut seen = Vec::new();
        for rank in 0..workers {
            let job =
                Job { rank, sweeps: Some(3), samples: None, chunks: job.chunks.clone(), ..job };
            seen.extend(units_of(&mut job.timeline(), job.mb));
        }
        assert_once_a_sweep(seen, &job.chunks, 3);
        jobs += 1;
    }
    assert_eq!(jobs, 13);
}

/// All units up to the end of the epoch.
fn units_of(timeline: &mut Own, size: u64) -> Vec<OrderedUnit> {
    let (mut items, mut all) = (Vec::new(), Vec::new());
    loop {
        let flags = timeline.next_minibatch(size, &mut items);
        all.extend_from_slice(&items);
        if flags.end_of_epoch {
            return all;
        }
    }
}

fn assert_once_a_sweep(seen: Vec<OrderedUnit>, chunks: &[Vec<u32>], sweeps: usize) {
    let mut seen: Vec<_> = seen.iter().map(|item| (item.chunk, item.number)).collect();
    seen.sort_unstable();
    let all = chunks.iter().enumerate().flat_map(|(c, chunk)| {
        (0..chunk.len()).flat_map(move |i| std::iter::repeat_n((c as u32, i as u32), sweeps))
    });
    assert_eq!(seen, all.collect::<Vec<_>>());
}

fn corpora() -> impl Strategy<Value = Vec<Vec<u32>>> {
    prop::collection::vec(prop::collection::vec(0u32..9, 1..7), 1..12)
}

fn kinds() -> impl Strategy<Value = Order> {
    let windows = prop_oneof![
        (0u64..6).prop_map(Window::Chunks),
        (0u64..90).prop_map(Window::Samples),
        Just(Window::Chunks(u64::MAX)),
        Just(Window::Samples(u64::MAX)),
        Just(Window::Corpus),
    ];
    let shuffled = (windows, any::<u64>()).prop_map(|(window, seed)| Order::shuffle(window, seed));
    prop_oneof![1 => Just(Order::Sequential), 4 => shuffled]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_unit_reaches_one_worker_once_a_sweep(
        chunks in corpora(), kind in kinds(), ranks in 1usize..8, size in 1u64..40,
        frames: bool,
    ) {
        let index = index(&chunks);
        let unit = if frames { Unit::Frame } else { Unit::Sequence };
        let limits = Run { sweeps: Some(2), samples: None };
        let mut seen = Vec::new();
        for rank in 0..ranks {
            let mut timeline =
                Own::new(&index, unit, kind, (rank, ranks), limits);
            let units = units_of(&mut timeline, size);
            let samples: u64 = units.iter().map(|item| u64::from(item.samples)).sum();
            prop_assert_eq!(timeline.samples, samples);
            prop_assert!(timeline.units.sweep() == 2 || units.is_empty());
            if let Order::Shuffle(_) = kind {
                prop_assert!(units.iter().all(|item| item.place as usize % ranks == rank));
            }
            seen.extend(units);
        }
        let chunks: Vec<Vec<u32>> = match frames {
            true => chunks.iter().map(|chunk| vec![1; chunk.iter().sum::<u32>() as usize]).collect(),
            false => chunks,
        };
        assert_once_a_sweep(seen, &chunks, 2);
    }

    #[test]
    fn a_state_goes_on_with_the_same(
        chunks in corpora(), kind in kinds(), ranks in 1usize..4, size in 1u64..40,
        frames: bool, samples in 0u64..400, taken in 0usize..30,
    ) {
        let index = index(&chunks);
        let unit = if frames { Unit::Frame } else { Unit::Sequence };
        let limits = Run { sweeps: Some(9), samples: Some(samples) };
        let new = || Own::new(&index, unit, kind, (ranks - 1, ranks), limits);
        let (mut whole, mut items) = (new(), Vec::new());
        for _ in 0..taken {
            whole.next_minibatch(size, &mut items);
        }
        let mut rest = new();
        rest.restore(&state(&whole)).unwrap();
        prop_assert_eq!(state(&rest), state(&whole));
        prop_assert_eq!(held(&rest), held(&whole));
        let mut others = Vec::new();
        for _ in 0..30 {
            let flags = whole.next_minibatch(size, &mut items);
            prop_assert_eq!(flags, rest.next_minibatch(size, &mut others));
            prop_assert_eq!(&items, &others);
            prop_assert_eq!(state(&rest), state(&whole));
        }
    }

    #[test]
    fn the_window_holds_the_chunks_of_what_comes_next(
        chunks in corpora(), kind in kinds(), ranks in 1usize..4,
    ) {
        let index = index(&chunks);
        let mut timeline =
            Own::new(&index, Unit::Sequence, kind, (0, ranks), Run::default());
        let (mut position, mut window) = ((u64::MAX, 0), Vec::new());
        for _ in 0..60 {
            if timeline.units.position() != position {
                (position, window) = (timeline.units.position(), timeline.window());
            }
            prop_assert_eq!(&timeline.window(), &window);
            let held: BTreeSet<u32> = window.iter().map(|(swept, _)| swept.chunk).collect();
            let samples: u64 = held.iter().map(|&c| index.chunk_samples(c as usize)).sum();
            prop_assert!(samples <= timeline.units.cursor.most_samples(&index));
            if let Some(item) = timeline.units.peek() {
                prop_assert!(window.contains(&(item.swept(), item.place)));
            }
            advance(&mut timeline);
        }
    }

    #[test]
    fn any_state_is_restored_or_refused(
        chunks in corpora(), kind in kinds(), sweeps: u64, samples: u64,
        place in 0u64..20, collected in 0u64..9, position in 0u64..20, huge in 0usize..5,
    ) {
        let limits = Run::default();
        let mut timeline = Own::new(&index(&chunks), Unit::Sequence, kind, (0, 2), limits);
        let part = PartState { place, collected };
        let mut state = at(OrderState { sweep: sweeps, item: position, part }, samples);
        match huge {
            0 => state.order.part.place = u64::MAX,
            1 => state.order.part.collected = u64::MAX,
            2 => state.order.item = u64::MAX,
            _ => {}
        }
        if let Err(error) = timeline.restore(&state) {
            prop_assert!(error.is_usage());
            return Ok(());
        }
        let mut items = Vec::new();
        for _ in 0..5 {
            timeline.next_minibatch(10, &mut items);
        }
    }
}

#[test]
fn a_worker_without_units_is_at_the_end_at_once() {
    for kind in [Order::Sequential, Order::shuffle(Window::Chunks(2), 0)] {
        let mut timeline =
            Own::new(&index(&[vec![1], vec![2]]), Unit::Sequence, kind, (2, 3), Run::default());
        let mut items = Vec::new();
        let flags = timeline.next_minibatch(5, &mut items);
        assert_eq!((flags.end_of_epoch, items.len(), timeline.window().len()), (true, 0, 0));
        timeline.restore(&state(&timeline)).unwrap();
        let other = OrderState { item: 1, ..OrderState::default() };
        assert!(timeline.restore(&at(other, 0)).is_err());
    }
}

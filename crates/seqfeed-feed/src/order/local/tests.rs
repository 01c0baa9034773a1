use std::collections::BTreeSet;
use std::path::PathBuf;

use proptest::prelude::*;
use seqfeed_core::{IndexBuilder, Key};
use serde::Deserialize;

use super::*;

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
    fn timeline(&self) -> LocalTimeline {
        let kind = match (self.randomize, self.window_in_samples) {
            (false, _) => Kind::Sequential,
            (true, true) => Kind::Tumbling(TumblingWindow::Samples(self.window)),
            (true, false) => Kind::Tumbling(TumblingWindow::Chunks(self.window)),
        };
        let limits = Limits { sweeps: self.sweeps, samples: self.samples };
        let index = index(&self.chunks);
        let unit = Unit::Sequence;
        LocalTimeline::new(index, unit, kind, self.seed, (self.rank, self.workers), limits)
    }

    /// The same place in our terms: CNTK counts from the beginning of the window, over the ends
    /// of sweeps.
    fn translate(&self, cntk: &CntkState) -> LocalState {
        let in_window = cntk.base_current_sequence_position_in_window;
        let mut timeline = self.timeline();
        if self.randomize {
            let (sweeps, place) = (cntk.sweep_index, cntk.chunk_position);
            let part = PartState { place, collected: 0 };
            timeline.restore(&LocalState { sweeps, part, ..LocalState::default() }).unwrap();
        } else {
            let first: usize =
                self.chunks[..cntk.current_chunk_position].iter().map(Vec::len).sum();
            let position = first.saturating_sub(self.rank).div_ceil(self.workers) as u64;
            timeline.restore(&LocalState { position, ..LocalState::default() }).unwrap();
        }
        for _ in 0..in_window {
            timeline.order.advance();
        }
        timeline.sweeps = cntk.base_sweep_count;
        timeline.samples = cntk.base_sample_count;
        timeline.state()
    }
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
                assert_eq!(timeline.state(), job.translate(&call.state), "job {number} call {i}");
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
fn units_of(timeline: &mut LocalTimeline, size: u64) -> Vec<Item> {
    let (mut items, mut all) = (Vec::new(), Vec::new());
    loop {
        let flags = timeline.next_minibatch(size, &mut items);
        all.extend_from_slice(&items);
        if flags.end_of_epoch {
            return all;
        }
    }
}

fn assert_once_a_sweep(seen: Vec<Item>, chunks: &[Vec<u32>], sweeps: usize) {
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

fn kinds() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::Sequential),
        (0u64..6).prop_map(|most| Kind::Tumbling(TumblingWindow::Chunks(most))),
        (0u64..90).prop_map(|most| Kind::Tumbling(TumblingWindow::Samples(most))),
        Just(Kind::Tumbling(TumblingWindow::Chunks(u64::MAX))),
        Just(Kind::Tumbling(TumblingWindow::Samples(u64::MAX))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_unit_reaches_one_worker_once_a_sweep(
        chunks in corpora(), kind in kinds(), seed: u64, ranks in 1usize..8, size in 1u64..40,
        frames: bool,
    ) {
        let index = index(&chunks);
        let unit = if frames { Unit::Frame } else { Unit::Sequence };
        let limits = Limits { sweeps: Some(2), samples: None };
        let mut seen = Vec::new();
        for rank in 0..ranks {
            let mut timeline =
                LocalTimeline::new(index.clone(), unit, kind, seed, (rank, ranks), limits);
            let units = units_of(&mut timeline, size);
            let samples: u64 = units.iter().map(|item| u64::from(item.samples)).sum();
            prop_assert_eq!(timeline.samples, samples);
            prop_assert!(timeline.sweeps == 2 || units.is_empty());
            if let Kind::Tumbling(_) = kind {
                prop_assert!(units.iter().all(|item| item.shard as usize % ranks == rank));
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
        chunks in corpora(), kind in kinds(), seed: u64, ranks in 1usize..4, size in 1u64..40,
        frames: bool, samples in 0u64..400, taken in 0usize..30,
    ) {
        let index = index(&chunks);
        let unit = if frames { Unit::Frame } else { Unit::Sequence };
        let limits = Limits { sweeps: Some(9), samples: Some(samples) };
        let new = || LocalTimeline::new(index.clone(), unit, kind, seed, (ranks - 1, ranks), limits);
        let (mut whole, mut items) = (new(), Vec::new());
        for _ in 0..taken {
            whole.next_minibatch(size, &mut items);
        }
        let mut rest = new();
        rest.restore(&whole.state()).unwrap();
        prop_assert_eq!(rest.state(), whole.state());
        prop_assert_eq!(rest.window(), whole.window());
        let mut others = Vec::new();
        for _ in 0..30 {
            let flags = whole.next_minibatch(size, &mut items);
            prop_assert_eq!(flags, rest.next_minibatch(size, &mut others));
            prop_assert_eq!(&items, &others);
            prop_assert_eq!(rest.state(), whole.state());
        }
    }

    #[test]
    fn the_window_holds_the_chunks_of_what_comes_next(
        chunks in corpora(), kind in kinds(), seed: u64, ranks in 1usize..4,
    ) {
        let index = index(&chunks);
        let mut timeline =
            LocalTimeline::new(index.clone(), Unit::Sequence, kind, seed, (0, ranks), Limits::default());
        let (mut position, mut window) = (u64::MAX, Vec::new());
        for _ in 0..60 {
            if timeline.position() != position {
                (position, window) = (timeline.position(), timeline.window());
            }
            prop_assert_eq!(&timeline.window(), &window);
            let held: BTreeSet<u32> = window.iter().map(|&(chunk, _)| chunk).collect();
            let samples: u64 = held.iter().map(|&c| index.chunk_samples(c as usize)).sum();
            prop_assert!(samples <= timeline.most_samples(&index));
            if let Entry::Unit(item) = timeline.order.peek() {
                prop_assert!(window.contains(&(item.chunk, item.shard)));
            }
            timeline.order.advance();
        }
    }

    #[test]
    fn any_state_is_restored_or_refused(
        chunks in corpora(), kind in kinds(), sweeps: u64, samples: u64,
        place in 0u64..20, collected in 0u64..9, position in 0u64..20, huge in 0usize..5,
    ) {
        let limits = Limits::default();
        let mut timeline = LocalTimeline::new(index(&chunks), Unit::Sequence, kind, 1, (0, 2), limits);
        let part = PartState { place, collected };
        let mut state = LocalState { sweeps, samples, part, position };
        match huge {
            0 => state.part.place = u64::MAX,
            1 => state.part.collected = u64::MAX,
            2 => state.position = u64::MAX,
            _ => {}
        }
        let before = timeline.state();
        let restored = timeline.restore(&state);
        if restored.is_err() {
            prop_assert_eq!(timeline.state(), before);
        }
        let mut items = Vec::new();
        for _ in 0..5 {
            timeline.next_minibatch(10, &mut items);
        }
    }
}

#[test]
fn a_worker_without_units_is_at_the_end_at_once() {
    for kind in [Kind::Sequential, Kind::Tumbling(TumblingWindow::Chunks(2))] {
        let mut timeline = LocalTimeline::new(
            index(&[vec![1], vec![2]]),
            Unit::Sequence,
            kind,
            0,
            (2, 3),
            Limits::default(),
        );
        let mut items = Vec::new();
        let flags = timeline.next_minibatch(5, &mut items);
        assert_eq!((flags.end_of_epoch, items.len(), timeline.window().len()), (true, 0, 0));
        let state = timeline.state();
        timeline.restore(&state).unwrap();
        assert!(timeline.restore(&LocalState { position: 1, ..state }).is_err());
    }
}

//! Groups of chunks that ranks serve in turn.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use proptest::prelude::*;
use seqfeed_feed::{
    BatchSize, Blocks, Cut, Feed, Order, Partial, Preview, Settings, Shard, State, Steps, Unit,
    Window,
};

use crate::memory_corpus::MemoryCorpus;
use crate::runs::{all_samples, corpus, run};

fn settings(groups: usize, partial: Partial, bucket: Option<usize>) -> Settings {
    Settings {
        unit: Unit::Sequence,
        order: Order::Blocks(Blocks { window: Window::Chunks(2), seed: 3 }),
        batch: BatchSize::Samples(40),
        cut: Cut::Steps(Steps {
            bucket,
            shard: Shard::Groups,
            groups,
            partial,
            ..Steps::default()
        }),
        sweeps: Some(2),
        ..Settings::default()
    }
}

fn of_rank(settings: &Settings, rank: usize, ranks: usize) -> Settings {
    Settings { rank, ranks, ..settings.clone() }
}

/// The minibatches of all ranks, step by step.
fn in_turn(
    corpus: &Arc<MemoryCorpus>,
    settings: &Settings,
    ranks: usize,
    state: Option<&State>,
) -> Vec<Vec<i32>> {
    let mut runs: Vec<_> = (0..ranks)
        .map(|rank| run(corpus, &of_rank(settings, rank, ranks), state).into_iter())
        .collect();
    let mut all = Vec::new();
    loop {
        let step: Vec<_> = runs.iter_mut().filter_map(Iterator::next).collect();
        if step.is_empty() {
            return all;
        }
        all.extend(step);
    }
}

/// The states of a run of one rank, before each minibatch.
fn states(corpus: &Arc<MemoryCorpus>, settings: &Settings, ranks: usize) -> Vec<State> {
    let mut feed = Feed::new(corpus.clone() as _, of_rank(settings, 0, ranks), None).unwrap();
    let mut states = vec![feed.state().clone()];
    while feed.next().is_some() {
        states.push(feed.state().clone());
    }
    states
}

fn cases() -> impl Strategy<Value = (Vec<u32>, Settings)> {
    let windows = prop_oneof![
        (1..4u64).prop_map(Window::Chunks),
        (1..90u64).prop_map(Window::Samples),
        Just(Window::Corpus),
    ];
    let batches = prop_oneof![
        (1..70u64).prop_map(BatchSize::Samples),
        (1..7u64).prop_map(BatchSize::Units),
        (20..90u64).prop_map(BatchSize::Padded),
    ];
    let order = (windows, any::<u64>());
    let buckets = prop_oneof![2 => Just(None), 1 => (1..12usize).prop_map(Some)];
    let partial = prop_oneof![Just(Partial::Keep), Just(Partial::Even), Just(Partial::Drop)];
    let cut = (buckets, partial, prop_oneof![Just(6usize), Just(12)]);
    let lengths = prop::collection::vec(1..25u32, 1..160);
    (lengths, order, batches, cut, any::<bool>()).prop_map(
        |(lengths, (window, seed), batch, (bucket, partial, groups), frames)| {
            let padded = matches!(batch, BatchSize::Padded(_));
            let unit = if frames && !padded { Unit::Frame } else { Unit::Sequence };
            let bucket = bucket.filter(|_| unit == Unit::Sequence);
            let order = Order::Blocks(Blocks { window, seed });
            (lengths, Settings { unit, order, batch, ..settings(groups, partial, bucket) })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn minibatches_are_the_same_for_any_number_of_ranks((lengths, settings) in cases()) {
        let corpus = Arc::new(MemoryCorpus::new(&lengths, 30));
        let Cut::Steps(steps) = settings.cut else { unreachable!() };
        let alone = in_turn(&corpus, &settings, 1, None);
        let mut seen = alone.concat();
        seen.sort_unstable();
        let mut twice = all_samples(&corpus);
        twice.extend(all_samples(&corpus));
        twice.sort_unstable();
        match steps.partial {
            Partial::Drop => prop_assert!(seen.len() <= twice.len()),
            _ => prop_assert_eq!(&seen, &twice),
        }
        for ranks in [2, 3, 6] {
            let together = in_turn(&corpus, &settings, ranks, None);
            if steps.partial != Partial::Drop {
                let mut seen = together.concat();
                seen.sort_unstable();
                prop_assert_eq!(&seen, &twice);
            }
            // All but the ends of the two sweeps are the same minibatches.
            let one_sweep = Settings { sweeps: Some(1), ..settings.clone() };
            let alone = in_turn(&corpus, &one_sweep, 1, None);
            let together = in_turn(&corpus, &one_sweep, ranks, None);
            let sure = together.len().min(alone.len()) / ranks;
            let sure = sure.saturating_sub(1) * ranks;
            prop_assert_eq!(&together[..sure], &alone[..sure]);
            if steps.partial != Partial::Keep {
                prop_assert_eq!(together.len() % ranks, 0);
            }
        }
    }

    #[test]
    fn a_run_goes_on_with_any_number_of_ranks(
        (lengths, settings) in cases(),
        (before, after) in (prop::sample::select(vec![1usize, 2, 3, 6]), prop::sample::select(vec![1usize, 2, 3, 6])),
    ) {
        let corpus = Arc::new(MemoryCorpus::new(&lengths, 30));
        let states = states(&corpus, &settings, before);
        let all = in_turn(&corpus, &settings, before, None);
        let mut whole = all.concat();
        whole.sort_unstable();
        let Cut::Steps(steps) = settings.cut else { unreachable!() };
        for (step, state) in states.iter().enumerate().step_by(1 + states.len() / 6) {
            // With `keep`, a rank that got one less stands elsewhere.
            if state.deal.apart.is_some() {
                continue;
            }
            let rest = in_turn(&corpus, &settings, after, Some(state));
            if before == after {
                prop_assert_eq!(&rest[..], &all[(step * before).min(all.len())..]);
            }
            if steps.partial != Partial::Drop {
                let given = all.iter().take(step * before).flatten();
                let mut seen: Vec<i32> = given.chain(rest.iter().flatten()).copied().collect();
                seen.sort_unstable();
                prop_assert_eq!(&seen, &whole, "step {} of {} ranks, then {}", step, before, after);
            }
        }
    }

    #[test]
    fn the_memory_stays_within_its_bound((lengths, settings) in cases(), ranks in 1..4usize) {
        let corpus = Arc::new(MemoryCorpus::new(&lengths, 30));
        let feed = Feed::new(corpus.clone() as _, of_rank(&settings, 0, ranks), None).unwrap();
        let bound = feed.memory_bound();
        let limited = Settings { memory: Some(bound), ..of_rank(&settings, 0, ranks) };
        let mut feed = Feed::new(corpus.clone() as _, limited, None).unwrap();
        prop_assert!(feed.all(|minibatch| minibatch.is_ok()));
    }
}

#[test]
fn a_rank_reads_and_draws_its_own_groups_alone() {
    let lengths: Vec<u32> = (0..4000).map(|number| 5 + number * 7 % 20).collect();
    let total: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
    let settings = Settings { sweeps: Some(1), ..settings(32, Partial::Even, None) };
    for ranks in [2usize, 8, 32] {
        let mut read = Vec::new();
        for rank in 0..ranks.min(4) {
            let corpus = Arc::new(MemoryCorpus::new(&lengths, 60));
            run(&corpus, &of_rank(&settings, rank, ranks), None);
            read.push(corpus.loaded.load(Ordering::Relaxed));
        }
        let share = total / ranks as u64;
        let most = read.iter().max().unwrap();
        // Some chunks of the rest belong to several ranks.
        assert!(*most < share + share / 3 + total / 100, "{ranks} ranks: {read:?} of {share}");
    }
}

#[test]
fn what_does_not_go_with_groups_is_refused() {
    let corpus = corpus();
    let base = settings(12, Partial::Keep, None);
    let Cut::Steps(steps) = base.cut else { unreachable!() };
    let refused = [
        (of_rank(&base, 0, 5), "must be a multiple of the number of ranks, 5"),
        (
            Settings { order: Order::shuffle(Window::Chunks(2), 3), ..base.clone() },
            "needs order = \"blocks\"",
        ),
        (Settings { samples: Some(9), sweeps: None, ..base.clone() }, "knows only its own"),
        (Settings { cut: Cut::Steps(Steps { groups: 0, ..steps }), ..base.clone() }, "1 group"),
        (
            Settings { cut: Cut::Steps(Steps { groups: 1 << 17, ..steps }), ..base.clone() },
            "groups",
        ),
    ];
    for (settings, says) in refused {
        let error = Preview::new(corpus.clone() as _, &settings).err().unwrap();
        assert!(error.message().contains(says), "{error}");
    }
}

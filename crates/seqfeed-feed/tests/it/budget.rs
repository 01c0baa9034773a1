//! Minibatches that are filled to a budget by first fit.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use seqfeed_feed::{
    BatchSize, Cut, Feed, Layout, Limits, Order, Partial, Preview, Settings, State, Steps, Unit,
    Window,
};

use crate::memory_corpus::MemoryCorpus;
use crate::runs::{all_samples, run, samples};

/// Lengths from 20 to 320, as different as those of utterances.
fn lengths(count: u32) -> Vec<u32> {
    (0..count).map(|number| 20 + scattered(number) % 301).collect()
}

/// Numbers without a pattern.
fn scattered(number: u32) -> u32 {
    let mixed = (number ^ 0x9e37).wrapping_mul(0x85eb_ca6b);
    (mixed ^ (mixed >> 13)).wrapping_mul(0xc2b2_ae35) >> 7
}

fn packed(size: u64, partial: Partial, rank: usize, ranks: usize) -> Settings {
    Settings {
        unit: Unit::Sequence,
        order: Order::shuffle(Window::Chunks(4), 5),
        batch: BatchSize::Samples(size),
        cut: Cut::Steps(Steps { pack: true, partial, ..Steps::default() }),
        layout: Layout::Concatenated,
        rank,
        ranks,
        sweeps: Some(1),
        ..Settings::default()
    }
}

#[test]
fn minibatches_are_nearly_full() {
    let corpus = Arc::new(MemoryCorpus::new(&lengths(5000), 1 << 12));
    for (size, least) in [(400, 0.9), (1000, 0.98), (2000, 0.98), (8000, 0.98)] {
        let filled = |settings: &Settings| {
            let all: Vec<u64> = Preview::new(corpus.clone() as _, settings)
                .unwrap()
                .map(|minibatch| minibatch.samples)
                .collect();
            assert!(all.iter().all(|&samples| samples <= size), "{all:?}");
            all.iter().sum::<u64>() as f64 / (all.len() as f64 * size as f64)
        };
        let settings = packed(size, Partial::Keep, 0, 1);
        let fill = filled(&settings);
        let greedy = filled(&Settings { cut: Cut::default(), ..settings });
        eprintln!("{size}: {:.2} % full, cut in order {:.2} %", fill * 100.0, greedy * 100.0);
        assert!(fill > least && fill > greedy, "{size}: {fill}");
    }
}

#[test]
fn a_sequence_goes_into_the_first_minibatch_with_room() {
    let corpus = Arc::new(MemoryCorpus::new(&[6, 5, 4, 3, 7, 2], 100));
    let settings = Settings { order: Order::Sequential, ..packed(10, Partial::Keep, 0, 1) };
    let feed = Feed::new(corpus as _, settings, None).unwrap();
    let found: Vec<Vec<u32>> = feed
        .map(|minibatch| minibatch.unwrap().segments().iter().map(|one| one.samples).collect())
        .collect();
    assert_eq!(found, [vec![6, 4], vec![5, 3, 2], vec![7]]);
}

#[test]
fn a_sequence_that_no_minibatch_holds_is_named_with_a_cure() {
    let corpus = Arc::new(MemoryCorpus::new(&[6, 12, 9, 15], 100));
    let error =
        Feed::new(corpus.clone() as _, packed(10, Partial::Keep, 0, 1), None).err().unwrap();
    let text = error.to_string();
    for part in ["utt001", "12 samples", "pack = 10", "2 sequences", "pack = 15", "max-length = 9"]
    {
        assert!(format!("{text} {error:?}").contains(part), "{part}: {text}");
    }
    assert!(Feed::new(corpus as _, packed(15, Partial::Keep, 0, 1), None).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Small minibatches, so that a sweep has several groups.
    #[test]
    fn ranks_have_the_same_steps_lose_nothing_and_may_change(
        lengths in prop::collection::vec(0..30u32, 1..900), size in 30..40u64,
        sequences in prop::option::of(1..4u64), ranks in 1..5usize, at in 0..1000usize,
        others in 1..4usize,
    ) {
        let corpus = Arc::new(MemoryCorpus::new(&lengths, 64));
        prop_assume!(!all_samples(&corpus).is_empty());
        let of = |rank, ranks| {
            let mut settings = packed(size, Partial::Even, rank, ranks);
            if let Cut::Steps(steps) = &mut settings.cut {
                steps.limits = Limits { sequences, ..Limits::default() };
            }
            settings
        };
        let mut steps = BTreeMap::new();
        let mut seen: Vec<i32> = Vec::new();
        let mut left: Vec<(Vec<i32>, State)> = Vec::new();
        for rank in 0..ranks {
            let mut feed = Feed::new(corpus.clone() as _, of(rank, ranks), None).unwrap();
            let mut states = vec![(Vec::new(), feed.state().clone())];
            for minibatch in feed.by_ref() {
                let minibatch = minibatch.unwrap();
                let own = samples(&minibatch);
                prop_assert!(own.len() as u64 <= size);
                seen.extend(&own);
                let before = states.last().map_or(&[][..], |(before, _)| before);
                let all = [before, &own].concat();
                states.push((all, minibatch.state().clone()));
            }
            *steps.entry(states.len()).or_insert(0) += 1;
            let at = at % states.len();
            left.push(states.swap_remove(at));
        }
        prop_assert_eq!(steps.len(), 1, "{:?}", steps);
        seen.sort_unstable();
        prop_assert_eq!(&seen, &all_samples(&corpus));
        // All ranks stand at one place, from which any number of ranks goes on.
        let state = State::from_json(&left[0].1.to_json()).unwrap();
        prop_assert!(left.iter().all(|(_, other)| *other == state));
        let mut seen: Vec<i32> = left.iter().flat_map(|(seen, _)| seen.clone()).collect();
        if state.order.sweep == 0 {
            for rank in 0..others {
                seen.extend(run(&corpus, &of(rank, others), Some(&state)).concat());
            }
        }
        seen.sort_unstable();
        prop_assert_eq!(seen, all_samples(&corpus));
    }
}

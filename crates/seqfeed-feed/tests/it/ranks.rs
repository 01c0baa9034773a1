//! Each sample of a sweep reaches exactly one rank.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use seqfeed_feed::{
    BatchSize, Cut, Feed, Minibatch, Order, Partial, Settings, Shard, State, Steps, Unit, Window,
};

use crate::memory_corpus::MemoryCorpus;
use crate::runs::{all_samples, corpus, run, samples};

fn steps(shard: Shard, partial: Partial, bucket: Option<usize>) -> Cut {
    Cut::Steps(Steps { bucket, shard, partial, ..Steps::default() })
}

fn settings(unit: Unit, window: Window, rank: usize, ranks: usize) -> Settings {
    Settings {
        unit,
        order: Order::shuffle(window, 0),
        batch: BatchSize::Samples(19),
        rank,
        ranks,
        sweeps: Some(1),
        ..Settings::default()
    }
}

#[test]
fn ranks_divide_the_corpus_without_overlap() {
    let corpus = corpus();
    for window in [Window::Chunks(4), Window::Samples(150), Window::Corpus] {
        for unit in [Unit::Frame, Unit::Sequence] {
            for shard in [Shard::Minibatches, Shard::Chunks] {
                for ranks in [1, 2, 3, 7] {
                    for partial in [Partial::Keep, Partial::Even] {
                        let runs: Vec<Vec<Vec<i32>>> = (0..ranks)
                            .map(|rank| {
                                let settings = settings(unit, window, rank, ranks);
                                let settings =
                                    Settings { cut: steps(shard, partial, None), ..settings };
                                run(&corpus, &settings, None)
                            })
                            .collect();
                        if partial == Partial::Even {
                            let counts: Vec<usize> = runs.iter().map(Vec::len).collect();
                            assert!(counts.iter().all(|&c| c == counts[0]), "{counts:?}");
                        }
                        let mut seen = runs.concat().concat();
                        seen.sort_unstable();
                        assert_eq!(
                            seen,
                            all_samples(&corpus),
                            "{window:?} {unit:?} {shard:?} {ranks} {partial:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn dropping_the_rest_leaves_only_full_minibatches() {
    let cut = steps(Shard::Minibatches, Partial::Drop, None);
    let corpus = corpus();
    for ranks in [1, 2, 3] {
        let runs: Vec<Vec<Vec<i32>>> = (0..ranks)
            .map(|rank| {
                let settings = settings(Unit::Frame, Window::Corpus, rank, ranks);
                run(&corpus, &Settings { cut, ..settings }, None)
            })
            .collect();
        let full = all_samples(&corpus).len() / (19 * ranks);
        for minibatches in &runs {
            assert_eq!(minibatches.len(), full);
            assert!(minibatches.iter().all(|samples| samples.len() == 19));
        }
    }
}

#[test]
fn the_minibatches_of_a_step_do_not_depend_on_the_number_of_ranks() {
    let corpus = corpus();
    let alone = run(&corpus, &settings(Unit::Frame, Window::Chunks(4), 0, 1), None);
    for ranks in [2, 3] {
        for rank in 0..ranks {
            let own = run(&corpus, &settings(Unit::Frame, Window::Chunks(4), rank, ranks), None);
            let expected: Vec<_> = alone.iter().skip(rank).step_by(ranks).cloned().collect();
            assert_eq!(own, expected);
        }
    }
}

#[test]
fn a_rank_that_owns_chunks_loads_no_others() {
    let total = all_samples(&corpus()).len() as u64;
    let cut = steps(Shard::Chunks, Partial::Keep, None);
    let mut loaded = 0;
    for rank in 0..3 {
        let corpus = corpus();
        let settings = settings(Unit::Frame, Window::Chunks(4), rank, 3);
        run(&corpus, &Settings { cut, ..settings }, None);
        loaded += corpus.loaded.load(Ordering::Relaxed);
    }
    // A chunk asked for at the end of one window may be asked for again.
    assert!(loaded < total * 3 / 2, "{loaded} of {total} samples loaded");
}

#[test]
fn a_run_stopped_with_four_ranks_goes_on_with_three() {
    let corpus = corpus();
    for unit in [Unit::Frame, Unit::Sequence] {
        for (window, bucket) in
            [(Window::Chunks(4), None), (Window::Corpus, None), (Window::Chunks(3), Some(10))]
        {
            let cut = steps(Shard::Minibatches, Partial::Keep, bucket);
            if bucket.is_some() && unit == Unit::Frame {
                continue;
            }
            for stop in [1, 2, 4] {
                let mut seen = Vec::new();
                let mut states: Vec<State> = Vec::new();
                for rank in 0..4 {
                    let settings = Settings { cut, ..settings(unit, window, rank, 4) };
                    let mut feed = Feed::new(corpus.clone() as _, settings, None).unwrap();
                    for minibatch in feed.by_ref().take(stop) {
                        seen.extend(samples(&minibatch.unwrap()));
                    }
                    states.push(feed.state().clone());
                }
                assert!(states.iter().all(|state| *state == states[0]), "{states:?}");
                for rank in 0..3 {
                    let settings = Settings { cut, ..settings(unit, window, rank, 3) };
                    seen.extend(run(&corpus, &settings, Some(&states[0])).concat());
                }
                seen.sort_unstable();
                assert_eq!(seen, all_samples(&corpus), "{unit:?} {window:?} stop {stop}");
            }
        }
    }
}

fn in_buckets(buckets: usize, rank: usize, ranks: usize) -> Settings {
    let steps = Steps { buckets: Some(buckets), ..Steps::default() };
    let settings = settings(Unit::Sequence, Window::Corpus, rank, ranks);
    Settings { cut: Cut::Steps(steps), batch: BatchSize::Samples(60), ..settings }
}

/// The shortest and the longest sequence of each minibatch of a rank.
fn lengths(corpus: &Arc<MemoryCorpus>, settings: Settings) -> Vec<(u32, u32)> {
    let feed = Feed::new(corpus.clone() as _, settings, None).unwrap();
    let of = |minibatch: Minibatch| {
        let lengths = minibatch.segments().iter().map(|segment| segment.samples);
        (lengths.clone().min().unwrap_or(0), lengths.max().unwrap_or(0))
    };
    feed.map(|minibatch| of(minibatch.unwrap())).collect()
}

#[test]
fn in_a_step_of_buckets_all_ranks_have_like_lengths() {
    let chunks: Vec<Vec<u32>> = (0..60)
        .map(|chunk| (0..10).map(|i| 1 + (chunk * 31 + i * 17) * 7919 % 40).collect())
        .collect();
    let corpus = Arc::new(MemoryCorpus::of_chunks(&chunks));
    let of_ranks: Vec<_> = (0..4).map(|rank| lengths(&corpus, in_buckets(5, rank, 4))).collect();
    let steps = of_ranks.iter().map(Vec::len).min().unwrap();
    assert!(steps > 30);
    // Five bins by samples of lengths 1 to 40: only the first is wider than half of it.
    let wide = (0..steps).filter(|&step| {
        let shortest = of_ranks.iter().map(|rank| rank[step].0).min().unwrap();
        let longest = of_ranks.iter().map(|rank| rank[step].1).max().unwrap();
        longest - shortest > 20
    });
    // Only steps of what is left over in bins reach over several.
    let wide = wide.count();
    assert!(wide <= 4, "{wide} of {steps}");
}

#[test]
fn buckets_end_at_the_lengths_of_a_list() {
    let chunks: Vec<Vec<u32>> =
        (0..60).map(|chunk| (0..10).map(|i| 1 + (chunk * 31 + i * 17) % 40).collect()).collect();
    let corpus = Arc::new(MemoryCorpus::of_chunks(&chunks));
    let settings = Settings { bucket_edges: vec![10, 11, 30], ..in_buckets(4, 0, 1) };
    let all = lengths(&corpus, settings);
    let bins = [(1, 10), (11, 11), (12, 30), (31, 40)];
    let found: BTreeSet<(u32, u32)> = all
        .iter()
        .map(|&(shortest, longest)| {
            let bin = bins.into_iter().find(|&(_, last)| shortest <= last).unwrap();
            assert!(longest <= bin.1, "{shortest} to {longest}");
            bin
        })
        .collect();
    assert_eq!(found.len(), 4);
    for bucket_edges in [vec![10, 10, 30], vec![30, 20, 40], vec![20, 30]] {
        let settings = Settings { bucket_edges, ..in_buckets(4, 0, 1) };
        let error = Feed::new(corpus.clone() as _, settings, None).err().unwrap();
        assert!(error.is_usage(), "{error}");
    }
}

#[test]
fn a_sweep_in_buckets_has_the_same_minibatches_for_any_number_of_ranks() {
    let corpus = corpus();
    let of = |ranks: usize| {
        let ranks = (0..ranks).flat_map(|rank| run(&corpus, &in_buckets(4, rank, ranks), None));
        let mut all: Vec<Vec<i32>> = ranks.collect();
        all.sort_unstable();
        all
    };
    assert_eq!(of(1), of(3));
    assert_eq!(of(1), of(4));
}

#[test]
fn ranks_may_change_within_a_sweep_in_buckets() {
    let corpus = corpus();
    for stop in [1, 2, 3] {
        let mut seen = Vec::new();
        let mut states: Vec<State> = Vec::new();
        for rank in 0..4 {
            let mut feed = Feed::new(corpus.clone() as _, in_buckets(4, rank, 4), None).unwrap();
            for minibatch in feed.by_ref().take(stop) {
                seen.extend(samples(&minibatch.unwrap()));
            }
            states.push(feed.state().clone());
        }
        assert!(states.iter().all(|state| *state == states[0]), "{states:?}");
        assert!(states[0].pool.taken > 0, "{states:?}");
        for rank in 0..3 {
            seen.extend(run(&corpus, &in_buckets(4, rank, 3), Some(&states[0])).concat());
        }
        seen.sort_unstable();
        assert_eq!(seen, all_samples(&corpus), "stop {stop}");
    }
}

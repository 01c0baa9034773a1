//! Each sample of a sweep reaches exactly one rank.

use std::sync::atomic::Ordering;

use seqfeed_feed::{
    BatchSize, Cut, Feed, Order, Partial, Settings, Shard, State, Steps, Unit, Window,
};

use crate::runs::{all_samples, corpus, run, samples};

fn steps(shard: Shard, partial: Partial, bucket: Option<usize>) -> Cut {
    Cut::Steps(Steps { bucket, shard, partial })
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

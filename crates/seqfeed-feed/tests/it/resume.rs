//! A state names the very next minibatch; threads do not matter.

use std::task::Poll;
use std::time::Duration;

use seqfeed_core::Source;
use seqfeed_feed::{BatchSize, Cut, Feed, Layout, Order, Settings, State, Unit, Window};

use crate::memory_corpus::{MemoryCorpus, corpus, run, samples};

fn all_settings() -> Vec<Settings> {
    let mut all = Vec::new();
    let windows = [Window::Chunks(4), Window::Samples(90), Window::Corpus].map(Order::Shuffle);
    for order in windows.into_iter().chain([Order::Sequential]) {
        for (unit, bucket) in
            [(Unit::Frame, None), (Unit::Sequence, None), (Unit::Sequence, Some(9))]
        {
            all.push(Settings {
                unit,
                order,
                bucket,
                seed: 3,
                layout: Layout::Concatenated,
                batch: BatchSize::Samples(41),
                sweeps: Some(2),
                ..Settings::default()
            });
        }
    }
    all
}

#[test]
fn a_state_after_any_minibatch_goes_on_with_the_next() {
    let corpus = corpus();
    for settings in all_settings() {
        let whole = run(&corpus, &settings, None);
        let mut feed = Feed::new(corpus.clone() as _, settings.clone(), None).unwrap();
        for taken in 0..whole.len() {
            let state = State::from_json(&feed.state().to_json()).unwrap();
            assert_eq!(state.minibatch as usize, taken);
            let rest = Feed::new(corpus.clone() as _, settings.clone(), Some(&state)).unwrap();
            for (minibatch, expected) in rest.zip(&whole[taken..]).take(3) {
                assert_eq!(&samples(&minibatch.unwrap()), expected, "{settings:?} at {taken}");
            }
            let minibatch = feed.next().unwrap().unwrap();
            assert_eq!(minibatch.index() as usize, taken);
        }
        assert!(feed.next().is_none());
        assert!(run(&corpus, &settings, Some(feed.state())).is_empty());
    }
}

#[test]
fn waiting_in_slices_changes_nothing() {
    let corpus = corpus();
    let settings =
        Settings { batch: BatchSize::Samples(41), sweeps: Some(2), ..Settings::default() };
    let whole = run(&corpus, &settings, None);
    let mut feed = Feed::new(corpus.clone() as _, settings, None).unwrap();
    let mut found = Vec::new();
    loop {
        let state = feed.state().clone();
        match feed.next_within(Duration::from_nanos(found.len() as u64)) {
            Poll::Pending => assert_eq!(feed.state(), &state),
            Poll::Ready(Some(minibatch)) => found.push(samples(&minibatch.unwrap())),
            Poll::Ready(None) => break,
        }
        // Both ways may be mixed.
        if found.len() % 5 == 3 {
            found.push(samples(&feed.next().unwrap().unwrap()));
        }
    }
    assert_eq!(found, whole);
    assert!(feed.next_within(Duration::MAX).is_ready() && feed.next().is_none());
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let corpus = corpus();
    for settings in all_settings() {
        let one = run(&corpus, &Settings { threads: 1, queue: 1, ..settings.clone() }, None);
        for (threads, queue) in [(2, 4), (8, 2)] {
            let many = run(&corpus, &Settings { threads, queue, ..settings.clone() }, None);
            assert_eq!(one, many);
        }
    }
}

#[test]
fn a_state_of_another_corpus_or_order_is_refused() {
    let settings = Settings { sweeps: Some(1), ..Settings::default() };
    let mut feed = Feed::new(corpus(), settings.clone(), None).unwrap();
    feed.next();
    let state = feed.state().clone();
    let refused = |corpus: std::sync::Arc<MemoryCorpus>, settings: Settings| {
        let error = Feed::new(corpus, settings, Some(&state)).unwrap_err();
        assert!(error.is_usage() && error.help().is_some(), "{error}");
    };
    refused(MemoryCorpus::new(&[5, 5], 64).into(), settings.clone());
    refused(corpus(), Settings { seed: 1, ..settings.clone() });
    refused(corpus(), Settings { order: Order::Sequential, ..settings.clone() });
    refused(corpus(), Settings { unit: Unit::Sequence, ..settings.clone() });
    // Nor is a place beyond the end of the sweep one.
    let beyond = State { item: corpus().index().total_samples() + 1, ..state.clone() };
    assert!(Feed::new(corpus(), settings.clone(), Some(&beyond)).unwrap_err().is_usage());
    // Where each rank cuts its own minibatches, a place is that rank's alone.
    let own = |rank, ranks| Settings {
        cut: Cut::Worker { local_timeline: false, cross_sweeps: true },
        rank,
        ranks,
        ..settings.clone()
    };
    let mut feed = Feed::new(corpus(), own(0, 2), None).unwrap();
    feed.next();
    let first = feed.state().clone();
    assert!(Feed::new(corpus(), own(0, 2), Some(&first)).is_ok());
    for other in [own(1, 2), own(0, 1), own(0, 3)] {
        assert!(Feed::new(corpus(), other, Some(&first)).unwrap_err().is_usage());
    }
    // What does not decide the order may change.
    let other = Settings { batch: BatchSize::Samples(7), threads: 5, ..settings };
    assert!(Feed::new(corpus(), other, Some(&state)).is_ok());
}

#[test]
fn no_more_places_than_can_be_had_are_taken_for_what_waits() {
    for queue in [(1 << 16) + 1, usize::MAX] {
        let error =
            Feed::new(corpus(), Settings { queue, ..Settings::default() }, None).unwrap_err();
        assert!(error.is_usage() && error.message().contains("65536"), "{error}");
    }
}

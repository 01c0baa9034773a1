//! A state names the very next minibatch; threads do not matter.

use std::task::Poll;
use std::time::Duration;

use seqfeed_core::Source;
use seqfeed_feed::{
    BatchSize, Cut, Epoch, Feed, Layout, Order, OrderState, Partitions, Settings, State, Steps,
    Timeline, Unit, Window, Worker,
};

use crate::memory_corpus::MemoryCorpus;
use crate::runs::{corpus, run, samples};

fn bucketed(bucket: Option<usize>) -> Cut {
    Cut::Steps(Steps { bucket, ..Steps::default() })
}

fn all_settings() -> Vec<Settings> {
    let mut all = Vec::new();
    let windows = [Window::Chunks(4), Window::Samples(90), Window::Corpus];
    let windows = windows.map(|window| Order::shuffle(window, 3));
    for order in windows.into_iter().chain([Order::Sequential]) {
        for (unit, bucket) in
            [(Unit::Frame, None), (Unit::Sequence, None), (Unit::Sequence, Some(9))]
        {
            all.push(Settings {
                unit,
                order,
                cut: bucketed(bucket),
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
    refused(
        corpus(),
        Settings { order: Order::shuffle(Window::Chunks(32), 0), ..settings.clone() },
    );
    refused(corpus(), Settings { order: settings.order.after(1), ..settings.clone() });
    refused(corpus(), Settings { order: Order::Sequential, ..settings.clone() });
    refused(corpus(), Settings { unit: Unit::Sequence, ..settings.clone() });
    // Nor is a place beyond the end of the sweep one.
    let order = OrderState { item: corpus().index().total_samples() + 1, ..state.order };
    let beyond = State { order, ..state.clone() };
    assert!(Feed::new(corpus(), settings.clone(), Some(&beyond)).unwrap_err().is_usage());
    // Where each rank cuts its own minibatches, a place is that rank's alone.
    let own = |rank, ranks| Settings {
        cut: Cut::Worker(Worker { local_timeline: false, ..Worker::default() }),
        order: Order::shuffle(Window::Chunks(32), 0),
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

#[test]
fn a_state_whose_numbers_contradict_one_another_is_refused_or_ends() {
    let corpus = corpus();
    let worker = Cut::Worker(Worker::default());
    let partitions =
        Cut::Partitions(Partitions { frames: 50, whole_files: false, ..Partitions::default() });
    for (cut, unit) in [
        (worker, Unit::Sequence),
        (worker, Unit::Frame),
        (Cut::Timeline(Timeline::default()), Unit::Sequence),
        (Cut::default(), Unit::Sequence),
        (Cut::default(), Unit::Frame),
        (partitions, Unit::Frame),
    ] {
        let window = match cut {
            Cut::Partitions(_) => Window::Corpus,
            _ => Window::Chunks(32),
        };
        let settings = Settings {
            order: Order::shuffle(window, 0),
            cut,
            unit,
            batch: BatchSize::Samples(41),
            sweeps: Some(3),
            ..Settings::default()
        };
        let mut feed = Feed::new(corpus.clone() as _, settings.clone(), None).unwrap();
        feed.by_ref().take(5).for_each(drop);
        let state = feed.state().clone();
        for other in [0, 1, state.samples + 1, 1 << 20, u64::MAX - 1, u64::MAX] {
            let change: [fn(&mut State, u64); 7] = [
                |state, other| state.samples = other,
                |state, other| state.order.item = other,
                |state, other| state.order.sweep = other,
                |state, other| state.order.part.place = other,
                |state, other| state.pool.taken = other,
                |state, other| state.share.dealt = other,
                |state, other| state.minibatch = other,
            ];
            for change in change {
                let mut broken = state.clone();
                change(&mut broken, other);
                match Feed::new(corpus.clone() as _, settings.clone(), Some(&broken)) {
                    Ok(feed) => assert!(feed.take(1000).count() < 1000, "{cut:?}: {broken:?}"),
                    Err(error) => assert!(error.is_usage(), "{error}"),
                }
            }
        }
        if cut == worker {
            // What belongs together there: the samples before a unit.
            let broken = State { samples: state.samples - 1, ..state };
            let error = Feed::new(corpus.clone() as _, settings, Some(&broken)).unwrap_err();
            assert!(error.message().contains("changed by hand"), "{error}");
        }
    }
}

#[test]
fn within_a_pool_the_size_of_minibatches_stays() {
    let lengths = vec![3; 60];
    let corpus = std::sync::Arc::new(MemoryCorpus::new(&lengths, 64));
    let settings = |size| Settings {
        unit: Unit::Sequence,
        cut: bucketed(Some(16)),
        batch: BatchSize::Units(size),
        sweeps: Some(1),
        ..Settings::default()
    };
    for taken in 1..20 {
        let mut feed = Feed::new(corpus.clone() as _, settings(3), None).unwrap();
        let mut seen: usize = feed.by_ref().take(taken).map(|m| m.unwrap().len()).sum();
        let state = State::from_json(&feed.state().to_json()).unwrap();
        match Feed::new(corpus.clone() as _, settings(5), Some(&state)) {
            Ok(rest) => {
                seen += rest.map(|m| m.unwrap().len()).sum::<usize>();
                assert_eq!((seen, state.pool.taken), (60, 0), "after {taken} minibatches");
            }
            Err(error) => {
                assert!(state.pool.taken > 0 && error.message().contains("pool"), "{error}");
            }
        }
    }
}

#[test]
fn a_state_with_what_no_feed_of_these_settings_has_is_refused() {
    let steps = Settings { sweeps: Some(2), ..Settings::default() };
    let cut = Cut::Partitions(Partitions { frames: 50, ..Partitions::default() });
    let order = Order::shuffle(Window::Corpus, 0);
    let unit = Unit::Sequence;
    for settings in [
        steps.clone(),
        Settings { cut, order, ..steps.clone() },
        Settings { unit, cut: bucketed(Some(9)), ..steps },
    ] {
        let mut feed = Feed::new(corpus(), settings.clone(), None).unwrap();
        while feed.state().pool.taken == 0 && feed.state().minibatch < 3 {
            feed.next().unwrap().unwrap();
        }
        let text = feed.state().to_json();
        let open = |text: &str| {
            let state = State::from_json(text).unwrap();
            Feed::new(corpus(), settings.clone(), Some(&state)).map(|feed| feed.state().clone())
        };
        assert_eq!(open(&text).unwrap(), *feed.state());
        for (here, other) in [
            (r#""place":0,"collected":0"#, r#""place":2,"collected":3"#),
            (r#""slots":[]"#, r#""slots":[{"delivered":0,"sequences":[]}]"#),
            (r#""dealt":0"#, r#""dealt":1"#),
        ] {
            let error = open(&text.replace(here, other)).unwrap_err();
            assert!(error.message().contains("changed by hand"), "{other}: {error}");
        }
    }
    // A pool, and a place in one, where there are none.
    let settings = Settings { sweeps: Some(2), ..Settings::default() };
    let feed = Feed::new(corpus(), settings.clone(), None).unwrap();
    let text = feed.state().to_json();
    let pool = text.replace(r#""size":null"#, r#""size":{"samples":7}"#);
    for text in [pool, text.replace(r#""taken":0"#, r#""taken":1"#)] {
        let state = State::from_json(&text).unwrap();
        assert!(
            Feed::new(corpus(), settings.clone(), Some(&state)).unwrap_err().is_usage(),
            "{text}"
        );
    }
}

#[test]
fn every_place_that_can_be_started_from_can_be_gone_on_from() {
    for epoch in [Epoch::Run, Epoch::Sweep, Epoch::Samples(7)] {
        for start in [0, 1, 90, 1 << 40, 1 << 62] {
            let order = Order::Sequential;
            let cut = Cut::Worker(Worker { epoch, start, ..Worker::default() });
            let settings = Settings { cut, order, sweeps: Some(1), ..Settings::default() };
            let feed = Feed::new(corpus(), settings.clone(), None).unwrap();
            let again = Feed::new(corpus(), settings, Some(feed.state())).unwrap();
            assert_eq!(again.state(), feed.state());
        }
    }
    let cut = Cut::Worker(Worker { start: u64::MAX, ..Worker::default() });
    let settings = Settings { cut, ..Settings::default() };
    let error = Feed::new(corpus(), settings, None).unwrap_err();
    assert!(error.is_usage() && error.message().contains("started from"), "{error}");
}

#[test]
fn every_number_may_be_the_largest_there_is_or_is_refused() {
    let worker = Cut::Worker(Worker::default());
    let large: [fn(&mut Settings); 14] = [
        |settings| settings.order = Order::shuffle(Window::Chunks(2), u64::MAX),
        |settings| settings.cut = bucketed(Some(usize::MAX)),
        |settings| settings.batch = BatchSize::Samples(u64::MAX),
        |settings| settings.batch = BatchSize::Units(u64::MAX),
        |settings| settings.batch = BatchSize::Padded(u64::MAX),
        |settings| settings.order = Order::shuffle(Window::Chunks(u64::MAX), 0),
        |settings| settings.order = Order::shuffle(Window::Samples(u64::MAX), 0),
        |settings| settings.order = Order::Rolling(u64::MAX),
        |settings| {
            let epoch = Epoch::Samples(u64::MAX);
            settings.cut = Cut::Worker(Worker { epoch, ..Worker::default() });
        },
        |settings| {
            settings.cut = Cut::Worker(Worker { start: u64::MAX, ..Worker::default() });
        },
        |settings| settings.samples = Some(u64::MAX),
        |settings| settings.sweeps = Some(u64::MAX),
        |settings| settings.ranks = usize::MAX,
        |settings| {
            let partitions =
                Partitions { whole_files: false, reshuffle: true, ..Partitions::default() };
            settings.cut = Cut::Partitions(partitions);
            settings.order = Order::shuffle(Window::Corpus, 0);
        },
    ];
    let mut taken = 0;
    for cut in [Cut::default(), worker, Cut::Timeline(Timeline::default())] {
        for unit in [Unit::Frame, Unit::Sequence] {
            for set in large {
                let mut settings = Settings { cut, unit, ..Settings::default() };
                set(&mut settings);
                match Feed::new(corpus(), settings.clone(), None) {
                    Ok(mut feed) => {
                        feed.next().unwrap().unwrap();
                        Feed::new(corpus(), settings, Some(feed.state())).unwrap();
                        taken += 1;
                    }
                    Err(error) => assert!(error.is_usage(), "{error}: {settings:?}"),
                }
            }
        }
    }
    assert!(taken > 20, "{taken}");
}

#[test]
fn within_a_partition_the_size_of_minibatches_may_change() {
    let order = Order::shuffle(Window::Corpus, 0);
    for drops_partial in [false, true] {
        let cut =
            Cut::Partitions(Partitions { frames: 50, drops_partial, ..Partitions::default() });
        for (before, after) in [(7, 48), (48, 7), (41, 50), (13, 12)] {
            let of = |size| Settings {
                cut,
                order,
                batch: BatchSize::Samples(size),
                sweeps: Some(2),
                ..Settings::default()
            };
            let mut feed = Feed::new(corpus(), of(before), None).unwrap();
            for _ in 0..5 {
                feed.next().unwrap().unwrap();
                let mut other = Feed::new(corpus(), of(after), Some(feed.state())).unwrap();
                assert_eq!(other.next().unwrap().unwrap().index(), feed.state().minibatch);
            }
        }
    }
}

//! States: what is read is written and read again to the same; a feed refuses it, or goes on and
//! ends.
#![no_main]

use std::sync::Arc;

use checks::{MemoryCorpus, choose};
use seqfeed_core::Source as _;
use seqfeed_feed::{
    BatchSize, Cut, Epoch, Feed, Layout, Order, Partitions, Settings, State, Steps, Timeline,
    Truncation, Unit, Window, Worker,
};

/// Settings of each kind, with an end.
fn settings(choice: u8) -> Settings {
    let settings = Settings {
        order: match choice & 3 {
            0 => Order::Sequential,
            1 => Order::shuffle(Window::Corpus, 0),
            2 => Order::shuffle(Window::Samples(20), 0),
            _ => Order::shuffle(Window::Chunks(2), 0),
        },
        batch: BatchSize::Samples(7),
        threads: 1,
        queue: 1,
        ..Settings::default()
    };
    let ended = Settings { sweeps: Some(3), samples: Some(150), ..settings.clone() };
    let (unit, layout) = (Unit::Sequence, Layout::Padded);
    let worker =
        Worker { local_timeline: false, cross_sweeps: choice & 4 != 0, ..Worker::default() };
    let timeline = Timeline::default();
    let truncated = Some(Truncation { length: 3, right_splice: 0 });
    match choice >> 3 & 7 {
        0 => ended,
        1 => Settings { unit, layout, ..ended },
        2 => {
            let cut = Cut::Steps(Steps { bucket: Some(5), ..Steps::default() });
            Settings { unit, layout, cut, ..ended }
        }
        3 => Settings { cut: Cut::Worker(worker), unit, layout, ..ended },
        4 => {
            let cut = Cut::Worker(Worker { truncated, epoch: Epoch::Samples(11), ..worker });
            Settings { cut, unit, ..ended }
        }
        5 => Settings { cut: Cut::Timeline(timeline), unit, layout, ranks: 2, ..ended },
        6 => {
            let cut = Cut::Timeline(Timeline { truncated, ..timeline });
            Settings { cut, unit, ..ended }
        }
        _ => {
            let (whole_files, reshuffle) = (choice & 4 != 0, true);
            let partitions =
                Partitions { frames: 9, whole_files, reshuffle, ..Partitions::default() };
            let order = match ended.order {
                Order::Sequential => Order::Sequential,
                _ => Order::shuffle(Window::Corpus, 0),
            };
            Settings { cut: Cut::Partitions(partitions), order, ..ended }
        }
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((choice, bytes)) = choose(bytes) else { return };
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(state) = State::from_json(text) else { return };
    assert_eq!(State::from_json(&state.to_json()).expect("what was written can be read"), state);
    let (settings, corpus) = (settings(choice), Arc::new(MemoryCorpus::new(&[3, 0, 5, 9, 1, 4], 8)));
    let Ok(feed) = Feed::new(Arc::clone(&corpus) as _, settings.clone(), None) else { return };
    // Its digest is right, so that the rest is looked at.
    let state = State { corpus: feed.state().corpus.clone(), ..state };
    drop(feed);
    let partitions = matches!(settings.cut, Cut::Partitions(_));
    let Ok(feed) = Feed::new(Arc::clone(&corpus) as _, settings, Some(&state)) else { return };
    // In a partition, what is too short for a minibatch is passed over. A part may be through,
    // where only the next one has more.
    let part = feed.state().order.part == state.order.part;
    if !partitions && part {
        assert_eq!(feed.state(), &state, "it stands where the state says");
    }
    // Three sweeps, minibatches of one sample at least, perhaps an empty one at each
    // end of a sweep.
    let most = 3 * (corpus.index().total_samples() + 6) + 12;
    let mut count = 0;
    for minibatch in feed {
        minibatch.expect("memory holds every sequence");
        count += 1;
        assert!(count <= most, "the feed does not end");
    }
});

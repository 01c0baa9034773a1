//! States: what is read is written and read again to the same; a feed refuses it, or goes
//! on and ends.
#![no_main]

use std::sync::Arc;

use checks::{MemoryCorpus, choose};
use seqfeed_core::Source as _;
use seqfeed_feed::{
    BatchSize, Cut, Epoch, Feed, Layout, Order, PartState, Settings, State, Truncation, Unit,
    Window,
};

/// Settings of each kind, with an end.
fn settings(choice: u8) -> Settings {
    let settings = Settings {
        order: match choice & 3 {
            0 => Order::Sequential,
            1 => Order::Shuffle(Window::Corpus),
            2 => Order::Shuffle(Window::Samples(20)),
            _ => Order::Shuffle(Window::Chunks(2)),
        },
        batch: BatchSize::Samples(7),
        threads: 1,
        queue: 1,
        ..Settings::default()
    };
    let ended = Settings { sweeps: Some(3), samples: Some(150), ..settings.clone() };
    let (unit, layout) = (Unit::Sequence, Layout::Padded);
    let worker = Cut::Worker { local_timeline: false, cross_sweeps: choice & 4 != 0 };
    let truncated = Some(Truncation { length: 3, right_splice: 0 });
    match choice >> 3 & 7 {
        0 => ended,
        1 => Settings { unit, layout, ..ended },
        2 => Settings { unit, layout, bucket: Some(5), ..ended },
        3 => Settings { cut: worker, unit, layout, ..ended },
        4 => Settings { cut: worker, unit, truncated, epoch: Epoch::Samples(11), ..ended },
        5 => Settings { cut: Cut::Timeline, unit, layout, ranks: 2, ..ended },
        6 => Settings { cut: Cut::Timeline, unit, truncated, ..ended },
        _ => {
            let cut = Cut::Partitions { frames: 9, whole_files: choice & 4 != 0, reshuffle: true };
            let order = match settings.order {
                Order::Sequential => Order::Sequential,
                _ => Order::Shuffle(Window::Corpus),
            };
            Settings { cut, order, ..ended }
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
    let partitions = matches!(settings.cut, Cut::Partitions { .. });
    let Ok(feed) = Feed::new(Arc::clone(&corpus) as _, settings, Some(&state)) else { return };
    // Without a part, the first one is meant. In a partition, what is too short for a minibatch is
    // passed over.
    let first = state.part.is_none() && feed.state().part == Some(PartState::default());
    let part = if first { feed.state().part } else { state.part };
    if !partitions {
        assert_eq!(feed.state(), &State { part, ..state }, "it stands where the state says");
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

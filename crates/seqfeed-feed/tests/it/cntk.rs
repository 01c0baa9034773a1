//! The windowed shuffle equals CNTK's, unit by unit and minibatch by minibatch.

use std::sync::Arc;

use seqfeed_core::Source;
use seqfeed_feed::{BatchSize, Feed, Order, Settings, Unit, Window};
use serde::Deserialize;

use crate::memory_corpus::MemoryCorpus;

#[derive(Deserialize)]
struct Case {
    frames: bool,
    lengths: Vec<u32>,
    chunk: u64,
    in_samples: bool,
    window: u64,
    seed: u64,
    batch: u64,
    sweeps: Vec<Vec<Vec<u64>>>,
}

#[test]
fn orders_and_minibatches_equal_cntk() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../data/cntk_orders.json")).unwrap();
    assert_eq!(cases.len(), 60);
    for (number, case) in cases.iter().enumerate() {
        let corpus: Arc<dyn Source> = Arc::new(MemoryCorpus::new(&case.lengths, case.chunk));
        let window = match case.in_samples {
            true => Window::Samples(case.window),
            false => Window::Chunks(case.window),
        };
        let settings = Settings {
            unit: if case.frames { Unit::Frame } else { Unit::Sequence },
            order: Order::shuffle(window, case.seed),
            batch: BatchSize::Samples(case.batch),
            sweeps: Some(2),
            ..Settings::default()
        };
        let mut sweeps = vec![Vec::new(); 2];
        for minibatch in Feed::new(Arc::clone(&corpus), settings, None).unwrap() {
            let minibatch = minibatch.unwrap();
            let units = minibatch.segments().iter().map(|segment| match case.frames {
                true => corpus.index().start(segment.sequence) + u64::from(segment.first),
                false => u64::from(segment.sequence),
            });
            sweeps[minibatch.sweep() as usize].push(units.collect::<Vec<_>>());
        }
        assert_eq!(sweeps, case.sweeps, "case {number}");
    }
}

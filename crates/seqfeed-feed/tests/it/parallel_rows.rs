//! Sequences side by side in rows: packed as CNTK packs them, or truncated.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use seqfeed_core::Source;
use seqfeed_feed::{
    BatchSize, Cut, Feed, Layout, Minibatch, Order, Settings, State, Truncation, Unit, Window,
    Worker,
};

use crate::memory_corpus::MemoryCorpus;

fn settings(batch: u64, truncated: Option<Truncation>) -> Settings {
    Settings {
        unit: Unit::Sequence,
        order: Order::shuffle(Window::Samples(60), 0),
        layout: Layout::Packed,
        batch: BatchSize::Samples(batch),
        cut: Cut::Worker(Worker { truncated, ..Worker::default() }),
        sweeps: Some(2),
        ..Settings::default()
    }
}

fn feed(corpus: &Arc<dyn Source>, settings: Settings, state: Option<&State>) -> Feed {
    Feed::new(Arc::clone(corpus), settings, state).unwrap()
}

/// The labels of each segment, read from where it is said to lie; all else must be padding.
fn segments(minibatch: &Minibatch) -> Vec<(u32, Vec<i32>)> {
    let labels = minibatch.stream("labels").unwrap();
    let values = labels.as_i32().unwrap();
    let [rows, width, 1] = labels.shape()[..] else { panic!("{:?}", labels.shape()) };
    assert_eq!(values.len(), rows * width);
    let mut padding = values.to_vec();
    let features = minibatch.dense("features").unwrap();
    let segments = minibatch.segments().iter().enumerate().map(|(number, segment)| {
        let (start, count) = labels.rows_of(number);
        assert_eq!(start / width, (start + count - 1) / width, "inside one row");
        padding[start..start + count].fill(-100);
        for t in 0..count {
            let feature = [segment.sequence as f32, (segment.first as usize + t) as f32];
            assert_eq!(features[2 * (start + t)..][..2], feature);
        }
        (segment.sequence, values[start..start + count].to_vec())
    });
    let segments: Vec<_> = segments.collect();
    assert!(padding.iter().all(|&label| label == -100), "segments overlap, or padding is none");
    segments
}

/// The labels of all sequences, row after row of minibatches of truncated sequences.
fn rows(minibatches: &[Minibatch]) -> Vec<Vec<(u32, Vec<i32>)>> {
    let mut rows: BTreeMap<usize, Vec<(u32, Vec<i32>)>> = BTreeMap::new();
    for minibatch in minibatches {
        let labels = minibatch.stream("labels").unwrap();
        let width = labels.shape()[1];
        for (number, (sequence, values)) in segments(minibatch).into_iter().enumerate() {
            let row = rows.entry(labels.rows_of(number).0 / width).or_default();
            match (minibatch.segments()[number].first, row.last_mut()) {
                (0, _) => row.push((sequence, values)),
                (first, Some(last)) => {
                    assert_eq!((last.0, last.1.len()), (sequence, first as usize));
                    last.1.extend(values);
                }
                (first, None) => panic!("a row begins at sample {first} of a sequence"),
            }
        }
    }
    rows.into_values().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn packed_rows_hold_each_sequence_once(
        lengths in prop::collection::vec(1u32..20, 1..40),
        batch in 1u64..80,
    ) {
        let corpus: Arc<dyn Source> = Arc::new(MemoryCorpus::new(&lengths, 32));
        let mut seen = vec![0; lengths.len()];
        for minibatch in feed(&corpus, settings(batch, None), None) {
            let minibatch = minibatch.unwrap();
            let longest = minibatch.segments().iter().map(|segment| segment.samples).max().unwrap();
            let shape = minibatch.stream("labels").unwrap().shape();
            prop_assert_eq!(shape[1], longest as usize);
            for (sequence, values) in segments(&minibatch) {
                seen[sequence as usize] += 1;
                let expected: Vec<i32> =
                    (0..lengths[sequence as usize] as i32).map(|t| sequence as i32 * 1000 + t).collect();
                prop_assert_eq!(values, expected);
            }
        }
        prop_assert!(seen.iter().all(|&times| times == 2));
    }

    #[test]
    fn truncated_rows_give_each_sequence_whole_and_in_order(
        lengths in prop::collection::vec(1u32..30, 1..40),
        batch in 1u64..60,
        length in 1u64..12,
        ranks in 1usize..3,
    ) {
        let corpus: Arc<dyn Source> = Arc::new(MemoryCorpus::new(&lengths, 32));
        prop_assume!((batch / length).max(1) >= ranks as u64);
        let mut seen = vec![0; lengths.len()];
        for rank in 0..ranks {
            let truncated = Some(Truncation { length, right_splice: 0 });
            let settings = Settings { rank, ranks, ..settings(batch, truncated) };
            let all: Vec<Minibatch> =
                feed(&corpus, settings.clone(), None).map(Result::unwrap).collect();
            for (sequence, values) in rows(&all).into_iter().flatten() {
                seen[sequence as usize] += 1;
                let expected: Vec<i32> =
                    (0..lengths[sequence as usize] as i32).map(|t| sequence as i32 * 1000 + t).collect();
                prop_assert_eq!(values, expected);
            }
            // Going on anywhere gives the same.
            let after = all.len() / 2;
            if let Some(minibatch) = all.get(after) {
                let state = State::from_json(&minibatch.state().to_json()).unwrap();
                let rest: Vec<Minibatch> =
                    feed(&corpus, settings, Some(&state)).map(Result::unwrap).collect();
                let parts = |minibatches: &[Minibatch]| -> Vec<Vec<(u32, Vec<i32>)>> {
                    minibatches.iter().map(segments).collect()
                };
                prop_assert_eq!(parts(&rest), parts(&all[after + 1..]));
            }
        }
        prop_assert!(seen.iter().all(|&times| times == 2), "{:?}", seen);
    }
}

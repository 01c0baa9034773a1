//! The types in which streams are delivered.

use std::sync::Arc;

use seqfeed_core::{Element, bf16, f16};
use seqfeed_feed::{Feed, Layout, Minibatch, Order, Settings, StreamType, Unit};

use crate::memory_corpus::MemoryCorpus;

/// The lengths of the sequences.
const LENGTHS: [u32; 2] = [3, 5];

fn feed(types: &[(&str, Element)], settings: Settings) -> seqfeed_core::Result<Feed> {
    let of = |(stream, element): &(&str, Element)| StreamType {
        stream: (*stream).to_owned(),
        element: *element,
    };
    let types = types.iter().map(of).collect();
    let settings = Settings { types, order: Order::Sequential, sweeps: Some(1), ..settings };
    Feed::new(Arc::new(MemoryCorpus::new(&LENGTHS, 1000)), settings, None)
}

fn first(types: &[(&str, Element)], layout: Layout) -> Minibatch {
    let settings = Settings {
        unit: if layout == Layout::Frames { Unit::Frame } else { Unit::Sequence },
        layout,
        feature_padding: 0.1,
        ..Settings::default()
    };
    feed(types, settings).unwrap().next().unwrap().unwrap()
}

const LAYOUTS: [Layout; 4] = [Layout::Frames, Layout::Padded, Layout::Concatenated, Layout::Packed];

#[test]
fn values_are_those_of_the_wide_types() {
    for layout in LAYOUTS {
        let wide = first(&[], layout);
        let features = wide.dense("features").unwrap();
        let all = [("features", Element::F16), ("labels", Element::I64), ("speaker", Element::I64)];
        let narrow = first(&all, layout);
        let expected: Vec<f16> = features.iter().map(|&value| f16::from_f32(value)).collect();
        assert_eq!(narrow.stream("features").unwrap().as_f16().unwrap(), expected, "{layout:?}");
        for labels in ["labels", "speaker"] {
            let expected: Vec<i64> =
                wide.labels(labels).unwrap().iter().map(|&l| l.into()).collect();
            assert_eq!(narrow.stream(labels).unwrap().as_i64().unwrap(), expected, "{layout:?}");
        }
        let narrow = first(&[("features", Element::BF16)], layout);
        let expected: Vec<bf16> = features.iter().map(|&value| bf16::from_f32(value)).collect();
        let features = narrow.stream("features").unwrap();
        assert_eq!(features.as_bf16().unwrap(), expected, "{layout:?}");
        assert_eq!(features.bytes() * 2, wide.stream("features").unwrap().bytes());
    }
}

#[test]
fn half_as_much_memory_is_needed() {
    let bound = |types: &[_]| feed(types, Settings::default()).unwrap().memory_bound();
    assert!(bound(&[("features", Element::F16)]) < bound(&[]));
}

#[test]
fn types_that_streams_cannot_have() {
    for (stream, element, expected) in [
        ("features", Element::I64, "stream features cannot be delivered as int64"),
        ("labels", Element::F16, "stream labels cannot be delivered as float16"),
        ("words", Element::I64, "dtype int64 is requested for stream words"),
    ] {
        let error = feed(&[(stream, element)], Settings::default()).unwrap_err();
        assert!(error.is_usage() && error.message().contains(expected), "{error}");
    }
    // Its own type is no change.
    assert!(feed(&[("labels", Element::I32)], Settings::default()).is_ok());
}

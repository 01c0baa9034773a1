//! What is written is read again: any streams, lengths and keys, in both formats,
//! compressed or not.

use proptest::prelude::*;
use seqfeed_arrow::{Compress, WriteOptions};
use seqfeed_core::{Block, Element, Extent, Key, Kind, Source, Stream};

use crate::{Held, content, load, open, write};

/// A stream, and for each sequence how many samples it would like to have and the bits
/// of its values.
fn stream() -> impl Strategy<Value = Stream> {
    let shapes = prop_oneof![
        (Just(Kind::Dense), prop_oneof![Just(Element::F32), Just(Element::F64)], 1..5usize),
        (Just(Kind::Label), Just(Element::I32), Just(1usize)),
        (Just(Kind::Sparse), prop_oneof![Just(Element::F32), Just(Element::F64)], 1..2000usize),
    ];
    let extents = prop_oneof![
        4 => Just(Extent::Samples), 1 => Just(Extent::Sequence), 1 => Just(Extent::Own)
    ];
    (shapes, extents).prop_map(|((kind, element, dim), extent)| Stream {
        name: String::new(),
        kind,
        element,
        dim,
        extent,
    })
}

fn keys() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let numbers =
        prop::collection::vec(any::<i32>().prop_map(|n| n.to_string().into_bytes()), 0..9);
    let words = prop::collection::vec("[a-zäöü0-9_-]{1,9}".prop_map(String::into_bytes), 0..9);
    let bytes = prop::collection::vec(prop::collection::vec(any::<u8>(), 0..6), 0..9);
    prop_oneof![numbers, words, bytes]
}

fn fill(stream: &Stream, lengths: &[usize], own: &[usize], mut seed: u64) -> Block {
    let mut block = Block::of(stream);
    let mut draw = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as u32
    };
    for (number, &samples) in lengths.iter().enumerate() {
        let samples = match stream.extent {
            Extent::Samples => samples,
            Extent::Sequence => 1,
            Extent::Own => own[number % own.len()],
        };
        if stream.kind == Kind::Sparse {
            let (mut indices, mut ends) = (Vec::new(), Vec::new());
            for _ in 0..samples {
                (0..draw() % 4).for_each(|_| indices.push((draw() as usize % stream.dim) as i32));
                ends.push(indices.len() as u32);
            }
            let size = stream.element.size();
            let bytes: Vec<u8> = (0..indices.len() * size).map(|_| draw() as u8).collect();
            block.push_sparse(&bytes, &indices, &ends);
        } else {
            // Any bits, NaN among them.
            block.push_bytes(samples).iter_mut().for_each(|byte| *byte = draw() as u8);
        }
    }
    block
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn any_sequences_come_back(
        keys in keys(),
        mut streams in prop::collection::vec(stream(), 1..5),
        lengths in prop::collection::vec(prop_oneof![Just(0usize), 1..40usize], 9),
        own in prop::collection::vec(0..5usize, 3),
        seed in any::<u64>(),
        group in prop_oneof![Just(1u64), 20..60u64, Just(32_768)],
        zstd in any::<bool>(),
        parquet in any::<bool>(),
        order in Just((0..9u32).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        for (number, stream) in streams.iter_mut().enumerate() {
            stream.name = format!("stream {number}");
        }
        let lengths = &lengths[..keys.len()];
        let each = streams.iter().enumerate();
        let blocks = each.map(|(n, s)| fill(s, lengths, &own, seed ^ n as u64)).collect();
        let held = Held { streams, keys, blocks };
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(if parquet { "x.parquet" } else { "x.arrow" });
        let compress = if zstd { Compress::Zstd(1) } else { Compress::None };
        write(&held, &path, &WriteOptions { group_samples: group, compress }).unwrap();

        let source = open(&path).unwrap();
        prop_assert_eq!(source.streams(), &held.streams[..]);
        prop_assert_eq!(source.index().len(), held.keys.len());
        let loaded = load(&source).unwrap();
        let order: Vec<u32> =
            order.into_iter().filter(|&n| (n as usize) < held.keys.len()).collect();
        for (stream, block) in held.blocks.iter().enumerate() {
            let mut shuffled = Block::of(&held.streams[stream]);
            source.load_stream(stream, &order, &mut shuffled).unwrap();
            for (number, key) in held.keys.iter().enumerate() {
                prop_assert_eq!(source.index().key(number as u32), Key(key));
                prop_assert_eq!(content(&loaded[stream], number), content(block, number));
                if held.streams[stream].extent == Extent::Samples {
                    prop_assert_eq!(source.index().samples(number as u32), lengths[number] as u32);
                }
            }
            for (at, &number) in order.iter().enumerate() {
                prop_assert_eq!(content(&shuffled, at), content(block, number as usize));
            }
        }
        prop_assert!((0..held.keys.len() as u32).all(|n| source.fault(n).is_none()));
    }
}

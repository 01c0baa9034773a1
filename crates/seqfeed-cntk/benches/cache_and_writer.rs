//! Index caches and the writer of CTF, on one core.
//!
//! `cargo bench -p seqfeed-cntk --bench cache_and_writer`; the best of several rounds is printed,
//! since other programs can only make a round slower.

// A program: it prints.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::fs;
use std::hint::black_box;
use std::time::Instant;

use seqfeed_cntk::ctf::KeyKind;
use seqfeed_cntk::ctf::cache::{self, Settings, Stamp};
use seqfeed_cntk::ctf::{CtfIndex, CtfSequence, Writer, WriterSamples, WriterStream};
use seqfeed_core::Key;

/// Sequences of a file of about 1 GB.
const SEQUENCES: usize = 5_000_000;
const ROUNDS: usize = 9;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// About normal: the sum of twelve uniform numbers.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

/// The best of several rounds, in seconds.
fn best<T>(mut work: impl FnMut() -> T) -> f64 {
    let seconds = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        let result = black_box(work());
        let seconds = start.elapsed().as_secs_f64();
        drop(result);
        seconds
    });
    seconds.fold(f64::INFINITY, f64::min)
}

fn index(keys: KeyKind) -> CtfIndex {
    let (mut random, mut offset) = (Random(1), 0);
    let sequences = (0..SEQUENCES as u64).map(|number| {
        let samples = 1 + (random.next() % 20) as u32;
        let bytes = 10 * samples + (random.next() % 200) as u32;
        let key = if keys == KeyKind::Hashed { random.next() } else { number };
        let sequence = CtfSequence { key, offset, bytes, samples };
        offset += u64::from(bytes);
        sequence
    });
    let sequences: Vec<_> = sequences.collect();
    CtfIndex { sequences, names: Vec::new(), file_bytes: offset }
}

fn caches() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data.ctf");
    fs::write(&data, "0 |x 1\n").unwrap();
    let stamp = Stamp::of(&data).unwrap();
    for keys in [KeyKind::Numeric, KeyKind::Hashed] {
        let settings = Settings { keys, ..Settings::default() };
        let index = index(keys);
        let path = cache::write(&index, &data, &settings, &stamp).unwrap();
        let bytes = fs::read(&path).unwrap();
        assert!(cache::read(&data, &settings).unwrap().unwrap().index == index);
        println!(
            "{keys:?} keys: {:.2} bytes a sequence; encode {:.1} ms, read {:.1} ms (decode {:.1} ms); \
             copying the {} MB of the index takes {:.1} ms",
            bytes.len() as f64 / SEQUENCES as f64,
            1e3 * best(|| cache::encode(&index, &settings, &stamp)),
            1e3 * best(|| cache::read(&data, &settings)),
            1e3 * best(|| cache::decode(&bytes, &settings, &stamp)),
            size_of_val(&*index.sequences) / 1_000_000,
            1e3 * best(|| index.sequences.clone()),
        );
    }
}

fn writer() {
    const DIM: usize = 40;
    let mut random = Random(1);
    let values: Vec<f64> = (0..DIM * 25_000).map(|_| random.normal()).collect();
    let narrow: Vec<f32> = values.iter().map(|&value| value as f32).collect();
    let measure = |what: &str, samples: &[WriterSamples<'_>], stream: WriterStream| {
        let run = || {
            let text = Vec::with_capacity(64 << 20);
            let mut writer = Writer::new(text, vec![stream.clone()]).unwrap();
            for (number, samples) in samples.iter().enumerate() {
                writer.write_sequence(Key(number.to_string().as_bytes()), &[*samples]).unwrap();
            }
            writer.finish().unwrap()
        };
        let bytes = run().len() as f64;
        println!("writing {what}: {:.0} MB/s", bytes / best(run) / 1e6);
    };
    let dense: Vec<_> = narrow.chunks(100 * DIM).map(WriterSamples::dense).collect();
    measure("40 x f32", &dense, WriterStream::dense("x", DIM));
    let dense: Vec<_> = values.chunks(100 * DIM).map(WriterSamples::dense).collect();
    measure("40 x f64", &dense, WriterStream::dense("x", DIM));
    let ones = vec![1.0_f32; 100];
    let indices: Vec<u32> = (0..100).map(|_| (random.next() % 10_000) as u32).collect();
    let ends: Vec<u32> = (1..=100).collect();
    let sparse = vec![WriterSamples::sparse(&ones, &indices, &ends); 10_000];
    measure("one-hot", &sparse, WriterStream::sparse("y", 10_000));
}

fn main() {
    caches();
    writer();
}

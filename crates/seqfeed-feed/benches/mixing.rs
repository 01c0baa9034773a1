//! How well the orders mix, beside one permutation of all units.
//!
//! ```sh
//! cargo bench -p seqfeed-feed --bench mixing
//! ```
//!
//! 64,000 sequences in 1,000 chunks, which are sorted by class (10 classes), as data often are. Of
//! ten sweeps:
//!
//! - neighbours: how far two sequences that are neighbours in the corpus are from one another, as
//!   a share of the sweep (median). A permutation has 0.29.
//! - again: how many pairs of sequences of one minibatch are in one minibatch of the next sweep
//!   too, times what a permutation has.
//! - chunks: chunks in a minibatch of 256 sequences.
//! - largest class: its share of a minibatch, on average. 0.1 if each minibatch had all alike.

#![allow(clippy::print_stdout)]

use std::collections::HashSet;
use std::sync::Arc;

use seqfeed_core::{
    Block, Element, Extent, Index, IndexBuilder, Key, Kind, Result, Source, Stream,
};
use seqfeed_feed::{BatchSize, Blocks, Feed, Order, Settings, Unit, Window};

const SEQUENCES: usize = 64_000;
const OF_CHUNK: usize = 64;
const BATCH: usize = 256;
const SWEEPS: u64 = 10;

struct Numbers {
    streams: Vec<Stream>,
    index: Arc<Index>,
}

impl Source for Numbers {
    fn name(&self) -> &str {
        "numbers"
    }
    fn streams(&self) -> &[Stream] {
        &self.streams
    }
    fn index(&self) -> &Arc<Index> {
        &self.index
    }
    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
        for &sequence in sequences {
            blocks[0].push_i32(1)[0] = sequence as i32;
        }
        Ok(())
    }
}

fn corpus() -> Arc<dyn Source> {
    let mut builder = IndexBuilder::new(OF_CHUNK as u64);
    for number in 0..SEQUENCES {
        builder.push(Key(format!("{number:06}").as_bytes()), 1);
    }
    let stream = Stream {
        name: "number".to_owned(),
        kind: Kind::Label,
        element: Element::I32,
        dim: 1,
        extent: Extent::Sequence,
    };
    Arc::new(Numbers { streams: vec![stream], index: Arc::new(builder.finish()) })
}

/// The sequences of a sweep, in its order.
fn sweeps(corpus: &Arc<dyn Source>, order: Order) -> Result<Vec<Vec<usize>>> {
    let settings = Settings {
        unit: Unit::Sequence,
        order,
        batch: BatchSize::Units(BATCH as u64),
        sweeps: Some(SWEEPS),
        ..Settings::default()
    };
    let mut all = Vec::new();
    for minibatch in Feed::new(Arc::clone(corpus), settings, None)? {
        let minibatch = minibatch?;
        let numbers = minibatch.stream("number");
        let numbers = numbers.iter().flat_map(|stream| stream.as_i32().unwrap_or(&[]));
        all.extend(numbers.map(|&number| number as usize));
    }
    Ok(all.chunks(SEQUENCES).map(<[usize]>::to_vec).collect())
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count)
}

/// The median distance of neighbours, as a share of the sweep.
fn neighbours(sweep: &[usize]) -> f64 {
    let mut places = vec![0; sweep.len()];
    sweep.iter().enumerate().for_each(|(place, &sequence)| places[sequence] = place);
    let distances = places.windows(2).map(|pair: &[usize]| pair[0].abs_diff(pair[1]));
    let mut distances: Vec<usize> = distances.collect();
    distances.sort_unstable();
    distances[distances.len() / 2] as f64 / sweep.len() as f64
}

/// Pairs of a minibatch that meet again in the next sweep, times what chance gives.
fn again(sweep: &[usize], next: &[usize]) -> f64 {
    let mut minibatch = vec![0; next.len()];
    next.iter().enumerate().for_each(|(place, &sequence)| minibatch[sequence] = place / BATCH);
    let pairs = sweep.chunks_exact(BATCH).flat_map(|one| {
        let one: Vec<usize> = one.iter().map(|&sequence| minibatch[sequence]).collect();
        let other = one.clone();
        (1..BATCH).step_by(5).flat_map(move |far| {
            let (one, other) = (one.clone(), other.clone());
            (0..BATCH).map(move |at| f64::from(u8::from(one[at] == other[(at + far) % BATCH])))
        })
    });
    let chance = (BATCH - 1) as f64 / (SEQUENCES - 1) as f64;
    mean(pairs) / chance
}

fn chunks(sweep: &[usize]) -> f64 {
    mean(sweep.chunks(BATCH).map(|minibatch| {
        minibatch.iter().map(|sequence| sequence / OF_CHUNK).collect::<HashSet<_>>().len() as f64
    }))
}

fn largest_class(sweep: &[usize]) -> f64 {
    mean(sweep.chunks(BATCH).map(|minibatch| {
        let mut counts = [0u32; 10];
        minibatch.iter().for_each(|sequence| counts[sequence * 10 / SEQUENCES] += 1);
        f64::from(counts.into_iter().max().unwrap_or(0)) / minibatch.len() as f64
    }))
}

fn main() -> Result<()> {
    let corpus = corpus();
    let blocks = |chunks| Order::Blocks(Blocks { window: Window::Chunks(chunks), seed: 1 });
    println!("| order | neighbours | again | chunks | largest class |");
    println!("| --- | --- | --- | --- | --- |");
    for (name, order) in [
        ("`shuffle`, one permutation (`corpus`)", Order::shuffle(Window::Corpus, 1)),
        ("`shuffle`, 32 chunks", Order::shuffle(Window::Chunks(32), 1)),
        ("`blocks`, 32 chunks", blocks(32)),
        ("`shuffle`, 8 chunks", Order::shuffle(Window::Chunks(8), 1)),
        ("`blocks`, 8 chunks", blocks(8)),
        ("`sequential`", Order::Sequential),
    ] {
        let sweeps = sweeps(&corpus, order)?;
        let of_sweep = |measure: fn(&[usize]) -> f64| mean(sweeps.iter().map(|one| measure(one)));
        let pairs = sweeps.windows(2).map(|pair| again(&pair[0], &pair[1]));
        println!(
            "| {name} | {:.3} | {:.1} | {:.0} | {:.2} |",
            of_sweep(neighbours),
            mean(pairs),
            of_sweep(chunks),
            of_sweep(largest_class)
        );
    }
    Ok(())
}

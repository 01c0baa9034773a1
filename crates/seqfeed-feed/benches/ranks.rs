//! Many ranks of one corpus: whether they give each sequence once, what each of them reads, and
//! what it costs to draw the order.
//!
//! ```sh
//! cargo bench -p seqfeed-feed --bench ranks -- 5000000
//! ```
//!
//! All ranks run in this process, one after another. The first third of the sweep is run by 1,024
//! ranks, the second by 768, and the rest by 512, each going on from a state. The second part
//! compares ways to divide a corpus, by what rank 17 of 1,024 draws and reads.

#![allow(clippy::print_stdout)]

use std::sync::Arc;
use std::time::Instant;

use seqfeed_core::{
    Block, Element, Extent, Index, IndexBuilder, Key, Kind, Result, Source, Stream,
};
use seqfeed_feed::{
    BatchSize, Blocks, Cut, Feed, Order, Partial, Preview, Settings, Shard, State, Steps, Unit,
    Window,
};

/// One number a sequence: its own.
struct Numbers {
    streams: Vec<Stream>,
    index: Arc<Index>,
}

impl Numbers {
    fn new(sequences: u32) -> Self {
        let mut builder = IndexBuilder::new(4096);
        for number in 0..sequences {
            let samples = 8 + number.wrapping_mul(2_654_435_761) % 17;
            builder.push(Key(format!("corpus-a-utt-{number:09}").as_bytes()), samples);
        }
        let stream = Stream {
            name: "number".to_owned(),
            kind: Kind::Label,
            element: Element::I32,
            dim: 1,
            extent: Extent::Sequence,
        };
        Self { streams: vec![stream], index: Arc::new(builder.finish()) }
    }
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

fn settings(shard: Shard, order: Order, rank: usize, ranks: usize) -> Settings {
    let steps = Steps { shard, groups: 3072, partial: Partial::Even, ..Steps::default() };
    Settings {
        unit: Unit::Sequence,
        order,
        batch: BatchSize::Samples(256),
        cut: Cut::Steps(steps),
        sweeps: Some(1),
        rank,
        ranks,
        threads: 1,
        queue: 1,
        ..Settings::default()
    }
}

/// Runs all ranks for some steps, from a state. Returns the state behind them.
fn run(
    corpus: &Arc<Numbers>,
    ranks: usize,
    steps: usize,
    state: Option<&State>,
    seen: &mut [u8],
) -> Result<State> {
    let blocks = Order::Blocks(Blocks { window: Window::Chunks(2), seed: 1 });
    let mut after = None;
    for rank in 0..ranks {
        let settings = settings(Shard::Groups, blocks, rank, ranks);
        let mut feed = Feed::new(Arc::clone(corpus) as _, settings, state)?;
        for minibatch in feed.by_ref().take(steps) {
            let minibatch = minibatch?;
            let numbers = minibatch.stream("number");
            for &number in numbers.iter().flat_map(|stream| stream.as_i32().unwrap_or(&[])) {
                seen[number as usize] += 1;
            }
        }
        let here = feed.state().clone();
        assert!(rank == 0 || after.as_ref() == Some(&here), "all ranks stand at the same place");
        after = Some(here);
    }
    Ok(after.unwrap_or_default())
}

fn main() -> Result<()> {
    let sequences = std::env::args().filter_map(|text| text.parse().ok()).next();
    let sequences: u32 = sequences.unwrap_or(200_000);
    let corpus = Arc::new(Numbers::new(sequences));
    let chunks = corpus.index.chunk_count();
    let samples = corpus.index.total_samples();
    println!("{sequences} sequences, {samples} samples, {chunks} chunks");

    let mut seen = vec![0; sequences as usize];
    let steps = (samples / 256 / 1024) as usize / 3;
    let started = Instant::now();
    let first = run(&corpus, 1024, steps, None, &mut seen)?;
    let second = run(&corpus, 768, steps, Some(&first), &mut seen)?;
    run(&corpus, 512, usize::MAX, Some(&second), &mut seen)?;
    let once = seen.iter().filter(|&&count| count == 1).count();
    println!("1,024, then 768, then 512 ranks: {once} of {sequences} sequences came once");
    println!("in {:.1} s for all of them", started.elapsed().as_secs_f64());
    assert_eq!(once, sequences as usize);

    println!("rank 17 of 1,024   chunks   share of all   us a step");
    let blocks = Order::Blocks(Blocks { window: Window::Chunks(2), seed: 1 });
    for (name, shard, order) in [
        ("groups", Shard::Groups, blocks),
        ("minibatches", Shard::Minibatches, blocks),
        ("chunks", Shard::Chunks, blocks),
        ("minibatches, shuffle", Shard::Minibatches, Order::shuffle(Window::Chunks(32), 1)),
    ] {
        let started = Instant::now();
        let settings = settings(shard, order, 17, 1024);
        let mut preview = Preview::new(Arc::clone(&corpus) as _, &settings)?;
        let opened = started.elapsed();
        let steps = preview.by_ref().count();
        let step = (started.elapsed() - opened).as_secs_f64() * 1e6 / steps.max(1) as f64;
        let share = preview.chunks() as f64 / chunks as f64;
        println!("{name:20} {:6} {:12.4} % {step:12.1}", preview.chunks(), 100.0 * share);
    }
    Ok(())
}

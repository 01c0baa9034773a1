//! Settings of a feed over a small corpus: refused, or the feed ends, delivers no sample twice in a
//! sweep, keeps to its limits, and goes on exactly from every state.
#![no_main]

use std::collections::HashMap;

use std::sync::Arc;

use checks::{MemoryCorpus, STEP};
use libfuzzer_sys::arbitrary::{self, Arbitrary, Unstructured};
use seqfeed_feed::{
    BatchSize, Context, Cut, Epoch, Feed, Generator, LabelMap, LabelRules, LabelSet, Layout,
    Minibatch, Order, Partial, Settings, Shard, State, Truncation, Unit, Window,
};

#[derive(Debug)]
struct Case {
    lengths: Vec<u32>,
    chunk: u64,
    own: bool,
    settings: Settings,
    /// Where a second feed goes on.
    stop: usize,
}

/// A small number, or now and then any one.
fn number(u: &mut Unstructured, most: u64) -> arbitrary::Result<u64> {
    if u.ratio(15, 16)? { u.int_in_range(0..=most) } else { u.arbitrary() }
}

fn maybe<T>(
    u: &mut Unstructured,
    value: impl FnOnce(&mut Unstructured) -> arbitrary::Result<T>,
) -> arbitrary::Result<Option<T>> {
    if u.ratio(3, 4)? { Ok(None) } else { value(u).map(Some) }
}

impl<'a> Arbitrary<'a> for Case {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let count = u.int_in_range(0..=14)?;
        let lengths =
            (0..count).map(|_| u.int_in_range(0..=40)).collect::<arbitrary::Result<Vec<u32>>>()?;
        let window = match u.int_in_range(0..=4)? {
            0 => Window::Corpus,
            1 | 2 => Window::Samples(number(u, 100)?),
            _ => Window::Chunks(number(u, 5)?),
        };
        let order = match u.int_in_range(0..=4)? {
            0 => Order::Sequential,
            1 => Order::Rolling(number(u, 50)?),
            _ => Order::Shuffle(window),
        };
        let size = number(u, 60)?;
        let cut = match u.int_in_range(0..=6)? {
            0..=2 => Cut::Steps,
            3 | 4 => Cut::Worker { local_timeline: u.arbitrary()?, cross_sweeps: u.arbitrary()? },
            5 => Cut::Timeline,
            _ => Cut::Partitions {
                frames: number(u, 50)?,
                whole_files: u.arbitrary()?,
                reshuffle: u.arbitrary()?,
            },
        };
        let layouts = [
            Layout::Frames,
            Layout::Padded,
            Layout::Concatenated,
            Layout::Packed,
            Layout::Truncated,
        ];
        let context = maybe(u, |u| {
            let streams = ["features", "features", "labels", "speaker", "words"];
            let stream = (*u.choose(&streams)?).to_owned();
            Ok(Context { stream, left: u.int_in_range(0..=4)?, right: u.int_in_range(0..=4)? })
        })?;
        let labels = maybe(u, |u| {
            let (low, high) = (u.int_in_range(-2..=3000)?, u.int_in_range(-2..=9000)?);
            Ok(LabelRules {
                stream: (*u.choose(&["labels", "labels", "speaker"])?).to_owned(),
                ignore: LabelSet::new([(low, high)]),
                map: LabelMap::default(),
            })
        })?;
        let ranks = number(u, 3)?.max(u64::from(u.arbitrary::<bool>()?)) as usize;
        let settings = Settings {
            unit: *u.choose(&[Unit::Sequence, Unit::Frame])?,
            order,
            seed: number(u, 3)?,
            generator: *u.choose(&[Generator::MersenneTwister, Generator::Rand])?,
            batch: match u.int_in_range(0..=3)? {
                0 => BatchSize::Units(size),
                1 => BatchSize::Padded(size),
                _ => BatchSize::Samples(size),
            },
            bucket: maybe(u, |u| Ok(number(u, 8)? as usize))?,
            layout: *u.choose(&layouts)?,
            context: context.into_iter().collect(),
            labels,
            label_padding: -100,
            partial: *u.choose(&[Partial::Keep, Partial::Drop, Partial::Even])?,
            rank: 0,
            ranks,
            shard: *u.choose(&[Shard::Minibatches, Shard::Chunks])?,
            cut,
            epoch: match u.int_in_range(0..=4)? {
                0 => Epoch::Sweep,
                1 => Epoch::Samples(number(u, 90)?),
                _ => Epoch::Run,
            },
            start: if u.ratio(7, 8)? { 0 } else { number(u, 200)? },
            truncated: maybe(u, |u| {
                Ok(Truncation { length: number(u, 20)?, right_splice: number(u, 4)? })
            })?,
            htkmlf_epochs: !u.ratio(7, 8)?,
            // Always an end.
            sweeps: Some(u.int_in_range(1..=3)?),
            samples: maybe(u, |u| number(u, 300))?,
            threads: if u.ratio(31, 32)? { u.int_in_range(1..=2)? } else { 0 },
            queue: number(u, 3)? as usize,
            memory: maybe(u, |u| number(u, 100_000))?,
        };
        let chunk = u.int_in_range(1..=64)?;
        let settings = if u.ratio(7, 8)? { agreeing(settings) } else { settings };
        // Sequences are truncated alike in all streams.
        let own = !u.ratio(5, 6)? && settings.truncated.is_none();
        Ok(Self { lengths, chunk, own, settings, stop: u.int_in_range(0..=20)? })
    }
}

/// The settings without what contradicts their cut or their unit: most combinations would be
/// refused at once.
fn agreeing(mut settings: Settings) -> Settings {
    let least_one = |window| match window {
        Window::Chunks(chunks) => Window::Chunks(chunks.max(1)),
        Window::Samples(samples) => Window::Samples(samples.max(1)),
        Window::Corpus => Window::Corpus,
    };
    settings.batch = match settings.batch {
        BatchSize::Samples(size) => BatchSize::Samples(size.clamp(1, 100)),
        BatchSize::Units(size) => BatchSize::Units(size.clamp(1, 100)),
        BatchSize::Padded(size) => BatchSize::Padded(size.clamp(1, 100)),
    };
    let (BatchSize::Samples(size) | BatchSize::Units(size) | BatchSize::Padded(size)) =
        settings.batch;
    settings.ranks = settings.ranks.clamp(1, 3);
    settings.threads = settings.threads.max(1);
    settings.queue = settings.queue.min(3);
    if let Order::Shuffle(window) = settings.order {
        settings.order = Order::Shuffle(least_one(window));
    }
    if let Cut::Partitions { frames, .. } = &mut settings.cut {
        *frames = (*frames).max(1);
        (settings.unit, settings.shard) = (Unit::Frame, Shard::Minibatches);
        if settings.order != Order::Sequential {
            settings.order = Order::Shuffle(Window::Corpus);
        }
    }
    let is_global = matches!(settings.cut, Cut::Steps | Cut::Partitions { .. });
    if is_global {
        (settings.truncated, settings.epoch, settings.start) = (None, Epoch::Run, 0);
    } else {
        (settings.shard, settings.bucket) = (Shard::Minibatches, None);
        settings.partial = Partial::Keep;
        settings.batch = BatchSize::Samples(size);
    }
    if settings.epoch == Epoch::Samples(0) {
        settings.epoch = Epoch::Sweep;
    }
    if settings.cut == Cut::Timeline {
        settings.start = 0;
    }
    match settings.unit {
        Unit::Frame => {
            (settings.bucket, settings.truncated) = (None, None);
            if matches!(settings.batch, BatchSize::Padded(_)) {
                settings.batch = BatchSize::Samples(size);
            }
        }
        Unit::Sequence => settings.labels = None,
    }
    settings.bucket = settings.bucket.map(|bucket| bucket.max(1));
    let rolls = settings.unit == Unit::Frame && matches!(settings.cut, Cut::Worker { .. });
    if matches!(settings.order, Order::Rolling(_)) && !rolls {
        settings.order = Order::Sequential;
    }
    if !matches!(settings.order, Order::Shuffle(Window::Chunks(_) | Window::Samples(_))) {
        settings.generator = Generator::MersenneTwister;
    }
    settings.truncated = settings.truncated.map(|Truncation { length, right_splice }| {
        let length = length.clamp(1, 20);
        Truncation { length, right_splice: right_splice.min(length - 1) }
    });
    settings
}

impl Case {
    fn open(&self, rank: usize, state: Option<&State>) -> Option<Feed> {
        let corpus = MemoryCorpus::new(&self.lengths, self.chunk);
        let corpus = Arc::new(if self.own { corpus.with_words() } else { corpus });
        let settings = Settings { rank, ..self.settings.clone() };
        let limit = settings.memory;
        let feed = match Feed::new(corpus, settings, state) {
            Ok(feed) => feed,
            Err(error) => {
                assert!(!error.message().is_empty());
                return None;
            }
        };
        assert!(limit.is_none_or(|limit| feed.memory_bound() <= limit));
        Some(feed)
    }

    /// The samples of a feed, minibatch by minibatch.
    fn run(&self, feed: &mut Feed, most: usize) -> Vec<Vec<i32>> {
        let bound = feed.memory_bound();
        let mut found = Vec::new();
        while found.len() < most {
            let Some(minibatch) = feed.next() else { break };
            let minibatch = minibatch.expect("memory holds every sequence");
            assert!(minibatch.bytes() as u64 <= bound, "{} of {bound} bytes", minibatch.bytes());
            found.push(self.samples(&minibatch));
        }
        found
    }

    /// The samples of a minibatch by their labels, which must be those that its pieces name; keeps
    /// to the size.
    fn samples(&self, minibatch: &Minibatch) -> Vec<i32> {
        let labels = minibatch.stream("labels").expect("a stream");
        let values = labels.as_i32().expect("labels");
        // Context repeats labels, the one of the sample itself in the middle.
        let context = self.settings.context.iter().find(|context| context.stream == "labels");
        let (left, width) =
            context.map_or((0, 1), |context| (context.left, context.left + 1 + context.right));
        let mut found = Vec::new();
        for (number, key) in minibatch.keys().enumerate() {
            let sequence: i32 =
                key.to_string().trim_start_matches("utt").parse().expect("a key of the corpus");
            let (first, rows) = labels.rows_of(number);
            for row in first..first + rows {
                let label = values[row * width + left];
                assert_eq!(label / STEP, sequence);
                found.push(label);
            }
        }
        assert_eq!(found.len(), minibatch.samples());
        let units = minibatch.len() as u64;
        let sharded =
            self.settings.shard == Shard::Chunks || self.settings.partial == Partial::Even;
        if !sharded && self.settings.truncated.is_none() && units > 1 {
            match self.settings.batch {
                BatchSize::Samples(size) => assert!(found.len() as u64 <= size),
                BatchSize::Units(size) => assert!(units <= size),
                BatchSize::Padded(size) => {
                    let longest = match self.settings.unit {
                        Unit::Frame => 1,
                        Unit::Sequence => minibatch.longest() as u64,
                    };
                    assert!(longest * units <= size);
                }
            }
        }
        found
    }
}

libfuzzer_sys::fuzz_target!(|case: Case| {
    let (settings, sweeps) = (&case.settings, case.settings.sweeps.unwrap_or(0));
    let samples: u64 = case.lengths.iter().map(|&length| u64::from(length)).sum();
    // Minibatches of one sample at least, and of samples that come again; perhaps empty ones,
    // one an epoch.
    let splice = settings.truncated.map_or(1, |truncation| 1 + truncation.right_splice.min(100));
    let most = (sweeps * (samples + 2) * splice * 4 + 64) as usize;
    let mut times: HashMap<i32, u64> = HashMap::new();
    let ranks = settings.ranks.clamp(1, 3);
    for rank in 0..ranks {
        let Some(mut feed) = case.open(rank, None) else { return };
        let whole = case.run(&mut feed, most);
        assert!(whole.len() < most, "the feed does not end");
        let end = feed.state().clone();
        drop(feed);
        // From a state in the middle, the rest comes as it came; from the end nothing.
        let Some(mut feed) = case.open(rank, None) else { return };
        let stop = case.stop.min(whole.len());
        assert_eq!(case.run(&mut feed, stop), whole[..stop]);
        let state = State::from_json(&feed.state().to_json()).expect("a state is JSON");
        drop(feed);
        for (state, rest) in [(state, &whole[stop..]), (end, &whole[whole.len()..])] {
            let mut feed = case.open(rank, Some(&state)).expect("its own state");
            assert_eq!(case.run(&mut feed, most), rest, "{state:?}");
        }
        for label in whole.concat() {
            *times.entry(label).or_default() += 1;
        }
    }
    let repeats = settings.truncated.is_some_and(|truncation| truncation.right_splice > 0);
    if !repeats {
        assert!(times.values().all(|&times| times <= sweeps), "samples came twice");
    }
    let all = ranks == settings.ranks
        && matches!(settings.cut, Cut::Steps)
        && settings.partial != Partial::Drop
        && settings.labels.is_none()
        && settings.samples.is_none();
    if all {
        let found: u64 = times.values().sum();
        assert_eq!(found, samples * sweeps, "samples are missing");
    }
    if let (Some(limit), Cut::Steps, Unit::Frame) = (settings.samples, settings.cut, settings.unit)
    {
        assert!(times.values().sum::<u64>() <= limit);
    }
});

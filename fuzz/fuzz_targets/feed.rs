//! Settings of a feed over a small corpus: refused, or the feed ends, delivers no sample twice in a
//! sweep, keeps to its limits, and goes on exactly from every state.
#![no_main]

use std::collections::HashMap;

use std::sync::Arc;

use checks::{MemoryCorpus, STEP};
use libfuzzer_sys::arbitrary::{self, Arbitrary, Unstructured};
use seqfeed_feed::{
    BatchSize, Blocks, Context, Cut, Epoch, Feed, Generator, LabelMap, LabelRules, LabelSet, Layout,
    Limits, Minibatch, Order, Partial, Partitions, Settings, Shard, Shuffle, State, Steps,
    Timeline, Truncation, Unit, Window, Worker,
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
        let seed = number(u, 3)?;
        let generator = *u.choose(&[Generator::MersenneTwister, Generator::Rand])?;
        let order = match u.int_in_range(0..=4)? {
            0 => Order::Sequential,
            1 => Order::Rolling(number(u, 50)?),
            2 => Order::Blocks(Blocks { window, seed }),
            _ => Order::Shuffle(Shuffle { window, seed, generator }),
        };
        let size = number(u, 60)?;
        let epoch = match u.int_in_range(0..=4)? {
            0 => Epoch::Sweep,
            1 => Epoch::Samples(number(u, 90)?),
            _ => Epoch::Run,
        };
        let truncated =
            maybe(u, |u| Ok(Truncation { length: number(u, 20)?, right_splice: number(u, 4)? }))?;
        let cut = match u.int_in_range(0..=6)? {
            0..=2 => Cut::Steps(Steps {
                bucket: maybe(u, |u| Ok(number(u, 8)? as usize))?,
                buckets: maybe(u, |u| Ok(number(u, 8)? as usize))?,
                pack: u.ratio(1, 4)?,
                limits: Limits {
                    sequences: maybe(u, |u| number(u, 8))?,
                    padded: maybe(u, |u| number(u, 90))?,
                    tokens: None,
                    quadratic: maybe(u, |u| number(u, 40))?,
                },
                shard: *u.choose(&[Shard::Minibatches, Shard::Chunks, Shard::Groups])?,
                groups: number(u, 6)?.max(1) as usize,
                partial: *u.choose(&[Partial::Keep, Partial::Drop, Partial::Even])?,
            }),
            3 | 4 => Cut::Worker(Worker {
                local_timeline: u.arbitrary()?,
                cross_sweeps: u.arbitrary()?,
                epoch,
                start: if u.ratio(7, 8)? { 0 } else { number(u, 200)? },
                truncated,
                drops_partial: u.ratio(1, 4)?,
                htkmlf_epochs: u.ratio(1, 8)?,
            }),
            5 => Cut::Timeline(Timeline { epoch, truncated }),
            _ => Cut::Partitions(Partitions {
                frames: number(u, 50)?,
                whole_files: u.arbitrary()?,
                reshuffle: u.arbitrary()?,
                drops_partial: u.arbitrary()?,
            }),
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
            batch: match u.int_in_range(0..=3)? {
                0 => BatchSize::Units(size),
                1 => BatchSize::Padded(size),
                _ => BatchSize::Samples(size),
            },
            cut,
            layout: *u.choose(&layouts)?,
            transform_seed: 0,
            feature_padding: 0.0,
            label_padding: -100,
            padding: Vec::new(),
            context: context.into_iter().collect(),
            labels,
            mixture: None,
            types: Vec::new(),
            bucket_edges: Vec::new(),
            tokens_of: None,
            rank: 0,
            ranks,
            // Always an end.
            sweeps: Some(u.int_in_range(1..=3)?),
            samples: maybe(u, |u| number(u, 300))?,
            threads: if u.ratio(31, 32)? { u.int_in_range(1..=2)? } else { 0 },
            queue: number(u, 3)? as usize,
            memory: maybe(u, |u| number(u, 100_000))?,
        };
        let chunk = u.int_in_range(1..=64)?;
        let agrees = u.ratio(7, 8)?;
        let mut settings = if agrees { agreeing(settings) } else { settings };
        // Sequences are truncated alike in all streams.
        let own = !u.ratio(5, 6)? && settings.cut.truncated().is_none();
        let stop = u.int_in_range(0..=20)?;
        if let (Cut::Steps(steps), Unit::Sequence) = (&mut settings.cut, settings.unit) {
            if let Some(buckets) = &mut steps.buckets
                && u.ratio(1, 2)?
            {
                let mut edges: Vec<u32> = u
                    .arbitrary_iter::<u8>()?
                    .take(4)
                    .map(|edge| Ok(edge?.into()))
                    .collect::<arbitrary::Result<_>>()?;
                if agrees {
                    edges.sort_unstable();
                    edges.dedup();
                }
                *buckets = edges.len() + 1;
                settings.bucket_edges = edges;
            }
            if u.ratio(1, 4)? {
                steps.limits.tokens = Some(number(u, 90)?.max(agrees.into()));
                settings.tokens_of = Some("labels".to_owned());
            }
        }
        Ok(Self { lengths, chunk, own, settings, stop })
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
    let size = settings.batch.number().clamp(1, 100);
    settings.batch = match settings.batch {
        BatchSize::Samples(_) => BatchSize::Samples(size),
        BatchSize::Units(_) => BatchSize::Units(size),
        BatchSize::Padded(_) => BatchSize::Padded(size),
    };
    settings.ranks = settings.ranks.clamp(1, 3);
    settings.threads = settings.threads.max(1);
    settings.queue = settings.queue.min(3);
    let frames = settings.unit == Unit::Frame;
    let of_sequences = |truncated: Option<Truncation>| {
        truncated.filter(|_| !frames).map(|Truncation { length, right_splice }| {
            let length = length.clamp(1, 20);
            Truncation { length, right_splice: right_splice.min(length - 1) }
        })
    };
    let least_epoch = |epoch| if epoch == Epoch::Samples(0) { Epoch::Sweep } else { epoch };
    match &mut settings.cut {
        Cut::Steps(steps) => {
            steps.bucket = steps.bucket.filter(|_| !frames).map(|bucket| bucket.max(1));
            steps.buckets = steps.buckets.filter(|_| !frames).map(|buckets| buckets.max(1));
            steps.pack &= !frames;
            if steps.pack {
                (steps.bucket, steps.buckets) = (None, None);
                settings.batch = BatchSize::Samples(size);
                settings.layout = Layout::Concatenated;
            }
            let least = |limit: Option<u64>| limit.filter(|_| !frames).map(|limit| limit.max(1));
            let Limits { sequences, padded, tokens: _, quadratic } = &mut steps.limits;
            for limit in [sequences, padded, quadratic] {
                *limit = least(*limit);
            }
        }
        Cut::Worker(worker) => {
            worker.truncated = of_sequences(worker.truncated);
            worker.epoch = least_epoch(worker.epoch);
            worker.drops_partial &= worker.truncated.is_none();
            settings.batch = BatchSize::Samples(size);
        }
        Cut::Timeline(timeline) => {
            timeline.truncated = of_sequences(timeline.truncated);
            timeline.epoch = least_epoch(timeline.epoch);
            settings.batch = BatchSize::Samples(size);
        }
        Cut::Partitions(partitions) => {
            partitions.frames = partitions.frames.max(1);
            settings.unit = Unit::Frame;
        }
    }
    match settings.unit {
        Unit::Frame if matches!(settings.batch, BatchSize::Padded(_)) => {
            settings.batch = BatchSize::Samples(size);
        }
        Unit::Frame => {}
        Unit::Sequence => settings.labels = None,
    }
    let may_roll = matches!(settings.cut, Cut::Steps(_) | Cut::Worker(_));
    let rolls = matches!(settings.order, Order::Rolling(_));
    if rolls && (settings.unit == Unit::Sequence || !may_roll) {
        settings.order = Order::Sequential;
    }
    if let Order::Blocks(blocks) = &mut settings.order {
        blocks.window = match least_one(blocks.window) {
            Window::Corpus => Window::Chunks(2),
            window => window,
        };
        if !matches!(settings.cut, Cut::Steps(_)) {
            settings.order = Order::Sequential;
        }
    }
    if let Order::Shuffle(shuffle) = &mut settings.order {
        let partitions = matches!(settings.cut, Cut::Partitions(_));
        shuffle.window = if partitions { Window::Corpus } else { least_one(shuffle.window) };
        if !may_roll || shuffle.window == Window::Corpus {
            shuffle.generator = Generator::MersenneTwister;
        }
    }
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

    /// The samples of a minibatch by their labels, which must be those that its segments name.
    /// Checks its size.
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
        let sharded = match self.settings.cut {
            Cut::Steps(steps) => steps.shard == Shard::Chunks || steps.partial == Partial::Even,
            _ => false,
        };
        if let Cut::Steps(Steps { limits: Limits { tokens: Some(most), .. }, .. }) =
            self.settings.cut
            && !sharded
            && units > 1
        {
            assert!(found.len() as u64 <= most);
        }
        if !sharded && self.settings.cut.truncated().is_none() && units > 1 {
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
    // Minibatches of one sample at least, and of samples that come again; perhaps empty ones, one
    // an epoch.
    let splice =
        settings.cut.truncated().map_or(1, |truncation| 1 + truncation.right_splice.min(100));
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
    let repeats = settings.cut.truncated().is_some_and(|truncation| truncation.right_splice > 0);
    if !repeats {
        assert!(times.values().all(|&times| times <= sweeps), "samples came twice");
    }
    let all = ranks == settings.ranks
        && matches!(settings.cut, Cut::Steps(_))
        && settings.cut.partial() != Partial::Drop
        && settings.labels.is_none()
        && settings.samples.is_none();
    if all {
        let found: u64 = times.values().sum();
        assert_eq!(found, samples * sweeps, "samples are missing");
    }
    if let (Some(limit), Cut::Steps(_), Unit::Frame) =
        (settings.samples, settings.cut, settings.unit)
    {
        assert!(times.values().sum::<u64>() <= limit);
    }
});

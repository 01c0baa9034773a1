//! What holds of every composition of stages: it is refused with a reason, or each sample comes
//! once a sweep, with the random values of that sweep, every state goes on with the very next
//! minibatch, and every setting has an effect.

// A change is a statement.
#![allow(clippy::unit_arg)]

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use seqfeed_core::Source;
use seqfeed_feed::{
    BatchSize, Blocks, Component, Context, Cut, Epoch, Feed, Generator, Layout, Limits, Minibatch,
    Mixture, Order, Partial, ScheduleUnit, Settings, Shard, Shuffle, State, Stop, Truncation, Unit,
    Window,
};

use crate::compositions::compositions;
use crate::drawn::{SEED, drawn, with_drawn};
use crate::memory_corpus::MemoryCorpus;
use crate::runs::{labels_of, samples};

/// More minibatches than any of these feeds has.
const MANY: usize = 20_000;

fn corpora() -> impl Strategy<Value = Vec<Vec<u32>>> {
    prop::collection::vec(prop::collection::vec(0..25u32, 1..6), 1..9)
}

/// A feed, unless its settings are refused, which they are for a reason.
fn open(corpus: &Arc<dyn Source>, settings: &Settings, state: Option<&State>) -> Option<Feed> {
    match Feed::new(Arc::clone(corpus), settings.clone(), state) {
        Ok(feed) => Some(feed),
        Err(error) => {
            let empty = error.message().contains("no samples");
            assert!(error.is_usage() || empty, "{error}");
            assert!(error.message().len() > 20, "{error}");
            None
        }
    }
}

/// All that a trainer can see of a minibatch.
fn seen(minibatch: &Minibatch) -> String {
    let streams = minibatch.streams().map(|batch| match batch.as_i32() {
        Some(labels) => format!("{:?} {labels:?}", batch.shape()),
        None => format!("{:?} {:?}", batch.shape(), batch.as_f32()),
    });
    let streams: Vec<String> = streams.collect();
    let (sweep, ends) = (minibatch.sweep(), minibatch.end_of_sweep());
    format!("{sweep} {ends} {:?} {streams:?}", minibatch.segments())
}

/// How often each sample may come in two sweeps: exactly so often, or no more often.
fn times(settings: &Settings) -> (bool, u64) {
    let splices = settings.cut.truncated().is_some_and(|truncated| truncated.right_splice > 0);
    let most = if splices { u64::MAX } else { 2 };
    let starts = matches!(settings.cut, Cut::Worker(worker) if worker.start > 0);
    let drops = settings.cut.partial() == Partial::Drop;
    (settings.samples.is_none() && !starts && !drops && !splices, most)
}

/// A mixture of two components that gives each unit once a sweep.
fn halves(chunks: usize) -> Mixture {
    let component = |name: &str, chunks| Component { name: name.into(), chunks, weights: vec![] };
    Mixture {
        components: vec![component("a", chunks / 2), component("b", chunks - chunks / 2)],
        temperature: Some(1.0),
        schedule: ScheduleUnit::Units,
        stop: Stop::All,
        first_sweep: 0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn each_sample_comes_once_a_sweep_and_every_state_goes_on(
        settings in compositions(), chunks in corpora(), at in prop::array::uniform3(0..1000usize),
        varies: bool, mixed: bool,
    ) {
        let mut corpus: Arc<dyn Source> = Arc::new(MemoryCorpus::of_chunks(&chunks));
        if varies {
            corpus = with_drawn(corpus);
        }
        let mixture = mixed.then(|| halves(corpus.index().chunk_count()));
        let settings = Settings { transform_seed: SEED, mixture, ..settings };
        let mut found: BTreeMap<i32, u64> = BTreeMap::new();
        let mut of_sweeps: BTreeMap<(i32, i32), u64> = BTreeMap::new();
        for rank in 0..settings.ranks {
            let settings = Settings { rank, ..settings.clone() };
            let Some(feed) = open(&corpus, &settings, None) else { return Ok(()) };
            let bound = feed.memory_bound();
            let start = feed.state().clone();
            let mut all = Vec::new();
            for minibatch in feed {
                let minibatch = minibatch.unwrap();
                prop_assert!(minibatch.bytes() as u64 <= bound, "{} of {bound}", minibatch.bytes());
                for sample in samples(&minibatch) {
                    *found.entry(sample).or_default() += 1;
                }
                let values = if varies { labels_of(&minibatch, "drawn") } else { Vec::new() };
                for sample in samples(&minibatch).into_iter().zip(values) {
                    *of_sweeps.entry(sample).or_default() += 1;
                }
                all.push((seen(&minibatch), minibatch.state().clone()));
                prop_assert!(all.len() < MANY, "it does not end");
            }
            // The bound is what is asked for: one byte less is too little.
            let tight = Settings { memory: Some(bound), ..settings.clone() };
            prop_assert!(open(&corpus, &tight, None).is_some());
            let less = Settings { memory: bound.checked_sub(1), ..settings.clone() };
            prop_assert!(Feed::new(Arc::clone(&corpus), less, None).is_err());
            let states = std::iter::once(&start).chain(all.iter().map(|(_, state)| state));
            let states: Vec<&State> = states.collect();
            for at in at.map(|at| at % states.len()) {
                let text = states[at].to_json();
                let state = State::from_json(&text).unwrap();
                let rest = Feed::new(Arc::clone(&corpus), settings.clone(), Some(&state)).unwrap();
                prop_assert_eq!(rest.state(), &state);
                let rest: Vec<(String, State)> = rest
                    .map(|minibatch| minibatch.unwrap())
                    .map(|minibatch| (seen(&minibatch), minibatch.state().clone()))
                    .collect();
                prop_assert_eq!(&rest[..], &all[at..], "from {}", text);
            }
        }
        let (exactly, most) = times(&settings);
        for (&(sample, value), &times) in &of_sweeps {
            let sweep = (0..3).find(|&sweep| drawn(sample, sweep) == value);
            prop_assert!(sweep.is_some_and(|sweep| sweep < 2 || !exactly), "{sample} {value}");
            prop_assert!(times == 1 || !exactly);
        }
        prop_assert!(found.values().all(|&times| times <= most));
        if exactly {
            let all: u64 = corpus.index().total_samples();
            prop_assert_eq!(found.len() as u64, all);
            prop_assert!(found.values().all(|&times| times == most));
        }
    }
}

/// A change of one setting; nothing where the settings have no such setting.
type Change = fn(&mut Settings) -> Option<()>;

fn steps(settings: &mut Settings) -> Option<&mut seqfeed_feed::Steps> {
    if let Cut::Steps(steps) = &mut settings.cut { Some(steps) } else { None }
}

fn worker(settings: &mut Settings) -> Option<&mut seqfeed_feed::Worker> {
    if let Cut::Worker(worker) = &mut settings.cut { Some(worker) } else { None }
}

fn partitions(settings: &mut Settings) -> Option<&mut seqfeed_feed::Partitions> {
    if let Cut::Partitions(partitions) = &mut settings.cut { Some(partitions) } else { None }
}

/// The window and the seed of an order that has them.
fn shuffled(settings: &mut Settings) -> Option<(&mut Window, &mut u64)> {
    match &mut settings.order {
        Order::Shuffle(shuffle) => Some((&mut shuffle.window, &mut shuffle.seed)),
        Order::Blocks(blocks) => Some((&mut blocks.window, &mut blocks.seed)),
        Order::Sequential | Order::Rolling(_) => None,
    }
}

fn truncated(settings: &mut Settings) -> Option<&mut Option<Truncation>> {
    match &mut settings.cut {
        Cut::Worker(worker) => Some(&mut worker.truncated),
        Cut::Timeline(timeline) => Some(&mut timeline.truncated),
        Cut::Steps(_) | Cut::Partitions(_) => None,
    }
}

fn next_of<T: PartialEq + Copy>(value: &mut T, all: &[T]) -> Option<()> {
    let here = all.iter().position(|one| one == value).unwrap_or(0);
    *value = all[(here + 1) % all.len()];
    Some(())
}

/// Each setting by the key of descriptions that it belongs to, and a change of it.
const CHANGES: [(&str, Change); 40] = [
    ("unit", |settings| next_of(&mut settings.unit, &[Unit::Frame, Unit::Sequence])),
    ("order", |settings| {
        let order = match settings.order {
            Order::Sequential => Order::shuffle(Window::Chunks(2), 1),
            Order::Shuffle(_) | Order::Rolling(_) | Order::Blocks(_) => Order::Sequential,
        };
        settings.order = order;
        Some(())
    }),
    ("blocks", |settings| {
        // A shuffle of the whole corpus is one permutation, in blocks too.
        settings.order = match settings.order {
            Order::Shuffle(Shuffle { window, seed, .. }) if window != Window::Corpus => {
                Order::Blocks(Blocks { window, seed })
            }
            _ => return None,
        };
        Some(())
    }),
    ("rolling", |settings| match &mut settings.order {
        Order::Rolling(frames) => Some(*frames += 20),
        Order::Sequential | Order::Shuffle(_) | Order::Blocks(_) => None,
    }),
    ("window", |settings| {
        let windows = [Window::Chunks(1), Window::Corpus, Window::Samples(40)];
        next_of(shuffled(settings)?.0, &windows)
    }),
    ("window-size", |settings| match shuffled(settings)?.0 {
        Window::Chunks(size) => Some(*size += 2),
        Window::Samples(size) => Some(*size += 90),
        Window::Corpus => None,
    }),
    ("seed", |settings| Some(*shuffled(settings)?.1 += 1)),
    ("generator", |settings| {
        let generators = [Generator::MersenneTwister, Generator::Rand];
        let Order::Shuffle(shuffle) = &mut settings.order else { return None };
        next_of(&mut shuffle.generator, &generators)
    }),
    ("batch-size", |settings| {
        match &mut settings.batch {
            BatchSize::Samples(size) | BatchSize::Units(size) | BatchSize::Padded(size) => {
                *size *= 2;
            }
        }
        Some(())
    }),
    ("batch-unit", |settings| {
        settings.batch = match settings.batch {
            BatchSize::Samples(size) => BatchSize::Units(size),
            BatchSize::Units(size) => BatchSize::Padded(size),
            BatchSize::Padded(size) => BatchSize::Samples(size),
        };
        // Frames are units of one sample.
        (settings.unit == Unit::Sequence).then_some(())
    }),
    ("bucket", |settings| {
        let bucket = &mut steps(settings)?.bucket;
        *bucket = if bucket.is_some() { None } else { Some(7) };
        Some(())
    }),
    ("bucket-size", |settings| Some(*steps(settings)?.bucket.as_mut()? += 5)),
    ("buckets", |settings| {
        settings.bucket_edges.clear();
        let buckets = &mut steps(settings)?.buckets;
        *buckets = if buckets.is_some() { None } else { Some(3) };
        Some(())
    }),
    ("pack", |settings| {
        let pack = &mut steps(settings)?.pack;
        next_of(pack, &[true, false])
    }),
    ("max-sequences", |settings| {
        let limit = &mut steps(settings)?.limits.sequences;
        *limit = if limit.is_some() { None } else { Some(2) };
        Some(())
    }),
    ("max-padded", |settings| {
        let limit = &mut steps(settings)?.limits.padded;
        *limit = if limit.is_some() { None } else { Some(11) };
        Some(())
    }),
    ("max-tokens", |settings| {
        settings.tokens_of = Some("labels".to_owned());
        let limit = &mut steps(settings)?.limits.tokens;
        *limit = if limit.is_some() { None } else { Some(9) };
        Some(())
    }),
    ("bucket-edges", |settings| {
        let edges = [vec![5, 11], vec![7, 18]];
        let edges = edges.into_iter().find(|edges| *edges != settings.bucket_edges);
        let buckets = &mut steps(settings)?.buckets;
        *buckets = buckets.and(Some(3));
        buckets.and_then(|_| Some(settings.bucket_edges = edges?))
    }),
    ("quadratic", |settings| {
        let limit = &mut steps(settings)?.limits.quadratic;
        *limit = if limit.is_some() { None } else { Some(3) };
        Some(())
    }),
    ("shard", |settings| {
        let shards = [Shard::Minibatches, Shard::Chunks, Shard::Groups];
        next_of(&mut steps(settings)?.shard, &shards)
    }),
    ("partial", |settings| {
        // Where ranks divide chunks, each has a part of all minibatches anyway.
        (steps(settings)?.shard == Shard::Minibatches).then_some(())?;
        next_of(&mut steps(settings)?.partial, &[Partial::Keep, Partial::Drop, Partial::Even])
    }),
    ("local-timeline", |settings| next_of(&mut worker(settings)?.local_timeline, &[true, false])),
    ("cross-sweeps", |settings| {
        let worker = worker(settings)?;
        // Of truncated sequences it says no more than which minibatch ends a sweep. Where each
        // sweep is an epoch, minibatches end with it anyway.
        (worker.truncated.is_none() && worker.epoch != Epoch::Sweep).then_some(())?;
        next_of(&mut worker.cross_sweeps, &[true, false])
    }),
    ("epoch", |settings| {
        // At the ends of sweeps minibatches may end without it.
        let epochs = [Epoch::Run, Epoch::Samples(37)];
        match &mut settings.cut {
            Cut::Worker(worker) => next_of(&mut worker.epoch, &epochs),
            Cut::Timeline(timeline) => next_of(&mut timeline.epoch, &epochs),
            Cut::Steps(_) | Cut::Partitions(_) => None,
        }
    }),
    ("start", |settings| Some(worker(settings)?.start += 31)),
    ("truncation", |settings| {
        let truncated = truncated(settings)?;
        *truncated = match truncated {
            Some(_) => None,
            None => Some(Truncation { length: 3, right_splice: 0 }),
        };
        Some(())
    }),
    ("truncation-length", |settings| Some(truncated(settings)?.as_mut()?.length += 3)),
    ("right-splice", |settings| Some(truncated(settings)?.as_mut()?.right_splice += 1)),
    ("drops-partial", |settings| {
        let drops = match &mut settings.cut {
            Cut::Worker(worker) => &mut worker.drops_partial,
            Cut::Partitions(partitions) => &mut partitions.drops_partial,
            Cut::Steps(_) | Cut::Timeline(_) => return None,
        };
        next_of(drops, &[true, false])
    }),
    ("htkmlf-epochs", |settings| {
        // Where no epoch ends inside a sweep, there is nothing that a minibatch could reach over.
        let samples = matches!(settings.batch, BatchSize::Samples(_));
        let worker = worker(settings)?;
        (samples && matches!(worker.epoch, Epoch::Samples(_))).then_some(())?;
        next_of(&mut worker.htkmlf_epochs, &[true, false])
    }),
    ("partition", |settings| Some(partitions(settings)?.frames += 13)),
    ("stream", |settings| {
        // In sequential order it says how much is in memory, and all of it is little here.
        (settings.order != Order::Sequential).then_some(())?;
        next_of(&mut partitions(settings)?.whole_files, &[true, false])
    }),
    ("reshuffle", |settings| next_of(&mut partitions(settings)?.reshuffle, &[true, false])),
    ("layout", |settings| {
        let layouts = [Layout::Padded, Layout::Packed, Layout::Concatenated];
        (settings.unit == Unit::Sequence).then_some(())?;
        next_of(&mut settings.layout, &layouts)
    }),
    ("label-padding", |settings| Some(settings.label_padding -= 1)),
    ("feature-padding", |settings| Some(settings.feature_padding -= 1.5)),
    ("context", |settings| {
        let context = Context { stream: "features".into(), left: 1, right: 4 };
        settings.context = vec![context];
        Some(())
    }),
    ("sweeps", |settings| Some(settings.sweeps = Some(3))),
    ("samples", |settings| Some(settings.samples = Some(settings.samples.map_or(97, |n| n + 60)))),
    ("queue", |settings| Some(settings.queue += 5)),
];

/// What all ranks get, and what it takes; nothing where a rank's settings are refused.
fn run(corpus: &Arc<dyn Source>, settings: &Settings) -> Option<Vec<String>> {
    let mut all = Vec::new();
    for rank in 0..settings.ranks {
        let feed = open(corpus, &Settings { rank, ..settings.clone() }, None)?;
        all.push(format!("rank {rank}: {} bytes", feed.memory_bound()));
        all.extend(feed.take(MANY).map(|minibatch| seen(&minibatch.unwrap())));
    }
    Some(all)
}

/// Whether a change can be seen: with this size of minibatches or with another, since not each has
/// what shows it.
fn has_effect(corpora: &[Arc<dyn Source>], settings: &Settings, change: Change) -> bool {
    let sizes = [0, 1, 4, 9, 20, 33].map(|more| {
        let mut settings = settings.clone();
        match &mut settings.batch {
            BatchSize::Samples(size) | BatchSize::Units(size) | BatchSize::Padded(size) => {
                *size += more;
            }
        }
        settings
    });
    corpora.iter().flat_map(|corpus| sizes.iter().map(move |settings| (corpus, settings))).any(
        |(corpus, settings)| {
            let mut changed = settings.clone();
            change(&mut changed).unwrap();
            run(corpus, settings) != run(corpus, &changed)
        },
    )
}

/// Always the same compositions: where chance makes two runs alike, it would fail now and then.
#[test]
fn no_setting_is_ignored() {
    // The last chunk of a sweep and the first of the next are of one rank, and of two.
    let corpora = [(3, 9), (8, 7)].map(|(seed, count)| {
        let lengths = |chunk: u32| {
            (0..4u32).map(move |number| 1 + (seed + chunk * 31 + number * 17) * 7919 % 23).collect()
        };
        let chunks: Vec<Vec<u32>> = (0..count).map(lengths).collect();
        Arc::new(MemoryCorpus::of_chunks(&chunks)) as Arc<dyn Source>
    });
    let mut runner = TestRunner::deterministic();
    let (mut accepted, mut changes) = (0, 0);
    while accepted < 40 {
        let settings = compositions().new_tree(&mut runner).unwrap().current();
        // The end of a run in samples may hide all that comes behind it.
        let settings = Settings { samples: None, ranks: settings.ranks.max(2), ..settings };
        // Tight limits may hide the size, and one another.
        let mut settings = settings;
        if let Some(steps) = steps(&mut settings) {
            steps.limits = Limits::default();
        }
        // Of a frame or two there are few orders.
        let few = matches!(settings.cut, Cut::Partitions(cut) if cut.frames < 6);
        if few || run(&corpora[0], &settings).is_none() {
            continue;
        }
        accepted += 1;
        for (key, change) in CHANGES {
            let mut changed = settings.clone();
            let said = settings.without_effect(key).is_none();
            if !said || change(&mut changed).is_none() || changed.without_effect(key).is_some() {
                continue;
            }
            if run(&corpora[0], &changed).is_some() {
                assert!(has_effect(&corpora, &settings, change), "{key}: {settings:?}");
                changes += 1;
            }
        }
    }
    assert!(changes > 300, "{changes}");
}

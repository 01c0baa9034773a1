//! Any composition of a feed's stages, whether it makes sense or not.

use proptest::prelude::*;
use proptest::strategy::Union;
use seqfeed_feed::{
    BatchSize, Blocks, Context, Cut, Epoch, Generator, Layout, Limits, Order, Partial, Partitions,
    Settings, Shard, Shuffle, Steps, Timeline, Truncation, Unit, Window, Worker,
};

fn windows() -> impl Strategy<Value = Window> {
    prop_oneof![
        (1..5u64).prop_map(Window::Chunks),
        (1..120u64).prop_map(Window::Samples),
        Just(Window::Corpus),
    ]
}

fn orders() -> impl Strategy<Value = Order> {
    let generators = prop_oneof![4 => Just(Generator::MersenneTwister), 1 => Just(Generator::Rand)];
    let shuffled = (windows(), 0..4u64, generators)
        .prop_map(|(window, seed, generator)| Order::Shuffle(Shuffle { window, seed, generator }));
    prop_oneof![
        2 => Just(Order::Sequential),
        5 => shuffled,
        1 => (0..60u64).prop_map(Order::Rolling),
        2 => (windows(), 0..4u64).prop_map(|(window, seed)| Order::Blocks(Blocks { window, seed })),
    ]
}

fn truncations() -> impl Strategy<Value = Option<Truncation>> {
    let some = (1..12u64, 0..3u64)
        .prop_map(|(length, right_splice)| Some(Truncation { length, right_splice }));
    prop_oneof![2 => Just(None), 1 => some]
}

fn epochs() -> impl Strategy<Value = Epoch> {
    prop_oneof![
        3 => Just(Epoch::Run),
        1 => Just(Epoch::Sweep),
        1 => (1..150u64).prop_map(Epoch::Samples),
    ]
}

fn cuts() -> impl Strategy<Value = Cut> {
    let shards = prop_oneof![Just(Shard::Minibatches), Just(Shard::Chunks), Just(Shard::Groups)];
    let partials = prop_oneof![Just(Partial::Keep), Just(Partial::Drop), Just(Partial::Even)];
    let numbers = |most: u64| prop_oneof![3 => Just(None), 1 => (1..most).prop_map(Some)];
    let limits =
        (numbers(9), numbers(80), numbers(40)).prop_map(|(sequences, padded, quadratic)| Limits {
            sequences,
            padded,
            tokens: None,
            quadratic,
        });
    let limits = prop_oneof![2 => Just(Limits::default()), 1 => limits];
    let groups = prop_oneof![
        Just((None, None, false)),
        Just((None, None, true)),
        (1..20usize).prop_map(|bucket| (Some(bucket), None, false)),
        (1..6usize).prop_map(|buckets| (None, Some(buckets), false)),
        (1..6usize).prop_map(|buckets| (None, Some(buckets), false)),
    ];
    let counts = prop_oneof![1..3usize, Just(12), Just(64)];
    let steps = (groups, limits, (shards, counts), partials).prop_map(
        |((bucket, buckets, pack), limits, (shard, groups), partial)| {
            Cut::Steps(Steps { bucket, buckets, pack, limits, shard, groups, partial })
        },
    );
    let starts = prop_oneof![3 => Just(0), 1 => 0..300u64];
    let rarely = || prop::bool::weighted(0.2);
    let worker = (any::<(bool, bool)>(), epochs(), starts, truncations(), rarely(), rarely())
        .prop_map(
            |((local_timeline, cross_sweeps), epoch, start, truncated, drops, htkmlf_epochs)| {
                Cut::Worker(Worker {
                    local_timeline,
                    cross_sweeps,
                    epoch,
                    start,
                    truncated,
                    drops_partial: drops,
                    htkmlf_epochs,
                })
            },
        );
    let timeline = (epochs(), truncations())
        .prop_map(|(epoch, truncated)| Cut::Timeline(Timeline { epoch, truncated }));
    let partitions = (1..70u64, any::<(bool, bool, bool)>()).prop_map(
        |(frames, (whole_files, reshuffle, drops_partial))| {
            Cut::Partitions(Partitions { frames, whole_files, reshuffle, drops_partial })
        },
    );
    Union::new([steps.boxed(), worker.boxed(), timeline.boxed(), partitions.boxed()])
}

/// Settings of a run of two sweeps.
pub(crate) fn compositions() -> impl Strategy<Value = Settings> {
    let units = prop_oneof![1 => Just(Unit::Frame), 2 => Just(Unit::Sequence)];
    let batches = prop_oneof![
        3 => (1..90u64).prop_map(BatchSize::Samples),
        1 => (1..12u64).prop_map(BatchSize::Units),
        1 => (1..90u64).prop_map(BatchSize::Padded),
    ];
    let layouts =
        prop_oneof![Just(Layout::Padded), Just(Layout::Concatenated), Just(Layout::Packed),];
    let contexts = prop::option::weighted(0.3, (0..3usize, 0..3usize));
    let ends = prop_oneof![4 => Just(None), 1 => (1..400u64).prop_map(Some)];
    let edges = prop::option::weighted(0.4, prop::collection::btree_set(0..25u32, 1..4));
    let tokens = prop::option::weighted(0.15, 1..80u64);
    (
        (units, orders(), batches, cuts()),
        (layouts, contexts, ends),
        (1..4usize, 1..3usize, 0..4usize),
        (edges, tokens),
    )
        .prop_map(
            |(
                (unit, order, batch, mut cut),
                (layout, context, samples),
                (ranks, threads, queue),
                (edges, tokens),
            )| {
                let (mut bucket_edges, mut tokens_of) = (Vec::new(), None);
                if let Cut::Steps(steps) = &mut cut {
                    if let (Some(buckets), Some(edges)) = (&mut steps.buckets, edges) {
                        bucket_edges = edges.into_iter().collect();
                        *buckets = bucket_edges.len() + 1;
                    }
                    steps.limits.tokens = tokens.filter(|_| unit == Unit::Sequence);
                    tokens_of = steps.limits.tokens.map(|_| "labels".to_owned());
                }
                let packs = matches!(cut, Cut::Steps(Steps { pack: true, .. }));
                let (batch, layout) = match packs {
                    // Sequences have 24 samples at most.
                    true => (BatchSize::Samples(batch.number() + 18), Layout::Concatenated),
                    false => (batch, layout),
                };
                let context =
                    context.map(|(left, right)| Context { stream: "features".into(), left, right });
                Settings {
                    unit,
                    order,
                    batch,
                    cut,
                    layout: if unit == Unit::Frame { Layout::Frames } else { layout },
                    context: context.into_iter().collect(),
                    bucket_edges,
                    tokens_of,
                    ranks,
                    sweeps: Some(2),
                    samples,
                    threads,
                    queue,
                    ..Settings::default()
                }
            },
        )
}

//! What stands where in a minibatch.

use std::sync::Arc;

use seqfeed_core::{Error, Source};
use seqfeed_feed::{
    BatchSize, Blocks, Context, Cut, Feed, Layout, Order, Settings, Steps, Unit, Window,
};

use crate::memory_corpus::MemoryCorpus;
use crate::runs::{all_samples, corpus, run, samples};

fn bucketed(bucket: Option<usize>) -> Cut {
    Cut::Steps(Steps { bucket, ..Steps::default() })
}

fn sequential() -> Settings {
    Settings { order: Order::Sequential, sweeps: Some(1), ..Settings::default() }
}

fn first(lengths: &[u32], settings: Settings, check: impl Fn(&seqfeed_feed::Minibatch)) {
    let corpus = Arc::new(MemoryCorpus::new(lengths, 1000));
    let mut feed = Feed::new(corpus, settings, None).unwrap();
    check(&feed.next().unwrap().unwrap());
}

fn context(left: usize, right: usize) -> Vec<Context> {
    vec![Context { stream: "features".into(), left, right }]
}

#[test]
fn frames_have_context_that_never_crosses_a_sequence() {
    let settings = Settings { context: context(1, 2), ..sequential() };
    first(&[2, 3], settings, |minibatch| {
        let features = minibatch.stream("features").unwrap();
        assert_eq!(features.shape(), [5, 8]);
        let rows: Vec<Vec<(f32, f32)>> = features
            .as_f32()
            .unwrap()
            .chunks_exact(8)
            .map(|row| row.chunks_exact(2).map(|v| (v[0], v[1])).collect())
            .collect();
        assert_eq!(rows[0], [(0., 0.), (0., 0.), (0., 1.), (0., 1.)]);
        assert_eq!(rows[1], [(0., 0.), (0., 1.), (0., 1.), (0., 1.)]);
        assert_eq!(rows[2], [(1., 0.), (1., 0.), (1., 1.), (1., 2.)]);
        assert_eq!(rows[4], [(1., 1.), (1., 2.), (1., 2.), (1., 2.)]);
        assert_eq!(minibatch.labels("labels").unwrap(), [0, 1, 1000, 1001, 1002]);
        assert_eq!(minibatch.labels("speaker").unwrap(), [0, 0, 1, 1, 1]);
        let keys: Vec<String> = minibatch.keys().map(|key| key.to_string()).collect();
        assert_eq!(keys, ["utt000", "utt000", "utt001", "utt001", "utt001"]);
    });
}

#[test]
fn padded_sequences_are_padded_at_their_ends() {
    let settings = Settings { unit: Unit::Sequence, layout: Layout::Padded, ..sequential() };
    first(&[2, 3, 1], settings, |minibatch| {
        assert_eq!(minibatch.stream("features").unwrap().shape(), [3, 3, 2]);
        let labels = minibatch.labels("labels").unwrap();
        assert_eq!(labels, [0, 1, -100, 1000, 1001, 1002, 2000, -100, -100]);
        let features = minibatch.dense("features").unwrap();
        assert_eq!(features[2..6], [0., 1., 0., 0.]);
        assert_eq!(features[14..], [0., 0., 0., 0.]);
        assert_eq!(minibatch.labels("speaker").unwrap(), [0, 1, 2]);
        assert_eq!((minibatch.samples(), minibatch.longest()), (6, 3));
    });
}

#[test]
fn concatenated_sequences_have_offsets() {
    let settings = Settings {
        unit: Unit::Sequence,
        layout: Layout::Concatenated,
        context: context(0, 1),
        ..sequential()
    };
    first(&[2, 3, 1], settings, |minibatch| {
        assert_eq!(minibatch.stream("features").unwrap().shape(), [6, 4]);
        assert_eq!(minibatch.offsets(), [0, 2, 5, 6]);
        assert_eq!(minibatch.labels("labels").unwrap(), [0, 1, 1000, 1001, 1002, 2000]);
        assert_eq!(minibatch.dense("features").unwrap()[..8], [0., 0., 0., 1., 0., 1., 0., 1.]);
    });
}

#[test]
fn recycled_buffers_hold_nothing_of_earlier_minibatches() {
    let corpus = corpus();
    for layout in [Layout::Padded, Layout::Concatenated] {
        let settings = Settings {
            unit: Unit::Sequence,
            layout,
            batch: BatchSize::Units(3),
            sweeps: Some(3),
            ..Settings::default()
        };
        let feed = Feed::new(Arc::clone(&corpus) as _, settings, None).unwrap();
        for minibatch in feed {
            let minibatch = minibatch.unwrap();
            let real: usize = samples(&minibatch).len();
            let labels = minibatch.labels("labels").unwrap();
            let padding = labels.iter().filter(|&&label| label == -100).count();
            assert_eq!(real + padding, labels.len());
            assert_eq!(minibatch.samples(), real);
        }
    }
}

#[test]
fn sizes_count_samples_units_or_padding() {
    let corpus = corpus();
    let longest = 30;
    for batch in [BatchSize::Samples(50), BatchSize::Units(4), BatchSize::Padded(90)] {
        for bucket in [None, Some(16)] {
            let settings = Settings {
                unit: Unit::Sequence,
                layout: Layout::Padded,
                batch,
                cut: bucketed(bucket),
                sweeps: Some(1),
                ..Settings::default()
            };
            let mut seen = Vec::new();
            for minibatch in Feed::new(Arc::clone(&corpus) as _, settings, None).unwrap() {
                let minibatch = minibatch.unwrap();
                let (samples_, units) = (minibatch.samples(), minibatch.len());
                let padded = minibatch.longest() * units;
                match batch {
                    BatchSize::Samples(size) => assert!(samples_ <= size as usize),
                    BatchSize::Units(size) => assert!(units <= size as usize),
                    BatchSize::Padded(size) => assert!(padded <= (size as usize).max(longest)),
                }
                seen.extend(samples(&minibatch));
            }
            seen.sort_unstable();
            assert_eq!(seen, all_samples(&corpus), "{batch:?} {bucket:?}");
        }
    }
}

#[test]
fn buckets_pad_less() {
    let corpus = corpus();
    let padding = |bucket| {
        let settings = Settings {
            unit: Unit::Sequence,
            layout: Layout::Padded,
            batch: BatchSize::Units(4),
            cut: bucketed(bucket),
            sweeps: Some(4),
            ..Settings::default()
        };
        let feed = Feed::new(Arc::clone(&corpus) as _, settings, None).unwrap();
        let padding = |m: &seqfeed_feed::Minibatch| m.longest() * m.len() - m.samples();
        feed.map(|minibatch| padding(&minibatch.unwrap())).sum::<usize>()
    };
    assert!(padding(Some(40)) * 3 < padding(None), "{} {}", padding(Some(40)), padding(None));
}

#[test]
fn every_order_gives_every_sample_once_and_another_seed_another_order() {
    let corpus = corpus();
    let windows = [Window::Chunks(3), Window::Samples(100), Window::Corpus];
    let shuffled = windows.map(|window| Order::shuffle(window, 0));
    let blocks = windows[..2].iter().map(|&window| Order::Blocks(Blocks { window, seed: 0 }));
    let orders = shuffled.into_iter().chain(blocks).chain([Order::Sequential]);
    for order in orders {
        for unit in [Unit::Frame, Unit::Sequence] {
            let settings = |seed| Settings {
                unit,
                order: order.after(seed),
                batch: BatchSize::Samples(17),
                sweeps: Some(1),
                ..Settings::default()
            };
            let mut seen = run(&corpus, &settings(1), None).concat();
            if order.shuffled().is_some() {
                assert_ne!(seen, run(&corpus, &settings(2), None).concat());
            }
            seen.sort_unstable();
            assert_eq!(seen, all_samples(&corpus), "{order:?} {unit:?}");
        }
    }
}

#[test]
fn sweeps_are_shuffled_anew() {
    let corpus = corpus();
    let settings = Settings { sweeps: Some(2), ..Settings::default() };
    let all = run(&corpus, &settings, None);
    let half = all.len() / 2;
    assert_ne!(all[..half].concat(), all[half..].concat());
}

#[test]
fn ends_after_so_many_samples() {
    let settings = Settings { samples: Some(1000), sweeps: None, ..Settings::default() };
    assert_eq!(run(&corpus(), &settings, None).concat().len(), 1000);
}

#[test]
fn an_error_in_a_chunk_reaches_the_trainer_once() {
    let mut corpus = MemoryCorpus::new(&[10; 30], 30);
    corpus.broken = Some(25);
    let settings = Settings { batch: BatchSize::Samples(7), ..sequential() };
    let mut feed = Feed::new(Arc::new(corpus) as Arc<dyn Source>, settings, None).unwrap();
    let results: Vec<Result<usize, Error>> =
        feed.by_ref().map(|minibatch| minibatch.map(|m| m.samples())).collect();
    let (last, before) = results.split_last().unwrap();
    assert!(before.iter().all(Result::is_ok));
    assert_eq!(before.len(), 240 / 7);
    assert_eq!(last.as_ref().unwrap_err().to_string(), "(key utt025): broken");
    assert!(feed.next().is_none());
}

/// One thread waits for room in the queue while another has an error to tell.
#[test]
fn an_error_is_told_while_the_queue_is_full() {
    for _ in 0..300 {
        let mut corpus = MemoryCorpus::new(&[10; 30], 30);
        corpus.broken = Some(4);
        let batch = BatchSize::Samples(10);
        let settings = Settings { batch, threads: 3, queue: 1, ..sequential() };
        let feed = Feed::new(Arc::new(corpus) as Arc<dyn Source>, settings, None).unwrap();
        assert!(feed.last().unwrap().is_err());
    }
}

#[test]
fn settings_that_contradict_themselves_are_refused() {
    let bad = [
        Settings { batch: BatchSize::Samples(0), ..Settings::default() },
        Settings { rank: 2, ranks: 2, ..Settings::default() },
        Settings { ranks: 0, ..Settings::default() },
        Settings { threads: 0, ..Settings::default() },
        Settings { cut: bucketed(Some(10)), ..Settings::default() },
        Settings {
            context: vec![Context { stream: "speech".into(), left: 1, right: 1 }],
            ..Settings::default()
        },
        Settings {
            context: vec![Context { stream: "speaker".into(), left: 1, right: 1 }],
            ..Settings::default()
        },
    ];
    for settings in bad {
        let error = Feed::new(corpus(), settings.clone(), None).unwrap_err();
        assert!(error.is_usage(), "{settings:?}");
    }
    let tight = Settings { memory: Some(1000), ..Settings::default() };
    let error = Feed::new(corpus(), tight, None).unwrap_err();
    assert!(error.message().contains("at most 1000 allowed"), "{error}");
}

#[test]
fn dropping_a_feed_stops_its_threads() {
    for taken in [0, 1, 5] {
        let settings = Settings { sweeps: None, threads: 3, ..Settings::default() };
        let feed = Feed::new(corpus(), settings, None).unwrap();
        let kept: Vec<_> = feed.take(taken).collect();
        assert_eq!(kept.len(), taken);
    }
}

#[test]
fn a_rank_that_gets_nothing_ends() {
    // Two minibatches a sweep for five ranks, sweeps without end.
    let corpus = Arc::new(MemoryCorpus::new(&[10, 10], 100));
    let settings = |rank, partial| Settings {
        batch: BatchSize::Samples(10),
        cut: Cut::Steps(Steps { partial, ..Steps::default() }),
        rank,
        ranks: 5,
        ..Settings::default()
    };
    use seqfeed_feed::Partial;
    assert!(run(&corpus, &settings(4, Partial::Keep), None).is_empty());
    assert!(run(&corpus, &settings(0, Partial::Drop), None).is_empty());
    let source = Arc::clone(&corpus) as Arc<dyn Source>;
    let feed = Feed::new(source, settings(1, Partial::Keep), None).unwrap();
    assert_eq!(feed.take(7).filter(Result::is_ok).count(), 7);
}

#[test]
fn an_empty_corpus_is_an_error() {
    let corpus = Arc::new(MemoryCorpus::new(&[], 100));
    assert!(Feed::new(corpus, Settings::default(), None).is_err());
}

#[test]
fn huge_settings_do_no_harm() {
    let settings = Settings {
        batch: BatchSize::Samples(u64::MAX),
        ranks: 3,
        order: Order::shuffle(Window::Chunks(u64::MAX), 0),
        ..sequential()
    };
    assert_eq!(run(&corpus(), &settings, None).len(), 1);
    let settings = Settings { order: Order::shuffle(Window::Samples(u64::MAX), 0), ..settings };
    assert_eq!(run(&corpus(), &settings, None).len(), 1);
}

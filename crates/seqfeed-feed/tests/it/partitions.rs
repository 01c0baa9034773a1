//! PDNN's partitions, against a model of a few lines.

use std::sync::Arc;

use proptest::prelude::*;
use seqfeed_core::{Series, SeriesKeys, Source};
use seqfeed_feed::{
    BatchSize, Context, Cut, Feed, LabelMap, LabelRules, LabelSet, Order, Partitions, Settings,
    State, Window,
};

use crate::memory_corpus::MemoryCorpus;
use crate::runs::samples;

/// What `numpy.random.RandomState(18877).shuffle(range(n))` gives, for some `n` (numpy 1.16).
const NUMPY: [(usize, &[usize]); 3] =
    [(1, &[0]), (5, &[4, 3, 1, 0, 2]), (12, &[1, 7, 0, 4, 8, 9, 5, 3, 11, 2, 6, 10])];

#[test]
fn orders_are_those_of_numpy() {
    for (frames, expected) in NUMPY {
        let corpus: Arc<dyn Source> = Arc::new(MemoryCorpus::new(&[frames as u32], 4));
        let settings = settings(100, u64::MAX, Order::shuffle(Window::Corpus, 18877));
        let mut feed = Feed::new(corpus, settings, None).unwrap();
        let order = samples(&feed.next().unwrap().unwrap());
        assert_eq!(order.iter().map(|&sample| sample as usize).collect::<Vec<_>>(), expected);
    }
}

fn partitions(frames: u64) -> Cut {
    Cut::Partitions(Partitions { frames, whole_files: false, ..Partitions::default() })
}

fn settings(batch: u64, frames: u64, order: Order) -> Settings {
    Settings {
        order,
        batch: BatchSize::Samples(batch),
        cut: partitions(frames),
        sweeps: Some(2),
        threads: 2,
        ..Settings::default()
    }
}

/// Files of sequences of some lengths.
fn files(lengths: &[Vec<u32>]) -> Arc<dyn Source> {
    let parts = lengths.iter().map(|file| Arc::new(MemoryCorpus::new(file, 8)) as Arc<dyn Source>);
    Arc::new(Series::new(parts.collect(), SeriesKeys::Numbered).unwrap())
}

/// All kept frames of each file, as labels.
fn kept(lengths: &[Vec<u32>], ignore: &LabelSet) -> Vec<Vec<i32>> {
    let labels = |(sequence, &samples): (usize, &u32)| {
        (0..samples as i32).map(move |t| sequence as i32 * 1000 + t)
    };
    let file = |file: &Vec<u32>| {
        let all = file.iter().enumerate().flat_map(labels);
        all.filter(|&label| !ignore.contains(label)).collect()
    };
    lengths.iter().map(file).collect()
}

#[derive(Debug, Clone)]
struct Case {
    lengths: Vec<Vec<u32>>,
    ignore: Vec<(i32, i32)>,
    settings: Settings,
}

fn cases() -> impl Strategy<Value = Case> {
    let lengths = prop::collection::vec(prop::collection::vec(0..15u32, 1..6), 1..4);
    let ignore = prop::collection::vec((0..5i32, 0..12i32, 0..9i32), 0..5);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (lengths, ignore, flags, 1..20u64, 1..40u64, 1..4usize).prop_map(
        |(lengths, ignore, (shuffle, whole_files, reshuffle, drop), batch, frames, ranks)| {
            let ignore: Vec<(i32, i32)> = ignore
                .into_iter()
                .map(|(sequence, low, width)| (sequence, low, low + width))
                .map(|(sequence, low, high)| (sequence * 1000 + low, sequence * 1000 + high))
                .collect();
            let order =
                if shuffle { Order::shuffle(Window::Corpus, 18877) } else { Order::Sequential };
            let settings = Settings {
                cut: Cut::Partitions(Partitions {
                    frames,
                    whole_files,
                    reshuffle,
                    drops_partial: drop,
                }),
                labels: Some(LabelRules {
                    stream: "labels".into(),
                    ignore: LabelSet::new(ignore.clone()),
                    map: LabelMap::default(),
                }),
                ranks,
                ..settings(batch, frames, order)
            };
            Case { lengths, ignore, settings }
        },
    )
}

/// The minibatches of all ranks, and for each rank its own.
fn model(case: &Case) -> Vec<Vec<Vec<i32>>> {
    let Settings { batch: BatchSize::Samples(batch), ref cut, .. } = case.settings else {
        panic!()
    };
    let &Cut::Partitions(cut) = cut else { panic!() };
    let Partitions { frames, whole_files, reshuffle, drops_partial: drop } = cut;
    let ranks = case.settings.ranks;
    let mut own = vec![Vec::new(); ranks];
    for sweep in 0..2u32 {
        let seed = 18877 + if reshuffle { sweep } else { 0 };
        let shuffle = |rows: Vec<i32>| -> Vec<i32> {
            if case.settings.order == Order::Sequential {
                return rows;
            }
            numpy(seed, rows.len()).into_iter().map(|row| rows[row]).collect()
        };
        let mut global = Vec::new();
        for file in kept(&case.lengths, &LabelSet::new(case.ignore.clone())) {
            let file = if whole_files { shuffle(file) } else { file };
            for partition in file.chunks(frames as usize) {
                let partition = partition.to_vec();
                let partition = if whole_files { partition } else { shuffle(partition) };
                let minibatches = partition.chunks(batch as usize).map(<[i32]>::to_vec);
                global.extend(minibatches.filter(|m| !drop || m.len() == batch as usize));
            }
        }
        if drop {
            global.truncate(global.len() / ranks * ranks);
        }
        for (number, minibatch) in global.into_iter().enumerate() {
            own[number % ranks].push(minibatch);
        }
    }
    own
}

/// numpy's shuffle, with a generator of its own.
fn numpy(seed: u32, n: usize) -> Vec<usize> {
    let mut state = vec![seed];
    for i in 1..624u32 {
        let last = state[i as usize - 1];
        state.push((last ^ (last >> 30)).wrapping_mul(1_812_433_253).wrapping_add(i));
    }
    let mut at = 624;
    let mut draw = move || {
        if at == 624 {
            for k in 0..624 {
                let y = (state[k] & 0x8000_0000) | (state[(k + 1) % 624] & 0x7fff_ffff);
                let odd = if y & 1 == 1 { 0x9908_b0df } else { 0 };
                state[k] = state[(k + 397) % 624] ^ (y >> 1) ^ odd;
            }
            at = 0;
        }
        let mut y = state[at];
        at += 1;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c_5680;
        y ^= (y << 15) & 0xefc6_0000;
        y ^ (y >> 18)
    };
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        let mask = (i as u64 + 1).next_power_of_two() as u32 - 1;
        let mut j = draw() & mask;
        while j as usize > i {
            j = draw() & mask;
        }
        order.swap(i, j as usize);
    }
    order
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn minibatches_are_those_of_the_model(case in cases()) {
        let source = files(&case.lengths);
        let expected = model(&case);
        for (rank, expected) in expected.iter().enumerate() {
            let settings = Settings { rank, ..case.settings.clone() };
            let feed = match Feed::new(Arc::clone(&source), settings.clone(), None) {
                Ok(feed) => feed,
                // Nothing is left, or no minibatch is ever full.
                Err(_) => {
                    prop_assert!(expected.is_empty(), "{expected:?}");
                    continue;
                }
            };
            let minibatches: Vec<_> = feed.map(Result::unwrap).collect();
            let found: Vec<Vec<i32>> = minibatches.iter().map(samples).collect();
            prop_assert_eq!(&found, expected);
            // Any state goes on with the next minibatch.
            for at in [0, found.len() / 2, found.len().saturating_sub(1)] {
                if found.is_empty() {
                    break;
                }
                let state = State::from_json(&minibatches[at].state().to_json()).unwrap();
                let rest = Feed::new(Arc::clone(&source), settings.clone(), Some(&state)).unwrap();
                let rest: Vec<Vec<i32>> = rest.map(|m| samples(&m.unwrap())).collect();
                prop_assert_eq!(&rest[..], &found[at + 1..]);
            }
        }
    }

    #[test]
    fn every_order_deals_out_what_labels_leave(case in cases(), window in 0..4usize) {
        let order = [
            Order::Sequential,
            Order::shuffle(Window::Chunks(2), 0),
            Order::shuffle(Window::Samples(20), 0),
            Order::shuffle(Window::Corpus, 18877),
        ][window];
        let settings = Settings {
            cut: Cut::default(),
            order,
            ranks: 1,
            sweeps: Some(1),
            ..case.settings.clone()
        };
        let mut expected = kept(&case.lengths, &LabelSet::new(case.ignore.clone())).concat();
        let feed = Feed::new(files(&case.lengths), settings, None);
        prop_assert_eq!(feed.is_err(), expected.is_empty());
        if let Ok(feed) = feed {
            let mut found: Vec<i32> = feed.flat_map(|m| samples(&m.unwrap())).collect();
            found.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}

#[test]
fn what_is_left_out_stays_as_context_and_labels_change_once() {
    let corpus: Arc<dyn Source> = Arc::new(MemoryCorpus::new(&[5], 100));
    let rules = LabelRules {
        stream: "labels".into(),
        ignore: LabelSet::new([(1, 2)]),
        map: LabelMap::new([(0, 0, 3), (3, 3, 1), (9, 9, 0)]),
    };
    let settings = Settings {
        context: vec![Context { stream: "features".into(), left: 1, right: 1 }],
        labels: Some(rules),
        ..settings(100, u64::MAX, Order::Sequential)
    };
    let minibatch = Feed::new(corpus, settings, None).unwrap().next().unwrap().unwrap();
    let times: Vec<f32> =
        minibatch.dense("features").unwrap().chunks_exact(2).map(|row| row[1]).collect();
    assert_eq!(times, [0., 0., 1., 2., 3., 4., 3., 4., 4.]);
    assert_eq!(minibatch.labels("labels").unwrap(), [3, 1, 4]);
    let firsts: Vec<u32> = minibatch.segments().iter().map(|segment| segment.first).collect();
    assert_eq!(firsts, [0, 3, 4], "which frame of the sequence each is");
}

#[test]
fn one_partition_is_in_memory_at_a_time() {
    let corpus: Arc<dyn Source> = Arc::new(MemoryCorpus::new(&[10; 1000], 10));
    let bound = |frames, whole_files| {
        let cut = Cut::Partitions(Partitions { frames, whole_files, ..Partitions::default() });
        let settings = Settings {
            cut,
            queue: 1,
            ..settings(10, frames, Order::shuffle(Window::Corpus, 18877))
        };
        Feed::new(Arc::clone(&corpus), settings, None).unwrap().memory_bound()
    };
    assert!(bound(200, false) * 10 < bound(200, true));
    assert!(bound(200, false) < bound(2000, false));
}

#[test]
fn refuses_what_makes_no_sense() {
    let corpus: Arc<dyn Source> = Arc::new(MemoryCorpus::new(&[10, 10], 10));
    let base = settings(8, 10, Order::Sequential);
    let dropping =
        Cut::Partitions(Partitions { frames: 7, drops_partial: true, ..Partitions::default() });
    let rules = |stream: &str, ignore| LabelRules {
        stream: stream.into(),
        ignore: LabelSet::new([ignore]),
        map: LabelMap::new([(0, 0, 1)]),
    };
    let cases = [
        (Settings { cut: partitions(0), ..base.clone() }, "1 frame at least"),
        (Settings { unit: seqfeed_feed::Unit::Sequence, ..base.clone() }, "of frames"),
        (Settings { order: Order::shuffle(Window::Corpus, 1 << 32), ..base.clone() }, "below 2^32"),
        (Settings { cut: dropping, ..base.clone() }, "no minibatch of 8"),
        (Settings { labels: Some(rules("features", (0, 0))), ..base.clone() }, "labels are in"),
        (Settings { labels: Some(rules("labels", (0, 9999))), ..base.clone() }, "all frames"),
        (
            Settings {
                labels: Some(rules("labels", (0, 0))),
                unit: seqfeed_feed::Unit::Sequence,
                cut: Cut::default(),
                ..base.clone()
            },
            "frame by frame",
        ),
    ];
    for (settings, expected) in cases {
        let error = Feed::new(Arc::clone(&corpus), settings, None).unwrap_err();
        assert!(error.message().contains(expected), "{error}");
    }
}

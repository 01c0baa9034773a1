//! What a mixture promises: shares near the weights at every position, each unit of a component
//! once in each of the component's own sweeps, and the same minibatches for any ranks and after any
//! state.

use std::sync::Arc;

use proptest::prelude::*;
use seqfeed_core::Source;
use seqfeed_feed::{
    BatchSize, Blocks, Component, Cut, Delivered, Feed, Layout, Mixture, Order, ScheduleUnit,
    Settings, State, Steps, Stop, Unit, WeightFrom, Window,
};

use crate::drawn::{SEED, drawn, with_drawn};
use crate::memory_corpus::{MemoryCorpus, STEP};
use crate::runs::{labels_of, run, samples};

/// Chunks of each component.
type Chunks = Vec<Vec<Vec<u32>>>;

fn components() -> impl Strategy<Value = Chunks> {
    let chunks = || prop::collection::vec(prop::collection::vec(1..12u32, 1..5), 1..5);
    prop::collection::vec(chunks(), 1..5)
}

fn corpus(components: &Chunks) -> Arc<MemoryCorpus> {
    Arc::new(MemoryCorpus::of_chunks(&components.concat()))
}

/// A mixture of components with one weight each.
fn mixture(components: &Chunks, weights: &[f64], stop: Stop) -> Mixture {
    let component = |(number, chunks): (usize, &Vec<Vec<u32>>)| Component {
        name: format!("c{number}"),
        chunks: chunks.len(),
        weights: vec![WeightFrom { from: 0, weight: weights[number % weights.len()] }],
    };
    Mixture {
        components: components.iter().enumerate().map(component).collect(),
        temperature: None,
        schedule: ScheduleUnit::Units,
        stop,
        first_sweep: 0,
    }
}

fn of_temperature(components: &Chunks, temperature: f64) -> Mixture {
    let mut mixture = mixture(components, &[1.0], Stop::All);
    mixture.components.iter_mut().for_each(|component| component.weights.clear());
    Mixture { temperature: Some(temperature), ..mixture }
}

fn settings(mixture: Mixture, unit: Unit, samples: u64) -> Settings {
    let layout = if unit == Unit::Frame { Layout::Frames } else { Layout::Concatenated };
    Settings {
        unit,
        layout,
        batch: BatchSize::Units(1),
        mixture: Some(mixture),
        samples: Some(samples),
        threads: 2,
        ..Settings::default()
    }
}

/// The component of a sample, and the samples of a component in front of it.
fn component_of(components: &Chunks, sample: i32) -> usize {
    let mut sequence = (sample / STEP) as usize;
    components
        .iter()
        .position(|chunks| {
            let here: usize = chunks.iter().map(Vec::len).sum();
            let found = sequence < here;
            sequence = sequence.saturating_sub(here);
            found
        })
        .unwrap()
}

fn orders() -> impl Strategy<Value = Order> {
    prop_oneof![
        Just(Order::Sequential),
        (1..4u64).prop_map(|chunks| Order::shuffle(Window::Chunks(chunks), 3)),
        Just(Order::shuffle(Window::Corpus, 5)),
        (1..4u64).prop_map(|chunks| {
            Order::Blocks(Blocks { window: Window::Chunks(chunks), seed: 3 })
        }),
        (2..20u64).prop_map(|samples| Order::shuffle(Window::Samples(samples), 0)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn shares_follow_the_weights_and_each_component_keeps_its_own_order(
        components in components(), order in orders(), by_frames: bool,
        weights in prop::collection::vec(1..40u32, 4),
    ) {
        let corpus = corpus(&components);
        let unit = if by_frames { Unit::Frame } else { Unit::Sequence };
        let weights: Vec<f64> = weights.iter().map(|&weight| f64::from(weight) / 8.0).collect();
        let mixture = mixture(&components, &weights, Stop::Never);
        let settings = Settings { order, ..settings(mixture.clone(), unit, 400) };
        let units = run(&corpus, &settings, None);
        let total: f64 = (0..components.len()).map(|number| weights[number]).sum();
        let mut own: Vec<Vec<Vec<i32>>> = vec![Vec::new(); components.len()];
        for (position, unit) in units.into_iter().enumerate() {
            let component = component_of(&components, unit[0]);
            own[component].push(unit);
            for (given, weight) in own.iter().zip(&weights) {
                let share = (position + 1) as f64 * weight / total;
                prop_assert!((given.len() as f64 - share).abs() < 2.0, "{} {share}", given.len());
            }
        }
        let mut first = 0;
        for (number, given) in own.into_iter().enumerate() {
            // The component alone has numbers from 0 on.
            let alone = Arc::new(MemoryCorpus::of_chunks(&components[number]));
            let settings = Settings { mixture: None, samples: None, sweeps: Some(500), ..settings.clone() };
            let source: Arc<dyn Source> = alone.clone();
            let feed = Feed::new(source, settings, None).unwrap();
            let expected = feed.take(given.len()).map(|minibatch| samples(&minibatch.unwrap()));
            let moved = |unit: Vec<i32>| unit.into_iter().map(|one| one + first * STEP).collect();
            let expected: Vec<Vec<i32>> = expected.map(moved).collect();
            prop_assert_eq!(given, expected);
            first += alone.index().len() as i32;
        }
    }

    #[test]
    fn ranks_threads_and_states_change_nothing(
        components in components(), order in orders(), ranks in 1..4usize, threads in 1..4usize,
        stop in prop_oneof![Just(Stop::First), Just(Stop::All), Just(Stop::Never)],
        bucket in prop::option::of(1..9usize), at in 0..1000usize, size in 1..30u64,
        schedule in 0..60u64, varies: bool,
    ) {
        let mut mixture = mixture(&components, &[1.0, 0.3, 2.5], stop);
        for component in &mut mixture.components {
            let later = WeightFrom { from: 1 + schedule, weight: component.weights[0].weight + 0.5 };
            component.weights.push(later);
        }
        let cut = Cut::Steps(Steps { bucket, ..Steps::default() });
        let batch = BatchSize::Samples(size);
        let settings = settings(mixture, Unit::Sequence, 300);
        let settings = Settings { order, cut, batch, transform_seed: SEED, ..settings };
        let mut corpus: Arc<dyn Source> = corpus(&components);
        if varies {
            corpus = with_drawn(corpus);
        }
        let feed = |rank, ranks, threads, state: Option<&State>| {
            let settings = Settings { rank, ranks, threads, ..settings.clone() };
            Feed::new(Arc::clone(&corpus), settings, state).unwrap()
        };
        let streams = if varies { vec!["labels", "drawn"] } else { vec!["labels"] };
        let seen = |minibatch: &seqfeed_feed::Minibatch| -> Vec<Vec<i32>> {
            streams.iter().map(|stream| labels_of(minibatch, stream)).collect()
        };
        let mut one = feed(0, 1, 2, None);
        let bound = one.memory_bound();
        let all: Vec<_> = one.by_ref().map(|minibatch| {
            let minibatch = minibatch.unwrap();
            (seen(&minibatch), minibatch.state().clone(), minibatch.sweep())
        }).collect();
        prop_assert!(all.len() < 2000 && bound > 0);
        let counted: u64 = one.delivered().iter().map(|delivered| delivered.samples).sum();
        prop_assert_eq!(counted, all.iter().map(|(seen, ..)| seen[0].len() as u64).sum::<u64>());
        // Of several ranks, the minibatches in turn.
        let mut of_ranks: Vec<_> = (0..ranks).map(|rank| feed(rank, ranks, threads, None)).collect();
        // A sweep may end with some ranks' minibatches alone.
        let mut together = Vec::new();
        let mut ended = false;
        while !ended {
            ended = true;
            for feed in &mut of_ranks {
                if let Some(minibatch) = feed.next() {
                    together.push(seen(&minibatch.unwrap()));
                    ended = false;
                }
            }
        }
        let sorted = |mut all: Vec<Vec<Vec<i32>>>| { all.sort(); all };
        let alone: Vec<_> = all.iter().map(|(seen, ..)| seen.clone()).collect();
        if all.iter().all(|(_, _, sweep)| *sweep == 0) {
            prop_assert_eq!(sorted(together), sorted(alone));
        }
        let at = at % all.len();
        let state = State::from_json(&all[at].1.to_json()).unwrap();
        let rest: Vec<_> = feed(0, 1, threads, Some(&state))
            .map(|minibatch| seen(&minibatch.unwrap())).collect();
        let expected: Vec<_> = all[at + 1..].iter().map(|(seen, ..)| seen.clone()).collect();
        prop_assert_eq!(rest, expected);
    }

    #[test]
    fn sweeps_end_where_components_are_exhausted(
        components in components(), weights in prop::collection::vec(1..9u32, 4), first: bool,
    ) {
        let corpus = corpus(&components);
        let weights: Vec<f64> = weights.into_iter().map(f64::from).collect();
        let stop = if first { Stop::First } else { Stop::All };
        let settings = settings(mixture(&components, &weights, stop), Unit::Sequence, u64::MAX);
        let settings = Settings { samples: None, sweeps: Some(3), ..settings };
        let source: Arc<dyn Source> = corpus;
        let sizes: Vec<u64> =
            components.iter().map(|chunks| chunks.concat().len() as u64).collect();
        let mut given = vec![0; sizes.len()];
        let mut sweep = 0;
        for minibatch in Feed::new(source, settings, None).unwrap() {
            let minibatch = minibatch.unwrap();
            prop_assert_eq!(minibatch.sweep(), sweep);
            given[component_of(&components, samples(&minibatch)[0])] += 1;
            let mut over = given.iter().zip(&sizes).map(|(given, size)| *given >= size * (sweep + 1));
            let ends = if first { over.any(|over| over) } else { over.all(|over| over) };
            prop_assert_eq!(minibatch.end_of_sweep(), ends);
            sweep += u64::from(ends);
        }
        prop_assert_eq!(sweep, 3);
    }
}

/// Components of 3, 12 and 48 sequences of one sample.
fn three_sizes() -> Chunks {
    [3usize, 12, 48].map(|size| vec![vec![1; size]]).to_vec()
}

fn delivered(mixture: Mixture, samples: u64) -> Vec<Delivered> {
    let corpus = corpus(&three_sizes());
    let settings = settings(mixture, Unit::Sequence, samples);
    let mut feed = Feed::new(corpus, settings, None).unwrap();
    assert!(feed.by_ref().all(|minibatch| minibatch.is_ok()));
    feed.delivered().to_vec()
}

fn units(mixture: Mixture, samples: u64) -> Vec<u64> {
    delivered(mixture, samples).iter().map(|delivered| delivered.units).collect()
}

#[test]
fn temperature_makes_small_components_come_more_often() {
    let units = |temperature| units(of_temperature(&three_sizes(), temperature), 630);
    assert_eq!(units(1.0), [30, 120, 480]);
    // Square roots of sizes: 1 to 2 to 4.
    assert_eq!(units(2.0), [90, 180, 360]);
    assert_eq!(units(1e6), [210, 210, 210]);
}

#[test]
fn weights_change_where_the_schedule_says() {
    let mut mixture = mixture(&three_sizes(), &[1.0, 1.0, 0.0], Stop::Never);
    mixture.components[0].weights.push(WeightFrom { from: 100, weight: 0.0 });
    mixture.components[2].weights.push(WeightFrom { from: 100, weight: 3.0 });
    assert_eq!(units(mixture.clone(), 100), [50, 50, 0]);
    assert_eq!(units(mixture.clone(), 500), [50, 150, 300]);
    // Minibatches of two units, of all ranks together.
    mixture.schedule = ScheduleUnit::Minibatches;
    let batch = BatchSize::Units(2);
    let settings = Settings { ranks: 4, batch, ..settings(mixture, Unit::Sequence, 400) };
    let mut units = [0; 3];
    for rank in 0..4 {
        let settings = Settings { rank, ..settings.clone() };
        let mut feed = Feed::new(corpus(&three_sizes()), settings, None).unwrap();
        assert!(feed.by_ref().all(|minibatch| minibatch.is_ok()));
        feed.delivered().iter().zip(&mut units).for_each(|(given, all)| *all += given.units);
    }
    assert_eq!(units, [100, 150, 150]);
}

#[test]
fn repetitions_are_counted_and_drawn_anew() {
    let delivered = delivered(mixture(&three_sizes(), &[1.0], Stop::Never), 144);
    let sweeps: Vec<u64> = delivered.iter().map(|delivered| delivered.sweeps).collect();
    assert_eq!(sweeps, [16, 4, 1]);
    let corpus = with_drawn(corpus(&three_sizes()));
    let mixture = mixture(&three_sizes(), &[1.0], Stop::Never);
    let settings = Settings { transform_seed: SEED, ..settings(mixture, Unit::Sequence, 144) };
    let mut given = [0; 3];
    for minibatch in Feed::new(corpus, settings, None).unwrap() {
        let minibatch = minibatch.unwrap();
        let sample = samples(&minibatch)[0];
        let component = component_of(&three_sizes(), sample);
        let sweep = given[component] / [3, 12, 48][component];
        assert_eq!(labels_of(&minibatch, "drawn"), [drawn(sample, sweep)]);
        given[component] += 1;
    }
}

#[test]
fn an_epoch_goes_on_where_the_one_before_ended() {
    let of_sweeps = |first_sweep, sweeps| {
        let mixture = mixture(&three_sizes(), &[1.0, 2.0, 3.0], Stop::First);
        let mixture = Mixture { first_sweep, ..mixture };
        let settings = settings(mixture, Unit::Sequence, 0);
        let settings = Settings { samples: None, sweeps: Some(sweeps), ..settings };
        run(&corpus(&three_sizes()), &settings, None)
    };
    assert_eq!(of_sweeps(0, 3), [of_sweeps(0, 1), of_sweeps(1, 1), of_sweeps(2, 1)].concat());
}

#[test]
fn settings_without_a_meaning_are_refused() {
    let good = || mixture(&three_sizes(), &[1.0], Stop::All);
    let refused = |change: &dyn Fn(&mut Settings, &mut Mixture), says: &str| {
        let mut settings = settings(good(), Unit::Sequence, 100);
        let mut mixture = good();
        change(&mut settings, &mut mixture);
        settings.mixture = Some(mixture);
        let error = Feed::new(corpus(&three_sizes()), settings, None).unwrap_err();
        assert!(error.is_usage() && error.message().contains(says), "{error}");
    };
    refused(&|settings, _| settings.cut = Cut::Worker(seqfeed_feed::Worker::default()), "preset");
    refused(&|_, mixture| mixture.components.clear(), "one corpus");
    refused(&|_, mixture| drop(mixture.components.pop()), "chunks");
    refused(&|_, mixture| mixture.components[1].weights[0].weight = -1.0, "a weight is 0");
    refused(&|_, mixture| mixture.components[1].weights[0].weight = f64::NAN, "a weight is 0");
    refused(&|_, mixture| mixture.components[1].weights[0].weight = 0.0, "come to its end");
    refused(&|_, mixture| mixture.components[1].weights[0].from = 3, "from 0 on");
    refused(&|_, mixture| mixture.temperature = Some(0.0), "temperature");
    refused(
        &|_, mixture| {
            mixture.stop = Stop::First;
            mixture.components.iter_mut().for_each(|one| one.weights[0].weight = 0.0);
        },
        "all weights",
    );
    refused(
        &|settings, mixture| {
            (settings.samples, settings.sweeps) = (None, Some(1));
            mixture.stop = Stop::Never;
        },
        "without an end",
    );
    refused(
        &|settings, mixture| {
            settings.batch = BatchSize::Samples(5);
            mixture.schedule = ScheduleUnit::Minibatches;
            mixture.components[0].weights.push(WeightFrom { from: 9, weight: 2.0 });
        },
        "fixed number of units",
    );
}

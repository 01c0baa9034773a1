use proptest::prelude::*;
use seqfeed_core::{IndexBuilder, Key};

use super::*;

/// An order: sequences of a corpus in chunks of three, by number; and where the sweeps and the
/// epoch end.
#[derive(Clone, Debug)]
struct Sequences {
    lengths: Vec<u32>,
    sweeps: Vec<usize>,
    epoch_is_told: bool,
    next: usize,
}

impl Sequences {
    fn fetch(&mut self) -> Option<Fetched> {
        let number = self.next;
        let samples = *self.lengths.get(number)?;
        self.next += 1;
        let (chunk, number_in_chunk) = (number as u32 / 3, number as u32 % 3);
        Some(Fetched {
            item: OrderedUnit {
                chunk,
                place: chunk + 7,
                number: number_in_chunk,
                samples,
                sweep: 0,
            },
            end_of_sweep: self.sweeps.contains(&number),
            end_of_epoch: self.epoch_is_told && self.next == self.lengths.len(),
        })
    }

    fn index(&self) -> Index {
        let mut builder = IndexBuilder::new(u64::MAX);
        for (i, &samples) in self.lengths.iter().enumerate() {
            builder.push(Key(format!("{i}").as_bytes()), samples);
            if i % 3 == 2 {
                builder.end_chunk();
            }
        }
        builder.finish()
    }
}

fn new_slots(
    minibatch: u64,
    length: u64,
    right_splice: u64,
    rank: usize,
    ranks: usize,
) -> Result<Rows> {
    let share = Share::new(crate::share::By::Chunk, rank, ranks);
    Rows::new(minibatch, Truncation { length, right_splice }, share)
}

fn number(item: OrderedUnit) -> usize {
    (item.chunk * 3 + item.number) as usize
}

#[derive(Deserialize)]
struct Case {
    minibatch: u64,
    length: u64,
    splice: u64,
    workers: usize,
    rank: usize,
    fetched: Vec<u32>,
    sweeps: Vec<usize>,
    epoch: bool,
    minibatches: Vec<Vec<i64>>,
}

#[test]
fn minibatches_equal_cntk() {
    let text = include_str!("../../tests/data/cntk_truncated.json");
    let cases: Vec<Case> = serde_json::from_str(text).unwrap();
    assert!(cases.len() >= 250);
    for (i, case) in cases.iter().enumerate() {
        let Case { minibatch, length, splice, workers, rank, .. } = *case;
        let mut slots = new_slots(minibatch, length, splice, rank, workers).unwrap();
        let mut sequences = Sequences {
            lengths: case.fetched.clone(),
            sweeps: case.sweeps.clone(),
            epoch_is_told: case.epoch,
            next: 0,
        };
        let mut segments = Vec::new();
        let mut minibatches = Vec::new();
        while let Some(ended) = slots.next_minibatch(|| sequences.fetch(), &mut segments) {
            let mut flat = vec![i64::from(ended.sweep) + 2 * i64::from(ended.epoch)];
            for segment in &segments {
                let begin = i64::from(segment.column) - i64::from(segment.first);
                flat.extend([i64::from(segment.row), number(segment.item) as i64, begin]);
            }
            minibatches.push(flat);
        }
        assert_eq!(minibatches, case.minibatches, "case {i}");
    }
}

prop_compose! {
    fn sequences()(
        mut lengths in prop::collection::vec(0u32..12, 0..40),
        every in 1usize..9,
        epoch_is_told: bool,
    ) -> Sequences {
        // Some sequences are empty, but no sweep is: that is a test of its own.
        lengths.iter_mut().step_by(every).for_each(|length| *length = (*length).max(1));
        let sweeps = (0..lengths.len()).filter(|i| i % every == every - 1).collect();
        Sequences { lengths, sweeps, epoch_is_told, next: 0 }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn the_rows_give_every_sequence_once_in_order(
        sequences in sequences(), minibatch in 1u64..60, length in 1u64..9, splice in 0u64..9,
        ranks in 1usize..4, rank in 0usize..4,
    ) {
        let Ok(mut slots) = new_slots(minibatch, length, splice, rank, ranks) else {
            prop_assert!(
                splice >= length || ranks as u64 > (minibatch / length).max(1) || rank >= ranks
            );
            return Ok(());
        };
        let mut order = sequences.clone();
        let rows = slots.size().0;
        let (mut streams, mut segments) = (vec![Vec::new(); rows], Vec::new());
        let mut finished_sweeps = 0;
        let mut minibatches = 0;
        let mut last = Ended::default();
        while let Some(ended) = slots.next_minibatch(|| order.fetch(), &mut segments) {
            prop_assert!(!last.epoch);
            let mut finished = false;
            for row in segments.chunk_by(|a, b| a.row == b.row) {
                let mut column = 0;
                for (i, segment) in row.iter().enumerate() {
                    prop_assert!(segment.column == column && segment.samples > 0);
                    column += segment.samples;
                    prop_assert!(segment.ends || i + 1 == row.len());
                    finished |= segment.ends && sequences.sweeps.contains(&number(segment.item));
                    streams[segment.row as usize].push(*segment);
                }
                prop_assert!(column <= slots.size().1 as u32);
                // Only the end of the order leaves a row short.
                prop_assert!(column == slots.size().1 as u32 || order.next == order.lengths.len());
            }
            prop_assert!(segments.is_sorted_by_key(|segment| segment.row));
            prop_assert!(ended.sweep >= finished);
            finished_sweeps += usize::from(ended.sweep);
            minibatches += 1;
            last = ended;
        }
        prop_assert_eq!(order.next, sequences.lengths.len());
        prop_assert!(finished_sweeps <= sequences.sweeps.len() && finished_sweeps <= minibatches);
        prop_assert!(last.epoch || minibatches == 0);

        let mut seen = vec![0; sequences.lengths.len()];
        for stream in streams {
            let mut at: Option<RowSegment> = None;
            let mut before = None;
            for segment in stream {
                // What the splice repeats is taken off.
                let splice = if at.is_some_and(|at| !at.ends && u64::from(at.samples) == length) {
                    splice as u32
                } else {
                    0
                };
                match at {
                    Some(at) if !at.ends => {
                        prop_assert_eq!(number(at.item), number(segment.item));
                        prop_assert_eq!(segment.first + splice, at.first + at.samples);
                        prop_assert!(!segment.starts);
                    }
                    _ => {
                        prop_assert!(segment.starts && segment.first == 0);
                        prop_assert!(before < Some(number(segment.item)));
                        before = Some(number(segment.item));
                    }
                }
                seen[number(segment.item)] += segment.samples - splice;
                if segment.ends {
                    prop_assert_eq!(segment.first + segment.samples, segment.item.samples);
                }
                at = Some(segment);
            }
            prop_assert!(at.is_none_or(|at| at.ends));
        }
        prop_assert_eq!(seen, sequences.lengths);
    }

    #[test]
    fn a_state_goes_on_with_the_same(
        sequences in sequences(), minibatch in 1u64..60, length in 2u64..9, splice in 0u64..2,
        taken in 0usize..20,
    ) {
        let index = sequences.index();
        let new = || new_slots(minibatch, length, splice, 0, 1).unwrap();
        let (mut whole, mut order, mut segments) = (new(), sequences, Vec::new());
        for _ in 0..taken {
            whole.next_minibatch(|| order.fetch(), &mut segments);
        }
        let json = serde_json::to_string(&whole.state(3)).unwrap();
        let mut rest = new();
        rest.restore(&serde_json::from_str(&json).unwrap(), &index).unwrap();
        prop_assert_eq!(rest.state(3), whole.state(3));
        prop_assert!(rest.window().eq(whole.window()));
        let (mut rest_order, mut others) = (order.clone(), Vec::new());
        for _ in 0..40 {
            let ended = whole.next_minibatch(|| order.fetch(), &mut segments);
            prop_assert_eq!(ended, rest.next_minibatch(|| rest_order.fetch(), &mut others));
            prop_assert_eq!(&segments, &others);
        }
    }

    #[test]
    fn any_state_is_restored_or_refused(
        slots in prop::collection::vec((
            prop_oneof![0u32..9, Just(u32::MAX)],
            prop::collection::vec(
                (prop_oneof![0u32..4, Just(u32::MAX)], prop_oneof![0u32..4, Just(u32::MAX)]),
                0..4,
            ),
        ), 1..4),
    ) {
        let lengths = vec![1, 4, 9, 0, 3, 3, 5];
        let mut order = Sequences { lengths, sweeps: vec![], epoch_is_told: false, next: 0 };
        let index = order.index();
        let slots = slots.into_iter().map(|(delivered, sequences)| SlotState {
            delivered,
            sequences: sequences.into_iter().map(|(c, n)| HeldState(c, 0, n, 0, false)).collect(),
        });
        let state = RowsState { slots: slots.collect(), epoch: 0 };
        let mut truncated = new_slots(6, 3, 0, 0, 1).unwrap();
        match truncated.restore(&state, &index) {
            Ok(()) => prop_assert_eq!(truncated.state(state.epoch), state),
            Err(error) => {
                prop_assert!(error.is_usage() && error.help().is_some());
                prop_assert!(truncated.window().next().is_none());
            }
        }
        let mut segments = Vec::new();
        while truncated.next_minibatch(|| order.fetch(), &mut segments).is_some() {}
    }
}

#[test]
fn an_order_without_samples_comes_to_an_end() {
    let item = OrderedUnit { chunk: 0, place: 0, number: 0, samples: 0, sweep: 0 };
    let endless = || Some(Fetched { item, end_of_sweep: true, end_of_epoch: false });
    let mut slots = new_slots(8, 4, 0, 0, 1).unwrap();
    assert_eq!(slots.next_minibatch(endless, &mut Vec::new()), None);
}

#[test]
fn slots_are_divided_among_workers() {
    let rows = |minibatch, length, rank, ranks| {
        new_slots(minibatch, length, 0, rank, ranks).map(|slots| slots.size().0)
    };
    assert_eq!(rows(20, 4, 0, 1).unwrap(), 5);
    assert_eq!(rows(20, 4, 0, 2).unwrap(), 3);
    assert_eq!(rows(20, 4, 1, 2).unwrap(), 2);
    assert_eq!(rows(3, 4, 0, 1).unwrap(), 1);
    for (minibatch, length, splice, rank, ranks, message) in [
        (20, 4, 0, 0, 6, "none of the 5 parallel"),
        (20, 4, 0, 2, 2, "worker 2 of 2"),
        (20, 0, 0, 0, 1, "between 1 and"),
        (20, 1 << 32, 0, 0, 1, "between 1 and"),
        (20, 4, 4, 0, 1, "right splice of 4"),
        (u64::MAX, 1, 0, 0, 1, "at most 16777216"),
    ] {
        let error = new_slots(minibatch, length, splice, rank, ranks).err().unwrap();
        assert!(error.is_usage() && error.message().contains(message), "{error}");
    }
}

#[test]
fn each_slot_may_get_one_sequence_at_the_start_of_an_epoch() {
    // Lengths and T as in the recorded job of CNTK's HTKMLFReader: rows u05+u10 | u04 | u02.
    let run = |one_each: bool| {
        let mut slots = new_slots(36, 12, 0, 0, 1).unwrap().with_one_each(one_each);
        let mut lengths = [9, 25, 40, 5, 17].into_iter().enumerate();
        let mut rows = Vec::new();
        let mut segments = Vec::new();
        let mut fetch = || {
            let (number, samples) = lengths.next()?;
            let item = OrderedUnit { chunk: 0, place: 0, number: number as u32, samples, sweep: 0 };
            Some(Fetched { item, end_of_sweep: number == 4, end_of_epoch: number == 4 })
        };
        while slots.next_minibatch(&mut fetch, &mut segments).is_some() {
            rows.push(
                segments.iter().map(|s| (s.row, s.item.number, s.samples)).collect::<Vec<_>>(),
            );
        }
        rows
    };
    let (first, second) = (run(true), run(false));
    assert_eq!(first[0], [(0, 0, 9), (0, 3, 3), (1, 1, 12), (2, 2, 12)]);
    assert_eq!(second[0], [(0, 0, 9), (0, 1, 3), (1, 2, 12), (2, 3, 5), (2, 4, 7)]);
    let total = |rows: &[Vec<(u32, u32, u32)>]| rows.iter().flatten().map(|s| s.2).sum::<u32>();
    assert_eq!((total(&first), total(&second)), (96, 96));
}

//! What may change between a save and a resume: the table of `docs/feeding.md`, key by key.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use seqfeed::{Opened, State, Table};

use crate::small_corpus::{LENGTHS, Seen, count, keys, open, write};

/// The numbers of minibatches after which a run is left.
const STOPS: [usize; 5] = [1, 2, 5, 9, 16];

const PRESETS: [&str; 4] = ["none", "cntk", "cntk-timeline", "pdnn"];

/// For each key what the table says, one text a preset.
fn promised() -> BTreeMap<String, Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/feeding.md");
    let page = std::fs::read_to_string(path).unwrap();
    let table = page.split("| option | `none` |").nth(1).unwrap();
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let mut cells = row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned());
        let key = cells.next().unwrap().trim_matches('`').to_owned();
        let cells: Vec<String> = cells.collect();
        assert_eq!(cells.len(), PRESETS.len(), "{row}");
        (key, cells)
    })
    .collect()
}

/// All options of a feed.
fn all_keys() -> BTreeSet<String> {
    let options = seqfeed::options().into_iter();
    let of_feed = options.filter(|option| option.scope == seqfeed::OptionScope::Feed);
    of_feed.map(|option| option.name.to_owned()).collect()
}

/// Settings to save with: those of each preset, in all orders, units and layouts.
fn bases(preset: &str) -> Vec<String> {
    let base = |rest: &str| format!("preset = '{preset}'\nranks = 2\nsweeps = 2\n{rest}");
    let orders = match preset {
        "pdnn" => vec!["order = 'sequential'\n", "order = 'shuffle'\nseed = 3\n"],
        "none" => vec![
            "order = 'sequential'\n",
            "order = 'shuffle'\nseed = 3\nwindow = '3 chunks'\n",
            "order = 'blocks'\nseed = 3\nwindow = '3 chunks'\n",
        ],
        _ => vec!["order = 'sequential'\n", "order = 'shuffle'\nseed = 3\nwindow = '3 chunks'\n"],
    };
    let mut all = Vec::new();
    for order in orders {
        let base = |rest: &str| base(&format!("{order}{rest}"));
        if preset == "pdnn" {
            all.push(base(
                "unit = 'frame'\nbatch-size = 5\npartition = '20 frames'\nstream = true",
            ));
            all.push(base(
                "unit = 'frame'\nbatch-size = 7\npartition = '50 frames'\nstream = false",
            ));
            continue;
        }
        all.push(base("unit = 'frame'\nbatch-size = 13"));
        all.push(base("unit = 'sequence'\nbatch-size = 20"));
        if preset == "none" {
            all.push(base(
                "unit = 'sequence'\nbatch-size = 3\nbatch-unit = 'sequences'\nbucket = 12",
            ));
            all.push(base("unit = 'sequence'\nbatch-size = 30\nshard = 'chunks'\nbucket = 9"));
            all.push(base("unit = 'sequence'\nbatch-size = 30\nmax-sequences = 4\nquadratic = 9"));
            if order.contains("shuffle") {
                all.push(
                    base("unit = 'sequence'\nbatch-size = 30\nbuckets = 3")
                        .replace("3 chunks", "corpus"),
                );
            }
            if order.contains("blocks") {
                let base = |rest: &str| base(&format!("shard = 'groups'\ngroups = 6\n{rest}"));
                all.push(base("unit = 'frame'\nbatch-size = 7"));
                all.push(base("unit = 'sequence'\nbatch-size = 12\npartial = 'even'"));
                all.push(base("unit = 'sequence'\nbatch-size = 12\nbucket = 5"));
            }
            all.push(base(
                "unit = 'sequence'\nbatch-size = 30\nmax-tokens = 14\ntokens-of = 'labels'",
            ));
            all.push(base("unit = 'sequence'\npack = 20"));
            all.push(base("unit = 'frame'\nbatch-size = 13\nshard = 'chunks'"));
            all.push(base("unit = 'frame'\nbatch-size = 13\npartial = 'even'"));
        } else {
            all.push(base("unit = 'sequence'\nbatch-size = 11\ntruncation = 4"));
            all.push(base("unit = 'frame'\nbatch-size = 9\nepoch = 50"));
        }
    }
    all
}

/// Other values for a key.
fn others(key: &str) -> &'static [&'static str] {
    match key {
        "unit" => &["'frame'", "'sequence'"],
        "context" => &["2"],
        "order" => &["'sequential'", "'shuffle'", "'blocks'"],
        "window" => &["'2 chunks'", "'40 samples'", "'corpus'"],
        "seed" => &["4"],
        "batch-size" => &["5", "8", "31"],
        "batch-unit" => &["'samples'", "'sequences'", "'padded'"],
        "bucket" => &["7"],
        "buckets" => &["2", "5", "[4, 8]"],
        "pack" => &["14", "35"],
        "max-sequences" => &["3"],
        "max-padded" => &["25"],
        "max-tokens" => &["6"],
        "tokens-of" => &["'features'"],
        "quadratic" => &["5"],
        "layout" => &["'padded'", "'concatenated'", "'packed'"],
        "label-padding" => &["-1"],
        "feature-padding" => &["-1.5"],
        "ignore-label" => &["1"],
        "map-label" => &["'1:2'"],
        "sweeps" => &["3"],
        // Behind the end of both sweeps.
        "samples" => &["1000"],
        "rank" => &["1"],
        "ranks" => &["1", "3"],
        "shard" => &["'minibatches'", "'chunks'", "'groups'"],
        "groups" => &["12"],
        "partial" => &["'even'", "'keep'", "'drop'"],
        "preset" => &["'none'", "'cntk'", "'cntk-timeline'", "'pdnn'"],
        "partition" => &["'30 frames'"],
        "stream" => &["true", "false"],
        "reshuffle" => &["true"],
        "local-timeline" | "cross-sweeps" => &["true", "false"],
        "epoch" => &["'sweep'", "40"],
        "start" => &["10"],
        "truncation" => &["3", "5"],
        "right-splice" => &["2"],
        "generator" => &["'rand'"],
        "htkmlf-epochs" => &["true"],
        "threads" => &["1", "3"],
        "queue" => &["1", "9"],
        "memory" => &["'1 GB'"],
        _ => panic!("{key} of the page has no other values here"),
    }
}

/// What is opened for a rank.
fn opened(directory: &Path, keys: &Table, rank: usize) -> seqfeed::Result<Opened> {
    let mut keys = keys.clone();
    keys.entry("rank").or_insert(seqfeed::Value::Integer(rank as i64));
    open(directory, &keys)
}

/// What became of the changes of one key with one preset.
#[derive(Debug, Default)]
struct Tried {
    went_on: usize,
    refused: usize,
}

/// A run that was left after some minibatches of each rank.
#[derive(Clone, Default)]
struct Left {
    stop: usize,
    states: Vec<State>,
    seen: Seen,
}

fn ranks(keys: &Table) -> usize {
    keys.get("ranks").map_or(1, |ranks| ranks.as_integer().unwrap() as usize)
}

/// Leaves runs with these keys after several numbers of minibatches.
fn leave(directory: &Path, base: &Table) -> Vec<Left> {
    let mut all = STOPS.map(|stop| Left { stop, ..Left::default() });
    for rank in 0..ranks(base) {
        let mut feed = opened(directory, base, rank).unwrap().feed(None).unwrap();
        let (mut seen, mut taken) = (Seen::new(), 0);
        for left in &mut all {
            let state = count(&mut feed, left.stop - taken, &mut seen);
            taken = left.stop;
            left.states.push(state);
            for (&sample, count) in &seen {
                *left.seen.entry(sample).or_default() += count;
            }
        }
    }
    all.to_vec()
}

/// Goes on with all ranks of a run that was left, with changed keys.
fn try_change(ranks: &[Opened], left: &Left, key: &str, changed: &Table, tried: &mut Tried) {
    let what = || format!("{key} after {} minibatches: {changed}", left.stop);
    if key == "rank" {
        // Any state serves any rank where all stand at one place; elsewhere that is not promised.
        let places: BTreeSet<_> =
            left.states.iter().map(|state| (state.order.sweep, state.order.item)).collect();
        if places.len() > 1
            && changed.get("preset").and_then(|preset| preset.as_str()) != Some("cntk")
        {
            return;
        }
    }
    let mut seen = left.seen.clone();
    for (rank, opened) in ranks.iter().enumerate() {
        let state = left.states.get(rank).unwrap_or(&left.states[0]);
        let state = if key == "rank" { &left.states[1 - rank] } else { state };
        match opened.feed(Some(state)) {
            Ok(mut feed) => {
                count(&mut feed, usize::MAX, &mut seen);
            }
            Err(error) => {
                assert!(error.is_usage() && error.message().len() > 20, "{}\n{error}", what());
                tried.refused += 1;
                return;
            }
        }
    }
    tried.went_on += 1;
    let sweeps = changed.get("sweeps").map_or(2, |sweeps| sweeps.as_integer().unwrap()) as u32;
    // What is left of a sweep may be dropped, but never comes twice.
    let drops = changed.get("partial").and_then(|partial| partial.as_str()) == Some("drop");
    for (sequence, &length) in LENGTHS.iter().enumerate() {
        for sample in 0..length as u32 {
            let count = seen.get(&(sequence as u32, sample)).copied().unwrap_or(0);
            // What is spliced comes again by its meaning; nothing of it may be lost.
            let again = key == "right-splice" && count > sweeps;
            let holds = count == sweeps || drops && count < sweeps || again;
            assert!(holds, "{count} times: sample {sample} of sequence {sequence}: {}", what());
        }
    }
}

/// A base with one key changed; `None` where nothing is.
fn change(base: &Table, key: &str, other: &str) -> Option<Table> {
    let mut changed = base.clone();
    changed.extend(keys(&format!("{key} = {other}")));
    match key {
        // The state of a rank that becomes another one.
        "rank" => {
            changed.remove("rank");
            return Some(changed);
        }
        // What belongs to partitions goes with nothing else.
        "preset" => {
            changed.remove("partition");
            changed.remove("stream");
        }
        _ => {}
    }
    (changed != *base).then_some(changed)
}

/// The changed corpus for each rank; `None` where the keys make no sense together: that is another
/// test's.
fn open_ranks(directory: &Path, changed: &Table) -> Option<Vec<Opened>> {
    let ranks = (0..ranks(changed)).map(|rank| {
        let opened = opened(directory, changed, rank).ok()?;
        opened.feed(None).is_ok().then_some(opened)
    });
    ranks.collect()
}

#[test]
fn each_key_may_change_as_the_page_says_or_is_refused() {
    let promised = promised();
    let mut listed: BTreeSet<String> = promised.keys().cloned().collect();
    listed.insert("state".to_owned());
    assert_eq!(listed, all_keys(), "the keys of the page");
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    for (number, preset) in PRESETS.iter().enumerate() {
        let bases = bases(preset).into_iter().map(|base| keys(&base));
        let bases: Vec<(Table, Vec<Left>)> =
            bases.map(|base| (base.clone(), leave(directory.path(), &base))).collect();
        for (key, cells) in &promised {
            let mut tried = Tried::default();
            for (base, left) in &bases {
                let changes = others(key).iter().filter_map(|other| change(base, key, other));
                for changed in changes {
                    let Some(ranks) = open_ranks(directory.path(), &changed) else { continue };
                    for left in left {
                        try_change(&ranks, left, key, &changed, &mut tried);
                    }
                }
            }
            let (cell, Tried { went_on, refused }) = (&cells[number], tried);
            let holds = match cell.split(';').next().unwrap() {
                "stays" => went_on == 0 && refused > 0,
                "may change" => went_on > 0 && (refused == 0) != cell.contains(';'),
                "if there are as many rows" => went_on > 0 && refused > 0,
                "none" => refused == 0,
                other => panic!("{other}: an unknown promise"),
            };
            assert!(
                holds,
                "{key} with preset {preset}: {cell}, but {went_on} went on, {refused} refused"
            );
        }
    }
}

#[test]
fn a_run_at_its_end_goes_on_with_more_samples() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let sizes = ["", "truncation = 4\n", "truncation = 4\nepoch = 25\n"];
    for (size, ranks) in sizes.into_iter().flat_map(|size| [(size, 1), (size, 2)]) {
        let of = |samples: usize| {
            keys(&format!(
                "preset = 'cntk'\nunit = 'sequence'\nbatch-size = 8\nranks = {ranks}\n\
                 samples = {samples}\n{size}"
            ))
        };
        let mut seen = Seen::new();
        let states: Vec<State> = (0..ranks)
            .map(|rank| {
                let opened = opened(directory.path(), &of(60), rank).unwrap();
                count(&mut opened.feed(None).unwrap(), usize::MAX, &mut seen)
            })
            .collect();
        for (rank, state) in states.iter().enumerate() {
            let opened = opened(directory.path(), &of(1000), rank).unwrap();
            count(&mut opened.feed(Some(state)).unwrap(), usize::MAX, &mut seen);
        }
        let total: u32 = seen.values().sum();
        let most = seen.values().max().unwrap() - seen.values().min().unwrap();
        assert!(total >= 1000 && most <= 1, "{size} {ranks}: {total} samples");
    }
}

#[test]
fn padding_and_types_of_streams_may_change() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let base = keys("unit = 'sequence'\nbatch-size = 20\nranks = 2\nsweeps = 2");
    let left = leave(directory.path(), &base);
    for (key, stream) in [
        ("padding", "[streams.features]\npadding = -2.5"),
        ("dtype", "[streams.labels]\ndtype = 'int64'"),
        ("dtype", "[streams.features]\ndtype = 'float16'"),
    ] {
        let mut changed = base.clone();
        changed.extend(keys(stream));
        let ranks = open_ranks(directory.path(), &changed).unwrap();
        let mut tried = Tried::default();
        left.iter().for_each(|left| try_change(&ranks, left, key, &changed, &mut tried));
        assert_eq!((tried.went_on, tried.refused), (STOPS.len(), 0), "{key}");
    }
}

//! The feed against memcpy and against what people build from numpy and a reader.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::{Setting, build, field, median, number, output_of};

const OURS: [(&str, &str); 10] = [
    ("memcpy-frames-window-1", "memcpy, one thread"),
    ("memcpy-frames-window-2", "memcpy, two threads"),
    ("frames-pool", "seqfeed, window of 4 chunks (131,072 frames)"),
    ("frames-window", "seqfeed, window of 32 chunks (1,048,576 frames)"),
    ("frames-window-map", "seqfeed, the same, mapped"),
    ("frames-corpus-map", "seqfeed, whole-corpus shuffle, mapped"),
    ("memcpy-padded-bucket-1", "memcpy, one thread"),
    ("memcpy-padded-bucket-2", "memcpy, two threads"),
    ("padded-bucket", "seqfeed"),
    ("padded-bucket-map", "seqfeed, mapped"),
];

const PEERS: [(&str, &str); 6] = [
    ("ctx-floor", "numpy, contiguous copy of the same blocks"),
    ("ctx-ram", "numpy, whole corpus in memory"),
    ("ctx-kni-window", "kaldi_native_io + numpy, pool of 100 utterances"),
    ("ctx-kaldiioC-window", "kaldiio + numpy, pool of 100 utterances"),
    ("pad-kni", "kaldi_native_io + numpy"),
    ("pad-kaldiioC", "kaldiio + numpy"),
];

/// One timed run: seconds, CPU seconds, units (frames), peak bytes.
#[derive(Clone, Copy)]
struct Run {
    wall: f64,
    cpu: f64,
    frames: f64,
    utterances: f64,
    peak: f64,
}

pub(super) fn run(setting: &Setting) -> Result<()> {
    let Setting { root, shared, corpus, python, rounds } = setting;
    let program = build(root, "seqfeed", "feed")?;
    let mut runs: BTreeMap<&str, Vec<Run>> = BTreeMap::new();
    for round in 1..=*rounds {
        eprintln!("round {round} of {rounds}");
        for (case, _) in OURS {
            let run = ours(&program, corpus, case)?;
            runs.entry(case).or_default().push(run);
        }
        let Some(python) = python else { continue };
        for (case, _) in PEERS {
            let run = peer(python, shared, corpus, case)?;
            runs.entry(case).or_default().push(run);
        }
    }
    print_table(
        "Shuffled minibatches of 1,024 frames, 5 frames of context on both sides, with \
                 labels",
        &runs,
        "memcpy-frames-window-1",
        &["memcpy-frames", "frames", "ctx"],
    );
    print_table(
        "Padded sequences bucketed by length, at most 32,000 frames with padding",
        &runs,
        "memcpy-padded-bucket-1",
        &["memcpy-padded", "padded", "pad-"],
    );
    Ok(())
}

fn ours(program: &Path, corpus: &Path, case: &str) -> Result<Run> {
    let output = Command::new(program).arg(corpus).arg(case).output()?;
    let line = output_of(output, case)?;
    Ok(Run {
        wall: number(&line, "wall")?,
        cpu: number(&line, "cpu")?,
        frames: number(&line, "frames")?,
        utterances: number(&line, "utterances")?,
        peak: number(&line, "peak")?,
    })
}

fn peer(python: &str, shared: &Path, corpus: &Path, case: &str) -> Result<Run> {
    let output = Command::new(python)
        .args(["peer_tasks.py", case])
        .current_dir(shared.join("bench"))
        .env("CORPUS", corpus)
        .env("REPS", "1")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()?;
    let line = output_of(output, case)?;
    let (unit, count) = (field(&line, "unit"), number(&line, "n")?);
    let frames = if unit.as_deref() == Some("frames") { count } else { 0.0 };
    Ok(Run {
        wall: number(&line, "wall_med")?,
        cpu: number(&line, "cpu_med")?,
        frames,
        utterances: count - frames,
        peak: number(&line, "rss_self_mb")? * 1e6,
    })
}

fn print_table(title: &str, runs: &BTreeMap<&str, Vec<Run>>, base: &str, prefixes: &[&str]) {
    println!("\n{title}\n");
    println!("| what | wall s (min-max) | CPU s | rate | of memcpy's rate | peak MB |");
    println!("| --- | --- | --- | --- | --- | --- |");
    let Some(base) = runs.get(base).map(|runs| median(runs, rate)) else { return };
    for (case, name) in OURS.iter().chain(&PEERS) {
        let ours = prefixes.iter().any(|prefix| case.starts_with(prefix));
        let Some(runs) = runs.get(case).filter(|_| ours) else { continue };
        let padded = case.contains("pad");
        let (rate_here, unit) = match padded {
            true => (median(runs, |run| run.utterances / run.wall) / 1e3, "k utterances/s"),
            false => (median(runs, |run| run.frames / run.wall) / 1e6, "M frames/s"),
        };
        let walls: Vec<f64> = runs.iter().map(|run| run.wall).collect();
        println!(
            "| {name} | {:.3} ({:.3}-{:.3}) | {:.2} | {rate_here:.2} {unit} | {:.2} | {:.0} |",
            median(runs, |run| run.wall),
            walls.iter().copied().fold(f64::MAX, f64::min),
            walls.iter().copied().fold(0.0, f64::max),
            median(runs, |run| run.cpu),
            median(runs, rate) / base,
            median(runs, |run| run.peak) / 1e6,
        );
    }
}

/// Frames a second where frames are dealt out, else utterances.
fn rate(run: &Run) -> f64 {
    let by_frames = run.utterances == 0.0 || run.utterances == run.frames;
    if by_frames { run.frames / run.wall } else { run.utterances / run.wall }
}

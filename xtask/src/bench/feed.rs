//! The feed against memcpy and against what people build from numpy and a reader.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::{Setting, build, field, median, number, output_of};

/// Cases on one corpus that make one table. Rates are compared with that of the first.
struct Table {
    title: &'static str,
    padded: bool,
    ours: &'static [(&'static str, &'static str)],
    peers: &'static [(&'static str, &'static str)],
}

const FRAMES: Table = Table {
    title: "Shuffled minibatches of 1,024 frames, 5 frames of context on both sides, with labels",
    padded: false,
    ours: &[
        ("memcpy-frames-window-1", "memcpy, one thread"),
        ("memcpy-frames-window-2", "memcpy, two threads"),
        ("frames-pool", "seqfeed, window of 4 chunks (131,072 frames)"),
        ("frames-window", "seqfeed, window of 32 chunks (1,048,576 frames)"),
        ("frames-window-map", "seqfeed, the same, mapped"),
        ("frames-corpus-map", "seqfeed, whole-corpus shuffle, mapped"),
    ],
    peers: &[
        ("ctx-floor", "numpy, contiguous copy of the same blocks"),
        ("ctx-ram", "numpy, whole corpus in memory"),
        ("ctx-kni-window", "kaldi_native_io + numpy, pool of 100 utterances"),
        ("ctx-kaldiioC-window", "kaldiio + numpy, pool of 100 utterances"),
    ],
};

const PADDED: Table = Table {
    title: "Padded sequences bucketed by length, at most 32,000 frames with padding",
    padded: true,
    ours: &[
        ("memcpy-padded-bucket-1", "memcpy, one thread"),
        ("memcpy-padded-bucket-2", "memcpy, two threads"),
        ("padded-bucket", "seqfeed"),
        ("padded-bucket-map", "seqfeed, mapped"),
    ],
    peers: &[("pad-kni", "kaldi_native_io + numpy"), ("pad-kaldiioC", "kaldiio + numpy")],
};

const HTK: Table = Table {
    title: "HTK archives with an MLF: shuffled minibatches of 1,024 frames, 5 frames of context on both sides",
    padded: false,
    ours: &[
        ("memcpy-htk-window-1", "memcpy, one thread"),
        ("memcpy-htk-window-2", "memcpy, two threads"),
        ("htk-pool", "seqfeed, window of 4 chunks (131,072 frames)"),
        ("htk-window", "seqfeed, window of 32 chunks (1,048,576 frames)"),
        ("htk-reader", "seqfeed, CNTK's reader: labels one-hot, window of the whole corpus"),
    ],
    peers: &[],
};

const PDNN: Table = Table {
    title: "PDNN: a sweep of partitions in minibatches of 256",
    padded: false,
    ours: &[
        ("memcpy-pdnn-stream-1", "memcpy, one thread"),
        ("pdnn-stream", "s.pfile,stream=True"),
        ("pdnn-stream-random", "s.pfile,stream=True,random=True"),
        ("pdnn-pickle-random", "s4.pickle,random=True (in memory)"),
    ],
    peers: &[],
};

const PDNN_CONTEXT: Table = Table {
    title: "PDNN: the same with 5 frames of context",
    padded: false,
    ours: &[
        ("memcpy-pdnn-context-random-1", "memcpy, one thread"),
        ("pdnn-context-random", "s.pfile,stream=True,context=5,random=True"),
    ],
    peers: &[],
};

/// What is measured on a corpus of Kaldi's.
pub(super) fn kaldi(setting: &Setting) -> Result<()> {
    run(setting, &[FRAMES, PADDED])
}

/// What is measured on HTK's archives.
pub(super) fn htk(setting: &Setting) -> Result<()> {
    run(setting, &[HTK])
}

/// What is measured on PDNN's files.
pub(super) fn pdnn(setting: &Setting) -> Result<()> {
    run(setting, &[PDNN, PDNN_CONTEXT])
}

/// One timed run: seconds, CPU seconds, units (frames), peak bytes.
#[derive(Clone, Copy)]
struct Run {
    wall: f64,
    cpu: f64,
    frames: f64,
    utterances: f64,
    peak: f64,
}

fn run(setting: &Setting, tables: &[Table]) -> Result<()> {
    let Setting { root, shared, corpus, python, rounds } = setting;
    let program = build(root, "seqfeed", "feed")?;
    let mut runs: BTreeMap<&str, Vec<Run>> = BTreeMap::new();
    for round in 1..=*rounds {
        eprintln!("round {round} of {rounds}");
        for (case, _) in tables.iter().flat_map(|table| table.ours) {
            let run = ours(&program, corpus, case)?;
            runs.entry(case).or_default().push(run);
        }
        let Some(python) = python else { continue };
        for (case, _) in tables.iter().flat_map(|table| table.peers) {
            let run = peer(python, shared, corpus, case)?;
            runs.entry(case).or_default().push(run);
        }
    }
    tables.iter().for_each(|table| table.print(&runs));
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

impl Table {
    fn print(&self, runs: &BTreeMap<&str, Vec<Run>>) {
        println!("\n{}\n", self.title);
        println!("| what | wall s (min-max) | CPU s | rate | of memcpy's rate | peak MB |");
        println!("| --- | --- | --- | --- | --- | --- |");
        let mut base = None;
        for (case, name) in self.ours.iter().chain(self.peers) {
            let Some(runs) = runs.get(case) else { continue };
            let base = *base.get_or_insert_with(|| median(runs, rate));
            let (rate_here, unit) = match self.padded {
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
}

/// Frames a second where frames are dealt out, else utterances.
fn rate(run: &Run) -> f64 {
    let by_frames = run.utterances == 0.0 || run.utterances == run.frames;
    if by_frames { run.frames / run.wall } else { run.utterances / run.wall }
}

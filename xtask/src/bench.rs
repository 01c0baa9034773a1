//! Runs the benchmarks and the peers in turn, and prints a table of medians.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

const OURS: [(&str, &str); 10] = [
    ("memcpy-frames-1", "memcpy, one thread"),
    ("memcpy-frames-2", "memcpy, two threads"),
    ("frames-pool", "seqfeed, window of 4 chunks (131,072 frames)"),
    ("frames-window", "seqfeed, window of 32 chunks (1,048,576 frames)"),
    ("frames-window-map", "seqfeed, the same, mapped"),
    ("frames-corpus-map", "seqfeed, whole-corpus shuffle, mapped"),
    ("memcpy-padded-1", "memcpy, one thread"),
    ("memcpy-padded-2", "memcpy, two threads"),
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

/// `bench [--corpus DIR] [--peers PYTHON] [--rounds N]`: DIR as made by gen_kaldi.py; PYTHON an
/// interpreter with numpy, kaldiio and kaldi_native_io; all cases in turn, N times (5).
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let root = super::root().canonicalize()?;
    let shared = env::var("SEQFEED_SHARED").map_or(root.join("../shared"), PathBuf::from);
    let python = option("--peers");
    let corpus = match option("--corpus") {
        Some(corpus) => PathBuf::from(corpus),
        None => make_corpus(&root, &shared, python.as_deref().unwrap_or("python3"))?,
    };
    let rounds: usize = option("--rounds").map_or(Ok(5), |text| text.parse())?;
    let program = build(&root)?;
    let mut runs: BTreeMap<&str, Vec<Run>> = BTreeMap::new();
    for round in 1..=rounds {
        eprintln!("round {round} of {rounds}");
        for (case, _) in OURS {
            let run = ours(&program, &corpus, case)?;
            runs.entry(case).or_default().push(run);
        }
        for (case, _) in PEERS.iter().filter(|_| python.is_some()) {
            let run = peer(python.as_deref().unwrap_or_default(), &shared, &corpus, case)?;
            runs.entry(case).or_default().push(run);
        }
    }
    print_table(
        "Shuffled minibatches of 1,024 frames, 5 frames of context on both sides, with \
                 labels",
        &runs,
        "memcpy-frames-1",
        &["memcpy-frames", "frames", "ctx"],
    );
    print_table(
        "Padded sequences bucketed by length, at most 32,000 frames with padding",
        &runs,
        "memcpy-padded-1",
        &["memcpy-padded", "padded", "pad-"],
    );
    Ok(())
}

fn make_corpus(root: &Path, shared: &Path, python: &str) -> Result<PathBuf> {
    let corpus = root.join("bench-data/k5000");
    if !corpus.join("utt2num_frames").exists() {
        eprintln!("making {}", corpus.display());
        let status = Command::new(python)
            .arg(shared.join("bench/gen_kaldi.py"))
            .arg(&corpus)
            .args(["5000", "1"])
            .status()
            .context("running gen_kaldi.py")?;
        if !status.success() {
            bail!("gen_kaldi.py failed (it needs numpy: give --peers PYTHON)");
        }
    }
    Ok(corpus)
}

fn build(root: &Path) -> Result<PathBuf> {
    let output = Command::new("cargo")
        .args(["bench", "--package", "seqfeed", "--bench", "feed", "--no-run"])
        .args(["--message-format", "json"])
        .current_dir(root)
        .output()?;
    if !output.status.success() {
        bail!("building the benchmark failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8(output.stdout)?;
    let artifacts = text.lines().filter(|line| line.contains("\"name\":\"feed\""));
    let program = artifacts.filter_map(|line| field(line, "executable")).next_back();
    program.map(PathBuf::from).context("cargo named no executable")
}

fn ours(program: &Path, corpus: &Path, case: &str) -> Result<Run> {
    let output = Command::new(program).arg(corpus).arg(case).output()?;
    let line = String::from_utf8(output.stdout)?;
    if !output.status.success() {
        bail!("{case} failed: {}", String::from_utf8_lossy(&output.stderr));
    }
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
        .env("CORPUS", corpus.canonicalize()?)
        .env("REPS", "1")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()?;
    let line = String::from_utf8(output.stdout)?;
    if !output.status.success() {
        bail!("{case} failed: {}", String::from_utf8_lossy(&output.stderr));
    }
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

fn median(runs: &[Run], value: impl Fn(&Run) -> f64) -> f64 {
    let mut values: Vec<f64> = runs.iter().map(value).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn number(line: &str, name: &str) -> Result<f64> {
    let text = field(line, name).with_context(|| format!("no {name} in {line}"))?;
    text.parse().with_context(|| format!("{name} is {text}"))
}

/// The value of a field in a flat JSON object, which is all that is read here.
fn field(line: &str, name: &str) -> Option<String> {
    let (_, rest) = line.split_once(&format!("\"{name}\":"))?;
    let rest = rest.trim_start();
    match rest.strip_prefix('"') {
        Some(text) => text.split('"').next().map(str::to_owned),
        None => rest.split([',', '}']).next().map(|number| number.trim().to_owned()),
    }
}

//! Transforms in the feed, against the plain feed of what they give, and against what people write
//! with torch.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::{Setting, build, median, number, output_of};

/// Cases: each is run, and the plain feed of the same bytes out of files.
const CASES: [(&str, &str); 6] = [
    ("cmvn", "cmvn by statistics of all, with variances"),
    ("cmvn-utterance", "cmvn by statistics of each utterance, with variances"),
    ("deltas", "deltas of order 2"),
    ("stack", "stack, m = 7, n = 6"),
    ("segments", "segments of 150 frames with 29 on each side"),
    ("recipe", "cmvn by speaker, deltas, stack"),
];

/// Those who do what `recipe` does, and without transforms.
const PEERS: [(&str, &str, bool); 6] = [
    ("torch", "torch, features in memory, one thread", false),
    ("kaldiio", "kaldiio + torch", false),
    ("lhotse", "lhotse + torch", false),
    ("torch", "torch without transforms", true),
    ("kaldiio", "kaldiio + torch without transforms", true),
    ("lhotse", "lhotse + torch without transforms", true),
];

/// A sweep.
struct Run {
    wall: f64,
    cpu: f64,
    /// Bytes of the minibatches, with padding, which differs a little with the order.
    bytes: f64,
}

/// Prints what transforms cost on a corpus of Kaldi's.
pub(super) fn run(setting: &Setting) -> Result<()> {
    let program = build(&setting.root, "seqfeed", "feed")?;
    let mut runs: BTreeMap<String, Vec<Run>> = BTreeMap::new();
    for round in 0..=setting.rounds {
        eprintln!("round {round} of {}", setting.rounds);
        let mut keep = |name: String, run: Run| {
            // The first makes what is missing: files, pages in memory.
            if round > 0 {
                runs.entry(name).or_default().push(run);
            }
        };
        for name in ["features"].into_iter().chain(CASES.map(|(case, _)| case)) {
            let written = (name != "features").then(|| format!("written-{name}"));
            for name in std::iter::once(name.to_owned()).chain(written) {
                let run = ours(&program, &setting.corpus, &name)?;
                keep(name, run);
            }
        }
        for (case, name, plain) in PEERS {
            if let Some(python) = &setting.python {
                keep(name.to_owned(), peer(setting, python, case, plain)?);
            }
        }
    }
    print(&runs);
    Ok(())
}

fn ours(program: &Path, corpus: &Path, case: &str) -> Result<Run> {
    let output = Command::new(program).arg(corpus).arg(case).output()?;
    let line = output_of(output, case)?;
    let get = |name: &str| number(&line, name);
    Ok(Run { wall: get("wall")?, cpu: get("cpu")?, bytes: get("bytes")? })
}

fn peer(setting: &Setting, python: &str, case: &str, plain: bool) -> Result<Run> {
    let output = Command::new(python)
        .arg(setting.root.join("xtask/peers/transforms.py"))
        .args([case].into_iter().chain(plain.then_some("plain")))
        .env("CORPUS", &setting.corpus)
        .env("OMP_NUM_THREADS", "1")
        .output()?;
    let line = output_of(output, case)?;
    let get = |name: &str| number(&line, name);
    Ok(Run { wall: get("wall_med")?, cpu: get("cpu_med")?, bytes: 4.0 * get("values")? })
}

fn print(runs: &BTreeMap<String, Vec<Run>>) {
    println!(
        "\nTransforms: padded sequences, at most 32,000 frames of the input with padding; 128 segments\n"
    );
    println!("| transform | GB out | CPU s | plain feed of the same bytes, CPU s | ratio |");
    println!("| --- | --- | --- | --- | --- |");
    let cpu = |name: &str| runs.get(name).map(|runs| median(runs, |run| run.cpu.max(0.01)));
    for (case, what) in CASES {
        let (Some(with), Some(plain)) = (cpu(case), cpu(&format!("written-{case}"))) else {
            continue;
        };
        let gigabytes = median(&runs[case], |run| run.bytes) / 1e9;
        println!("| {what} | {gigabytes:.2} | {with:.2} | {plain:.2} | {:.2} |", with / plain);
    }
    println!("\nThe last of these beside others\n");
    println!("| what | GB out | wall s | CPU s | seqfeed is faster by: wall | CPU |");
    println!("| --- | --- | --- | --- | --- | --- |");
    let row = |name: &str, what: &str, base: &str| {
        let (Some(these), Some(base)) = (runs.get(name), runs.get(base)) else { return };
        let [(wall, cpu), (base_wall, base_cpu)] = [these, base]
            .map(|runs| (median(runs, |run| run.wall), median(runs, |run| run.cpu.max(0.01))));
        let gigabytes = median(these, |run| run.bytes) / 1e9;
        let (times, times_cpu) = (wall / base_wall, cpu / base_cpu);
        println!(
            "| {what} | {gigabytes:.2} | {wall:.2} | {cpu:.2} | {times:.1} | {times_cpu:.1} |"
        );
    };
    row("recipe", "seqfeed, two threads", "recipe");
    for (_, name, _) in PEERS.iter().filter(|(.., plain)| !plain) {
        row(name, name, "recipe");
    }
    row("features", "seqfeed without transforms", "features");
    for (_, name, _) in PEERS.iter().filter(|(.., plain)| *plain) {
        row(name, name, "features");
    }
}

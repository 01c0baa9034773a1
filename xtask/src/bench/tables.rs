//! Reading and writing Kaldi tables, against `cat`, `cp` and the packages people use today.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::{Setting, build, median, number, output_of};

/// Tasks: name, what it is, and which peers do it, too.
const TASKS: [(&str, &str, &[&str]); 21] = [
    ("cat", "cat, the limit of reading", &[]),
    ("read-ark", "archive", &["kni", "kaldiio"]),
    ("read-ark-new", "archive, a new matrix each time", &[]),
    ("read-scp", "script file", &["kni", "kaldiio"]),
    ("read-scp-shuffled", "script file, shuffled", &["kni"]),
    ("read-scp-any-order", "script file, shuffled, in the order of the disk", &[]),
    ("random-ark-s-cs", "random access, ark,s,cs", &["kni"]),
    ("random-ark", "random access, ark without options, keys shuffled", &["kni"]),
    ("random-scp", "random access, scp, keys shuffled", &["kni", "kaldiio"]),
    ("keys", "keys of an archive", &[]),
    ("cp", "cp, the limit of copying", &[]),
    ("copy-ark-scp", "archive to archive and script file", &["kni", "kaldiio"]),
    ("read-text", "text to floats", &["kni"]),
    ("write-text", "floats to text", &["kni"]),
    ("read-ali", "int32 vectors", &["kni", "kaldiio"]),
    ("read-ali-text", "int32 vectors from text", &["kni"]),
    ("write-ali-text", "int32 vectors to text", &["kni"]),
    ("read-compressed", "decompressing (one byte a value)", &["kni", "kaldiio"]),
    ("read-two-byte", "decompressing (two bytes a value)", &[]),
    ("write-compressed", "compressing (one byte a value)", &["kni"]),
    ("write-two-byte", "compressing (two bytes a value)", &[]),
];

/// One timed run: seconds, CPU seconds, bytes, peak bytes.
#[derive(Clone, Copy)]
struct Run {
    wall: f64,
    cpu: f64,
    bytes: f64,
    peak: f64,
}

pub(super) fn run(setting: &Setting) -> Result<()> {
    let program = build(&setting.root, "seqfeed-kaldi", "tables")?;
    let output = Command::new(&program).arg(&setting.corpus).arg("prepare").output()?;
    output_of(output, "making what the cases need")?;
    let mut runs: BTreeMap<String, Vec<Run>> = BTreeMap::new();
    for round in 1..=setting.rounds {
        eprintln!("round {round} of {}", setting.rounds);
        for (task, _, peers) in TASKS {
            let ours = ours(&program, &setting.corpus, task)?;
            runs.entry(task.to_owned()).or_default().push(ours);
            let Some(python) = &setting.python else { continue };
            for peer in peers {
                let name = format!("{peer}-{task}");
                let run = peer_run(setting, python, &name, ours.bytes)?;
                runs.entry(name).or_default().push(run);
            }
        }
    }
    for name in ["out.ark", "out.scp"] {
        // Made only where copies were timed.
        let _ = std::fs::remove_file(setting.corpus.join(name));
    }
    print_table(&runs);
    Ok(())
}

fn ours(program: &Path, corpus: &Path, task: &str) -> Result<Run> {
    let output = Command::new(program).arg(corpus).arg(task).output()?;
    let line = output_of(output, task)?;
    read_run(&line, number(&line, "bytes")?)
}

fn peer_run(setting: &Setting, python: &str, name: &str, bytes: f64) -> Result<Run> {
    let output = Command::new(python)
        .arg(setting.root.join("xtask/peers/tables.py"))
        .arg(name)
        .env("CORPUS", &setting.corpus)
        .output()?;
    read_run(&output_of(output, name)?, bytes)
}

fn read_run(line: &str, bytes: f64) -> Result<Run> {
    let get = |name: &str| number(line, name);
    Ok(Run { wall: get("wall")?, cpu: get("cpu")?, bytes, peak: get("peak")? })
}

fn print_table(runs: &BTreeMap<String, Vec<Run>>) {
    println!("\nKaldi tables\n");
    println!("| what | program | wall s | CPU s | MB per CPU s | peak MB | seqfeed is faster by |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for (task, what, peers) in TASKS {
        let Some(ours) = runs.get(task) else { continue };
        let cpu = median(ours, |run| run.cpu.max(0.01));
        print_row(what, if task.len() < 4 { "" } else { "seqfeed" }, ours, "");
        for peer in peers {
            let Some(theirs) = runs.get(&format!("{peer}-{task}")) else { continue };
            let name = if *peer == "kni" { "kaldi_native_io" } else { *peer };
            let ratio = format!("{:.1}", median(theirs, |run| run.cpu) / cpu);
            print_row("", name, theirs, &ratio);
        }
    }
}

fn print_row(what: &str, program: &str, runs: &[Run], ratio: &str) {
    println!(
        "| {what} | {program} | {:.3} | {:.2} | {:.0} | {:.0} | {ratio} |",
        median(runs, |run| run.wall),
        median(runs, |run| run.cpu),
        median(runs, |run| run.bytes / run.cpu.max(0.01) / 1e6),
        median(runs, |run| run.peak) / 1e6,
    );
}

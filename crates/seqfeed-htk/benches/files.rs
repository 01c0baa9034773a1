//! Parameter files, one an utterance, read one after another: beside reading their
//! bytes, and numpy.
//!
//! ```text
//! python benches/numpy_reader.py make DIR
//! cargo bench -p seqfeed-htk --bench files -- DIR/plain.scp [PYTHON]
//! ```

// A program: it prints.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::fs::{self, File};
use std::hint::black_box;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use seqfeed_htk::param::{ParamFile, ReadOptions};

const ROUNDS: usize = 5;

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let Some(script) = arguments.first() else {
        println!("usage: files SCRIPT [PYTHON]");
        return;
    };
    let names = fs::read_to_string(script).unwrap();
    let names: Vec<&Path> = names.lines().map(Path::new).collect();
    let mut seconds = [const { Vec::new() }; 3];
    let mut values = [0; 3];
    for _ in 0..ROUNDS {
        let cases: [&dyn Fn() -> (f64, usize); 3] =
            [&|| timed(|| bytes(&names)), &|| timed(|| floats(&names)), &|| {
                numpy(script, &arguments)
            }];
        for (case, run) in cases.iter().enumerate() {
            let (cpu, count) = run();
            seconds[case].push(cpu);
            values[case] = count;
        }
    }
    let megabytes = (4 * values[1]) as f64 / 1e6;
    println!("{} files, {megabytes:.0} MB of floats; median of CPU seconds", names.len());
    for (case, what) in ["reading their bytes", "ParamFile", "numpy"].iter().enumerate() {
        seconds[case].sort_by(f64::total_cmp);
        let median = seconds[case][ROUNDS / 2];
        if values[case] > 0 {
            println!("  {what:<20} {median:6.3} s  {:6.0} MB/s", megabytes / median);
        }
    }
    assert!(values[2] == 0 || values[2] == values[1], "numpy read as many values");
}

fn bytes(names: &[&Path]) -> usize {
    let mut all = Vec::new();
    let mut length = 0;
    for name in names {
        all.clear();
        length += File::open(name).unwrap().read_to_end(&mut all).unwrap();
        black_box(&all);
    }
    length
}

fn floats(names: &[&Path]) -> usize {
    let mut out = Vec::new();
    let mut values = 0;
    for name in names {
        let file = ParamFile::open(name, &ReadOptions::default()).unwrap();
        let count = file.frames() as usize * file.columns();
        out.resize(out.len().max(count), 0.0);
        file.read_frames(0..file.frames(), &mut out[..count]).unwrap();
        values += count;
        black_box(&out);
    }
    values
}

fn numpy(script: &str, arguments: &[String]) -> (f64, usize) {
    let Some(python) = arguments.get(1) else { return (0.0, 0) };
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/numpy_reader.py");
    let output = Command::new(python).arg(program).arg(script).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (seconds, values) = text.trim().split_once(' ').expect("seconds and values");
    (seconds.parse().unwrap(), values.parse().unwrap())
}

fn timed(run: impl Fn() -> usize) -> (f64, usize) {
    let before = cpu_seconds();
    let values = run();
    (cpu_seconds() - before, values)
}

/// User and system time of this process, to a nanosecond where the system tells it.
fn cpu_seconds() -> f64 {
    let schedule = fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = schedule.split(' ').next().and_then(|first| first.parse::<f64>().ok());
    nanoseconds.unwrap_or(0.0) / 1e9
}

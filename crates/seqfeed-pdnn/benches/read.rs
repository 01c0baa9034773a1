//! PFiles beside a copy of memory, and pickles beside Python's `pickle.load`.
//!
//! `cargo bench -p seqfeed-pdnn --bench read -- [--python PYTHON] [--rounds N] FILE...`; the best
//! of several rounds is printed, since other programs can only make a round slower. Pickles are all
//! that is not called `.pfile`; with a Python that has numpy, both load them in turn, and their CPU
//! seconds are compared, which a busy machine changes least.

// A program: it prints.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use seqfeed_core::{Block, Source};
use seqfeed_io::Opener;
use seqfeed_pdnn::pfile::{PFile, PFileSource};
use seqfeed_pdnn::pickle::PickledData;

/// What each thing is done for, at least.
const SECONDS: f64 = 2.0;

/// Runs something several times: the best speed.
fn time(what: &str, bytes: u64, mut run: impl FnMut()) {
    let mut best = f64::INFINITY;
    let begin = Instant::now();
    while best.is_infinite() || begin.elapsed().as_secs_f64() < SECONDS {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("  {what:<28} {:8.0} MB/s {:8.3} s", bytes as f64 / best / 1e6, best);
}

fn pfile(name: &str, bytes: u64) {
    let opener = Opener::default();
    let mut piece = vec![0; 256 << 10];
    let mut copy = vec![0; 256 << 10];
    time("read by pieces", bytes, || {
        let mut file = std::fs::File::open(name).unwrap();
        while std::io::Read::read(&mut file, &mut piece).unwrap() > 0 {
            black_box(&piece);
        }
    });
    time("read by pieces and copy", bytes, || {
        let mut file = std::fs::File::open(name).unwrap();
        while std::io::Read::read(&mut file, &mut piece).unwrap() > 0 {
            copy.copy_from_slice(&piece);
            black_box(&copy);
        }
    });
    let file = PFile::open(name, &opener).unwrap();
    let (mut features, mut labels) = (Vec::new(), Vec::new());
    time("read_sentence", bytes, || {
        for sentence in 0..file.sentences() {
            file.read_sentence(sentence, &mut features, &mut labels).unwrap();
            black_box((&features, &labels));
        }
    });
    time("verify", bytes, || file.verify().unwrap());
    let source = PFileSource::open(name, &opener).unwrap();
    let mut blocks = source.new_blocks();
    time("source, by chunks", bytes, || {
        for chunk in 0..source.index().chunk_count() {
            blocks.iter_mut().for_each(Block::clear);
            source.load_chunk(chunk, &mut blocks).unwrap();
            black_box(&blocks);
        }
    });
    println!("  {} sentences, {} frames", file.sentences(), file.frames());
}

/// Loads a pickle and says how long it took: seconds, and CPU seconds.
const PYTHON_LOAD: &str = r#"
import bz2, gzip, pickle, sys, time
import numpy.core.multiarray
name = sys.argv[1]
opens = {"gz": gzip.open, "bz2": bz2.open}.get(name.rsplit(".", 1)[1], open)
start, cpu = time.perf_counter(), time.process_time()
with opens(name, "rb") as file:
    pickle.load(file)
print(time.perf_counter() - start, time.process_time() - cpu)
"#;

/// Seconds, and CPU seconds.
type Seconds = [f64; 2];

/// CPU seconds of this process so far, of all its threads.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // Behind the name, which may hold anything: the times are fields 14 and 15, in hundredths.
    let fields = stat.rsplit(')').next().unwrap().split_ascii_whitespace().skip(11).take(2);
    fields.map(|field| field.parse::<f64>().unwrap()).sum::<f64>() / 100.0
}

fn own_load(name: &str) -> Seconds {
    let (start, cpu) = (Instant::now(), cpu_seconds());
    drop(black_box(PickledData::open(name, &Opener::default()).unwrap()));
    [start.elapsed().as_secs_f64(), cpu_seconds() - cpu]
}

fn python_load(python: &str, name: &str) -> Seconds {
    let output = Command::new(python).args(["-W", "ignore", "-c", PYTHON_LOAD, name]).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut seconds = text.split_ascii_whitespace().map(|word| word.parse().unwrap());
    [seconds.next().unwrap(), seconds.next().unwrap()]
}

fn pickle(name: &str, bytes: u64, python: Option<&str>, rounds: usize) {
    let (mut own, mut theirs) = ([f64::INFINITY; 2], [f64::INFINITY; 2]);
    let least = |best: &mut Seconds, new: Seconds| {
        best.iter_mut().zip(new).for_each(|(best, new)| *best = best.min(new));
    };
    for _ in 0..rounds {
        least(&mut own, own_load(name));
        if let Some(python) = python {
            least(&mut theirs, python_load(python, name));
        }
    }
    let print = |what: &str, [wall, cpu]: Seconds| {
        let speed = bytes as f64 / wall / 1e6;
        println!("  {what:<28} {speed:8.0} MB/s {wall:8.3} s {cpu:8.2} s of CPU");
    };
    print("pickle", own);
    if python.is_some() {
        print("pickle.load of Python", theirs);
        println!("  {:<28} {:8.2} of Python's CPU seconds", "", own[1] / theirs[1]);
    }
}

fn main() {
    let (mut files, mut python, mut rounds) = (Vec::new(), None, 5);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--bench" => {}
            "--python" => python = arguments.next(),
            "--rounds" => rounds = arguments.next().unwrap().parse().unwrap(),
            _ => files.push(argument),
        }
    }
    if files.is_empty() {
        println!("no files given: cargo bench -p seqfeed-pdnn --bench read -- FILE...");
    }
    for name in files {
        let bytes = std::fs::metadata(&name).unwrap().len();
        println!("{name}: {bytes} bytes");
        if name.ends_with(".pfile") {
            pfile(&name, bytes);
        } else {
            pickle(&name, bytes, python.as_deref(), rounds);
        }
    }
}

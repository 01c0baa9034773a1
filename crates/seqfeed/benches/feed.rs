//! The speed of the feed on a Kaldi corpus, and of memcpy on the same bytes.
//!
//! ```text
//! cargo bench --bench feed -- CORPUS CASE     # one case, one JSON line
//! cargo xtask bench                           # all cases and the peers, several rounds, a table
//! ```
//!
//! CORPUS is a directory with `feats.scp`, `feats.ark` and `ali.ark`. Each case makes one sweep to
//! warm up and one that is timed, and checks that every frame came.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used)]

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use seqfeed::io::Policy;
use seqfeed::{Description, Feed, Opened, Source};

const CASES: [&str; 10] = [
    "memcpy-frames-1",
    "memcpy-frames-2",
    "frames-pool",
    "frames-window",
    "frames-window-map",
    "frames-corpus-map",
    "memcpy-padded-1",
    "memcpy-padded-2",
    "padded-bucket",
    "padded-bucket-map",
];

fn main() {
    // `cargo bench` and `cargo test --benches` add flags of their own.
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let [corpus, case] = &arguments[..] else {
        eprintln!("usage: feed CORPUS CASE, where CASE is one of {}", CASES.join(" "));
        return;
    };
    match case.strip_prefix("memcpy-") {
        Some("frames-1") => memcpy(corpus, case, &frames(""), 1),
        Some("frames-2") => memcpy(corpus, case, &frames(""), 2),
        Some("padded-1") => memcpy(corpus, case, &padded(""), 1),
        Some("padded-2") => memcpy(corpus, case, &padded(""), 2),
        _ => match case.as_str() {
            // As many frames as the peers' pools of 100 utterances.
            "frames-pool" => feed(corpus, case, &frames("window = '4 chunks'")),
            "frames-window" => feed(corpus, case, &frames("")),
            "frames-window-map" => feed(corpus, case, &frames("map = true")),
            "frames-corpus-map" => feed(corpus, case, &frames("map = true\nwindow = 'corpus'")),
            "padded-bucket" => feed(corpus, case, &padded("")),
            "padded-bucket-map" => feed(corpus, case, &padded("map = true")),
            _ => eprintln!("no case {case}; there are {}", CASES.join(" ")),
        },
    }
}

/// Shuffled minibatches of 1,024 frames with 5 frames of context on both sides.
fn frames(more: &str) -> String {
    format!("context = 5\nbatch-size = 1024\nthreads = 2\n{more}")
}

/// Padded sequences, bucketed by length, of at most 32,000 frames with padding.
fn padded(more: &str) -> String {
    format!(
        "unit = 'sequence'\nbatch-size = 32000\nbatch-unit = 'padded'\nbucket = 1000\nthreads = 2\n\
         {more}"
    )
}

fn open(corpus: &str, settings: &str) -> Opened {
    let text = format!("features = 'scp:feats.scp'\nlabels = 'ark:ali.ark'\n{settings}");
    let mut description = Description::from_toml(&text).unwrap();
    description.base = Some(corpus.into());
    description.sweeps = Some(2);
    description.open(Policy::default()).unwrap()
}

/// What one sweep delivers.
#[derive(Clone, Copy, Default)]
struct Delivered {
    minibatches: u64,
    frames: u64,
    utterances: u64,
    bytes: u64,
    /// The largest minibatch.
    most_bytes: usize,
}

fn sweep(feed: &mut Feed) -> Delivered {
    let mut done = Delivered::default();
    for minibatch in feed {
        let minibatch = minibatch.unwrap();
        black_box(minibatch.dense("features").unwrap()[0]);
        done.minibatches += 1;
        done.frames += minibatch.samples() as u64;
        done.utterances += minibatch.len() as u64;
        done.bytes += minibatch.bytes() as u64;
        done.most_bytes = done.most_bytes.max(minibatch.bytes());
        if minibatch.end_of_sweep() {
            break;
        }
    }
    done
}

fn feed(corpus: &str, case: &str, settings: &str) {
    let opening = Instant::now();
    let opened = open(corpus, settings);
    let opening = opening.elapsed().as_secs_f64();
    let mut feed = opened.feed(None).unwrap();
    sweep(&mut feed);
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    let done = sweep(&mut feed);
    let (wall, cpu) = (wall.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    assert_eq!(done.frames, opened.corpus().index().total_samples(), "every frame once");
    report(case, done, wall, cpu, feed.memory_bound(), opening);
}

/// Copies blocks of the size of the minibatches, out of a pool larger than the caches, into few
/// destinations that are used again and again: what any loader must do at least.
fn memcpy(corpus: &str, case: &str, settings: &str, threads: u64) {
    let opened = open(corpus, settings);
    let mut feed = opened.feed(None).unwrap();
    let done = sweep(&mut feed);
    drop(feed);
    let block = (done.bytes / done.minibatches) as usize;
    let pool: Vec<u8> = (0..(256 << 20)).map(|i| i as u8).collect();
    let blocks = pool.len() / block;
    let run = || {
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let pool = &pool;
                scope.spawn(move || {
                    let mut out = vec![vec![0u8; block]; 4];
                    for i in (thread..done.minibatches).step_by(threads as usize) {
                        let from = (i as usize * 7919 % blocks) * block;
                        let out = &mut out[i as usize / threads as usize % 4];
                        out.copy_from_slice(&pool[from..from + block]);
                        black_box(&out);
                    }
                });
            }
        });
    };
    run();
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    run();
    report(case, done, wall.elapsed().as_secs_f64(), cpu_seconds() - cpu, 0, 0.0);
}

fn report(case: &str, done: Delivered, wall: f64, cpu: f64, bound: u64, opening: f64) {
    let peak = peak_bytes();
    println!(
        "{{\"case\":\"{case}\",\"wall\":{wall:.4},\"cpu\":{cpu:.2},\"frames\":{},\"utterances\":{},\
         \"bytes\":{},\"minibatches\":{},\"bound\":{bound},\"peak\":{peak},\"opening\":{opening:.4}}}",
        done.frames, done.utterances, done.bytes, done.minibatches
    );
}

fn peak_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) * 1024
}

fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string(Path::new("/proc/self/stat")).unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    // User and system time, in hundredths of a second.
    (ticks(11) + ticks(12)) / 100.0
}

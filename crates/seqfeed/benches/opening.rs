//! What it takes to open a corpus of millions of utterances, up to the first minibatch.
//!
//! ```sh
//! cargo xtask bench scale --sequences 5000000
//! ```
//!
//! `opening DIRECTORY N` makes a corpus of N utterances (keys of 22 bytes; script files that lead
//! round-robin to 4,000 objects of 8 to 24 frames of 4 floats in 4 archives, and to labels in one
//! more), and runs each case in a process of its own.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used
)]

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use seqfeed::Description;
use seqfeed::io::Opener;

const OBJECTS: usize = 4000;
const ARCHIVES: usize = 4;

const FEATURES: &str = "[streams.features]\nsource = 'scp:feats.scp'\n";
const LABELS: &str = "[streams.labels]\nkind = 'label'\nsource = 'scp:ali.scp'\n";
const LENGTHS: &str = "lengths = 'utt2num_frames'\n";

const CASES: [(&str, &[&str]); 4] = [
    ("features", &[FEATURES]),
    ("features, lengths stated", &[FEATURES, LENGTHS]),
    ("features and labels", &[FEATURES, LABELS]),
    ("features and labels, lengths stated", &[FEATURES, LENGTHS, LABELS, LENGTHS]),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo bench` adds an option of its own.
    let arguments: Vec<&String> = arguments.iter().filter(|word| *word != "--bench").collect();
    match arguments[..] {
        [directory, case] if case.parse::<usize>().is_err() => run(Path::new(directory), case),
        [directory, count] => table(Path::new(directory), count.parse().unwrap()),
        _ => eprintln!("usage: opening DIRECTORY UTTERANCES"),
    }
}

fn length(object: usize) -> usize {
    8 + object * 7919 % 17
}

fn make(directory: &Path, count: usize) {
    fs::create_dir_all(directory).unwrap();
    let create = |name: &str| BufWriter::new(File::create(directory.join(name)).unwrap());
    let mut archives: Vec<_> = (0..ARCHIVES)
        .map(|number| (create(&format!("f{number}.ark")), 0u64, format!("f{number}.ark")))
        .collect();
    archives.push((create("ali.ark"), 0, "ali.ark".to_owned()));
    let mut places = Vec::new();
    for object in 0..OBJECTS {
        let rows = length(object);
        let key = format!("object{object:06} ").into_bytes();
        let size = |number: usize| [&[4u8][..], &(number as i32).to_le_bytes()].concat();
        let value = |at: usize| (((object + at) % 101) as f32).to_le_bytes();
        let features = [&b"\0BFM "[..], &size(rows), &size(4)].concat();
        let features = [features, (0..4 * rows).flat_map(value).collect()].concat();
        let labels: Vec<u8> = (0..rows).flat_map(|at| size(at % 10)).collect();
        let labels = [&b"\0B"[..], &size(rows), &labels].concat();
        let mut write = |archive: usize, bytes: &[u8]| {
            let (file, position, name) = &mut archives[archive];
            file.write_all(&key).unwrap();
            file.write_all(bytes).unwrap();
            let place = format!("{name}:{}", *position + key.len() as u64);
            *position += (key.len() + bytes.len()) as u64;
            place
        };
        places.push((write(object % ARCHIVES, &features), write(ARCHIVES, &labels)));
    }
    archives.into_iter().for_each(|(mut file, ..)| file.flush().unwrap());
    let [mut features, mut labels, mut lengths] =
        ["feats.scp", "ali.scp", "utt2num_frames"].map(create);
    for number in 0..count {
        let (feature, label) = &places[number % OBJECTS];
        let key = format!("corpus-a-utt-{number:09}");
        writeln!(features, "{key} {feature}").unwrap();
        writeln!(labels, "{key} {label}").unwrap();
        writeln!(lengths, "{key} {}", length(number % OBJECTS)).unwrap();
    }
    features.flush().unwrap();
    labels.flush().unwrap();
    lengths.flush().unwrap();
}

fn table(directory: &Path, count: usize) {
    if !directory.join("utt2num_frames").exists() {
        eprintln!("making {}", directory.display());
        make(directory, count);
    }
    println!("| {count} utterances | wall s | CPU s | peak MB | bytes an utterance |");
    println!("| --- | --- | --- | --- | --- |");
    let program = std::env::current_exe().unwrap();
    for (name, _) in CASES {
        // The first one brings the files into memory.
        let runs: Vec<String> = (0..3)
            .map(|_| {
                let output = Command::new(&program).arg(directory).arg(name).output().unwrap();
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                String::from_utf8(output.stdout).unwrap()
            })
            .collect();
        let numbers = |run: &String| -> Vec<f64> {
            run.split_whitespace().map(|number| number.parse().unwrap()).collect()
        };
        let best = runs.iter().map(numbers).min_by(|one, other| one[0].total_cmp(&other[0]));
        let [wall, cpu, peak] = best.unwrap()[..] else { unreachable!() };
        println!(
            "| {name} | {wall:.2} | {cpu:.2} | {:.0} | {:.0} |",
            peak / 1e6,
            peak / count as f64
        );
    }
}

fn run(directory: &Path, case: &str) {
    let started = Instant::now();
    let (_, description) = CASES.iter().find(|(name, _)| *name == case).unwrap();
    let description = format!("{}[feed]\nunit = 'sequence'\n", description.concat());
    let description = Description::from_toml(&description).unwrap();
    let opener = Opener::default().in_directory(Some(directory.into()));
    let opened = description.open(&opener).unwrap();
    let mut feed = opened.feed(None).unwrap();
    feed.next().unwrap().unwrap();
    println!("{} {} {}", started.elapsed().as_secs_f64(), cpu_seconds(), peak_bytes());
}

fn peak_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) * 1024
}

fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    // User and system time, in hundredths of a second.
    (ticks(11) + ticks(12)) / 100.0
}

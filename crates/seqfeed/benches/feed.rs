//! The speed of the feed, and of memcpy on the same bytes.
//!
//! ```text
//! cargo bench --bench feed -- CORPUS CASE [SWEEPS] # one case, one JSON line
//! cargo xtask bench                                # all cases and the peers, rounds, a table
//! ```
//!
//! CORPUS is a directory made by a generator of the shared material: `gen_kaldi.py`,
//! `gen_cntk.py htk` or `gen_pdnn.py`. `written-CASE` feeds what CASE gives, out of files that are
//! made at its first call: the same bytes without transforms. Each case makes one sweep to warm up
//! and one (or SWEEPS) that is timed, and checks that every frame came.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used
)]

use std::fs;
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use seqfeed::io::Opener;
use seqfeed::{Description, Feed, Opened, Source};

/// Shuffled minibatches of 1,024 frames with 5 frames of context on both sides.
const FRAMES: &str = "context = 5\nbatch-size = 1024\nthreads = 2\norder = 'shuffle'\n";

/// The same in blocks.
const BLOCKS: &str = "context = 5\nbatch-size = 1024\nthreads = 2\norder = 'blocks'\n";

/// Padded sequences, bucketed by length, of at most 32,000 frames with padding.
const PADDED: &str = "unit = 'sequence'\nbatch-size = 32000\nbatch-unit = 'padded'\nbucket = 1000\n\
                      threads = 2\norder = 'shuffle'\n";

/// The same number of frames where there is a row for six of them.
const LOW_RATE: &str = "unit = 'sequence'\nbatch-size = 5333\nbatch-unit = 'padded'\n\
                        bucket = 1000\nthreads = 2\norder = 'shuffle'\n";

/// As many segments as a trainer of Kaldi's takes at once.
const SEGMENTS: &str = "unit = 'sequence'\nbatch-size = 128\nbatch-unit = 'sequences'\nthreads = 2\norder = 'shuffle'\n";

const KALDI: &str = "features = 'scp:feats.scp'\nlabels = 'ark:ali.ark'\n";
const HTK: &str = "features = 'feat.scp'\nlabels = 'labels.mlf'\nstates = 'states.list'\n";

/// Features alone. The window is far smaller than what any transform makes of the corpus, so that
/// each sweep loads all of it.
const FEATURES: &str = "features = 'scp:feats.scp'\nwindow = '4 chunks'\n";

/// What recipes for attention models do: normalization by speaker, deltas, low frame rate.
const RECIPE: &str = "transforms = ['cmvn,by=speaker,norm-vars=true,utt2spk=utt2spk', 'deltas', \
                      'stack,m=7,n=6']\n";

/// Names of cases, and the descriptions that they are made of. `memcpy-CASE-N` copies the same
/// bytes with N threads.
const CASES: [(&str, &[&str]); 20] = [
    // As many frames as the peers' pools of 100 utterances.
    ("frames-pool", &[KALDI, FRAMES, "window = '4 chunks'"]),
    ("frames-window", &[KALDI, FRAMES]),
    ("frames-blocks", &[KALDI, BLOCKS]),
    ("frames-window-map", &[KALDI, FRAMES, "map = true"]),
    ("frames-corpus-map", &[KALDI, FRAMES, "map = true\nwindow = 'corpus'"]),
    ("padded-bucket", &[KALDI, PADDED]),
    ("padded-bucket-map", &[KALDI, PADDED, "map = true"]),
    ("features", &[FEATURES, PADDED]),
    ("cmvn", &[FEATURES, PADDED, "transforms = ['cmvn,by=global,norm-vars=true']\n"]),
    ("cmvn-utterance", &[FEATURES, PADDED, "transforms = ['cmvn,by=utterance,norm-vars=true']\n"]),
    ("deltas", &[FEATURES, PADDED, "transforms = ['deltas']\n"]),
    ("stack", &[FEATURES, LOW_RATE, "transforms = ['stack,m=7,n=6']\n"]),
    ("recipe", &[FEATURES, LOW_RATE, RECIPE]),
    (
        "segments",
        &[
            FEATURES,
            SEGMENTS,
            "segment-length = 150\nsegment-left = 29\nsegment-right = 29\nsegment-shift = 150\n",
        ],
    ),
    ("htk-pool", &[HTK, FRAMES, "window = '4 chunks'"]),
    ("htk-window", &[HTK, FRAMES]),
    ("pdnn-stream", &["data = 's.pfile,stream=True'"]),
    ("pdnn-stream-random", &["data = 's.pfile,stream=True,random=True'"]),
    ("pdnn-context-random", &["data = 's.pfile,stream=True,context=5,random=True'"]),
    ("pdnn-pickle-random", &["data = 's4.pickle,random=True'"]),
];

/// The features that a case gives, written into a directory of its name: to be fed
/// without transforms.
const WRITTEN: &str = "written-";

/// CNTK's reader of the HTK corpus, its window the whole corpus.
const READER: &str = "htk-reader";

fn main() {
    // `cargo bench` and `cargo test --benches` add flags of their own.
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let (sweeps, arguments) = match &arguments[..] {
        [corpus, case, sweeps] => (sweeps.parse().unwrap(), [corpus, case]),
        [corpus, case] => (1, [corpus, case]),
        _ => (0, [&String::new(), &String::new()]),
    };
    let [corpus, case] = arguments;
    if sweeps == 0 {
        let names: Vec<&str> = CASES.iter().map(|&(name, _)| name).collect();
        let names = names.join(" ");
        eprintln!("usage: feed CORPUS CASE [SWEEPS], where CASE is one of {names} {READER}");
        return;
    }
    let (name, threads) = match case.strip_prefix("memcpy-").and_then(|case| case.rsplit_once('-'))
    {
        Some((name, threads)) => (name, threads.parse().ok()),
        None => (case.as_str(), None),
    };
    if name == READER {
        feed(case, sweeps, || read_by_cntk(corpus));
        return;
    }
    let of_written = name.strip_prefix(WRITTEN);
    let wanted = of_written.unwrap_or(name);
    let Some((_, description)) = CASES.iter().find(|&&(known, _)| known == wanted) else {
        eprintln!("there is no case {case}");
        return;
    };
    let open = || match of_written {
        None => open(corpus, &description.concat()),
        Some(_) => {
            let directory = Path::new(corpus).join(name);
            if !directory.exists() {
                write(&open(corpus, &description.concat()), &directory);
            }
            let features = FEATURES.replace("scp:feats.scp", "ark:feats.ark");
            open(directory.to_str().unwrap(), &format!("{features}{}", description[1]))
        }
    };
    match threads {
        Some(threads) => memcpy(case, open, threads),
        None => feed(case, sweeps, open),
    }
}

fn open(corpus: &str, description: &str) -> Opened {
    let mut description = Description::from_options(description.parse().unwrap()).unwrap();
    description.feed.sweeps = Some(1000);
    description.open(&Opener::default().in_directory(Some(Path::new(corpus).into()))).unwrap()
}

/// Writes the features that a corpus loads as a table of Kaldi's.
fn write(opened: &Opened, directory: &Path) {
    let corpus = opened.corpus();
    let unfinished = directory.with_extension("unfinished");
    fs::create_dir_all(&unfinished).unwrap();
    let mut features = BufWriter::new(fs::File::create(unfinished.join("feats.ark")).unwrap());
    for sequence in 0..corpus.index().len() as u32 {
        let mut blocks = corpus.new_blocks();
        corpus.load(&[sequence], &mut blocks).unwrap();
        let key = corpus.index().key(sequence);
        let (rows, cols) = (blocks[0].sequence_len(0) as i32, blocks[0].dim() as i32);
        write!(features, "{key} \0BFM \x04").unwrap();
        features.write_all(&rows.to_le_bytes()).unwrap();
        features.write_all(b"\x04").unwrap();
        features.write_all(&cols.to_le_bytes()).unwrap();
        features.write_all(blocks[0].samples(0).bytes()).unwrap();
    }
    features.flush().unwrap();
    fs::rename(unfinished, directory).unwrap();
}

fn read_by_cntk(corpus: &str) -> Opened {
    let dictionary = format!(
        r#"{{"randomize": true, "frameMode": true, "deserializers": [
            {{"type": "HTKFeatureDeserializer", "input": {{"features":
                {{"dim": 40, "scpFile": "{corpus}/feat.scp", "contextWindow": [5, 5]}}}}}},
            {{"type": "HTKMLFDeserializer", "input": {{"labels": {{"dim": 132,
                "mlfFile": "{corpus}/labels.mlf", "labelMappingFile": "{corpus}/states.list"}}}}}}]}}"#
    );
    let directory = tempfile::tempdir().unwrap();
    let name = directory.path().join("reader.json");
    fs::write(&name, dictionary).unwrap();
    let name = name.display();
    open(corpus, &format!("reader = '{name}'\nbatch-size = 1024\nthreads = 2\n"))
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
        black_box(minibatch.dense("features").and_then(<[f32]>::first));
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

fn feed(case: &str, sweeps: u32, open: impl Fn() -> Opened) {
    let opening = Instant::now();
    let opened = open();
    let opening = opening.elapsed().as_secs_f64();
    let mut feed = opened.feed(None).unwrap();
    sweep(&mut feed);
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    let done = (0..sweeps).map(|_| sweep(&mut feed)).last().unwrap();
    let each = |seconds: f64| seconds / f64::from(sweeps);
    let (wall, cpu) = (each(wall.elapsed().as_secs_f64()), each(cpu_seconds() - cpu));
    // Minibatches of CNTK's go on over the ends of sweeps.
    let missing = opened.corpus().index().total_samples().abs_diff(done.frames);
    assert!(missing == 0 || case == READER && missing < 1024, "every frame once");
    report(case, done, wall, cpu, feed.memory_bound(), opening);
}

/// Copies blocks of the size of the minibatches, out of a pool larger than the caches, into few
/// destinations that are used again and again: what any loader must do at least.
fn memcpy(case: &str, open: impl Fn() -> Opened, threads: u64) {
    let opened = open();
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

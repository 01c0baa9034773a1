//! The speed of reading and writing tables, and of `cat` and `cp` on the same files.
//!
//! ```text
//! cargo bench -p seqfeed-kaldi --bench tables -- CORPUS CASE   # one case, one JSON line
//! cargo xtask bench tables                                     # all cases and the peers, a table
//! ```
//!
//! CORPUS is a directory with `feats.ark`, `feats.scp` and `ali.ark`; what else is needed is made
//! there by the case `prepare`. Each case runs once to warm up, and for a second for the clock.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used)]

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::LazyLock;
use std::time::Instant;

use seqfeed_core::Key;
use seqfeed_io::Opener;
use seqfeed_kaldi::{
    CompressedMatrix, CompressionMethod, Holder, Matrix, RandomAccessReader, ReadOptions,
    SequentialReader, TableWriter,
};

fn main() {
    // `cargo bench` and `cargo test --benches` add flags of their own.
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let [corpus, case] = &arguments[..] else {
        eprintln!("usage: tables CORPUS CASE");
        return;
    };
    let at = |name: &str| Path::new(corpus).join(name).display().to_string();
    if case == "prepare" {
        prepare(&at);
        return;
    }
    run(&at, case);
    let (wall, cpu) = (Instant::now(), cpu_seconds());
    // The system counts time in hundredths of a second.
    let mut runs = 0;
    let (mut bytes, mut objects) = (0, 0);
    while runs == 0 || wall.elapsed().as_secs_f64() < 1.0 {
        (bytes, objects) = run(&at, case);
        runs += 1;
    }
    println!(
        "{{\"case\":\"{case}\",\"wall\":{:.6},\"cpu\":{:.6},\"bytes\":{bytes},\"objects\":{objects},\
         \"peak\":{}}}",
        wall.elapsed().as_secs_f64() / f64::from(runs),
        (cpu_seconds() - cpu) / f64::from(runs),
        peak_bytes(),
    );
}

type Name<'a> = &'a dyn Fn(&str) -> String;
type Floats = Matrix<f32>;

/// Runs a case: bytes (of the larger side) and objects.
fn run(at: Name<'_>, case: &str) -> (u64, u64) {
    let size = |name: &str| fs::metadata(at(name)).unwrap().len();
    let objects = match case {
        "cat" => cat(&at("feats.ark"), "/dev/null"),
        "cp" => cat(&at("feats.ark"), &at("out.ark")),
        "read-ark" => read::<Floats>(&format!("ark:{}", at("feats.ark"))),
        "read-ark-bg" => read::<Floats>(&format!("ark,bg:{}", at("feats.ark"))),
        "read-ark-new" => read_new::<Floats>(&format!("ark:{}", at("feats.ark"))),
        "read-scp" => read::<Floats>(&format!("scp:{}", at("feats.scp"))),
        "read-scp-shuffled" => read::<Floats>(&format!("scp:{}", at("shuffled.scp"))),
        "read-scp-any-order" => any_order(&format!("scp:{}", at("shuffled.scp"))),
        "random-ark-s-cs" => random(&format!("ark,s,cs:{}", at("feats.ark")), &at("feats.scp")),
        "random-ark" => random(&format!("ark:{}", at("feats.ark")), &at("shuffled.scp")),
        "random-scp" => random(&format!("scp:{}", at("feats.scp")), &at("shuffled.scp")),
        "keys" => keys(&format!("ark:{}", at("feats.ark"))),
        "copy-ark" => copy(&at("feats.ark"), &format!("ark:{}", at("out.ark"))),
        "copy-ark-scp" => {
            copy(&at("feats.ark"), &format!("ark,scp:{},{}", at("out.ark"), at("out.scp")))
        }
        "read-text" => read::<Floats>(&format!("ark:{}", at("text.ark"))),
        "write-text" => copy(&at("tenth.ark"), "ark,t:/dev/null"),
        "read-ali" => read::<Vec<i32>>(&format!("ark:{}", at("ali.ark"))),
        "read-ali-text" => read::<Vec<i32>>(&format!("ark:{}", at("ali.txt.ark"))),
        "write-ali-text" => {
            let values =
                SequentialReader::<Vec<i32>>::open(&format!("ark:{}", at("ali.ark")), &ALL);
            copy_all(values.unwrap(), "ark,t:/dev/null")
        }
        "read-two-byte" => read::<Floats>(&format!("ark:{}", at("two-byte.ark"))),
        "read-compressed" => read::<Floats>(&format!("ark:{}", at("compressed.ark"))),
        "write-compressed" => compress(at, CompressionMethod::Speech, "/dev/null"),
        "write-two-byte" => compress(at, CompressionMethod::TwoByteAuto, "/dev/null"),
        _ => panic!("there is no case {case}"),
    };
    let bytes = match case {
        "read-text" | "write-text" => size("text.ark"),
        "read-ali" => size("ali.ark"),
        "read-ali-text" | "write-ali-text" => size("ali.txt.ark"),
        // Kaldi's figures count floats.
        _ => size("feats.ark"),
    };
    (bytes, objects)
}

/// Allows all names.
static ALL: LazyLock<Opener> = LazyLock::new(Opener::with_pipes);

fn cat(from: &str, to: &str) -> u64 {
    let (mut from, mut to) = (File::open(from).unwrap(), File::create(to).unwrap());
    let mut buffer = vec![0; 128 << 10];
    loop {
        let count = from.read(&mut buffer).unwrap();
        if count == 0 {
            return 0;
        }
        to.write_all(&buffer[..count]).unwrap();
    }
}

fn read<T: Holder + Default>(rspecifier: &str) -> u64 {
    let mut reader = SequentialReader::<T>::open(rspecifier, &ALL).unwrap();
    let (mut key, mut value) = (Vec::new(), T::default());
    while reader.next_into(&mut key, &mut value).unwrap() {
        black_box(&value);
    }
    reader.close().unwrap().objects
}

fn read_new<T: Holder>(rspecifier: &str) -> u64 {
    let reader = SequentialReader::<T>::open(rspecifier, &ALL).unwrap();
    let mut objects = 0;
    for entry in reader {
        black_box(entry.unwrap());
        objects += 1;
    }
    objects
}

fn any_order(rspecifier: &str) -> u64 {
    let options = ReadOptions { any_order: true, ..ReadOptions::default() };
    let mut reader = SequentialReader::<Floats>::open_with(rspecifier, &options).unwrap();
    let (mut key, mut value) = (Vec::new(), Floats::default());
    while reader.next_into(&mut key, &mut value).unwrap() {
        black_box(&value);
    }
    reader.close().unwrap().objects
}

fn keys(rspecifier: &str) -> u64 {
    let mut reader = SequentialReader::<Floats>::open(rspecifier, &ALL).unwrap();
    let mut key = Vec::new();
    while reader.next_key(&mut key).unwrap() {
        black_box(&key);
    }
    reader.close().unwrap().objects
}

/// Asks for the keys of a script file.
fn random(rspecifier: &str, keys: &str) -> u64 {
    let mut reader = RandomAccessReader::<Floats>::open(rspecifier, &ALL).unwrap();
    let script = fs::read_to_string(keys).unwrap();
    for line in script.lines() {
        let key = line.split(' ').next().unwrap();
        black_box(reader.get(Key(key.as_bytes())).unwrap().unwrap());
    }
    script.lines().count() as u64
}

fn copy(from: &str, wspecifier: &str) -> u64 {
    copy_all(SequentialReader::<Floats>::open(&format!("ark:{from}"), &ALL).unwrap(), wspecifier)
}

fn copy_all<T: Holder + Default>(mut from: SequentialReader<T>, wspecifier: &str) -> u64 {
    let mut to = TableWriter::create(wspecifier, &ALL).unwrap();
    let (mut key, mut value) = (Vec::new(), T::default());
    while from.next_into(&mut key, &mut value).unwrap() {
        to.write(Key(&key), &value).unwrap();
    }
    to.close().unwrap().objects
}

fn compress(at: Name<'_>, method: CompressionMethod, to: &str) -> u64 {
    let features = format!("ark:{}", at("feats.ark"));
    let mut reader = SequentialReader::<Floats>::open(&features, &ALL).unwrap();
    let mut to = TableWriter::create(&format!("ark:{to}"), &ALL).unwrap();
    let (mut key, mut value) = (Vec::new(), Floats::default());
    while reader.next_into(&mut key, &mut value).unwrap() {
        to.write(Key(&key), &CompressedMatrix::compress(&value, method).unwrap()).unwrap();
    }
    to.close().unwrap().objects
}

/// Makes what the cases need: the script file shuffled, a tenth of the corpus binary and as text,
/// alignments as text, a compressed archive.
fn prepare(at: Name<'_>) {
    let script = fs::read_to_string(at("feats.scp")).unwrap();
    let mut lines: Vec<&str> = script.lines().collect();
    let mut state = 1u64;
    for i in (1..lines.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        lines.swap(i, (state >> 33) as usize % (i + 1));
    }
    fs::write(at("shuffled.scp"), lines.join("\n") + "\n").unwrap();
    let features = format!("ark:{}", at("feats.ark"));
    let (ark, text) = (format!("ark:{}", at("tenth.ark")), format!("ark,t:{}", at("text.ark")));
    let mut tenth = TableWriter::create(&ark, &ALL).unwrap();
    let mut text = TableWriter::create(&text, &ALL).unwrap();
    for entry in SequentialReader::<Floats>::open(&features, &ALL).unwrap().step_by(10) {
        let (key, value) = entry.unwrap();
        tenth.write(Key(&key), &value).unwrap();
        text.write(Key(&key), &value).unwrap();
    }
    tenth.close().unwrap();
    text.close().unwrap();
    let labels = SequentialReader::<Vec<i32>>::open(&format!("ark:{}", at("ali.ark")), &ALL);
    copy_all(labels.unwrap(), &format!("ark,t:{}", at("ali.txt.ark")));
    compress(at, CompressionMethod::Speech, &at("compressed.ark"));
    compress(at, CompressionMethod::TwoByteAuto, &at("two-byte.ark"));
}

/// User and system time of this process, in seconds.
fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks = |field: usize| fields[field].parse::<f64>().unwrap();
    (ticks(11) + ticks(12)) / 100.0
}

/// The most memory that was resident at once.
fn peak_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

//! CTF files, indexed and parsed from memory on one core, beside a copy and a count of lines.
//!
//! `cargo bench -p seqfeed-cntk --bench parse -- FILE...`; the best of several rounds is printed,
//! since other programs can only make a round slower. The inputs are guessed from the first lines.

// A program: it prints.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use std::sync::Arc;
use std::time::Instant;

use seqfeed_cntk::ctf::{
    CtfFloat, CtfIncidents, CtfIndex, CtfInput, Names, Parser, ParserOptions, ScanOptions, Scanner,
    SequenceSamples, scan_in_parallel,
};

/// What each thing is done for, at least.
const SECONDS: f64 = 1.5;
const PIECE: usize = 1 << 20;

/// Seconds that this thread has run so far: other programs do not count. Where the system does not
/// tell (elsewhere than on Linux), the time of day.
fn seconds(since: Instant) -> f64 {
    let ran = std::fs::read_to_string("/proc/thread-self/schedstat");
    let ran = ran.ok().and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    ran.map_or_else(|| since.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}

/// Runs something several times: the best speed.
fn time<T>(what: &str, bytes: usize, mut run: impl FnMut() -> T) -> T {
    let mut best = f64::INFINITY;
    let mut result = None;
    let begin = Instant::now();
    while result.is_none() || begin.elapsed().as_secs_f64() < SECONDS {
        let start = seconds(begin);
        result = Some(black_box(run()));
        best = best.min(seconds(begin) - start);
    }
    println!("  {what:<28} {:8.0} MB/s", bytes as f64 / best / 1e6);
    result.unwrap()
}

/// The inputs that stand in the first lines.
fn guess_inputs(text: &[u8]) -> Vec<CtfInput> {
    let mut inputs: BTreeMap<String, CtfInput> = BTreeMap::new();
    let head = String::from_utf8_lossy(&text[..text.len().min(1 << 20)]).into_owned();
    let Some((head, _)) = head.rsplit_once('\n') else { return Vec::new() };
    for sample in head.lines().flat_map(|line| line.split('|').skip(1)) {
        let mut words = sample.split_ascii_whitespace();
        let Some(name) = words.next().filter(|name| !name.starts_with('#')) else { continue };
        let values: Vec<&str> = words.collect();
        let sparse = values.iter().any(|value| value.contains(':'));
        let input = inputs.entry(name.to_owned()).or_insert_with(|| CtfInput::dense(name, 0));
        input.sparse |= sparse;
        let dim = if input.sparse { 1 << 30 } else { values.len() as u32 };
        input.dim = input.dim.max(dim);
    }
    inputs.into_values().collect()
}

fn scan(text: &[u8], main: Option<&str>) -> CtfIndex {
    let options = ScanOptions { main_alias: main.map(str::to_owned), ..ScanOptions::default() };
    let mut names = Names::new();
    let mut scanner = Scanner::new(&options, &mut names);
    for piece in text.chunks(PIECE) {
        scanner.push(piece).unwrap();
    }
    scanner.finish().unwrap()
}

fn parse<T: CtfFloat>(text: &[u8], index: &CtfIndex, inputs: &[CtfInput]) -> usize {
    let incidents = Arc::new(CtfIncidents::new(0));
    let options = ParserOptions { longer_than_inputs: true, ..ParserOptions::default() };
    let mut parser = Parser::new("bench", inputs, &options, incidents).unwrap();
    let mut samples = SequenceSamples::<T>::new();
    let mut values = 0;
    for sequence in &index.sequences {
        let bytes = &text[sequence.offset as usize..][..sequence.bytes as usize];
        parser.parse(bytes, sequence.offset, sequence.samples, &mut samples).unwrap();
        values += samples.streams.iter().map(|stream| stream.values.len()).sum::<usize>();
    }
    values
}

fn main() {
    let files: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if files.is_empty() {
        println!("no files given: cargo bench -p seqfeed-cntk --bench parse -- FILE...");
    }
    for file in files {
        let mut text = Vec::new();
        File::open(&file).unwrap().read_to_end(&mut text).unwrap();
        let text = &text[..];
        let inputs = guess_inputs(text);
        println!("{file}: {} bytes", text.len());
        let mut buffer = vec![0; PIECE];
        time("copy by pieces", text.len(), || {
            for piece in text.chunks(PIECE) {
                buffer[..piece.len()].copy_from_slice(piece);
                black_box(&buffer);
            }
        });
        let lines = time("memchr, lines", text.len(), || memchr::memchr_iter(b'\n', text).count());
        let index = time("scan", text.len(), || scan(text, None));
        time("scan, main stream", text.len(), || scan(text, Some(&inputs[0].alias)));
        let read_at = |offset: u64, buffer: &mut [u8]| {
            let rest = &text[offset as usize..];
            let len = rest.len().min(buffer.len());
            buffer[..len].copy_from_slice(&rest[..len]);
            Ok(len)
        };
        let parallel = time("scan, 2 threads, with a copy", text.len(), || {
            let options = ScanOptions::default();
            scan_in_parallel(read_at, text.len() as u64, 2, &options, &mut Names::new()).unwrap()
        });
        assert_eq!(index, parallel);
        let values = time("parse, f32", text.len(), || parse::<f32>(text, &index, &inputs));
        time("parse, f64", text.len(), || parse::<f64>(text, &index, &inputs));
        println!("  {lines} lines, {} sequences, {values} values", index.sequences.len());
    }
}

//! PFiles and pickles, beside a copy of memory.
//!
//! `cargo bench -p seqfeed-pdnn --bench read -- FILE...`; the best of several rounds is printed, since
//! other programs can only make a round slower. Pickles are all that is not called `.pfile`.

// A program: it prints.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::hint::black_box;
use std::time::Instant;

use seqfeed_core::{Block, Source};
use seqfeed_io::Policy;
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
    let policy = Policy::default();
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
    let file = PFile::open(name, &policy).unwrap();
    let (mut features, mut labels) = (Vec::new(), Vec::new());
    time("read_sentence", bytes, || {
        for sentence in 0..file.sentences() {
            file.read_sentence(sentence, &mut features, &mut labels).unwrap();
            black_box((&features, &labels));
        }
    });
    time("verify", bytes, || file.verify().unwrap());
    let source = PFileSource::open(name, &policy).unwrap();
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

fn main() {
    let files: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if files.is_empty() {
        println!("no files given: cargo bench -p seqfeed-pdnn --bench read -- FILE...");
    }
    for name in files {
        let bytes = std::fs::metadata(&name).unwrap().len();
        println!("{name}: {bytes} bytes");
        if name.ends_with(".pfile") {
            pfile(&name, bytes);
        } else {
            time("pickle", bytes, || drop(PickledData::open(&name, &Policy::default()).unwrap()));
        }
    }
}

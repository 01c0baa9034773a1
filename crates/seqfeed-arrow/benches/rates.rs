//! How fast files are written and read, beside a plain copy of a file of the same size.
//!
//! `cargo bench -p seqfeed-arrow --bench rates`; the best of several rounds is printed, since other
//! programs can only make a round slower.

// A program: it prints.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::fs;
use std::hint::black_box;
use std::io::{Read, Write};
use std::path::Path;
use std::time::Instant;

use seqfeed_arrow::{
    ArrowOptions, ArrowSource, ArrowWriter, Compress, KeyType, ParquetWriter, WriteOptions,
};
use seqfeed_core::{Block, Element, Extent, Key, Kind, Source, Stream};
use seqfeed_io::{Opener, WxFilename};

/// What each thing is done for, at least.
const SECONDS: f64 = 2.0;
/// Utterances, of `FRAMES` frames of `DIM` values each: 128 MB.
const UTTERANCES: usize = 2000;
const FRAMES: usize = 400;
const DIM: usize = 40;

/// Runs something several times: the best speed.
fn time(what: &str, bytes: u64, mut run: impl FnMut()) {
    let mut best = f64::INFINITY;
    let begin = Instant::now();
    while best.is_infinite() || begin.elapsed().as_secs_f64() < SECONDS {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{what:<34} {:8.0} MB/s {:8.4} s", bytes as f64 / best / 1e6, best);
}

fn main() {
    let directory = tempfile::tempdir().unwrap();
    let stream = |name: &str, kind, element, dim| Stream {
        name: name.to_owned(),
        kind,
        element,
        dim,
        extent: Extent::Samples,
    };
    let streams = [
        stream("features", Kind::Dense, Element::F32, DIM),
        stream("labels", Kind::Label, Element::I32, 1),
    ];
    let mut blocks: Vec<Block> = streams.iter().map(Block::of).collect();
    let mut phase = 0.0f32;
    for utterance in 0..UTTERANCES {
        for value in blocks[0].push_f32(FRAMES) {
            phase += 0.37;
            *value = phase.sin() * 3.0 + (utterance % 7) as f32;
        }
        blocks[1].push_i32(FRAMES).fill(utterance as i32 % 40);
    }
    let bytes = (UTTERANCES * FRAMES * (DIM + 1) * 4) as u64;
    copy(directory.path(), bytes);
    for (name, compress) in [
        ("plain.arrow", Compress::None),
        ("zstd.arrow", Compress::Zstd(1)),
        ("plain.parquet", Compress::None),
        ("zstd.parquet", Compress::Zstd(1)),
    ] {
        let path = directory.path().join(name);
        let options = WriteOptions { compress, ..WriteOptions::default() };
        time(&format!("{name}: write"), bytes, || write(&path, &streams, &blocks, &options));
        println!(
            "{name}: {:.3} of the values' size",
            fs::metadata(&path).unwrap().len() as f64 / bytes as f64
        );
        let open = || {
            let options = ArrowOptions::default();
            ArrowSource::open(path.to_str().unwrap(), &options, &Opener::default()).unwrap()
        };
        time(&format!("{name}: open"), bytes, || drop(black_box(open())));
        let source = open();
        let mut loaded = source.new_blocks();
        time(&format!("{name}: load by chunks"), bytes, || {
            for chunk in 0..source.index().chunk_count() {
                loaded.iter_mut().for_each(Block::clear);
                source.load_chunk(chunk, &mut loaded).unwrap();
                black_box(&loaded);
            }
        });
    }
}

fn copy(directory: &Path, bytes: u64) {
    let (from, to) = (directory.join("from"), directory.join("to"));
    fs::write(&from, vec![1; bytes as usize]).unwrap();
    let mut piece = vec![0; 256 << 10];
    time("a file read by pieces", bytes, || {
        let mut file = fs::File::open(&from).unwrap();
        while file.read(&mut piece).unwrap() > 0 {
            black_box(&piece);
        }
    });
    time("a file copied by pieces, and synced", bytes, || {
        let (mut file, mut out) = (fs::File::open(&from).unwrap(), fs::File::create(&to).unwrap());
        loop {
            match file.read(&mut piece).unwrap() {
                0 => break,
                count => out.write_all(&piece[..count]).unwrap(),
            }
        }
        out.sync_all().unwrap();
    });
}

fn write(path: &Path, streams: &[Stream], blocks: &[Block], options: &WriteOptions) {
    let name = WxFilename::from(path);
    let (keys, opener) = (KeyType::Text, Opener::default());
    let key = |number: usize| format!("utterance-{number:05}").into_bytes();
    if path.extension().is_some_and(|end| end == "arrow") {
        let mut writer = ArrowWriter::create(&name, streams, keys, options, &opener).unwrap();
        for number in 0..UTTERANCES {
            writer.write(Key(&key(number)), blocks, number).unwrap();
        }
        writer.finish().unwrap();
        return;
    }
    let mut writer = ParquetWriter::create(&name, streams, keys, options, &opener).unwrap();
    for number in 0..UTTERANCES {
        writer.write(Key(&key(number)), blocks, number).unwrap();
    }
    writer.finish().unwrap();
}

//! Row groups and record batches: their sizes, and what is read of them.

use seqfeed_arrow::{ArrowOptions, Compress, KeyType, ParquetWriter, WriteOptions};
use seqfeed_core::{Block, Element, Extent, Key, Kind, Source, Stream};
use seqfeed_io::{Opener, WxFilename};

use crate::{Held, content, load, open, open_with, write};

fn held(lengths: &[usize]) -> Held {
    let stream = |name: &str, kind, element, dim, extent| Stream {
        name: name.to_owned(),
        kind,
        element,
        dim,
        extent,
    };
    let streams = vec![
        stream("features", Kind::Dense, Element::F32, 3, Extent::Samples),
        stream("labels", Kind::Label, Element::I32, 1, Extent::Samples),
    ];
    let mut blocks: Vec<Block> = streams.iter().map(Block::of).collect();
    for (number, &samples) in lengths.iter().enumerate() {
        let values = blocks[0].push_f32(samples).iter_mut().enumerate();
        values.for_each(|(i, value)| *value = (1000 * number + i) as f32);
        blocks[1].push_i32(samples).fill(number as i32);
    }
    let keys = (0..lengths.len()).map(|number| format!("u{number}").into_bytes()).collect();
    Held { streams, keys, blocks }
}

#[test]
fn groups_are_the_chunks_of_a_corpus() {
    let lengths: Vec<usize> = (0..50).map(|n| n % 7).collect();
    let held = held(&lengths);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.parquet");
    write(&held, &path, &WriteOptions { group_samples: 20, ..WriteOptions::default() }).unwrap();
    let options = ArrowOptions { chunk_samples: 20, ..ArrowOptions::default() };
    let source = open_with(&path, &options).unwrap();
    let chunks = source.index().chunk_count();
    assert_eq!(source.about().format, format!("parquet, {chunks} row groups"));
    assert_eq!(source.about().spooled_bytes, 0, "small row groups are read in place");
}

#[test]
fn large_row_groups_are_decoded_once() {
    let lengths: Vec<usize> = (0..50).map(|n| n % 7).collect();
    let held = held(&lengths);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.parquet");
    write(&held, &path, &WriteOptions::default()).unwrap();
    let options = ArrowOptions { chunk_samples: 20, ..ArrowOptions::default() };
    let source = open_with(&path, &options).unwrap();
    let samples: usize = lengths.iter().sum();
    // Values, and nothing else, are in the spool.
    assert_eq!(source.about().spooled_bytes, (samples * (3 + 1) * 4) as u64);
    let blocks = load(&source).unwrap();
    for number in 0..lengths.len() {
        assert_eq!(content(&blocks[0], number), content(&held.blocks[0], number));
        assert_eq!(content(&blocks[1], number), content(&held.blocks[1], number));
    }
}

#[test]
fn threads_load_at_once() {
    let held = held(&[5; 64]);
    let directory = tempfile::tempdir().unwrap();
    for name in ["x.parquet", "x.arrow"] {
        let path = directory.path().join(name);
        let options = WriteOptions { group_samples: 20, compress: Compress::Zstd(3) };
        write(&held, &path, &options).unwrap();
        let source = open(&path).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4u32 {
                let (source, held) = (&source, &held);
                scope.spawn(move || {
                    for round in 0..64u32 {
                        let sequence = (round * 29 + thread * 17) % 64;
                        let mut blocks = source.new_blocks();
                        source.load(&[sequence], &mut blocks).unwrap();
                        let expected = content(&held.blocks[0], sequence as usize);
                        assert_eq!(content(&blocks[0], 0), expected);
                    }
                });
            }
        });
    }
}

#[test]
fn lengths_of_streams_must_agree() {
    let mut held = held(&[2, 3]);
    held.blocks[1] = Block::new(Element::I32, 1);
    held.blocks[1].push_i32(2).fill(0);
    held.blocks[1].push_i32(4).fill(0);
    let directory = tempfile::tempdir().unwrap();
    for name in ["x.parquet", "x.arrow"] {
        let path = directory.path().join(name);
        let error = write(&held, &path, &WriteOptions::default()).unwrap_err();
        assert_eq!(error.message(), "labels has 4 samples, but features has 3");
        assert_eq!(error.place().key.as_deref(), Some("u1"));
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is left");
    }
}

#[test]
fn columns_need_names_of_their_own() {
    let mut held = held(&[1]);
    let name = WxFilename::parse("/nonexistent/x.parquet").unwrap();
    for wrong in ["key", "samples", "features"] {
        held.streams[1].name = wrong.to_owned();
        let options = WriteOptions::default();
        let opener = Opener::default();
        let made = ParquetWriter::create(&name, &held.streams, KeyType::Text, &options, &opener);
        assert!(made.err().unwrap().is_usage());
    }
}

#[test]
fn a_stream_comes_through_a_pipe() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign/stream.arrows");
    let name = format!("cat {} |", file.display());
    let options = ArrowOptions::default();
    let open = |opener| seqfeed_arrow::ArrowSource::open(&name, &options, &opener);
    assert!(open(Opener::default()).is_err(), "commands must be allowed");
    let source = open(Opener::with_pipes()).unwrap();
    assert_eq!(source.about().spooled_bytes, file.metadata().unwrap().len());
    assert_eq!(source.index().key(0), Key(b"utt-a"));
    assert_eq!(load(&source).unwrap()[0].len(), 4);
}

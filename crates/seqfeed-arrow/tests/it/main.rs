//! Arrow and Parquet files: our own, those of others, damaged ones.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::print_stderr)]

mod damage;
mod foreign;
mod groups;
mod python;
mod round_trip;

use std::path::Path;

use seqfeed_arrow::{ArrowOptions, ArrowSource, ArrowWriter, KeyType, ParquetWriter, WriteOptions};
use seqfeed_core::{Block, Index, IndexBuilder, Key, Result, Source, Stream};
use seqfeed_io::{Opener, WxFilename};

/// Sequences in memory: keys, and a block a stream.
struct Held {
    streams: Vec<Stream>,
    keys: Vec<Vec<u8>>,
    blocks: Vec<Block>,
}

fn open(path: &Path) -> Result<ArrowSource> {
    open_with(path, &ArrowOptions::default())
}

fn open_with(path: &Path, options: &ArrowOptions) -> Result<ArrowSource> {
    ArrowSource::open(path.to_str().unwrap(), options, &Opener::default())
}

/// All of a source, loaded at once.
fn load(source: &dyn Source) -> Result<Vec<Block>> {
    let mut blocks = source.new_blocks();
    source.load(&(0..source.index().len() as u32).collect::<Vec<_>>(), &mut blocks)?;
    Ok(blocks)
}

fn key_type(keys: &[Vec<u8>]) -> KeyType {
    KeyType::of(&index_of(keys))
}

fn index_of(keys: &[Vec<u8>]) -> Index {
    let mut builder = IndexBuilder::new(1);
    keys.iter().for_each(|key| builder.push(Key(key), 1));
    builder.finish()
}

/// Writes what is held under a name, whose extension says as what.
fn write(held: &Held, path: &Path, options: &WriteOptions) -> Result<()> {
    let name = WxFilename::from(path);
    let (keys, opener) = (key_type(&held.keys), Opener::default());
    let each = held.keys.iter().enumerate();
    if path.extension().is_some_and(|end| end == "parquet") {
        let mut writer = ParquetWriter::create(&name, &held.streams, keys, options, &opener)?;
        for (number, key) in each {
            writer.write(Key(key), &held.blocks, number)?;
        }
        return writer.finish().map(drop);
    }
    let mut writer = ArrowWriter::create(&name, &held.streams, keys, options, &opener)?;
    for (number, key) in each {
        writer.write(Key(key), &held.blocks, number)?;
    }
    writer.finish().map(drop)
}

/// What a sequence holds, to be compared.
#[derive(Debug, PartialEq)]
enum Content {
    Samples(Vec<u8>),
    Sparse(Vec<u8>, Vec<i32>, Vec<usize>),
}

fn content(block: &Block, number: usize) -> Content {
    if !block.is_sparse() {
        return Content::Samples(block.samples(number).bytes().to_vec());
    }
    let found = block.sparse_samples(number);
    let ends = (0..found.len()).map(|sample| found.values_in(0..sample + 1).end).collect();
    Content::Sparse(found.values.to_vec(), found.indices.to_vec(), ends)
}

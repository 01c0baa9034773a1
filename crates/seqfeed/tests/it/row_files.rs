//! Arrow and Parquet files with row groups of a chosen size.

use std::path::Path;

use seqfeed::Source;
use seqfeed::arrow::{ArrowWriter, KeyType, ParquetWriter, WriteOptions};
use seqfeed::io::{Opener, WxFilename};

/// Writes a corpus as an Arrow file, or as a Parquet file where the name says so.
pub(crate) fn write_rows(source: &dyn Source, path: &Path, options: &WriteOptions) {
    let (name, opener) = (WxFilename::from(path), Opener::default());
    let (streams, keys) = (source.streams(), KeyType::of(source.index()));
    let mut blocks = source.new_blocks();
    let sequences: Vec<u32> = (0..source.index().len() as u32).collect();
    source.load(&sequences, &mut blocks).unwrap();
    let all = sequences.iter().map(|&sequence| (sequence as usize, source.index().key(sequence)));
    if path.extension().is_some_and(|end| end == "parquet") {
        let mut writer = ParquetWriter::create(&name, streams, keys, options, &opener).unwrap();
        all.for_each(|(number, key)| writer.write(key, &blocks, number).unwrap());
        writer.finish().unwrap();
    } else {
        let mut writer = ArrowWriter::create(&name, streams, keys, options, &opener).unwrap();
        all.for_each(|(number, key)| writer.write(key, &blocks, number).unwrap());
        writer.finish().unwrap();
    }
}

//! What must hold for any bytes.

#[path = "../crates/seqfeed-feed/tests/it/memory_corpus.rs"]
mod memory_corpus;

pub use memory_corpus::{MemoryCorpus, STEP};

use std::io::Write;
use std::path::Path;

use seqfeed_arrow::{ArrowOptions, ArrowSource};
use seqfeed_core::Source;
use seqfeed_io::Spool;
use seqfeed_kaldi::{AnyObject, Holder, Mode, ObjectReader, write_object};
use tempfile::NamedTempFile;

/// Reads an object of a type from any bytes: that never panics; what is read is written and read
/// again to the same; reading over it ends where reading it ends.
pub fn object<T: Holder>(bytes: &[u8]) {
    object_in::<T>(bytes, &[Mode::Binary, Mode::Text]);
}

/// The same, written again in some modes only.
pub fn object_in<T: Holder>(bytes: &[u8], modes: &[Mode]) {
    let mut reader = ObjectReader::from_bytes("fuzz", bytes);
    let Ok(value) = reader.read::<T>() else {
        // Reading over it may see less that is wrong.
        let _ = ObjectReader::from_bytes("fuzz", bytes).skip::<T>();
        return;
    };
    let end = reader.position();
    let mut reader = ObjectReader::from_bytes("fuzz", bytes);
    reader.skip::<T>().expect("what can be read can be read over");
    assert_eq!(reader.position(), end);
    for &mode in modes {
        let mut written = Vec::new();
        // Some values have no form in a mode (tokens with control characters, waves as text).
        if write_object(&value, &mut written, mode).is_err() {
            continue;
        }
        let again = ObjectReader::from_bytes("fuzz", written.clone()).read::<T>();
        let again = again.expect("what was written can be read");
        let mut twice = Vec::new();
        write_object(&again, &mut twice, mode).expect("what was written can be written again");
        // Seven digits of a float are not always enough for it to come back the same.
        if mode == Mode::Binary {
            assert_eq!(written, twice);
        }
    }
}

/// Reads an object whose type is learned from the data: reading over it ends where reading it ends.
pub fn any(bytes: &[u8]) {
    let mut reader = ObjectReader::from_bytes("fuzz", bytes);
    if reader.read::<AnyObject>().is_ok() {
        let end = reader.position();
        let mut reader = ObjectReader::from_bytes("fuzz", bytes);
        reader.skip::<AnyObject>().expect("what can be read can be read over");
        assert_eq!(reader.position(), end);
    }
}

/// The first byte chooses, the others are the data.
pub fn choose(bytes: &[u8]) -> Option<(u8, &[u8])> {
    bytes.split_first().map(|(&first, rest)| (first, rest))
}

/// Opens and loads an Arrow or Parquet file.
pub fn arrow(bytes: &[u8]) {
    let mut spool = Spool::new().expect("a temporary file");
    spool.write_all(bytes).expect("a temporary file");
    let file = spool.into_data_file().expect("a temporary file");
    let Ok(source) = ArrowSource::from_data(file, &ArrowOptions::default()) else { return };
    let mut blocks = source.new_blocks();
    for chunk in 0..source.index().chunk_count().min(64) {
        blocks.iter_mut().for_each(seqfeed_core::Block::clear);
        if source.load_chunk(chunk, &mut blocks).is_ok() {
            let sequences = source.index().chunk(chunk).len();
            assert!(blocks.iter().all(|block| block.len() == sequences));
        }
    }
}

/// A file that holds these bytes, for readers that want a name; it goes with what is given back.
pub fn file(bytes: &[u8], end: &str) -> NamedTempFile {
    let mut file = tempfile::Builder::new().suffix(end).tempfile().expect("a temporary file");
    file.write_all(bytes).expect("a temporary file");
    file
}

/// The file's name as text.
pub fn name(file: &NamedTempFile) -> &str {
    file.path().to_str().expect("names of temporary files are text")
}

/// Does something in a directory.
pub fn inside<T>(directory: &Path, run: impl FnOnce() -> T) -> T {
    let here = std::env::current_dir().expect("a working directory");
    std::env::set_current_dir(directory).expect("a directory");
    let result = run();
    std::env::set_current_dir(here).expect("a working directory");
    result
}

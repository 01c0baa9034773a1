//! What several tests need.

use std::env;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use seqfeed_io::{Input, Opener, RxFilename};

/// A part of the shared reference data, or None (said aloud) where they are absent.
pub(crate) fn shared(part: &str) -> Option<PathBuf> {
    let root = env::var_os("SEQFEED_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let path = root.join(part);
    if !path.exists() {
        eprintln!("SKIPPED: {} is absent (set SEQFEED_SHARED)", path.display());
        return None;
    }
    Some(path)
}

/// Bytes that don't compress to nothing and are many buffers long.
pub(crate) fn sample(len: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 26) as u8
    };
    (0..len).map(|_| next()).collect()
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    // With a checksum, as the command line tool writes.
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn open(name: &str) -> seqfeed_core::Result<Input> {
    Input::open(&RxFilename::parse(name).unwrap(), &Opener::with_pipes())
}

pub(crate) fn read_all(mut input: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    Ok(bytes)
}

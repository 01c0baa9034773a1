//! Any corpus as CTF.

use std::io::Write;

use seqfeed_core::{Result, Source};

use crate::formats::CtfSink;
use crate::sequences::each_sequence;

/// Writes the sequences of a corpus as CTF, in its order, one chunk in memory at a time.
///
/// Dense and sparse streams are written as such, labels as sparse samples with one value
/// (`class:1`), as CNTK's users write them. Names of streams are the aliases. Keys that are
/// no numbers become numbers, with the key in a comment. Floats are the shortest that read
/// back exactly.
///
/// `most` is the most sequences that are written. Gives back the writer, flushed.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("x.ark").display().to_string();
/// # std::fs::write(&path, "utt1  [ 1 2.5\n 3 4 ]\nutt2  [ 5 6\n 7 8 ]\n")?;
/// let description = seqfeed::Description::from_toml(&format!("features = 'ark:{path}'"))?;
/// let opened = description.open(&seqfeed::io::Opener::default())?;
/// let text = seqfeed::write_ctf(opened.corpus().as_ref(), Vec::new(), u64::MAX)?;
/// assert!(String::from_utf8(text)?.starts_with("0 |# utt1 |features 1 2.5\n"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Fails if data cannot be read, if CTF has no way to say them (infinite values, negative labels,
/// sequences in which a stream has no samples), or if writing fails.
pub fn write_ctf<W: Write>(source: &dyn Source, out: W, most: u64) -> Result<W> {
    let mut sink = CtfSink::new(out, source.streams(), false)?;
    each_sequence(source, most, |key, blocks, number| sink.write_sequence(key, blocks, number))?;
    sink.end()
}

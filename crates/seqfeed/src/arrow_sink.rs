//! Any corpus as an Arrow or Parquet file.

use seqfeed_arrow::{KeyType, WriteOptions};
use seqfeed_core::{Result, Sink, Source};
use seqfeed_io::{Opener, WxFilename};

use crate::formats::{ArrowContainer, ArrowSink};
use crate::sequences::each_sequence;

/// Writes the first `most` sequences of a corpus as a Parquet file, in its order, one chunk in
/// memory at a time: a row a sequence, a column a stream, as [`seqfeed_arrow`] says.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("x.ark").display().to_string();
/// # let parquet = directory.path().join("x.parquet");
/// # std::fs::write(&path, "utt1  [ 1 2.5\n 3 4 ]\nutt2  [ 5 6\n 7 8 ]\n")?;
/// use seqfeed::Source;
/// use seqfeed::io::{Opener, WxFilename};
///
/// let description = seqfeed::Description::from_toml(&format!("features = 'ark:{path}'"))?;
/// let opened = description.open(&Opener::default())?;
/// let (name, options) = (WxFilename::File(parquet.clone()), Default::default());
/// let corpus = opened.corpus();
/// seqfeed::write_parquet(corpus.as_ref(), &name, &options, u64::MAX, &Opener::default())?;
///
/// let text = format!("corpus = '{}'", parquet.display());
/// let again = seqfeed::Description::from_toml(&text)?.open(&Opener::default())?;
/// assert_eq!(again.corpus().index(), opened.corpus().index());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Fails if data cannot be read, if two streams have one name or one is called `key` or `samples`,
/// or if writing fails; then there is no file.
pub fn write_parquet(
    source: &dyn Source,
    name: &WxFilename,
    options: &WriteOptions,
    most: u64,
    opener: &Opener,
) -> Result<()> {
    write(ArrowContainer::Parquet, source, name, options, most, opener)
}

/// Writes the first `most` sequences of a corpus as an Arrow IPC file, as [`write_parquet`] does as
/// a Parquet file.
///
/// # Errors
///
/// As [`write_parquet`].
pub fn write_arrow(
    source: &dyn Source,
    name: &WxFilename,
    options: &WriteOptions,
    most: u64,
    opener: &Opener,
) -> Result<()> {
    write(ArrowContainer::Ipc, source, name, options, most, opener)
}

fn write(
    container: ArrowContainer,
    source: &dyn Source,
    name: &WxFilename,
    options: &WriteOptions,
    most: u64,
    opener: &Opener,
) -> Result<()> {
    let keys = KeyType::of(source.index());
    let mut sink = ArrowSink::create(name, container, source.streams(), keys, options, opener)?;
    each_sequence(source, most, |key, blocks, number| sink.write(key, blocks, number))?;
    Box::new(sink).finish().map(drop)
}

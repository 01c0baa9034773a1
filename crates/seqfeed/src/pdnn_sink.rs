//! A corpus written as the files that PDNN reads.

use seqfeed_core::{Error, Extent, Kind, Result, Sink, Source, Stream};
use seqfeed_io::{Opener, WxFilename, name_from_text};
use seqfeed_pdnn::pickle::{Container, Protocol};

use crate::formats::{AlignmentSink, ArraysSink, PFileSink};
use crate::sequences::each_sequence;

/// Writes the first `most` sequences of a corpus (one stream of 32-bit floats, one of labels).
///
/// | file | |
/// | --- | --- |
/// | `PREFIX.pfile` | a PFile |
/// | `PREFIX.pickle` | all frames as one pickle (protocol 2, for Python 2 and 3) |
/// | `PREFIX.ali` | alignments of *all* sequences, to go with Kaldi's features |
///
/// # Errors
///
/// Fails if data cannot be read or written, or if there are other streams, or none of these.
pub fn write_pdnn(source: &dyn Source, prefix: &str, most: u64, opener: &Opener) -> Result<()> {
    let streams = source.streams();
    one(streams, Kind::Dense)?;
    one(streams, Kind::Label)?;
    let name = |end: &str| WxFilename::parse(&name_from_text(&format!("{prefix}.{end}")));
    let index = source.index();
    let samples = index.start(most.min(index.len() as u64) as u32);
    let pickle = Container::Pickle(Protocol::Two);
    let mut pfile = PFileSink::create(&name("pfile")?, streams, opener)?;
    let mut pickle = ArraysSink::create(&name("pickle")?, pickle, streams, samples, opener)?;
    let mut ali = AlignmentSink::create(&name("ali")?, streams, opener)?;
    let mut written = 0;
    each_sequence(source, u64::MAX, |key, blocks, number| {
        ali.write(key, blocks, number)?;
        if written < most {
            pfile.write(key, blocks, number)?;
            pickle.write(key, blocks, number)?;
            written += 1;
        }
        Ok(())
    })?;
    let sinks: [Box<dyn Sink>; 3] = [Box::new(pickle), Box::new(pfile), Box::new(ali)];
    sinks.into_iter().try_for_each(|sink| sink.finish().map(drop))
}

/// The only stream of a kind.
fn one(streams: &[Stream], kind: Kind) -> Result<usize> {
    let of_kind = |number: &usize| {
        let stream = &streams[*number];
        stream.kind == kind && stream.extent == Extent::Samples && stream.element.size() == 4
    };
    let found: Vec<usize> = (0..streams.len()).filter(of_kind).collect();
    match found[..] {
        [only] if streams.len() == 2 => Ok(only),
        _ => Err(Error::usage(
            "PDNN's files are written from one stream of float32 features and one of labels",
        )),
    }
}

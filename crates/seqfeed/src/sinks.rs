//! What corpora are written as: a [`Sink`](seqfeed_core::Sink) for each format.

mod alignments;
mod arrays;
#[cfg(feature = "arrow")]
mod arrow;
mod ctf;
mod htk;
mod kaldi;
mod pfile;
mod values;

pub(crate) use alignments::AlignmentSink;
pub(crate) use arrays::ArraysSink;
#[cfg(feature = "arrow")]
pub(crate) use arrow::{ArrowContainer, ArrowSink};
pub(crate) use ctf::CtfSink;
pub(crate) use htk::{HtkLayout, HtkSink};
pub(crate) use kaldi::{KaldiOptions, KaldiSink, KaldiTable};
pub(crate) use pfile::PFileSink;

use seqfeed_core::{Error, Kind, Result, Stream, Written};
use seqfeed_io::{Output, WxFilename, name_to_text};

/// Ends an output, which appears.
fn finished(output: Output) -> Result<Written> {
    let written = Written { files: vec![listed(output.wxfilename())], bytes: output.written() };
    output.finish().map(|()| written)
}

/// The name of what is written, in the list of a conversion's files.
fn listed(name: &WxFilename) -> String {
    match name {
        WxFilename::Stdout => "standard output".to_owned(),
        _ => name_to_text(name.name()),
    }
}

/// The number of the only stream of a kind, if there is one.
fn one_stream(streams: &[Stream], what: &str, is: impl Fn(Kind) -> bool) -> Result<Option<usize>> {
    let mut found = (0..streams.len()).filter(|&number| is(streams[number].kind));
    let first = found.next();
    match (first, found.next()) {
        (Some(first), Some(second)) => Err(Error::usage(format!(
            "streams {} and {} are both {what}; the format holds one",
            streams[first].name, streams[second].name
        ))
        .with_help("give the corpus with the streams that shall be written")),
        _ => Ok(first),
    }
}

//! Dense streams among the streams of a corpus.

use seqfeed_core::{Error, Kind, Output, Result, Stream};

pub(crate) fn is_dense(stream: &Stream) -> bool {
    stream.kind == Kind::Dense
}

/// Fails if there is no dense stream.
pub(crate) fn check_dense(streams: &[Stream], transform: &str) -> Result<()> {
    if streams.iter().any(is_dense) {
        return Ok(());
    }
    Err(Error::usage(format!("transform {transform}: there is no dense stream")))
}

/// All streams; the values of the dense ones change in place. Fails if there is none.
pub(crate) fn dense_in_place(streams: &[Stream], transform: &str) -> Result<Vec<Output>> {
    check_dense(streams, transform)?;
    Ok(Output::change_in_place(streams, is_dense))
}

//! Dense streams among the streams of a corpus.

use seqfeed_core::{Error, Extent, Kind, Output, Result, Stream};

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

/// Whether a stream is dense, and has more than one sample a sequence: others have no neighbours in
/// time.
pub(crate) fn has_frames(stream: &Stream) -> bool {
    is_dense(stream) && stream.extent != Extent::Sequence
}

/// Fails if no stream [has frames](has_frames).
pub(crate) fn check_frames(streams: &[Stream], transform: &str) -> Result<()> {
    if streams.iter().any(has_frames) {
        return Ok(());
    }
    Err(Error::usage(format!("transform {transform}: there is no dense stream with frames")))
}

/// All streams; the values of those that [have frames](has_frames) change in place. Fails if there
/// is none.
pub(crate) fn frames_in_place(streams: &[Stream], transform: &str) -> Result<Vec<Output>> {
    check_frames(streams, transform)?;
    Ok(Output::change_in_place(streams, has_frames))
}

/// Whether the values of an output change.
pub(crate) fn changes(output: &Output) -> bool {
    matches!(output, Output::Changed { .. })
}

/// Refuses streams of which only a part would change: where some have one sample a time step, and
/// frames of others have lengths of their own, as behind segments with context.
pub(crate) fn refuse_apart(streams: &[Stream], transform: &str) -> Result<()> {
    let apart = |stream: &&Stream| is_dense(stream) && stream.extent == Extent::Own;
    let in_step = streams.iter().any(|stream| stream.extent == Extent::Samples);
    match streams.iter().find(apart).filter(|_| in_step) {
        None => Ok(()),
        Some(Stream { name, .. }) => Err(Error::usage(format!(
            "transform {transform}: stream {name} has lengths of its own, and others have one sample a time step"
        ))
        .with_help("with context, [segments] make such streams: give the transform to a stream alone")),
    }
}

//! `select`: keeps some dimensions of dense streams, as Kaldi's `select-feats`.

use std::ops::Range;

use seqfeed_core::{Block, Error, Given, Kind, Output, Result, Stream, Transform};
use serde::Deserialize;

use crate::Dims;

/// Keeps some dimensions of dense streams, as Kaldi's `select-feats`.
#[derive(Deserialize)]
#[serde(from = "Options")]
pub struct Select {
    dims: Vec<usize>,
    runs: Vec<Range<usize>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    /// The kept dimensions.
    dims: Dims,
}

impl From<Options> for Select {
    fn from(Options { dims: Dims(dims) }: Options) -> Self {
        Self { runs: runs(&dims), dims }
    }
}

/// Dimensions as runs of neighbours, each copied at once.
#[must_use]
pub fn runs(dims: &[usize]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for &dim in dims {
        match runs.last_mut().filter(|run| run.end == dim) {
            Some(run) => run.end += 1,
            None => runs.push(dim..dim + 1),
        }
    }
    runs
}

/// Appends the values of the given columns of each row, in this order. A value is `size` items of a
/// row, and a row is `width` items.
///
/// # Panics
///
/// If a column does not exist.
pub fn columns<T: Copy>(
    rows: &[T],
    width: usize,
    size: usize,
    runs: &[Range<usize>],
    mut put: impl FnMut(&[T]),
) {
    for row in rows.chunks_exact(width.max(1)) {
        runs.iter().for_each(|run| put(&row[run.start * size..run.end * size]));
    }
}

impl Transform for Select {
    fn name(&self) -> &str {
        "select"
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        let is_dense = |stream: &&Stream| stream.kind == Kind::Dense;
        let Some(narrowest) = streams.iter().filter(is_dense).min_by_key(|stream| stream.dim)
        else {
            return Err(Error::usage("transform select: there is no dense stream"));
        };
        if let Some(beyond) = self.dims.iter().find(|&&dim| dim >= narrowest.dim) {
            let (stream, dim) = (&narrowest.name, narrowest.dim);
            return Err(Error::usage(format!(
                "transform select: there is no dimension {beyond}: stream {stream} has {dim}"
            ))
            .with_help("dimensions count from 0"));
        }
        let narrow = |stream: Stream| Stream { dim: self.dims.len(), ..stream };
        Ok(Output::change(streams, |stream| is_dense(&stream), narrow))
    }

    fn apply(&self, _output: usize, given: &Given<'_>, to: &mut Block) -> Result<()> {
        let (samples, size) = (given.samples(0), given.stream(0).element.size());
        let (mut rest, width) = (to.push_bytes(samples.len()), samples.row_bytes());
        columns(samples.bytes(), width, size, &self.runs, |values| {
            let (at, behind) = std::mem::take(&mut rest).split_at_mut(values.len());
            at.copy_from_slice(values);
            rest = behind;
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_in_runs() {
        let dims = [0, 1, 2, 5, 4, 4];
        assert_eq!(runs(&dims), [0..3, 5..6, 4..5, 4..5]);
        let rows: Vec<usize> = (0..12).collect();
        let mut found = Vec::new();
        columns(&rows, 6, 1, &runs(&dims), |values| found.extend_from_slice(values));
        assert_eq!(found, [0, 1, 2, 5, 4, 4, 6, 7, 8, 11, 10, 10]);
    }
}

//! `splice`: frames with their context in one row, as Kaldi's `splice-feats`.

use seqfeed_core::{Block, Error, Extent, Given, Kind, Output, Result, Stream, Transform};
use serde::Deserialize;

use crate::dense::refuse_apart;

/// More values than a row may have.
const MOST_VALUES: usize = 1 << 24;

/// Writes frames with their context. For every `step`-th row, `out` gets the `count` rows from
/// `first` rows behind it on (before it, if negative). The first and last row stand for rows beyond
/// the ends.
///
/// A row is `width` items. `out` has `count * width` items for each row that comes out; their
/// number says how many come out.
pub fn context<T: Copy>(
    rows: &[T],
    width: usize,
    first: isize,
    count: usize,
    step: usize,
    out: &mut [T],
) {
    let width = width.max(1);
    let last = (rows.len() / width).saturating_sub(1);
    for (at, out) in out.chunks_exact_mut((count * width).max(1)).enumerate() {
        let start = (at * step) as isize + first;
        if let (Ok(start), true) =
            (usize::try_from(start), start + count as isize - 1 <= last as isize)
        {
            // Consecutive rows lie side by side.
            out.copy_from_slice(&rows[start * width..(start + count) * width]);
            continue;
        }
        for (number, out) in out.chunks_exact_mut(width).enumerate() {
            let row = (start + number as isize).clamp(0, last as isize) as usize;
            out.copy_from_slice(&rows[row * width..(row + 1) * width]);
        }
    }
}

/// Puts frames at given offsets side by side, as Kaldi's `splice-feats`. The first and last frame
/// stand for frames beyond the ends.
#[derive(Deserialize)]
#[serde(try_from = "Options")]
pub struct Splice {
    /// Runs of consecutive offsets: the first offset, and their number.
    runs: Vec<(isize, usize)>,
    count: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    /// Frames before each frame, 4 as in Kaldi.
    left: Option<u32>,
    /// Frames behind each frame, 4 as in Kaldi.
    right: Option<u32>,
    /// The frames relative to each frame, instead of the two numbers.
    offsets: Option<Vec<i32>>,
}

impl TryFrom<Options> for Splice {
    type Error = &'static str;

    fn try_from(options: Options) -> Result<Self, &'static str> {
        const MOST: u32 = 10_000;
        let offsets = match options {
            Options { left: None, right: None, offsets: Some(offsets) } => offsets,
            Options { offsets: Some(_), .. } => {
                return Err("give `offsets`, or `left` and `right`");
            }
            Options { left, right, offsets: None } => {
                let (left, right) = (left.unwrap_or(4), right.unwrap_or(4));
                if left > MOST || right > MOST {
                    return Err("`left` and `right` are at most 10000");
                }
                (-(left as i32)..=right as i32).collect()
            }
        };
        if offsets.is_empty() || offsets.iter().any(|offset| offset.unsigned_abs() > MOST) {
            return Err("`offsets` are numbers from -10000 to 10000, such as [-3, 0, 3]");
        }
        let mut runs: Vec<(isize, usize)> = Vec::new();
        for offset in offsets.iter().map(|&offset| offset as isize) {
            match runs.last_mut().filter(|(first, count)| first + *count as isize == offset) {
                Some((_, count)) => *count += 1,
                None => runs.push((offset, 1)),
            }
        }
        Ok(Self { runs, count: offsets.len() })
    }
}

/// The streams that get `count` times as many values a sample: dense ones with a sample for each
/// frame.
pub(crate) fn widened(
    streams: &[Stream],
    transform: &str,
    extent: Extent,
    count: usize,
) -> Result<impl Fn(&Stream) -> bool> {
    let is = move |stream: &Stream| stream.kind == Kind::Dense && stream.extent == extent;
    let Some(widest) = streams.iter().filter(|stream| is(stream)).map(|stream| stream.dim).max()
    else {
        let what = format!("transform {transform}: there is no dense stream with frames");
        return Err(Error::usage(what));
    };
    if widest.checked_mul(count).is_none_or(|values| values > MOST_VALUES) {
        return Err(Error::usage(format!(
            "transform {transform}: {count} frames of {widest} values are more than a row may have"
        )));
    }
    Ok(is)
}

impl Transform for Splice {
    fn name(&self) -> &str {
        "splice"
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        refuse_apart(streams, self.name())?;
        let extent = match streams.iter().any(|stream| stream.extent == Extent::Samples) {
            true => Extent::Samples,
            false => Extent::Own,
        };
        let is = widened(streams, self.name(), extent, self.count)?;
        Ok(Output::change(streams, is, |stream| Stream { dim: stream.dim * self.count, ..stream }))
    }

    fn apply(&self, _output: usize, given: &Given<'_>, to: &mut Block) -> Result<()> {
        let samples = given.samples(0);
        let (rows, width, out) =
            (samples.bytes(), samples.row_bytes(), to.push_bytes(samples.len()));
        if let [(first, count)] = self.runs[..] {
            context(rows, width, first, count, 1, out);
            return Ok(());
        }
        for (at, row) in out.chunks_exact_mut((self.count * width).max(1)).enumerate() {
            let mut rest = row;
            for &(first, count) in &self.runs {
                let (part, behind) = rest.split_at_mut(count * width);
                context(rows, width, at as isize + first, count, 1, part);
                rest = behind;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_repeated() {
        let mut out = [0; 12];
        context(&[1, 2, 3], 1, -2, 4, 1, &mut out);
        assert_eq!(out, [1, 1, 1, 2, 1, 1, 2, 3, 1, 2, 3, 3]);
        let mut out = [0; 8];
        context(&[1, 2, 3, 4, 5, 6], 2, -1, 2, 2, &mut out);
        assert_eq!(out, [1, 2, 1, 2, 3, 4, 5, 6]);
        context::<u8>(&[], 3, -1, 2, 1, &mut []);
    }

    #[test]
    fn offsets_make_runs() {
        let splice: Splice = toml::from_str("offsets = [-6, -3, -2, -1, 3]").unwrap();
        assert_eq!(splice.runs, [(-6, 1), (-3, 3), (3, 1)]);
        let splice: Splice = toml::from_str("").unwrap();
        assert_eq!((splice.runs, splice.count), (vec![(-4, 9)], 9));
        for wrong in
            ["offsets = []", "offsets = [0]\nleft = 1", "left = 10001", "offsets = [10001]"]
        {
            assert!(toml::from_str::<Splice>(wrong).is_err(), "{wrong}");
        }
    }
}

//! `select-feats`.

use seqfeed_kaldi::Matrix;

use crate::call::{Call, Outcome, Stop, throw};
use crate::frames;
use crate::number::integer;
use crate::writing::close;

const USAGE: &str = "Selects dimensions of features, like cut of the columns of a text.\n\
Usage: select-feats [options] <selection> <in-rspecifier> <out-wspecifier>\n\
e.g.: select-feats 0,24-22,3-12 scp:feats.scp ark,scp:feat-red.ark,feat-red.scp\n\
See also: copy-feats, extract-feature-segments, subset-feats, subsample-feats\n";

pub(super) fn run(call: &mut Call<'_>) -> Outcome {
    let names = call.parse(USAGE, 3..=3, &mut [])?;
    let mut table = call.table::<Matrix<f32>>(&names[1])?;
    let Some((key, matrix)) = table.next()? else {
        call.warn("main():featbin/select-feats.cc:59", "Empty archive provided.");
        return Ok(0);
    };
    let columns = selection(&names[0], matrix.cols)?;
    let dim = matrix.cols;
    let mut writer = call.create::<Matrix<f32>>(&names[2])?;
    writer.write(key, &frames::columns(matrix, &columns))?;
    while let Some((key, matrix)) = table.next()? {
        if matrix.cols < dim && columns.iter().any(|&column| column >= matrix.cols) {
            return Err(Stop::Abort(format!(
                "{key} has {} columns, the first matrix has {dim}",
                matrix.cols
            )));
        }
        writer.write(key, &frames::columns(matrix, &columns))?;
    }
    table.close()?;
    close(writer)?;
    Ok(0)
}

/// The columns of a selection: numbers and ranges, separated by commas. Ranges may run backwards.
///
/// (If the end of a range has fewer digits than its start, Kaldi takes the wrong ones: `12-3` for
/// `1-3`.)
fn selection(text: &str, dim: usize) -> Result<Vec<usize>, Stop> {
    const PLACE: &str = "main():featbin/select-feats.cc";
    let column = |what: &str, place, text: &str| match integer(text) {
        Some(number) => match usize::try_from(number).ok().filter(|&number| number < dim) {
            Some(column) => Ok(column),
            None => throw(place, format_args!("Invalid {what}: {number}")),
        },
        None => throw(place, format_args!("Invalid {what}: {text:?} is no number")),
    };
    let mut columns = Vec::new();
    for part in text.split(',') {
        match part.split_once('-') {
            None => {
                let place = "main():featbin/select-feats.cc:103";
                columns.push(column("selection index", place, part)?);
            }
            Some((first, last)) => {
                let first = column("range start", PLACE, first)?;
                let last = column("range end", PLACE, last)?;
                if first <= last {
                    columns.extend(first..=last);
                } else {
                    columns.extend((last..=first).rev());
                }
            }
        }
    }
    Ok(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selections() {
        let select = |text| selection(text, 25).ok();
        assert_eq!(select("0,24-22,3-4"), Some(vec![0, 24, 23, 22, 3, 4]));
        assert_eq!(select("12-10"), Some(vec![12, 11, 10]));
        assert_eq!(select("11-9"), Some(vec![11, 10, 9]));
        for bad in ["", "25", "0-25", "-1", "a", "1,,2", "1-", "1-2-3"] {
            assert_eq!(select(bad), None, "{bad}");
        }
    }
}

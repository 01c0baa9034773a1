//! `add-deltas`, `splice-feats`, `shift-feats`, `subsample-feats`: make frames from other frames.

use seqfeed_kaldi::Matrix;
use seqfeed_transform::deltas::{self, Slopes};
use seqfeed_transform::{splice, subsample};

use crate::call::{Call, Outcome, abort, some, throw};
use crate::frames;
use crate::options::{binary_option, opt};
use crate::reading::{Counts, is_rspecifier};

const DELTAS_USAGE: &str = "Adds deltas to features (typically the slope and its slope).\n\
Usage: add-deltas [options] <in-rspecifier> <out-wspecifier>\n\
e.g.: add-deltas --delta-order=2 scp:feats.scp ark:-\n\
See also: splice-feats\n";

/// The longest window and the highest order.
const MOST: i32 = deltas::MOST as i32;

pub(super) fn add_deltas(call: &mut Call<'_>) -> Outcome {
    const PLACE: &str = "main():featbin/add-deltas.cc";
    let (mut order, mut window, mut truncate) = (2, 2, 0);
    let names = call.parse(
        DELTAS_USAGE,
        2..=2,
        &mut [
            opt("delta-order", &mut order, "Order of the deltas"),
            opt("delta-window", &mut window, "Frames to either side that a slope is taken over"),
            opt("truncate", &mut truncate, "If nonzero, cut features to so many dimensions first"),
        ],
    )?;
    if !(0..=MOST).contains(&order) || !(1..MOST).contains(&window) {
        return abort(format_args!(
            "--delta-order={order} --delta-window={window}: must be 0 to {MOST}, and 1 to {}",
            MOST - 1
        ));
    }
    let slopes = Slopes::new(order as usize, window as usize);
    let writer = call.create::<Matrix<f32>>(&names[1])?;
    let table = call.table::<Matrix<f32>>(&names[0])?;
    call.each(table, writer, |call, key, features, writer| {
        if features.rows == 0 {
            return call.pass_over(PLACE, format_args!("Empty feature matrix for key {key}"));
        }
        let kept = match usize::try_from(truncate) {
            Ok(0) => features.cols,
            Ok(kept) if kept <= features.cols => kept,
            _ => {
                let message = format!(
                    "Cannot truncate features as dimension {} is smaller than truncation dimension.",
                    features.cols
                );
                return throw(PLACE, message);
            }
        };
        let cols = kept * slopes.orders();
        let mut out = Matrix { rows: features.rows, cols, values: vec![0.0; features.rows * cols] };
        slopes.compute(&features.values, features.cols, kept, &mut out.values);
        writer.write(key, &out)?;
        Ok(true)
    })?;
    Ok(0)
}

const SPLICE_USAGE: &str = "Puts frames before and behind each frame beside it, in one row.\n\
Usage: splice-feats [options] <feature-rspecifier> <feature-wspecifier>\n\
e.g.: splice-feats --left-context=5 --right-context=5 scp:feats.scp ark:-\n\
See also: add-deltas, paste-feats\n";

pub(super) fn splice(call: &mut Call<'_>) -> Outcome {
    let (mut left, mut right) = (4, 4);
    let names = call.parse(
        SPLICE_USAGE,
        2..=2,
        &mut [
            opt("left-context", &mut left, "Number of frames before"),
            opt("right-context", &mut right, "Number of frames behind"),
        ],
    )?;
    let (Ok(before), Ok(behind)) = (usize::try_from(left), usize::try_from(right)) else {
        return abort(format_args!(
            "--left-context={left} --right-context={right}: must be 0 or more"
        ));
    };
    let writer = call.create::<Matrix<f32>>(&names[1])?;
    let table = call.table::<Matrix<f32>>(&names[0])?;
    let mut spliced = Matrix::default();
    call.each(table, writer, |_, key, features, writer| {
        if features.rows == 0 {
            let message = format!("{key}: SpliceFrames: empty input");
            return throw("SpliceFrames():feat/feature-functions.cc", message);
        }
        let wide = (before + behind + 1).checked_mul(features.cols);
        if wide.is_none_or(|wide| wide > i32::MAX as usize) {
            return abort(format_args!(
                "{key}: {} columns with --left-context={left} --right-context={right} are more than a matrix \
                 can have",
                features.cols
            ));
        }
        let Matrix { rows, cols, values } = features;
        let count = before + 1 + behind;
        (spliced.rows, spliced.cols) = (*rows, *cols * count);
        // Old values do not matter.
        spliced.values.resize(*rows * *cols * count, 0.0);
        splice::context(values, *cols, -(before as isize), count, 1, &mut spliced.values);
        writer.write(key, &spliced)?;
        Ok(true)
    })?;
    Ok(0)
}

const SHIFT_USAGE: &str = "Shifts features in time; the number of frames stays.\n\
Usage: shift-feats [options] <feature-rspecifier> <feature-wspecifier>\n\
   or: shift-feats [options] <feats-rxfilename> <feats-wxfilename>\n\
e.g.: shift-feats --shift=-1 foo.scp bar.ark\n\
See also: subsample-feats, splice-feats\n";

pub(super) fn shift(call: &mut Call<'_>) -> Outcome {
    let (mut by, mut binary) = (0, true);
    let names = call.parse(
        SHIFT_USAGE,
        2..=2,
        &mut [
            opt("shift", &mut by, "Number of frames: positive for later, negative for earlier"),
            binary_option(&mut binary),
        ],
    )?;
    if !is_rspecifier(&names[0]) {
        let features: Matrix<f32> = call.read_object(&names[0])?;
        if features.rows == 0 {
            return throw("main():featbin/shift-feats.cc", "Empty input matrix");
        }
        call.write_object(&frames::shift(&features, by.into()), &names[1], binary)?;
        return Ok(0);
    }
    let table = call.table::<Matrix<f32>>(&names[0])?;
    let writer = call.create::<Matrix<f32>>(&names[1])?;
    let Counts { done, failed, .. } = call.each(table, writer, |call, key, features, writer| {
        if features.rows == 0 {
            let message = format!("Empty matrix for key {key}");
            return call.pass_over("main():featbin/shift-feats.cc", message);
        }
        writer.write(key, &frames::shift(features, by.into()))?;
        Ok(true)
    })?;
    let message = format!("Shifted {done} features by {by} frames; {failed} with errors.");
    call.log("main():featbin/shift-feats.cc:89", message);
    some(done)
}

const SUBSAMPLE_USAGE: &str = "Takes every n-th frame; with a negative n, repeats each frame -n times.\n\
Usage: subsample-feats [options] <in-rspecifier> <out-wspecifier>\n\
e.g.: subsample-feats --n=2 ark:- ark:-\n\
See also: shift-feats, subset-feats\n";

pub(super) fn subsample(call: &mut Call<'_>) -> Outcome {
    let (mut n, mut offset) = (1, 0);
    let names = call.parse(
        SUBSAMPLE_USAGE,
        2..=2,
        &mut [
            opt("n", &mut n, "Take every n-th frame; if negative, repeat each frame -n times"),
            opt("offset", &mut offset, "First frame to take (not with a negative n)"),
        ],
    )?;
    if n == 0 || offset < 0 || (n < 0 && offset != 0) {
        return abort(format_args!(
            "--n={n} --offset={offset}: n must not be 0, and the offset not negative, nor given with a \
             negative n"
        ));
    }
    let table = call.table::<Matrix<f32>>(&names[0])?;
    let writer = call.create::<Matrix<f32>>(&names[1])?;
    let (mut frames_in, mut frames_out) = (0, 0);
    let Counts { done, failed, .. } = call.each(table, writer, |call, key, features, writer| {
        frames_in += features.rows;
        let out = frames::rows(features, subsample::rows(features.rows, n, offset as usize));
        if n > 0 && out.rows == 0 {
            let message =
                format!("For utterance {key}, output would have no rows, producing no output.");
            return call.pass_over("main():featbin/subsample-feats.cc", message);
        }
        frames_out += out.rows;
        writer.write(key, &out)?;
        Ok(true)
    })?;
    let message = format!("Processed {done} feature matrices; {failed} with errors.");
    call.log("main():featbin/subsample-feats.cc:115", message);
    let message = format!("Processed {frames_in} input frames and {frames_out} output frames.");
    call.log("main():featbin/subsample-feats.cc:117", message);
    some(done)
}

//! `apply-cmvn-sliding`.

use seqfeed_kaldi::Matrix;
use seqfeed_transform::sliding_cmvn::Window;

use crate::call::{Call, Outcome, abort, some};
use crate::options::opt;
use crate::reading::Counts;

const USAGE: &str = "Subtracts the mean of a sliding window from features, and if asked to normalizes the variance in it.\n\
Usage: apply-cmvn-sliding [options] <feats-rspecifier> <feats-wspecifier>\n\
e.g.: apply-cmvn-sliding --center=true --cmn-window=300 scp:feats.scp ark:-\n\
See also: apply-cmvn\n";

const PLACE: &str = "SlidingWindowCmnInternal():feat/feature-functions.cc";

pub(super) fn run(call: &mut Call<'_>) -> Outcome {
    let (mut frames, mut least, mut warnings) = (600, 100, 5);
    let (mut variances, mut center) = (false, false);
    let names = call.parse(
        USAGE,
        2..=2,
        &mut [
            opt("cmn-window", &mut frames, "Frames in the window"),
            opt("min-cmn-window", &mut least, "Least frames in it at the beginning"),
            opt("max-warnings", &mut warnings, "Warnings for each utterance; -1 for all"),
            opt("norm-vars", &mut variances, "Normalize variances, too"),
            opt("center", &mut center, "Put the frame in the middle of the window"),
        ],
    )?;
    // A negative least number has no effect but with `center`, where it is refused as 0 is.
    let least = usize::try_from(least).unwrap_or(0);
    let window = Window { frames: usize::try_from(frames).unwrap_or(0), least, center, variances };
    if let Err(message) = window.check() {
        return abort(message);
    }
    let writer = call.create::<Matrix<f32>>(&names[1])?;
    let table = call.table::<Matrix<f32>>(&names[0])?;
    let Counts { done, failed, .. } = call.each(table, writer, |call, key, features, writer| {
        if features.rows == 0 {
            let message = format!("Empty feature matrix for utterance {key}");
            return call.pass_over("main():featbin/apply-cmvn-sliding.cc:62", message);
        }
        let mut warned = 0;
        window.normalize(&mut features.values, features.cols, |floored| {
            if warned < warnings || warnings == -1 {
                let message = format!(
                    "Flooring when normalizing variance, floored {} elements; num-frames was {}",
                    floored.dims, floored.frames
                );
                call.warn(&format!("{PLACE}:336"), message);
            } else if warned == warnings {
                let message = "Suppressing the remaining variance flooring warnings. Run program with \
                               --max-warnings=-1 to see all warnings.";
                call.warn(&format!("{PLACE}:328"), message);
            }
            warned += 1;
        });
        writer.write(key, features)?;
        Ok(true)
    })?;
    let what = if variances { "mean and variance" } else { "mean" };
    let message = format!(
        "Applied sliding-window cepstral {what} normalization to {done} utterances, {failed} had errors."
    );
    call.log("main():featbin/apply-cmvn-sliding.cc:75", message);
    some(done)
}

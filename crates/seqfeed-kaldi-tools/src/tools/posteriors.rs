//! `copy-post`, `ali-to-post`, `post-to-weights`.

use seqfeed_kaldi::{Posterior, Vector};

use crate::call::{Call, Outcome, some};
use crate::options::opt;

const COPY_USAGE: &str = "Copies tables of posteriors, and scales them if asked to.\n\
Usage: copy-post [options] <post-rspecifier> <post-wspecifier>\n\
See also: ali-to-post, post-to-weights\n";

pub(super) fn copy(call: &mut Call<'_>) -> Outcome {
    let mut scale = 1.0f32;
    let doc = "Multiply posteriors with this; with 0, frames become empty";
    let names = call.parse(COPY_USAGE, 2..=2, &mut [opt("scale", &mut scale, doc)])?;
    let copied = call.copy((&names[0], &names[1]), |Posterior(frames)| {
        if scale == 0.0 {
            frames.iter_mut().for_each(Vec::clear);
        } else if scale != 1.0 {
            frames.iter_mut().flatten().for_each(|(_, value)| *value *= scale);
        }
        Ok(())
    })?;
    let done = copied.done;
    call.log("main():bin/copy-post.cc", format_args!("Done copying {done} posteriors."));
    some(done)
}

const ALI_USAGE: &str = "Turns alignments into posteriors: 1 for the label of each frame.\n\
Usage: ali-to-post [options] <alignments-rspecifier> <posteriors-wspecifier>\n\
e.g.: ali-to-post ark:1.ali ark:1.post\n";

pub(super) fn ali_to_post(call: &mut Call<'_>) -> Outcome {
    let names = call.parse(ALI_USAGE, 2..=2, &mut [])?;
    let table = call.table::<Vec<i32>>(&names[0])?;
    let writer = call.create::<Posterior>(&names[1])?;
    let converted = call.each(table, writer, |_, key, labels, writer| {
        writer.write(key, &Posterior(labels.iter().map(|&label| vec![(label, 1.0)]).collect()))?;
        Ok(true)
    })?;
    let done = converted.done;
    call.log("main():bin/ali-to-post.cc", format_args!("Converted {done} alignments."));
    some(done)
}

const WEIGHTS_USAGE: &str = "Turns posteriors into a weight for each frame: their sum.\n\
Usage: post-to-weights [options] <post-rspecifier> <weights-wspecifier>\n\
See also: copy-post, ali-to-post\n";

pub(super) fn to_weights(call: &mut Call<'_>) -> Outcome {
    let names = call.parse(WEIGHTS_USAGE, 2..=2, &mut [])?;
    let table = call.table::<Posterior>(&names[0])?;
    let writer = call.create::<Vector<f32>>(&names[1])?;
    let sum = |frame: &Vec<(i32, f32)>| frame.iter().fold(0.0, |sum, (_, value)| sum + value);
    let converted = call.each(table, writer, |_, key, Posterior(frames), writer| {
        writer.write(key, &Vector(frames.iter().map(sum).collect()))?;
        Ok(true)
    })?;
    let message = format!("Done converting {} posteriors to weights.", converted.done);
    call.log("main():bin/post-to-weights.cc", message);
    some(converted.done)
}

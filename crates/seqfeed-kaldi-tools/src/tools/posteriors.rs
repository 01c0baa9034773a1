//! `copy-post`, `ali-to-post`, `post-to-weights`.

use seqfeed_kaldi::{Posterior, Vector};

use crate::call::{Call, Outcome, some};
use crate::options::opt;
use crate::tools::copy_matrix::read_count;
use crate::tools::copy_vectors::copy_table;
use crate::writing::close;

const COPY_USAGE: &str = "Copies tables of posteriors, and scales them if asked to.\n\
Usage: copy-post [options] <post-rspecifier> <post-wspecifier>\n\
See also: ali-to-post, post-to-weights\n";

pub(super) fn copy(call: &mut Call<'_>) -> Outcome {
    let mut scale = 1.0f32;
    let names = call.parse(
        COPY_USAGE,
        2..=2,
        &mut [opt(
            "scale",
            &mut scale,
            "Multiply posteriors with this; with 0, frames become empty",
        )],
    )?;
    let done = copy_table(call, &names, |Posterior(frames): &mut Posterior| {
        if scale == 0.0 {
            frames.iter_mut().for_each(Vec::clear);
        } else if scale != 1.0 {
            frames.iter_mut().flatten().for_each(|(_, value)| *value *= scale);
        }
    })?;
    call.log("main():bin/copy-post.cc", format_args!("Done copying {done} posteriors."));
    some(done)
}

const ALI_USAGE: &str = "Turns alignments into posteriors: 1 for the label of each frame.\n\
Usage: ali-to-post [options] <alignments-rspecifier> <posteriors-wspecifier>\n\
e.g.: ali-to-post ark:1.ali ark:1.post\n";

pub(super) fn ali_to_post(call: &mut Call<'_>) -> Outcome {
    let names = call.parse(ALI_USAGE, 2..=2, &mut [])?;
    let mut table = call.table::<Vec<i32>>(&names[0])?;
    let mut writer = call.create::<Posterior>(&names[1])?;
    while let Some((key, labels)) = table.next()? {
        writer.write(key, &Posterior(labels.iter().map(|&label| vec![(label, 1.0)]).collect()))?;
    }
    table.close()?;
    let done = read_count(&close(writer)?);
    call.log("main():bin/ali-to-post.cc", format_args!("Converted {done} alignments."));
    some(done)
}

const WEIGHTS_USAGE: &str = "Turns posteriors into a weight for each frame: their sum.\n\
Usage: post-to-weights [options] <post-rspecifier> <weights-wspecifier>\n\
See also: copy-post, ali-to-post\n";

pub(super) fn to_weights(call: &mut Call<'_>) -> Outcome {
    let names = call.parse(WEIGHTS_USAGE, 2..=2, &mut [])?;
    let mut table = call.table::<Posterior>(&names[0])?;
    let mut writer = call.create::<Vector<f32>>(&names[1])?;
    while let Some((key, Posterior(frames))) = table.next()? {
        let sum = |frame: &Vec<(i32, f32)>| frame.iter().fold(0.0, |sum, (_, value)| sum + value);
        writer.write(key, &Vector(frames.iter().map(sum).collect()))?;
    }
    table.close()?;
    let done = read_count(&close(writer)?);
    call.log(
        "main():bin/post-to-weights.cc",
        format_args!("Done converting {done} posteriors to weights."),
    );
    some(done)
}

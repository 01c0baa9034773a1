//! `transform-feats`.

use seqfeed_kaldi::{MappedReader, Matrix};
use seqfeed_transform::affine;

use crate::call::{Call, Outcome, some};
use crate::determinant::log_determinant;
use crate::number::G;
use crate::options::opt;
use crate::reading::{Counts, is_rspecifier};

const USAGE: &str = "Applies transforms (LDA, MLLT, fMLLR ...) to features: of each utterance, of each speaker (--utt2spk), or\n\
one (a file). A transform is affine if it has one column more than the features, with the offset in it.\n\
Usage: transform-feats [options] (<transform-rspecifier>|<transform-rxfilename>) <feats-rspecifier> <feats-wspecifier>\n\
See also: splice-feats, select-feats\n";

const PLACE: &str = "main():featbin/transform-feats.cc";

/// The source of transforms.
enum Transforms {
    All(Matrix<f32>),
    Each(Box<MappedReader<Matrix<f32>>>),
}

/// The final message about determinants.
#[derive(Clone, Copy, PartialEq)]
enum LogDetSummary {
    Determinant,
    Pseudo,
    Increase,
}

pub(super) fn run(call: &mut Call<'_>) -> Outcome {
    let mut utt2spk = String::new();
    let doc = "Rspecifier of the speaker of each utterance";
    let names = call.parse(USAGE, 3..=3, &mut [opt("utt2spk", &mut utt2spk, doc)])?;
    let table = call.table::<Matrix<f32>>(&names[1])?;
    let writer = call.create::<Matrix<f32>>(&names[2])?;
    let mut transforms = if is_rspecifier(&names[0]) {
        Transforms::Each(Box::new(call.mapped(&names[0], &utt2spk)?))
    } else {
        Transforms::All(call.read_object(&names[0])?)
    };
    let one_for_all = matches!(transforms, Transforms::All(_));
    let (mut out, mut known_log) = (Matrix::default(), None);
    let (mut kind, mut total_frames, mut total_log) = (None, 0.0f64, 0.0f64);
    let Counts { done, failed, .. } = call.each(table, writer, |call, key, features, writer| {
        let transform = match &mut transforms {
            Transforms::All(transform) => &*transform,
            Transforms::Each(reader) => match reader.get(key)? {
                Some(transform) => transform,
                None => {
                    let message = format!(
                        "No fMLLR transform available for utterance {key}, producing no output for this \
                         utterance"
                    );
                    return call.pass_over(PLACE, message);
                }
            },
        };
        let (rows, cols, dim) = (transform.rows, transform.cols, features.cols);
        // Old values do not matter.
        (out.rows, out.cols) = (features.rows, if features.rows == 0 { 0 } else { rows });
        out.values.resize(features.rows * rows, 0.0);
        let matrix = (rows, cols, transform.values.as_slice());
        if affine::apply(matrix, &features.values, dim, &mut out.values).is_err() {
            let message = format!(
                "Transform matrix for utterance {key} has bad dimension {rows}x{cols} versus feat dim {dim}"
            );
            call.warn(PLACE, message);
            if cols == dim + 2 {
                let message = "[perhaps the transform was created by compose-transforms, and you forgot \
                               the --b-is-affine option?]";
                call.warn(PLACE, message);
            }
            return Ok(false);
        }
        let kind = *kind.get_or_insert(match rows {
            _ if rows == dim => LogDetSummary::Determinant,
            _ if rows < dim => LogDetSummary::Pseudo,
            _ => LogDetSummary::Increase,
        });
        if kind != LogDetSummary::Increase {
            let log = match known_log {
                Some((known, log)) if known == dim => log,
                _ => log_determinant(transform, dim),
            };
            // If all utterances share one transform, its determinant is computed once.
            known_log = one_for_all.then_some((dim, log));
            if log.is_finite() {
                total_frames += features.rows as f64;
                total_log += features.rows as f64 * f64::from(log);
            } else {
                let message = format!("Matrix has bad logdet {}", G(f64::from(log)));
                call.warn(PLACE, message);
            }
        }
        writer.write(key, &out)?;
        Ok(true)
    })?;
    if let Some(kind) = kind.filter(|&kind| kind != LogDetSummary::Increase) {
        let what = if kind == LogDetSummary::Pseudo { "[pseudo-]" } else { "" };
        let (average, frames) = (G(total_log / total_frames), G(total_frames));
        let message = format!("Overall average {what}logdet is {average} over {frames} frames.");
        call.log("main():featbin/transform-feats.cc:158", message);
    }
    let message = format!("Applied transform to {done} utterances; {failed} had errors.");
    call.log("main():featbin/transform-feats.cc:161", message);
    some(done)
}

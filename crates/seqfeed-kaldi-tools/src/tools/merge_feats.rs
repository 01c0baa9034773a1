//! `paste-feats`, `concat-feats`, `append-vector-to-feats`.

use seqfeed_core::Key;
use seqfeed_kaldi::{Matrix, Vector};

use crate::call::{Call, Outcome, Stop, abort};
use crate::frames;
use crate::options::{binary_option, opt};
use crate::reading::{Counts, is_rspecifier};

const PASTE_USAGE: &str = "Puts features side by side, frame by frame.\n\
Usage: paste-feats [options] <in-rspecifier1> <in-rspecifier2> [<in-rspecifier3> ...] <out-wspecifier>\n\
   or: paste-feats [options] <in-rxfilename1> <in-rxfilename2> [<in-rxfilename3> ...] <out-wxfilename>\n\
e.g.: paste-feats ark:feats1.ark \"ark:select-feats 0-3 ark:feats2.ark ark:- |\" ark:feats-out.ark\n\
See also: append-vector-to-feats, concat-feats\n";

pub(super) fn paste(call: &mut Call<'_>) -> Outcome {
    let (mut tolerance, mut binary) = (0, true);
    let doc = "Cut features to the shortest if lengths differ by no more than this";
    let mut options = [opt("length-tolerance", &mut tolerance, doc), binary_option(&mut binary)];
    let mut names = call.parse(PASTE_USAGE, 3..=usize::MAX, &mut options)?;
    let to = names.pop().unwrap_or_default();
    if !is_rspecifier(&names[0]) {
        let read = |name: &String| call.read_object::<Matrix<f32>>(name);
        let parts: Vec<_> = names.iter().map(read).collect::<Result<_, _>>()?;
        let parts: Vec<_> = parts.iter().collect();
        let Some(pasted) = join(call, &parts, "", tolerance) else { return Ok(1) };
        call.write_object(&pasted, &to, binary)?;
        call.log("main():featbin/paste-feats.cc", format_args!("Wrote appended features to {to}"));
        return Ok(0);
    }
    let writer = call.create::<Matrix<f32>>(&to)?;
    let first = call.table::<Matrix<f32>>(&names[0])?;
    let mut others = call.random_of_each::<Matrix<f32>>(&names[1..])?;
    let Counts { done, failed, .. } = call.each(first, writer, |call, key, matrix, writer| {
        let mut parts = vec![&*matrix];
        for (reader, name) in others.iter_mut().zip(&names[1..]) {
            let Some(part) = reader.get(key)? else {
                let message = format!("Missing utt {key} from input {name}");
                return call.pass_over("main():featbin/paste-feats.cc:137", message);
            };
            parts.push(part);
        }
        let pasted = join(call, &parts, &format!(" for utt {key}"), tolerance);
        pasted.iter().try_for_each(|pasted| writer.write(key, pasted))?;
        Ok(pasted.is_some())
    })?;
    let message = format!("Done {done} utts, errors on {failed}");
    call.log("main():featbin/paste-feats.cc:158", message);
    Ok(if done == 0 { 255 } else { 0 })
}

/// Pastes, unless lengths differ by more than the tolerance.
fn join(
    call: &mut Call<'_>,
    parts: &[&Matrix<f32>],
    utterance: &str,
    tolerance: i32,
) -> Option<Matrix<f32>> {
    let min = parts.iter().map(|part| part.rows).min().unwrap_or_default();
    let max = parts.iter().map(|part| part.rows).max().unwrap_or_default();
    if min == 0 || i64::try_from(max - min).map_or(true, |by| by > i64::from(tolerance)) {
        let message =
            format!("Length mismatch {max} vs. {min}{utterance} exceeds tolerance {tolerance}");
        call.warn("AppendFeats():featbin/paste-feats.cc:45", message);
        return None;
    }
    Some(frames::paste(parts))
}

const CONCAT_USAGE: &str = "Puts features one after another.\n\
Usage: concat-feats [options] <in-rxfilename1> <in-rxfilename2> [<in-rxfilename3> ...] <out-wxfilename>\n\
e.g.: concat-feats mfcc/foo.ark:12343 mfcc/foo.ark:56789 -\n\
See also: copy-feats, append-vector-to-feats, paste-feats\n";

pub(super) fn concat(call: &mut Call<'_>) -> Outcome {
    let mut binary = true;
    let mut names = call.parse(CONCAT_USAGE, 3..=usize::MAX, &mut [binary_option(&mut binary)])?;
    let to = names.pop().unwrap_or_default();
    let mut all: Matrix<f32> = call.read_object(&names[0])?;
    for name in &names[1..] {
        let part: Matrix<f32> = call.read_object(name)?;
        if part.cols != all.cols {
            return abort(format_args!(
                "{name} has {} columns, those before it have {}",
                part.cols, all.cols
            ));
        }
        all.rows += part.rows;
        all.values.extend_from_slice(&part.values);
    }
    call.write_object(&all, &to, binary)?;
    Ok(0)
}

const VECTOR_USAGE: &str = "Appends a vector to each frame of features.\n\
Usage: append-vector-to-feats [options] <in-rspecifier1> <in-rspecifier2> <out-wspecifier>\n\
   or: append-vector-to-feats [options] <in-rxfilename1> <in-rxfilename2> <out-wxfilename>\n\
See also: paste-feats, concat-feats\n";

pub(super) fn append_vector(call: &mut Call<'_>) -> Outcome {
    const PLACE: &str = "main():featbin/append-vector-to-feats.cc";
    let mut binary = true;
    let names = call.parse(VECTOR_USAGE, 3..=3, &mut [binary_option(&mut binary)])?;
    if !is_rspecifier(&names[0]) {
        let matrix: Matrix<f32> = call.read_object(&names[0])?;
        let vector: Vector<f32> = call.read_object(&names[1])?;
        let matrix = with_vector(Key(names[0].as_bytes()), &matrix, &vector)?;
        call.write_object(&matrix, &names[2], binary)?;
        call.log(PLACE, format_args!("Wrote appended features to {}", names[2]));
        return Ok(0);
    }
    let table = call.table::<Matrix<f32>>(&names[0])?;
    let mut vectors = call.random::<Vector<f32>>(&names[1])?;
    let writer = call.create::<Matrix<f32>>(&names[2])?;
    let Counts { done, failed, .. } = call.each(table, writer, |call, key, matrix, writer| {
        let Some(vector) = vectors.get(key)? else {
            let message = format!("Could not read vector for utterance {key}");
            return call.pass_over(PLACE, message);
        };
        writer.write(key, &with_vector(key, matrix, vector)?)?;
        Ok(true)
    })?;
    call.log(PLACE, format_args!("Done {done} utts, errors on {failed}"));
    Ok(if done == 0 { 255 } else { 0 })
}

fn with_vector(
    key: Key<'_>,
    matrix: &Matrix<f32>,
    vector: &Vector<f32>,
) -> Result<Matrix<f32>, Stop> {
    if matrix.rows == 0 {
        return abort(format_args!("{key}: there are no frames to append a vector to"));
    }
    let cols = matrix.cols + vector.0.len();
    let mut values = Vec::with_capacity(matrix.rows * cols);
    for row in 0..matrix.rows {
        values.extend_from_slice(matrix.row(row));
        values.extend_from_slice(&vector.0);
    }
    Ok(Matrix { rows: matrix.rows, cols, values })
}

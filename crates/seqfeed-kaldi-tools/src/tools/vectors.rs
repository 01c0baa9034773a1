//! `vector-scale`, `dot-weights`.

use seqfeed_kaldi::Vector;

use crate::call::{Call, Outcome, some};
use crate::elements::dot;
use crate::options::{binary_option, opt};
use crate::reading::{Counts, are_tables};
use crate::tools::copy_vectors::MIXED;

const SCALE_USAGE: &str = "Scales vectors: those of a table, or one in a file.\n\
Usage: vector-scale [options] <vector-in-rspecifier> <vector-out-wspecifier>\n\
   or: vector-scale [options] <vector-in-rxfilename> <vector-out-wxfilename>\n\
See also: vector-sum, copy-vector\n";

pub(super) fn scale(call: &mut Call<'_>) -> Outcome {
    let (mut scale, mut binary) = (1.0f32, true);
    let mut options = [opt("scale", &mut scale, "Multiply with this"), binary_option(&mut binary)];
    let names = call.parse(SCALE_USAGE, 2..=2, &mut options)?;
    let multiply = |Vector(values): &mut Vector<f32>| {
        values.iter_mut().for_each(|value| *value *= scale);
        Ok(())
    };
    if are_tables(&names[0], &names[1], "main():bin/vector-scale.cc", MIXED)? {
        call.copy((&names[0], &names[1]), multiply)?;
    } else {
        let mut vector = call.read_object(&names[0])?;
        multiply(&mut vector)?;
        call.write_object(&vector, &names[1], binary)?;
    }
    Ok(0)
}

const DOT_USAGE: &str = "Writes for each key the dot product of its vectors in two tables.\n\
Usage: dot-weights [options] <weights-rspecifier1> <weights-rspecifier2> <float-wspecifier>\n\
See also: vector-sum, matrix-dot-product\n";

pub(super) fn dot_weights(call: &mut Call<'_>) -> Outcome {
    const PLACE: &str = "main():bin/dot-weights.cc";
    let names = call.parse(DOT_USAGE, 3..=3, &mut [])?;
    let table = call.table::<Vector<f32>>(&names[0])?;
    let mut second = call.random::<Vector<f32>>(&names[1])?;
    let writer = call.create::<f32>(&names[2])?;
    let Counts { done, failed, .. } =
        call.each(table, writer, |call, key, Vector(a), writer| {
            let Some(Vector(b)) = second.get(key)? else {
                let message = format!("No weights for utterance {key} in second table.");
                return call.pass_over(PLACE, message);
            };
            let (len, other) = (a.len(), b.len());
            if len != other {
                let message = format!("Dimension mismatch for utterance {key} : {len} vs. {other}");
                return call.pass_over(PLACE, message);
            }
            writer.write(key, &dot(a, b))?;
            Ok(true)
        })?;
    let message = format!("Done computing dot products of {done} weights; errors on {failed}");
    call.log(PLACE, message);
    some(done)
}

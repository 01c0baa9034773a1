//! `copy-vector`, `copy-int-vector`, `copy-int-vector-vector`.

use seqfeed_kaldi::{IntegerVector, Vector};

use crate::call::{Call, Outcome, some, throw};
use crate::number::G;
use crate::options::{binary_option, opt};
use crate::reading::are_tables;

pub(super) const MIXED: &str = "Cannot mix archives with regular files (copying vectors)";

const FLOAT_USAGE: &str = "Copies vectors or tables of vectors.\n\
Usage: copy-vector [options] (<vector-in-rspecifier>|<vector-in-rxfilename>) (<vector-out-wspecifier>|<vector-out-wxfilename>)\n\
e.g.: copy-vector --binary=false 1.vec -\n\
  or: copy-vector ark:2.vecs ark,t:-\n\
See also: dot-weights, append-vector-to-feats\n";

pub(super) fn floats(call: &mut Call<'_>) -> Outcome {
    let (mut binary, mut change_dim, mut scale) = (true, -1, 1.0f32);
    let names = call.parse(
        FLOAT_USAGE,
        2..=2,
        &mut [
            binary_option(&mut binary),
            opt(
                "change-dim",
                &mut change_dim,
                "Cut vectors off, or fill them up with zeros, to this dimension",
            ),
            opt("scale", &mut scale, "Multiply with this (tables only)"),
        ],
    )?;
    let resize = |values: &mut Vec<f32>| {
        if let Ok(dim) = usize::try_from(change_dim) {
            values.resize(dim, 0.0);
        }
    };
    if !are_tables(&names[0], &names[1], "main():bin/copy-vector.cc", MIXED)? {
        let mut vector: Vector<f32> = call.read_object(&names[0])?;
        resize(&mut vector.0);
        call.write_object(&vector, &names[1], binary)?;
        call.log("main():bin/copy-vector.cc", format_args!("Copied vector to {}", names[1]));
        return Ok(0);
    }
    let copied = call.copy((&names[0], &names[1]), |Vector(values)| {
        resize(values);
        if scale != 1.0 {
            values.iter_mut().for_each(|value| *value *= scale);
        }
        Ok(())
    })?;
    let done = copied.done;
    if change_dim < 0 && scale == 1.0 {
        call.log("main():bin/copy-vector.cc:90", format_args!("Copied {done} vectors."));
    } else {
        // Kaldi logs this for an unchanged dimension too: -1.
        let scale = G(f64::from(scale));
        call.log(
            "main():bin/copy-vector.cc:98",
            format_args!("Copied {done} vectors, setting dim to {change_dim} scaled by {scale}"),
        );
    }
    some(done)
}

const INT_USAGE: &str = "Copies vectors of integers, such as alignments, or tables of them.\n\
Usage: copy-int-vector [options] (<vector-in-rspecifier>|<vector-in-rxfilename>) (<vector-out-wspecifier>|<vector-out-wxfilename>)\n\
e.g.: copy-int-vector --binary=false foo -\n\
  or: copy-int-vector ark:1.ali ark,t:-\n";

pub(super) fn integers(call: &mut Call<'_>) -> Outcome {
    let mut binary = true;
    let names = call.parse(INT_USAGE, 2..=2, &mut [binary_option(&mut binary)])?;
    if !are_tables(&names[0], &names[1], "main():bin/copy-int-vector.cc", MIXED)? {
        let vector: IntegerVector<i32> = call.read_object(&names[0])?;
        call.write_object(&vector, &names[1], binary)?;
        call.log("main():bin/copy-int-vector.cc", format_args!("Copied vector to {}", names[1]));
        return Ok(0);
    }
    let done = call.copy((&names[0], &names[1]), |_: &mut Vec<i32>| Ok(()))?.done;
    call.log("main():bin/copy-int-vector.cc", format_args!("Copied {done} vectors of int32."));
    some(done)
}

const NESTED_USAGE: &str = "Copies tables of vectors of vectors of integers.\n\
Usage: copy-int-vector-vector [options] <vector-in-rspecifier> <vector-out-wspecifier>\n";

pub(super) fn nested(call: &mut Call<'_>) -> Outcome {
    const PLACE: &str = "main():bin/copy-int-vector-vector.cc";
    let mut binary = true;
    let doc = "Has no effect: tables say so themselves";
    let names = call.parse(NESTED_USAGE, 2..=2, &mut [opt("binary", &mut binary, doc)])?;
    if !are_tables(&names[0], &names[1], PLACE, "Cannot mix Tables/archives and non-Tables.")? {
        return throw(PLACE, "single files of vectors of vectors have no format: use tables");
    }
    let done = call.copy((&names[0], &names[1]), |_: &mut Vec<Vec<i32>>| Ok(()))?.done;
    call.log(PLACE, format_args!("Copied {done} items."));
    some(done)
}

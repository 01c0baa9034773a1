//! `copy-matrix`.

use seqfeed_kaldi::Matrix;
use seqfeed_transform::log::{FLOOR, log};

use crate::call::{Call, Outcome, Stop, some, throw};
use crate::elements;
use crate::options::{binary_option, opt};
use crate::reading::are_tables;

const USAGE: &str = "Copies matrices or tables of matrices, and changes their values if asked to.\n\
Usage: copy-matrix [options] (<matrix-in-rspecifier>|<matrix-in-rxfilename>) (<matrix-out-wspecifier>|<matrix-out-wxfilename>)\n\
e.g.: copy-matrix --binary=false 1.mat -\n\
  or: copy-matrix ark:2.trans ark,t:-\n\
See also: copy-feats, matrix-sum\n";

/// The changes of the values, in this order.
struct Change {
    scale: f32,
    log: bool,
    exp: bool,
    softmax: bool,
    power: f32,
}

impl Change {
    fn apply(&self, matrix: &mut Matrix<f32>) -> Result<(), Stop> {
        let Matrix { cols, values, .. } = matrix;
        if self.scale != 1.0 {
            values.iter_mut().for_each(|value| *value *= self.scale);
        }
        if self.log {
            log(values, FLOOR);
        }
        if self.exp {
            elements::exp(values);
        }
        if self.softmax {
            values.chunks_exact_mut((*cols).max(1)).for_each(elements::softmax);
        }
        elements::power(values, self.power)?;
        Ok(())
    }
}

pub(super) fn run(call: &mut Call<'_>) -> Outcome {
    let mut binary = true;
    let mut change = Change { scale: 1.0, log: false, exp: false, softmax: false, power: 1.0 };
    let names = call.parse(
        USAGE,
        2..=2,
        &mut [
            binary_option(&mut binary),
            opt("scale", &mut change.scale, "Multiply with this first"),
            opt("apply-log", &mut change.log, "Take logarithms, of at least 1.0e-20"),
            opt("apply-exp", &mut change.exp, "Take exponentials"),
            opt("apply-power", &mut change.power, "Raise to this power"),
            opt("apply-softmax-per-row", &mut change.softmax, "Take the softmax of each row"),
        ],
    )?;
    let mixed = "Cannot mix archives with regular files (copying matrices)";
    let tables = are_tables(&names[0], &names[1], "main():bin/copy-matrix.cc:97", mixed)?;
    if [change.log, change.exp, change.softmax].into_iter().filter(|&set| set).count() > 1 {
        return throw(
            "main():bin/copy-matrix.cc",
            "Only one of --apply-log, --apply-exp and --apply-softmax-per-row can be given",
        );
    }
    if !tables {
        let mut matrix: Matrix<f32> = call.read_object(&names[0])?;
        change.apply(&mut matrix)?;
        call.write_object(&matrix, &names[1], binary)?;
        call.log("main():bin/copy-matrix.cc:112", format_args!("Copied matrix to {}", names[1]));
        return Ok(0);
    }
    let done = call.copy((&names[0], &names[1]), |matrix| change.apply(matrix))?.done;
    call.log("main():bin/copy-matrix.cc:135", format_args!("Copied {done} matrices."));
    some(done)
}

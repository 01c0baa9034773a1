//! `matrix-sum-rows`, `matrix-dot-product`.

use seqfeed_kaldi::{Matrix, Vector};

use crate::call::{Call, Outcome, abort, some, throw};
use crate::options::{binary_option, opt, shown};
use crate::reading::{Counts, is_rspecifier, is_wspecifier};
use crate::tools::sums::mismatch;

const ROWS_USAGE: &str = "Adds the rows of each matrix: a table of vectors.\n\
Usage: matrix-sum-rows [options] <matrix-rspecifier> <vector-wspecifier>\n\
e.g.: matrix-sum-rows ark:- ark:- | vector-sum ark:- sum.vec\n\
See also: matrix-sum, vector-sum\n";

pub(super) fn sum_rows(call: &mut Call<'_>) -> Outcome {
    let names = call.parse(ROWS_USAGE, 2..=2, &mut [])?;
    let table = call.table::<Matrix<f32>>(&names[0])?;
    let writer = call.create::<Vector<f32>>(&names[1])?;
    let mut rows = 0;
    let summed = call.each(table, writer, |_, key, matrix, writer| {
        let mut sum = vec![0.0f64; matrix.cols];
        for row in matrix.values.chunks_exact(matrix.cols.max(1)) {
            sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(*value));
        }
        rows += matrix.rows;
        writer.write(key, &Vector(sum.into_iter().map(|value| value as f32).collect()))?;
        Ok(true)
    })?;
    let message = format!("Summed rows {} matrices, {rows} rows in total.", summed.done);
    call.log("main():bin/matrix-sum-rows.cc:67", message);
    some(summed.done)
}

const DOT_USAGE: &str = "Multiplies matrices value by value: of tables by key, or of files. The result has the size of the first.\n\
Usage: matrix-dot-product [options] <matrix-in-rspecifier1> [<matrix-in-rspecifier2> ...] <matrix-out-wspecifier>\n\
   or: matrix-dot-product [options] <matrix-in-rxfilename1> [<matrix-in-rxfilename2> ...] <matrix-out-wxfilename>\n\
See also: matrix-sum, dot-weights\n";

fn size(matrix: &Matrix<f32>) -> (usize, usize) {
    (matrix.rows, matrix.cols)
}

fn multiply_into(product: &mut Matrix<f32>, other: &Matrix<f32>) {
    product.values.iter_mut().zip(&other.values).for_each(|(product, value)| *product *= value);
}

pub(super) fn multiply(call: &mut Call<'_>) -> Outcome {
    const PLACE: &str = "main():bin/matrix-dot-product.cc";
    let (mut tolerance, mut binary) = (0, true);
    let doc = "Take the first rows of a matrix that has up to so many more than the first one";
    let mut names = call.parse(
        DOT_USAGE,
        2..=usize::MAX,
        &mut [opt("length-tolerance", &mut tolerance, doc), binary_option(&mut binary)],
    )?;
    let to = names.pop().unwrap_or_default();
    if !is_wspecifier(&to) {
        if names.iter().any(|name| is_rspecifier(name)) {
            let message = "Wrong usage: if last argument is not table, the other arguments must not be tables.";
            return throw(PLACE, message);
        }
        let mut product: Matrix<f32> = call.read_object(&names[0])?;
        for name in &names[1..] {
            let matrix: Matrix<f32> = call.read_object(name)?;
            if size(&matrix) != size(&product) {
                return abort(format_args!(
                    "{name} is of {}x{}, {} of {}x{}",
                    matrix.rows, matrix.cols, names[0], product.rows, product.cols
                ));
            }
            multiply_into(&mut product, &matrix);
        }
        call.write_object(&product, &to, binary)?;
        let (count, to) = (names.len(), shown(&to, "standard output"));
        call.log(PLACE, format_args!("Multiplied {count} matrices; wrote product to {to}"));
        return Ok(0);
    }
    multiply_tables(call, &names, &to, usize::try_from(tolerance).unwrap_or_default())
}

fn multiply_tables(call: &mut Call<'_>, names: &[String], to: &str, tolerance: usize) -> Outcome {
    const PLACE: &str = "main():bin/matrix-dot-product.cc";
    let writer = call.create::<Matrix<f32>>(to)?;
    let table = call.table::<Matrix<f32>>(&names[0])?;
    let mut others = call.random_of_each::<Matrix<f32>>(&names[1..])?;
    let (mut matrices, mut missing) = (0u64, 0u64);
    let Counts { done, failed, .. } = call.each(table, writer, |call, key, product, writer| {
        matrices += 1;
        for (number, reader) in (1..).zip(&mut others) {
            let Some(matrix) = reader.get(key)? else {
                let (system, name) = (number + 1, &names[number]);
                let message = format!(
                    "No matrix found for utterance {key} for system {system}, rspecifier: {name}"
                );
                missing += 1;
                return call.pass_over(PLACE, message);
            };
            matrices += 1;
            if size(matrix) != size(product) {
                call.warn(PLACE, mismatch(key, (number, matrix), names, product));
                let more = matrix.rows.checked_sub(product.rows);
                if matrix.cols != product.cols || more.is_none_or(|more| more > tolerance) {
                    return call.pass_over(PLACE, format_args!("Skipping key {key}"));
                }
                call.warn(PLACE, format_args!("Tolerated length mismatch for key {key}"));
            }
            multiply_into(product, matrix);
        }
        writer.write(key, product)?;
        Ok(true)
    })?;
    let (utterances, failed, systems) = (done + failed, failed - missing, names.len());
    let message = format!(
        "Processed {utterances} utterances: with a total of {matrices} matrices across {systems} different \
         systems."
    );
    call.log(PLACE, message);
    let message = format!(
        "Produced output for {done} utterances; {missing} total missing matrices and skipped {failed}matrices."
    );
    call.log(PLACE, message);
    Ok(u8::from(done == 0 || missing >= done.saturating_sub(missing)))
}

//! `matrix-sum`, `matrix-sum-rows`, `matrix-dot-product`.

use seqfeed_kaldi::{Matrix, Vector};

use crate::call::{Call, Outcome, Stop, abort, some, throw};
use crate::options::{opt, shown};
use crate::reading::{is_rspecifier, is_wspecifier};
use crate::tools::copy_matrix::read_count;
use crate::writing::close;

const BINARY: &str = "Write in binary mode (a single file)";

const SUM_USAGE: &str = "Adds matrices: of several tables by key, all of one table, or of several files.\n\
Usage: matrix-sum [options] <matrix-in-rspecifier1> [<matrix-in-rspecifier2> ...] <matrix-out-wspecifier>\n\
   or: matrix-sum [options] <matrix-in-rspecifier> <matrix-out-wxfilename>\n\
   or: matrix-sum [options] <matrix-in-rxfilename1> [<matrix-in-rxfilename2> ...] <matrix-out-wxfilename>\n\
e.g.: matrix-sum --scale2=0.5 ark:1.mats ark:2.mats ark:sum.mats\n\
  or: matrix-sum --binary=false 1.mat 2.mat 3.mat sum.mat\n\
See also: matrix-sum-rows, copy-matrix\n";

/// How matrices are added.
struct Sum {
    scale1: f32,
    scale2: f32,
    average: bool,
    binary: bool,
}

pub(super) fn sum(call: &mut Call<'_>) -> Outcome {
    let mut how = Sum { scale1: 1.0, scale2: 1.0, average: false, binary: true };
    let mut names = call.parse(
        SUM_USAGE,
        2..=usize::MAX,
        &mut [
            opt("scale1", &mut how.scale1, "Multiply the first table with this (tables by key)"),
            opt("scale2", &mut how.scale2, "Multiply the second table with this (tables by key)"),
            opt("average", &mut how.average, "Average (tables by key, and files)"),
            opt("binary", &mut how.binary, BINARY),
        ],
    )?;
    let to = names.pop().unwrap_or_default();
    if is_wspecifier(&to) {
        return sum_tables(call, &names, &to, &how);
    }
    if how.scale1 != 1.0 || how.scale2 != 1.0 {
        return abort("--scale1 and --scale2 are for tables that are added by key");
    }
    match names.iter().filter(|name| is_rspecifier(name)).count() {
        0 => sum_files(call, &names, &to, &how),
        1 if names.len() == 1 && how.average => throw(
            "main():bin/matrix-sum.cc",
            "--average option not compatible with type two usage.",
        ),
        1 if names.len() == 1 => sum_table(call, &names[0], &to, how.binary),
        _ => throw(
            "TypeThreeUsage():bin/matrix-sum.cc",
            "Wrong usage (type 3): if first and last arguments are not tables, the intermediate arguments \
             must not be tables.",
        ),
    }
}

fn size(matrix: &Matrix<f32>) -> (usize, usize) {
    (matrix.rows, matrix.cols)
}

/// What went wrong with a matrix of another size than that of the first table.
fn mismatch(
    key: seqfeed_core::Key<'_>,
    other: &Matrix<f32>,
    number: usize,
    names: &[String],
    sum: &Matrix<f32>,
) -> String {
    format!(
        "Dimension mismatch for utterance {key} : {} by {} for system {}, rspecifier: {} vs {} by {} primary \
         matrix, rspecifier:{}",
        other.rows,
        other.cols,
        number + 1,
        names[number],
        sum.rows,
        sum.cols,
        names[0]
    )
}

/// The first table by the others.
fn sum_tables(call: &mut Call<'_>, names: &[String], to: &str, how: &Sum) -> Outcome {
    const PLACE: &str = "TypeOneUsage():bin/matrix-sum.cc";
    let mut writer = call.create::<Matrix<f32>>(to)?;
    let mut table = call.table::<Matrix<f32>>(&names[0])?;
    let open = |name: &String| call.random::<Matrix<f32>>(name);
    let mut others: Vec<_> = names[1..].iter().map(open).collect::<Result<_, Stop>>()?;
    let each = (1.0 / names.len() as f64) as f32;
    let scale_of = |number: usize| match number {
        _ if how.average => each,
        0 => how.scale1,
        1 => how.scale2,
        _ => 1.0,
    };
    let (mut done, mut matrices, mut missing) = (0u64, 0u64, 0u64);
    while let Some((key, sum)) = table.next()? {
        matrices += 1;
        let scale = scale_of(0);
        if scale != 1.0 {
            sum.values.iter_mut().for_each(|value| *value *= scale);
        }
        for (number, reader) in (1..).zip(&mut others) {
            let Some(matrix) = reader.get(key)? else {
                let message = format!(
                    "No matrix found for utterance {key} for system {}, rspecifier: {}",
                    number + 1,
                    names[number]
                );
                call.warn(PLACE, message);
                missing += 1;
                continue;
            };
            matrices += 1;
            if size(matrix) == size(sum) {
                let scale = scale_of(number);
                let pairs = sum.values.iter_mut().zip(&matrix.values);
                pairs.for_each(|(sum, value)| *sum += scale * value);
            } else {
                call.warn(PLACE, mismatch(key, matrix, number, names, sum));
            }
        }
        writer.write(key, sum)?;
        done += 1;
    }
    table.close()?;
    close(writer)?;
    let systems = names.len();
    let message = format!(
        "Processed {done} utterances: with a total of {matrices} matrices across {systems} different systems"
    );
    call.log(PLACE, message);
    let message =
        format!("Produced output for {done} utterances; {missing} total missing matrices");
    call.log(PLACE, message);
    Ok(u8::from(done == 0 || missing >= done.saturating_sub(missing)))
}

/// All matrices of a table.
fn sum_table(call: &mut Call<'_>, from: &str, to: &str, binary: bool) -> Outcome {
    const PLACE: &str = "TypeTwoUsage():bin/matrix-sum.cc";
    let mut table = call.table::<Matrix<f32>>(from)?;
    let mut sum = Matrix::<f64>::default();
    let (mut done, mut failed) = (0u64, 0u64);
    while let Some((key, matrix)) = table.next()? {
        let Matrix { rows, cols, ref values } = *matrix;
        if rows == 0 {
            call.warn(PLACE, format_args!("Zero matrix input for key {key}"));
            failed += 1;
            continue;
        }
        if sum.rows == 0 {
            sum = Matrix { rows, cols, values: vec![0.0; values.len()] };
        }
        if (sum.rows, sum.cols) != (rows, cols) {
            let message = format!(
                "Dimension mismatch for key {key}: {rows} by {cols} vs. {} by {}",
                sum.rows, sum.cols
            );
            call.warn(PLACE, message);
            failed += 1;
            continue;
        }
        sum.values.iter_mut().zip(values).for_each(|(sum, value)| *sum += f64::from(*value));
        done += 1;
    }
    table.close()?;
    let values = sum.values.into_iter().map(|value| value as f32).collect();
    call.write_object(&Matrix { rows: sum.rows, cols: sum.cols, values }, to, binary)?;
    let to = shown(to, "standard output");
    call.log(
        PLACE,
        format_args!("Summed {done} matrices, {failed} with errors; wrote sum to {to}"),
    );
    Ok(u8::from(done == 0 || failed >= done))
}

/// Matrices in files of their own.
fn sum_files(call: &mut Call<'_>, names: &[String], to: &str, how: &Sum) -> Outcome {
    let mut sum = Matrix::<f32>::default();
    for (number, name) in names.iter().enumerate() {
        let matrix: Matrix<f32> = call.read_object(name)?;
        if number == 0 {
            sum = matrix;
        } else if size(&matrix) == size(&sum) {
            sum.values.iter_mut().zip(&matrix.values).for_each(|(sum, value)| *sum += value);
        } else {
            return abort(format_args!(
                "{name} is of {}x{}, those before it are of {}x{}",
                matrix.rows, matrix.cols, sum.rows, sum.cols
            ));
        }
    }
    if how.average {
        let scale = (1.0 / names.len() as f64) as f32;
        sum.values.iter_mut().for_each(|value| *value *= scale);
    }
    call.write_object(&sum, to, how.binary)?;
    let (count, to) = (names.len(), shown(to, "standard output"));
    call.log(
        "TypeThreeUsage():bin/matrix-sum.cc",
        format_args!("Summed {count} matrices; wrote sum to {to}"),
    );
    Ok(0)
}

const ROWS_USAGE: &str = "Adds the rows of each matrix: a table of vectors.\n\
Usage: matrix-sum-rows [options] <matrix-rspecifier> <vector-wspecifier>\n\
e.g.: matrix-sum-rows ark:- ark:- | vector-sum ark:- sum.vec\n\
See also: matrix-sum, vector-sum\n";

pub(super) fn sum_rows(call: &mut Call<'_>) -> Outcome {
    let names = call.parse(ROWS_USAGE, 2..=2, &mut [])?;
    let mut table = call.table::<Matrix<f32>>(&names[0])?;
    let mut writer = call.create::<Vector<f32>>(&names[1])?;
    let mut rows = 0;
    while let Some((key, matrix)) = table.next()? {
        let mut sum = vec![0.0f64; matrix.cols];
        for row in matrix.values.chunks_exact(matrix.cols.max(1)) {
            sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(*value));
        }
        rows += matrix.rows;
        writer.write(key, &Vector(sum.into_iter().map(|value| value as f32).collect()))?;
    }
    table.close()?;
    let done = read_count(&close(writer)?);
    call.log(
        "main():bin/matrix-sum-rows.cc:67",
        format_args!("Summed rows {done} matrices, {rows} rows in total."),
    );
    some(done)
}

const DOT_USAGE: &str = "Multiplies matrices value by value: of tables by key, or of files. The result has the size of the first.\n\
Usage: matrix-dot-product [options] <matrix-in-rspecifier1> [<matrix-in-rspecifier2> ...] <matrix-out-wspecifier>\n\
   or: matrix-dot-product [options] <matrix-in-rxfilename1> [<matrix-in-rxfilename2> ...] <matrix-out-wxfilename>\n\
See also: matrix-sum, dot-weights\n";

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
        &mut [opt("length-tolerance", &mut tolerance, doc), opt("binary", &mut binary, BINARY)],
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
    let mut writer = call.create::<Matrix<f32>>(to)?;
    let mut table = call.table::<Matrix<f32>>(&names[0])?;
    let open = |name: &String| call.random::<Matrix<f32>>(name);
    let mut others: Vec<_> = names[1..].iter().map(open).collect::<Result<_, Stop>>()?;
    let (mut utterances, mut matrices) = (0u64, 0u64);
    let (mut done, mut missing, mut failed) = (0u64, 0u64, 0u64);
    'utterances: while let Some((key, product)) = table.next()? {
        utterances += 1;
        matrices += 1;
        for (number, reader) in (1..).zip(&mut others) {
            let Some(matrix) = reader.get(key)? else {
                let message = format!(
                    "No matrix found for utterance {key} for system {}, rspecifier: {}",
                    number + 1,
                    names[number]
                );
                call.warn(PLACE, message);
                missing += 1;
                continue 'utterances;
            };
            matrices += 1;
            if size(matrix) != size(product) {
                call.warn(PLACE, mismatch(key, matrix, number, names, product));
                let more = matrix.rows.checked_sub(product.rows);
                if matrix.cols != product.cols || more.is_none_or(|more| more > tolerance) {
                    call.warn(PLACE, format_args!("Skipping key {key}"));
                    failed += 1;
                    continue 'utterances;
                }
                call.warn(PLACE, format_args!("Tolerated length mismatch for key {key}"));
            }
            multiply_into(product, matrix);
        }
        writer.write(key, product)?;
        done += 1;
    }
    table.close()?;
    close(writer)?;
    let systems = names.len();
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

//! `vector-sum`, `vector-scale`, `dot-weights`.

use seqfeed_kaldi::Vector;

use crate::call::{Call, Outcome, Stop, some, throw};
use crate::elements::dot;
use crate::options::{opt, shown};
use crate::reading::{is_rspecifier, is_wspecifier};
use crate::tools::copy_vectors::{MIXED, copy_table};
use crate::writing::close;

const SUM_USAGE: &str = "Adds vectors: of several tables by key, all of one table, or of several files.\n\
Usage: vector-sum [options] <vector-in-rspecifier1> [<vector-in-rspecifier2> ...] <vector-out-wspecifier>\n\
   or: vector-sum [options] <vector-in-rspecifier> <vector-out-wxfilename>\n\
   or: vector-sum [options] <vector-in-rxfilename1> [<vector-in-rxfilename2> ...] <vector-out-wxfilename>\n\
e.g.: vector-sum ark:1.weights ark:2.weights ark:combine.weights\n\
  or: vector-sum --binary=false 1.vec 2.vec 3.vec sum.vec\n\
See also: copy-vector, vector-scale\n";

pub(super) fn sum(call: &mut Call<'_>) -> Outcome {
    let mut how = Sum { binary: true, average: false };
    let mut names = call.parse(
        SUM_USAGE,
        2..=usize::MAX,
        &mut [
            opt("binary", &mut how.binary, "Write in binary mode (a single file)"),
            opt("average", &mut how.average, "Average (of one table, or of files)"),
        ],
    )?;
    let to = names.pop().unwrap_or_default();
    if is_wspecifier(&to) {
        if how.average {
            let message = "--average has no effect on sums of tables by key, as in Kaldi";
            call.warn("main():bin/vector-sum.cc", message);
        }
        return sum_tables(call, &names, &to);
    }
    match names.iter().filter(|name| is_rspecifier(name)).count() {
        0 => sum_files(call, &names, &to, &how),
        1 if names.len() == 1 => sum_table(call, &names[0], &to, &how),
        _ => throw(
            "TypeThreeUsage():bin/vector-sum.cc",
            "Wrong usage (type 3): if first and last arguments are not tables, the intermediate arguments \
             must not be tables.",
        ),
    }
}

/// How one vector is made of many.
struct Sum {
    binary: bool,
    average: bool,
}

fn add(to: &mut [f32], values: &[f32]) {
    to.iter_mut().zip(values).for_each(|(to, value)| *to += value);
}

/// The first table by the others.
fn sum_tables(call: &mut Call<'_>, names: &[String], to: &str) -> Outcome {
    const PLACE: &str = "TypeOneUsage():bin/vector-sum.cc";
    let mut writer = call.create::<Vector<f32>>(to)?;
    let mut table = call.table::<Vector<f32>>(&names[0])?;
    let open = |name: &String| call.random::<Vector<f32>>(name);
    let mut others: Vec<_> = names[1..].iter().map(open).collect::<Result<_, Stop>>()?;
    let (mut done, mut vectors, mut missing) = (0u64, 0u64, 0u64);
    while let Some((key, Vector(sum))) = table.next()? {
        vectors += 1;
        for (number, (reader, name)) in others.iter_mut().zip(&names[1..]).enumerate() {
            let system = format!("system {}, rspecifier: {name}", number + 2);
            let Some(Vector(values)) = reader.get(key)? else {
                let message = format!("No vector found for utterance {key} for {system}");
                call.warn(PLACE, message);
                missing += 1;
                continue;
            };
            vectors += 1;
            if values.len() == sum.len() {
                add(sum, values);
            } else {
                let message = format!(
                    "Dimension mismatch for utterance {key} : {} for {system} vs {} primary vector, \
                     rspecifier:{}",
                    values.len(),
                    sum.len(),
                    names[0]
                );
                call.warn(PLACE, message);
            }
        }
        writer.write(key, &Vector(std::mem::take(sum)))?;
        done += 1;
    }
    table.close()?;
    close(writer)?;
    let systems = names.len();
    let message = format!(
        "Processed {done} utterances: with a total of {vectors} vectors across {systems} different systems"
    );
    call.log(PLACE, message);
    let message = format!("Produced output for {done} utterances; {missing} total missing vectors");
    call.log(PLACE, message);
    Ok(u8::from(done == 0 || missing >= done.saturating_sub(missing)))
}

/// All vectors of a table.
fn sum_table(call: &mut Call<'_>, from: &str, to: &str, how: &Sum) -> Outcome {
    const PLACE: &str = "TypeTwoUsage():bin/vector-sum.cc";
    let mut table = call.table::<Vector<f32>>(from)?;
    let mut sum: Vec<f64> = Vec::new();
    let (mut done, mut failed) = (0u64, 0u64);
    while let Some((key, Vector(values))) = table.next()? {
        if values.is_empty() {
            call.warn(PLACE, format_args!("Zero vector input for key {key}"));
            failed += 1;
            continue;
        }
        if sum.is_empty() {
            sum.resize(values.len(), 0.0);
        }
        if sum.len() != values.len() {
            let message =
                format!("Dimension mismatch for key {key}: {} vs. {}", values.len(), sum.len());
            call.warn(PLACE, message);
            failed += 1;
            continue;
        }
        sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += f64::from(*value));
        done += 1;
    }
    table.close()?;
    if how.average {
        sum.iter_mut().for_each(|value| *value *= 1.0 / done as f64);
    }
    let sum = Vector(sum.into_iter().map(|value| value as f32).collect());
    call.write_object(&sum, to, how.binary)?;
    let to = shown(to, "standard output");
    call.log(PLACE, format_args!("Summed {done} vectors, {failed} with errors; wrote sum to {to}"));
    Ok(u8::from(done == 0 || failed >= done))
}

/// Vectors in files of their own.
fn sum_files(call: &mut Call<'_>, names: &[String], to: &str, how: &Sum) -> Outcome {
    let mut sum: Vec<f32> = Vec::new();
    for (number, name) in names.iter().enumerate() {
        let Vector(values) = call.read_object::<Vector<f32>>(name)?;
        if number == 0 {
            sum = values;
        } else if values.len() == sum.len() {
            add(&mut sum, &values);
        } else {
            return throw(
                "Read():matrix/kaldi-vector.cc",
                format_args!(
                    "{name} has {} elements, those before it have {}",
                    values.len(),
                    sum.len()
                ),
            );
        }
    }
    if how.average {
        let factor = (1.0 / names.len() as f64) as f32;
        sum.iter_mut().for_each(|value| *value *= factor);
    }
    call.write_object(&Vector(sum), to, how.binary)?;
    let (count, to) = (names.len(), shown(to, "standard output"));
    call.log(
        "TypeThreeUsage():bin/vector-sum.cc",
        format_args!("Summed {count} vectors; wrote sum to {to}"),
    );
    Ok(0)
}

const SCALE_USAGE: &str = "Scales vectors: those of a table, or one in a file.\n\
Usage: vector-scale [options] <vector-in-rspecifier> <vector-out-wspecifier>\n\
   or: vector-scale [options] <vector-in-rxfilename> <vector-out-wxfilename>\n\
See also: vector-sum, copy-vector\n";

pub(super) fn scale(call: &mut Call<'_>) -> Outcome {
    let (mut scale, mut binary) = (1.0f32, true);
    let names = call.parse(
        SCALE_USAGE,
        2..=2,
        &mut [
            opt("scale", &mut scale, "Multiply with this"),
            opt("binary", &mut binary, "Write in binary mode (a single file)"),
        ],
    )?;
    let table = is_rspecifier(&names[0]);
    if table != is_wspecifier(&names[1]) {
        return throw("main():bin/vector-scale.cc", MIXED);
    }
    if !table {
        let mut vector: Vector<f32> = call.read_object(&names[0])?;
        vector.0.iter_mut().for_each(|value| *value *= scale);
        call.write_object(&vector, &names[1], binary)?;
        return Ok(0);
    }
    copy_table(call, &names, |Vector(values): &mut Vector<f32>| {
        values.iter_mut().for_each(|value| *value *= scale);
    })?;
    Ok(0)
}

const DOT_USAGE: &str = "Writes for each key the dot product of its vectors in two tables.\n\
Usage: dot-weights [options] <weights-rspecifier1> <weights-rspecifier2> <float-wspecifier>\n\
See also: vector-sum, matrix-dot-product\n";

pub(super) fn dot_weights(call: &mut Call<'_>) -> Outcome {
    const PLACE: &str = "main():bin/dot-weights.cc";
    let names = call.parse(DOT_USAGE, 3..=3, &mut [])?;
    let mut table = call.table::<Vector<f32>>(&names[0])?;
    let mut second = call.random::<Vector<f32>>(&names[1])?;
    let mut writer = call.create::<f32>(&names[2])?;
    let (mut done, mut failed) = (0, 0);
    while let Some((key, Vector(a))) = table.next()? {
        let warning = match second.get(key)? {
            Some(Vector(b)) if a.len() == b.len() => {
                writer.write(key, &dot(a, b))?;
                done += 1;
                continue;
            }
            Some(Vector(b)) => {
                format!("Dimension mismatch for utterance {key} : {} vs. {}", a.len(), b.len())
            }
            None => format!("No weights for utterance {key} in second table."),
        };
        call.warn(PLACE, warning);
        failed += 1;
    }
    table.close()?;
    close(writer)?;
    call.log(
        PLACE,
        format_args!("Done computing dot products of {done} weights; errors on {failed}"),
    );
    some(done)
}

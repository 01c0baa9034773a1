//! `matrix-sum`, `vector-sum`: the same work on two types of objects.

use seqfeed_core::Key;
use seqfeed_kaldi::{Holder, Matrix, Vector};

use crate::call::{Call, Outcome, Stop, abort, throw};
use crate::options::{binary_option, opt, shown};
use crate::reading::{is_rspecifier, is_wspecifier};

/// An object that can be added. The messages about matrices and vectors differ in a few words.
pub(super) trait Summand: Holder + Default + Clone {
    /// The words for one object and for many.
    const WORDS: (&str, &str);
    /// The places that Kaldi's messages name: for tables by key, for one table, and for files.
    const PLACES: [&'static str; 3];

    /// Whether it has no values. Kaldi calls that zero.
    fn is_zero(&self) -> bool;
    /// The size, as in messages.
    fn size(&self) -> String;
    fn values(&self) -> &[f32];
    fn values_mut(&mut self) -> &mut [f32];
    /// Ends a call with a file whose object differs in size from those before it.
    fn mismatch_in(&self, name: &str, before: &Self) -> Stop;

    fn scale(&mut self, scale: f32) {
        self.values_mut().iter_mut().for_each(|value| *value *= scale);
    }

    fn add(&mut self, other: &Self, scale: f32) {
        let pairs = self.values_mut().iter_mut().zip(other.values());
        pairs.for_each(|(sum, value)| *sum += scale * value);
    }
}

impl Summand for Matrix<f32> {
    const WORDS: (&str, &str) = ("matrix", "matrices");
    const PLACES: [&'static str; 3] = [
        "TypeOneUsage():bin/matrix-sum.cc",
        "TypeTwoUsage():bin/matrix-sum.cc",
        "TypeThreeUsage():bin/matrix-sum.cc",
    ];

    fn is_zero(&self) -> bool {
        self.rows == 0
    }

    fn size(&self) -> String {
        format!("{} by {}", self.rows, self.cols)
    }

    fn values(&self) -> &[f32] {
        &self.values
    }

    fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    fn mismatch_in(&self, name: &str, before: &Self) -> Stop {
        Stop::Abort(format!(
            "{name} is of {}x{}, those before it are of {}x{}",
            self.rows, self.cols, before.rows, before.cols
        ))
    }
}

impl Summand for Vector<f32> {
    const WORDS: (&str, &str) = ("vector", "vectors");
    const PLACES: [&'static str; 3] = [
        "TypeOneUsage():bin/vector-sum.cc",
        "TypeTwoUsage():bin/vector-sum.cc",
        "TypeThreeUsage():bin/vector-sum.cc",
    ];

    fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    fn size(&self) -> String {
        self.0.len().to_string()
    }

    fn values(&self) -> &[f32] {
        &self.0
    }

    fn values_mut(&mut self) -> &mut [f32] {
        &mut self.0
    }

    fn mismatch_in(&self, name: &str, before: &Self) -> Stop {
        let (found, expected) = (self.0.len(), before.0.len());
        let message = format!("{name} has {found} elements, those before it have {expected}");
        Stop::Throw(Some("Read():matrix/kaldi-vector.cc"), message)
    }
}

/// The options for combining many objects to one.
struct Sum {
    scales: [f32; 2],
    average: bool,
    binary: bool,
}

const MATRIX_USAGE: &str = "Adds matrices: of several tables by key, all of one table, or of several files.\n\
Usage: matrix-sum [options] <matrix-in-rspecifier1> [<matrix-in-rspecifier2> ...] <matrix-out-wspecifier>\n\
   or: matrix-sum [options] <matrix-in-rspecifier> <matrix-out-wxfilename>\n\
   or: matrix-sum [options] <matrix-in-rxfilename1> [<matrix-in-rxfilename2> ...] <matrix-out-wxfilename>\n\
e.g.: matrix-sum --scale2=0.5 ark:1.mats ark:2.mats ark:sum.mats\n\
  or: matrix-sum --binary=false 1.mat 2.mat 3.mat sum.mat\n\
See also: matrix-sum-rows, copy-matrix\n";

pub(super) fn matrices(call: &mut Call<'_>) -> Outcome {
    let (mut scale1, mut scale2, mut average, mut binary) = (1.0f32, 1.0f32, false, true);
    let mut names = call.parse(
        MATRIX_USAGE,
        2..=usize::MAX,
        &mut [
            opt("scale1", &mut scale1, "Multiply the first table with this (tables by key)"),
            opt("scale2", &mut scale2, "Multiply the second table with this (tables by key)"),
            opt("average", &mut average, "Average (tables by key, and files)"),
            binary_option(&mut binary),
        ],
    )?;
    let to = names.pop().unwrap_or_default();
    if !is_wspecifier(&to) {
        if scale1 != 1.0 || scale2 != 1.0 {
            return abort("--scale1 and --scale2 are for tables that are added by key");
        }
        if average && names.len() == 1 && is_rspecifier(&names[0]) {
            let message = "--average option not compatible with type two usage.";
            return throw("main():bin/matrix-sum.cc", message);
        }
    }
    sum::<Matrix<f32>>(call, &names, &to, &Sum { scales: [scale1, scale2], average, binary })
}

const VECTOR_USAGE: &str = "Adds vectors: of several tables by key, all of one table, or of several files.\n\
Usage: vector-sum [options] <vector-in-rspecifier1> [<vector-in-rspecifier2> ...] <vector-out-wspecifier>\n\
   or: vector-sum [options] <vector-in-rspecifier> <vector-out-wxfilename>\n\
   or: vector-sum [options] <vector-in-rxfilename1> [<vector-in-rxfilename2> ...] <vector-out-wxfilename>\n\
e.g.: vector-sum ark:1.weights ark:2.weights ark:combine.weights\n\
  or: vector-sum --binary=false 1.vec 2.vec 3.vec sum.vec\n\
See also: copy-vector, vector-scale\n";

pub(super) fn vectors(call: &mut Call<'_>) -> Outcome {
    let (mut binary, mut average) = (true, false);
    let mut names = call.parse(
        VECTOR_USAGE,
        2..=usize::MAX,
        &mut [
            binary_option(&mut binary),
            opt("average", &mut average, "Average (of one table, or of files)"),
        ],
    )?;
    let to = names.pop().unwrap_or_default();
    if average && is_wspecifier(&to) {
        let message = "--average has no effect on sums of tables by key, as in Kaldi";
        call.warn("main():bin/vector-sum.cc", message);
        average = false;
    }
    sum::<Vector<f32>>(call, &names, &to, &Sum { scales: [1.0; 2], average, binary })
}

fn sum<T: Summand>(call: &mut Call<'_>, names: &[String], to: &str, how: &Sum) -> Outcome {
    if is_wspecifier(to) {
        return sum_tables::<T>(call, names, to, how);
    }
    match names.iter().filter(|name| is_rspecifier(name)).count() {
        0 => sum_files::<T>(call, names, to, how),
        1 if names.len() == 1 => sum_table::<T>(call, &names[0], to, how),
        _ => throw(
            T::PLACES[2],
            "Wrong usage (type 3): if first and last arguments are not tables, the intermediate arguments \
             must not be tables.",
        ),
    }
}

/// The error for an object that differs in size from that of the first table.
pub(super) fn mismatch<T: Summand>(
    key: Key<'_>,
    (number, other): (usize, &T),
    names: &[String],
    first: &T,
) -> String {
    let (system, found, expected) = (number + 1, other.size(), first.size());
    let (name, first_name, (word, _)) = (&names[number], &names[0], T::WORDS);
    format!(
        "Dimension mismatch for utterance {key} : {found} for system {system}, rspecifier: {name} vs {expected} \
         primary {word}, rspecifier:{first_name}"
    )
}

/// Adds to each object of the first table those of the others.
fn sum_tables<T: Summand>(call: &mut Call<'_>, names: &[String], to: &str, how: &Sum) -> Outcome {
    let (place, (word, words)) = (T::PLACES[0], T::WORDS);
    let writer = call.create::<T>(to)?;
    let table = call.table::<T>(&names[0])?;
    let mut others = call.random_of_each::<T>(&names[1..])?;
    let each = (1.0 / names.len() as f64) as f32;
    let scale_of = |number: usize| match how.average {
        true => each,
        false => how.scales.get(number).copied().unwrap_or(1.0),
    };
    let (mut objects, mut missing) = (0u64, 0u64);
    let done = call.each(table, writer, |call, key, sum, writer| {
        objects += 1;
        if scale_of(0) != 1.0 {
            sum.scale(scale_of(0));
        }
        for (number, reader) in (1..).zip(&mut others) {
            let Some(other) = reader.get(key)? else {
                let (system, name) = (number + 1, &names[number]);
                let message = format!(
                    "No {word} found for utterance {key} for system {system}, rspecifier: {name}"
                );
                call.warn(place, message);
                missing += 1;
                continue;
            };
            objects += 1;
            match other.size() == sum.size() {
                true => sum.add(other, scale_of(number)),
                false => call.warn(place, mismatch(key, (number, other), names, sum)),
            }
        }
        writer.write(key, sum)?;
        Ok(true)
    })?;
    let (done, systems) = (done.done, names.len());
    let message = format!(
        "Processed {done} utterances: with a total of {objects} {words} across {systems} different systems"
    );
    call.log(place, message);
    let message = format!("Produced output for {done} utterances; {missing} total missing {words}");
    call.log(place, message);
    Ok(u8::from(done == 0 || missing >= done.saturating_sub(missing)))
}

/// Adds all objects of a table.
fn sum_table<T: Summand>(call: &mut Call<'_>, from: &str, to: &str, how: &Sum) -> Outcome {
    let (place, (word, words)) = (T::PLACES[1], T::WORDS);
    let mut table = call.table::<T>(from)?;
    let (mut first, mut sum): (T, Vec<f64>) = (T::default(), Vec::new());
    let (mut done, mut failed) = (0u64, 0u64);
    while let Some((key, object)) = table.next()? {
        if object.is_zero() {
            call.warn(place, format_args!("Zero {word} input for key {key}"));
            failed += 1;
            continue;
        }
        if first.is_zero() {
            first.clone_from(object);
            sum.resize(first.values().len(), 0.0);
        }
        let (found, expected) = (object.size(), first.size());
        if found != expected {
            let message = format!("Dimension mismatch for key {key}: {found} vs. {expected}");
            call.warn(place, message);
            failed += 1;
            continue;
        }
        sum.iter_mut().zip(object.values()).for_each(|(sum, value)| *sum += f64::from(*value));
        done += 1;
    }
    table.close()?;
    let scale = if how.average { 1.0 / done as f64 } else { 1.0 };
    first.values_mut().iter_mut().zip(sum).for_each(|(to, sum)| *to = (sum * scale) as f32);
    call.write_object(&first, to, how.binary)?;
    let to = shown(to, "standard output");
    let message = format!("Summed {done} {words}, {failed} with errors; wrote sum to {to}");
    call.log(place, message);
    Ok(u8::from(done == 0 || failed >= done))
}

/// Adds objects in files of their own.
fn sum_files<T: Summand>(call: &mut Call<'_>, names: &[String], to: &str, how: &Sum) -> Outcome {
    let mut sum: T = call.read_object(&names[0])?;
    for name in &names[1..] {
        let other: T = call.read_object(name)?;
        if other.size() != sum.size() {
            return Err(other.mismatch_in(name, &sum));
        }
        sum.add(&other, 1.0);
    }
    if how.average {
        sum.scale((1.0 / names.len() as f64) as f32);
    }
    call.write_object(&sum, to, how.binary)?;
    let (count, to, (_, words)) = (names.len(), shown(to, "standard output"), T::WORDS);
    call.log(T::PLACES[2], format_args!("Summed {count} {words}; wrote sum to {to}"));
    Ok(0)
}

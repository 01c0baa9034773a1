//! `compute-cmvn-stats`, `apply-cmvn`, `modify-cmvn-stats`.

use seqfeed_core::Key;
use seqfeed_kaldi::{GeneralMatrix, MappedReader, Matrix, RandomAccessReader, TokenVector, Vector};
use seqfeed_transform::{Normalization, Statistics};

use crate::call::{Call, Outcome, Stop, abort, some, throw};
use crate::number::{G, integer};
use crate::options::{binary_option, opt, shown};
use crate::reading::{Counts, is_rspecifier, is_wspecifier};

const COMPUTE_USAGE: &str = "Computes statistics for cepstral mean and variance normalization: of each utterance, of each speaker\n\
(--spk2utt), or of all (to a file).\n\
Usage: compute-cmvn-stats [options] <feats-rspecifier> (<stats-wspecifier>|<stats-wxfilename>)\n\
e.g.: compute-cmvn-stats --spk2utt=ark:data/train/spk2utt scp:data/train/feats.scp ark,scp:cmvn.ark,cmvn.scp\n\
See also: apply-cmvn, modify-cmvn-stats\n";

fn statistics(matrix: Matrix<f64>) -> seqfeed_core::Result<Statistics> {
    Statistics::of_matrix(matrix.rows, matrix.cols, matrix.values)
}

fn matrix(statistics: Statistics) -> Matrix<f64> {
    Matrix { rows: 2, cols: statistics.dim() + 1, values: statistics.into_values() }
}

/// Collects statistics.
struct Accumulator {
    weights: Option<RandomAccessReader<Vector<f32>>>,
    done: u64,
    failed: u64,
}

impl Accumulator {
    /// Adds an utterance to the statistics, or starts them with it. Returns whether it could be
    /// added.
    fn add(
        &mut self,
        call: &mut Call<'_>,
        key: Key<'_>,
        features: &Matrix<f32>,
        stats: &mut Option<Statistics>,
    ) -> Result<bool, Stop> {
        const PLACE: &str = "AccCmvnStatsWrapper():featbin/compute-cmvn-stats.cc";
        if features.cols == 0 {
            return abort(format_args!("the features of {key} are empty: they have no statistics"));
        }
        let stats = stats.get_or_insert_with(|| Statistics::new(features.cols));
        let weights = match &mut self.weights {
            None => None,
            Some(reader) => match reader.get(key)? {
                None => {
                    self.failed += 1;
                    let message = format!("No weights available for utterance {key}");
                    return call.pass_over(PLACE, message);
                }
                Some(Vector(weights)) if weights.len() != features.rows => {
                    let message = format!(
                        "Weights for utterance {key} have wrong dimension {} vs. {}",
                        weights.len(),
                        features.rows
                    );
                    self.failed += 1;
                    return call.pass_over(PLACE, message);
                }
                Some(Vector(weights)) => Some(weights.as_slice()),
            },
        };
        stats
            .accumulate(&features.values, features.cols, weights)
            .map_err(|error| Stop::abort(&error.of_key(key)))?;
        self.done += 1;
        Ok(true)
    }
}

pub(super) fn compute(call: &mut Call<'_>) -> Outcome {
    let (mut spk2utt, mut binary, mut weights) = (String::new(), true, String::new());
    let names = call.parse(
        COMPUTE_USAGE,
        2..=2,
        &mut [
            opt("spk2utt", &mut spk2utt, "Rspecifier of the utterances of each speaker"),
            binary_option(&mut binary),
            opt("weights", &mut weights, "Rspecifier of a weight for each frame"),
        ],
    )?;
    let weights = (!weights.is_empty()).then(|| call.random(&weights)).transpose()?;
    let mut all = Accumulator { weights, done: 0, failed: 0 };
    if !is_wspecifier(&names[1]) {
        compute_global(call, &names, &spk2utt, binary, &mut all)?;
    } else if spk2utt.is_empty() {
        let writer = call.create::<Matrix<f64>>(&names[1])?;
        let table = call.table::<Matrix<f32>>(&names[0])?;
        call.each(table, writer, |call, key, features, writer| {
            let mut stats = None;
            let added = all.add(call, key, features, &mut stats)?;
            if let Some(stats) = stats.filter(|_| added) {
                writer.write(key, &matrix(stats))?;
            }
            Ok(added)
        })?;
    } else {
        compute_by_speaker(call, &names, &spk2utt, &mut all)?;
    }
    let (done, failed) = (all.done, all.failed);
    let message =
        format!("Done accumulating CMVN stats for {done} utterances; {failed} had errors.");
    call.log("main():featbin/compute-cmvn-stats.cc:171", message);
    some(done)
}

fn compute_by_speaker(
    call: &mut Call<'_>,
    names: &[String],
    spk2utt: &str,
    all: &mut Accumulator,
) -> Result<(), Stop> {
    const PLACE: &str = "main():featbin/compute-cmvn-stats.cc";
    let writer = call.create::<Matrix<f64>>(&names[1])?;
    let speakers = call.table::<TokenVector>(spk2utt)?;
    let mut features = call.random::<Matrix<f32>>(&names[0])?;
    call.each(speakers, writer, |call, speaker, utterances, writer| {
        let mut stats = None;
        for utterance in &utterances.0 {
            let key = Key(utterance);
            match features.get(key)? {
                Some(features) => drop(all.add(call, key, features, &mut stats)?),
                None => {
                    call.warn(PLACE, format_args!("Did not find features for utterance {key}"));
                    all.failed += 1;
                }
            }
        }
        let found = stats.is_some();
        match stats {
            Some(stats) => writer.write(speaker, &matrix(stats))?,
            None => call.warn(PLACE, format_args!("No stats accumulated for speaker {speaker}")),
        }
        Ok(found)
    })?;
    Ok(())
}

fn compute_global(
    call: &mut Call<'_>,
    names: &[String],
    spk2utt: &str,
    binary: bool,
    all: &mut Accumulator,
) -> Result<(), Stop> {
    if !spk2utt.is_empty() {
        let message =
            "--spk2utt option not compatible with wxfilename as output (did you forget ark:?)";
        return throw("main():featbin/compute-cmvn-stats.cc", message);
    }
    let mut stats = None;
    let mut table = call.table::<Matrix<f32>>(&names[0])?;
    while let Some((key, features)) = table.next()? {
        all.add(call, key, features, &mut stats)?;
    }
    table.close()?;
    // Written with 32 bits, as in Kaldi, for its older versions.
    let Matrix { rows, cols, values } = stats.map(matrix).unwrap_or_default();
    let values = values.into_iter().map(|value| value as f32).collect();
    call.write_object(&Matrix { rows, cols, values }, &names[1], binary)?;
    let name = shown(&names[1], "standard output");
    let message = format!("Wrote global CMVN stats to {name}");
    call.log("main():featbin/compute-cmvn-stats.cc:168", message);
    Ok(())
}

const APPLY_USAGE: &str = "Normalizes the mean, and if asked to the variance, of features: by the statistics of each utterance, of\n\
each speaker (--utt2spk), or of all (a file).\n\
Usage: apply-cmvn [options] (<stats-rspecifier>|<stats-rxfilename>) <feats-rspecifier> <feats-wspecifier>\n\
e.g.: apply-cmvn --utt2spk=ark:data/train/utt2spk scp:cmvn.scp scp:feats.scp ark:-\n\
See also: compute-cmvn-stats, modify-cmvn-stats\n";

const APPLY_PLACE: &str = "main():featbin/apply-cmvn.cc";

/// The source of statistics.
enum Stats {
    All(Normalization<f32>),
    Each(Box<MappedReader<Matrix<f64>>>),
}

/// The use of statistics.
struct Settings {
    variances: bool,
    reverse: bool,
    skipped: Vec<i32>,
}

impl Settings {
    fn normalization(
        &self,
        call: &mut Call<'_>,
        stats: Matrix<f64>,
    ) -> Result<Normalization<f32>, Stop> {
        let mut stats = statistics(stats)?;
        stats.fake(&self.skipped)?;
        let make = if self.reverse { Normalization::reverse } else { Normalization::forward };
        let normalization = make(&stats, self.variances)?;
        for &variance in &normalization.floored {
            let message = format!("Flooring cepstral variance from {} to 1e-20", G(variance));
            call.warn("ApplyCmvn():transform/cmvn.cc", message);
        }
        Ok(normalization)
    }
}

pub(super) fn apply(call: &mut Call<'_>) -> Outcome {
    let (mut utt2spk, mut skip_dims) = (String::new(), String::new());
    let (mut variances, mut means, mut reverse) = (false, true, false);
    let means_doc = "Normalize means; if not, features are copied as they are";
    let names = call.parse(
        APPLY_USAGE,
        3..=3,
        &mut [
            opt("utt2spk", &mut utt2spk, "Rspecifier of the speaker of each utterance"),
            opt("norm-vars", &mut variances, "Normalize variances"),
            opt("norm-means", &mut means, means_doc),
            opt(
                "skip-dims",
                &mut skip_dims,
                "Dimensions that are left as they are, such as 13:14:15",
            ),
            opt("reverse", &mut reverse, "Turn normalized features into ones with such statistics"),
        ],
    )?;
    if !means {
        return copy_unchanged(call, &names, variances);
    }
    let Some(skipped) = dims(&skip_dims) else {
        let message = "Bad --skip-dims option (should be colon-separated list of integers)";
        return throw(APPLY_PLACE, message);
    };
    let settings = Settings { variances, reverse, skipped };
    let mut stats = if is_rspecifier(&names[0]) {
        Stats::Each(Box::new(call.mapped(&names[0], &utt2spk)?))
    } else if utt2spk.is_empty() {
        let stats = call.read_object(&names[0])?;
        Stats::All(settings.normalization(call, stats)?)
    } else {
        let message =
            "--utt2spk option not compatible with rxfilename as input (did you forget ark:?)";
        return throw(APPLY_PLACE, message);
    };
    let writer = call.create::<Matrix<f32>>(&names[2])?;
    let table = call.table::<Matrix<f32>>(&names[1])?;
    let Counts { done, failed, .. } = call.each(table, writer, |call, key, features, writer| {
        match &mut stats {
            Stats::All(normalization) => normalization.apply(&mut features.values, features.cols),
            Stats::Each(reader) => match reader.get(key)? {
                Some(stats) => settings
                    .normalization(call, stats.clone())?
                    .apply(&mut features.values, features.cols),
                None => {
                    let message = format!(
                        "No normalization statistics available for key {key}, producing no output for this \
                         utterance"
                    );
                    return call.pass_over("main():featbin/apply-cmvn.cc:112", message);
                }
            },
        }
        .map_err(|error| error.of_key(key))?;
        writer.write(key, features)?;
        Ok(true)
    })?;
    let (place, what) = if variances {
        ("main():featbin/apply-cmvn.cc:159", "mean and variance")
    } else {
        ("main():featbin/apply-cmvn.cc:162", "mean")
    };
    let message =
        format!("Applied cepstral {what} normalization to {done} utterances, errors on {failed}");
    call.log(place, message);
    some(done)
}

/// For neither mean nor variance: compressed matrices stay unchanged.
fn copy_unchanged(call: &mut Call<'_>, names: &[String], variances: bool) -> Outcome {
    if variances {
        return throw(APPLY_PLACE, "You cannot normalize the variance but not the mean.");
    }
    let done = call.copy((&names[1], &names[2]), |_: &mut GeneralMatrix| Ok(()))?.written;
    call.log("main():featbin/apply-cmvn.cc:81", format_args!("Copied {done} utterances."));
    some(done)
}

/// A list of integers, separated by colons.
fn dims(text: &str) -> Option<Vec<i32>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    text.split(':').map(integer).collect()
}

const MODIFY_USAGE: &str = "Copies statistics of means and variances so that some dimensions will not be normalized.\n\
Usage: modify-cmvn-stats [options] [<fake-dims>] <in-rspecifier> <out-wspecifier>\n\
e.g.: modify-cmvn-stats 13:14:15 ark:- ark:-\n\
  or: modify-cmvn-stats --convert-to-mean-and-var=true ark:- ark:-\n\
See also: compute-cmvn-stats, apply-cmvn\n";

pub(super) fn modify(call: &mut Call<'_>) -> Outcome {
    const PLACE: &str = "main():featbin/modify-cmvn-stats.cc";
    let mut convert = false;
    let doc = "Write means and variances instead of sums: two rows, without the number of frames";
    let names =
        call.parse(MODIFY_USAGE, 2..=3, &mut [opt("convert-to-mean-and-var", &mut convert, doc)])?;
    let (fake, from, to) = match &names[..] {
        [fake, from, to] => (fake.as_str(), from, to),
        [from, to] => ("", from, to),
        _ => return Err(Stop::Exit(1)),
    };
    let Some(fake) = dims(fake) else {
        let message = "Bad first argument (should be colon-separated list of integers)";
        return throw(PLACE, message);
    };
    let table = call.table::<Matrix<f64>>(from)?;
    let writer = call.create::<Matrix<f64>>(to)?;
    let modified = call.each(table, writer, |call, key, stats, writer| {
        let mut all = statistics(std::mem::take(stats)).map_err(|error| error.of_key(key))?;
        all.fake(&fake).map_err(|error| error.of_key(key))?;
        *stats = if convert {
            let Some(values) = all.means_and_variances() else {
                let message = format!(
                    "Zero or negative count for speaker {key}, not outputting mean and variance stats."
                );
                return call.pass_over(PLACE, message);
            };
            Matrix { rows: 2, cols: all.dim(), values }
        } else {
            matrix(all)
        };
        writer.write(key, stats)?;
        Ok(true)
    })?;
    let done = modified.written;
    call.log(PLACE, format_args!("Modified {done} sets of stats."));
    some(done)
}

//! Statistics of a whole corpus in files of several programs. The content tells which.

use std::path::Path;

use seqfeed_core::{Error, Result};
use seqfeed_io::{Opener, name_from_text};
use seqfeed_kaldi::{Matrix, ObjectReader};
use seqfeed_transform::Statistics;
use serde::Deserialize;

/// More than any statistics have.
const LARGEST: u64 = 64 << 20;

/// Reads the file. `variances` says whether variances are needed, which HTK's files may lack.
pub(super) fn read_statistics(name: &str, variances: bool, opener: &Opener) -> Result<Statistics> {
    let found = opener.rxfilename(&name_from_text(name))?;
    if let (Some(path), None) = (found.location().path(), found.offset()) {
        let bytes = opener.read_settings(found.location(), "bytes of statistics", LARGEST)?;
        let statistics = match bytes.trim_ascii_start() {
            [b'{', ..] => Some(of_json(&bytes)),
            [b'<', ..] => Some(of_htk(&bytes, variances)),
            [b'P', b'K', 3, 4, ..] => Some(of_npz(path)),
            _ => None,
        };
        if let Some(statistics) = statistics {
            return statistics.and_then(finite).map_err(|error| error.in_file(name));
        }
    }
    let mut reader = ObjectReader::open(&found, opener)?;
    let help = "statistics are a matrix of Kaldi's, a JSON file with mean_stat, var_stat and frame_num, a .npz with \
                count, sum and sum_square, or HTK's means and variances";
    let matrix: Matrix<f64> = reader.read().map_err(|error| error.with_help(help))?;
    reader.finish()?;
    Statistics::of_matrix(matrix.rows, matrix.cols, matrix.values)
        .map_err(|error| error.with_help(help))
        .and_then(finite)
        .map_err(|error| error.in_file(name))
}

/// Refuses statistics that would make all features NaN or infinite.
fn finite(statistics: Statistics) -> Result<Statistics> {
    match statistics.values().iter().position(|value| !value.is_finite()) {
        None => Ok(statistics),
        Some(at) => {
            let columns = statistics.dim() + 1;
            Err(Error::corpus(format!(
                "the statistics have {} in row {}, column {}",
                statistics.values()[at],
                at / columns,
                at % columns
            ))
            .with_help("compute them again: some features were no numbers"))
        }
    }
}

/// Sums and sums of squares as statistics.
fn of_sums(count: f64, sums: &[f64], squares: &[f64]) -> Result<Statistics> {
    if sums.len() != squares.len() || sums.is_empty() {
        let (sums, squares) = (sums.len(), squares.len());
        return Err(Error::corpus(format!(
            "the statistics have {sums} sums and {squares} sums of squares"
        )));
    }
    let values = [sums, &[count], squares, &[0.0]].concat();
    Statistics::of_matrix(2, sums.len() + 1, values)
}

/// The `global_cmvn` of wenet.
fn of_json(bytes: &[u8]) -> Result<Statistics> {
    #[derive(Deserialize)]
    struct Sums {
        mean_stat: Vec<f64>,
        var_stat: Vec<f64>,
        frame_num: f64,
    }
    let sums: Sums = serde_json::from_slice(bytes).map_err(|error| {
        Error::corpus(format!("no statistics in JSON: {error}"))
            .with_help("they have `mean_stat`, `var_stat` and `frame_num`")
    })?;
    of_sums(sums.frame_num, &sums.mean_stat, &sums.var_stat)
}

/// HTK's text: `<MEAN> 2 1.0 2.0`, and in the same way `<VARIANCE>` and `<NFRAMES>`.
fn of_htk(bytes: &[u8], variances: bool) -> Result<Statistics> {
    let wrong = |what: &str| Error::corpus(format!("HTK's statistics: {what}"));
    let text = std::str::from_utf8(bytes).map_err(|_| wrong("they are no text"))?;
    let vector = |name: &str| -> Result<Option<Vec<f64>>> {
        let mut words = text.split_whitespace().skip_while(|word| !word.eq_ignore_ascii_case(name));
        if words.next().is_none() {
            return Ok(None);
        }
        let count: Option<usize> = words.next().and_then(|count| count.parse().ok());
        let count = count.ok_or_else(|| wrong(&format!("there is no number behind {name}")))?;
        let values: Vec<f64> = words.map_while(|word| word.parse().ok()).take(count).collect();
        match values.len() == count {
            true => Ok(Some(values)),
            false => {
                Err(wrong(&format!("there are {} of {count} values behind {name}", values.len())))
            }
        }
    };
    let means = vector("<MEAN>")?.ok_or_else(|| wrong("there is no <MEAN>"))?;
    let squares = match vector("<VARIANCE>")? {
        Some(found) if found.iter().any(|variance| *variance < 0.0) => {
            return Err(wrong("a variance is negative"));
        }
        Some(found) if found.len() == means.len() => {
            found.iter().zip(&means).map(|(variance, mean)| variance + mean * mean).collect()
        }
        Some(_) => return Err(wrong("<MEAN> and <VARIANCE> differ in length")),
        None if variances => {
            return Err(wrong("there is no <VARIANCE>").with_help("leave out `norm-vars`"));
        }
        None => means.clone(),
    };
    of_sums(1.0, &means, &squares)
}

/// The `feats_stats.npz` of `ESPnet`.
#[cfg(feature = "pdnn")]
fn of_npz(path: &Path) -> Result<Statistics> {
    let arrays = seqfeed_pdnn::pickle::read_npz(path)?;
    let values = |name: &str| {
        let array = arrays.iter().find(|(known, _)| known == name).map(|(_, array)| array);
        array.and_then(seqfeed_pdnn::pickle::Array::to_f64).ok_or_else(|| {
            Error::corpus(format!("there are no numbers `{name}`"))
                .with_help("statistics have `count`, `sum` and `sum_square`")
        })
    };
    let count = values("count")?.first().copied().unwrap_or(0.0);
    of_sums(count, &values("sum")?, &values("sum_square")?)
}

#[cfg(not(feature = "pdnn"))]
fn of_npz(_path: &Path) -> Result<Statistics> {
    Err(crate::formats::key_left_out("npz", "pdnn"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_other_programs() {
        let json = br#"{"mean_stat": [2.0, 4.0], "var_stat": [3.0, 9], "frame_num": 2}"#;
        let expected = [2.0, 4.0, 2.0, 3.0, 9.0, 0.0];
        assert_eq!(of_json(json).unwrap().values(), expected);
        assert!(of_json(br#"{"mean_stat": [1.0], "var_stat": [], "frame_num": 2}"#).is_err());
        assert!(of_json(b"{}").unwrap_err().message().contains("mean_stat"));
        let htk = b"<CEPSNORM> <MFCC_0>\n<MEAN> 2\n 1.0 2.0\n<VARIANCE> 2\n 0.5 0.25\n";
        assert_eq!(of_htk(htk, true).unwrap().values(), [1.0, 2.0, 1.0, 1.5, 4.25, 0.0]);
        assert!(of_htk(b"<MEAN> 1\n 1.0", false).is_ok());
        for wrong in ["<MEAN> 1\n 1.0", "<MEAN> 2\n 1.0", "<MEAN> x", "<VARIANCE> 1 1", "<MEAN> 0"]
        {
            assert!(of_htk(wrong.as_bytes(), true).is_err(), "{wrong}");
        }
    }
}

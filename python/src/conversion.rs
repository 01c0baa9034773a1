//! The common part of `seqfeed.convert` and `seqfeed.Writer`: options, and losses.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBool;
use seqfeed::io::{LineLimit, Opener};
use seqfeed::{Corpus, Element, Error, Source};
use seqfeed_convert::{ConvertOptions, ConvertPlan, ConvertReport, Target};

use crate::{errors, keys};

/// Options of both, as the caller gives them.
pub(crate) struct Asked<'py> {
    pub(crate) target: Bound<'py, PyAny>,
    pub(crate) to: Option<BTreeMap<String, Bound<'py, PyAny>>>,
    pub(crate) dtype: Option<String>,
    pub(crate) compress: Option<Bound<'py, PyAny>>,
    pub(crate) protocol: Option<u8>,
    pub(crate) frame_period: Option<f64>,
    pub(crate) htk_kind: Option<String>,
    pub(crate) state_names: Option<Bound<'py, PyAny>>,
    pub(crate) describe: bool,
    pub(crate) allow_lossy: bool,
    pub(crate) allow_pipes: bool,
}

impl Asked<'_> {
    /// The library's options that do not depend on the corpus.
    pub(crate) fn options(self) -> PyResult<ConvertOptions> {
        let Some(name) = keys::name_of(&self.target)? else {
            return Err(errors::wrong_type("a name or a path", &self.target));
        };
        let compress = self.compress.map(|compress| method_of(&compress)).transpose()?.flatten();
        let others = self
            .to
            .unwrap_or_default()
            .into_iter()
            .map(|(stream, name)| Ok((stream, keys::needed_name(&name)?.in_description())));
        let others = others.collect::<PyResult<_>>()?;
        let names = self.state_names.map(|names| state_names(&names)).transpose()?;
        errors::raise((|| {
            let mut options = ConvertOptions::new(Target::parse(&name)?);
            options.others = others;
            options.dtype = self.dtype.as_deref().map(float).transpose()?;
            let period = self.frame_period.map(period).transpose()?;
            let given = [
                ("compress", compress),
                ("protocol", self.protocol.map(|protocol| protocol.to_string())),
                ("htk-kind", self.htk_kind),
                ("htk-period", period.map(|period| period.to_string())),
            ];
            for (option, value) in given {
                if let Some(value) = value {
                    options.set(option, value)?;
                }
            }
            options.states = names.unwrap_or_default();
            options.describe = self.describe;
            options.allow_lossy = self.allow_lossy;
            options.opener = Opener::allowing_pipes(self.allow_pipes);
            check_directory(&options.target)?;
            Ok(options)
        })())
    }
}

/// A compression: a number of Kaldi's, a name, or a boolean.
fn method_of(compress: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if let Ok(flag) = compress.cast::<PyBool>() {
        return Ok(flag.is_true().then(|| "auto".to_owned()));
    }
    match compress.extract::<i64>() {
        Ok(number) => Ok(Some(number.to_string())),
        Err(_) => compress.extract().map(Some),
    }
}

fn float(name: &str) -> seqfeed::Result<Element> {
    match name {
        "float32" => Ok(Element::F32),
        "float64" => Ok(Element::F64),
        _ => Err(Error::usage(format!("floats cannot be written as {name}"))
            .with_help("dtype is float32 or float64")),
    }
}

/// Seconds in HTK's units of 100 ns.
fn period(seconds: f64) -> seqfeed::Result<i32> {
    let units = (seconds * 1e7).round();
    if (1.0..=f64::from(i32::MAX)).contains(&units) {
        return Ok(units as i32);
    }
    Err(Error::usage(format!("a frame cannot last {seconds} s"))
        .with_help("frame_period is in seconds, such as 0.01"))
}

/// Names of labels: a list of them, or a file with one a line.
fn state_names(names: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let Some(file) = keys::name_of(names)? else { return names.extract() };
    let opener = Opener::default();
    let read = opener.read_list(&opener.place(&file), LineLimit::of_lines);
    let text = String::from_utf8(errors::raise(read)?).map_err(std::io::Error::other);
    let text = text.map_err(|error| Error::io("reading", error).in_file(file.to_string()));
    Ok(errors::raise(text)?.lines().map(str::to_owned).collect())
}

/// Checked at once, not after all work is done.
fn check_directory(target: &Target) -> seqfeed::Result<()> {
    let beside = target.description_file();
    let directory = beside.as_deref().and_then(Path::parent).filter(|path| *path != Path::new(""));
    let found = directory.map(|directory| Opener::default().probe(&directory.into()));
    found.transpose().map(drop).map_err(|error| error.with_help("make the directory first"))
}

/// Warns about keys that were left out on request.
pub(crate) fn warn_not_written(py: Python<'_>, report: &ConvertReport) -> PyResult<()> {
    report.not_written.iter().try_for_each(|(stream, count)| {
        let what = "not written, as the script file has no name for their keys";
        errors::warn(py, &format!("stream {stream}: {count} sequences {what}"))
    })
}

/// A conversion that is allowed: losses are allowed or warned about. With a sample rate, floats are
/// sound.
pub(crate) fn plan(
    corpus: &Arc<Corpus>,
    mut options: ConvertOptions,
    sample_rate: Option<u32>,
) -> seqfeed::Result<ConvertPlan> {
    if let Some(rate) = sample_rate {
        options.sound_at(rate, corpus.streams())?;
    }
    let plan = ConvertPlan::new(corpus, options)?;
    plan.check_losses().map_err(|error| {
        let losses: Vec<String> = plan.losses().iter().map(ToString::to_string).collect();
        let what = Error::corpus(format!("{}: {}", error.message(), losses.join("; ")));
        what.with_help(error.help().unwrap_or_default().to_owned())
    })?;
    Ok(plan)
}

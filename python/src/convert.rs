//! `seqfeed.convert`.

use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};
use seqfeed::io::{InputFiles, Opener};
use seqfeed_convert::Sharding;

use crate::conversion::{self, Asked};
use crate::interrupt::{interruptible, stoppable};
use crate::{describe, errors, keys};

/// The options that are not keys of a description.
const OWN: &[&str] = &[
    "streams",
    "classes",
    "to",
    "dtype",
    "compress",
    "sample_rate",
    "protocol",
    "frame_period",
    "htk_kind",
    "state_names",
    "shards",
    "jobs",
    "anew",
    "verify",
    "describe",
    "allow_lossy",
    "allow_pipes",
];

/// Writes any corpus in any format that can hold it, as `seqfeed convert` does. Returns a report.
#[pyfunction]
#[pyo3(signature = (
    source, target, *, streams=None, classes=None, to=None, dtype=None, compress=None, sample_rate=None,
    protocol=None, frame_period=None, htk_kind=None, state_names=None, shards=1, jobs=1, anew=false, verify=false,
    describe=false, allow_lossy=false, overrides=None, allow_pipes=false, **options
))]
#[allow(clippy::too_many_arguments, clippy::fn_params_excessive_bools)]
pub(crate) fn convert<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    target: Bound<'py, PyAny>,
    streams: Option<Vec<String>>,
    classes: Option<Vec<String>>,
    to: Option<BTreeMap<String, Bound<'py, PyAny>>>,
    dtype: Option<String>,
    compress: Option<Bound<'py, PyAny>>,
    sample_rate: Option<u32>,
    protocol: Option<u8>,
    frame_period: Option<f64>,
    htk_kind: Option<String>,
    state_names: Option<Bound<'py, PyAny>>,
    shards: usize,
    jobs: usize,
    anew: bool,
    verify: bool,
    describe: bool,
    allow_lossy: bool,
    overrides: Option<Bound<'py, PyMapping>>,
    allow_pipes: bool,
    options: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let inputs = InputFiles::record();
    let given = describe::with_overrides(py, options, overrides)?;
    let named = keys::name_of(source)?;
    // As in `seqfeed.open`, the file of a table of Kaldi's may be named alone.
    let rspecifier = named.as_ref().and_then(describe::rspecifier_of);
    let source = match rspecifier {
        Some(rspecifier) => rspecifier.as_ref().into_pyobject(py)?.into_any(),
        None if named.is_none() && source.hasattr("keys")? => {
            py.get_type::<PyDict>().call1((source,))?
        }
        None => source.clone(),
    };
    let described = describe::describe_table(&source, &given, OWN)?;
    let own_states = state_names.is_none();
    let asked = Asked {
        target,
        to,
        dtype,
        compress,
        protocol,
        frame_period,
        htk_kind,
        state_names,
        describe,
        allow_lossy,
        allow_pipes,
    };
    let mut options = asked.options()?;
    options.inputs = inputs;
    options.streams = streams.unwrap_or_default();
    options.classes = classes.unwrap_or_default();
    options.sharding = Sharding { shards, jobs, anew };
    let warn = |warnings: &[String]| {
        warnings
            .iter()
            .try_for_each(|warning| errors::warn(py, &format!("{}: {warning}", described.name)))
    };
    warn(&described.warnings)?;
    let description = described.description.clone();
    if own_states {
        options.states = errors::raise(description.state_names(&Opener::default()))?;
    }
    let opener = Opener::allowing_pipes(allow_pipes);
    let opened = interruptible(py, move || description.open_exactly(&opener))?;
    let mut warnings = opened.warnings();
    warnings.extend(opened.report().dropped.iter().map(|group| format!("skipped {group}")));
    warn(&warnings)?;
    let corpus = Arc::clone(opened.corpus());
    let (plan, report) = stoppable(py, move |stop| {
        let plan = conversion::plan(&corpus, options, sample_rate)?;
        if verify {
            plan.check_verifiable()?;
        }
        let report = plan.run_until(stop, &|_samples| {})?;
        Ok((plan, report))
    })?;
    conversion::warn_not_written(py, &report)?;
    let text = serde_json::to_string(&report);
    let text = text.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    if verify {
        interruptible(py, move || plan.verify(&report))?;
    }
    let report = py.import("json")?.call_method1("loads", (text,))?;
    if verify {
        report.set_item("verified", true)?;
    }
    Ok(report)
}

//! The meanings of Kaldi's names: Kaldi's `ClassifyRxfilename` and the like.

use std::ffi::OsStr;

use pyo3::prelude::*;
use pyo3::types::PyString;
use seqfeed::io::{Location, RxFilename, WxFilename};
use seqfeed::kaldi::{Rspecifier, TableKind, Wspecifier};

use crate::{errors, keys, values};

/// The fields of `RxFilename` and `WxFilename`.
fn filename<'py>(
    py: Python<'py>,
    class: &str,
    kind: &str,
    location: &Location,
    offset: Option<u64>,
) -> PyResult<Bound<'py, PyAny>> {
    let name = (!location.is_standard()).then(|| location.as_os_str());
    let mut fields = vec![
        ("kind", kind.into_pyobject(py)?.into_any()),
        ("name", text(py, name)?.into_pyobject(py)?.into_any()),
    ];
    if class == "RxFilename" {
        fields.push(("offset", offset.into_pyobject(py)?.into_any()));
    }
    values::named(py, class, &fields)
}

/// The kind of a location. A URL counts as a file, as in Kaldi.
fn kind(location: &Location, standard: &'static str) -> &'static str {
    match (location.is_standard(), location.command()) {
        (true, _) => standard,
        (_, Some(_)) => "pipe",
        _ => "file",
    }
}

fn text<'py>(py: Python<'py>, name: Option<&OsStr>) -> PyResult<Option<Bound<'py, PyString>>> {
    name.map(|name| keys::to_python(py, name.as_encoded_bytes())).transpose()
}

#[pyfunction]
pub(crate) fn parse_rxfilename<'py>(
    py: Python<'py>,
    name: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let name = errors::raise(RxFilename::parse(&keys::needed_name(name)?))?;
    let (location, offset) = (name.location(), name.offset());
    let kind = if offset.is_some() { "offset" } else { kind(location, "standard-input") };
    filename(py, "RxFilename", kind, location, offset)
}

#[pyfunction]
pub(crate) fn parse_wxfilename<'py>(
    py: Python<'py>,
    name: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let name = errors::raise(WxFilename::parse(&keys::needed_name(name)?))?;
    let location = name.location();
    filename(py, "WxFilename", kind(location, "standard-output"), location, None)
}

#[pyfunction]
pub(crate) fn parse_rspecifier<'py>(
    py: Python<'py>,
    name: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let parsed = errors::raise(Rspecifier::parse(&keys::needed_name(name)?))?;
    let kind = match parsed.kind {
        TableKind::Archive => "ark",
        TableKind::Script => "scp",
    };
    let rxfilename = text(py, Some(OsStr::new(&parsed.rxfilename)))?;
    let mut fields = vec![
        ("kind", kind.into_pyobject(py)?.into_any()),
        ("rxfilename", rxfilename.into_pyobject(py)?.into_any()),
    ];
    for (name, set) in [
        ("once", parsed.once),
        ("permissive", parsed.permissive),
        ("sorted", parsed.sorted),
        ("called_sorted", parsed.called_sorted),
        ("background", parsed.background),
    ] {
        fields.push((name, set.into_pyobject(py)?.to_owned().into_any()));
    }
    values::named(py, "Rspecifier", &fields)
}

#[pyfunction]
pub(crate) fn parse_wspecifier<'py>(
    py: Python<'py>,
    name: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let parsed = errors::raise(Wspecifier::parse(&keys::needed_name(name)?))?;
    let mut fields = Vec::new();
    for (name, file) in [("archive", &parsed.archive), ("script", &parsed.script)] {
        let file = file.as_ref().map(OsStr::new);
        fields.push((name, text(py, file)?.into_pyobject(py)?.into_any()));
    }
    for (name, set) in
        [("text", parsed.text), ("flush", parsed.flush), ("permissive", parsed.permissive)]
    {
        fields.push((name, set.into_pyobject(py)?.to_owned().into_any()));
    }
    values::named(py, "Wspecifier", &fields)
}

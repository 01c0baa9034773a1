//! What Kaldi's names mean: Kaldi's `ClassifyRxfilename` and the like.

use std::ffi::OsStr;

use pyo3::prelude::*;
use pyo3::types::PyString;
use seqfeed::io::{RxFilename, WxFilename};
use seqfeed::kaldi::{Rspecifier, TableKind, Wspecifier};

use crate::{errors, keys, values};

/// The fields of `RxFilename` and `WxFilename`.
fn filename<'py>(
    py: Python<'py>,
    class: &str,
    kind: &str,
    name: Option<&OsStr>,
    offset: Option<u64>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut fields = vec![
        ("kind", kind.into_pyobject(py)?.into_any()),
        ("name", text(py, name)?.into_pyobject(py)?.into_any()),
    ];
    if class == "RxFilename" {
        fields.push(("offset", offset.into_pyobject(py)?.into_any()));
    }
    values::named(py, class, &fields)
}

fn text<'py>(py: Python<'py>, name: Option<&OsStr>) -> PyResult<Option<Bound<'py, PyString>>> {
    name.map(|name| keys::to_python(py, name.as_encoded_bytes())).transpose()
}

#[pyfunction]
pub(crate) fn parse_rxfilename<'py>(
    py: Python<'py>,
    name: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let (kind, name, offset) = match &errors::raise(RxFilename::parse(&keys::needed_name(name)?))? {
        RxFilename::Stdin => return filename(py, "RxFilename", "standard-input", None, None),
        RxFilename::Pipe(command) => ("pipe", OsStr::new(command).to_owned(), None),
        RxFilename::File(path) => ("file", path.clone().into_os_string(), None),
        RxFilename::Offset(path, offset) => ("offset", path.clone().into(), Some(*offset)),
    };
    filename(py, "RxFilename", kind, Some(&name), offset)
}

#[pyfunction]
pub(crate) fn parse_wxfilename<'py>(
    py: Python<'py>,
    name: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let (kind, name) = match &errors::raise(WxFilename::parse(&keys::needed_name(name)?))? {
        WxFilename::Stdout => return filename(py, "WxFilename", "standard-output", None, None),
        WxFilename::Pipe(command) => ("pipe", OsStr::new(command).to_owned()),
        WxFilename::File(path) => ("file", path.clone().into_os_string()),
    };
    filename(py, "WxFilename", kind, Some(&name), None)
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

//! Keys are bytes; in Python they are text, whatever the bytes are.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::errors;

/// Bytes as text; what is no UTF-8 becomes surrogates, as in Python's names of files.
pub(crate) fn to_python<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyString>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(PyString::new(py, text)),
        Err(_) => Ok(PyBytes::new(py, bytes)
            .call_method1("decode", ("utf-8", "surrogateescape"))?
            .cast_into::<PyString>()?),
    }
}

/// Text (or bytes) as the bytes of a key.
pub(crate) fn from_python(key: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(text) = key.cast::<PyString>() {
        return match text.to_str() {
            Ok(text) => Ok(text.as_bytes().to_vec()),
            Err(_) => Ok(text
                .call_method1("encode", ("utf-8", "surrogateescape"))?
                .cast_into::<PyBytes>()?
                .as_bytes()
                .to_vec()),
        };
    }
    match key.cast::<PyBytes>() {
        Ok(bytes) => Ok(bytes.as_bytes().to_vec()),
        Err(_) => Err(errors::wrong_type("a key (str or bytes)", key)),
    }
}

/// A name that is text or a path.
pub(crate) fn name_of(name: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if let Ok(text) = name.cast::<PyString>() {
        return utf8(text).map(Some);
    }
    if name.hasattr("__fspath__")? {
        let path = name.py().import("os")?.call_method1("fspath", (name,))?;
        return utf8(path.cast::<PyString>()?).map(Some);
    }
    Ok(None)
}

/// A name of files, which are UTF-8 here.
fn utf8(name: &Bound<'_, PyString>) -> PyResult<String> {
    match name.to_str() {
        Ok(name) => Ok(name.to_owned()),
        Err(_) => Err(PyValueError::new_err(format!(
            "the name {} is no UTF-8: rename the file, or make a link to it",
            name.repr()?
        ))),
    }
}

//! Keys and names are bytes. In Python they are text, whatever the bytes.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use seqfeed::io::{name_to_text, shown_name};

use crate::errors;

/// Bytes as text. As in Python's file names, bytes that are not UTF-8 become surrogates.
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

/// The name of a file, a command or a table: bytes, as in the file system. In Python they are text
/// by `os.fsdecode`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Name(OsString);

impl Name {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// The name with a prefix: the kind and the options of a table.
    pub(crate) fn behind(&self, words: &str) -> Self {
        let mut name = OsString::from(words);
        name.push(&self.0);
        Self(name)
    }

    /// The text for descriptions.
    pub(crate) fn in_description(&self) -> String {
        name_to_text(&self.0)
    }
}

impl From<OsString> for Name {
    fn from(name: OsString) -> Self {
        Self(name)
    }
}

impl From<&str> for Name {
    fn from(name: &str) -> Self {
        Self(name.into())
    }
}

impl AsRef<OsStr> for Name {
    fn as_ref(&self) -> &OsStr {
        &self.0
    }
}

/// For messages.
impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown_name(&self.0))
    }
}

/// A name that is text or a path, or none.
pub(crate) fn name_of(name: &Bound<'_, PyAny>) -> PyResult<Option<Name>> {
    if name.is_instance_of::<PyString>() {
        return Ok(Some(Name(name.extract()?)));
    }
    if !name.hasattr("__fspath__")? {
        return Ok(None);
    }
    let path = name.py().import("os")?.call_method1("fspath", (name,))?;
    Ok(Some(Name(match path.cast::<PyBytes>() {
        Ok(bytes) => OsStr::from_bytes(bytes.as_bytes()).to_owned(),
        Err(_) => path.extract()?,
    })))
}

/// A name that must be given.
pub(crate) fn needed_name(name: &Bound<'_, PyAny>) -> PyResult<Name> {
    name_of(name)?.ok_or_else(|| errors::wrong_type("a name (str) or a path", name))
}

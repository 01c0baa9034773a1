//! Python's file-like objects as streams of bytes.

use std::io::{self, Read};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyString};
use seqfeed::io::Input;
use seqfeed::kaldi::ObjectReader;

use crate::keys;

/// An object with a method `read` that returns bytes.
struct PythonReader(Py<PyAny>);

impl Read for PythonReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let found = self.0.bind(py).call_method1("read", (buffer.len(),))?;
            if let Ok(bytes) = found.cast::<PyBytes>() {
                return copy(bytes.as_bytes(), buffer);
            }
            if let Ok(bytes) = found.cast::<PyByteArray>() {
                return copy(&bytes.to_vec(), buffer);
            }
            if found.is_none() {
                return Err(io::Error::other("the file is not ready (read() gave None)"));
            }
            let what = match found.is_instance_of::<PyString>() {
                true => "text: open it in binary mode, \"rb\"",
                false => "no bytes",
            };
            Err(io::Error::other(format!("read() gave {what}")))
        })
    }
}

fn copy(bytes: &[u8], buffer: &mut [u8]) -> io::Result<usize> {
    match buffer.get_mut(..bytes.len()) {
        Some(part) => {
            part.copy_from_slice(bytes);
            Ok(bytes.len())
        }
        None => Err(io::Error::other("read() gave more bytes than it was asked for")),
    }
}

/// A file-like object as a stream. Call it detached: it reads at once.
pub(crate) fn input(file: Py<PyAny>, name: String) -> Input {
    Input::from_reader(name, PythonReader(file))
}

/// A reader of objects from a file-like object. Call it detached.
pub(crate) fn object_reader(file: Py<PyAny>, name: String) -> ObjectReader {
    ObjectReader::new(input(file, name))
}

/// The name of a file-like object in messages.
pub(crate) fn name_of(file: &Bound<'_, PyAny>) -> String {
    let name = file.getattr("name").ok().and_then(|name| keys::name_of(&name).ok().flatten());
    name.map_or_else(|| "file object".to_owned(), |name| name.to_string())
}

/// Writes bytes to a file-like object.
pub(crate) fn write(file: &Bound<'_, PyAny>, bytes: &[u8]) -> PyResult<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        // Raw files may write less than they are given, and return the number.
        let written = file.call_method1("write", (PyBytes::new(file.py(), rest),))?;
        let written = if written.is_none() { rest.len() } else { written.extract::<usize>()? };
        if written == 0 || written > rest.len() {
            return Err(PyValueError::new_err("write() of the file object takes nothing"));
        }
        rest = &rest[written..];
    }
    Ok(())
}

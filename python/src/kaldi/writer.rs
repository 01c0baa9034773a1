//! `seqfeed.kaldi.Writer`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyAnyMethods, PyTuple};
use seqfeed::io::Opener;
use seqfeed::kaldi::{CompressionMethod, Mode, TableWriter, Wspecifier, check_key, write_object};
use seqfeed_core::Key;

use crate::describe::is_table;
use crate::forks::{PerProcess, lock};
use crate::kaldi::file_like;
use crate::kaldi::object_writer::{Encoded, Encoding};
use crate::keys::Name;
use crate::{errors, keys};

/// Writes a table.
#[pyclass(frozen, module = "seqfeed.kaldi", weakref)]
pub(crate) struct Writer {
    name: Name,
    encoding: Encoding,
    mode: Mode,
    /// None when it is closed.
    table: PerProcess<Option<Sink>>,
}

enum Sink {
    Table(Box<TableWriter<Encoded>>),
    /// A file-like object with a method `write` for bytes.
    File(Py<PyAny>),
}

/// A compression method by its name or number.
fn compression(method: Option<&Bound<'_, PyAny>>) -> PyResult<Option<CompressionMethod>> {
    let Some(method) = method else { return Ok(None) };
    if let Ok(number) = method.extract::<i32>() {
        return errors::raise(CompressionMethod::try_from(number)).map(Some);
    }
    const NAMES: [(&str, CompressionMethod); 7] = [
        ("auto", CompressionMethod::Auto),
        ("speech", CompressionMethod::Speech),
        ("two-byte-auto", CompressionMethod::TwoByteAuto),
        ("two-byte-signed-integer", CompressionMethod::TwoByteSignedInteger),
        ("one-byte-auto", CompressionMethod::OneByteAuto),
        ("one-byte-unsigned-integer", CompressionMethod::OneByteUnsignedInteger),
        ("one-byte-zero-one", CompressionMethod::OneByteZeroOne),
    ];
    let name: String = method.extract()?;
    match NAMES.iter().find(|(known, _)| *known == name) {
        Some((_, method)) => Ok(Some(*method)),
        None => {
            let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            Err(PyValueError::new_err(format!(
                "there is no compression `{name}`: the methods are {}",
                names.join(", ")
            )))
        }
    }
}

/// The encoding for the keywords of a call.
pub(crate) fn encoding(
    object_type: Option<&Bound<'_, PyAny>>,
    method: Option<&Bound<'_, PyAny>>,
) -> PyResult<Encoding> {
    Encoding::of(object_type, compression(method)?)
}

/// Flushes a file object, if it has `flush`.
fn flush(file: &Bound<'_, PyAny>) -> PyResult<()> {
    match file.hasattr("flush")? {
        true => file.call_method0("flush").map(drop),
        false => Ok(()),
    }
}

impl Writer {
    fn table(&self) -> PyResult<Arc<Mutex<Option<Sink>>>> {
        self.table.get().ok_or_else(|| {
            PyValueError::new_err("a writer cannot be used in a forked process: open one there")
        })
    }
}

#[pymethods]
impl Writer {
    #[new]
    #[pyo3(signature = (
        target, *, object_type=None, compression=None, text=false, in_place=false, allow_pipes=false
    ))]
    fn new(
        py: Python<'_>,
        target: Bound<'_, PyAny>,
        object_type: Option<Bound<'_, PyAny>>,
        compression: Option<Bound<'_, PyAny>>,
        text: bool,
        in_place: bool,
        allow_pipes: bool,
    ) -> PyResult<Self> {
        let encoding = encoding(object_type.as_ref(), compression.as_ref())?;
        let (name, mode, sink) = match keys::name_of(&target)? {
            Some(name) => {
                let wspecifier = wspecifier_of(&name, text);
                let opener = Opener::allowing_pipes(allow_pipes);
                let table = errors::raise(py.detach(|| match in_place {
                    true => TableWriter::create_in_place(&wspecifier, &opener),
                    false => TableWriter::create(&wspecifier, &opener),
                }))?;
                let text = errors::raise(Wspecifier::parse(&wspecifier))?.text;
                let mode = if text { Mode::Text } else { Mode::Binary };
                (wspecifier, mode, Sink::Table(Box::new(table)))
            }
            None if target.hasattr("write")? => {
                let mode = if text { Mode::Text } else { Mode::Binary };
                let name = Name::from(file_like::name_of(&target).as_str());
                (name, mode, Sink::File(target.unbind()))
            }
            None => {
                return Err(errors::wrong_type("a wspecifier, a path or a file object", &target));
            }
        };
        Ok(Self { name, encoding, mode, table: PerProcess::new(Some(sink)) })
    }

    /// Writes the value of a key.
    fn write(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (key, table) = (keys::from_python(key)?, self.table()?);
        let object = self.encoding.whole(value, self.mode)?;
        let closed = || PyValueError::new_err("the writer is closed");
        // The bytes for a file object. It is written to while the interpreter is held, and the lock
        // is not.
        let given = py.detach(|| match &mut *lock(&table) {
            None => None,
            Some(Sink::Table(table)) => Some(table.write(Key(&key), &object).map(|()| None)),
            Some(Sink::File(_)) => {
                let mut bytes = [&key[..], b" "].concat();
                let written = check_key(Key(&key))
                    .and_then(|()| write_object(&object, &mut bytes, self.mode))
                    .map_err(|error| error.of_key(Key(&key)));
                Some(written.map(|()| Some(bytes)))
            }
        });
        if let Some(bytes) = errors::raise(given.ok_or_else(closed)?)? {
            let file = match &*lock(&table) {
                Some(Sink::File(file)) => file.clone_ref(py),
                _ => return Err(closed()),
            };
            file_like::write(file.bind(py), &bytes)?;
        }
        Ok(())
    }

    fn __setitem__(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.write(py, key, value)
    }

    /// The name of the table.
    #[getter]
    fn name(&self) -> &OsStr {
        self.name.as_ref()
    }

    /// Passes the written bytes on. Pipes, file objects, and the files of a table that is written
    /// in place have them then. Other files appear when the table is closed.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let table = self.table()?;
        let file = py.detach(|| match &mut *lock(&table) {
            None => Err(None),
            Some(Sink::Table(table)) => table.flush().map(|()| None).map_err(Some),
            Some(Sink::File(file)) => Ok(Some(Python::attach(|py| file.clone_ref(py)))),
        });
        match file {
            Ok(None) => Ok(()),
            Ok(Some(file)) => flush(file.bind(py)),
            Err(Some(error)) => Err(errors::to_python(&error)),
            Err(None) => Err(PyValueError::new_err("the writer is closed")),
        }
    }

    /// Ends the table: its files appear under their names now. A file object is flushed, and stays
    /// open.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let table = self.table()?;
        match py.detach(|| lock(&table).take()) {
            None => Ok(()),
            Some(Sink::Table(table)) => errors::raise(py.detach(|| table.close())).map(drop),
            Some(Sink::File(file)) => flush(file.bind(py)),
        }
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Closes the table. After an exception, no file appears (a table that is written in place
    /// keeps its entries).
    #[pyo3(signature = (*exception))]
    fn __exit__(&self, py: Python<'_>, exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        if exception.get_item(0).is_ok_and(|kind| !kind.is_none()) {
            let table = self.table()?;
            let dropped = py.detach(|| lock(&table).take());
            drop(dropped);
            return Ok(());
        }
        self.close(py)
    }

    fn __repr__(&self) -> String {
        format!("<seqfeed.kaldi.Writer {}>", self.name)
    }
}

/// The wspecifier for a name. A path alone is an archive.
fn wspecifier_of(name: &Name, text: bool) -> Name {
    match (is_table(name), text) {
        (false, false) => name.behind("ark:"),
        (false, true) => name.behind("ark,t:"),
        (true, false) => name.clone(),
        (true, true) => {
            let bytes = name.bytes();
            let colon = bytes.iter().position(|&byte| byte == b':').unwrap_or(0);
            let parts = [&bytes[..colon], b",t", &bytes[colon..]].concat();
            Name::from(OsString::from_vec(parts))
        }
    }
}

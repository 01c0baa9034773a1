//! `seqfeed.kaldi.ObjectWriter`: tokens, basic values and objects, one after another.

use std::io::Write as _;
use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyAnyMethods, PyByteArray, PyTuple};
use seqfeed::io::{Opener, Output, WxFilename};
use seqfeed::kaldi::{Mode, write_token};

use crate::forks::lock;
use crate::kaldi::from_python::{Conversion, Encoding};
use crate::kaldi::own::OwnType;
use crate::kaldi::types::{Basic, write_basic};
use crate::kaldi::writer::write_to;
use crate::keys::Name;
use crate::{errors, keys};

/// Writes what one stream holds behind one header.
#[pyclass(frozen, module = "seqfeed.kaldi", name = "ObjectWriter")]
pub(crate) struct PyObjectWriter {
    mode: Mode,
    target: Target,
    /// What was written; none when it is closed.
    bytes: Mutex<Option<Vec<u8>>>,
}

enum Target {
    /// A table, or another object.
    Lent,
    Name(Name, Opener),
    File(Py<PyAny>),
}

impl PyObjectWriter {
    fn with<R: Send>(
        &self,
        py: Python<'_>,
        write: impl FnOnce(&mut Vec<u8>, Mode) -> seqfeed::Result<R> + Send,
    ) -> PyResult<R> {
        let mode = self.mode;
        let done = py.detach(|| lock(&self.bytes).as_mut().map(|bytes| write(bytes, mode)));
        errors::raise(done.ok_or_else(|| PyValueError::new_err("the writer is closed"))?)
    }
}

/// An object of an own type as its class writes it, without a header.
pub(crate) fn own_bytes(own: &OwnType, value: &Bound<'_, PyAny>, mode: Mode) -> PyResult<Vec<u8>> {
    let py = value.py();
    let bytes = Mutex::new(Some(Vec::new()));
    let writer = Bound::new(py, PyObjectWriter { mode, target: Target::Lent, bytes })?;
    own.class().bind(py).call_method1("write", (value, &writer))?;
    let writer = writer.get();
    let written = py.detach(|| lock(&writer.bytes).take());
    Ok(written.unwrap_or_default())
}

#[pymethods]
impl PyObjectWriter {
    #[new]
    #[pyo3(signature = (target, *, text=false, allow_pipes=false))]
    fn new(target: &Bound<'_, PyAny>, text: bool, allow_pipes: bool) -> PyResult<Self> {
        let target = match keys::name_of(target)? {
            Some(name) => {
                // What is no name is better known before the work.
                errors::raise(WxFilename::parse(&name))?;
                Target::Name(name, Opener::allowing_pipes(allow_pipes))
            }
            None if target.hasattr("write")? => Target::File(target.clone().unbind()),
            None => {
                return Err(errors::wrong_type("a wxfilename, a path or a file object", target));
            }
        };
        let (mode, header) = match text {
            true => (Mode::Text, Vec::new()),
            false => (Mode::Binary, b"\0B".to_vec()),
        };
        Ok(Self { mode, target, bytes: Mutex::new(Some(header)) })
    }

    /// Whether what is written is in binary form.
    #[getter]
    fn binary(&self) -> bool {
        self.mode == Mode::Binary
    }

    /// Writes a token, such as `<Nnet3>`, and a blank.
    fn write_token(&self, py: Python<'_>, token: &Bound<'_, PyAny>) -> PyResult<()> {
        let token = keys::from_python(token)?;
        self.with(py, |bytes, _| write_token(&token, bytes))
    }

    /// Writes a value of a basic type: `int8` to `int64`, `uint8` to `uint64`, `float`,
    /// `double` or `bool`.
    fn write_basic(&self, py: Python<'_>, value: &Bound<'_, PyAny>, kind: &str) -> PyResult<()> {
        let basic: Basic = errors::raise(kind.parse())?;
        let object = Conversion { object_type: Some(basic.object_type()), compression: None };
        let object = object.object(value)?;
        self.with(py, |bytes, mode| {
            write_basic(&object, bytes, mode);
            Ok(())
        })
    }

    /// Writes an object without a header of its own; of which type, as `Writer` finds out.
    #[pyo3(signature = (value, object_type=None))]
    fn write_object(
        &self,
        py: Python<'_>,
        value: &Bound<'_, PyAny>,
        object_type: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let inside = Encoding::of(object_type, None)?.inside(value, self.mode)?;
        self.with(py, |bytes, _| {
            bytes.extend_from_slice(&inside);
            Ok(())
        })
    }

    /// Writes bytes, or text in UTF-8.
    fn write(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<usize> {
        let data = match data.cast::<PyByteArray>() {
            Ok(bytes) => bytes.to_vec(),
            Err(_) => keys::from_python(data)?,
        };
        self.with(py, |bytes, _| {
            bytes.extend_from_slice(&data);
            Ok(data.len())
        })
    }

    /// Ends writing: the file appears under its name now. A file object stays open.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if matches!(self.target, Target::Lent) {
            return Ok(());
        }
        let Some(bytes) = py.detach(|| lock(&self.bytes).take()) else { return Ok(()) };
        match &self.target {
            Target::Lent => Ok(()),
            Target::File(file) => write_to(file.bind(py), &bytes),
            Target::Name(name, opener) => errors::raise(py.detach(|| {
                let mut output = Output::create(&WxFilename::parse(name)?, opener)?;
                output.write_all(&bytes).map_err(|error| output.error(error))?;
                output.finish().map(drop)
            })),
        }
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Closes it; after an exception, nothing appears.
    #[pyo3(signature = (*exception))]
    fn __exit__(&self, py: Python<'_>, exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        if exception.get_item(0).is_ok_and(|kind| !kind.is_none()) {
            py.detach(|| lock(&self.bytes).take());
            return Ok(());
        }
        self.close(py)
    }
}

//! `seqfeed.kaldi.ObjectReader`: reads tokens, basic values and objects, one after another.

use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};
use seqfeed::io::{Opener, RxFilename};
use seqfeed::kaldi::{Mode, ObjectReader};

use crate::forks::lock;
use crate::kaldi::Wanted;
use crate::kaldi::basic::Basic;
use crate::kaldi::file_like;
use crate::kaldi::to_python::value_to_python;
use crate::{errors, keys};

/// Reads the contents of one stream behind one header.
#[pyclass(frozen, module = "seqfeed.kaldi", name = "ObjectReader")]
pub(crate) struct PyObjectReader {
    name: String,
    mode: Mode,
    /// Whether the stream belongs to a table, which will take it back.
    is_lent: bool,
    /// None when it is closed.
    reader: Mutex<Option<ObjectReader>>,
}

impl PyObjectReader {
    /// The stream of a table, at the beginning of an object.
    pub(crate) fn lent(reader: ObjectReader, mode: Mode) -> Self {
        let name = reader.name().to_owned();
        Self { name, mode, is_lent: true, reader: Mutex::new(Some(reader)) }
    }

    /// The stream that was lent.
    pub(crate) fn give_back(&self) -> ObjectReader {
        let reader = lock(&self.reader).take();
        reader.unwrap_or_else(|| ObjectReader::from_bytes("closed", Vec::new()))
    }

    fn with<R: Send>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&mut ObjectReader, Mode) -> seqfeed::Result<R> + Send,
    ) -> PyResult<R> {
        let mode = self.mode;
        let done = py.detach(|| lock(&self.reader).as_mut().map(|reader| read(reader, mode)));
        errors::raise(done.ok_or_else(|| PyValueError::new_err("the reader is closed"))?)
    }
}

/// Reads `size` bytes, or all of them.
fn read_bytes(reader: &mut ObjectReader, size: Option<usize>) -> seqfeed::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while size.is_none_or(|size| bytes.len() < size) {
        let there = reader.fill()?;
        let wanted = size.map_or(there.len(), |size| there.len().min(size - bytes.len()));
        if wanted == 0 {
            break;
        }
        bytes.extend_from_slice(&there[..wanted]);
        reader.consume(wanted);
    }
    Ok(bytes)
}

#[pymethods]
impl PyObjectReader {
    #[new]
    #[pyo3(signature = (source, *, allow_pipes=false))]
    fn new(py: Python<'_>, source: Bound<'_, PyAny>, allow_pipes: bool) -> PyResult<Self> {
        let opener = Opener::allowing_pipes(allow_pipes);
        let opened = if let Some(name) = keys::name_of(&source)? {
            py.detach(|| ObjectReader::open(&RxFilename::parse(&name)?, &opener))
        } else if let Ok(bytes) = source.cast::<PyBytes>() {
            Ok(ObjectReader::from_bytes("bytes", bytes.as_bytes()))
        } else if source.hasattr("read")? {
            let (name, file) = (file_like::name_of(&source), source.unbind());
            Ok(py.detach(|| file_like::object_reader(file, name)))
        } else {
            let expected = "an rxfilename, a path, bytes or a file object";
            return Err(errors::wrong_type(expected, &source));
        };
        let mut reader = errors::raise(opened)?;
        let mode = errors::raise(py.detach(|| reader.read_header()))?;
        let name = reader.name().to_owned();
        Ok(Self { name, mode, is_lent: false, reader: Mutex::new(Some(reader)) })
    }

    /// Whether the stream is in binary form.
    #[getter]
    fn binary(&self) -> bool {
        self.mode == Mode::Binary
    }

    /// The name of the stream.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The position of the next byte; in a compressed file, of the decompressed bytes.
    #[getter]
    fn position(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |reader, _| Ok(reader.position()))
    }

    /// Whether nothing is left. White space at the end of text does not count.
    fn at_end(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, ObjectReader::at_end)
    }

    /// The next token, such as `<Nnet3>`. The blank after it is consumed.
    fn read_token<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        keys::to_python(py, &self.with(py, ObjectReader::read_token)?)
    }

    /// Reads a token that must be the given one.
    fn expect_token(&self, py: Python<'_>, token: &str) -> PyResult<()> {
        self.with(py, |reader, mode| reader.expect_token(token, mode))
    }

    /// The first character of the next token, without its `<`. Nothing is consumed. None at the
    /// end.
    fn peek_token<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyString>>> {
        let byte = self.with(py, ObjectReader::peek_token)?;
        byte.map(|byte| keys::to_python(py, &[byte])).transpose()
    }

    /// A value of a basic type: `int8` to `int64`, `uint8` to `uint64`, `float`,
    /// `double` or `bool`.
    fn read_basic<'py>(&self, py: Python<'py>, kind: &str) -> PyResult<Bound<'py, PyAny>> {
        let basic: Basic = errors::raise(kind.parse())?;
        value_to_python(py, self.with(py, |reader, mode| basic.read(reader, mode))?)
    }

    /// An object of a type, without a header of its own.
    fn read_object<'py>(
        &self,
        py: Python<'py>,
        object_type: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let wanted = Wanted::of(object_type)?;
        value_to_python(py, self.with(py, |reader, mode| wanted.read_inside(reader, mode))?)
    }

    /// At most this many bytes, or all.
    #[pyo3(signature = (size=None, /))]
    fn read<'py>(&self, py: Python<'py>, size: Option<isize>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self
            .with(py, |reader, _| read_bytes(reader, size.and_then(|size| size.try_into().ok())))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The next line with its end; empty at the end.
    fn readline<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let line = self.with(py, |reader, _| {
            let mut line = Vec::new();
            loop {
                let there = reader.fill()?;
                let end = there.iter().position(|&byte| byte == b'\n').map(|end| end + 1);
                let count = end.unwrap_or(there.len());
                line.extend_from_slice(&there[..count]);
                reader.consume(count);
                if end.is_some() || count == 0 {
                    return Ok(line);
                }
            }
        })?;
        Ok(PyBytes::new(py, &line))
    }

    /// Ends reading. A failed command is an error here.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if self.is_lent {
            return Ok(());
        }
        errors::raise(py.detach(|| match lock(&self.reader).take() {
            Some(reader) => reader.finish(),
            None => Ok(()),
        }))
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*exception))]
    fn __exit__(&self, py: Python<'_>, exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        let closed = self.close(py);
        // The first error is the one to report.
        if exception.get_item(0).is_ok_and(|kind| !kind.is_none()) { Ok(()) } else { closed }
    }

    fn __repr__(&self) -> String {
        format!("<seqfeed.kaldi.ObjectReader {}>", self.name)
    }
}

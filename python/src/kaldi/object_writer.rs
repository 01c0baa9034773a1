//! `seqfeed.kaldi.ObjectWriter`: writes tokens, basic values and objects, one after another.

use std::io::Write as _;
use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyAnyMethods, PyByteArray, PyString, PyTuple};
use seqfeed::io::{Opener, Output, WxFilename};
use seqfeed::kaldi::{
    AnyObject, CompressionMethod, Holder, Mode, ObjectReader, write_object, write_token,
};

use crate::forks::lock;
use crate::kaldi::basic::{Basic, write_basic};
use crate::kaldi::file_like;
use crate::kaldi::from_python::Conversion;
use crate::kaldi::own::OwnType;
use crate::keys::Name;
use crate::{errors, keys};

/// Writes the contents of one stream behind one header.
#[pyclass(frozen, module = "seqfeed.kaldi", name = "ObjectWriter")]
pub(crate) struct PyObjectWriter {
    mode: Mode,
    target: Target,
    /// The bytes so far; None when it is closed.
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

/// An object of an own type, as written by its class, without a header.
fn own_bytes(own: &OwnType, value: &Bound<'_, PyAny>, mode: Mode) -> PyResult<Vec<u8>> {
    let py = value.py();
    let bytes = Mutex::new(Some(Vec::new()));
    let writer = Bound::new(py, PyObjectWriter { mode, target: Target::Lent, bytes })?;
    own.class().bind(py).call_method1("write", (value, &writer))?;
    let writer = writer.get();
    let written = py.detach(|| lock(&writer.bytes).take());
    Ok(written.unwrap_or_default())
}

/// Encodes values of any type: those of Kaldi's types, and those whose class writes them.
pub(crate) struct Encoding {
    conversion: Conversion,
    own: Option<OwnType>,
}

/// An encoded value.
pub(crate) enum Encoded {
    Object(AnyObject),
    /// With its header.
    Bytes(Vec<u8>),
}

impl Encoding {
    /// From the arguments `object_type` and `compression`.
    pub(crate) fn of(
        object_type: Option<&Bound<'_, PyAny>>,
        compression: Option<CompressionMethod>,
    ) -> PyResult<Self> {
        let (object_type, own) = match object_type.map(|given| (given, given.cast::<PyString>())) {
            None => (None, None),
            Some((_, Ok(name))) => (Some(errors::raise(name.to_str()?.parse())?), None),
            Some((class, Err(_))) => (None, Some(OwnType::of(class)?)),
        };
        Ok(Self { conversion: Conversion { object_type, compression }, own })
    }

    /// A value in the form after a key, or alone in a file.
    pub(crate) fn whole(&self, value: &Bound<'_, PyAny>, mode: Mode) -> PyResult<Encoded> {
        let Some(own) = self.own_of(value)? else {
            return self.conversion.object(value).map(Encoded::Object);
        };
        let mut bytes = match own.header && mode == Mode::Binary {
            true => b"\0B".to_vec(),
            false => Vec::new(),
        };
        bytes.extend_from_slice(&own_bytes(&own, value, mode)?);
        Ok(Encoded::Bytes(bytes))
    }

    /// A value in the form inside another object.
    pub(crate) fn inside(&self, value: &Bound<'_, PyAny>, mode: Mode) -> PyResult<Vec<u8>> {
        if let Some(own) = self.own_of(value)? {
            return own_bytes(&own, value, mode);
        }
        let (object, mut bytes) = (self.conversion.object(value)?, Vec::new());
        errors::raise(object.write_inside(&mut bytes, mode))?;
        Ok(bytes)
    }

    /// The own type of a value: the given one, or its class if the class can write.
    fn own_of(&self, value: &Bound<'_, PyAny>) -> PyResult<Option<OwnType>> {
        if let Some(own) = &self.own {
            return Ok(Some(own.clone()));
        }
        let class = value.get_type();
        match self.conversion.object_type.is_none() && class.hasattr("write")? {
            true => OwnType::of(class.as_any()).map(Some),
            false => Ok(None),
        }
    }
}

impl Holder for Encoded {
    const TYPE: &'static str = "object";
    const HEADER: bool = false;

    fn read(_reader: &mut ObjectReader, _mode: Mode) -> seqfeed::Result<Self> {
        Err(seqfeed::Error::usage("what was made of Python's values is only written"))
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> seqfeed::Result<()> {
        match self {
            Self::Object(object) => write_object(object, out, mode),
            Self::Bytes(bytes) => {
                out.extend_from_slice(bytes);
                Ok(())
            }
        }
    }
}

#[pymethods]
impl PyObjectWriter {
    #[new]
    #[pyo3(signature = (target, *, text=false, allow_pipes=false))]
    fn new(target: &Bound<'_, PyAny>, text: bool, allow_pipes: bool) -> PyResult<Self> {
        let target = match keys::name_of(target)? {
            Some(name) => {
                // An invalid name should be known before the work.
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

    /// Whether the stream is in binary form.
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

    /// Writes an object without a header of its own. Its type is found as by `Writer`.
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
            Target::File(file) => file_like::write(file.bind(py), &bytes),
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

    /// Closes it. After an exception, no file appears.
    #[pyo3(signature = (*exception))]
    fn __exit__(&self, py: Python<'_>, exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        if exception.get_item(0).is_ok_and(|kind| !kind.is_none()) {
            py.detach(|| lock(&self.bytes).take());
            return Ok(());
        }
        self.close(py)
    }
}

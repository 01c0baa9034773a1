//! Single objects in files of their own.

use std::io::Write as _;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use seqfeed::io::{Output, Policy, RxFilename, WxFilename};
use seqfeed::kaldi::{Mode, ObjectReader, ObjectType, write_object};

use crate::kaldi::file_like;
use crate::kaldi::to_python::object_to_python;
use crate::kaldi::types::read_one;
use crate::kaldi::writer::{conversion, write_to};
use crate::{errors, keys};

/// Reads one object from an rxfilename, a path, bytes or a file object.
#[pyfunction]
#[pyo3(signature = (source, *, object_type=None, allow_pipes=false))]
pub(crate) fn load<'py>(
    py: Python<'py>,
    source: Bound<'py, PyAny>,
    object_type: Option<&str>,
    allow_pipes: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let object_type: Option<ObjectType> = errors::raise(object_type.map(str::parse).transpose())?;
    let policy = Policy { pipes: allow_pipes };
    let read = if let Some(name) = keys::name_of(&source)? {
        py.detach(|| {
            let mut reader = ObjectReader::open(&RxFilename::parse(&name)?, &policy)?;
            read_one(&mut reader, object_type)
        })
    } else if let Ok(bytes) = source.cast::<PyBytes>() {
        let bytes = bytes.as_bytes().to_vec();
        py.detach(|| read_one(&mut ObjectReader::from_bytes("bytes", bytes), object_type))
    } else if source.hasattr("read")? {
        let (name, file) = (file_like::name_of(&source), source.unbind());
        py.detach(|| read_one(&mut file_like::object_reader(file, name), object_type))
    } else {
        return Err(errors::wrong_type("an rxfilename, a path, bytes or a file object", &source));
    };
    object_to_python(py, errors::raise(read)?)
}

/// Writes one object to a wxfilename, a path or a file object.
#[pyfunction]
#[pyo3(signature = (target, value, *, object_type=None, compression=None, text=false, allow_pipes=false))]
pub(crate) fn save(
    py: Python<'_>,
    target: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
    object_type: Option<&str>,
    compression: Option<Bound<'_, PyAny>>,
    text: bool,
    allow_pipes: bool,
) -> PyResult<()> {
    let object = conversion(object_type, compression.as_ref())?.object(value)?;
    let mode = if text { Mode::Text } else { Mode::Binary };
    let mut bytes = Vec::new();
    errors::raise(py.detach(|| write_object(&object, &mut bytes, mode)))?;
    if let Some(name) = keys::name_of(target)? {
        let policy = Policy { pipes: allow_pipes };
        return errors::raise(py.detach(|| {
            let mut output = Output::create(&WxFilename::parse(&name)?, &policy)?;
            output.write_all(&bytes).map_err(|error| output.error(error))?;
            output.finish().map(drop)
        }));
    }
    if target.hasattr("write")? {
        return write_to(target, &bytes);
    }
    Err(errors::wrong_type("a wxfilename, a path or a file object", target))
}

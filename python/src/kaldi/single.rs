//! Single objects in files of their own.

use std::io::Write as _;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use seqfeed::io::{Output, Policy, RxFilename, WxFilename};
use seqfeed::kaldi::{Mode, ObjectReader, Range, write_object};

use crate::kaldi::file_like;
use crate::kaldi::to_python::value_to_python;
use crate::kaldi::types::{Value, Wanted, read_one};
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
    let wanted = errors::raise(Wanted::parse(object_type))?;
    let policy = Policy { pipes: allow_pipes };
    let read = if let Some(name) = keys::name_of(&source)? {
        let is_text = source.is_instance_of::<PyString>();
        py.detach(|| match range_of(&name).filter(|_| is_text) {
            Some((name, range)) => open_one(name, wanted, &policy)?.extract(&Range::parse(range)?),
            None => open_one(&name, wanted, &policy),
        })
    } else if let Ok(bytes) = source.cast::<PyBytes>() {
        let bytes = bytes.as_bytes().to_vec();
        py.detach(|| read_one(&mut ObjectReader::from_bytes("bytes", bytes), wanted))
    } else if source.hasattr("read")? {
        let (name, file) = (file_like::name_of(&source), source.unbind());
        py.detach(|| read_one(&mut file_like::object_reader(file, name), wanted))
    } else {
        return Err(errors::wrong_type("an rxfilename, a path, bytes or a file object", &source));
    };
    value_to_python(py, errors::raise(read)?)
}

fn open_one(name: &str, wanted: Option<Wanted>, policy: &Policy) -> seqfeed::Result<Value> {
    read_one(&mut ObjectReader::open(&RxFilename::parse(name)?, policy)?, wanted)
}

/// Name and range of `feats.ark:12[0:9]`.
fn range_of(name: &str) -> Option<(&str, &str)> {
    name.trim_end().strip_suffix(']')?.rsplit_once('[').filter(|(name, _)| !name.is_empty())
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

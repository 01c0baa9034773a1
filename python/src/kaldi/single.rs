//! Single objects in files of their own.

use std::ffi::OsStr;
use std::io::Write as _;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use seqfeed::io::{Opener, Output, RxFilename, WxFilename};
use seqfeed::kaldi::{AnyObject, Holder, Mode, ObjectReader, Range, write_object};

use crate::kaldi::file_like;
use crate::kaldi::own::Own;
use crate::kaldi::to_python::value_to_python;
use crate::kaldi::writer::encoding;
use crate::kaldi::{Value, Wanted};
use crate::{errors, keys};

/// Reads one object from an rxfilename, a path, bytes or a file object.
#[pyfunction]
#[pyo3(signature = (source, *, object_type=None, allow_pipes=false))]
pub(crate) fn load<'py>(
    py: Python<'py>,
    source: Bound<'py, PyAny>,
    object_type: Option<Bound<'_, PyAny>>,
    allow_pipes: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let wanted = Wanted::given(object_type.as_ref())?;
    let opener = Opener::allowing_pipes(allow_pipes);
    let read = if let Some(name) = keys::name_of(&source)? {
        let is_text = source.is_instance_of::<PyString>();
        py.detach(|| {
            let (name, range) =
                if is_text { Range::split_name(name.as_ref())? } else { (name.as_ref(), None) };
            let object = open_one(name, wanted.as_ref(), &opener)?;
            match range {
                Some(range) => extract(object, &range),
                None => Ok(object),
            }
        })
    } else if let Ok(bytes) = source.cast::<PyBytes>() {
        let bytes = bytes.as_bytes().to_vec();
        py.detach(|| read_one(&mut ObjectReader::from_bytes("bytes", bytes), wanted.as_ref()))
    } else if source.hasattr("read")? {
        let (name, file) = (file_like::name_of(&source), source.unbind());
        py.detach(|| read_one(&mut file_like::object_reader(file, name), wanted.as_ref()))
    } else {
        return Err(errors::wrong_type("an rxfilename, a path, bytes or a file object", &source));
    };
    value_to_python(py, errors::raise(read)?)
}

fn open_one(name: &OsStr, wanted: Option<&Wanted>, opener: &Opener) -> seqfeed::Result<Value> {
    let mut reader = ObjectReader::open(&RxFilename::parse(name)?, opener)?;
    let value = read_one(&mut reader, wanted)?;
    // A command that failed may not have given the whole object.
    reader.finish()?;
    Ok(value)
}

/// Reads one object, of a given type or of any.
fn read_one(reader: &mut ObjectReader, wanted: Option<&Wanted>) -> seqfeed::Result<Value> {
    match wanted {
        Some(Wanted::Object(object_type)) => {
            AnyObject::read_as(*object_type, reader).map(Value::Object)
        }
        Some(Wanted::Shape) => reader.read().map(Value::Shape),
        Some(Wanted::WaveInfo) => reader.read().map(Value::WaveInfo),
        Some(Wanted::Own(own)) => own.read(reader),
        None => reader.read_any().map(Value::Object),
    }
}

/// The part of a value that a range means.
fn extract(value: Value, range: &Range) -> seqfeed::Result<Value> {
    match value {
        Value::Object(object) => object.extract(range).map(Value::Object),
        Value::Shape(shape) => shape.extract(range).map(Value::Shape),
        Value::WaveInfo(info) => info.extract(range).map(Value::WaveInfo),
        Value::Own(own) => Own::<true>(own).extract(range).map(|own| Value::Own(own.0)),
    }
}

/// Writes one object to a wxfilename, a path or a file object.
#[pyfunction]
#[pyo3(signature = (target, value, *, object_type=None, compression=None, text=false, allow_pipes=false))]
pub(crate) fn save(
    py: Python<'_>,
    target: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
    object_type: Option<Bound<'_, PyAny>>,
    compression: Option<Bound<'_, PyAny>>,
    text: bool,
    allow_pipes: bool,
) -> PyResult<()> {
    let mode = if text { Mode::Text } else { Mode::Binary };
    let encoding = encoding(object_type.as_ref(), compression.as_ref())?;
    let object = encoding.whole(value, mode)?;
    let mut bytes = Vec::new();
    errors::raise(py.detach(|| write_object(&object, &mut bytes, mode)))?;
    if let Some(name) = keys::name_of(target)? {
        let opener = Opener::allowing_pipes(allow_pipes);
        return errors::raise(py.detach(|| {
            let mut output = Output::create(&WxFilename::parse(&name)?, &opener)?;
            output.write_all(&bytes).map_err(|error| output.error(error))?;
            output.finish().map(drop)
        }));
    }
    if target.hasattr("write")? {
        return file_like::write(target, &bytes);
    }
    Err(errors::wrong_type("a wxfilename, a path or a file object", target))
}

//! Kaldi's tables and objects.

mod basic;
pub(crate) mod file_like;
mod from_python;
mod lent;
pub(crate) mod names;
pub(crate) mod object;
pub(crate) mod object_reader;
pub(crate) mod object_writer;
mod own;
pub(crate) mod random_access;
pub(crate) mod readers;
pub(crate) mod sequential;
pub(crate) mod single;
pub(crate) mod to_python;
pub(crate) mod writer;

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyString;
use seqfeed::Result;
use seqfeed::io::Input;
use seqfeed::kaldi::{
    AnyObject, Holder, MatrixShape, Mode, ObjectReader, ObjectType, Range, ReadOptions,
    SequentialReader, WaveInfo,
};
use seqfeed_core::Key;

use crate::errors;
use crate::keys::Name;
use own::OwnType;

/// A value that was read: an object, or the contents of its header.
#[derive(Clone)]
pub(crate) enum Value {
    Object(AnyObject),
    Own(Arc<Py<PyAny>>),
    Shape(MatrixShape),
    WaveInfo(WaveInfo),
}

/// The type to read objects as.
#[derive(Clone)]
pub(crate) enum Wanted {
    Object(ObjectType),
    Shape,
    WaveInfo,
    Own(OwnType),
}

impl Wanted {
    /// From the argument `object_type`: a name, or a class.
    pub(crate) fn of(object_type: &Bound<'_, PyAny>) -> PyResult<Self> {
        let Ok(name) = object_type.cast::<PyString>() else {
            return OwnType::of(object_type).map(Self::Own);
        };
        Ok(match name.to_str()? {
            "matrix-shape" => Self::Shape,
            "wave-info" => Self::WaveInfo,
            name => Self::Object(errors::raise(name.parse())?),
        })
    }

    /// As [`of`](Self::of), if the argument is given.
    pub(crate) fn given(object_type: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Self>> {
        object_type.map(Self::of).transpose()
    }

    /// The argument it was made from.
    pub(crate) fn to_python<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        let name = match self {
            Self::Object(object_type) => object_type.name(),
            Self::Shape => "matrix-shape",
            Self::WaveInfo => "wave-info",
            Self::Own(own) => return own.class().bind(py).clone(),
        };
        PyString::new(py, name).into_any()
    }

    /// Reads an object inside another one, without a header of its own.
    pub(crate) fn read_inside(&self, reader: &mut ObjectReader, mode: Mode) -> Result<Value> {
        match self {
            Self::Object(object_type) => {
                AnyObject::read_inside(*object_type, reader, mode).map(Value::Object)
            }
            Self::Shape => reader.read_inside(mode).map(Value::Shape),
            Self::WaveInfo => reader.read_inside(mode).map(Value::WaveInfo),
            Self::Own(own) => own.read_inside(reader, mode),
        }
    }
}

/// A sequential reader of objects of some type.
pub(crate) trait Sequential: Send {
    fn next(&mut self, key: &mut Vec<u8>) -> Result<Option<Value>>;
    /// The next key. `value` reads its object, once; otherwise the object is skipped.
    fn next_key(&mut self, key: &mut Vec<u8>) -> Result<bool>;
    fn value(&mut self) -> Result<Value>;
    /// The number of objects that `p` passed over.
    fn skipped(&self) -> u64;
}

/// A random-access reader of objects of some type.
pub(crate) trait Random: Send {
    fn take(&mut self, key: Key<'_>) -> Result<Option<Value>>;
    fn take_part(&mut self, key: Key<'_>, range: &Range) -> Result<Option<Value>>;
    fn contains(&mut self, key: Key<'_>) -> Result<bool>;
}

/// The input for reading in order: a table by its name, or a stream with an archive.
pub(crate) enum Origin<'a> {
    Named(&'a Name),
    Stream(Box<Input>),
}

impl Origin<'_> {
    pub(crate) fn open<T: Holder>(self, options: &ReadOptions) -> Result<SequentialReader<T>> {
        match self {
            Self::Named(rspecifier) => SequentialReader::open_with(rspecifier, options),
            Self::Stream(stream) => Ok(SequentialReader::of_stream(*stream, options)),
        }
    }
}

//! Own types: Python classes that read and write objects.
//!
//! A reader of tables knows its type at compile time, and the class only at run time. So the class
//! is stored in the reading thread, where [`Own::read`] finds it, while the reader works.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use seqfeed::Result;
use seqfeed::kaldi::{
    Holder, Mode, ObjectReader, RandomAccessReader, Range, ReadOptions, SequentialReader,
};
use seqfeed_core::{Error, Key, Problem};

use crate::errors::Raised;
use crate::kaldi::object_reader::PyObjectReader;
use crate::kaldi::{Origin, Random, Sequential, Value};
use crate::keys::Name;

/// A class with `read`, which takes an `ObjectReader` and returns an object, or with `write`, which
/// takes an object and an `ObjectWriter`, or with both.
#[derive(Clone)]
pub(crate) struct OwnType {
    class: Arc<Py<PyAny>>,
    /// Whether the binary form begins with `\0B`. It does unless the class has
    /// `has_header = False`.
    pub(crate) header: bool,
}

impl OwnType {
    /// From the argument `object_type`.
    pub(crate) fn of(class: &Bound<'_, PyAny>) -> PyResult<Self> {
        if !class.is_instance_of::<PyType>()
            || !(class.hasattr("read")? || class.hasattr("write")?)
        {
            return Err(PyTypeError::new_err(format!(
                "an object_type is a name out of object_types(), or a class with `read` and `write`, not {}",
                class.repr()?
            )));
        }
        let header = match class.getattr_opt("has_header")? {
            Some(header) => header.is_truthy()?,
            None => true,
        };
        Ok(Self { class: Arc::new(class.clone().unbind()), header })
    }

    pub(crate) fn class(&self) -> &Py<PyAny> {
        &self.class
    }

    /// Opens a table for reading in order.
    pub(crate) fn open_sequential(
        &self,
        origin: Origin<'_>,
        options: &ReadOptions,
    ) -> Result<Box<dyn Sequential>> {
        let own = self.clone();
        self.with(|| -> Result<Box<dyn Sequential>> {
            Ok(match self.header {
                true => Box::new(Table { reader: origin.open::<Own<true>>(options)?, own }),
                false => Box::new(Table { reader: origin.open::<Own<false>>(options)?, own }),
            })
        })
    }

    /// Opens a table for random access.
    pub(crate) fn open_random(
        &self,
        rspecifier: &Name,
        options: &ReadOptions,
    ) -> Result<Box<dyn Random>> {
        fn open<const HEADER: bool>(
            own: &OwnType,
            rspecifier: &Name,
            options: &ReadOptions,
        ) -> Result<Box<dyn Random>> {
            let reader: RandomAccessReader<Own<HEADER>> =
                own.with(|| RandomAccessReader::open_with(rspecifier, options))?;
            Ok(Box::new(Table { reader, own: own.clone() }))
        }
        match self.header {
            true => open::<true>(self, rspecifier, options),
            false => open::<false>(self, rspecifier, options),
        }
    }

    /// Reads one object.
    pub(crate) fn read(&self, reader: &mut ObjectReader) -> Result<Value> {
        self.with(|| match self.header {
            true => reader.read::<Own<true>>().map(|own| Value::Own(own.0)),
            false => reader.read::<Own<false>>().map(|own| Value::Own(own.0)),
        })
    }

    /// Reads an object inside another one.
    pub(crate) fn read_inside(&self, reader: &mut ObjectReader, mode: Mode) -> Result<Value> {
        self.with(|| Own::<true>::read(reader, mode)).map(|own| Value::Own(own.0))
    }

    /// Runs code that reads objects of this type.
    fn with<T>(&self, read: impl FnOnce() -> Result<T>) -> Result<T> {
        let before = READING.replace(Some(Reading { own: self.clone(), raised: None }));
        let done = read();
        let raised = READING.replace(before).and_then(|reading| reading.raised);
        match (done, raised) {
            (Err(error), Some(raised)) => Err(raised_error(&error, raised)),
            (done, _) => done,
        }
    }
}

/// The class that this thread reads with, and the exception that it raised.
struct Reading {
    own: OwnType,
    raised: Option<PyErr>,
}

thread_local! {
    static READING: RefCell<Option<Reading>> = const { RefCell::new(None) };
}

/// An object that a Python class has read.
#[derive(Clone)]
pub(crate) struct Own<const HEADER: bool>(pub(crate) Arc<Py<PyAny>>);

impl<const HEADER: bool> Holder for Own<HEADER> {
    const TYPE: &'static str = "object of an own type";
    const HEADER: bool = HEADER;

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        let own =
            READING.with_borrow(|reading| reading.as_ref().map(|reading| reading.own.clone()));
        let Some(own) = own else {
            let what = "objects of own types cannot be read in the background";
            return Err(Error::usage(what).with_help("take the option `bg` out of the rspecifier"));
        };
        // The class gets the stream itself, and returns it: a copy of it would read ahead.
        let lent = std::mem::replace(reader, ObjectReader::from_bytes("lent", Vec::new()));
        let read = Python::attach(|py| {
            let stream = Bound::new(py, PyObjectReader::lent(lent, mode))?;
            let object = own.class.bind(py).call_method1("read", (&stream,));
            let lent = stream.get();
            *reader = py.detach(|| lent.give_back());
            object.map(Bound::unbind)
        });
        read.map(|object| Self(Arc::new(object))).map_err(|raised| {
            let error = reader.error("own type", Problem::Unsupported(raised.to_string().into()));
            READING.with_borrow_mut(|reading| {
                if let Some(reading) = reading {
                    reading.raised = Some(raised);
                }
            });
            error
        })
    }

    fn write(&self, _out: &mut Vec<u8>, _mode: Mode) -> Result<()> {
        Err(Error::usage("objects of own types are written by their class"))
    }
}

/// The error for an exception of a class, with its place.
fn raised_error(place: &Error, raised: PyErr) -> Error {
    let mut error = Error::io("reading", io::Error::other(Raised(raised)));
    if let Some(file) = &place.place().file {
        error = error.in_file(file.as_str());
    }
    match &place.place().key {
        Some(key) => error.of_key(Key(key.as_bytes())),
        None => error,
    }
}

/// A reader of objects that a class reads.
struct Table<R> {
    reader: R,
    own: OwnType,
}

impl<const HEADER: bool> Sequential for Table<SequentialReader<Own<HEADER>>> {
    fn next(&mut self, key: &mut Vec<u8>) -> Result<Option<Value>> {
        let Self { reader, own } = self;
        let Some(entry) = own.with(|| reader.next().transpose())? else { return Ok(None) };
        let (found, object) = entry;
        *key = found;
        Ok(Some(Value::Own(object.0)))
    }

    fn next_key(&mut self, key: &mut Vec<u8>) -> Result<bool> {
        let Self { reader, own } = self;
        own.with(|| reader.next_key(key))
    }

    fn value(&mut self) -> Result<Value> {
        let Self { reader, own } = self;
        own.with(|| reader.take_value().map(|object| Value::Own(object.0)))
    }

    fn skipped(&self) -> u64 {
        self.reader.report().skipped
    }
}

impl<const HEADER: bool> Random for Table<RandomAccessReader<Own<HEADER>>> {
    fn take(&mut self, key: Key<'_>) -> Result<Option<Value>> {
        let Self { reader, own } = self;
        own.with(|| Ok(reader.take(key)?.map(|object| Value::Own(object.0))))
    }

    fn take_part(&mut self, key: Key<'_>, range: &Range) -> Result<Option<Value>> {
        let Self { reader, own } = self;
        own.with(|| Ok(reader.take_part(key, range)?.map(|object| Value::Own(object.0))))
    }

    fn contains(&mut self, key: Key<'_>) -> Result<bool> {
        let Self { reader, own } = self;
        own.with(|| reader.contains(key))
    }
}

//! `seqfeed.kaldi.SequentialReader`.

use std::ffi::OsStr;
use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use seqfeed::kaldi::ReadOptions;

use seqfeed_core::Key;

use crate::forks::{PerProcess, lock};
use crate::kaldi::file_like;
use crate::kaldi::readers::{open_sequential, read_options};
use crate::kaldi::to_python::value_to_python;
use crate::kaldi::{Origin, Sequential, Wanted};
use crate::keys::Name;
use crate::{describe, errors, keys};

/// Reads a table from its first object to its last: an iterator of pairs of key and value.
#[pyclass(frozen, module = "seqfeed.kaldi", weakref)]
pub(crate) struct SequentialReader {
    /// An rspecifier, or the name of a file-like object.
    name: Name,
    from_file: bool,
    wanted: Option<Wanted>,
    options: ReadOptions,
    state: PerProcess<State>,
}

struct State {
    reader: Option<Box<dyn Sequential>>,
    /// The number of objects read.
    done: u64,
    skipped: u64,
    closed: bool,
    /// The last key, if its object can be asked for.
    key: Option<Vec<u8>>,
}

impl State {
    fn new(reader: Box<dyn Sequential>) -> Self {
        Self { reader: Some(reader), done: 0, skipped: 0, closed: false, key: None }
    }

    fn next_key(&mut self) -> seqfeed::Result<Option<Vec<u8>>> {
        let mut key = Vec::new();
        self.key = None;
        let Some(reader) = &mut self.reader else { return Ok(None) };
        let found = reader.next_key(&mut key);
        self.skipped = reader.skipped();
        if found? {
            self.done += 1;
            self.key = Some(key);
        }
        Ok(self.key.clone())
    }

    /// Skips objects, up to the position of another reader.
    fn go_to(&mut self, done: u64) -> seqfeed::Result<()> {
        while self.done < done && self.next_key()?.is_some() {}
        Ok(())
    }
}

impl SequentialReader {
    fn open(&self) -> seqfeed::Result<State> {
        let origin = Origin::Named(&self.name);
        open_sequential(origin, self.wanted.clone(), &self.options).map(State::new)
    }

    fn state(&self, py: Python<'_>) -> PyResult<Arc<Mutex<State>>> {
        if let Some(state) = self.state.get() {
            return Ok(state);
        }
        if self.from_file {
            return Err(PyValueError::new_err("a file object cannot be read in a forked process"));
        }
        let (done, closed) =
            self.state.peek(|state| (state.done, state.closed)).unwrap_or((0, false));
        let fresh = errors::raise(py.detach(|| {
            let mut fresh = self.open()?;
            fresh.go_to(done)?;
            fresh.closed = closed;
            Ok(fresh)
        }))?;
        Ok(self.state.renew(fresh))
    }
}

#[pymethods]
impl SequentialReader {
    #[new]
    #[pyo3(signature = (source, *, object_type=None, allow_pipes=false, line_limit=None))]
    fn new(
        py: Python<'_>,
        source: Bound<'_, PyAny>,
        object_type: Option<Bound<'_, PyAny>>,
        allow_pipes: bool,
        line_limit: Option<usize>,
    ) -> PyResult<Self> {
        let wanted = Wanted::given(object_type.as_ref())?;
        let options = read_options(allow_pipes, line_limit);
        let (name, from_file, reader): (_, _, Box<dyn Sequential>) = match keys::name_of(&source)? {
            Some(name) => {
                let name = describe::rspecifier_of(&name).unwrap_or(name);
                let origin = Origin::Named(&name);
                let reader = py.detach(|| open_sequential(origin, wanted.clone(), &options));
                (name, false, errors::raise(reader)?)
            }
            None if source.hasattr("read")? => {
                let name = file_like::name_of(&source);
                let (file, called) = (source.unbind(), name.clone());
                let reader = py.detach(|| {
                    let origin = Origin::Stream(Box::new(file_like::input(file, called)));
                    open_sequential(origin, wanted.clone(), &options)
                });
                (Name::from(name.as_str()), true, errors::raise(reader)?)
            }
            None => {
                return Err(errors::wrong_type("an rspecifier, a path or a file object", &source));
            }
        };
        let state = PerProcess::new(State::new(reader));
        Ok(Self { name, from_file, wanted, options, state })
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let state = self.state(py)?;
        let mut closed = false;
        let read = py.detach(|| {
            let mut state = lock(&state);
            closed = state.closed;
            let mut key = Vec::new();
            state.key = None;
            let Some(reader) = &mut state.reader else { return Ok(None) };
            let object = reader.next(&mut key);
            state.skipped = reader.skipped();
            state.done += u64::from(matches!(object, Ok(Some(_))));
            Ok(object?.map(|object| (key, object)))
        });
        if closed {
            return Err(PyValueError::new_err("the reader is closed"));
        }
        let Some((key, object)) = errors::raise(read)? else { return Ok(None) };
        let pair = (keys::to_python(py, &key)?, value_to_python(py, object)?);
        Ok(Some(pair.into_pyobject(py)?.into_any()))
    }

    /// The next key. `value` reads its object; otherwise the object is skipped.
    fn next_key<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyString>>> {
        let state = self.state(py)?;
        let read = py.detach(|| {
            let mut state = lock(&state);
            if state.closed { None } else { Some(state.next_key()) }
        });
        let closed = || PyValueError::new_err("the reader is closed");
        let key = errors::raise(read.ok_or_else(closed)?)?;
        key.map(|key| keys::to_python(py, &key)).transpose()
    }

    /// The object of the last key of `next_key`. It is read now, and only once.
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let state = self.state(py)?;
        let read = py.detach(|| {
            let mut state = lock(&state);
            let key = state.key.clone();
            let value = state.reader.as_mut().map(|reader| reader.value());
            value.map(|value| {
                value.map_err(|error| match &key {
                    Some(key) => error.of_key(Key(key)),
                    None => error,
                })
            })
        });
        let closed = || PyValueError::new_err("the reader is closed");
        value_to_python(py, errors::raise(read.ok_or_else(closed)?)?)
    }

    /// The name of the table: an rspecifier, or the name of a file object.
    #[getter]
    fn name(&self) -> &OsStr {
        self.name.as_ref()
    }

    /// The number of unreadable objects that were passed over because of the option `p`.
    #[getter]
    fn skipped(&self, py: Python<'_>) -> PyResult<u64> {
        let state = self.state(py)?;
        Ok(py.detach(|| lock(&state).skipped))
    }

    /// Closes it.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let state = self.state(py)?;
        py.detach(|| {
            let mut state = lock(&state);
            state.closed = true;
            state.reader = None;
        });
        Ok(())
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close(py)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if self.from_file {
            return Err(pyo3::exceptions::PyTypeError::new_err(
                "a reader of a file object cannot be pickled; open it by its name",
            ));
        }
        let state = self.state(py)?;
        let done = py.detach(|| lock(&state).done);
        let options = pyo3::types::PyDict::new(py);
        let wanted = self.wanted.as_ref().map(|wanted| wanted.to_python(py));
        options.set_item("object_type", wanted)?;
        options.set_item("allow_pipes", self.options.opener.allows_pipes())?;
        options.set_item("line_limit", self.options.opener.line_limit())?;
        let remake = py.import("seqfeed._types")?.getattr("_remake")?;
        let arguments = (py.get_type::<Self>(), (self.name.as_ref(),), options, done);
        Ok((remake, arguments).into_pyobject(py)?.into_any())
    }

    /// Skips objects, until `done` have passed.
    fn _skip_to(&self, py: Python<'_>, done: u64) -> PyResult<()> {
        let state = self.state(py)?;
        errors::raise(py.detach(|| lock(&state).go_to(done)))
    }

    fn __repr__(&self) -> String {
        format!("<seqfeed.kaldi.SequentialReader {}>", self.name)
    }
}

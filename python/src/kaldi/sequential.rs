//! `seqfeed.kaldi.SequentialReader`.

use std::ffi::OsStr;
use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use seqfeed::io::Opener;

use crate::forks::{PerProcess, lock};
use crate::kaldi::file_like::{self, FileArchive};
use crate::kaldi::to_python::value_to_python;
use crate::kaldi::types::{Sequential, Wanted, open_sequential};
use crate::keys::Name;
use crate::{describe, errors, keys};

/// Reads a table from its first object to its last: an iterator of pairs of key and value.
#[pyclass(frozen, module = "seqfeed.kaldi", weakref)]
pub(crate) struct SequentialReader {
    /// An rspecifier, or what to call a file-like object.
    name: Name,
    from_file: bool,
    wanted: Option<Wanted>,
    opener: Opener,
    state: PerProcess<State>,
}

struct State {
    reader: Option<Box<dyn Sequential>>,
    /// Objects that were read.
    done: u64,
    skipped: u64,
    closed: bool,
}

impl State {
    fn new(reader: Box<dyn Sequential>) -> Self {
        Self { reader: Some(reader), done: 0, skipped: 0, closed: false }
    }

    /// Reads over objects, to where another reader stood.
    fn go_to(&mut self, done: u64) -> seqfeed::Result<()> {
        let mut key = Vec::new();
        while let Some(reader) = self.reader.as_mut().filter(|_| self.done < done) {
            if !reader.next_key(&mut key)? {
                break;
            }
            self.done += 1;
        }
        Ok(())
    }
}

impl SequentialReader {
    fn open(&self) -> seqfeed::Result<State> {
        open_sequential(&self.name, self.wanted.clone(), &self.opener).map(State::new)
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
    #[pyo3(signature = (source, *, object_type=None, allow_pipes=false))]
    fn new(
        py: Python<'_>,
        source: Bound<'_, PyAny>,
        object_type: Option<Bound<'_, PyAny>>,
        allow_pipes: bool,
    ) -> PyResult<Self> {
        let wanted = Wanted::given(object_type.as_ref())?;
        let opener = Opener::allowing_pipes(allow_pipes);
        let (name, from_file, reader): (_, _, Box<dyn Sequential>) = match keys::name_of(&source)? {
            Some(name) => {
                let name = describe::rspecifier_of(&name).unwrap_or(name);
                let reader = py.detach(|| open_sequential(&name, wanted.clone(), &opener));
                (name, false, errors::raise(reader)?)
            }
            None if source.hasattr("read")? => {
                let name = file_like::name_of(&source);
                let (file, called) = (source.unbind(), name.clone());
                let reader = py.detach(|| file_like::object_reader(file, called));
                let name = Name::from(name.as_str());
                (name, true, Box::new(FileArchive { reader, wanted: wanted.clone(), ended: false }))
            }
            None => {
                return Err(errors::wrong_type("an rspecifier, a path or a file object", &source));
            }
        };
        let state = PerProcess::new(State::new(reader));
        Ok(Self { name, from_file, wanted, opener, state })
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

    /// What it reads: an rspecifier, or the name of a file object.
    #[getter]
    fn name(&self) -> &OsStr {
        self.name.as_ref()
    }

    /// Objects that could not be read and were passed over, as the option `p` asks.
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
        options.set_item("allow_pipes", self.opener.allows_pipes())?;
        let remake = py.import("seqfeed._types")?.getattr("_remake")?;
        let arguments = (py.get_type::<Self>(), (self.name.as_ref(),), options, done);
        Ok((remake, arguments).into_pyobject(py)?.into_any())
    }

    /// Reads over objects, until so many are behind.
    fn _skip_to(&self, py: Python<'_>, done: u64) -> PyResult<()> {
        let state = self.state(py)?;
        errors::raise(py.detach(|| lock(&state).go_to(done)))
    }

    fn __repr__(&self) -> String {
        format!("<seqfeed.kaldi.SequentialReader {}>", self.name)
    }
}

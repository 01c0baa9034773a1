//! `seqfeed.kaldi.RandomAccessReader`.

use std::ffi::OsStr;
use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use seqfeed::kaldi::ReadOptions;
use seqfeed_core::Key;

use crate::describe::is_table;
use crate::forks::{PerProcess, lock};
use crate::kaldi::readers::{open_mapped, open_random, read_options};
use crate::kaldi::to_python::value_to_python;
use crate::kaldi::{Random, Value, Wanted};
use crate::keys::Name;
use crate::table::kaldi_table::rows;
use crate::{describe, errors, keys};

/// A reader of objects of some type; None when it is closed.
type Shared = Arc<Mutex<Option<Box<dyn Random>>>>;

/// Reads objects of a table by their keys.
#[pyclass(frozen, module = "seqfeed.kaldi", mapping, weakref)]
pub(crate) struct RandomAccessReader {
    rspecifier: Name,
    /// The rspecifier of a map from keys to keys of the table.
    utt2spk: Option<Name>,
    wanted: Option<Wanted>,
    options: ReadOptions,
    /// None when it is closed.
    reader: PerProcess<Option<Box<dyn Random>>>,
}

fn open(
    rspecifier: &Name,
    utt2spk: Option<&Name>,
    wanted: Option<Wanted>,
    options: &ReadOptions,
) -> seqfeed::Result<Box<dyn Random>> {
    match utt2spk {
        Some(map) => open_mapped(rspecifier, map, wanted, options),
        None => open_random(rspecifier, wanted, options),
    }
}

impl RandomAccessReader {
    fn reader(&self, py: Python<'_>) -> PyResult<Shared> {
        if let Some(reader) = self.reader.get() {
            return Ok(reader);
        }
        let closed = self.reader.peek(Option::is_none).unwrap_or(false);
        let open =
            || open(&self.rspecifier, self.utt2spk.as_ref(), self.wanted.clone(), &self.options);
        let fresh = errors::raise(py.detach(open))?;
        Ok(self.reader.renew((!closed).then_some(fresh)))
    }

    fn with<R: Send>(
        &self,
        py: Python<'_>,
        use_it: impl FnOnce(&mut dyn Random) -> seqfeed::Result<R> + Send,
    ) -> PyResult<R> {
        let reader = self.reader(py)?;
        let used = py.detach(|| lock(&reader).as_mut().map(|reader| use_it(reader.as_mut())));
        let closed = || PyValueError::new_err("the reader is closed");
        errors::raise(used.ok_or_else(closed)?)
    }

    fn found<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        object: Option<Value>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match object {
            Some(object) => value_to_python(py, object),
            None => Err(errors::no_key(
                py,
                &self.rspecifier.to_string(),
                &Key(&keys::from_python(key)?).to_string(),
            )),
        }
    }
}

#[pymethods]
impl RandomAccessReader {
    #[new]
    #[pyo3(signature = (source, *, object_type=None, utt2spk=None, allow_pipes=false, line_limit=None))]
    fn new(
        py: Python<'_>,
        source: Bound<'_, PyAny>,
        object_type: Option<Bound<'_, PyAny>>,
        utt2spk: Option<Bound<'_, PyAny>>,
        allow_pipes: bool,
        line_limit: Option<usize>,
    ) -> PyResult<Self> {
        let wanted = Wanted::given(object_type.as_ref())?;
        let options = read_options(allow_pipes, line_limit);
        let Some(name) = keys::name_of(&source)? else {
            return Err(errors::wrong_type("an rspecifier or a path", &source));
        };
        let rspecifier = describe::rspecifier_of(&name).unwrap_or(name);
        let utt2spk = utt2spk.map(|map| keys::needed_name(&map)).transpose()?;
        // As in Kaldi's recipes, the name of a file means an archive of tokens.
        let utt2spk = utt2spk.map(|map| if is_table(&map) { map } else { map.behind("ark:") });
        let reader = py.detach(|| open(&rspecifier, utt2spk.as_ref(), wanted.clone(), &options));
        let reader = PerProcess::new(Some(errors::raise(reader)?));
        Ok(Self { rspecifier, utt2spk, wanted, options, reader })
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let bytes = keys::from_python(key)?;
        let object = self.with(py, |reader| reader.take(Key(&bytes)))?;
        self.found(py, key, object)
    }

    /// Rows `start` to `stop` (as in a slice, never negative) of the value of a key.
    #[pyo3(signature = (key, start=0, stop=None))]
    fn rows<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        start: usize,
        stop: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let bytes = keys::from_python(key)?;
        let wanted = start..stop.unwrap_or(usize::MAX);
        let object = self.with(py, |reader| rows(reader, Key(&bytes), wanted))?;
        self.found(py, key, object)
    }

    /// The value of a key, or `default` if there is none.
    #[pyo3(signature = (key, default=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let bytes = keys::from_python(key)?;
        match self.with(py, |reader| reader.take(Key(&bytes)))? {
            Some(object) => value_to_python(py, object).map(Some),
            None => Ok(default),
        }
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let bytes = keys::from_python(key)?;
        self.with(py, |reader| reader.contains(Key(&bytes)))
    }

    /// The name of the table.
    #[getter]
    fn name(&self) -> &OsStr {
        self.rspecifier.as_ref()
    }

    /// Closes it.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let reader = self.reader(py)?;
        py.detach(|| *lock(&reader) = None);
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
        let options = PyDict::new(py);
        let wanted = self.wanted.as_ref().map(|wanted| wanted.to_python(py));
        options.set_item("object_type", wanted)?;
        options.set_item("utt2spk", self.utt2spk.as_ref().map(Name::as_ref))?;
        options.set_item("allow_pipes", self.options.opener.allows_pipes())?;
        options.set_item("line_limit", self.options.opener.line_limit())?;
        let remake = py.import("seqfeed._types")?.getattr("_remake")?;
        let arguments = (py.get_type::<Self>(), (self.rspecifier.as_ref(),), options, py.None());
        Ok((remake, arguments).into_pyobject(py)?.into_any())
    }

    fn __repr__(&self) -> String {
        format!("<seqfeed.kaldi.RandomAccessReader {}>", self.rspecifier)
    }
}

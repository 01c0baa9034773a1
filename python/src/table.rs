//! Any corpus as a table of numpy arrays.

mod arrow;
mod corpus_table;
mod file_table;
pub(crate) mod kaldi_table;

use std::ffi::OsStr;
use std::sync::{Arc, Mutex};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyMapping, PyTuple};
use seqfeed::io::Opener;
use seqfeed::kaldi::ReadOptions;
use seqfeed::{Corpus, Key, Source, Stream};

use crate::forks::{PerProcess, lock};
use crate::interrupt::interruptible;
use crate::kaldi::file_like;
use crate::kaldi::readers::read_options;
use crate::kaldi::to_python::value_to_python;
use crate::kaldi::{Value, Wanted};
use crate::keys::Name;
use crate::{describe, errors, keys, values};
use corpus_table::{CorpusTable, Loaded};
use file_table::FileTable;
use kaldi_table::KaldiTable;

/// A value that was read, before its conversion to Python.
pub(crate) enum TableValue {
    Object(Value),
    /// One stream alone.
    Stream(Loaded),
    /// Several, by name.
    Streams(Vec<(String, Loaded)>),
}

impl TableValue {
    fn into_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        match self {
            TableValue::Object(object) => value_to_python(py, object),
            TableValue::Stream(loaded) => loaded.into_python(py),
            TableValue::Streams(streams) => {
                let all = PyDict::new(py);
                for (name, loaded) in streams {
                    all.set_item(name, loaded.into_python(py)?)?;
                }
                Ok(all.into_any())
            }
        }
    }
}

/// The source of a table's objects. All methods are called detached from the interpreter.
pub(crate) trait Backend: Send + Sync {
    fn get(&self, key: &[u8]) -> seqfeed::Result<Option<TableValue>>;
    /// Rows `start..stop`, cut off at the end.
    fn rows(&self, key: &[u8], start: usize, stop: usize) -> seqfeed::Result<Option<TableValue>>;
    fn contains(&self, key: &[u8]) -> seqfeed::Result<bool>;
    fn count(&self) -> seqfeed::Result<usize>;
    fn walk(&self) -> seqfeed::Result<Box<dyn Walk>>;
    /// The corpus, if the table is one.
    fn corpus(&self) -> Option<Arc<Corpus>> {
        None
    }
}

/// A walk through a table in its order.
pub(crate) trait Walk: Send {
    fn next(&mut self, key: &mut Vec<u8>) -> seqfeed::Result<Option<TableValue>>;
    fn next_key(&mut self, key: &mut Vec<u8>) -> seqfeed::Result<bool>;
}

/// A table of any format: keys and arrays.
#[pyclass(frozen, module = "seqfeed", mapping, weakref)]
pub(crate) struct Table {
    name: Name,
    recipe: Recipe,
    backend: PerProcess<Option<Arc<dyn Backend>>>,
    source: Py<PyAny>,
    options: Py<PyDict>,
}

/// The arguments to open a table, here and in a forked child.
#[derive(Clone)]
pub(crate) enum Recipe {
    Kaldi {
        rspecifier: Name,
        wanted: Option<Wanted>,
        options: Box<ReadOptions>,
    },
    Corpus {
        description: Box<seqfeed::Description>,
        opener: Opener,
    },
    /// A file-like object that was read.
    File(Arc<FileTable>),
}

impl Recipe {
    fn open(self) -> seqfeed::Result<(Arc<dyn Backend>, Vec<String>)> {
        match self {
            Recipe::Kaldi { rspecifier, wanted, options } => {
                let table = KaldiTable::open(rspecifier, wanted, *options)?;
                Ok((Arc::new(table), Vec::new()))
            }
            Recipe::Corpus { description, opener } => {
                let opened = description.open(&opener)?;
                let dropped = opened.report().dropped.into_iter();
                let mut warnings = opened.warnings();
                warnings.extend(dropped.map(|group| format!("skipped {group}")));
                Ok((Arc::new(CorpusTable::new(Arc::clone(opened.corpus()))), warnings))
            }
            Recipe::File(table) => Ok((table, Vec::new())),
        }
    }
}

impl Table {
    fn backend(&self, py: Python<'_>) -> PyResult<Arc<dyn Backend>> {
        let slot = match self.backend.get() {
            Some(slot) => slot,
            None => {
                let recipe = self.recipe.clone();
                let (backend, _) = interruptible(py, move || recipe.open())?;
                self.backend.renew(Some(backend))
            }
        };
        let backend = lock(&slot).clone();
        backend.ok_or_else(|| PyValueError::new_err("the table is closed"))
    }

    fn found<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        item: seqfeed::Result<Option<TableValue>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match errors::raise(item)? {
            Some(item) => item.into_python(py),
            None => Err(errors::no_key(
                py,
                &self.name.to_string(),
                &Key(&keys::from_python(key)?).to_string(),
            )),
        }
    }

    fn iterate(slf: &Bound<'_, Self>, what: What) -> PyResult<TableIterator> {
        let (py, backend) = (slf.py(), slf.get().backend(slf.py())?);
        let walk = errors::raise(py.detach(|| backend.walk()))?;
        let walker = Walker { walk, done: 0, ended: false };
        Ok(TableIterator { table: slf.clone().unbind(), walker: PerProcess::new(walker), what })
    }
}

#[pymethods]
impl Table {
    #[new]
    #[pyo3(signature = (
        source, *, object_type=None, overrides=None, allow_pipes=false, **options
    ))]
    fn new(
        py: Python<'_>,
        source: Bound<'_, PyAny>,
        object_type: Option<Bound<'_, PyAny>>,
        overrides: Option<Bound<'_, PyMapping>>,
        allow_pipes: bool,
        options: Option<Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let options = describe::with_overrides(py, options, overrides)?;
        // Tables of Kaldi have this option too.
        let line_limit: Option<usize> = match options.get_item("line_limit")? {
            Some(limit) => {
                options.del_item("line_limit")?;
                limit.extract()?
            }
            None => None,
        };
        let reading = read_options(allow_pipes, line_limit);
        let opener = reading.opener.clone();
        let wanted = Wanted::given(object_type.as_ref())?;
        let named = keys::name_of(&source)?;
        let table = named.as_ref().filter(|_| options.is_empty());
        let (name, recipe) = match table.and_then(describe::rspecifier_of) {
            _ if named.is_none() && source.hasattr("read")? => {
                if !options.is_empty() {
                    return Err(PyTypeError::new_err("a file object is opened without options"));
                }
                let (name, file) = (file_like::name_of(&source), source.clone().unbind());
                let called = name.clone();
                let table =
                    errors::raise(py.detach(|| FileTable::read(file, called, wanted, &reading)))?;
                (name.as_str().into(), Recipe::File(Arc::new(table)))
            }
            Some(rspecifier) => {
                let options = Box::new(reading);
                (rspecifier.clone(), Recipe::Kaldi { rspecifier, wanted, options })
            }
            None if wanted.is_some() => {
                return Err(errors::to_python(
                    &seqfeed::Error::usage("only tables of Kaldi have objects of a type")
                        .with_help("give an rspecifier, such as ark:feats.ark"),
                ));
            }
            None => {
                if line_limit.is_some() {
                    options.set_item("line_limit", line_limit)?;
                }
                let described =
                    describe::describe_table(&source, &options, &["object_type", "allow_pipes"])?;
                for warning in &described.warnings {
                    errors::warn(py, warning)?;
                }
                let description = Box::new(described.description);
                (described.name, Recipe::Corpus { description, opener })
            }
        };
        let opening = recipe.clone();
        let (backend, warnings) = interruptible(py, move || opening.open())?;
        for warning in &warnings {
            errors::warn(py, &format!("{name}: {warning}"))?;
        }
        options.set_item("object_type", object_type)?;
        options.set_item("allow_pipes", allow_pipes)?;
        options.set_item("line_limit", line_limit)?;
        let backend = PerProcess::new(Some(backend));
        Ok(Self { name, recipe, backend, source: source.unbind(), options: options.unbind() })
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (backend, bytes) = (self.backend(py)?, keys::from_python(key)?);
        self.found(py, key, py.detach(|| backend.get(&bytes)))
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
        let (backend, bytes) = (self.backend(py)?, keys::from_python(key)?);
        let stop = stop.unwrap_or(usize::MAX);
        self.found(py, key, py.detach(|| backend.rows(&bytes, start, stop)))
    }

    /// The value of a key, or `default` if there is none.
    #[pyo3(signature = (key, default=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (backend, bytes) = (self.backend(py)?, keys::from_python(key)?);
        match errors::raise(py.detach(|| backend.get(&bytes)))? {
            Some(item) => item.into_python(py).map(Some),
            None => Ok(default),
        }
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (backend, bytes) = (self.backend(py)?, keys::from_python(key)?);
        errors::raise(py.detach(|| backend.contains(&bytes)))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let backend = self.backend(py)?;
        errors::raise(py.detach(|| backend.count()))
    }

    fn __iter__(slf: &Bound<'_, Self>) -> PyResult<TableIterator> {
        Self::iterate(slf, What::Pairs)
    }

    /// The keys, in order.
    fn keys(slf: &Bound<'_, Self>) -> PyResult<TableIterator> {
        Self::iterate(slf, What::Keys)
    }

    /// The values, in order.
    fn values(slf: &Bound<'_, Self>) -> PyResult<TableIterator> {
        Self::iterate(slf, What::Values)
    }

    /// Pairs of key and value, in order, as in iterating over the table.
    fn items(slf: &Bound<'_, Self>) -> PyResult<TableIterator> {
        Self::iterate(slf, What::Pairs)
    }

    /// The streams: a dictionary of names to kind, dtype, dim and extent. Empty for tables of
    /// Kaldi, whose objects may have any type.
    #[getter]
    fn streams<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let streams = PyDict::new(py);
        let corpus = self.backend(py)?.corpus();
        for stream in corpus.iter().flat_map(|corpus| corpus.streams()) {
            streams.set_item(&stream.name, stream_info(py, stream, 1)?)?;
        }
        Ok(streams)
    }

    /// A stream of record batches with one row for each sequence: Arrow's capsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // By the protocol, consumers convert a schema that differs from their request.
        drop(requested_schema);
        arrow::stream(py, &self.backend(py)?, &self.recipe)
    }

    /// The name by which it was opened.
    #[getter]
    fn name(&self) -> &OsStr {
        self.name.as_ref()
    }

    /// Closes it. Arrays that were returned stay valid.
    fn close(&self) {
        if let Some(slot) = self.backend.get() {
            *lock(&slot) = None;
        }
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) {
        self.close();
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if matches!(self.recipe, Recipe::File(_)) {
            return Err(PyTypeError::new_err(
                "a table of a file object cannot be pickled; open it by its name",
            ));
        }
        let remake = py.import("seqfeed._types")?.getattr("_remake")?;
        let arguments = (py.get_type::<Self>(), (&self.source,), &self.options, py.None());
        Ok((remake, arguments).into_pyobject(py)?.into_any())
    }

    fn __repr__(&self) -> String {
        format!("<seqfeed.Table {}>", self.name)
    }
}

/// The description of a stream, `seqfeed.Stream`. `width` frames of context count as one sample.
pub(crate) fn stream_info<'py>(
    py: Python<'py>,
    stream: &Stream,
    width: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let fields = [
        ("name", (&stream.name).into_pyobject(py)?.into_any()),
        ("kind", stream.kind.name().into_pyobject(py)?.into_any()),
        ("dtype", stream.element.name().into_pyobject(py)?.into_any()),
        ("dim", (stream.dim * width).into_pyobject(py)?.into_any()),
        ("extent", stream.extent.name().into_pyobject(py)?.into_any()),
    ];
    values::named(py, "Stream", &fields)
}

#[derive(Clone, Copy)]
enum What {
    Pairs,
    Keys,
    Values,
}

/// Iterates over a table once.
#[pyclass(frozen, module = "seqfeed")]
pub(crate) struct TableIterator {
    table: Py<Table>,
    walker: PerProcess<Walker>,
    what: What,
}

struct Walker {
    walk: Box<dyn Walk>,
    done: u64,
    ended: bool,
}

/// The result of a step: a key, and a value if it is wanted.
type Step = Option<(Vec<u8>, Option<TableValue>)>;

impl Walker {
    fn step(&mut self, what: What) -> seqfeed::Result<Step> {
        if self.ended {
            return Ok(None);
        }
        let mut key = Vec::new();
        let item = match what {
            What::Keys => self.walk.next_key(&mut key)?.then_some(None),
            What::Pairs | What::Values => self.walk.next(&mut key)?.map(Some),
        };
        self.ended = item.is_none();
        self.done += 1;
        Ok(item.map(|item| (key, item)))
    }
}

impl TableIterator {
    /// The walk of this process. A forked child gets a new one from the parent's position.
    fn walker(&self, py: Python<'_>) -> PyResult<Arc<Mutex<Walker>>> {
        if let Some(walker) = self.walker.get() {
            return Ok(walker);
        }
        let backend = self.table.get().backend(py)?;
        let fresh =
            Walker { walk: errors::raise(py.detach(|| backend.walk()))?, done: 0, ended: false };
        // Only the count is read: the lock may be held by a thread that does not exist here.
        let done = self.walker.peek(|walker| walker.done).unwrap_or(0);
        let mut fresh = fresh;
        errors::raise(py.detach(|| {
            let mut key = Vec::new();
            while fresh.done < done && fresh.walk.next_key(&mut key)? {
                fresh.done += 1;
            }
            Ok(())
        }))?;
        Ok(self.walker.renew(fresh))
    }
}

#[pymethods]
impl TableIterator {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let walker = self.walker(py)?;
        let what = self.what;
        let step = errors::raise(py.detach(|| lock(&walker).step(what)))?;
        let Some((key, item)) = step else { return Ok(None) };
        let key = || keys::to_python(py, &key);
        let Some(item) = item else { return Ok(Some(key()?.into_any())) };
        let value = item.into_python(py)?;
        match what {
            What::Pairs => Ok(Some((key()?, value).into_pyobject(py)?.into_any())),
            _ => Ok(Some(value)),
        }
    }
}

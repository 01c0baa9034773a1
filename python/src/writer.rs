//! `seqfeed.Writer`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use seqfeed::{CorpusSpool, Error, Key, Stream};
use seqfeed_convert::ConvertOptions;
use seqfeed_core::Block;

use crate::conversion::{self, Asked};
use crate::forks::{PerProcess, lock};
use crate::interrupt::stoppable;
use crate::keys::Name;
use crate::samples::Samples;
use crate::{errors, keys};

/// Writes a corpus in any format. Sequences wait in a temporary file, and are converted when the
/// writer is closed.
#[pyclass(frozen, module = "seqfeed", weakref)]
pub(crate) struct Writer {
    name: Name,
    options: ConvertOptions,
    sample_rate: Option<u32>,
    /// None when it is closed.
    state: PerProcess<Option<State>>,
}

/// The sequences so far. `None` before the first sequence, which decides the streams.
#[derive(Default)]
struct State {
    spool: Option<CorpusSpool>,
    blocks: Vec<Block>,
}

impl State {
    fn write(&mut self, writer: &Writer, key: Key<'_>, samples: &[Samples]) -> seqfeed::Result<()> {
        let Some(spool) = &mut self.spool else {
            let (spool, blocks) = writer.start(key, samples)?;
            self.blocks = blocks;
            self.spool = Some(spool);
            return Ok(());
        };
        fill(&mut self.blocks, spool.streams(), samples).map_err(|error| error.of_key(key))?;
        spool.push(key, &self.blocks, 0)
    }
}

/// The samples of a sequence as blocks, in the order of the streams.
fn fill(blocks: &mut [Block], streams: &[Stream], samples: &[Samples]) -> seqfeed::Result<()> {
    let named = |name: &str| samples.iter().find(|samples| samples.stream.name == name);
    if let Some(other) =
        samples.iter().find(|one| streams.iter().all(|stream| stream.name != one.stream.name))
    {
        let what = format!("stream {} is not in the first sequence", other.stream.name);
        return Err(Error::corpus(what).with_help("all sequences have the same streams"));
    }
    for (stream, block) in streams.iter().zip(blocks) {
        block.clear();
        let Some(samples) = named(&stream.name) else {
            let what = format!("stream {} is missing", stream.name);
            return Err(Error::corpus(what).with_help("all sequences have the same streams"));
        };
        if samples.stream != *stream {
            let what = format!(
                "stream {} is {}, but {} in the first sequence",
                stream.name,
                described(&samples.stream),
                described(stream)
            );
            return Err(Error::corpus(what).with_help("convert the array before it is written"));
        }
        samples.push_to(block);
    }
    Ok(())
}

fn described(stream: &Stream) -> String {
    format!("{} {} of {}", stream.kind.name(), stream.element.name(), stream.dim)
}

impl Writer {
    /// The spool with the first sequence. A conversion of this sequence alone is planned first, so
    /// that losses are reported now, not after all work is done.
    fn start(
        &self,
        key: Key<'_>,
        samples: &[Samples],
    ) -> seqfeed::Result<(CorpusSpool, Vec<Block>)> {
        let streams: Vec<Stream> = samples.iter().map(|samples| samples.stream.clone()).collect();
        let first = || -> seqfeed::Result<(CorpusSpool, Vec<Block>)> {
            let mut spool = CorpusSpool::new(self.name.to_string(), streams.clone())
                .map_err(|error| error.of_key(key))?;
            let mut blocks = spool.new_blocks();
            fill(&mut blocks, &streams, samples).map_err(|error| error.of_key(key))?;
            spool.push(key, &blocks, 0)?;
            Ok((spool, blocks))
        };
        let alone = first()?.0.finish()?;
        conversion::plan(&alone, self.options.clone(), self.sample_rate)?;
        first()
    }

    fn state(&self) -> PyResult<Arc<Mutex<Option<State>>>> {
        self.state.get().ok_or_else(|| {
            PyValueError::new_err("a writer cannot be used in a forked process: open one there")
        })
    }

    fn put(&self, py: Python<'_>, key: &[u8], samples: &[Samples]) -> PyResult<()> {
        let state = self.state()?;
        let written =
            py.detach(|| lock(&state).as_mut().map(|state| state.write(self, Key(key), samples)));
        errors::raise(written.ok_or_else(|| PyValueError::new_err("the writer is closed"))?)
    }
}

/// The streams of a dictionary.
fn named(key: &[u8], streams: &Bound<'_, PyDict>) -> PyResult<Vec<Samples>> {
    let one = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        Samples::of(key, Some(&name.extract::<String>()?), &value)
    };
    streams.iter().map(one).collect()
}

#[pymethods]
impl Writer {
    #[new]
    #[pyo3(signature = (
        target, *, states=None, frame_period=None, htk_kind=None, compress=None, protocol=None, dtype=None, to=None,
        sample_rate=None, describe=false, allow_lossy=false, allow_pipes=false
    ))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        target: Bound<'_, PyAny>,
        states: Option<Bound<'_, PyAny>>,
        frame_period: Option<f64>,
        htk_kind: Option<String>,
        compress: Option<Bound<'_, PyAny>>,
        protocol: Option<u8>,
        dtype: Option<String>,
        to: Option<BTreeMap<String, Bound<'_, PyAny>>>,
        sample_rate: Option<u32>,
        describe: bool,
        allow_lossy: bool,
        allow_pipes: bool,
    ) -> PyResult<Self> {
        let name = keys::name_of(&target)?.unwrap_or_default();
        let asked = Asked {
            target,
            to,
            dtype,
            compress,
            protocol,
            frame_period,
            htk_kind,
            state_names: states,
            describe,
            allow_lossy,
            allow_pipes,
        };
        let options = asked.options()?;
        let state = PerProcess::new(Some(State::default()));
        Ok(Self { name, options, sample_rate, state })
    }

    /// Writes a sequence: one stream, or several by name.
    #[pyo3(signature = (key, value=None, /, **streams))]
    fn write(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        value: Option<&Bound<'_, PyAny>>,
        streams: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let key = keys::from_python(key)?;
        let samples = match (value, streams) {
            (Some(_), Some(_)) | (None, None) => {
                let what = "streams are given as one value, or by their names";
                return Err(pyo3::exceptions::PyTypeError::new_err(what));
            }
            (None, Some(streams)) => named(&key, streams)?,
            (Some(value), None) if value.hasattr("keys")? => {
                let streams = py.get_type::<PyDict>().call1((value,))?;
                named(&key, streams.cast::<PyDict>()?)?
            }
            (Some(value), None) => vec![Samples::of(&key, None, value)?],
        };
        self.put(py, &key, &samples)
    }

    fn __setitem__(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.write(py, key, Some(value), None)
    }

    /// The name of the target.
    #[getter]
    fn name(&self) -> &OsStr {
        self.name.as_ref()
    }

    /// Writes the files. They appear under their names now.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let state = self.state()?;
        let Some(state) = py.detach(|| lock(&state).take()) else { return Ok(()) };
        let (name, options, sample_rate) =
            (self.name.clone(), self.options.clone(), self.sample_rate);
        let report = stoppable(py, move |stop| {
            let none = || Error::corpus("no sequence was written").in_file(name.to_string());
            let corpus = state.spool.ok_or_else(none)?.finish()?;
            let plan = conversion::plan(&corpus, options, sample_rate)?;
            plan.run_until(stop, &|_samples| {})
        })?;
        conversion::warn_not_written(py, &report)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Closes it. After an exception, no file appears.
    #[pyo3(signature = (*exception))]
    fn __exit__(&self, py: Python<'_>, exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        if exception.get_item(0).is_ok_and(|kind| !kind.is_none()) {
            let state = self.state()?;
            py.detach(|| drop(lock(&state).take()));
            return Ok(());
        }
        self.close(py)
    }

    fn __repr__(&self) -> String {
        format!("<seqfeed.Writer {}>", self.name)
    }
}

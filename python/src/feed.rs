//! The feed as a Python iterator.

mod run;
mod size;
mod transform;

use std::sync::{Arc, Mutex};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyTuple};
use seqfeed::io::Opener;
use seqfeed::{Delivered, Description, Opened, OptionScope, Source, State};

use self::run::{Found, Run};
use self::transform::Transform;
use crate::forks::{PerProcess, lock};
use crate::interrupt::interruptible;
use crate::keys::Name;
use crate::minibatch::Minibatch;
use crate::{describe, errors, interrupt};

/// Keywords that are not in the table of options.
const OWN: &[&str] = &["progress", "transform", "allow_pipes"];

/// Minibatches of a corpus. Threads that do not hold the interpreter load and pack them ahead.
#[pyclass(frozen, module = "seqfeed", weakref)]
pub(crate) struct Feed {
    name: Name,
    description: Description,
    opener: Opener,
    /// The share of a sweep, if it is a part of another feed.
    part: Option<SweepShare>,
    run: PerProcess<Run>,
    /// Facts that stay available while minibatches are waited for.
    seen: Mutex<Seen>,
    progress: Option<Py<PyAny>>,
    transform: Option<Transform>,
    /// The argument it was made from, to make it again in another process.
    source: Py<PyAny>,
    options: Py<PyDict>,
}

struct Seen {
    opened: Arc<Opened>,
    /// The state after the last minibatch that was returned.
    state: Option<State>,
    /// The sweep of the current loop.
    loop_sweep: Option<u64>,
    /// Whether the loop has ended. An ended iterator stays ended until the next loop begins.
    ended: bool,
    closed: bool,
    watch: size::Watch,
    /// What was returned of each corpus of a mixture.
    delivered: Vec<Delivered>,
}

/// One sweep for one rank.
#[derive(Clone, Copy)]
struct SweepShare {
    sweep: u64,
    rank: usize,
    ranks: usize,
    threads: Option<usize>,
}

impl SweepShare {
    fn of(self, opened: &Opened) -> Opened {
        opened.one_sweep(self.sweep, self.rank, self.ranks, self.threads)
    }
}

impl Seen {
    fn of(opened: Arc<Opened>) -> Self {
        let (watch, delivered) = (size::Watch::default(), Vec::new());
        Self {
            opened,
            state: None,
            loop_sweep: None,
            ended: false,
            closed: false,
            watch,
            delivered,
        }
    }
}

impl Feed {
    /// Whether one loop is one sweep, since no other end is set.
    fn by_sweeps(&self) -> bool {
        let seen = lock(&self.seen);
        let settings = seen.opened.settings();
        settings.sweeps.is_none() && settings.samples.is_none()
    }

    fn state_now(&self) -> Option<State> {
        lock(&self.seen).state.clone()
    }

    /// The run of this process. A forked child gets a new one from the parent's position.
    #[allow(clippy::mem_forget)]
    fn run(&self, py: Python<'_>) -> PyResult<Arc<Mutex<Run>>> {
        if lock(&self.seen).closed {
            return Err(PyValueError::new_err("the feed is closed"));
        }
        if let Some(run) = self.run.get() {
            return Ok(run);
        }
        let (description, opener) = (self.description.clone(), self.opener.clone());
        let opened = interruptible(py, move || description.open(&opener))?;
        let opened = Arc::new(match self.part {
            Some(part) => part.of(&opened),
            None => opened,
        });
        let mut seen = lock(&self.seen);
        let before = std::mem::replace(&mut seen.opened, Arc::clone(&opened));
        // The parent's threads may have held its locks.
        std::mem::forget(before);
        Ok(self.run.renew(Run::new(opened, seen.state.clone(), seen.loop_sweep)))
    }

    /// The next minibatch; `None` at the end of the loop.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, Minibatch>>> {
        let (run, by_sweeps) = (self.run(py)?, self.by_sweeps());
        loop {
            let found = py.detach(|| lock(&run).next_within(interrupt::SLICE, by_sweeps));
            match errors::raise(found)? {
                Found::Minibatch(minibatch) => {
                    let minibatch = Bound::new(py, Minibatch::new(py, *minibatch)?)?;
                    // Before it counts as returned: a state goes back to one that was not changed.
                    if let Some(transform) = &self.transform {
                        let took = transform.apply(&minibatch)?;
                        lock(&self.seen).watch.count_transform(took);
                    }
                    self.note(py, minibatch.get().batch())?;
                    return Ok(Some(minibatch));
                }
                Found::End => {
                    {
                        let mut seen = lock(&self.seen);
                        (seen.loop_sweep, seen.ended) = (None, true);
                    }
                    self.report(py, true)?;
                    return Ok(None);
                }
                Found::Nothing => py.check_signals()?,
            }
        }
    }

    fn note(&self, py: Python<'_>, minibatch: &seqfeed::Minibatch) -> PyResult<()> {
        {
            let mut seen = lock(&self.seen);
            seen.state = Some(minibatch.state().clone());
            seen.loop_sweep = Some(minibatch.sweep());
            seen.watch.count(minibatch.samples() as u64);
            Delivered::add(&mut seen.delivered, minibatch.delivered());
        }
        self.report(py, false)
    }

    fn report(&self, py: Python<'_>, at_end: bool) -> PyResult<()> {
        let Some(hook) = &self.progress else { return Ok(()) };
        let report = {
            let mut seen = lock(&self.seen);
            let total = size::samples(&seen.opened);
            seen.watch.report(total, at_end)
        };
        match report {
            Some(report) => hook.call1(py, (report.to_python(py)?,)).map(drop),
            None => Ok(()),
        }
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        // Its threads finish their current work before they end. Others need not wait for this.
        if let Some(run) = self.run.get() {
            Python::try_attach(|py| py.detach(|| lock(&run).stop()));
        }
    }
}

#[pymethods]
impl Feed {
    #[new]
    #[pyo3(signature = (
        source=None, *, overrides=None, allow_pipes=false, progress=None, transform=None, **options
    ))]
    fn new(
        py: Python<'_>,
        source: Option<Bound<'_, PyAny>>,
        overrides: Option<Bound<'_, PyMapping>>,
        allow_pipes: bool,
        progress: Option<Py<PyAny>>,
        transform: Option<Bound<'_, PyAny>>,
        options: Option<Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let options = describe::with_overrides(py, options, overrides)?;
        let described = describe::describe(source.as_ref(), &options, OWN, OptionScope::Feed)?;
        options.set_item("allow_pipes", allow_pipes)?;
        options.set_item("transform", &transform)?;
        let transform = transform.map(Transform::new).transpose()?;
        let opener = Opener::allowing_pipes(allow_pipes);
        let (description, to_open) = (described.description.clone(), opener.clone());
        let opened = interruptible(py, move || description.open(&to_open))?;
        errors::raise(opened.settings().check())?;
        for warning in described.warnings.iter().chain(&opened.warnings()) {
            errors::warn(py, warning)?;
        }
        if described.description.feed.state.is_some() {
            errors::warn(
                py,
                "`state` is what the command line keeps its place in; here state_dict() and load_state_dict() do",
            )?;
        }
        for group in &opened.report().dropped {
            errors::warn(py, &format!("{}: skipped {group}", described.name))?;
        }
        let opened = Arc::new(opened);
        let run = Run::new(Arc::clone(&opened), None, None);
        Ok(Self {
            name: described.name,
            description: described.description,
            opener,
            part: None,
            run: PerProcess::new(run),
            seen: Mutex::new(Seen::of(opened)),
            progress,
            transform,
            source: source.map_or_else(|| py.None(), Bound::unbind),
            options: options.unbind(),
        })
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyResult<PyRef<'_, Self>> {
        let py = slf.py();
        let run = slf.run(py)?;
        py.detach(|| lock(&run).begin_loop());
        {
            let mut seen = lock(&slf.seen);
            (seen.loop_sweep, seen.ended) = (None, false);
            seen.watch.begin();
        }
        Ok(slf)
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, Minibatch>>> {
        // A closed feed says so first.
        self.run(py)?;
        if lock(&self.seen).ended {
            return Ok(None);
        }
        self.next(py)
    }

    /// The next minibatch, with the arrays of some streams in memory of the caller's (pinned, or
    /// used over and over); None at the end of the loop. After that the next loop begins.
    fn next_into<'py>(
        &self,
        py: Python<'py>,
        buffers: &Bound<'py, PyDict>,
    ) -> PyResult<Option<Bound<'py, Minibatch>>> {
        let Some(minibatch) = self.next(py)? else {
            lock(&self.seen).ended = false;
            return Ok(None);
        };
        minibatch.get().fill(py, buffers)?;
        Ok(Some(minibatch))
    }

    fn __len__(&self) -> PyResult<usize> {
        let seen = lock(&self.seen);
        size::minibatches(&seen.opened).map(|count| count as usize).ok_or_else(|| {
            PyTypeError::new_err(
                "the number of minibatches is not known before they are cut (it is for frames, and for \
                 sequences counted by sequences)",
            )
        })
    }

    /// The state after the last minibatch that was returned: a dictionary of numbers and text.
    fn state_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.state_now() {
            Some(state) => py.import("json")?.call_method1("loads", (state.to_json(),)),
            None => Ok(PyDict::new(py).into_any()),
        }
    }

    /// Goes to the position of a state: the next minibatch is the one that came after it.
    fn load_state_dict(&self, py: Python<'_>, state: &Bound<'_, PyDict>) -> PyResult<()> {
        let state = if state.is_empty() {
            None
        } else {
            let text: String = py.import("json")?.call_method1("dumps", (state,))?.extract()?;
            Some(errors::raise(State::from_json(&text))?)
        };
        let run = self.run(py)?;
        errors::raise(py.detach(|| lock(&run).go_to(state.clone())))?;
        let mut seen = lock(&self.seen);
        (seen.state, seen.loop_sweep, seen.ended) = (state, None, false);
        seen.watch = size::Watch::default();
        Ok(())
    }

    /// A feed of one sweep of the same corpus, for one rank of `ranks`. The corpus is not opened
    /// again.
    #[pyo3(signature = (sweep, rank=None, ranks=None, *, threads=None))]
    fn one_sweep(
        &self,
        py: Python<'_>,
        sweep: u64,
        rank: Option<usize>,
        ranks: Option<usize>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        // In a forked child, the child's own run.
        self.run(py)?;
        let opened = Arc::clone(&lock(&self.seen).opened);
        let settings = opened.settings();
        let (rank, ranks) = (rank.unwrap_or(settings.rank), ranks.unwrap_or(settings.ranks));
        if self.part.is_some() {
            return Err(PyValueError::new_err("it is one sweep already"));
        }
        if rank >= ranks {
            return Err(PyValueError::new_err(format!(
                "rank {rank} of {ranks}: they count from 0"
            )));
        }
        let part = SweepShare { sweep, rank, ranks, threads };
        let opened = Arc::new(part.of(&opened));
        let options = self.options.bind(py).copy()?;
        let settings = opened.settings();
        if settings.without_effect("seed").is_none() {
            options.set_item("seed", settings.order.seed())?;
        }
        options.set_item("sweeps", 1)?;
        options.set_item("rank", rank)?;
        options.set_item("ranks", ranks)?;
        options.set_item("threads", settings.threads)?;
        Ok(Self {
            name: self.name.clone(),
            description: self.description.clone(),
            opener: self.opener.clone(),
            part: Some(part),
            run: PerProcess::new(Run::new(Arc::clone(&opened), None, None)),
            seen: Mutex::new(Seen::of(opened)),
            progress: self.progress.as_ref().map(|hook| hook.clone_ref(py)),
            transform: self.transform.as_ref().map(|transform| transform.clone_ref(py)),
            source: self.source.clone_ref(py),
            options: options.unbind(),
        })
    }

    /// The sweep of the next minibatch, from 0: the number of finished sweeps.
    #[getter]
    fn sweep(&self) -> u64 {
        self.state_now().map_or(0, |state| state.order.sweep)
    }

    /// The streams: a dictionary of names to kind, dtype, dim (with context) and extent.
    #[getter]
    fn streams<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let opened = Arc::clone(&lock(&self.seen).opened);
        let streams = PyDict::new(py);
        for stream in opened.corpus().streams() {
            let contexts = &opened.settings().context;
            let context = contexts.iter().find(|context| context.stream == stream.name);
            let width = context.map_or(1, |context| context.left + 1 + context.right);
            let types = &opened.settings().types;
            let mut delivered = stream.clone();
            if let Some(one) = types.iter().find(|one| one.stream == stream.name) {
                delivered.element = one.element;
            }
            let fields = crate::table::stream_info(py, &delivered, width)?;
            streams.set_item(&stream.name, fields)?;
        }
        Ok(streams)
    }

    /// The names of labels: a dictionary of streams to dictionaries of numbers to names. Streams
    /// without such names are not in it.
    #[getter]
    fn symbols<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let opened = Arc::clone(&lock(&self.seen).opened);
        let streams = PyDict::new(py);
        for (stream, table) in opened.corpus().about().symbols {
            let names = PyDict::new(py);
            for (number, name) in table.iter() {
                names.set_item(number, seqfeed::Key(name).to_text())?;
            }
            streams.set_item(stream, names)?;
        }
        Ok(streams)
    }

    /// The seed of the shuffle: sweep `s` is shuffled like sweep 0 with seed `seed + s`.
    #[getter]
    fn seed(&self) -> u64 {
        lock(&self.seen).opened.settings().order.seed()
    }

    /// Number of utterances in the corpus.
    #[getter]
    fn utterances(&self) -> usize {
        lock(&self.seen).opened.corpus().index().len()
    }

    /// Number of samples in the corpus.
    #[getter]
    fn samples(&self) -> u64 {
        lock(&self.seen).opened.corpus().index().total_samples()
    }

    /// What was returned of each corpus of a mixture: its units, its samples and its own sweeps.
    #[getter]
    fn delivered<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for Delivered { name, units, samples, sweeps } in &lock(&self.seen).delivered {
            let counts = PyDict::new(py);
            for (what, count) in [("units", units), ("samples", samples), ("sweeps", sweeps)] {
                counts.set_item(what, count)?;
            }
            all.set_item(&**name, counts)?;
        }
        Ok(all)
    }

    /// Ends the threads and gives memory back. Minibatches that were returned stay valid.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if lock(&self.seen).closed {
            return Ok(());
        }
        let run = self.run(py)?;
        lock(&self.seen).closed = true;
        py.detach(|| lock(&run).stop());
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
        if self.part.is_some() && lock(&self.seen).opened.settings().mixture.is_some() {
            return Err(PyTypeError::new_err(
                "one sweep of a mixture cannot be sent to another process: send the feed, and call one_sweep there",
            ));
        }
        let remake = py.import("seqfeed._types")?.getattr("_remake")?;
        let class = py.get_type::<Self>();
        let arguments = (class, (&self.source,), &self.options, self.state_dict(py)?);
        Ok((remake, arguments).into_pyobject(py)?.into_any())
    }

    fn __repr__(&self) -> String {
        format!("<seqfeed.Feed {}>", self.name)
    }
}

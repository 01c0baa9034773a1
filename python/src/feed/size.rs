//! The size of a loop, and its progress.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use seqfeed::{
    BatchSize, Cut, Limits, Opened, Partial, Preview, Settings, Shard, Source, Steps, Unit,
    units_in_sweep,
};

use crate::values;

/// The number of minibatches of the rank in a loop, if it is known without loading them.
pub(super) fn minibatches(opened: &Opened) -> Option<u64> {
    let settings = opened.settings();
    let index = opened.corpus().index();
    let excluded = settings.labels.as_ref().is_some_and(|rules| !rules.ignore.is_empty());
    let lengths_decide = match settings.cut {
        Cut::Steps(steps) => steps.buckets.is_some() || steps.pack,
        _ => false,
    };
    let has_end = settings.samples.is_some() || units_in_sweep(index, settings).is_some();
    if lengths_decide && has_end {
        let settings = Settings { sweeps: settings.sweeps.or(Some(1)), ..settings.clone() };
        let corpus = Arc::clone(opened.corpus()) as Arc<dyn Source>;
        return Preview::new(corpus, &settings).ok().map(|preview| preview.count() as u64);
    }
    let Cut::Steps(Steps {
        bucket: None,
        buckets: None,
        pack: false,
        limits: Limits { sequences: None, padded: None, tokens: None, quadratic: None },
        shard: Shard::Minibatches | Shard::Groups,
        groups: _,
        partial,
    }) = settings.cut
    else {
        return None;
    };
    let several_sweeps = settings.mixture.is_some() && settings.sweeps.is_some_and(|n| n > 1);
    let simple = !several_sweeps && settings.samples.is_none() && !excluded && !index.has_masked();
    let (units, size) = match (settings.unit, settings.batch) {
        (Unit::Frame, BatchSize::Samples(size)) | (_, BatchSize::Units(size)) => {
            (units_in_sweep(index, settings)?, size)
        }
        _ => return None,
    };
    if !simple || size == 0 {
        return None;
    }
    let (rank, ranks) = (settings.rank as u64, settings.ranks as u64);
    let in_sweep = match partial {
        Partial::Keep => (units.div_ceil(size) + ranks - 1 - rank) / ranks,
        Partial::Drop => units / (size * ranks),
        Partial::Even => units.div_ceil(size * ranks),
    };
    Some(in_sweep * settings.sweeps.unwrap_or(1))
}

/// The number of samples in a loop over all ranks; 0 if it is not known.
pub(super) fn samples(opened: &Opened) -> u64 {
    let settings = opened.settings();
    if settings.mixture.is_some() {
        return settings.samples.unwrap_or(0);
    }
    let in_sweeps =
        opened.corpus().index().total_samples().saturating_mul(settings.sweeps.unwrap_or(1));
    settings.samples.map_or(in_sweeps, |samples| samples.min(in_sweeps))
}

/// The calls of the progress hook.
#[derive(Default)]
pub(super) struct Watch {
    started: Option<Instant>,
    reported: Option<Instant>,
    minibatches: u64,
    samples: u64,
    in_transform: Duration,
}

pub(super) struct Report {
    samples: u64,
    total: u64,
    minibatches: u64,
    seconds: f64,
    transform_seconds: f64,
}

impl Watch {
    /// The least time between two reports.
    const PAUSE: Duration = Duration::from_millis(100);

    pub(super) fn begin(&mut self) {
        *self = Self { started: Some(Instant::now()), ..Self::default() };
    }

    pub(super) fn count(&mut self, samples: u64) {
        self.started.get_or_insert_with(Instant::now);
        self.minibatches += 1;
        self.samples += samples;
    }

    pub(super) fn count_transform(&mut self, took: Duration) {
        self.in_transform += took;
    }

    pub(super) fn report(&mut self, total: u64, at_end: bool) -> Option<Report> {
        let now = Instant::now();
        let started = *self.started.get_or_insert(now);
        if !at_end && self.reported.is_some_and(|last| now.duration_since(last) < Self::PAUSE) {
            return None;
        }
        self.reported = Some(now);
        let report = Report {
            samples: self.samples,
            total,
            minibatches: self.minibatches,
            seconds: now.duration_since(started).as_secs_f64(),
            transform_seconds: self.in_transform.as_secs_f64(),
        };
        if at_end {
            *self = Self::default();
        }
        Some(report)
    }
}

impl Report {
    pub(super) fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let fields = [
            ("samples", self.samples.into_pyobject(py)?.into_any()),
            ("total", self.total.into_pyobject(py)?.into_any()),
            ("minibatches", self.minibatches.into_pyobject(py)?.into_any()),
            ("seconds", self.seconds.into_pyobject(py)?.into_any()),
            ("transform_seconds", self.transform_seconds.into_pyobject(py)?.into_any()),
        ];
        values::named(py, "Progress", &fields)
    }
}

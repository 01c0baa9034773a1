//! The feed settings of a reader of CNTK.

use seqfeed_cntk::config::{self, ReaderConfig, ReaderKind};
use seqfeed_feed::{
    BatchSize, Context, Cut, Epoch, Generator, Layout, Order, Settings, Shuffle, Truncation, Unit,
    Window, Worker,
};
use seqfeed_io::{Beside, Location, name_from_text};

use super::htk;

/// The settings of a reader. `by_program` means those of CNTK's program; otherwise those of its
/// Python package.
pub(super) fn settings(reader: &ReaderConfig, context: Vec<Context>, by_program: bool) -> Settings {
    let truncated = reader.truncated.then_some(Truncation {
        length: reader.truncation_length,
        right_splice: reader.right_splice,
    });
    let frames = reader.frame_mode && htk::is_read(reader);
    let legacy = reader.htk.as_ref().filter(|_| reader.kind == ReaderKind::HtkMlf);
    let full = legacy.is_some_and(|htk| !htk.partial_minibatches) && frames;
    let shuffle = |window| Order::Shuffle(Shuffle { window, ..shuffle(reader) });
    let order = match reader.window() {
        None => Order::Sequential,
        Some(config::Window::Samples(samples)) => match htk::rolls(reader) {
            true => Order::Rolling(samples),
            false => shuffle(Window::Samples(samples)),
        },
        Some(config::Window::Chunks(chunks)) => shuffle(Window::Chunks(chunks)),
    };
    Settings {
        unit: if frames { Unit::Frame } else { Unit::Sequence },
        order,
        // Frames come one by one, as sequences of one sample each. The older reader of HTK files
        // has one row, in which sequences follow one another.
        layout: match legacy {
            _ if reader.frame_mode => Layout::Concatenated,
            Some(htk) if htk.parallel_utterances == [1] => Layout::Concatenated,
            _ => Layout::Packed,
        },
        context,
        cut: Cut::Worker(Worker {
            // Stand-alone readers count the samples of all workers.
            local_timeline: reader.kind == ReaderKind::Composite && reader.local_timeline,
            cross_sweeps: !by_program,
            truncated,
            drops_partial: full,
            htkmlf_epochs: legacy.is_some(),
            ..Worker::default()
        }),
        ..Settings::default()
    }
}

/// The shuffle of a reader, with the reader's default window.
pub(super) fn shuffle(reader: &ReaderConfig) -> Shuffle {
    let htkmlf = reader.htk.as_ref().filter(|_| reader.kind == ReaderKind::HtkMlf);
    let generator = match htkmlf {
        Some(htk) if !htk.mersenne_twister => Generator::Rand,
        _ => Generator::MersenneTwister,
    };
    Shuffle { seed: reader.randomization_seed, generator, ..Shuffle::default() }
}

/// The number of sequences side by side, in the readers of HTK files.
#[derive(Debug)]
pub(super) struct Rows {
    /// The number (`nbruttsineachrecurrentiter`) for each epoch. The last number stays.
    by_epoch: Vec<u64>,
    form: Form,
}

/// The contents of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Sequences that are truncated to the number of samples given for a minibatch.
    Truncated,
    /// As many whole sequences as there are rows, if there are several rows.
    Whole,
    /// One sequence a minibatch, for writing.
    Alone,
}

/// The rows of a reader that gives their number.
pub(super) fn rows(reader: &ReaderConfig) -> Option<Rows> {
    let htk = reader.htk.as_ref()?;
    let older = reader.kind == ReaderKind::HtkMlf;
    let form = match reader.truncated {
        true if reader.truncation_length == 0 => Form::Truncated,
        false if older && reader.write => Form::Alone,
        false if older && !reader.frame_mode => Form::Whole,
        _ => return None,
    };
    let by_epoch = match form {
        Form::Alone => vec![1],
        Form::Truncated | Form::Whole => htk.parallel_utterances.clone(),
    };
    Some(Rows { by_epoch, form })
}

impl Rows {
    /// Sets the batch size for the epoch in which the run begins.
    pub(super) fn apply(&self, settings: &mut Settings, sweep_samples: u64) {
        let start = if let Cut::Worker(worker) = settings.cut { worker.start } else { 0 };
        let epoch = match settings.cut.epoch() {
            Epoch::Run => 0,
            Epoch::Sweep => start / sweep_samples.max(1),
            Epoch::Samples(samples) => start / samples.max(1),
        };
        let last = self.by_epoch.len().saturating_sub(1);
        let rows = self.by_epoch.get(last.min(epoch as usize)).copied().unwrap_or(1);
        if self.form != Form::Truncated {
            if rows > 1 || self.form == Form::Alone {
                settings.batch = BatchSize::Units(rows);
            }
            return;
        }
        let size = settings.batch.number();
        let truncated = match &mut settings.cut {
            Cut::Worker(worker) => &mut worker.truncated,
            Cut::Timeline(timeline) => &mut timeline.truncated,
            Cut::Steps(_) | Cut::Partitions(_) => &mut None,
        };
        if let Some(truncation) = truncated.as_mut().filter(|one| one.length == 0) {
            truncation.length = size;
            settings.batch = BatchSize::Samples(size.saturating_mul(rows));
        }
    }

    /// A warning, if later epochs have other numbers.
    pub(super) fn warning(&self) -> Option<String> {
        let differ = self.by_epoch.iter().any(|rows| *rows != self.by_epoch[0]);
        differ.then(|| {
            "nbruttsineachrecurrentiter changes with the epoch: a run keeps the number of the epoch \
             that it begins in (--start)"
                .to_owned()
        })
    }
}

/// A file that a configuration names. As in CNTK, the name is relative to the working directory. If
/// there is no such file, it is relative to the directory of the configuration. Backslashes become
/// slashes if no file has the name itself.
pub(super) fn find(name: &str, beside: &Beside) -> Location {
    let location = |name: &str| Location::of_file(name_from_text(name));
    let slashed = || beside.there(&location(&name.replace('\\', "/")));
    let found = beside.there(&location(name)).or_else(slashed);
    found.unwrap_or_else(|| beside.find(&location(name)))
}

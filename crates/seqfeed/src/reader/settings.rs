//! How a reader of CNTK feeds its corpus.

use std::path::{Path, PathBuf};

use seqfeed_cntk::config::{self, ReadMethod, ReaderConfig, ReaderKind};
use seqfeed_feed::{
    BatchSize, Context, Cut, Epoch, Generator, Layout, Order, Partial, Settings, Truncation, Unit,
    Window,
};

use super::htk;

/// The settings of a reader; `by_program` if they are those of CNTK's program, not of its Python package.
pub(super) fn settings(reader: &ReaderConfig, context: Vec<Context>, by_program: bool) -> Settings {
    let order = match reader.window() {
        None => Order::Sequential,
        Some(config::Window::Samples(samples)) => match rolls(reader) {
            true => Order::Rolling(samples),
            false => Order::Shuffle(Window::Samples(samples)),
        },
        Some(config::Window::Chunks(chunks)) => Order::Shuffle(Window::Chunks(chunks)),
    };
    let truncated = reader.truncated.then_some(Truncation {
        length: reader.truncation_length,
        right_splice: reader.right_splice,
    });
    let frames = reader.frame_mode && htk::is_read(reader);
    let legacy = reader.htk.as_ref().filter(|_| reader.kind == ReaderKind::HtkMlf);
    let full = legacy.is_some_and(|htk| !htk.partial_minibatches) && frames;
    let rand = legacy.is_some_and(|htk| !htk.mersenne_twister);
    let default = Settings::default();
    Settings {
        unit: if frames { Unit::Frame } else { Unit::Sequence },
        order,
        seed: reader.randomization_seed,
        // Frames come one by one: sequences of one sample each. And the older reader of HTK files has
        // one row, in which sequences follow one another.
        layout: match legacy {
            _ if reader.frame_mode => Layout::Concatenated,
            Some(htk) if htk.parallel_utterances == [1] => Layout::Concatenated,
            _ => Layout::Packed,
        },
        partial: if full { Partial::Drop } else { Partial::Keep },
        generator: if rand { Generator::Rand } else { Generator::MersenneTwister },
        context,
        cut: Cut::Worker {
            // Readers that stand alone count all workers' samples.
            local_timeline: reader.kind == ReaderKind::Composite && reader.local_timeline,
            cross_sweeps: !by_program,
        },
        truncated,
        ..default
    }
}

/// Sequences side by side, in the readers of HTK files.
#[derive(Debug)]
pub(crate) struct Rows {
    /// How many (`nbruttsineachrecurrentiter`), epoch by epoch; the last number holds on.
    by_epoch: Vec<u64>,
    /// Whether they are truncated to as many samples as a minibatch is said to have; otherwise a
    /// minibatch is as many whole sequences, if they are more than one.
    truncated: bool,
}

/// The rows of a reader that counts them.
pub(super) fn rows(reader: &ReaderConfig) -> Option<Rows> {
    let htk = reader.htk.as_ref()?;
    let truncated = reader.truncated && reader.truncation_length == 0;
    let whole = reader.kind == ReaderKind::HtkMlf && !reader.frame_mode && !reader.truncated;
    (truncated || whole).then(|| Rows { by_epoch: htk.parallel_utterances.clone(), truncated })
}

impl Rows {
    /// Sets the batch size for the epoch that the run begins in.
    pub(crate) fn apply(&self, settings: &mut Settings, sweep_samples: u64) {
        let epoch = match settings.epoch {
            Epoch::Run => 0,
            Epoch::Sweep => settings.start / sweep_samples.max(1),
            Epoch::Samples(samples) => settings.start / samples.max(1),
        };
        let last = self.by_epoch.len().saturating_sub(1);
        let rows = self.by_epoch.get(last.min(epoch as usize)).copied().unwrap_or(1);
        if !self.truncated {
            if rows > 1 {
                settings.batch = BatchSize::Units(rows);
            }
            return;
        }
        let (BatchSize::Samples(size) | BatchSize::Units(size) | BatchSize::Padded(size)) =
            settings.batch;
        if let Some(truncation) = settings.truncated.as_mut().filter(|one| one.length == 0) {
            truncation.length = size;
            settings.batch = BatchSize::Samples(size.saturating_mul(rows));
        }
    }

    /// A warning, where later epochs have other numbers.
    pub(crate) fn warning(&self) -> Option<String> {
        let differ = self.by_epoch.iter().any(|rows| *rows != self.by_epoch[0]);
        differ.then(|| {
            "nbruttsineachrecurrentiter changes with the epoch: a run keeps the number of the epoch \
             that it begins in (--start)"
                .to_owned()
        })
    }
}

fn rolls(reader: &ReaderConfig) -> bool {
    reader.htk.as_ref().is_some_and(|htk| htk.read_method == ReadMethod::RollingWindow)
}

/// A file that a configuration names: relative to the working directory, as with CNTK; where there is
/// none, to the configuration's own.
pub(super) fn find(name: &str, directory: Option<&Path>) -> String {
    let beside: Option<PathBuf> = directory.map(|directory| directory.join(name));
    match beside {
        Some(beside) if !Path::new(name).exists() && beside.exists() => {
            beside.display().to_string()
        }
        _ => name.to_owned(),
    }
}

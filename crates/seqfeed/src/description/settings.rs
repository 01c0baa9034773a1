//! The settings of a feed, as a description gives them.

use seqfeed_core::{Error, Result};
use seqfeed_feed::{
    BatchSize, Context, Cut, Epoch, Generator, LabelMap, LabelRules, LabelSet, Layout, Order,
    Partial, Partitions, Settings, Shuffle, Steps, Timeline, Truncation, Unit, Window, Worker,
};
use seqfeed_pdnn::spec::DataOptions;

use super::{BatchUnit, CutName, Description, OrderName};
use crate::quantity;

impl Description {
    /// The settings of the feed.
    ///
    /// # Errors
    ///
    /// Fails if a value is not one, or if keys contradict one another.
    pub fn settings(&self) -> Result<Settings> {
        self.settings_over(Settings::default(), Shuffle::default())
    }

    /// Other settings, with those replaced that the description gives. Where the others shuffle
    /// nothing, but the description asks for it, it is done as `shuffle` says.
    pub(crate) fn settings_over(&self, default: Settings, shuffle: Shuffle) -> Result<Settings> {
        let partitions = self.cut == Some(CutName::Partitions)
            || self.partition.is_some()
            || self.stream.is_some()
            || self.reshuffle.is_some();
        let by_frames = if partitions { Unit::Frame } else { default.unit };
        let unit = self.unit.unwrap_or(by_frames);
        if unit == Unit::Frame && self.layout.is_some_and(|layout| layout != Layout::Frames) {
            return Err(Error::usage("that layout needs unit = \"sequence\""));
        }
        let batch = self.batch_over(default.batch);
        let mut contexts = Vec::new();
        for (stream, description) in self.streams() {
            if let Some(text) = &description.context {
                let (left, right) = quantity::context(&text.text())?;
                contexts.push(Context { stream, left, right });
            }
        }
        // Readers, data and corpora have their own streams; whose context it is shows when
        // they are open.
        let own = self.reader.is_some() || self.data.is_some() || self.corpus.is_some();
        let taken = contexts.iter().any(|context| context.stream == "features");
        if let (Some(text), true, false) = (&self.context, own, taken) {
            let (left, right) = quantity::context(&text.text())?;
            contexts.push(Context { stream: "features".to_owned(), left, right });
        }
        let ranks = self.ranks.unwrap_or(default.ranks);
        let cut = self.cut_over(default.cut, ranks)?;
        let order = self.order_over(default.order, shuffle, &cut)?;
        // Both end the run: what is given here replaces what was there.
        let (sweeps, samples) = match (self.sweeps, self.samples) {
            (None, None) => (default.sweeps, default.samples),
            given => given,
        };
        let settings = Settings {
            unit,
            order,
            batch,
            cut,
            layout: self.layout.unwrap_or(default.layout),
            label_padding: self.label_padding.unwrap_or(default.label_padding),
            context: if contexts.is_empty() { default.context } else { contexts },
            labels: self.labels_over(default.labels)?,
            rank: self.rank.unwrap_or(default.rank),
            ranks,
            sweeps,
            samples,
            threads: self.threads.unwrap_or(default.threads),
            queue: self.queue.unwrap_or(default.queue),
            memory: self.memory.as_ref().map(|text| quantity::bytes(&text.text())).transpose()?,
        };
        self.check_effects(&settings)?;
        Ok(settings)
    }

    /// A key that was given must have an effect among the settings.
    fn check_effects(&self, settings: &Settings) -> Result<()> {
        let given = [
            ("seed", self.seed.is_some()),
            ("reshuffle", self.reshuffle == Some(true)),
            ("layout", self.layout.is_some()),
            ("label-padding", self.label_padding.is_some()),
            ("ignore-label", self.ignore_label.is_some()),
            ("local-timeline", self.local_timeline.is_some()),
            ("cross-sweeps", self.cross_sweeps.is_some()),
        ];
        // What was typed may take away the effect of a key of the file, which gives way.
        let causes = ["order", "unit", "cut", "truncation", "layout", "batch-unit"];
        let typed = causes.iter().any(|key| self.is_overridden(key));
        let stands = |key: &str| !typed || self.is_overridden(key);
        for (key, _) in given.into_iter().filter(|&(key, given)| given && stands(key)) {
            if let Some(why) = settings.without_effect(key) {
                return Err(Error::usage(format!("{key} has no effect here: {why}"))
                    .with_help(format!("leave {key} out, or change what it does not go with")));
            }
        }
        if settings.unit == Unit::Frame && self.batch_unit == Some(BatchUnit::Sequences) {
            return Err(Error::usage("batch-unit = \"sequences\" needs unit = \"sequence\"")
                .with_help("frames are counted with batch-unit = \"samples\""));
        }
        if settings.unit == Unit::Sequence
            && let Some(layout @ (Layout::Frames | Layout::Truncated)) = self.layout
        {
            let needs = match layout {
                Layout::Frames => "unit = \"frame\"",
                _ => "a truncation length (truncation = 20)",
            };
            return Err(Error::usage(format!("that layout needs {needs}")));
        }
        Ok(())
    }

    fn order_over(&self, default: Order, otherwise: Shuffle, cut: &Cut) -> Result<Order> {
        let partitions = matches!(cut, Cut::Partitions(_));
        if partitions && self.window.is_some() {
            return Err(Error::usage(
                "a window does not go with partitions: they are shuffled whole",
            ));
        }
        let order = match (self.order, &self.window) {
            (Some(OrderName::Sequential), Some(_)) => {
                return Err(Error::usage("a window is for order = \"shuffle\", not sequential"));
            }
            (Some(OrderName::Sequential), None) => Order::Sequential,
            (None, None) => default,
            (_, window) => {
                let mut shuffle = default.shuffled().unwrap_or(otherwise);
                if let Some(text) = window {
                    shuffle.window = quantity::window(&text.text())?;
                }
                Order::Shuffle(shuffle)
            }
        };
        let Order::Shuffle(mut shuffle) = order else { return Ok(order) };
        if partitions {
            shuffle.window = Window::Corpus;
            shuffle.seed = DataOptions::SEED;
        }
        shuffle.seed = self.seed.unwrap_or(shuffle.seed);
        // `rand` draws for windows of chunks or samples only, whatever the reader that brings it
        // along.
        if !matches!(cut, Cut::Steps(_) | Cut::Worker(_)) || shuffle.window == Window::Corpus {
            shuffle.generator = Generator::default();
        }
        Ok(Order::Shuffle(shuffle))
    }

    fn labels_over(&self, default: Option<LabelRules>) -> Result<Option<LabelRules>> {
        let mut rules =
            default.unwrap_or(LabelRules { stream: "labels".to_owned(), ..LabelRules::default() });
        if let Some(text) = &self.ignore_label {
            rules.ignore = LabelSet::new(DataOptions::parse_ignore(&text.text())?);
        }
        if let Some(text) = &self.map_label {
            rules.map = LabelMap::new(DataOptions::parse_map(&text.text())?);
        }
        let any = !rules.ignore.is_empty() || !rules.map.is_empty();
        Ok(any.then_some(rules))
    }

    fn batch_over(&self, default: BatchSize) -> BatchSize {
        let unit = match default {
            BatchSize::Samples(_) => BatchUnit::Samples,
            BatchSize::Units(_) => BatchUnit::Sequences,
            BatchSize::Padded(_) => BatchUnit::Padded,
        };
        let size = self.batch_size.unwrap_or(default.number());
        match self.batch_unit.unwrap_or(unit) {
            BatchUnit::Samples => BatchSize::Samples(size),
            BatchUnit::Sequences => BatchSize::Units(size),
            BatchUnit::Padded => BatchSize::Padded(size),
        }
    }

    fn cut_over(&self, default: Cut, ranks: usize) -> Result<Cut> {
        let partitions = [
            ("partition", self.partition.is_some()),
            ("stream", self.stream.is_some()),
            ("reshuffle", self.reshuffle.is_some()),
        ];
        let given = partitions.iter().find(|(_, given)| *given);
        let name = self.cut.unwrap_or(match default {
            _ if given.is_some() => CutName::Partitions,
            Cut::Steps(_) => CutName::Steps,
            Cut::Worker(_) => CutName::Worker,
            Cut::Timeline(_) => CutName::Timeline,
            Cut::Partitions(_) => CutName::Partitions,
        });
        if let (Some((key, _)), true) = (given, name != CutName::Partitions) {
            return Err(Error::usage(format!("{key} is for cut = \"partitions\"")));
        }
        let partial = self.partial.unwrap_or(default.partial());
        let epoch = self.epoch.as_ref().map(|text| quantity::epoch(&text.text())).transpose()?;
        let epoch = epoch.unwrap_or(default.epoch());
        let start = match default {
            Cut::Worker(worker) => self.start.unwrap_or(worker.start),
            _ => self.start.unwrap_or(0),
        };
        // Where a reader's sequences are truncated, but frames are asked for, frames it is.
        let truncated = default.truncated().filter(|_| self.unit != Some(Unit::Frame));
        let right_splice = default.truncated().map_or(0, |truncated| truncated.right_splice);
        let truncated = match self.truncation {
            Some(length) => Some(Truncation { length, right_splice }),
            None => truncated,
        };
        let run_on = epoch != Epoch::Run || start > 0;
        if let Some(problem) = self.without_place(name, ranks, run_on, truncated.is_some()) {
            return Err(Error::usage(problem));
        }
        let drops_partial = partial == Partial::Drop;
        Ok(match name {
            CutName::Steps => {
                let steps = if let Cut::Steps(steps) = default { steps } else { Steps::default() };
                let bucket = self.bucket.or(steps.bucket);
                Cut::Steps(Steps { bucket, shard: self.shard.unwrap_or(steps.shard), partial })
            }
            CutName::Worker => {
                let default =
                    if let Cut::Worker(worker) = default { worker } else { Worker::default() };
                Cut::Worker(Worker {
                    local_timeline: self.local_timeline.unwrap_or(default.local_timeline),
                    cross_sweeps: self.cross_sweeps.unwrap_or(default.cross_sweeps),
                    epoch,
                    start,
                    truncated,
                    drops_partial,
                    htkmlf_epochs: default.htkmlf_epochs,
                })
            }
            CutName::Timeline => Cut::Timeline(Timeline { epoch, truncated }),
            CutName::Partitions => {
                let default =
                    if let Cut::Partitions(cut) = default { cut } else { Partitions::default() };
                Cut::Partitions(Partitions {
                    // What a size in bytes is in frames shows when streams are known.
                    frames: default.frames,
                    whole_files: self.stream.map_or(default.whole_files, |stream| !stream),
                    reshuffle: self.reshuffle.unwrap_or(default.reshuffle),
                    drops_partial,
                })
            }
        })
    }

    /// Why a key, or what a reader brings along, has no place in a cut; `None` where all have.
    fn without_place(
        &self,
        cut: CutName,
        ranks: usize,
        run_on: bool,
        truncated: bool,
    ) -> Option<&'static str> {
        let own = matches!(cut, CutName::Worker | CutName::Timeline);
        let partitions = cut == CutName::Partitions;
        let (even, drop) = (Some(Partial::Even), Some(Partial::Drop));
        // What was typed replaces how the file's corpus was divided.
        let gives_way = self.is_overridden("cut") && !self.is_overridden("shard");
        let rules = [
            (
                cut != CutName::Worker
                    && (self.local_timeline.is_some() || self.cross_sweeps.is_some()),
                "local-timeline and cross-sweeps are for cut = \"worker\"",
            ),
            (
                partitions && self.bucket.is_some(),
                "minibatches of partitions are not bucketed by length",
            ),
            (
                own && self.bucket.is_some(),
                "where each rank cuts its own minibatches, they are not bucketed by length",
            ),
            (
                !own && truncated,
                "sequences are truncated where each rank cuts its own minibatches (cut = \"worker\")",
            ),
            (
                !own && run_on,
                "`start` and `epoch` are for minibatches that each rank cuts itself (cut = \"worker\")",
            ),
            (
                cut == CutName::Timeline && self.start.is_some_and(|start| start > 0),
                "where each rank has an order of its own, no common place can be started from; `start` is for \
                 cut = \"worker\", a state for this",
            ),
            (
                cut != CutName::Steps && self.shard.is_some() && !gives_way,
                "shard has no effect here: it is for cut = \"steps\"; with the others there is one way to \
                 divide a corpus",
            ),
            (
                partitions && self.partial == even && ranks > 1,
                "what is left of a partition is not spread over ranks: use partial = \"keep\" or \"drop\"",
            ),
            (
                own && self.partial == even,
                "partial = \"even\" is for cut = \"steps\": where each rank cuts its own minibatches, nothing is \
                 left that could be spread over ranks",
            ),
            (
                cut == CutName::Timeline && self.partial == drop,
                "partial = \"drop\" does not go with cut = \"timeline\": minibatches go on over the ends of sweeps",
            ),
        ];
        rules.into_iter().find_map(|(wrong, problem)| wrong.then_some(problem))
    }
}

//! The settings of a feed, as a description gives them.

use seqfeed_core::{Error, Result};
use seqfeed_feed::{
    BatchSize, Context, Cut, Generator, LabelMap, LabelRules, LabelSet, Layout, Order, Settings,
    Truncation, Unit, Window,
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
        self.settings_over(Settings::default())
    }

    /// Other settings, with those replaced that the description gives.
    pub(crate) fn settings_over(&self, default: Settings) -> Result<Settings> {
        let partitions = self.cut == Some(CutName::Partitions)
            || self.partition.is_some()
            || self.stream.is_some()
            || self.reshuffle.is_some();
        let by_frames = if partitions { Unit::Frame } else { default.unit };
        let unit = self.unit.unwrap_or(by_frames);
        if unit == Unit::Frame && self.layout.is_some_and(|layout| layout != Layout::Frames) {
            return Err(Error::usage("that layout needs unit = \"sequence\""));
        }
        let (order, batch) = (self.order_over(default.order)?, self.batch_over(default.batch));
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
        let cut = self.cut_over(default.cut)?;
        let by_partitions = matches!(cut, Cut::Partitions { .. });
        if by_partitions && self.window.is_some() {
            return Err(Error::usage(
                "a window does not go with partitions: they are shuffled whole",
            ));
        }
        let seed = if by_partitions { DataOptions::SEED } else { default.seed };
        let epoch = self.epoch.as_ref().map(|text| quantity::epoch(&text.text())).transpose()?;
        let truncated = match self.truncation {
            None => default.truncated,
            Some(length) => {
                let right_splice = default.truncated.map_or(0, |truncated| truncated.right_splice);
                Some(Truncation { length, right_splice })
            }
        };
        // Where a reader's sequences are truncated, but frames are asked for, frames it is.
        let frames_instead = self.unit == Some(Unit::Frame) && self.truncation.is_none();
        let truncated = truncated.filter(|_| !frames_instead);
        // `rand` draws for windows of chunks or samples only, whatever the reader that
        // brings it along.
        let in_windows = matches!(order, Order::Shuffle(Window::Chunks(_) | Window::Samples(_)));
        let generator = match cut {
            Cut::Steps | Cut::Worker { .. } if in_windows => default.generator,
            _ => Generator::default(),
        };
        let gives_way = self.is_overridden("cut") && !self.is_overridden("shard");
        let shard = self.shard.filter(|_| cut == Cut::Steps || !gives_way);
        // Both end the run: what is given here replaces what was there.
        let (sweeps, samples) = match (self.sweeps, self.samples) {
            (None, None) => (default.sweeps, default.samples),
            given => given,
        };
        let settings = Settings {
            unit,
            order,
            seed: self.seed.unwrap_or(seed),
            generator,
            batch,
            bucket: self.bucket.or(default.bucket),
            layout: self.layout.unwrap_or(default.layout),
            context: if contexts.is_empty() { default.context } else { contexts },
            labels: self.labels_over(default.labels)?,
            label_padding: self.label_padding.unwrap_or(default.label_padding),
            partial: self.partial.unwrap_or(default.partial),
            rank: self.rank.unwrap_or(default.rank),
            ranks: self.ranks.unwrap_or(default.ranks),
            shard: shard.unwrap_or(default.shard),
            cut,
            epoch: epoch.unwrap_or(default.epoch),
            start: self.start.unwrap_or(default.start),
            htkmlf_epochs: default.htkmlf_epochs && matches!(cut, Cut::Worker { .. }),
            truncated,
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
            ("shard", self.shard.is_some()),
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

    fn order_over(&self, default: Order) -> Result<Order> {
        let window = match &self.window {
            None => match default {
                Order::Shuffle(window) => window,
                Order::Sequential | Order::Rolling(_) => Window::Chunks(32),
            },
            Some(text) => quantity::window(&text.text())?,
        };
        match self.order {
            Some(OrderName::Sequential) if self.window.is_some() => {
                Err(Error::usage("a window is for order = \"shuffle\", not sequential"))
            }
            Some(OrderName::Sequential) => Ok(Order::Sequential),
            None if self.window.is_none() => Ok(default),
            _ => Ok(Order::Shuffle(window)),
        }
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
        let (size, unit) = match default {
            BatchSize::Samples(size) => (size, BatchUnit::Samples),
            BatchSize::Units(size) => (size, BatchUnit::Sequences),
            BatchSize::Padded(size) => (size, BatchUnit::Padded),
        };
        let size = self.batch_size.unwrap_or(size);
        match self.batch_unit.unwrap_or(unit) {
            BatchUnit::Samples => BatchSize::Samples(size),
            BatchUnit::Sequences => BatchSize::Units(size),
            BatchUnit::Padded => BatchSize::Padded(size),
        }
    }

    fn cut_over(&self, default: Cut) -> Result<Cut> {
        let (mut local, mut cross) = match default {
            Cut::Steps | Cut::Timeline | Cut::Partitions { .. } => (true, true),
            Cut::Worker { local_timeline, cross_sweeps } => (local_timeline, cross_sweeps),
        };
        let partitions = [
            ("partition", self.partition.is_some()),
            ("stream", self.stream.is_some()),
            ("reshuffle", self.reshuffle.is_some()),
        ];
        let given = partitions.iter().find(|(_, given)| *given);
        let cut = self.cut.unwrap_or(match default {
            _ if given.is_some() => CutName::Partitions,
            Cut::Steps => CutName::Steps,
            Cut::Worker { .. } => CutName::Worker,
            Cut::Timeline => CutName::Timeline,
            Cut::Partitions { .. } => CutName::Partitions,
        });
        if let (Some((key, _)), true) = (given, cut != CutName::Partitions) {
            return Err(Error::usage(format!("{key} is for cut = \"partitions\"")));
        }
        if cut != CutName::Worker && (self.local_timeline.is_some() || self.cross_sweeps.is_some())
        {
            return Err(Error::usage("local-timeline and cross-sweeps are for cut = \"worker\""));
        }
        local = self.local_timeline.unwrap_or(local);
        cross = self.cross_sweeps.unwrap_or(cross);
        Ok(match cut {
            CutName::Steps => Cut::Steps,
            CutName::Worker => Cut::Worker { local_timeline: local, cross_sweeps: cross },
            CutName::Timeline => Cut::Timeline,
            CutName::Partitions => {
                let (frames, whole, again) = match default {
                    Cut::Partitions { frames, whole_files, reshuffle } => {
                        (frames, whole_files, reshuffle)
                    }
                    _ => (u64::MAX, true, false),
                };
                Cut::Partitions {
                    // What a size in bytes is in frames shows when streams are known.
                    frames,
                    whole_files: self.stream.map_or(whole, |stream| !stream),
                    reshuffle: self.reshuffle.unwrap_or(again),
                }
            }
        })
    }
}

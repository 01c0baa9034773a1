//! The settings of a feed, as a description gives them.

use seqfeed_core::{Error, Result};
use seqfeed_feed::{
    BatchSize, Blocks, Context, Cut, Epoch, Generator, LabelMap, LabelRules, LabelSet, Layout,
    Limits, Order, Padding, Partial, Partitions, Settings, Shuffle, Steps, StreamType, Timeline,
    Truncation, Unit, Window, Worker,
};

use super::Description;
use super::corpus::StreamSpec;
use super::feed::FeedSpec;
use super::option::CorpusOption;
use super::values::{BatchUnit, Buckets, OrderName, PresetName, TypeName};
use crate::data_spec::DataOptions;
use crate::quantity;

impl Description {
    /// The settings of the feed.
    ///
    /// # Errors
    ///
    /// Fails if a value is invalid, or if keys contradict one another.
    pub fn settings(&self) -> Result<Settings> {
        self.settings_over(Settings::default(), Shuffle::default())
    }

    /// Other settings, with the keys of the description in their place. If the others do not
    /// shuffle, but the description asks for it, `shuffle` is used.
    pub(crate) fn settings_over(&self, default: Settings, shuffle: Shuffle) -> Result<Settings> {
        let feed = &self.feed;
        let partitions = feed.preset == Some(PresetName::Pdnn) || self.pdnn_key().is_some();
        let by_frames = if partitions { Unit::Frame } else { default.unit };
        let unit = feed.unit.unwrap_or(by_frames);
        if unit == Unit::Frame && feed.layout.is_some_and(|layout| layout != Layout::Frames) {
            return Err(Error::usage("that layout needs unit = \"sequence\""));
        }
        let batch = self.batch_over(default.batch);
        let ranks = self.feed.ranks.unwrap_or(default.ranks);
        let cut = self.cut_over(default.cut, ranks)?;
        let order = self.order_over(default.order, shuffle, &cut)?;
        // Both end the run, so the given one replaces the other.
        let (sweeps, samples) = match (self.feed.sweeps, self.feed.samples) {
            (None, None) => (default.sweeps, default.samples),
            given => given,
        };
        let settings = Settings {
            unit,
            order,
            mixture: default.mixture,
            batch,
            cut,
            layout: self.feed.layout.unwrap_or(match self.feed.pack {
                Some(_) => Layout::Concatenated,
                None => default.layout,
            }),
            transform_seed: default.transform_seed,
            feature_padding: self.feed.feature_padding.unwrap_or(default.feature_padding),
            label_padding: self.feed.label_padding.unwrap_or(default.label_padding),
            padding: self.padding_over(default.padding),
            bucket_edges: match &self.feed.buckets {
                Some(Buckets::Edges(edges)) => edges.clone(),
                Some(Buckets::Count(_)) => Vec::new(),
                None => default.bucket_edges,
            },
            tokens_of: self.feed.tokens_of.clone().or(default.tokens_of),
            context: self.contexts_over(default.context)?,
            types: self.types_over(default.types),
            labels: self.labels_over(default.labels)?,
            rank: self.feed.rank.unwrap_or(default.rank),
            ranks,
            sweeps,
            samples,
            threads: self.feed.threads.unwrap_or(default.threads),
            queue: self.feed.queue.unwrap_or(default.queue),
            memory: self
                .feed
                .memory
                .as_ref()
                .map(|text| quantity::bytes(&text.text()))
                .transpose()?,
        };
        self.check_effects(&settings)?;
        Ok(settings)
    }

    pub(crate) fn has_transforms(&self) -> bool {
        let of_streams = self.corpus.streams.values().any(|stream| stream.transforms.is_some());
        of_streams || self.corpus.transforms.is_some()
    }

    /// Whether a key must have an effect. An option may take away the effect of a key in the file;
    /// the key then gives way.
    pub(crate) fn stands(&self, key: &str) -> bool {
        let causes = ["order", "unit", "preset", "truncation", "layout", "batch-unit", "pack"];
        let of_stream = StreamSpec::OPTIONS.iter().any(|option| option.key == key)
            && self.given.iter().any(|place| {
                place.starts_with("[streams.") && place.ends_with(&format!("] {key}"))
            });
        of_stream || self.is_given(key) || !causes.iter().any(|key| self.is_given(key))
    }

    /// Checks that each given key has an effect among the settings.
    fn check_effects(&self, settings: &Settings) -> Result<()> {
        let given = [
            // A transform may use it. This is known when the corpus is open.
            ("seed", self.feed.seed.is_some() && !self.has_transforms()),
            ("batch-size", self.feed.batch_size.is_some()),
            ("batch-unit", self.feed.batch_unit.is_some()),
            ("tokens-of", self.feed.tokens_of.is_some()),
            ("reshuffle", self.feed.reshuffle == Some(true)),
            ("layout", self.feed.layout.is_some()),
            ("label-padding", self.feed.label_padding.is_some()),
            ("feature-padding", self.feed.feature_padding.is_some()),
            ("padding", self.label_rule(|stream| stream.padding.is_some())),
            ("ignore", self.label_rule(|stream| stream.ignore.is_some())),
            ("local-timeline", self.feed.local_timeline.is_some()),
            ("cross-sweeps", self.feed.cross_sweeps.is_some()),
            ("htkmlf-epochs", self.feed.htkmlf_epochs.is_some()),
            ("right-splice", self.feed.right_splice.is_some()),
            ("generator", self.feed.generator.is_some()),
            ("groups", self.feed.groups.is_some()),
        ];
        for (key, _) in given.into_iter().filter(|&(key, given)| given && self.stands(key)) {
            if let Some(why) = settings.without_effect(key) {
                let place = place_of(key);
                return Err(Error::usage(format!("{place} has no effect here: {why}"))
                    .with_help(format!("leave {key} out, or change what it does not go with")));
            }
        }
        if settings.unit == Unit::Frame && self.feed.batch_unit == Some(BatchUnit::Sequences) {
            return Err(Error::usage("batch-unit = \"sequences\" needs unit = \"sequence\"")
                .with_help("frames are counted with batch-unit = \"samples\""));
        }
        if settings.unit == Unit::Sequence
            && let Some(layout @ (Layout::Frames | Layout::Truncated)) = self.feed.layout
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
        if partitions && self.feed.window.is_some() {
            return Err(Error::usage(
                "a window does not go with partitions: they are shuffled whole",
            ));
        }
        let window = self.feed.window.as_ref().map(|text| quantity::window(&text.text()));
        let window = window.transpose()?;
        let blocks = self.takes_blocks(default, window, cut).then_some(OrderName::Blocks);
        let order = match (self.feed.order.or(blocks), window) {
            (Some(OrderName::Sequential), Some(_)) => {
                return Err(Error::usage("a window is for order = \"shuffle\", not sequential"));
            }
            (Some(OrderName::Sequential), None) => Order::Sequential,
            (Some(OrderName::Rolling), Some(Window::Samples(samples))) => Order::Rolling(samples),
            (Some(OrderName::Rolling), None) if matches!(default, Order::Rolling(_)) => default,
            (Some(OrderName::Rolling), _) => {
                return Err(Error::usage(
                    "order = \"rolling\" needs a window in samples, such as \"200000 samples\"",
                ));
            }
            (Some(OrderName::Blocks), window) => {
                let (of_default, seed) = default.shuffled().unwrap_or((otherwise.window, 0));
                let (window, seed) = (window.unwrap_or(of_default), self.feed.seed.unwrap_or(seed));
                Order::Blocks(Blocks { window, seed })
            }
            (None, None) if !matches!(default, Order::Blocks(_)) => default,
            (_, window) => {
                let mut shuffle = match default {
                    Order::Shuffle(shuffle) => shuffle,
                    _ => otherwise,
                };
                shuffle.window = window.unwrap_or(shuffle.window);
                Order::Shuffle(shuffle)
            }
        };
        let Order::Shuffle(mut shuffle) = order else { return Ok(order) };
        if partitions {
            shuffle.window = Window::Corpus;
            shuffle.seed = DataOptions::SEED;
        }
        shuffle.seed = self.feed.seed.unwrap_or(shuffle.seed);
        shuffle.generator = self.feed.generator.unwrap_or(shuffle.generator);
        if self.feed.generator.is_some() {
            return Ok(Order::Shuffle(shuffle));
        }
        // `rand` works only for windows of chunks or samples, in every reader.
        if !matches!(cut, Cut::Steps(_) | Cut::Worker(_)) || shuffle.window == Window::Corpus {
            shuffle.generator = Generator::default();
        }
        Ok(Order::Shuffle(shuffle))
    }

    /// Whether the order is that of blocks if none is given. The presets of CNTK and PDNN have
    /// orders of their own; a shuffle of the whole corpus and a generator belong to `shuffle`.
    fn takes_blocks(&self, default: Order, window: Option<Window>, cut: &Cut) -> bool {
        matches!(default, Order::Blocks(_))
            && matches!(cut, Cut::Steps(_))
            && window != Some(Window::Corpus)
            && self.feed.generator.is_none()
    }

    /// The types of streams that files are not read as. Given ones replace the defaults.
    fn types_over(&self, default: Vec<StreamType>) -> Vec<StreamType> {
        let mut types = default;
        for (stream, spec) in &self.corpus.streams {
            if let Some(element) = spec.dtype.and_then(TypeName::only_delivered) {
                types.retain(|one| one.stream != *stream);
                types.push(StreamType { stream: stream.clone(), element });
            }
        }
        types
    }

    /// The contexts of streams. Given ones replace the defaults.
    fn contexts_over(&self, default: Vec<Context>) -> Result<Vec<Context>> {
        let mut contexts = default;
        for (stream, spec) in &self.corpus.streams {
            if let Some(text) = &spec.context {
                let (left, right) = quantity::context(&text.text())?;
                contexts.retain(|context| context.stream != *stream);
                contexts.push(Context { stream: stream.clone(), left, right });
            }
        }
        Ok(contexts)
    }

    fn padding_over(&self, default: Vec<Padding>) -> Vec<Padding> {
        let mut paddings = default;
        for (stream, spec) in &self.corpus.streams {
            if let Some(value) = spec.padding {
                paddings.retain(|padding| padding.stream != *stream);
                paddings.push(Padding { stream: stream.clone(), value });
            }
        }
        paddings
    }

    /// Whether a stream has a rule for its labels.
    fn label_rule(&self, has: impl Fn(&StreamSpec) -> bool) -> bool {
        self.corpus.streams.values().any(has)
    }

    fn labels_over(&self, default: Option<LabelRules>) -> Result<Option<LabelRules>> {
        let has_rules = |stream: &StreamSpec| stream.ignore.is_some() || stream.map.is_some();
        let mut given = self.corpus.streams.iter().filter(|(_, stream)| has_rules(stream));
        let Some((name, stream)) = given.next() else { return Ok(default) };
        if let Some((other, _)) = given.next() {
            return Err(Error::usage(format!(
                "labels of one stream can be ignored or mapped, not those of {name} and {other}"
            )));
        }
        let mut rules = default.unwrap_or_default();
        rules.stream.clone_from(name);
        if let Some(text) = &stream.ignore {
            rules.ignore = LabelSet::new(DataOptions::parse_ignore(&text.text())?);
        }
        if let Some(text) = &stream.map {
            rules.map = LabelMap::new(DataOptions::parse_map(&text.text())?);
        }
        let any = !rules.ignore.is_empty() || !rules.map.is_empty();
        Ok(any.then_some(rules))
    }

    fn batch_over(&self, default: BatchSize) -> BatchSize {
        if let Some(size) = self.feed.pack {
            return BatchSize::Samples(size);
        }
        let unit = match default {
            BatchSize::Samples(_) => BatchUnit::Samples,
            BatchSize::Units(_) => BatchUnit::Sequences,
            BatchSize::Padded(_) => BatchUnit::Padded,
        };
        let size = self.feed.batch_size.unwrap_or(default.number());
        match self.feed.batch_unit.unwrap_or(unit) {
            BatchUnit::Samples => BatchSize::Samples(size),
            BatchUnit::Sequences => BatchSize::Units(size),
            BatchUnit::Padded => BatchSize::Padded(size),
        }
    }

    /// A given key of `[pdnn]`. It also selects the preset.
    fn pdnn_key(&self) -> Option<&'static str> {
        let feed = &self.feed;
        match (&feed.partition, feed.stream, feed.reshuffle) {
            (Some(_), ..) => Some("partition"),
            (_, Some(_), _) => Some("stream"),
            (.., Some(_)) => Some("reshuffle"),
            _ => None,
        }
    }

    fn cut_over(&self, default: Cut, ranks: usize) -> Result<Cut> {
        let given = self.pdnn_key();
        let name = self.feed.preset.unwrap_or(match default {
            _ if given.is_some() => PresetName::Pdnn,
            Cut::Steps(_) => PresetName::None,
            Cut::Worker(_) => PresetName::Cntk,
            Cut::Timeline(_) => PresetName::CntkTimeline,
            Cut::Partitions(_) => PresetName::Pdnn,
        });
        if let (Some(key), true) = (given, name != PresetName::Pdnn) {
            return Err(Error::usage(format!("[pdnn] {key} is for preset = \"pdnn\"")));
        }
        let partial = self.feed.partial.unwrap_or(match self.feed.pack {
            Some(_) => Partial::Even,
            None => default.partial(),
        });
        let epoch =
            self.feed.epoch.as_ref().map(|text| quantity::epoch(&text.text())).transpose()?;
        let epoch = epoch.unwrap_or(default.epoch());
        let start = match default {
            Cut::Worker(worker) => self.feed.start.unwrap_or(worker.start),
            _ => self.feed.start.unwrap_or(0),
        };
        // If a reader truncates sequences, but frames are asked for, frames come.
        let truncated = default.truncated().filter(|_| self.feed.unit != Some(Unit::Frame));
        let right_splice = default.truncated().map_or(0, |truncated| truncated.right_splice);
        let right_splice = self.feed.right_splice.unwrap_or(right_splice);
        let truncated = match self.feed.truncation {
            Some(length) => Some(Truncation { length, right_splice }),
            None => truncated.map(|truncated| Truncation { right_splice, ..truncated }),
        };
        let run_on = epoch != Epoch::Run || start > 0;
        if let Some(problem) = self.without_place(name, ranks, run_on, truncated.is_some()) {
            return Err(Error::usage(problem));
        }
        let drops_partial = partial == Partial::Drop;
        Ok(match name {
            PresetName::None => {
                let steps = if let Cut::Steps(steps) = default { steps } else { Steps::default() };
                let limits = Limits {
                    sequences: self.feed.max_sequences.or(steps.limits.sequences),
                    padded: self.feed.max_padded.or(steps.limits.padded),
                    tokens: self.feed.max_tokens.or(steps.limits.tokens),
                    quadratic: self.feed.quadratic.or(steps.limits.quadratic),
                };
                Cut::Steps(Steps {
                    bucket: self.feed.bucket.or(steps.bucket),
                    buckets: match &self.feed.buckets {
                        Some(Buckets::Count(count)) => Some(*count),
                        Some(Buckets::Edges(edges)) => Some(edges.len() + 1),
                        None => steps.buckets,
                    },
                    pack: steps.pack || self.feed.pack.is_some(),
                    limits,
                    shard: self.feed.shard.unwrap_or(steps.shard),
                    groups: self.feed.groups.unwrap_or(steps.groups),
                    partial,
                })
            }
            PresetName::Cntk => {
                let default =
                    if let Cut::Worker(worker) = default { worker } else { Worker::default() };
                Cut::Worker(Worker {
                    local_timeline: self.feed.local_timeline.unwrap_or(default.local_timeline),
                    cross_sweeps: self.feed.cross_sweeps.unwrap_or(default.cross_sweeps),
                    epoch,
                    start,
                    truncated,
                    drops_partial,
                    htkmlf_epochs: self.feed.htkmlf_epochs.unwrap_or(default.htkmlf_epochs),
                })
            }
            PresetName::CntkTimeline => Cut::Timeline(Timeline { epoch, truncated }),
            PresetName::Pdnn => {
                let default =
                    if let Cut::Partitions(cut) = default { cut } else { Partitions::default() };
                Cut::Partitions(Partitions {
                    // The streams must be known to convert a size in bytes to frames.
                    frames: default.frames,
                    whole_files: self.feed.stream.map_or(default.whole_files, |stream| !stream),
                    reshuffle: self.feed.reshuffle.unwrap_or(default.reshuffle),
                    drops_partial,
                })
            }
        })
    }

    /// Why a key, or a setting of a reader, does not fit a cut; `None` if all fit.
    fn without_place(
        &self,
        cut: PresetName,
        ranks: usize,
        run_on: bool,
        truncated: bool,
    ) -> Option<&'static str> {
        let own = matches!(cut, PresetName::Cntk | PresetName::CntkTimeline);
        let partitions = cut == PresetName::Pdnn;
        let (even, drop) = (Some(Partial::Even), Some(Partial::Drop));
        // An option replaces the way in which the file divides the corpus.
        let feed = &self.feed;
        let grouped = feed.bucket.is_some() || feed.buckets.is_some();
        let gives_way = self.is_given("preset") && !self.is_given("shard");
        let rules = [
            (
                cut != PresetName::Cntk
                    && (self.feed.local_timeline.is_some() || self.feed.cross_sweeps.is_some()),
                "local-timeline and cross-sweeps are for preset = \"cntk\"",
            ),
            (partitions && grouped, "minibatches of partitions are not bucketed by length"),
            (
                own && grouped,
                "where each rank cuts its own minibatches, they are not bucketed by length",
            ),
            (
                cut != PresetName::None
                    && [
                        feed.pack,
                        feed.max_sequences,
                        feed.max_padded,
                        feed.max_tokens,
                        feed.quadratic,
                    ] != [None; 5],
                "pack, max-sequences, max-padded, max-tokens and quadratic are for preset = \"none\"",
            ),
            (
                !own && truncated,
                "sequences are truncated where each rank cuts its own minibatches (preset = \"cntk\")",
            ),
            (
                !own && run_on,
                "`start` and `epoch` are for minibatches that each rank cuts itself (preset = \"cntk\")",
            ),
            (
                cut == PresetName::CntkTimeline && self.feed.start.is_some_and(|start| start > 0),
                "where each rank has an order of its own, no common place can be started from; `start` is for \
                 preset = \"cntk\", a state for this",
            ),
            (
                cut != PresetName::None && self.feed.shard.is_some() && !gives_way,
                "shard has no effect here: it is for preset = \"none\"; with the others there is one way to \
                 divide a corpus",
            ),
            (
                partitions && self.feed.partial == even && ranks > 1,
                "what is left of a partition is not spread over ranks: use partial = \"keep\" or \"drop\"",
            ),
            (
                own && self.feed.partial == even,
                "partial = \"even\" is for preset = \"none\": where each rank cuts its own minibatches, nothing is \
                 left that could be spread over ranks",
            ),
            (
                cut == PresetName::CntkTimeline && self.feed.partial == drop,
                "partial = \"drop\" does not go with preset = \"cntk-timeline\": minibatches go on over the ends of sweeps",
            ),
        ];
        rules.into_iter().find_map(|(wrong, problem)| wrong.then_some(problem))
    }
}

/// The place of a key of the feed, or of a stream's settings.
fn place_of(key: &str) -> String {
    let found = FeedSpec::OPTIONS.iter().chain(StreamSpec::OPTIONS).find(|one| one.key == key);
    found.map_or_else(|| key.to_owned(), CorpusOption::place)
}

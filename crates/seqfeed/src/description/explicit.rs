//! A description that says all of what another one means.

use std::path::Path;

use seqfeed_core::{Kind, Result, Source};
use seqfeed_feed::{BatchSize, Cut, Epoch, Layout, Order, Partitions, Unit, Window};
use seqfeed_io::{Opener, RxFilename, name_from_text, name_to_text};
use seqfeed_pdnn::spec::{DataOptions, DataSpec};

use super::{BatchUnit, CutName, Description, Names, OrderName, Text};
use crate::Opened;
use crate::name_text::{is_rspecifier, joined};
use crate::reader;

impl Description {
    /// The same corpus and feed, with every setting said: those that a reader of CNTK or a data
    /// specification of PDNN brings along, and the defaults. Names are relative to the working
    /// directory, as if there was no description file. Opened, it gives the same minibatches.
    ///
    /// `opened` is what this description opened; `opener` says what commands in the names of CTF
    /// files may do, whose inputs are looked for.
    ///
    /// # Errors
    ///
    /// Fails if the description contradicts itself, or if a CTF file cannot be read.
    pub fn explicit(&self, opened: &Opened, opener: &Opener) -> Result<Self> {
        let mut all = self.clone();
        if let Some(text) = &self.data {
            let spec = DataSpec::parse(text)?;
            (all, _) = self.with_options(&spec.options);
            all.data = Some(data_names(&spec, self.base_of("data")));
        }
        if let Some(name) = &self.reader {
            let name = match self.base_of("reader") {
                Some(base) => joined(base, name),
                None => name.clone(),
            };
            if self.inputs.is_empty() {
                let opener = self.opener_of("reader", opener);
                all.inputs = reader::inputs_of(&name, &opener)?.unwrap_or_default();
            }
            all.reader = Some(name);
        }
        all.move_names(self);
        all.take_settings(opened);
        Ok(all)
    }

    /// Makes the names of streams relative to the working directory.
    fn move_names(&mut self, before: &Self) {
        for names in [&mut self.corpus, &mut self.features, &mut self.labels] {
            // As an option gives it.
            if let Some(Names::Several(several)) = names
                && several.len() == 1
            {
                *names = several.pop().map(Names::One);
            }
        }
        let moved = |names: &mut Option<Names>, stream: &str| {
            if let (Some(names), Some(base)) = (names, before.base_of(stream)) {
                let mut all: Vec<String> =
                    names.to_vec().iter().map(|name| beside(name, base)).collect();
                *names = match all.len() {
                    1 => Names::One(all.remove(0)),
                    _ => Names::Several(all),
                };
            }
        };
        let states = |states: &mut Option<String>, stream: &str| {
            if let (Some(states), Some(base)) = (states, before.base_of(stream)) {
                *states = joined(base, states);
            }
        };
        moved(&mut self.corpus, "corpus");
        moved(&mut self.features, "features");
        moved(&mut self.labels, "labels");
        states(&mut self.states, "labels");
        for (name, stream) in &mut self.streams {
            moved(&mut stream.source, name);
            states(&mut stream.states, name);
        }
        if let (Some(state), Some(base)) = (&mut self.state, before.base_of("state")) {
            *state = base.join(&*state);
        }
        self.base = None;
        self.overridden.clear();
    }

    /// Says the settings that an open corpus has, as far as there are keys for them.
    fn take_settings(&mut self, opened: &Opened) {
        let settings = opened.settings();
        let word = |text: String| Some(Text::Word(text));
        self.unit = Some(settings.unit);
        let partitions = matches!(settings.cut, Cut::Partitions(_));
        (self.order, self.window) = match settings.order {
            Order::Sequential => (Some(OrderName::Sequential), None),
            Order::Shuffle(_) if partitions => (Some(OrderName::Shuffle), None),
            Order::Shuffle(shuffle) => {
                let window = match shuffle.window {
                    Window::Corpus => "corpus".to_owned(),
                    Window::Chunks(chunks) => format!("{chunks} chunks"),
                    Window::Samples(samples) => format!("{samples} samples"),
                };
                (Some(OrderName::Shuffle), word(window))
            }
            // Only a reader of CNTK has it, and no key says it.
            Order::Rolling(_) => (None, None),
        };
        let (size, unit) = match settings.batch {
            BatchSize::Samples(size) => (size, BatchUnit::Samples),
            // Frames are units of one sample.
            BatchSize::Units(size) if settings.unit == Unit::Frame => (size, BatchUnit::Samples),
            BatchSize::Units(size) => (size, BatchUnit::Sequences),
            BatchSize::Padded(size) => (size, BatchUnit::Padded),
        };
        (self.batch_size, self.batch_unit) = (Some(size), Some(unit));
        self.partial = Some(settings.cut.partial());
        // Frames have one layout; a reader's own stays its own.
        let said =
            matches!(settings.layout, Layout::Padded | Layout::Concatenated | Layout::Packed);
        self.layout = (settings.unit == Unit::Sequence && said).then_some(settings.layout);
        (self.local_timeline, self.cross_sweeps) = (None, None);
        self.cut = Some(match settings.cut {
            Cut::Steps(_) => CutName::Steps,
            Cut::Timeline(_) => CutName::Timeline,
            Cut::Worker(worker) => {
                self.local_timeline = Some(worker.local_timeline);
                self.cross_sweeps = Some(worker.cross_sweeps);
                CutName::Worker
            }
            Cut::Partitions(Partitions { whole_files, reshuffle, .. }) => {
                self.stream = Some(!whole_files);
                self.reshuffle = Some(reshuffle);
                // In bytes, as it depends on the width of samples how many frames these are.
                let size = || word(format!("{}m", DataOptions::PARTITION >> 20));
                self.partition = self.partition.take().or_else(size);
                CutName::Partitions
            }
        });
        // What has no effect is not said.
        let has_effect = |key: &str| settings.without_effect(key).is_none();
        self.seed = has_effect("seed").then_some(settings.order.seed());
        self.reshuffle = self.reshuffle.filter(|_| has_effect("reshuffle"));
        self.local_timeline = self.local_timeline.filter(|_| has_effect("local-timeline"));
        self.cross_sweeps = self.cross_sweeps.filter(|_| has_effect("cross-sweeps"));
        self.epoch = match settings.cut.epoch() {
            Epoch::Run => None,
            Epoch::Sweep => word("sweep".to_owned()),
            Epoch::Samples(samples) => word(samples.to_string()),
        };
        self.truncation = settings.cut.truncated().map(|truncated| truncated.length);
        if self.reader.is_some() || self.data.is_some() {
            let streams = opened.corpus().streams();
            let named = streams.iter().find(|stream| stream.name == "features");
            let meant = named.or_else(|| streams.iter().find(|stream| stream.kind == Kind::Dense));
            // One key can say one context; those of several streams are the reader's own.
            if let ([context], Some(stream)) = (&settings.context[..], meant)
                && context.stream == stream.name
            {
                self.context = word(format!("{}:{}", context.left, context.right));
            }
        }
    }
}

/// A name in a description as seen from the working directory.
fn beside(name: &str, base: &Path) -> String {
    let joined = |name: &str| joined(base, name);
    match name.split_once(':') {
        Some((kind, rest)) if is_rspecifier(name) => {
            match RxFilename::parse(&name_from_text(rest)) {
                Ok(rest) => format!("{kind}:{}", name_to_text(rest.relative_to(base).name())),
                Err(_) => name.to_owned(),
            }
        }
        Some(("htk", rest)) => format!("htk:{}", joined(rest)),
        _ => joined(name),
    }
}

/// The files of a specification, without the options that have keys; one has none.
fn data_names(spec: &DataSpec, base: Option<&Path>) -> String {
    let moved = |name: &String| match base {
        Some(base) => joined(base, name),
        None => name.clone(),
    };
    let mut text = spec.names.iter().map(moved).collect::<Vec<_>>().join("|");
    if let Some(label) = &spec.options.label {
        text += &format!(",label={}", moved(label));
    }
    text
}

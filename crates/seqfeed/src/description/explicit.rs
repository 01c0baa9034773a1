//! Turns a description into one with all settings.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use seqfeed_core::{Draw, Result, Source};
use seqfeed_feed::{
    BatchSize, Blocks, Cut, Epoch, Generator, Layout, Order, Partitions, Settings, Shuffle,
    StreamType, Unit, Window,
};
use seqfeed_io::{Location, Opener, RxFilename, name_from_text, name_to_text};

use toml::Value;

use super::Description;
use super::corpus::CorpusSpec;
use super::option::place;
use super::values::{BatchUnit, Names, OrderName, PresetName, Text, TypeName};
use crate::corpus_keys;
use crate::data_spec::DataOptions;
use crate::name_text::{is_rspecifier, joined};
use crate::opened::Opened;
use crate::transforms::{FILES, TransformSpec};

impl Description {
    /// The same corpus and feed with every setting: those that a reader of CNTK or a data
    /// specification of PDNN implies, and the defaults. Names are relative to the working
    /// directory, as if there were no description file. It gives the same minibatches.
    ///
    /// `opened` is the corpus that this description opened. `opener` opens CTF files to find their
    /// inputs, and says whether names may be commands.
    ///
    /// # Errors
    ///
    /// Fails if the description contradicts itself, or if a CTF file cannot be read.
    pub fn explicit(&self, opened: &Opened, opener: &Opener) -> Result<Self> {
        let mut all = match corpus_keys::of(self)? {
            Some((key, name)) => key.explicit(self, name, opener)?,
            None => self.clone(),
        };
        all.move_names(self);
        all.take_symbols(opened);
        all.take_settings(opened);
        Ok(all)
    }

    /// Makes the names of streams relative to the working directory.
    fn move_names(&mut self, before: &Self) {
        move_all(&mut self.corpus.files, before.base_of("corpus"));
        for (name, stream) in &mut self.corpus.streams {
            let base = before.base_of_stream(name);
            move_all(&mut stream.source, base);
            if let Some(states) = &mut stream.states {
                *states = joined(base, states);
            }
            move_files(&mut stream.transforms, base);
            let files = [&mut stream.through, &mut stream.tokenizer, &mut stream.lengths];
            for file in files.into_iter().flatten() {
                *file = joined(base, file);
            }
            if let Some(Names::One(symbols)) = &mut stream.symbols {
                *symbols = joined(base, symbols);
            }
        }
        move_files(&mut self.corpus.transforms, before.base_of("transforms"));
        let CorpusSpec { keys, not_keys, .. } = &mut self.corpus;
        for (key, file) in [("keys", keys), ("not-keys", not_keys)] {
            if let Some(file) = file {
                *file = joined(before.base_of(&place("filter", key)), file);
            }
        }
        for (name, component) in &mut self.corpus.mix.components {
            let base = before.base_of(&place(&format!("mix.{name}"), "corpus"));
            if let Some(corpus) = &mut component.corpus {
                *corpus = beside(corpus, base);
            }
        }
        self.feed.state = before.state_file();
        self.base = None;
        self.given.clear();
    }

    /// Adds the symbols that were found in the data, so that other data get the same numbers.
    fn take_symbols(&mut self, opened: &Opened) {
        for (name, table) in opened.corpus().about().symbols {
            let Some(stream) = self.corpus.streams.get_mut(&name) else { continue };
            let has_symbols = stream.symbols.is_some() || stream.tokenizer.is_some();
            if !has_symbols && stream.states.is_none() {
                let text = |name: &[u8]| name_to_text(OsStr::from_bytes(name));
                let symbols = table.iter().map(|(_, name)| text(name));
                stream.symbols = Some(Names::Several(symbols.collect()));
            }
        }
    }

    /// Adds the settings of an open corpus.
    fn take_settings(&mut self, opened: &Opened) {
        let (settings, feed) = (opened.settings(), &mut self.feed);
        let word = |text: String| Some(Text::Word(text));
        feed.unit = Some(settings.unit);
        let partitions = matches!(settings.cut, Cut::Partitions(_));
        (feed.order, feed.window) = match settings.order {
            Order::Sequential => (Some(OrderName::Sequential), None),
            Order::Shuffle(_) if partitions => (Some(OrderName::Shuffle), None),
            Order::Shuffle(Shuffle { window, .. }) => {
                (Some(OrderName::Shuffle), word(window_text(window)))
            }
            Order::Blocks(Blocks { window, .. }) => {
                (Some(OrderName::Blocks), word(window_text(window)))
            }
            Order::Rolling(samples) => {
                (Some(OrderName::Rolling), word(format!("{samples} samples")))
            }
        };
        let (size, unit) = match settings.batch {
            BatchSize::Samples(size) => (size, BatchUnit::Samples),
            // Frames are units of one sample.
            BatchSize::Units(size) if settings.unit == Unit::Frame => (size, BatchUnit::Samples),
            BatchSize::Units(size) => (size, BatchUnit::Sequences),
            BatchSize::Padded(size) => (size, BatchUnit::Padded),
        };
        (feed.batch_size, feed.batch_unit) = (Some(size), Some(unit));
        feed.partial = Some(settings.cut.partial());
        // Frames have one layout. The layout of a reader stays.
        let said =
            matches!(settings.layout, Layout::Padded | Layout::Concatenated | Layout::Packed);
        feed.layout = (settings.unit == Unit::Sequence && said).then_some(settings.layout);
        let generator = settings.order.generator();
        feed.generator = generator.filter(|generator| *generator != Generator::default());
        (feed.local_timeline, feed.cross_sweeps, feed.htkmlf_epochs) = (None, None, None);
        feed.preset = Some(match settings.cut {
            Cut::Steps(_) => PresetName::None,
            Cut::Timeline(_) => PresetName::CntkTimeline,
            Cut::Worker(worker) => {
                feed.local_timeline = Some(worker.local_timeline);
                feed.cross_sweeps = Some(worker.cross_sweeps);
                feed.htkmlf_epochs = worker.htkmlf_epochs.then_some(true);
                PresetName::Cntk
            }
            Cut::Partitions(Partitions { whole_files, reshuffle, .. }) => {
                feed.stream = Some(!whole_files);
                feed.reshuffle = Some(reshuffle);
                // In bytes, since the number of frames depends on the width of samples.
                let size = || word(format!("{}m", DataOptions::PARTITION >> 20));
                feed.partition = feed.partition.take().or_else(size);
                PresetName::Pdnn
            }
        });
        // Keys without effect are left out.
        let has_effect = |key: &str| settings.without_effect(key).is_none();
        let draws = opened.corpus().in_sweep(Draw::default()).is_some();
        feed.seed = (has_effect("seed") || draws).then_some(settings.transform_seed);
        feed.batch_size = feed.batch_size.filter(|_| has_effect("batch-size"));
        feed.batch_unit = feed.batch_unit.filter(|_| has_effect("batch-unit"));
        feed.reshuffle = feed.reshuffle.filter(|_| has_effect("reshuffle"));
        feed.local_timeline = feed.local_timeline.filter(|_| has_effect("local-timeline"));
        feed.cross_sweeps = feed.cross_sweeps.filter(|_| has_effect("cross-sweeps"));
        feed.htkmlf_epochs = feed.htkmlf_epochs.filter(|_| has_effect("htkmlf-epochs"));
        feed.epoch = match settings.cut.epoch() {
            Epoch::Run => None,
            Epoch::Sweep => word("sweep".to_owned()),
            Epoch::Samples(samples) => word(samples.to_string()),
        };
        let truncated = settings.cut.truncated();
        feed.truncation = truncated.map(|truncated| truncated.length);
        feed.right_splice =
            truncated.map(|truncated| truncated.right_splice).filter(|&samples| samples > 0);
        self.take_applied(settings);
    }

    /// Adds the settings of each stream, under its real name.
    fn take_applied(&mut self, settings: &Settings) {
        let streams = &mut self.corpus.streams;
        let given = streams.values_mut().find_map(|stream| {
            stream.context = None;
            let rules = (stream.ignore.take(), stream.map.take());
            (rules.0.is_some() || rules.1.is_some()).then_some(rules)
        });
        for stream in streams.values_mut() {
            stream.context = None;
            stream.dtype = stream.dtype.filter(|dtype| dtype.only_delivered().is_none());
        }
        for StreamType { stream, element } in &settings.types {
            streams.entry(stream.clone()).or_default().dtype = TypeName::of_delivered(*element);
        }
        for context in &settings.context {
            let stream = streams.entry(context.stream.clone()).or_default();
            stream.context = Some(Text::Word(format!("{}:{}", context.left, context.right)));
        }
        if let (Some(rules), Some((ignore, map))) = (&settings.labels, given) {
            let stream = streams.entry(rules.stream.clone()).or_default();
            (stream.ignore, stream.map) = (ignore, map);
        }
        // The settings that stood under another name are empty now.
        streams.retain(|_, stream| stream.source.is_some() || stream.is_applied());
    }
}

/// The files of transforms, relative to the working directory.
fn move_files(transforms: &mut Option<Vec<TransformSpec>>, base: Option<&Location>) {
    for transform in transforms.iter_mut().flatten() {
        for (key, value) in &mut transform.options {
            if let (Value::String(name), true) = (value, FILES.contains(&key.as_str())) {
                *name = beside(name, base);
            }
        }
    }
}

/// Names relative to the working directory.
fn move_all(names: &mut Option<Names>, base: Option<&Location>) {
    let Some(given) = names else { return };
    let mut all: Vec<String> = given.to_vec().iter().map(|name| beside(name, base)).collect();
    *names = Some(match all.len() {
        1 => Names::One(all.remove(0)),
        _ => Names::Several(all),
    });
}

/// A name in a description, relative to the working directory.
fn beside(name: &str, base: Option<&Location>) -> String {
    let joined = |name: &str| joined(base, name);
    match name.split_once(':') {
        Some((kind, rest)) if is_rspecifier(name) => {
            match RxFilename::parse(&name_from_text(rest)) {
                Ok(rest) => format!("{kind}:{}", name_to_text(rest.relative_to(base).name())),
                Err(_) => name.to_owned(),
            }
        }
        Some((kind @ ("htk" | "text" | "jsonl"), rest)) => format!("{kind}:{}", joined(rest)),
        _ => joined(name),
    }
}

fn window_text(window: Window) -> String {
    match window {
        Window::Corpus => "corpus".to_owned(),
        Window::Chunks(chunks) => format!("{chunks} chunks"),
        Window::Samples(samples) => format!("{samples} samples"),
    }
}

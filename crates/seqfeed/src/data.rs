//! The key `data`: corpora named by a data specification of PDNN.

mod files;

use seqfeed_core::{Chunking, Corpus, Error, JoinPolicy, Result, Tolerance};
use seqfeed_feed::{BatchSize, Cut, Order, Partitions, Settings, Shuffle, Unit};
use seqfeed_io::{Location, Opener};
use toml::Value;

use self::files::{FileOptions, OpenedData};
use crate::corpus_key::{CorpusKey, KeySources, refuse_overrides};
use crate::data_options::keys;
use crate::data_spec::{DataOptions, DataSpec};
use crate::description::{Description, OrderName, Text};
use crate::name_text::joined;
use crate::opened::Opened;

/// The key `data`.
pub(crate) struct Data;

impl CorpusKey for Data {
    fn open(&self, description: &Description, name: &str, opener: &Opener) -> Result<Opened> {
        let corpus = &description.corpus;
        let has_streams = corpus.files.is_some() || !description.streams().is_empty();
        if corpus.reader.is_some() || has_streams {
            return Err(Error::usage(
                "data of a data specification have their own streams: none can be added to them",
            ));
        }
        refuse_overrides(&corpus.overrides)?;
        let spec = of_task(&DataSpec::parse(name)?, corpus.task)?;
        let (description, warnings) = with_options(description, &spec.options);
        let settings = description.settings_over(settings(), shuffle())?;
        let join = JoinPolicy {
            chunks: Chunking::Primary,
            // As PDNN, which passes over utterances whose labels are missing or too many.
            errors: if description.corpus.errors.is_some() {
                description.join_rules()?.errors
            } else {
                Tolerance::Skip
            },
            ..description.join_rules()?
        };
        let opened = open(&spec, &description, opener)?;
        let corpus = description.transformed(Corpus::join(opened.sources, &join)?, opener)?;
        let mut settings = description.settle(settings, &corpus, opened.rounding)?;
        if let (Cut::Partitions(partitions), true) = (&mut settings.cut, opened.streams) {
            partitions.whole_files = false;
        }
        let warnings = spec.warnings.into_iter().chain(warnings).chain(opened.warnings).collect();
        Ok(Opened::new(corpus, settings, warnings))
    }

    fn sources(
        &self,
        description: &Description,
        name: &str,
        opener: &Opener,
    ) -> Result<KeySources> {
        let spec = of_task(&DataSpec::parse(name)?, description.corpus.task)?;
        let opened = open(&spec, description, opener)?;
        Ok(KeySources { sources: opened.sources, unknown: None })
    }

    fn explicit(&self, description: &Description, name: &str, _: &Opener) -> Result<Description> {
        let spec = DataSpec::parse(name)?;
        let (mut all, _) = with_options(description, &spec.options);
        all.corpus.data = Some(data_names(&spec, description.base_of("data")));
        Ok(all)
    }
}

/// Opens the files of a specification of one task, with the settings of a description.
fn open(spec: &DataSpec, description: &Description, opener: &Opener) -> Result<OpenedData> {
    let opening = FileOptions {
        opener: description.opener_of("data", opener),
        map: description.corpus.map.unwrap_or(false),
        chunk_samples: description.chunk_samples()?,
    };
    files::open(spec, &opening)
}

/// PDNN's settings, for everything that a specification does not say.
fn settings() -> Settings {
    Settings {
        unit: Unit::Frame,
        order: Order::Sequential,
        batch: BatchSize::Samples(DataOptions::BATCH),
        cut: Cut::Partitions(Partitions { drops_partial: true, ..Partitions::default() }),
        ..Settings::default()
    }
}

/// PDNN's shuffle.
fn shuffle() -> Shuffle {
    Shuffle { seed: DataOptions::SEED, ..Shuffle::default() }
}

/// The specification of one task. If there are several, `task` must choose one.
fn of_task(spec: &DataSpec, task: Option<usize>) -> Result<DataSpec> {
    let count = spec.names.len();
    let names = || format!("{} names the data of {count} tasks", spec.names.join("|"));
    let error = match task {
        None if count > 1 => format!("{}, and a feed has those of one", names()),
        Some(task) if task >= count => match count {
            1 => format!("task {task} is asked for, but there is only task 0"),
            _ => format!("{}, from 0 to {}: there is no task {task}", names(), count - 1),
        },
        _ => return Ok(spec.tasks().nth(task.unwrap_or(0)).unwrap_or_else(|| spec.clone())),
    };
    Err(Error::usage(error).with_help(format!(
        "say which with `task` (--task 0 to --task {}); start a feed for each",
        count - 1
    )))
}

/// The description with the options of a specification, for keys that it lacks.
fn with_options(given: &Description, options: &DataOptions) -> (Description, Vec<String>) {
    let mut description = given.clone();
    let fill = |key: &mut Option<Text>, text: Option<String>| {
        if key.is_none() {
            *key = text.map(Text::from);
        }
    };
    let table = keys(options);
    let text = |key: &str| table.get(key).and_then(Value::as_str).map(str::to_owned);
    let streams = &mut description.corpus.streams;
    if let Some(context) = text("context") {
        fill(&mut streams.entry("features".to_owned()).or_default().context, Some(context));
    }
    let (ignore, map) = (text("ignore-label"), text("map-label"));
    if ignore.is_some() || map.is_some() {
        let labels = streams.entry("labels".to_owned()).or_default();
        fill(&mut labels.ignore, ignore);
        fill(&mut labels.map, map);
    }
    let feed = &mut description.feed;
    fill(&mut feed.partition, text("partition"));
    let order = match options.random {
        Some(true) => Some(OrderName::Shuffle),
        Some(false) => Some(OrderName::Sequential),
        None => None,
    };
    feed.order = feed.order.or(order);
    feed.stream = feed.stream.or(options.stream);
    feed.batch_size = feed.batch_size.or(options.batch);
    // One text lists all options without effect.
    let mut warnings = Vec::new();
    let shuffled = feed.order == Some(OrderName::Shuffle);
    if shuffled {
        feed.reshuffle = feed.reshuffle.or(options.reshuffle);
        feed.seed = feed.seed.or(options.seed);
    }
    if !shuffled && (options.seed.is_some() || options.reshuffle == Some(true)) {
        warnings.push("seed= and reshuffle= have no effect without random=True".to_owned());
    }
    (description, warnings)
}

/// The names and options of a specification without the options that have keys.
fn data_names(spec: &DataSpec, base: Option<&Location>) -> String {
    let moved = |name: &String| joined(base, name);
    let mut text = spec.names.iter().map(moved).collect::<Vec<_>>().join("|");
    if let Some(label) = &spec.options.label {
        text += &format!(",label={}", moved(label));
    }
    text
}

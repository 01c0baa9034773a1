//! Corpora named by a data specification of PDNN.

use std::ffi::{OsStr, OsString};
use std::sync::Arc;

use seqfeed_core::{Element, Error, Result, Series, SeriesKeys, Source, Tolerance};
use seqfeed_feed::{BatchSize, Cut, Order, Partitions, Settings, Shuffle, Unit};
use seqfeed_io::{Opener, name_from_text, name_to_text};
use seqfeed_kaldi::{Role, TableOptions, TableSource};
use seqfeed_pdnn::ali::AlignmentSource;
use seqfeed_pdnn::pfile::{PFile, PFileSource};
use seqfeed_pdnn::pickle::{PickleSource, PickledData, ReopenedPickle, open_npz};
use seqfeed_pdnn::spec::{self, DataOptions, DataSpec, FileKind};
use toml::{Table, Value};

use crate::description::{Description, OrderName, Text};
use crate::name_text::is_rspecifier;

/// How the frames of a partition are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// As many as fit.
    None,
    /// A multiple of 256, if as many fit.
    To256,
    /// A partition is a whole file.
    WholeFile,
}

/// How files are opened.
pub(crate) struct FileOptions {
    /// Names are relative to its directory.
    pub(crate) opener: Opener,
    pub(crate) map: bool,
    pub(crate) chunk_samples: u64,
}

/// The files of a specification.
pub(crate) struct OpenedData {
    /// Features (and labels in the same files), then labels of their own.
    pub(crate) sources: Vec<Arc<dyn Source>>,
    pub(crate) warnings: Vec<String>,
    pub(crate) rounding: Rounding,
    /// Whether one partition is kept in memory, whatever the specification says.
    pub(crate) streams: bool,
}

/// What PDNN does unless a specification says otherwise.
pub(crate) fn settings() -> Settings {
    Settings {
        unit: Unit::Frame,
        order: Order::Sequential,
        batch: BatchSize::Samples(DataOptions::BATCH),
        cut: Cut::Partitions(Partitions { drops_partial: true, ..Partitions::default() }),
        ..Settings::default()
    }
}

/// How PDNN shuffles.
pub(crate) fn shuffle() -> Shuffle {
    Shuffle { seed: DataOptions::SEED, ..Shuffle::default() }
}

/// Whether a name is that of files that PDNN reads.
pub(crate) fn is_data(name: &str) -> bool {
    FileKind::of(name).is_some()
}

/// The specification of one task; which one must be said where there are several.
pub(crate) fn of_task(spec: &DataSpec, task: Option<usize>) -> Result<DataSpec> {
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

/// Opens the files of a specification of one task.
pub(crate) fn open(spec: &DataSpec, opening: &FileOptions) -> Result<OpenedData> {
    let [pattern] = &spec.names[..] else {
        return Err(Error::usage("a feed has the data of one task"));
    };
    let Some(kind) = FileKind::of(pattern) else {
        return Err(Error::usage(format!("{pattern} is no file of a kind that PDNN reads"))
            .with_help(
                "names have the extension .pfile, .pickle, .pkl, .npy, .npz or .scp, behind \
                        which .gz or .bz2 may stand",
            ));
    };
    let names = opening.opener.list(&name_from_text(pattern))?;
    for name in &names {
        missing(name, &opening.opener)?;
    }
    let mut warnings = Vec::new();
    if kind == FileKind::Kaldi && spec.options.stream == Some(false) {
        warnings.push("stream=False has no effect: Kaldi's files are always streamed".to_owned());
    }
    if kind != FileKind::Kaldi && spec.options.label.is_some() {
        warnings.push("label= has no effect: it is for Kaldi's features (.scp)".to_owned());
    }
    let mut opened = match kind {
        FileKind::PFile => open_pfiles(&names, &opening.opener)?,
        FileKind::Pickle => open_pickles(&names, &opening.opener, PickledData::open)?,
        FileKind::Npz => open_pickles(&names, &opening.opener, open_npz)?,
        FileKind::Kaldi => open_kaldi(&names, spec.options.label.as_deref(), opening)?,
    };
    opened.warnings.extend(warnings);
    Ok(opened)
}

/// Says what is there instead of a file that is not.
fn missing(name: &OsStr, opener: &Opener) -> Result<()> {
    let location = opener.place(name);
    let Err(error) = opener.probe(&location) else { return Ok(()) };
    Err(match opener.or_compressed(&location) {
        found if found != location => error.with_help(format!("is {found} meant?")),
        _ => error,
    })
}

fn open_pfiles(names: &[OsString], opener: &Opener) -> Result<OpenedData> {
    let mut parts: Vec<Arc<dyn Source>> = Vec::new();
    for name in names {
        // PDNN looks at no numbers: here they must go on by one each, from any one.
        let file = PFile::open(name, opener)?.numbered_as_found()?;
        parts.push(Arc::new(PFileSource::new(file)?));
    }
    Ok(OpenedData {
        sources: vec![one_after_another(parts, SeriesKeys::Numbered)?],
        warnings: Vec::new(),
        rounding: Rounding::To256,
        streams: false,
    })
}

/// One pickle stays in memory; of several, the one that is wanted.
fn open_pickles(
    names: &[OsString],
    opener: &Opener,
    open: fn(&OsStr, &Opener) -> Result<PickledData>,
) -> Result<OpenedData> {
    let mut parts: Vec<Arc<dyn Source>> = Vec::new();
    for name in names {
        parts.push(match names.len() {
            1 => {
                let key = seqfeed_core::Key(b"0");
                {
                    let shown = opener.place(name).to_string();
                    Arc::new(PickleSource::new(&shown, key, open(name, opener)?)?)
                }
            }
            _ => Arc::new(ReopenedPickle::new(name, opener, open)?),
        });
    }
    Ok(OpenedData {
        sources: vec![one_after_another(parts, SeriesKeys::Numbered)?],
        warnings: Vec::new(),
        rounding: Rounding::WholeFile,
        streams: false,
    })
}

fn open_kaldi(
    names: &[OsString],
    label: Option<&str>,
    opening: &FileOptions,
) -> Result<OpenedData> {
    let mut parts: Vec<Arc<dyn Source>> = Vec::new();
    for name in names {
        let options = TableOptions {
            stream: "features".to_owned(),
            role: Role::Features,
            element: Element::F32,
            extent: None,
            chunk_samples: opening.chunk_samples,
            opener: opening.opener.clone(),
            map: opening.map,
            or_compressed: true,
            errors: Tolerance::Stop,
        };
        let mut rspecifier = OsString::from("scp:");
        rspecifier.push(name);
        parts.push(Arc::new(TableSource::open(&[rspecifier], &options)?));
    }
    let mut sources = vec![one_after_another(parts, SeriesKeys::Own)?];
    if let Some(label) = label {
        let opener = &opening.opener;
        let label = opener.or_compressed(&opener.place(name_from_text(label))).into_name();
        let opener = opener.clone().in_directory(None);
        sources.push(Arc::new(AlignmentSource::open(&label, "labels", &opener)?));
    }
    // PDNN reads Kaldi's files in no other way.
    let (warnings, rounding, streams) = (Vec::new(), Rounding::None, true);
    Ok(OpenedData { sources, warnings, rounding, streams })
}

fn one_after_another(mut parts: Vec<Arc<dyn Source>>, keys: SeriesKeys) -> Result<Arc<dyn Source>> {
    Ok(match parts.len() {
        1 => parts.remove(0),
        _ => Arc::new(Series::new(parts, keys)?),
    })
}

impl Description {
    /// Whether a text is a data specification: the name of a file that PDNN reads (or a pattern, or
    /// several names), or any name with options behind it.
    #[must_use]
    pub fn is_data_spec(text: &str, opener: &Opener) -> bool {
        let end = spec::options_start(text);
        let name = text[..end].split([',', '|']).next().unwrap_or_default();
        let names_data = !is_rspecifier(text) && is_data(name);
        let is_file = || opener.exists(&opener.place(name_from_text(text)));
        (end < text.len() && !text.ends_with('|') && !is_file()) || names_data
    }

    /// Splits a data specification of files that PDNN does not read, `train.ctf,context=5`: the
    /// name, and the [options](crate::options) that it means, with what is worth a warning.
    /// `None` if the files are PDNN's, which a description takes as they are (the key `data`).
    ///
    /// # Errors
    ///
    /// Fails if an option is wrong.
    pub fn split_data_spec(
        text: &str,
        opener: &Opener,
    ) -> Result<Option<(String, Table, Vec<String>)>> {
        let end = spec::options_start(text);
        let name = &text[..end];
        if !is_rspecifier(name) && is_data(name.split([',', '|']).next().unwrap_or_default()) {
            return Ok(None);
        }
        let spec = DataSpec::parse_options(text, end)?;
        let mut keys = keys(&spec.options);
        if let Some(label) = &spec.options.label {
            let name = name_from_text(label);
            // As it is written, unless another one is there.
            let place = opener.place(&name);
            let found = opener.or_compressed(&place);
            let name = if found == place { name } else { found.into_name() };
            keys.insert("labels".to_owned(), Value::String(format!("ark:{}", name_to_text(name))));
        }
        Ok(Some((name.to_owned(), keys, spec.warnings)))
    }

    /// The description with options in place of the keys that it lacks.
    pub(crate) fn with_options(&self, options: &DataOptions) -> (Self, Vec<String>) {
        let mut description = self.clone();
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
        // One text says what has no effect.
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
}

/// The options of a description that those of a specification mean.
fn keys(options: &DataOptions) -> Table {
    let mut table = Table::new();
    let mut text = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            table.insert(key.to_owned(), Value::String(value));
        }
    };
    let range = |low: i32, high: i32| match low == high {
        true => low.to_string(),
        false => format!("{low}-{high}"),
    };
    text("context", options.context.map(|(left, right)| format!("{left}:{right}")));
    text(
        "ignore-label",
        options.ignore.as_ref().map(|ranges| {
            let each = ranges.iter().map(|&(low, high)| range(low, high));
            each.collect::<Vec<_>>().join(":")
        }),
    );
    text(
        "map-label",
        options.map.as_ref().map(|rules| {
            let each = rules.iter().map(|&(low, high, new)| format!("{}:{new}", range(low, high)));
            each.collect::<Vec<_>>().join("/")
        }),
    );
    text("partition", options.partition.map(|bytes| (bytes >> 20).to_string()));
    text("preset", Some("pdnn".to_owned()));
    text("partial", Some("drop".to_owned()));
    text(
        "order",
        Some(if options.random == Some(true) { "shuffle" } else { "sequential" }.to_owned()),
    );
    for (key, value) in [("stream", options.stream), ("reshuffle", options.reshuffle)] {
        if let Some(value) = value {
            table.insert(key.to_owned(), Value::Boolean(value));
        }
    }
    for (key, value) in [("seed", options.seed), ("batch-size", options.batch)] {
        if let Some(value) = value {
            let value = i64::try_from(value).unwrap_or(i64::MAX);
            table.insert(key.to_owned(), Value::Integer(value));
        }
    }
    table
}

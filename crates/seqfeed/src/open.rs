//! From a description to a corpus.

use std::sync::Arc;

use seqfeed_core::{
    Chunking, Corpus, Draw, Element, Error, Extent, Index, JoinPolicy, JoinReport, Kind, Result,
    Source, Stream, Tolerance, Transformed, nearest_name,
};
use seqfeed_feed::{Context, Cut, Feed, Layout, Order, Partitions, Settings, State, Unit};
use seqfeed_io::Opener;
use seqfeed_pdnn::spec::{DataOptions, DataSpec};

use crate::data::{self, Rounding};
use crate::description::{Description, FloatName, KindName, StreamSpec};
use crate::format::Wanted;
use crate::formats;
use crate::frames::Frames;
use crate::quantity::{self, Partition};
use crate::reader;
use crate::transforms::{self, TransformSpec};

/// A corpus that is open, with the settings to feed it.
#[derive(Clone, Debug)]
pub struct Opened {
    corpus: Arc<Corpus>,
    settings: Settings,
    /// What is worth a warning of its names and settings; its sources tell of themselves.
    warnings: Vec<String>,
}

impl Description {
    /// Opens the corpus: makes or reads the index of each stream and joins them by key.
    ///
    /// `opener` says which names may be commands: those in the description's file and in script
    /// files are not given by the caller.
    ///
    /// # Errors
    ///
    /// Fails if the description contradicts itself, if a file cannot be read, or if the streams
    /// don't fit together.
    pub fn open(&self, opener: &Opener) -> Result<Opened> {
        if let Some(data) = &self.corpus.data {
            return self.open_data(data, opener);
        }
        if self.corpus.task.is_some() {
            return Err(Error::usage("`task` is for data specifications (a.pfile|b.pfile)"));
        }
        if let Some(reader) = &self.corpus.reader {
            return self.open_reader(reader, opener);
        }
        reader::refuse_overrides(&self.corpus.overrides)?;
        let settings = self.settings()?;
        let join = self.join_rules()?;
        let mut sources: Vec<Arc<dyn Source>> = Vec::new();
        if let Some(names) = &self.corpus.files {
            sources.push(self.open_corpus_files(&names.to_vec(), opener)?);
        }
        for (name, stream) in self.streams() {
            let primary = sources.first().map(|source| source.index().as_ref());
            let source = self.open_stream(&name, &stream, opener, join.errors, primary)?;
            sources.push(source);
        }
        if sources.is_empty() {
            return Err(Error::usage("the corpus has no streams").with_help(
                "give features (and labels): a section [streams.features] with a source, or --features",
            ));
        }
        let corpus = self.transformed(Corpus::join(sources, &join)?, opener)?;
        let settings = self.settle(settings, &corpus, Rounding::None)?;
        Ok(Opened { corpus: Arc::new(corpus), settings, warnings: Vec::new() })
    }

    /// Opens the files that hold all streams: the key `corpus`.
    pub(crate) fn open_corpus_files(
        &self,
        names: &[String],
        opener: &Opener,
    ) -> Result<Arc<dyn Source>> {
        let wanted = Wanted {
            stream: None,
            kind: None,
            element: None,
            extent: None,
            dim: None,
            states: None,
            errors: self.join_rules()?.errors,
            chunk_samples: self.chunk_samples()?,
            map: self.corpus.map.unwrap_or(false),
            opener: self.opener_of("corpus", opener),
            primary: None,
        };
        let name = names.first().map_or("", String::as_str);
        let found = formats::recognised(name, &wanted.opener, |format| format.reads_corpora);
        let Some((format, _)) = found else {
            let formats = formats().into_iter();
            let formats = formats.filter(|format| format.capabilities().reads_corpora);
            let known: Vec<&str> = formats.map(|format| format.capabilities().called).collect();
            return Err(Error::usage(format!("`{name}` is not known to hold a corpus"))
                .with_help(format!("`corpus` is for {}", known.join(", "))));
        };
        format.open(names, &wanted)
    }

    /// Opens the corpus with the values of its files: 64-bit floats of Kaldi's stay such, where no
    /// type is asked for.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_exactly(&self, opener: &Opener) -> Result<Opened> {
        let opened = self.open(opener)?;
        let asked = |name: &String| {
            self.corpus.streams.get(name).is_some_and(|stream| stream.dtype.is_some())
        };
        let mut wider = opened.corpus.about().narrowed;
        wider.retain(|name| !asked(name));
        if wider.is_empty() {
            return Ok(opened);
        }
        let mut description = self.clone();
        for name in &wider {
            if let Some(stream) = description.corpus.streams.get_mut(name) {
                stream.dtype = Some(FloatName::Float64);
            }
        }
        description.open(opener)
    }

    /// The names of labels, the first one for label 0, where the description has a list of
    /// states for them.
    ///
    /// # Errors
    ///
    /// Fails if the list cannot be read.
    pub fn state_names(&self, opener: &Opener) -> Result<Vec<String>> {
        let mut streams = self.streams().into_iter();
        let named = streams.find_map(|(name, stream)| Some((name, stream.states?)));
        match named {
            Some((stream, states)) => {
                formats::state_names(&states, &self.opener_of_stream(&stream, opener))
            }
            None => Ok(Vec::new()),
        }
    }

    fn open_data(&self, text: &str, opener: &Opener) -> Result<Opened> {
        if self.corpus.reader.is_some() || self.corpus.files.is_some() || !self.streams().is_empty()
        {
            return Err(Error::usage(
                "data of a data specification have their own streams: none can be added to them",
            ));
        }
        reader::refuse_overrides(&self.corpus.overrides)?;
        let spec = data::of_task(&DataSpec::parse(text)?, self.corpus.task)?;
        let (description, warnings) = self.with_options(&spec.options);
        let settings = description.settings_over(data::settings(), data::shuffle())?;
        let join = JoinPolicy {
            chunks: Chunking::Primary,
            // As PDNN, which passes over utterances whose labels are missing or too many.
            errors: if self.corpus.errors.is_some() {
                self.join_rules()?.errors
            } else {
                Tolerance::Skip
            },
            ..self.join_rules()?
        };
        let opening = data::FileOptions {
            opener: self.opener_of("data", opener),
            map: self.corpus.map.unwrap_or(false),
            chunk_samples: self.chunk_samples()?,
        };
        let opened = data::open(&spec, &opening)?;
        let corpus = self.transformed(Corpus::join(opened.sources, &join)?, opener)?;
        let mut settings = description.settle(settings, &corpus, opened.rounding)?;
        if let (Cut::Partitions(partitions), true) = (&mut settings.cut, opened.streams) {
            partitions.whole_files = false;
        }
        let warnings = spec.warnings.into_iter().chain(warnings).chain(opened.warnings).collect();
        Ok(Opened { corpus: Arc::new(corpus), settings, warnings })
    }

    fn open_reader(&self, name: &str, opener: &Opener) -> Result<Opened> {
        if self.corpus.files.is_some() || !self.streams().is_empty() {
            return Err(Error::usage("a reader has its own streams: none can be added to it"));
        }
        let given = [
            ("chunk-size", self.corpus.chunk_size.is_some()),
            ("map", self.corpus.map == Some(true)),
            ("missing", self.corpus.missing.is_some()),
            ("errors", self.corpus.errors.is_some()),
        ];
        if let Some((key, _)) = given.iter().find(|(_, given)| *given) {
            return Err(Error::usage(format!("[reading] {key} does not go with a reader of CNTK"))
                .with_help(
                    "the reader's own settings say such things (chunkSizeInBytes, maxErrors)",
                ));
        }
        let opener = self.opener_of("reader", opener);
        let opened = reader::open(name, &self.corpus.inputs, &self.corpus.overrides, &opener)?;
        let settings = self.settings_over(opened.settings, opened.shuffle)?;
        let corpus = self.transformed(opened.corpus, &opener)?;
        let (mut settings, corpus) = self.by_frames(settings, corpus)?;
        if let Some(rows) = &opened.rows {
            rows.apply(&mut settings, corpus.index().total_samples());
        }
        let settings = self.settle(settings, &corpus, Rounding::None)?;
        let mut warnings = opened.unknown;
        warnings.extend(opened.rows.iter().filter_map(reader::Rows::warning));
        Ok(Opened { corpus: Arc::new(corpus), settings, warnings })
    }

    /// Frames can be dealt out of a reader's corpus where that is asked for: its streams must then
    /// have one sample each for a frame.
    fn by_frames(&self, mut settings: Settings, corpus: Corpus) -> Result<(Settings, Corpus)> {
        if settings.unit != Unit::Frame || corpus.streams().iter().all(|s| s.extent != Extent::Own)
        {
            return Ok((settings, corpus));
        }
        settings.layout = Layout::Frames;
        match &mut settings.cut {
            Cut::Worker(worker) => worker.truncated = None,
            Cut::Timeline(timeline) => timeline.truncated = None,
            Cut::Steps(_) | Cut::Partitions(_) => {}
        }
        let labels = settings.labels.as_ref().map(|rules| rules.stream.as_str());
        let frames = Frames::new(corpus.streams(), labels);
        let frames = Transformed::new(Arc::new(corpus), Arc::new(frames))?;
        Ok((settings, corpus_of(Arc::new(frames))?))
    }

    /// The corpus with transforms applied: to streams that it has anyway, then to all.
    fn transformed(&self, corpus: Corpus, opener: &Opener) -> Result<Corpus> {
        let streams = self.corpus.streams.iter();
        let mut applied: Vec<(Option<String>, &[TransformSpec])> = Vec::new();
        for (name, spec) in streams.filter(|(_, spec)| spec.source.is_none()) {
            if let Some(transforms) = &spec.transforms {
                applied.push((Some(stream_meant(&corpus, name)?.to_owned()), transforms));
            }
        }
        applied.extend(self.corpus.transforms.as_deref().map(|transforms| (None, transforms)));
        if applied.is_empty() {
            return Ok(corpus);
        }
        let mut source: Arc<dyn Source> = Arc::new(corpus);
        for (stream, transforms) in applied {
            source = transforms::apply(source, stream.as_deref(), transforms, opener)?;
        }
        corpus_of(source)
    }

    /// Settings of an open corpus: which streams are meant, and how many frames are in a partition.
    fn settle(
        &self,
        mut settings: Settings,
        corpus: &Corpus,
        rounding: Rounding,
    ) -> Result<Settings> {
        let streams = corpus.streams();
        let first = |kind: Kind| streams.iter().find(|stream| stream.kind == kind);
        // PDNN passes over both without a word where there are no labels.
        let unlabelled = first(Kind::Label).is_none();
        if self.corpus.data.is_some() && unlabelled && settings.labels.is_some() {
            return Err(Error::usage("labels are to be ignored or mapped, but there are none")
                .in_file(corpus.name())
                .with_help("give them (label=FILE.ali), or leave out ignore-label and map-label"));
        }
        for (stream, _) in self.corpus.streams.iter().filter(|(_, spec)| spec.is_applied()) {
            let meant = stream_meant(corpus, stream)?;
            if meant == stream {
                continue;
            }
            settings.context.retain(|context| context.stream != meant);
            for context in settings.context.iter_mut().filter(|one| one.stream == *stream) {
                meant.clone_into(&mut context.stream);
            }
            if let Some(rules) = settings.labels.as_mut().filter(|one| one.stream == *stream) {
                meant.clone_into(&mut rules.stream);
            }
        }
        settings.transform_seed = match settings.order.shuffled() {
            Some(shuffle) => shuffle.seed,
            None => self.feed.seed.unwrap_or(0),
        };
        let varies = || corpus.in_sweep(Draw::default()).is_some();
        if self.feed.seed.is_some() && settings.order.shuffled().is_none() && !varies() {
            return Err(Error::usage(
                "[feed] seed has no effect here: nothing is shuffled, and no transform draws values",
            )
            .with_help("leave seed out"));
        }
        if let Cut::Partitions(partitions) = &mut settings.cut {
            partitions.frames = self.frames_in_partition(streams, &settings.context, rounding)?;
        }
        Ok(settings)
    }

    fn frames_in_partition(
        &self,
        streams: &[Stream],
        contexts: &[Context],
        rounding: Rounding,
    ) -> Result<u64> {
        if rounding == Rounding::WholeFile {
            return Ok(u64::MAX);
        }
        let bytes = match self.feed.partition.as_ref().map(|text| quantity::partition(&text.text()))
        {
            Some(Ok(Partition::Frames(frames))) => return Ok(frames),
            Some(Ok(Partition::Bytes(bytes))) => bytes,
            Some(Err(error)) => return Err(error),
            None => DataOptions::PARTITION,
        };
        let frame_bytes: u64 = streams
            .iter()
            .filter(|stream| stream.kind == Kind::Dense && stream.extent == Extent::Samples)
            .map(|stream| {
                let context = contexts.iter().find(|context| context.stream == stream.name);
                let width = context.map_or(1, |context| context.left + 1 + context.right);
                (stream.sample_bytes() * width) as u64
            })
            .sum();
        let frames = bytes / frame_bytes.max(1);
        match rounding {
            _ if frames == 0 => Err(Error::usage(format!(
                "a partition of {bytes} bytes holds no frame: one takes {frame_bytes}, context counted"
            ))
            .with_help("use larger partitions or less context")),
            Rounding::To256 if frames >= 256 => Ok(frames - frames % 256),
            _ => Ok(frames),
        }
    }

    pub(crate) fn open_stream(
        &self,
        name: &str,
        stream: &StreamSpec,
        opener: &Opener,
        errors: Tolerance,
        primary: Option<&Index>,
    ) -> Result<Arc<dyn Source>> {
        let Some(source) = &stream.source else {
            return Err(Error::usage(format!("stream {name} has no source")));
        };
        let label = stream.kind == Some(KindName::Label);
        let sparse = stream.kind == Some(KindName::Sparse);
        if stream.dim.is_some() && !sparse {
            return Err(Error::usage(format!("stream {name}: dim is of sparse streams"))
                .with_help("give kind = \"sparse\", or no dim: the data tell it"));
        }
        let element = match (label, stream.dtype) {
            (true, Some(_)) => {
                return Err(Error::usage(format!("stream {name}: labels have no dtype to choose")));
            }
            (false, Some(FloatName::Float64)) if sparse => {
                return Err(Error::usage(format!("stream {name}: posteriors are of float32")));
            }
            (true, None) => Element::I32,
            (false, Some(FloatName::Float64)) => Element::F64,
            (false, _) => Element::F32,
        };
        let (names, opener) = (source.to_vec(), self.opener_of_stream(name, opener));
        let first = names.first().map_or("", String::as_str);
        let found = formats::recognised(first, &opener, |format| format.reads_streams);
        let Some((format, _)) = found else {
            return Err(Error::usage(format!("stream {name}: no format is known for `{first}`")));
        };
        let wanted = Wanted {
            stream: Some(name),
            kind: stream.kind.map(Kind::from),
            element: Some(element),
            extent: stream.extent.map(Extent::from),
            dim: stream.dim,
            states: stream.states.as_deref(),
            errors,
            chunk_samples: self.chunk_samples()?,
            map: self.corpus.map.unwrap_or(false),
            opener,
            primary,
        };
        let source = format.open(&names, &wanted)?;
        transforms::apply(source, None, stream.transforms.as_deref().unwrap_or(&[]), &wanted.opener)
    }
}

/// One source as a corpus, with its own chunks.
fn corpus_of(source: Arc<dyn Source>) -> Result<Corpus> {
    let rules = JoinPolicy { chunks: Chunking::Primary, ..JoinPolicy::default() };
    Corpus::join(vec![source], &rules)
}

/// The stream that is meant by a name: `features` and `labels` stand for the first one of their
/// kind where a corpus has none of that name.
fn stream_meant<'a>(corpus: &'a Corpus, name: &str) -> Result<&'a str> {
    let streams = corpus.streams();
    let first = |kind: Kind| streams.iter().find(|stream| stream.kind == kind);
    let meant = streams.iter().find(|stream| stream.name == name).or_else(|| match name {
        "features" => first(Kind::Dense),
        "labels" => first(Kind::Label),
        _ => None,
    });
    if let Some(meant) = meant {
        return Ok(&meant.name);
    }
    let names = || streams.iter().map(|stream| stream.name.as_str());
    let missing = match name {
        "labels" => "there are no labels".to_owned(),
        name => format!("there is no stream {name}"),
    };
    let error = Error::usage(missing).in_file(corpus.name());
    Err(match nearest_name(name, names()) {
        Some(near) => error.with_help(format!("did you mean `{near}`?")),
        None => {
            error.with_help(format!("its streams are {}", names().collect::<Vec<_>>().join(", ")))
        }
    })
}

impl Opened {
    /// The corpus.
    #[must_use]
    pub fn corpus(&self) -> &Arc<Corpus> {
        &self.corpus
    }

    /// The settings of its feed.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What was skipped while opening and joining.
    #[must_use]
    pub fn report(&self) -> JoinReport {
        self.corpus.about().report
    }

    /// Bytes decoded into temporary files, because the data cannot be read in place.
    #[must_use]
    pub fn spooled_bytes(&self) -> u64 {
        self.corpus.about().spooled_bytes
    }

    /// Seconds from one sample to the next, where the files of a stream say it (HTK's do): the
    /// first one found.
    #[must_use]
    pub fn frame_shift(&self) -> Option<f64> {
        self.corpus.about().frame_shift
    }

    /// Seconds from one sample of a stream to the next: as its files say, or else as those
    /// of another do.
    #[must_use]
    pub fn frame_shift_of(&self, stream: &str) -> Option<f64> {
        let mut sources = self.corpus.sources().iter();
        let own = sources.find(|source| source.streams().iter().any(|s| s.name == stream));
        own.and_then(|source| source.about().frame_shift).or_else(|| self.frame_shift())
    }

    /// What is worth a warning but stops nothing: names in a configuration that no reader knows,
    /// and what was passed over in the data so far.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.iter().cloned().chain(self.corpus.about().warnings).collect()
    }

    /// The same corpus, fed as a run of one sweep: the minibatches of sweep `sweep` for rank `rank`
    /// of so many, packed by so many threads where `threads` says so.
    #[must_use]
    pub fn one_sweep(&self, sweep: u64, rank: usize, ranks: usize, threads: Option<usize>) -> Self {
        let mut opened = self.clone();
        let settings = &mut opened.settings;
        let reshuffles =
            !matches!(settings.cut, Cut::Partitions(Partitions { reshuffle: false, .. }));
        if let (Order::Shuffle(shuffle), true) = (&mut settings.order, reshuffles) {
            shuffle.seed = shuffle.seed.wrapping_add(sweep);
        }
        settings.transform_seed = settings.transform_seed.wrapping_add(sweep);
        (settings.sweeps, settings.rank, settings.ranks) = (Some(1), rank, ranks);
        settings.threads = threads.unwrap_or(settings.threads);
        opened
    }

    /// Starts feeding, from the beginning or from a state.
    ///
    /// # Errors
    ///
    /// As [`Feed::new`].
    pub fn feed(&self, state: Option<&State>) -> Result<Feed> {
        Feed::new(Arc::clone(&self.corpus) as Arc<dyn Source>, self.settings.clone(), state)
    }
}

//! What a corpus is made of and how it is fed: `corpus.toml`.

mod explicit;
mod file_text;
mod settings;
mod tables;
mod toml_text;
mod unknown;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use seqfeed_core::{Chunking, Error, Extent, JoinPolicy, Kind, Problem, Result, Tolerance};
use seqfeed_feed::{Layout, Partial, Shard, Unit, tolerance};
use seqfeed_io::{Opener, path_from_text, shown_name};
use serde::{Deserialize, Deserializer};
use toml::{Table, Value};

/// What a corpus is made of and how it is fed: the keys of a `corpus.toml`, which are the options
/// of `seqfeed feed` too (`batch-size` is `--batch-size`).
///
/// ```
/// let description = seqfeed::Description::from_toml(
///     r#"
///     features = "scp:feats.scp"
///     labels = "ark:ali.ark"
///     context = "5:5"
///     batch-size = 512
///     "#,
/// )?;
/// assert_eq!(description.streams().count(), 2);
/// # Ok::<(), seqfeed::Error>(())
/// ```
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct Description {
    /// A reader of CNTK that says what the corpus is made of and how it is fed:
    /// `train.cntk#Path.reader` (a section of a configuration), `reader.json` (the same as a
    /// dictionary), or `train.ctf` (a bare file, whose inputs are found from its data). Other keys
    /// replace what it says.
    pub reader: Option<String>,
    /// Values that replace those of the reader's configuration, or that its `$variables$` have, as
    /// CNTK's command line gives them: `ScpDir = "/data"`, `"Train.reader.randomize" = "none"`.
    #[serde(default, deserialize_with = "scalars")]
    pub overrides: BTreeMap<String, Text>,
    /// A data specification of PDNN: `train.pfile,context=5,random=True`. Its options are those
    /// keys of the description that are not given: `context`, `ignore-label`, `map-label`,
    /// `partition`, `stream`, `order`, `seed`, `reshuffle`, `batch-size`.
    pub data: Option<String>,
    /// Where that names the data of several tasks (`a.pfile|b.pfile,context=5`): the one that is
    /// fed, from 0.
    pub task: Option<usize>,
    /// Files that hold all streams of a corpus, one after another: Arrow IPC files (`.arrow`,
    /// `.feather`, `.arrows`, `.ipc`) or Parquet files (`.parquet`). Other streams are joined to
    /// theirs by key.
    pub corpus: Option<Names>,
    /// The inputs of a bare CTF file, by the names of their streams, where they shall not be found
    /// from its data.
    #[serde(default)]
    pub inputs: BTreeMap<String, InputDescription>,
    /// The stream `features`: short for a table `[streams.features]` with this `source`.
    pub features: Option<Names>,
    /// The stream `labels`: short for a table `[streams.labels]` with this `source`.
    pub labels: Option<Names>,
    /// Where labels are HTK's: the list of states that gives their names numbers.
    pub states: Option<String>,
    /// Labels whose frames are left out: `"0:2:7-9"`. Context is taken before, so that they are
    /// still the context of others. Needs `unit = "frame"`.
    #[serde(alias = "ignore_label")]
    pub ignore_label: Option<Text>,
    /// Labels that become others, all at once, after frames were left out: `"1:0/4-6:2"`.
    #[serde(alias = "map_label")]
    pub map_label: Option<Text>,
    /// Frames of context of the stream `features`: `5` (to both sides) or `"5:3"` (left, right).
    pub context: Option<Text>,
    /// All other streams, by name.
    #[serde(default)]
    pub streams: BTreeMap<String, StreamDescription>,

    /// `frame` (the default) or `sequence`.
    pub unit: Option<Unit>,
    /// `shuffle` (the default) or `sequential`.
    pub order: Option<OrderName>,
    /// `"32 chunks"` (the default), `"200000 samples"` or `"corpus"`.
    pub window: Option<Text>,
    /// Size of a minibatch, 256 by default.
    #[serde(alias = "batch_size")]
    pub batch_size: Option<u64>,
    /// What the size counts: `samples` (the default), `sequences`, or `padded` samples.
    #[serde(alias = "batch_unit")]
    pub batch_unit: Option<BatchUnit>,
    /// Group sequences of like length out of pools of so many.
    pub bucket: Option<usize>,
    /// `padded` (the default for sequences) or `concatenated`.
    pub layout: Option<Layout>,
    /// What stands where labels are padded, -100 by default.
    #[serde(alias = "label_padding")]
    pub label_padding: Option<i32>,
    /// The end of a sweep: `keep` (the default), `drop` or `even`.
    pub partial: Option<Partial>,
    /// How ranks divide the corpus: `minibatches` (the default) or `chunks`.
    pub shard: Option<Shard>,
    /// Who cuts minibatches: `steps` (the global order is cut and dealt; the default, except with
    /// readers of CNTK and data of PDNN), `worker` (each rank cuts its own, as CNTK's workers do)
    /// or `timeline` (each rank has an order of its own, as with CNTK's local-timeline randomizers)
    /// or `partitions` (files are cut into partitions, and these into minibatches, as with PDNN).
    pub cut: Option<CutName>,
    /// With `cut = "partitions"`, which it stands for: the size of a partition, `"600m"` (the
    /// default: so many times 2^20 bytes of dense values, context counted) or `"4096 frames"`.
    pub partition: Option<Text>,
    /// With `cut = "partitions"`: shuffle, and keep in memory, one partition and not a whole file.
    pub stream: Option<bool>,
    /// With `cut = "partitions"`: whether each sweep has an order of its own (`false` by default).
    pub reshuffle: Option<bool>,
    /// With `cut = "worker"`: whether only the rank's own samples count.
    pub local_timeline: Option<bool>,
    /// With `cut = "worker"`: whether minibatches go on over the ends of sweeps.
    pub cross_sweeps: Option<bool>,
    /// With `cut = "worker"` or `"timeline"`: what an epoch is, `run` (the default), `sweep` or a
    /// number of samples.
    pub epoch: Option<Text>,
    /// With `cut = "worker"`: begin so many samples from the very start.
    pub start: Option<u64>,
    /// With `cut = "worker"` or `"timeline"`: truncate sequences to so many samples a minibatch,
    /// side by side in rows.
    pub truncation: Option<u64>,
    /// Seed of the shuffle: 0 by default; PDNN's 18877 with `cut = "partitions"`.
    pub seed: Option<u64>,
    /// End after so many sweeps.
    pub sweeps: Option<u64>,
    /// End after so many samples.
    pub samples: Option<u64>,
    /// This rank, from 0.
    pub rank: Option<usize>,
    /// Number of ranks, 1 by default.
    pub ranks: Option<usize>,
    /// Threads that pack (and as many that load).
    pub threads: Option<usize>,
    /// Minibatches kept ready, 4 by default.
    pub queue: Option<usize>,
    /// Most memory for chunks and minibatches: a number of bytes, or text such as `"2 GB"`.
    pub memory: Option<Text>,
    /// Most samples in a chunk, 32,768 by default.
    #[serde(alias = "chunk_size")]
    pub chunk_size: Option<u64>,
    /// Map files instead of reading them.
    pub map: Option<bool>,
    /// Most bytes of a key, a word or a line in text, 65,536 by default.
    #[serde(alias = "line_limit")]
    pub line_limit: Option<NonZeroUsize>,
    /// Keys that a stream lacks: `"skip"` (the default), `"stop"`, or the most that are skipped.
    pub missing: Option<Text>,
    /// Sequences that are wrong (lengths that differ, objects that cannot be read): `"stop"` (the
    /// default), `"skip"`, or the most that are skipped.
    pub errors: Option<Text>,
    /// File that the feed's state is kept in, so that a run goes on where it was stopped.
    #[serde(default, deserialize_with = "path")]
    pub state: Option<PathBuf>,

    /// Where the description stood: relative names in it are relative to this.
    #[serde(skip)]
    pub base: Option<PathBuf>,
    /// Keys that were given in place of the file's; names of streams among them are relative to the
    /// working directory.
    #[serde(skip)]
    overridden: Vec<String>,
    /// Whether it was read from a file: then who opens it did not give the names in it.
    #[serde(skip)]
    from_file: bool,
}

/// One stream of a corpus.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct StreamDescription {
    /// Where its samples are: an rspecifier, or several that follow one another; an HTK script,
    /// parameter files, or master label files (`htk:NAME`, or the name alone); or a column of an
    /// Arrow or Parquet file (`train.parquet#COLUMN`, or the name alone where the column has the
    /// stream's name or is the only one).
    pub source: Option<Names>,
    /// The list of states of labels in master label files.
    pub states: Option<String>,
    /// `dense` (the default), `label` or `sparse` (tables of posteriors and of sparse matrices).
    pub kind: Option<KindName>,
    /// Of sparse streams: the number of possible values, if not the highest one that is
    /// there and one.
    pub dim: Option<usize>,
    /// Type of dense values: `float32` (the default) or `float64`.
    pub dtype: Option<FloatName>,
    /// `samples` (one a time step, the default), `sequence` (one for the whole sequence) or `own`
    /// (a length of its own).
    pub extent: Option<ExtentName>,
    /// Frames of context.
    pub context: Option<Text>,
}

/// One input of a CTF file.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct InputDescription {
    /// What the file calls it; its name by default.
    pub alias: Option<String>,
    /// Values of a sample; the bound of indices where it is sparse.
    pub dim: u32,
    /// `dense` or `sparse`.
    pub format: FormatName,
    /// Whether minibatches are counted in its samples.
    #[serde(default)]
    pub defines_mb_size: bool,
}

/// One name or several, as texts ([`name_to_text`](seqfeed_io::name_to_text)).
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Names {
    /// One.
    One(String),
    /// Several, one after another.
    Several(Vec<String>),
}

/// Text, or a number that is read as text.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Text {
    /// A number.
    Number(u64),
    /// Text.
    Word(String),
    /// Two numbers: left and right context.
    Pair([u64; 2]),
}

macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident),+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum $name { $($(#[$variant_doc])* $variant),+ }
    };
}

names!(
    /// Name of an order.
    OrderName {
        /// Shuffled anew in each sweep.
        Shuffle,
        /// As the samples lie.
        Sequential
    }
);
names!(
    /// Who cuts minibatches.
    CutName {
        /// The global order is cut, and dealt to the ranks.
        Steps,
        /// Each rank cuts its own.
        Worker,
        /// Each rank has an order of its own.
        Timeline,
        /// Files are cut into partitions, and these into minibatches.
        Partitions
    }
);
names!(
    /// What a batch size counts.
    BatchUnit {
        /// Samples.
        Samples,
        /// Sequences (or frames, where those are dealt out).
        Sequences,
        /// Samples with padding.
        Padded
    }
);
names!(
    /// How the values of an input stand in a file.
    FormatName {
        /// All of them.
        Dense,
        /// With their indices.
        Sparse
    }
);
names!(
    /// Name of a stream's kind.
    KindName {
        /// Vectors of real values.
        Dense,
        /// Class numbers.
        Label,
        /// Numbered values of which most are zero: posteriors, sparse matrices.
        Sparse
    }
);
names!(
    /// Name of a float type.
    FloatName {
        /// 32 bits.
        Float32,
        /// 64 bits.
        Float64
    }
);
names!(
    /// How many samples a sequence has.
    ExtentName {
        /// One a time step.
        Samples,
        /// One for the whole sequence.
        Sequence,
        /// As many as there are, whatever the other streams have.
        Own
    }
);

impl From<KindName> for Kind {
    fn from(name: KindName) -> Self {
        match name {
            KindName::Dense => Self::Dense,
            KindName::Label => Self::Label,
            KindName::Sparse => Self::Sparse,
        }
    }
}

impl From<ExtentName> for Extent {
    fn from(name: ExtentName) -> Self {
        match name {
            ExtentName::Samples => Self::Samples,
            ExtentName::Sequence => Self::Sequence,
            ExtentName::Own => Self::Own,
        }
    }
}

impl From<Extent> for ExtentName {
    fn from(extent: Extent) -> Self {
        match extent {
            Extent::Samples => Self::Samples,
            Extent::Sequence => Self::Sequence,
            Extent::Own => Self::Own,
        }
    }
}

impl Names {
    /// The names, in order.
    #[must_use]
    pub fn to_vec(&self) -> Vec<String> {
        match self {
            Names::One(name) => vec![name.clone()],
            Names::Several(names) => names.clone(),
        }
    }
}

impl From<&str> for Names {
    fn from(name: &str) -> Self {
        Names::One(name.to_owned())
    }
}

impl Text {
    pub(crate) fn text(&self) -> String {
        match self {
            Text::Number(number) => number.to_string(),
            Text::Word(text) => text.clone(),
            Text::Pair([left, right]) => format!("{left}:{right}"),
        }
    }
}

impl Description {
    /// Reads a description from TOML text; relative names are relative to the working directory.
    ///
    /// # Errors
    ///
    /// Fails if it is not TOML, or has unknown keys or values.
    pub fn from_toml(text: &str) -> Result<Self> {
        Self::from_table(parse(text)?)
    }

    /// Reads a `corpus.toml`; relative names in it are relative to the file.
    ///
    /// # Errors
    ///
    /// As [`from_toml`](Description::from_toml), or if the file cannot be read.
    pub fn from_file(path: &Path) -> Result<Self> {
        Self::from_file_with(path, Table::new())
    }

    /// As [`from_file`](Description::from_file), with keys that replace those of the file, as
    /// options of a command line do. Names in `instead` are relative to the working directory.
    ///
    /// # Errors
    ///
    /// As [`from_file`](Description::from_file).
    pub fn from_file_with(path: &Path, instead: Table) -> Result<Self> {
        let file = shown_name(path);
        let (text, seems) = file_text::read(path, &file)?;
        let mut table = parse(&text).map_err(|error| {
            let error = error.in_file(&file);
            match seems {
                Some(help) => error.with_help(help),
                None => error,
            }
        })?;
        let overridden: Vec<String> = instead.keys().cloned().collect();
        if instead.get("order").and_then(Value::as_str) == Some("sequential") {
            table.remove("window");
        }
        for (key, value) in instead {
            if let Some(streams) = table.get_mut("streams").and_then(Value::as_table_mut) {
                streams.remove(&key);
            }
            table.insert(key, value);
        }
        let mut description = Self::from_table(table).map_err(|error| error.in_file(&file))?;
        let base = path.parent().map(Path::to_owned).filter(|base| !base.as_os_str().is_empty());
        description.base = base;
        (description.overridden, description.from_file) = (overridden, true);
        Ok(description)
    }

    /// Reads a description from a TOML table.
    ///
    /// # Errors
    ///
    /// Fails if it has unknown keys or values.
    pub fn from_table(table: Table) -> Result<Self> {
        table.clone().try_into().map_err(|error: toml::de::Error| {
            let mut alone = table.into_iter().filter_map(|(key, value)| {
                let one = Table::from_iter([(key.clone(), value.clone())]);
                Some((key, value, one.try_into::<Self>().err()?))
            });
            match alone.next() {
                // Of several forms that a value may have, none is said to be the one
                // that was meant.
                Some((key, value, error)) if error.message().contains("untagged enum") => {
                    Error::usage(format!("description: key `{key}` takes no such value as {value}"))
                }
                Some((key, _, error)) if !error.message().contains(&format!("`{key}`")) => {
                    unknown::error(&format!("description: key `{key}`"), error.message())
                }
                _ => unknown::error("description", error.message()),
            }
        })
    }

    /// The streams, the primary one first: `features` if there is such a stream, then the others
    /// by name.
    pub fn streams(&self) -> impl Iterator<Item = (String, StreamDescription)> {
        let short = |source: &Option<Names>, kind: KindName, context: &Option<Text>| {
            source.clone().map(|source| StreamDescription {
                source: Some(source),
                kind: Some(kind),
                context: context.clone(),
                states: self.states.clone().filter(|_| kind == KindName::Label),
                ..StreamDescription::default()
            })
        };
        let mut streams: Vec<(String, StreamDescription)> =
            self.streams.clone().into_iter().collect();
        for (name, stream) in &mut streams {
            if name == "features" && stream.context.is_none() {
                stream.context.clone_from(&self.context);
            }
            if stream.kind == Some(KindName::Label) && stream.states.is_none() {
                stream.states.clone_from(&self.states);
            }
        }
        let labels = short(&self.labels, KindName::Label, &None);
        streams.extend(labels.map(|stream| ("labels".to_owned(), stream)));
        let features = short(&self.features, KindName::Dense, &self.context);
        streams.extend(features.map(|stream| ("features".to_owned(), stream)));
        streams.sort_by_key(|(name, _)| (name != "features", name.clone()));
        streams.into_iter()
    }

    /// Whether a file, by its content, is an HTK script, parameter file, or master label file.
    #[must_use]
    pub fn is_htk_file(name: &str) -> bool {
        let found = crate::formats::recognised(name, None, |_| true);
        found.is_some_and(|(format, _)| format.name() == "htk")
    }

    /// Passes over everything that is wrong or missing, so that the rest can be looked at.
    pub fn skip_errors(&mut self) {
        self.missing = Some(Text::Word("skip".to_owned()));
        self.errors = Some(Text::Word("skip".to_owned()));
    }

    /// Whether a key was given in place of the file's.
    #[must_use]
    pub fn is_overridden(&self, key: &str) -> bool {
        self.overridden.iter().any(|name| name == key)
    }

    /// The directory that a stream's names are relative to, if not the working directory.
    pub(crate) fn base_of(&self, stream: &str) -> Option<&Path> {
        self.base.as_deref().filter(|_| !self.is_overridden(stream))
    }

    /// What opens the names behind a key, under the opener for names that the caller gives: those
    /// that stand in the description's file were not given by the caller.
    pub(crate) fn opener_of(&self, key: &str, opener: &Opener) -> Opener {
        let opener = match self.from_file && !self.is_overridden(key) {
            true => opener.of_contents(),
            false => opener.clone(),
        };
        let line_limit = self.line_limit.map_or(opener.line_limit(), NonZeroUsize::get);
        opener.with_line_limit(line_limit)
    }

    /// The opener of the join.
    pub(crate) fn join_rules(&self) -> Result<JoinPolicy> {
        let default = JoinPolicy::default();
        let read = |key: &str, text: &Option<Text>, default: Tolerance| match text {
            None => Ok(default),
            Some(text) => tolerance(&text.text()).ok_or_else(|| {
                Error::usage(format!(
                    "{key}: expected `stop`, `skip` or a number, found `{}`",
                    text.text()
                ))
            }),
        };
        Ok(JoinPolicy {
            missing: read("missing", &self.missing, default.missing)?,
            errors: read("errors", &self.errors, default.errors)?,
            chunks: Chunking::Samples(self.chunk_samples()?),
            ..default
        })
    }

    /// Most samples in a chunk.
    pub(crate) fn chunk_samples(&self) -> Result<u64> {
        match self.chunk_size.unwrap_or(32_768) {
            0 => Err(Error::usage("chunk-size must be 1 at least")),
            samples => Ok(samples),
        }
    }
}

/// A path, of which bytes that are not UTF-8 stand in the text as in all names.
fn path<'de, D: Deserializer<'de>>(text: D) -> Result<Option<PathBuf>, D::Error> {
    Ok(Option::<String>::deserialize(text)?.map(|text| path_from_text(&text)))
}

/// Texts, numbers and truths, all as text.
fn scalars<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<BTreeMap<String, Text>, D::Error> {
    let table = Table::deserialize(deserializer)?;
    let text = |(name, value): (String, Value)| {
        let text = match value {
            Value::String(text) => text,
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Boolean(truth) => truth.to_string(),
            _ => {
                let message = format!("the value of override {name} must be a text or a number");
                return Err(serde::de::Error::custom(message));
            }
        };
        Ok((name, Text::Word(text)))
    };
    table.into_iter().map(text).collect()
}

fn parse(text: &str) -> Result<Table> {
    text.parse::<Table>().map_err(|error| {
        let before = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text.as_bytes()[..before].iter().filter(|&&byte| byte == b'\n').count() + 1;
        let problem = Problem::Unsupported(error.message().to_owned().into());
        Error::format("description", problem).at_line(line as u64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_keys_and_stream_tables_mean_the_same() {
        let short = Description::from_toml(
            "features = 'scp:f.scp'\nlabels = ['ark:a', 'ark:b']\ncontext = 5\nbatch_size = 9",
        )
        .unwrap();
        let long = Description::from_toml(
            "batch-size = 9\n[streams.features]\nsource = 'scp:f.scp'\ncontext = [5, 5]\n\
             [streams.labels]\nsource = ['ark:a', 'ark:b']\nkind = 'label'",
        )
        .unwrap();
        assert_eq!(short.settings().unwrap(), long.settings().unwrap());
        let names = |d: &Description| {
            let names = d.streams().map(|(name, s)| (name, s.source.unwrap().to_vec(), s.kind));
            names.map(|(n, s, k)| (n, s, k == Some(KindName::Label))).collect::<Vec<_>>()
        };
        assert_eq!(names(&short), names(&long));
        assert_eq!(names(&short)[0].0, "features");
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        let error = Description::from_toml("unit = 'frame'\norder = = 3").unwrap_err();
        assert_eq!(error.place().to_string(), "line 2");
        let cases = [
            ("colour = 3", "unknown field `colour`"),
            ("unit = 'word'", "unknown variant `word`"),
            ("[streams.x]\nsauce = 'a'", "unknown field `sauce`"),
        ];
        for (text, expected) in cases {
            let error = Description::from_toml(text).unwrap_err();
            assert!(error.message().contains(expected), "{error}");
        }
        let cases = [
            ("window = 'wide'", "expected a window"),
            ("order = 'sequential'\nwindow = '3 chunks'", "a window is for"),
            ("layout = 'padded'", "needs unit"),
            ("features = 'ark:x'\ncontext = 'left'", "expected a context"),
            ("memory = 'much'", "a number of bytes"),
            ("cut = 'timeline'\nlocal-timeline = true", "are for cut"),
        ];
        for (text, expected) in cases {
            let error = Description::from_toml(text).unwrap().settings().unwrap_err();
            assert!(error.is_usage() && error.message().contains(expected), "{error}");
        }
    }
}

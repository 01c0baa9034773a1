//! The options that describe a corpus and its feed; each is also a key of `corpus.toml`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use seqfeed::io::{Opener, name_from_text, name_to_text, path_from_text};
use seqfeed::{Description, Error, Opened, Table, Value};

use crate::kaldi_object::KaldiObject;
use crate::report;

/// Names are bytes: the arguments hold them as text from which the bytes can be had again.
pub(crate) fn name() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(name_to_text)
}

/// What the corpus is made of.
#[derive(Args, Clone, Debug)]
pub(crate) struct CorpusOptions {
    /// A description (corpus.toml), an rspecifier of features (scp:feats.scp), an HTK script
    /// (feats.scp), a reader of CNTK (train.cntk#reader, reader.json), a CTF file, or a data
    /// specification of PDNN (train.pfile,context=5,random=True), whose options may stand behind
    /// any other name too; an Arrow or Parquet file (train.arrow, train.parquet), or a column of
    /// one (train.parquet#features)
    #[arg(value_name = "CORPUS", value_parser = name())]
    corpus: Option<String>,

    /// Of a data specification of several tasks (a.pfile|b.pfile,context=5), the one meant, from 0
    #[arg(long, value_name = "N")]
    task: Option<u64>,

    /// With a reader of CNTK's configurations: the value of a variable or a setting, as on CNTK's
    /// command line (`ScpDir=/data`, `Train.reader.randomize=none`)
    #[arg(long = "override", value_name = "NAME=VALUE")]
    overrides: Vec<String>,

    /// Rspecifier of the features, such as scp:feats.scp or ark:feats.ark; several follow one
    /// another
    #[arg(long, value_name = "RSPECIFIER", value_parser = name())]
    features: Vec<String>,

    /// Rspecifier of the frame labels, such as ark:ali.ark, or master label files
    #[arg(long, value_name = "RSPECIFIER", value_parser = name())]
    labels: Vec<String>,

    /// With labels in master label files: the list of states, one a line, that gives them numbers
    #[arg(long, value_name = "FILE", value_parser = name())]
    states: Option<String>,

    /// Most samples in a chunk, the unit of loading [default: 32768]
    #[arg(long, value_name = "N")]
    chunk_size: Option<u64>,

    /// Map files into memory instead of reading them (a file cut short while mapped ends the
    /// program)
    #[arg(long)]
    map: bool,

    /// Most bytes of a key, a word or a line in text [default: 65536]
    #[arg(long, value_name = "BYTES")]
    line_limit: Option<NonZeroUsize>,

    /// What to do with keys that a stream lacks: stop, skip, or skip up to N [default: skip]
    #[arg(long, value_name = "stop|skip|N")]
    missing: Option<String>,

    /// What to do with sequences that are wrong: stop, skip, or skip up to N [default: stop]
    #[arg(long, value_name = "stop|skip|N")]
    errors: Option<String>,

    /// Allow commands (`cmd |`) also in names that stand in files, such as script files and
    /// descriptions; names on the command line may be commands anyway
    #[arg(long)]
    allow_pipes: bool,
}

/// What names may do: those on the command line may be commands, those that stand in files only if
/// the user allows it. This is the rule of all commands.
pub(crate) fn opener(allow_pipes: bool) -> Opener {
    if allow_pipes { Opener::with_pipes() } else { Opener::with_given_pipes() }
}

/// How the corpus is fed.
#[derive(Args, Debug)]
pub(crate) struct FeedOptions {
    /// Frames of context of the features: to both sides, or left and right
    #[arg(long, value_name = "L[:R]")]
    context: Option<String>,

    /// Leave out frames of these labels (after context is taken), such as 0:3-9
    #[arg(long, value_name = "LABELS", allow_hyphen_values = true)]
    ignore_label: Option<String>,

    /// Give labels new numbers, all at once, such as 1:0/4-6:2
    #[arg(long, value_name = "OLD:NEW/...", allow_hyphen_values = true)]
    map_label: Option<String>,

    /// Cut files into partitions, and these into minibatches, as PDNN does: so many megabytes each
    /// (600m, context counted) or "4096 frames"
    #[arg(long, value_name = "SIZE")]
    partition: Option<String>,

    /// With partitions: shuffle, and keep in memory, one partition and not a whole file
    #[arg(long, value_name = "BOOL")]
    stream: Option<bool>,

    /// With partitions: whether each sweep has an order of its own
    #[arg(long, value_name = "BOOL")]
    reshuffle: Option<bool>,

    /// What is shuffled and dealt out: frame or sequence [default: frame]
    #[arg(long, value_name = "frame|sequence")]
    unit: Option<String>,

    /// Order in a sweep: shuffle or sequential [default: shuffle]
    #[arg(long, value_name = "shuffle|sequential")]
    order: Option<String>,

    /// How far the shuffle reaches: "32 chunks", "200000 samples", or "corpus" [default: 32 chunks]
    #[arg(long, value_name = "WINDOW")]
    window: Option<String>,

    /// Size of a minibatch [default: 256]
    #[arg(long, value_name = "N")]
    batch_size: Option<u64>,

    /// What the size counts: samples, sequences, or padded samples [default: samples]
    #[arg(long, value_name = "samples|sequences|padded")]
    batch_unit: Option<String>,

    /// Group sequences of like length out of pools of N sequences
    #[arg(long, value_name = "N")]
    bucket: Option<u64>,

    /// How sequences lie in a minibatch: padded, concatenated, or packed into rows
    /// [default: padded]
    #[arg(long, value_name = "padded|concatenated|packed")]
    layout: Option<String>,

    /// What stands where labels are padded [default: -100]
    #[arg(long, value_name = "LABEL", allow_negative_numbers = true)]
    label_padding: Option<i64>,

    /// The end of a sweep, where minibatches are not full: keep, drop, or spread evenly over
    /// ranks [default: keep]
    #[arg(long, value_name = "keep|drop|even")]
    partial: Option<String>,

    /// How ranks divide the corpus: by minibatches or by chunks [default: minibatches]
    #[arg(long, value_name = "minibatches|chunks")]
    shard: Option<String>,

    /// Who cuts minibatches: steps (the global order is cut and dealt to ranks), worker (each rank
    /// cuts its own, as CNTK's workers do), timeline (each rank has an order of its own, as with
    /// CNTK's local-timeline randomizers) or partitions (of files, as with PDNN) [default: steps;
    /// worker with readers of CNTK; partitions with data specifications]
    #[arg(long, value_name = "steps|worker|timeline|partitions")]
    cut: Option<String>,

    /// With --cut worker: whether only the rank's own samples count for the batch size
    #[arg(long, value_name = "BOOL")]
    local_timeline: Option<bool>,

    /// With --cut worker: whether minibatches go on over the ends of sweeps
    #[arg(long, value_name = "BOOL")]
    cross_sweeps: Option<bool>,

    /// With --cut worker or timeline: what an epoch is, at whose end a minibatch ends
    /// [default: run]
    #[arg(long, value_name = "run|sweep|N")]
    epoch: Option<String>,

    /// With --cut worker: begin so many samples from the very start
    #[arg(long, value_name = "N")]
    start: Option<u64>,

    /// With --cut worker or timeline: truncate sequences to N samples a minibatch, side by
    /// side in rows
    #[arg(long, value_name = "N")]
    truncation: Option<u64>,

    /// Seed of the shuffle [default: 0]
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,

    /// End after so many sweeps [default: 1, unless --samples is given]
    #[arg(long, value_name = "N")]
    sweeps: Option<u64>,

    /// End after so many samples over all ranks
    #[arg(long, value_name = "N")]
    samples: Option<u64>,

    /// This rank, from 0
    #[arg(long, value_name = "R")]
    rank: Option<u64>,

    /// Number of ranks
    #[arg(long, value_name = "N")]
    ranks: Option<u64>,

    /// Threads that pack minibatches, and as many that load chunks [default: one a core, at most 8]
    #[arg(long, value_name = "N")]
    threads: Option<u64>,

    /// Minibatches kept ready [default: 4]
    #[arg(long, value_name = "N")]
    queue: Option<u64>,

    /// Most memory for chunks and minibatches, such as "2 GB"
    #[arg(long, value_name = "BYTES")]
    memory: Option<String>,

    /// File that keeps the state after each minibatch; if it is there, the run goes on from it
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
}

/// How far samples are apart.
#[derive(Args, Debug)]
pub(crate) struct FrameShift {
    /// From one sample to the next: "10 ms" "62.5 us", or seconds [default: what the files say,
    /// as HTK's do, or 10 ms]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    frame_shift: Option<f64>,
}

impl FrameShift {
    /// Whether the option was given.
    pub(crate) fn is_given(&self) -> bool {
        self.frame_shift.is_some()
    }

    /// Seconds from one sample to the next.
    pub(crate) fn of(&self, opened: &Opened) -> f64 {
        self.or_given(opened.frame_shift())
    }

    /// The option's value, or else what files say, or else 10 ms.
    pub(crate) fn or_given(&self, said: Option<f64>) -> f64 {
        self.frame_shift.or(said).unwrap_or(0.01)
    }
}

/// A time in seconds: `10 ms`, `12.5ms`, `0.01`, `0.01 s`.
fn seconds(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let units = [("ms", 1e-3), ("us", 1e-6), ("s", 1.0), ("", 1.0)];
    let mut found =
        units.iter().filter_map(|(unit, scale)| Some((text.strip_suffix(unit)?, scale)));
    let (number, scale) = found.next().unwrap_or((text, &1.0));
    match number.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number * scale),
        _ => Err("expected a time, such as `10 ms` or `0.01`".to_owned()),
    }
}

/// Collects the options that were given, as keys of a description.
#[derive(Default)]
struct Given(Table);

impl Given {
    fn text(&mut self, key: &str, value: Option<&String>) {
        if let Some(value) = value {
            self.0.insert(key.to_owned(), Value::String(value.clone()));
        }
    }

    fn flag(&mut self, key: &str, value: Option<bool>) {
        if let Some(value) = value {
            self.0.insert(key.to_owned(), Value::Boolean(value));
        }
    }

    fn number(&mut self, key: &str, value: Option<u64>) {
        if let Some(value) = value {
            // A number beyond 2^63 is refused by the description as too large for a TOML integer.
            let value = i64::try_from(value).map_or(Value::Integer(i64::MAX), Value::Integer);
            self.0.insert(key.to_owned(), value);
        }
    }

    /// `NAME=VALUE`, the last one of a name.
    fn pairs(&mut self, key: &str, pairs: &[String]) -> Result<(), Error> {
        let mut table = Table::new();
        for pair in pairs {
            let Some((name, value)) = pair.split_once('=') else {
                return Err(Error::usage(format!("--override {pair}: there is no value"))
                    .with_help("write --override NAME=VALUE"));
            };
            table.insert(name.trim().to_owned(), Value::String(value.to_owned()));
        }
        if !table.is_empty() {
            self.0.insert(key.to_owned(), Value::Table(table));
        }
        Ok(())
    }

    fn names(&mut self, key: &str, names: &[String]) {
        if !names.is_empty() {
            let names = names.iter().cloned().map(Value::String).collect();
            self.0.insert(key.to_owned(), Value::Array(names));
        }
    }
}

impl CorpusOptions {
    /// The description meant by these options, with those of the feed if there are any.
    pub(crate) fn describe(&self, feed: Option<&FeedOptions>) -> Result<Description> {
        let mut given = Given::default();
        if let Some(feed) = feed {
            feed.collect(&mut given);
        }
        self.describe_over(given)
    }

    /// The same with one other key.
    pub(crate) fn describe_with(&self, key: &str, text: Option<&String>) -> Result<Description> {
        let mut given = Given::default();
        given.text(key, text);
        self.describe_over(given)
    }

    /// The name of the corpus, if it was given by one.
    pub(crate) fn name(&self) -> Option<&str> {
        self.corpus.as_deref()
    }

    /// The name of the corpus, where no other option for corpora is given.
    pub(crate) fn only_name(&self) -> Option<&str> {
        let only_name = self.features.is_empty()
            && self.labels.is_empty()
            && self.overrides.is_empty()
            && self.states.is_none()
            && self.task.is_none()
            && self.chunk_size.is_none()
            && !self.map
            && self.missing.is_none()
            && self.errors.is_none();
        self.name().filter(|_| only_name)
    }

    /// The object of Kaldi's that the name means; nothing where it means a corpus, as it does
    /// beside options for corpora.
    pub(crate) fn kaldi_object(&self) -> Result<Option<KaldiObject>> {
        match self.only_name() {
            Some(name) => KaldiObject::of_name(name, &self.opener()),
            None => Ok(None),
        }
    }

    /// What names may do.
    pub(crate) fn opener(&self) -> Opener {
        let opener = opener(self.allow_pipes);
        match self.line_limit {
            Some(bytes) => opener.with_line_limit(bytes.get()),
            None => opener,
        }
    }

    fn describe_over(&self, mut given: Given) -> Result<Description> {
        given.pairs("overrides", &self.overrides)?;
        given.names("features", &self.features);
        given.names("labels", &self.labels);
        given.text("states", self.states.as_ref());
        given.number("task", self.task);
        given.number("chunk-size", self.chunk_size);
        given.number("line-limit", self.line_limit.map(|bytes| bytes.get() as u64));
        given.text("missing", self.missing.as_ref());
        given.text("errors", self.errors.as_ref());
        if self.map {
            given.0.insert("map".to_owned(), Value::Boolean(true));
        }
        match self.corpus.as_deref() {
            None if self.features.is_empty() && self.labels.is_empty() => Err(Error::usage(
                "which corpus? give its name",
            )
            .with_help(
                "such as corpus.toml, scp:feats.scp, train.ctf, train.pfile, or an HTK script",
            )
            .into()),
            None => Ok(Description::from_table(given.0)?),
            Some(name) => {
                let named = Description::of_name_with(&name_from_text(name), given.0)?;
                named.warnings.iter().for_each(|warning| report::warning(warning));
                Ok(named.description)
            }
        }
    }

    /// The first name of several, where it is not that of a corpus: features are given by an
    /// option, and no corpus has this name.
    pub(crate) fn take_name_beside_features(&mut self) -> Option<String> {
        let is_corpus = |name: &String| path_from_text(name).exists();
        self.corpus.take_if(|name| !self.features.is_empty() && !is_corpus(name))
    }

    /// Names the corpus.
    pub(crate) fn rename(&mut self, corpus: Option<String>) {
        self.corpus = corpus;
    }

    /// Opens the corpus of a description, with the values of its files: 64-bit floats stay such.
    pub(crate) fn open_exactly(&self, description: &Description) -> Result<Opened> {
        Ok(description.open_exactly(&self.opener())?)
    }

    /// Opens the corpus of a description.
    pub(crate) fn open(&self, description: &Description) -> Result<Opened> {
        Ok(description.open(&self.opener())?)
    }
}

impl FeedOptions {
    fn collect(&self, given: &mut Given) {
        given.text("context", self.context.as_ref());
        given.text("ignore-label", self.ignore_label.as_ref());
        given.text("map-label", self.map_label.as_ref());
        given.text("partition", self.partition.as_ref());
        given.flag("stream", self.stream);
        given.flag("reshuffle", self.reshuffle);
        given.text("unit", self.unit.as_ref());
        given.text("order", self.order.as_ref());
        given.text("window", self.window.as_ref());
        given.number("batch-size", self.batch_size);
        given.text("batch-unit", self.batch_unit.as_ref());
        given.number("bucket", self.bucket);
        given.text("layout", self.layout.as_ref());
        given.text("partial", self.partial.as_ref());
        given.text("shard", self.shard.as_ref());
        given.text("cut", self.cut.as_ref());
        given.flag("local-timeline", self.local_timeline);
        given.flag("cross-sweeps", self.cross_sweeps);
        given.text("epoch", self.epoch.as_ref());
        given.number("start", self.start);
        given.number("truncation", self.truncation);
        given.number("seed", self.seed);
        given.number("sweeps", self.sweeps);
        given.number("samples", self.samples);
        given.number("rank", self.rank);
        given.number("ranks", self.ranks);
        given.number("threads", self.threads);
        given.number("queue", self.queue);
        given.text("memory", self.memory.as_ref());
        if let Some(label) = self.label_padding {
            given.0.insert("label-padding".to_owned(), Value::Integer(label));
        }
        let state = self.state.as_ref().map(name_to_text);
        given.text("state", state.as_ref());
    }
}

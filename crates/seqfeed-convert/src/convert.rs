//! Conversion of any corpus to any format that can hold it.

mod asked;
mod plan;
mod record;
mod report;
mod run;
mod shaped;
mod target;
mod verify;

pub use report::{ConvertReport, ShardReport};
pub use target::Target;
pub use verify::Verified;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use seqfeed_core::{Corpus, Element, SampleRates};
use seqfeed_io::{InputFiles, Opener};

use seqfeed::Change;
use seqfeed::Loss;

/// Options of a conversion.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConvertOptions {
    /// The format and the name to write.
    pub target: Target,
    /// The wspecifiers of further streams, by name, if the target is a wspecifier.
    pub others: BTreeMap<String, String>,
    /// The streams to write; by default all.
    pub streams: Vec<String>,
    /// Sparse streams whose samples are classes (a single value, which is 1) and become labels. A
    /// format without sparse streams does this with all sparse streams.
    pub classes: Vec<String>,
    /// The type of floats, if it differs from that of the source.
    pub dtype: Option<Element>,
    /// Options of the written format, by their names on the command line. [`set`](Self::set) checks
    /// them.
    pub options: BTreeMap<String, String>,
    /// Sample rates of streams that are sound, for sources that do not give them. In Kaldi's tables
    /// sound becomes waves, unless `dtype`, compression or text is set.
    pub sample_rates: BTreeMap<String, SampleRates>,
    /// For HTK's files: names of labels; the first one is for label 0. Missing names are `s0`,
    /// `s1`, ...
    pub states: Vec<String>,
    /// The number of shards and of threads.
    pub sharding: Sharding,
    /// Whether to write the [description](Target::description_file) of the result even if its name
    /// alone opens it.
    pub describe: bool,
    /// Whether losses are allowed.
    pub allow_lossy: bool,
    /// Opens the target's names, and says whether they may be commands.
    pub opener: Opener,
    /// The files that were read since before the corpus was opened. None of them is overwritten. If
    /// nothing is recorded, outputs are only compared with one another.
    pub inputs: InputFiles,
}

/// The shards of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharding {
    /// Number of shards; 1 means undivided.
    pub shards: usize,
    /// Shards that are written at the same time. Each loads its next chunk in another thread.
    pub jobs: usize,
    /// Whether to write shards again that are whole.
    pub anew: bool,
}

impl Default for Sharding {
    fn default() -> Self {
        Self { shards: 1, jobs: 1, anew: false }
    }
}

impl ConvertOptions {
    /// Whether it writes to standard output.
    #[must_use]
    pub fn writes_standard_output(&self) -> bool {
        let mut others = self.others.values();
        self.target.is_standard_output() || others.any(|name| self.target.stands_for_stdout(name))
    }

    /// All streams of a corpus, unchanged.
    #[must_use]
    pub fn new(target: Target) -> Self {
        Self {
            target,
            others: BTreeMap::new(),
            streams: Vec::new(),
            classes: Vec::new(),
            dtype: None,
            options: BTreeMap::new(),
            sample_rates: BTreeMap::new(),
            states: Vec::new(),
            sharding: Sharding::default(),
            describe: false,
            allow_lossy: false,
            opener: Opener::default(),
            inputs: InputFiles::default(),
        }
    }
}

/// A conversion that is possible: what it will write, and what it would lose.
///
/// ```
/// use seqfeed::{Description};
/// use seqfeed_convert::{ConvertOptions, ConvertPlan, Target, fingerprint};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let text = directory.path().join("x.txt").display().to_string();
/// # std::fs::write(&text, "utt1  [ 1 2.5\n 3 4 ]\nutt2  [ 5 6\n 7 8 ]\n")?;
/// # let out = directory.path().join("x.pfile").display().to_string();
/// let description = Description::of_name(&format!("ark:{text}"))?.description;
/// let corpus = description.open(&Default::default())?;
/// let mut options = ConvertOptions::new(Target::parse(&out)?);
/// options.allow_lossy = true; // a PFile numbers its sentences: keys are lost
/// let plan = ConvertPlan::new(corpus.corpus(), options)?;
/// assert_eq!(plan.losses().len(), 1);
/// let report = plan.run(&|_samples| {})?;
/// assert_eq!(report.fingerprint.streams[0].samples, 4);
///
/// let again = Description::of_name(&out)?.description.open(&Default::default())?;
/// let again = fingerprint(again.corpus().as_ref())?;
/// assert_eq!(report.fingerprint.streams[0].values, again.streams[0].values);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ConvertPlan {
    corpus: Arc<Corpus>,
    options: ConvertOptions,
    /// Numbers of the corpus' streams, and their changes.
    picks: Vec<(usize, Change)>,
    /// Targets of the streams of `picks` that have names of their own, before shards are numbered.
    names: Vec<(usize, String)>,
    /// Sample rates of the streams of `picks` that are written as sound.
    sound: BTreeMap<usize, SampleRates>,
    /// The options of the format, including those for facts that the source states.
    format_options: BTreeMap<String, String>,
    /// Whether the files keep the keys.
    keeps_keys: bool,
    losses: Vec<Loss>,
    notes: Vec<String>,
    description: Option<PathBuf>,
}

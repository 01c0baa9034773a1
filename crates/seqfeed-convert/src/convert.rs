//! Any corpus as any format that can hold it.

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

/// How a corpus is converted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConvertOptions {
    /// What is written.
    pub target: Target,
    /// With a wspecifier as the target: those of other streams, by name.
    pub others: BTreeMap<String, String>,
    /// The streams that are written; all, if none are named.
    pub streams: Vec<String>,
    /// Sparse streams whose samples are classes (one value, which is 1) and become labels. Formats
    /// that hold no sparse streams take all for such.
    pub classes: Vec<String>,
    /// The type of floats, instead of that of the source.
    pub dtype: Option<Element>,
    /// Options of the format that is written, by the names that the command line has for them;
    /// [`set`](Self::set) checks them.
    pub options: BTreeMap<String, String>,
    /// Streams that are sound, and their sample rates, beside those that say so themselves: they
    /// become tables of waves, where Kaldi's tables are written, unless `dtype`, compression or
    /// text is asked for.
    pub sample_rates: BTreeMap<String, SampleRates>,
    /// With HTK's files: names of labels, the first one for label 0. Those that are missing are
    /// `s0`, `s1`, ...
    pub states: Vec<String>,
    /// Into how many shards, and by how many threads.
    pub sharding: Sharding,
    /// Write the [description](Target::description_file) of the result, also where its name
    /// alone opens it.
    pub describe: bool,
    /// Whether what would be lost may be lost.
    pub allow_lossy: bool,
    /// What the target's names may do.
    pub opener: Opener,
    /// What was read since before the corpus was opened: nothing of it is overwritten. Where
    /// nothing is recorded, only outputs are compared with one another.
    pub inputs: InputFiles,
}

/// Into how many parts a corpus is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharding {
    /// Number of shards, 1 for a whole.
    pub shards: usize,
    /// Shards that are written at the same time; each loads its next chunk in another thread.
    pub jobs: usize,
    /// Write shards again that are whole.
    pub anew: bool,
}

impl Default for Sharding {
    fn default() -> Self {
        Self { shards: 1, jobs: 1, anew: false }
    }
}

impl ConvertOptions {
    /// Whether something goes to standard output.
    #[must_use]
    pub fn writes_standard_output(&self) -> bool {
        let mut others = self.others.values();
        self.target.is_standard_output() || others.any(|name| self.target.stands_for_stdout(name))
    }

    /// All of a corpus, as it is.
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

/// A conversion that can be done: what will be written, and what would be lost.
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
    /// Numbers of the corpus' streams, and what becomes of them.
    picks: Vec<(usize, Change)>,
    /// Where streams of `picks` go that have names of their own, before these are numbered.
    names: Vec<(usize, String)>,
    /// Sample rates of those streams of `picks` that are written as sound.
    sound: BTreeMap<usize, SampleRates>,
    /// The options of the format, also those that make it say what the source says.
    format_options: BTreeMap<String, String>,
    /// Keys stand in the files as they are.
    keeps_keys: bool,
    losses: Vec<Loss>,
    notes: Vec<String>,
    description: Option<PathBuf>,
}

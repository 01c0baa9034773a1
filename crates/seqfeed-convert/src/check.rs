//! Checks of a corpus. They find all errors, not only the first one.

mod against;
mod checked_source;
mod finding;
mod keys;
#[cfg(feature = "kaldi")]
mod repair;
mod values;

use std::collections::BTreeMap;

use seqfeed::Description;
use seqfeed_core::{Result, Severity};
use seqfeed_io::Opener;
use serde::Serialize;

use checked_source::CheckedSource;

pub use against::compare;
pub use finding::Finding;
#[cfg(feature = "kaldi")]
pub use repair::{Repair, Trimmed};

/// Options of a check.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CheckOptions {
    /// The number of classes. Labels must be below it. Without it, only negative labels are found.
    pub classes: Option<i32>,
    /// The most samples by which lengths may differ for a repair to cut the streams to the
    /// shortest.
    pub trim: u32,
    /// Threads that read; by default one a core.
    pub threads: Option<usize>,
    /// Opens names, and says whether they may be commands.
    pub opener: Opener,
}

impl Default for CheckOptions {
    /// Any class, lengths that differ by up to 3 samples, no commands.
    fn default() -> Self {
        Self { classes: None, trim: 3, threads: None, opener: Opener::default() }
    }
}

/// A corpus that was checked.
///
/// ```no_run
/// use seqfeed::Description;
/// use seqfeed_convert::{Check, CheckOptions};
///
/// let description = Description::of_name("corpus.toml")?.description;
/// let check = Check::of(&description, &CheckOptions::default(), |_total| {}, |_samples| {})?;
/// for finding in check.findings() {
///     println!("{finding}");
/// }
/// # Ok::<(), seqfeed::Error>(())
/// ```
pub struct Check {
    parts: Vec<CheckedSource>,
    /// For each source the sequences that cannot be used, ascending.
    bad: Vec<Vec<u32>>,
    findings: Vec<Finding>,
    trim: u32,
}

/// The extent of a check, and the number of its findings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckSummary {
    /// Sequences of the first stream.
    pub sequences: u64,
    /// Samples of the first stream.
    pub samples: u64,
    /// Findings that are errors.
    pub errors: u64,
    /// Findings that are warnings.
    pub warnings: u64,
    /// Findings that are notes.
    pub notes: u64,
    /// The number of findings of each kind.
    pub kinds: BTreeMap<&'static str, u64>,
}

impl Check {
    /// Checks a corpus: opens every source, compares keys and lengths, reads all values. `begin`
    /// gets the number of samples in all streams; `progress` gets the numbers of samples as they
    /// are done.
    ///
    /// # Errors
    ///
    /// Fails if the description contradicts itself, and if the environment fails (no room, no file
    /// handles), which says nothing about the corpus. Every error in files is a finding.
    pub fn of(
        description: &Description,
        options: &CheckOptions,
        begin: impl FnOnce(u64),
        mut progress: impl FnMut(u64),
    ) -> Result<Self> {
        let mut findings = Vec::new();
        let mut parts = checked_source::open(description, &options.opener, &mut findings)?;
        begin(parts.iter().map(|part| part.source.index().total_samples()).sum());
        keys::check(&parts, options, &description.frames_of_context()?, &mut findings);
        let mut bad = Vec::new();
        for part in &mut parts {
            bad.push(values::check(part, options, &mut progress, &mut findings)?);
            part.examine(&mut findings)?;
        }
        Ok(Self { parts, bad, findings, trim: options.trim })
    }

    /// All findings, in the order of the checks. They are not sorted by severity.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Adds findings, such as those of [`compare`].
    pub fn extend(&mut self, findings: Vec<Finding>) {
        self.findings.extend(findings);
    }

    /// The extent of the check, and the number of its findings.
    #[must_use]
    pub fn summary(&self) -> CheckSummary {
        let count = |severity| self.findings.iter().filter(|one| one.severity == severity).count();
        let mut kinds = BTreeMap::new();
        for finding in &self.findings {
            *kinds.entry(finding.kind).or_default() += 1;
        }
        CheckSummary {
            sequences: self.parts.first().map_or(0, |part| part.source.index().len() as u64),
            samples: self.parts.first().map_or(0, |part| part.source.index().total_samples()),
            errors: count(Severity::Error) as u64,
            warnings: count(Severity::Warning) as u64,
            notes: count(Severity::Note) as u64,
            kinds,
        }
    }
}

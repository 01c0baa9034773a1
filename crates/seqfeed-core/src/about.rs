//! What is known of a source beside its data.

use std::collections::BTreeMap;
use std::fmt;

use crate::{Damage, Error, JoinReport, SampleRates};

/// What is known of a [`Source`](crate::Source) beside its data.
///
/// ```
/// use seqfeed_core::About;
///
/// let about = About { format: "a table of mine".to_owned(), ..About::default() };
/// assert!(about.warnings.is_empty() && about.frame_shift.is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct About {
    /// What it is: "kaldi archive, 8 matrices".
    pub format: String,
    /// What was left out when it was opened.
    pub report: JoinReport,
    /// Why: errors with their places, the first ones.
    pub faults: Vec<Damage>,
    /// What is worth a warning so far but stops nothing.
    pub warnings: Vec<String>,
    /// Bytes decoded into temporary files, because the data cannot be read in place.
    pub spooled_bytes: u64,
    /// Seconds from one sample to the next, where the files say it.
    pub frame_shift: Option<f64>,
    /// Streams of 32-bit floats whose files hold 64-bit ones.
    pub narrowed: Vec<String>,
    /// Sample rates of streams of sound, by name.
    pub sample_rates: BTreeMap<String, SampleRates>,
    /// What the files say of their samples and only some formats can say again.
    pub facts: Vec<Fact>,
}

/// Something that files say of their samples, and that a format keeps which takes the same options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// In words that go on after "that": "frames are of kind FBANK, one every 10 ms,".
    pub words: String,
    /// The options that make a format say it again: names and values.
    pub options: Vec<(&'static str, String)>,
}

impl About {
    /// What is known of this and another source together.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        if !self.format.is_empty() && !other.format.is_empty() {
            self.format += "; ";
        }
        self.format += &other.format;
        self.report.dropped.extend(other.report.dropped);
        self.faults.extend(other.faults);
        self.warnings.extend(other.warnings);
        self.spooled_bytes += other.spooled_bytes;
        self.frame_shift = self.frame_shift.or(other.frame_shift);
        self.narrowed.extend(other.narrowed);
        self.narrowed.dedup();
        self.sample_rates.extend(other.sample_rates);
        // Of two that are said by the same options, one can be kept: the first.
        let names = |fact: &Fact| fact.options.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        for fact in other.facts {
            if self.facts.iter().all(|known| names(known) != names(&fact)) {
                self.facts.push(fact);
            }
        }
        self
    }
}

/// Something that [`Source::examine`](crate::Source::examine) has found.
#[derive(Clone, Debug)]
pub struct Remark {
    /// How bad it is.
    pub severity: Severity,
    /// What kind of thing it is, in one word for machines: `checksum`, `other-object`.
    pub kind: &'static str,
    /// What it is, where, and how to cure it. It need not be an error.
    pub error: Error,
}

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing has to be done.
    Note,
    /// Probably not meant so; a feed goes on, without what is left out.
    Warning,
    /// Wrong: a feed stops at it, or delivers values that are no numbers, or those of another
    /// sequence.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

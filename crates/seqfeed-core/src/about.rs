//! Facts about a source beside its data.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::{Damage, Error, JoinReport, SampleRates, SymbolTable};

/// Facts about a [`Source`](crate::Source) beside its data.
///
/// ```
/// use seqfeed_core::About;
///
/// let about = About { format: "a table of mine".to_owned(), ..About::default() };
/// assert!(about.warnings.is_empty() && about.frame_shift.is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The format in words: "kaldi archive, 8 matrices".
    pub format: String,
    /// What was left out when the source was opened.
    pub report: JoinReport,
    /// The first errors that led to this, with their places.
    pub faults: Vec<Damage>,
    /// Warnings that stop nothing.
    pub warnings: Vec<String>,
    /// Bytes decoded into temporary files, because the data cannot be read in place.
    pub spooled_bytes: u64,
    /// Seconds from one sample to the next, where the files say it.
    pub frame_shift: Option<f64>,
    /// Streams of 32-bit floats whose files hold 64-bit ones.
    pub narrowed: Vec<String>,
    /// Sample rates of streams of sound, by name.
    pub sample_rates: BTreeMap<String, SampleRates>,
    /// Facts that the files state about their samples, and that only some formats can hold.
    pub facts: Vec<Fact>,
    /// The names of labels, by the names of their streams.
    pub symbols: BTreeMap<String, Arc<SymbolTable>>,
}

/// A fact that files state about their samples. A format can hold it if it takes the same options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The fact, to be read after "that": "frames are of kind FBANK, one every 10 ms,".
    pub words: String,
    /// The options that make a format state it: names and values.
    pub options: Vec<(&'static str, String)>,
}

impl About {
    /// The facts about this source and another one together.
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
        self.symbols.extend(other.symbols);
        // Of two facts with the same options only one can be kept: the first.
        let names = |fact: &Fact| fact.options.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        for fact in other.facts {
            if self.facts.iter().all(|known| names(known) != names(&fact)) {
                self.facts.push(fact);
            }
        }
        self
    }
}

/// A finding of [`Source::examine`](crate::Source::examine).
#[derive(Clone, Debug)]
pub struct Remark {
    /// How bad it is.
    pub severity: Severity,
    /// The kind of finding, in one word for machines: `checksum`, `other-object`.
    pub kind: &'static str,
    /// The finding, its place and its cure. It need not be an error.
    pub error: Error,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; no action is needed.
    Note,
    /// Probably a mistake. A feed goes on, without the data that are left out.
    Warning,
    /// Wrong: a feed stops there, or delivers NaN, infinite values or the values of another
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

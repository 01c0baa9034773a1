//! The faults of a sample, and their cost.

use std::fmt;

use seqfeed_core::{Error, Problem, Result};

use super::Cursor;
use crate::ctf::CTF;

/// One of the errors that are counted.
#[derive(Debug)]
pub(super) enum Fault {
    /// A row has no sample.
    Row,
    /// A sample does not start with `|`.
    NoPipe,
    /// There is no name behind `|`.
    NoName,
    /// The bytes end in a name.
    NameAtEnd,
    /// The bytes end before the first value.
    NoValues,
    /// A dense sample has more values than the dimension.
    TooManyValues { found: usize, dim: u32 },
    /// A word is not a number.
    Number,
    /// A word is not an index.
    Index,
    /// An index that is too large.
    LargeIndex { dim: u32 },
    /// No `:` behind an index.
    Colon,
    /// Inputs have more samples than there are lines.
    TooManySamples { samples: u32, lines: u32 },
    /// Inputs have fewer samples than there are lines.
    TooFewSamples { samples: u32, lines: u32 },
    /// There is no memory. This is not counted.
    Memory(Error),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Row => f.write_str("a line has no sample"),
            Self::NoPipe => f.write_str("a sample must start with `|`"),
            Self::NoName => f.write_str("a name must follow `|`"),
            Self::NameAtEnd => f.write_str("the sequence ends in the name of an input"),
            Self::NoValues => f.write_str("the sequence ends before the values of a sample"),
            Self::TooManyValues { found, dim } => {
                write!(f, "a sample has {found} values, but its input has dimension {dim}")
            }
            Self::Number => f.write_str("a value is not a number"),
            Self::Index => f.write_str("an index must stand before each sparse value"),
            Self::LargeIndex { dim } => {
                write!(f, "an index is not below the input's dimension {dim}")
            }
            Self::Colon => f.write_str("`:` and a value must follow an index"),
            Self::TooManySamples { samples, lines } => {
                write!(f, "an input has {samples} samples in a sequence of length {lines}")
            }
            Self::TooFewSamples { samples, lines } => {
                write!(f, "the longest input has {samples} samples in a sequence of length {lines}")
            }
            Self::Memory(error) => error.fmt(f),
        }
    }
}

impl Cursor<'_, '_> {
    /// Counts an error that starts at a position. Fails only if it is one too many.
    #[cold]
    pub(super) fn fault(&self, start: usize, fault: &Fault) -> Result<()> {
        let incidents = &self.parser.incidents;
        // The text that could not be read is at the end of the text that could.
        let at = match fault {
            Fault::Number | Fault::Index | Fault::LargeIndex { .. } | Fault::Colon => self.at,
            _ => start,
        };
        let place = self.offset + at as u64;
        if incidents.allow_error() {
            incidents.warn(place, || self.describe(at, fault));
            return Ok(());
        }
        let what = format!(
            "Reached the maximum number of allowed errors while reading the input file ({}). {}",
            self.parser.file,
            self.describe(at, fault)
        );
        let allowed = incidents.errors();
        let help = match fault {
            Fault::TooFewSamples { .. } => {
                "a line may not be longer than the longest input; set definesMBSize for an input \
                 that stands in each line that counts, or raise maxErrors"
                    .to_owned()
            }
            _ => format!("correct the line, or raise maxErrors (it is {allowed})"),
        };
        Err(Error::format(CTF, Problem::Unsupported(what.into()))
            .in_file(&*self.parser.file)
            .at_byte(place)
            .with_help(help))
    }

    /// Describes the fault, with some text from a position on.
    fn describe(&self, at: usize, fault: &Fault) -> String {
        if let Fault::TooManySamples { .. } | Fault::TooFewSamples { .. } = fault {
            return fault.to_string();
        }
        let rest = &self.bytes[at.min(self.bytes.len())..];
        let rest = rest.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let shown = &rest[..rest.len().min(32)];
        let more = if shown.len() < rest.len() { "..." } else { "" };
        format!("{fault}: \"{}{more}\"", shown.escape_ascii())
    }
}

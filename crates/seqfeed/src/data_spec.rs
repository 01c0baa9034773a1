//! PDNN's data specifications: `train.pfile,context=5,ignore-label=0:3-9,map-label=1:0/2:1`.
//!
//! ```text
//! spec    = names { "," option }        names = name { "|" name }     one a task
//! option  = key "=" value               name  = a path, with * ? [...]
//! ```
//!
//! | key | value | |
//! | --- | --- | --- |
//! | `context` | `5`, `5:1` | frames of context to both sides, or left and right |
//! | `lcxt`, `rcxt` | `5` | the same, for one side; later ones override earlier ones |
//! | `ignore-label` | `0:2:7-9` | frames of these labels are left out |
//! | `map-label` | `1:0/4-6:2` | labels change to others, all at once |
//! | `partition` | `600m` | size of a partition in 2^20 bytes |
//! | `stream` | `True` | keep one partition in memory, not a whole file |
//! | `random` | `True` | shuffle all frames in memory |
//! | `label` | `x.ali.gz` | alignments, for Kaldi's features |
//! | `seed` | `18877` | seed of the shuffle |
//! | `reshuffle` | `True` | another order in each sweep |
//! | `batch` | `256` | frames in a minibatch |
//!
//! The last three are not in PDNN. Nothing is quoted, and blanks are kept; the last of equal keys
//! counts. Options that PDNN passes over in silence give a [warning](DataSpec::warnings) here.
//!
//! * [`DataSpec`] is a parsed specification.
//! * [`DataFormat`] decides which of PDNN's readers a file is for.

mod data_format;
mod options;

pub use data_format::DataFormat;
pub use options::DataOptions;

use std::os::unix::ffi::OsStrExt;

use seqfeed_core::{Error, Quote, Result};
use seqfeed_io::name_from_text;

use self::options::Parser;

/// The name of the format in messages.
const SPEC: &str = "data specification";

/// A data specification.
///
/// ```
/// use seqfeed::data_spec::DataSpec;
///
/// let spec = "train.pfile,context=5:1,ignore-label=0:3-9,map-label=1:0/2:1,random=True";
/// let spec = DataSpec::parse(spec)?;
/// assert_eq!(spec.names, ["train.pfile"]);
/// assert_eq!(spec.options.context, Some((5, 1)));
/// assert_eq!(spec.options.ignore, Some(vec![(0, 0), (3, 9)]));
/// assert_eq!(spec.options.map, Some(vec![(1, 1, 0), (2, 2, 1)]));
/// assert_eq!(spec.options.random, Some(true));
///
/// let error = DataSpec::parse("train.pfile,context=five").unwrap_err();
/// let quote = error.quote().unwrap().to_string();
/// assert_eq!(quote, "train.pfile,context=five\n                    ^");
/// # Ok::<(), seqfeed::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSpec {
    /// The names before the options: one for each task.
    pub names: Vec<String>,
    /// The options.
    pub options: DataOptions,
    /// Warnings: options that PDNN passes over, and probable mistakes.
    pub warnings: Vec<String>,
}

impl DataSpec {
    /// Parses a specification. The names end at the first comma.
    ///
    /// # Errors
    ///
    /// A usage error that points at the wrong part.
    pub fn parse(text: &str) -> Result<Self> {
        let end = text.find(',').unwrap_or(text.len());
        let mut spec = Self::parse_options(text, end)?;
        spec.names = text[..end].split('|').map(str::to_owned).collect();
        let mut at = 0;
        for name in &spec.names {
            if name.is_empty() {
                return Err(at_column(Error::usage("there is no name of a file"), text, at));
            }
            at += name.len() + 1;
        }
        Ok(spec)
    }

    /// Parses the options behind a name that ends at byte `name_end`. The name is not parsed, so it
    /// may contain commas.
    ///
    /// # Errors
    ///
    /// The same as [`parse`](Self::parse).
    ///
    /// # Panics
    ///
    /// If there is no comma or end at this byte.
    pub fn parse_options(text: &str, name_end: usize) -> Result<Self> {
        let (name, rest) = text.split_at(name_end);
        let mut parser = Parser::new(text);
        if !rest.is_empty() {
            assert!(rest.starts_with(','), "options begin with a comma");
            let mut at = name_end + 1;
            for element in rest[1..].split(',') {
                parser.element(at, element)?;
                at += element.len() + 1;
            }
        }
        let (options, warnings) = parser.finish();
        Ok(Self { names: vec![name.to_owned()], options, warnings })
    }

    /// The specification of each task: its name with the options of all tasks.
    pub fn tasks(&self) -> impl Iterator<Item = Self> {
        self.names.iter().map(|name| Self { names: vec![name.clone()], ..self.clone() })
    }
}

/// The start of the options behind a name: the first comma behind which everything has the form
/// `key=value`. If there are none, the length of the text. A name may contain commas, as in
/// `scp,p:feats.scp,context=5`.
#[must_use]
pub fn options_start(text: &str) -> usize {
    let mut start = text.len();
    while let Some(comma) = text[..start].rfind(',') {
        let element = &text[comma + 1..start];
        let key = element.split('=').next().unwrap_or_default();
        let is_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ' ');
        if !element.contains('=') || key.is_empty() || !key.chars().all(is_key) {
            break;
        }
        start = comma;
    }
    start
}

/// An error about byte `at` of a specification.
fn at_column(error: Error, text: &str, at: usize) -> Error {
    // The column counts the typed bytes. Characters of the text may stand for bytes that are not
    // UTF-8.
    let typed = name_from_text(text);
    let place = name_from_text(text.get(..at).unwrap_or(text)).len();
    let quote = Quote::new(typed.as_bytes(), place, false);
    error.in_file(SPEC).at_column(1, at as u64 + 1, Some(quote))
}

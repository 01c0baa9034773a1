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
//! | `lcxt`, `rcxt` | `5` | the same, one side each; of several, the later counts |
//! | `ignore-label` | `0:2:7-9` | frames of these labels are left out |
//! | `map-label` | `1:0/4-6:2` | labels that become others, all at once |
//! | `partition` | `600m` | size of a partition in 2^20 bytes |
//! | `stream` | `True` | keep one partition in memory, not a whole file |
//! | `random` | `True` | shuffle what is in memory |
//! | `label` | `x.ali.gz` | alignments, for Kaldi's features |
//! | `seed` | `18877` | seed of the shuffle |
//! | `reshuffle` | `True` | another order in each sweep |
//! | `batch` | `256` | frames in a minibatch |
//!
//! The last three are ours. Nothing is quoted and no blanks are taken away; the last of equal keys
//! counts. What PDNN passes over in silence is a [warning](DataSpec::warnings) here.
//!
//! * [`DataSpec`] is a parsed specification.
//! * [`FileKind`] says which of PDNN's readers a file is for.

mod file_kind;
mod options;

pub use file_kind::FileKind;
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
    /// What stands before the options: one name for each task.
    pub names: Vec<String>,
    /// The options.
    pub options: DataOptions,
    /// What PDNN passes over, and what is likely not meant: one text each.
    pub warnings: Vec<String>,
}

impl DataSpec {
    /// Reads a specification; the names end at the first comma.
    ///
    /// # Errors
    ///
    /// A usage error that points at the part that is wrong.
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

    /// Reads the options behind a name that ends at byte `name_end`; the name is taken as it is.
    /// For names that may hold commas themselves.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse).
    ///
    /// # Panics
    ///
    /// If no comma or end stands there.
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

    /// The specification of each task: its own name with the options of all.
    pub fn tasks(&self) -> impl Iterator<Item = Self> {
        self.names.iter().map(|name| Self { names: vec![name.clone()], ..self.clone() })
    }
}

/// Where in a text the options begin that stand behind a name: the first comma behind which all has
/// the form `key=value`; the text's length if there are none. A name may have commas, as
/// `scp,p:feats.scp,context=5` does.
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
    // The bytes that were typed: names in the text may stand for some that are no text.
    let typed = name_from_text(text);
    let place = name_from_text(text.get(..at).unwrap_or(text)).len();
    let quote = Quote::new(typed.as_bytes(), place, false);
    error.in_file(SPEC).at_column(1, at as u64 + 1, Some(quote))
}

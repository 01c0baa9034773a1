//! How tables are opened as a source.

use std::ffi::OsStr;

use seqfeed_core::{Element, Extent, Tolerance};
use seqfeed_io::{Opener, shown_name};

/// What the objects of a table are taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Floats: matrices (a row a time step) and vectors.
    Features,
    /// Integers: vectors (one a time step) and scalars.
    Labels,
}

/// How tables are opened as a source.
#[derive(Clone, Debug)]
pub struct TableOptions {
    /// Name of the stream.
    pub stream: String,
    /// What the objects are taken for.
    pub role: Role,
    /// Type of a value: a float type for features, [`Element::I32`] for labels.
    pub element: Element,
    /// One sample a time step (the default), or one a sequence.
    pub extent: Option<Extent>,
    /// Most samples in a chunk of the source's index.
    pub chunk_samples: u64,
    /// What names may do (those in the rspecifiers, and those that stand in script files), and how
    /// long keys and lines of script files may be. Names in the rspecifiers are relative to its
    /// directory.
    pub opener: Opener,
    /// Map files instead of reading them.
    pub map: bool,
    /// What to do with objects that cannot be read.
    pub errors: Tolerance,
    /// Where a script file names a file that is not there, take the same with `.gz` or `.bz2`
    /// behind it, as PDNN does.
    pub or_compressed: bool,
}

impl TableOptions {
    /// Options for a stream of a name: one sample a time step, chunks of at most 32,768 samples,
    /// files that are read, no commands, no errors passed over.
    #[must_use]
    pub fn new(stream: impl Into<String>, role: Role, element: Element) -> Self {
        Self {
            stream: stream.into(),
            role,
            element,
            extent: None,
            chunk_samples: 32_768,
            opener: Opener::default(),
            map: false,
            errors: Tolerance::Stop,
            or_compressed: false,
        }
    }
}

/// Rspecifiers in messages.
pub(crate) fn shown(rspecifiers: &[impl AsRef<OsStr>]) -> String {
    rspecifiers.iter().map(shown_name).collect::<Vec<_>>().join(" ")
}

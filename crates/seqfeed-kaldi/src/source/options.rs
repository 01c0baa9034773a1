//! The options for opening tables as a source.

use std::ffi::{OsStr, OsString};
use std::sync::Arc;

use seqfeed_core::{Element, Extent, Index, Tolerance};
use seqfeed_io::{Opener, shown_name};

/// The meaning of a table's objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Floats: matrices (one row a time step) and vectors.
    Features,
    /// Integers: vectors (one a time step) and scalars.
    Labels,
}

/// The options for opening tables as a source.
#[derive(Clone, Debug)]
pub struct TableOptions {
    /// Name of the stream.
    pub stream: String,
    /// The meaning of the objects.
    pub role: Role,
    /// Type of a value: a float type for features, [`Element::I32`] for labels.
    pub element: Element,
    /// One sample a time step (the default), or one a sequence.
    pub extent: Option<Extent>,
    /// The most samples in a chunk of the source's index.
    pub chunk_samples: u64,
    /// Opens names. It says whether names (in the rspecifiers, and in script files) may be
    /// commands, and limits keys and lines of script files. Names in the rspecifiers are relative
    /// to its directory.
    pub opener: Opener,
    /// Map files instead of reading them.
    pub map: bool,
    /// The rule for objects that cannot be read.
    pub errors: Tolerance,
    /// If a file that a script file names is missing, whether to try it with `.gz` or `.bz2` behind
    /// its name, as PDNN does.
    pub or_compressed: bool,
    /// An index that likely has the same keys: that of the stream which the table is joined to. If
    /// so, they are in memory once.
    pub like: Option<Arc<Index>>,
    /// For script files: a file that states the number of rows of each object, such as
    /// `utt2num_frames` or `feats_shape`. Then only the first header of each data file is read at
    /// opening. An object with another number of rows is an error when it is loaded.
    pub lengths: Option<OsString>,
}

impl TableOptions {
    /// Options for a stream with a name: one sample a time step, chunks of at most 32,768 samples,
    /// files that are read and not mapped, no commands, no errors passed over.
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
            like: None,
            lengths: None,
        }
    }
}

/// Rspecifiers for messages.
pub(crate) fn shown(rspecifiers: &[impl AsRef<OsStr>]) -> String {
    rspecifiers.iter().map(shown_name).collect::<Vec<_>>().join(" ")
}

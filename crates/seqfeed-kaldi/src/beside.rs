//! Where the files are that a script file names.

use std::path::{Path, PathBuf};

use seqfeed_io::RxFilename;

/// Directories in which files are looked for that are not there as seen from the working directory,
/// where Kaldi looks: that of the script file, and another one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beside(Vec<PathBuf>);

impl Beside {
    pub(crate) fn new(script: &RxFilename, other: Option<&Path>) -> Self {
        let own = match script {
            RxFilename::File(path) => path.parent(),
            _ => None,
        };
        Self(own.into_iter().chain(other).map(Path::to_owned).collect())
    }

    /// The places of a file in the order in which it is looked for there.
    pub(crate) fn places(&self, path: &Path) -> impl Iterator<Item = PathBuf> {
        let beside = self.0.iter().map(move |directory| directory.join(path));
        std::iter::once(path.to_owned()).chain(beside)
    }

    /// The first place where there is a file; where there is none, the name as it is.
    pub(crate) fn find(&self, path: &Path) -> PathBuf {
        self.places(path).find(|place| place.exists()).unwrap_or_else(|| path.to_owned())
    }
}

/// The same name, of another file.
pub(crate) fn renamed(name: &RxFilename, path: PathBuf) -> RxFilename {
    match name {
        RxFilename::Offset(_, offset) => RxFilename::Offset(path, *offset),
        _ => RxFilename::File(path),
    }
}

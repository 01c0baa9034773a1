//! Where the files are that a script file names.

use std::path::Path;

use seqfeed_io::{Location, Opener, RxFilename};

/// Directories in which files are looked for that are not there as seen from the working directory,
/// where Kaldi looks: that of the script file, and another one. What a script file in a store names
/// is beside it.
#[derive(Debug)]
pub(crate) struct Beside {
    directories: Vec<Location>,
    opener: Opener,
}

impl Beside {
    pub(crate) fn new(script: &RxFilename, other: Option<&Path>, opener: &Opener) -> Self {
        let own = script.location().parent().filter(|_| script.offset().is_none());
        let directories = match own {
            Some(own) if own.url().is_some() => vec![own],
            own => {
                let working = Location::from(Path::new(""));
                [Some(working), own, other.map(Location::from)].into_iter().flatten().collect()
            }
        };
        Self { directories, opener: opener.clone() }
    }

    /// The places of a file in the order in which it is looked for there.
    pub(crate) fn places(&self, file: &Location) -> impl Iterator<Item = Location> {
        self.directories.iter().map(|directory| file.clone().relative_to(directory))
    }

    /// The first place where there is a file; where there is none, the name as it is.
    pub(crate) fn find(&self, file: &Location) -> Location {
        if !file.is_relative() {
            return file.clone();
        }
        let mut places = self.places(file);
        let found = places.find(|place| self.opener.exists(place));
        found.or_else(|| self.places(file).next()).unwrap_or_else(|| file.clone())
    }
}

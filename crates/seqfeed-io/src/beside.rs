//! Finds the files that a file names.

use crate::{Location, Opener, RxFilename};

/// The directories in which to look for the files that a file names, such as a script file.
///
/// These are, in this order: the working directory, the directory of the file itself, and the
/// directory of the opener that opened it. For a file in a store there is only its own directory.
///
/// ```
/// use seqfeed_io::{Beside, Location, Opener, RxFilename};
///
/// let script = RxFilename::parse("s3://bucket/feats.scp")?;
/// let beside = Beside::of(&script, &Opener::default());
/// let found = beside.find(&Location::of_file("feats.ark"));
/// assert_eq!(found.to_string(), "s3://bucket/feats.ark");
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Beside {
    directories: Vec<Location>,
    opener: Opener,
}

impl Beside {
    /// The directories for names in `file`, which `opener` opens.
    #[must_use]
    pub fn of(file: &RxFilename, opener: &Opener) -> Self {
        Self::new(file.location().parent().filter(|_| file.offset().is_none()), opener)
    }

    /// The directories for names in a file in directory `own`, if it is a file.
    #[must_use]
    pub fn new(own: Option<Location>, opener: &Opener) -> Self {
        let directories = match own {
            Some(own) if own.url().is_some() => vec![own],
            own => {
                let working = Location::of_file("");
                [Some(working), own, opener.directory().cloned()].into_iter().flatten().collect()
            }
        };
        Self { directories, opener: opener.clone() }
    }

    /// The possible locations of a file, in the order in which to look.
    pub fn places(&self, file: &Location) -> impl Iterator<Item = Location> {
        self.directories.iter().map(|directory| file.clone().relative_to(Some(directory)))
    }

    /// The first location at which there is a file.
    #[must_use]
    pub fn there(&self, file: &Location) -> Option<Location> {
        self.places(file).find(|place| self.opener.exists(place))
    }

    /// The first location at which there is a file. If there is none, the first location of all.
    #[must_use]
    pub fn find(&self, file: &Location) -> Location {
        let mut places = self.places(file);
        let first = places.next().unwrap_or_else(|| file.clone());
        // With only one answer there is no need to look.
        match file.is_relative() && self.directories.len() > 1 {
            true => self.there(file).unwrap_or(first),
            false => first,
        }
    }
}

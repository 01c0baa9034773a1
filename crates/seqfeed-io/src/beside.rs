//! Where the files are that a file names.

use crate::{Location, Opener, RxFilename};

/// Directories in which the files are looked for that a file names, such as a script file.
///
/// These are, in this order, the working directory, that of the file itself, and that of the opener
/// which opened it. What a file in a store names is beside it.
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
    /// For what stands in a file, which `opener` opens.
    #[must_use]
    pub fn of(file: &RxFilename, opener: &Opener) -> Self {
        Self::new(file.location().parent().filter(|_| file.offset().is_none()), opener)
    }

    /// For what stands in a file of a directory, if it is a file.
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

    /// The places of a file in the order in which it is looked for there.
    pub fn places(&self, file: &Location) -> impl Iterator<Item = Location> {
        self.directories.iter().map(|directory| file.clone().relative_to(Some(directory)))
    }

    /// The first place where there is a file.
    #[must_use]
    pub fn there(&self, file: &Location) -> Option<Location> {
        self.places(file).find(|place| self.opener.exists(place))
    }

    /// The first place where there is a file; where there is none, the first of all.
    #[must_use]
    pub fn find(&self, file: &Location) -> Location {
        let mut places = self.places(file);
        let first = places.next().unwrap_or_else(|| file.clone());
        // It is not asked for where there is one answer.
        match file.is_relative() && self.directories.len() > 1 {
            true => self.there(file).unwrap_or(first),
            false => first,
        }
    }
}

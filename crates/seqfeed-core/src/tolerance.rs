//! Errors that may be passed over, and how often.

use std::fmt;
use std::ops::Deref;

use crate::{Error, ErrorKind, Result};

/// How often an error may occur before it stops the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tolerance {
    /// Never.
    Stop,
    /// Up to so many times. Each error is counted and reported.
    SkipUpTo(u64),
    /// Any number of times. Each error is counted and reported.
    Skip,
}

impl Tolerance {
    /// Whether `count` errors are allowed.
    #[must_use]
    pub fn allows(self, count: u64) -> bool {
        match self {
            Tolerance::Stop => count == 0,
            Tolerance::SkipUpTo(most) => count <= most,
            Tolerance::Skip => true,
        }
    }

    /// Passes over an error, the `count`th of its kind. Returns it for the report.
    ///
    /// # Errors
    ///
    /// Returns the error itself if it is one too many, or if it does not lie in the data
    /// ([`Error::damage`]).
    pub fn excuse(self, count: u64, error: Error) -> Result<Damage> {
        let damage = error.damage()?;
        if self.allows(count) { Ok(damage) } else { Err(damage.into_error()) }
    }
}

/// An error that lies in the data, so that a tolerance can excuse it.
///
/// Code that counts, reports or passes over errors takes this type. Only [`Error::damage`] makes
/// it, and it refuses all errors that say nothing about the data. So no tolerance excuses a full
/// disk.
///
/// ```
/// use std::io;
/// use seqfeed_core::Error;
///
/// let absent = Error::io("opening", io::ErrorKind::NotFound.into());
/// assert!(absent.damage().is_ok());
/// let full = Error::io("writing", io::ErrorKind::StorageFull.into());
/// assert!(full.damage().is_err());
/// ```
#[derive(Clone)]
pub struct Damage(Error);

impl Damage {
    /// The error, to be changed or returned.
    #[must_use]
    pub fn into_error(self) -> Error {
        self.0
    }
}

impl Error {
    /// The error as damage that a tolerance can excuse.
    ///
    /// # Errors
    ///
    /// Returns the error itself if it is a failure of the [environment](Self::is_environment), or
    /// something that the caller did not [allow](ErrorKind::Forbidden).
    pub fn damage(self) -> Result<Damage> {
        match self.is_environment() || matches!(self.kind(), ErrorKind::Forbidden(_)) {
            true => Err(self),
            false => Ok(Damage(self)),
        }
    }
}

impl Deref for Damage {
    type Target = Error;

    fn deref(&self) -> &Error {
        &self.0
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn no_tolerance_excuses_the_environment() {
        let absent = || Error::io("opening", io::Error::from_raw_os_error(2));
        let no_handles = || Error::io("opening", io::Error::from_raw_os_error(24));
        let forbidden = || Error::new(ErrorKind::Forbidden("a command".into()));
        for tolerance in [Tolerance::Stop, Tolerance::SkipUpTo(1), Tolerance::Skip] {
            let excused = |error| tolerance.excuse(1, error).is_ok();
            assert_eq!(excused(absent()), tolerance != Tolerance::Stop);
            assert!(!excused(no_handles()) && !excused(forbidden()));
        }
        assert!(Tolerance::SkipUpTo(1).excuse(2, absent()).is_err());
        // A temporary file that cannot be made is no missing data.
        let system = Error::system("opening", io::Error::from_raw_os_error(2));
        assert!(system.damage().is_err());
    }

    #[test]
    fn an_error_passes_through_a_reader() {
        let inner = Error::system("writing", io::ErrorKind::StorageFull.into()).in_file("copy");
        let error = Error::io("reading", io::Error::other(inner)).in_file("data");
        assert_eq!(error.place().file.as_deref(), Some("copy"));
        assert!(error.is_environment() && error.help().unwrap().contains("room"));
    }
}

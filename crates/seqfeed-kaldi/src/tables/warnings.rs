//! Warnings of readers and writers of tables. Libraries do not print, so callers take the warnings.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use seqfeed_core::Damage;
use seqfeed_io::{FailedCommand, OnFailedCommand};

/// A warning of a reader or writer of tables.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Warning {
    /// A command failed, but gave all that was wanted of it.
    FailedCommand(FailedCommand),
    /// An object cannot be read, and counts as missing because of `p`.
    Skipped(Damage),
    /// This many objects were not written because of `p`: the script file has no names for their
    /// keys.
    NotWritten(u64),
    /// A range reaches a little beyond the end of its object, and was cut there.
    BeyondEnd {
        /// The first and the last row (or element) that the range names.
        span: (u32, u32),
        /// The number of rows (or elements) of the object.
        rows: u64,
        /// Whether the object is a vector.
        vector: bool,
    },
}

/// Collects [`Warning`]s of all readers that are opened with it, until they are
/// [taken](Self::take).
///
/// With it, readers are as patient as Kaldi's: a command that fails at the end of its output is a
/// warning. The exception is an archive that is read in order, since a part of it may be missing.
///
/// ```
/// use seqfeed_io::Opener;
/// use seqfeed_kaldi::{Matrix, RandomAccessReader, ReadOptions, Warning, Warnings};
/// use seqfeed_core::Key;
/// # let directory = tempfile::tempdir().unwrap();
/// # let path = directory.path().join("feats.ark").display().to_string();
/// # std::fs::write(&path, "utt1 [\n1 2 ]\n").unwrap();
///
/// let warnings = Warnings::default();
/// let options = ReadOptions {
///     opener: Opener::with_pipes(),
///     warnings: Some(warnings.clone()),
///     ..ReadOptions::default()
/// };
/// let name = format!("ark:cat {path}; false |");
/// let mut table = RandomAccessReader::<Matrix<f32>>::open_with(&name, &options)?;
/// assert!(table.get(Key(b"utt1"))?.is_some());
/// drop(table);
/// assert!(matches!(warnings.take()[..], [Warning::FailedCommand(_)]));
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Warnings(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    warnings: Vec<Warning>,
    /// The number of warnings that were not kept.
    missed: u64,
}

impl Warnings {
    /// The most warnings that are kept until they are taken. Of later ones only the number is kept.
    pub const MOST: usize = 1000;

    /// The warnings since the last call, oldest first.
    #[must_use]
    pub fn take(&self) -> Vec<Warning> {
        std::mem::take(&mut self.lock().warnings)
    }

    /// The number of warnings that were not kept since the last call, because earlier ones had not
    /// been taken.
    #[must_use]
    pub fn take_missed(&self) -> u64 {
        std::mem::take(&mut self.lock().missed)
    }

    /// Adds a warning.
    pub fn add(&self, warning: Warning) {
        let mut kept = self.lock();
        match kept.warnings.len() < Self::MOST {
            true => kept.warnings.push(warning),
            false => kept.missed += 1,
        }
    }

    pub(crate) fn on_failed_command(&self) -> OnFailedCommand {
        let warnings = self.clone();
        Arc::new(move |failed| warnings.add(Warning::FailedCommand(failed.clone())))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Warnings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Warnings").field(&self.lock().warnings).finish()
    }
}

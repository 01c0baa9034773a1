//! Allowed errors, and warnings.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// The number of warnings that are kept.
const KEPT: u64 = 100;

/// The errors and warnings of a file's parsers, and the budget of errors.
///
/// CNTK's budget (`maxErrors`) is one for the life of a deserializer. So all parsers of a file
/// share one of these, in an [`Arc`](std::sync::Arc).
#[derive(Debug, Default)]
pub struct CtfIncidents {
    budget: AtomicU64,
    errors: AtomicU64,
    warnings: AtomicU64,
    kept: Mutex<Vec<CtfWarning>>,
    undeclared: Mutex<Vec<UndeclaredInput>>,
}

/// The most names of undeclared inputs that are kept.
pub(super) const MOST_UNDECLARED: usize = 64;

/// An input in a file that no reader declares. Its samples are skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndeclaredInput {
    /// Its name in the file, escaped, and cut short if it is long.
    pub name: String,
    /// A position of it, in bytes from the start of the file.
    pub offset: u64,
}

/// A suspicious place in a file, or an error that was allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CtfWarning {
    /// The position, in bytes from the start of the file.
    pub offset: u64,
    /// The warning.
    pub message: String,
}

impl CtfIncidents {
    /// Allows `max_errors` errors.
    #[must_use]
    pub fn new(max_errors: u64) -> Self {
        Self { budget: AtomicU64::new(max_errors), ..Self::default() }
    }

    /// The number of errors, not counting one beyond the budget.
    #[must_use]
    pub fn errors(&self) -> u64 {
        self.errors.load(Relaxed)
    }

    /// The number of errors that are still allowed.
    #[must_use]
    pub fn budget_left(&self) -> u64 {
        self.budget.load(Relaxed)
    }

    /// The number of warnings, allowed errors included.
    #[must_use]
    pub fn warnings(&self) -> u64 {
        self.warnings.load(Relaxed)
    }

    /// The first hundred warnings, in the order in which they occurred.
    #[must_use]
    pub fn first_warnings(&self) -> Vec<CtfWarning> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The first 64 inputs that nobody declares.
    #[must_use]
    pub fn undeclared(&self) -> Vec<UndeclaredInput> {
        self.undeclared.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps the name of an input that is not declared.
    pub(super) fn add_undeclared(&self, name: &[u8], offset: u64) {
        let name = name.escape_ascii().to_string();
        let mut kept = self.undeclared.lock().unwrap_or_else(PoisonError::into_inner);
        let room = kept.len() < MOST_UNDECLARED;
        match kept.iter_mut().find(|input| input.name == name) {
            Some(known) => known.offset = known.offset.min(offset),
            None if room => kept.push(UndeclaredInput { name, offset }),
            None => {}
        }
    }

    /// Counts an error. Returns whether it is allowed.
    pub(super) fn allow_error(&self) -> bool {
        let allowed =
            self.budget.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok();
        self.errors.fetch_add(u64::from(allowed), Relaxed);
        allowed
    }

    /// Counts a warning. Its message is made only if it is kept.
    pub(super) fn warn(&self, offset: u64, message: impl FnOnce() -> String) {
        if self.warnings.fetch_add(1, Relaxed) < KEPT {
            let warning = CtfWarning { offset, message: message() };
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(warning);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_end_and_warnings_are_counted() {
        let incidents = CtfIncidents::new(2);
        assert!(incidents.allow_error() && incidents.allow_error() && !incidents.allow_error());
        assert_eq!((incidents.errors(), incidents.budget_left()), (2, 0));
        for offset in 0..150 {
            incidents.warn(offset, || format!("warning {offset}"));
        }
        assert_eq!(incidents.warnings(), 150);
        let kept = incidents.first_warnings();
        assert_eq!(kept.len(), 100);
        assert_eq!(kept[99], CtfWarning { offset: 99, message: "warning 99".into() });
    }
}

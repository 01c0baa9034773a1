//! Objects that survive a fork.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A value behind a lock that belongs to one process. A forked child makes its own.
///
/// The outer lock is held only for moments, by threads that hold the interpreter. The thread that
/// forks holds the interpreter, so in the child the outer lock is free. The inner lock may be held
/// by a thread that the child does not have. So the child does not touch it.
pub(crate) struct PerProcess<T>(Mutex<Owned<T>>);

struct Owned<T> {
    process: u32,
    value: Arc<Mutex<T>>,
}

impl<T> PerProcess<T> {
    pub(crate) fn new(value: T) -> Self {
        let value = Arc::new(Mutex::new(value));
        Self(Mutex::new(Owned { process: std::process::id(), value }))
    }

    /// This process' value. `None` in a child, until [`renew`](Self::renew) is called.
    pub(crate) fn get(&self) -> Option<Arc<Mutex<T>>> {
        let owned = lock(&self.0);
        (owned.process == std::process::id()).then(|| Arc::clone(&owned.value))
    }

    /// Looks at the parent's value in a child, if no thread of the parent was using it.
    pub(crate) fn peek<R>(&self, look: impl FnOnce(&T) -> R) -> Option<R> {
        lock(&self.0).value.try_lock().ok().map(|value| look(&value))
    }

    /// Gives a child a value of its own, unless another of its threads has done so. Returns the
    /// valid one.
    #[allow(clippy::mem_forget)]
    pub(crate) fn renew(&self, value: T) -> Arc<Mutex<T>> {
        let mut owned = lock(&self.0);
        let process = std::process::id();
        if owned.process != process {
            let fresh = Arc::new(Mutex::new(value));
            // The old value is not dropped: its threads are the parent's, and its files share the
            // parent's positions.
            std::mem::forget(std::mem::replace(&mut owned.value, fresh));
            owned.process = process;
        }
        Arc::clone(&owned.value)
    }
}

impl<T> Drop for PerProcess<T> {
    #[allow(clippy::mem_forget)]
    fn drop(&mut self) {
        let owned = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if owned.process != std::process::id() {
            // One more reference that is never released.
            std::mem::forget(Arc::clone(&owned.value));
        }
    }
}

/// Locks even after a panic of an earlier holder: each value is valid between calls.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

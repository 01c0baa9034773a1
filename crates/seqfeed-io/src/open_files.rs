//! Files of many names, of which few are open at a time.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Resource, getrlimit};
use seqfeed_core::Result;

/// Files by their numbers, opened when they are asked for. So many stay open, those that were used
/// last; fewer, where the process may have few (`ulimit -n`).
///
/// ```
/// use seqfeed_io::OpenFiles;
///
/// let names = ["a", "b", "c"];
/// let files = OpenFiles::new(2);
/// let open = |number: u32| Ok(names[number as usize].to_owned());
/// assert_eq!(*files.get(1, || open(1))?, "b");
/// // Still open: it is not opened again.
/// assert_eq!(*files.get(1, || open(2))?, "b");
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
pub struct OpenFiles<T> {
    most: usize,
    open: Mutex<Open<T>>,
}

struct Open<T> {
    /// The file, and when it was last used.
    files: HashMap<u32, (Arc<T>, u64)>,
    clock: u64,
}

impl<T> OpenFiles<T> {
    /// At most so many files stay open, and at most an eighth of those that the process may have:
    /// there are several such tables, and other files.
    #[must_use]
    pub fn new(most: usize) -> Self {
        let allowed = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let share = usize::try_from(allowed / 8).unwrap_or(usize::MAX);
        Self::with_most(most.min(share).max(1))
    }

    fn with_most(most: usize) -> Self {
        Self { most, open: Mutex::new(Open { files: HashMap::new(), clock: 0 }) }
    }

    /// A file; `open` opens it if it is not. Where that fails for want of file handles or memory,
    /// all others are closed and it is tried again.
    ///
    /// # Errors
    ///
    /// With that of `open`.
    pub fn get(&self, number: u32, open: impl Fn() -> Result<T>) -> Result<Arc<T>> {
        if let Some(file) = self.used(number) {
            return Ok(file);
        }
        // Other threads go on while this one opens.
        let file = open().or_else(|error| {
            let had_some = error.is_environment() && self.close_all() > 0;
            if had_some { open() } else { Err(error) }
        })?;
        let file = Arc::new(file);
        self.keep(number, Arc::clone(&file));
        Ok(file)
    }

    /// Keeps a file that was opened by other means.
    pub fn keep(&self, number: u32, file: Arc<T>) {
        let mut open = self.lock();
        while open.files.len() >= self.most {
            let oldest = open.files.iter().min_by_key(|(_, (_, used))| *used);
            let Some(oldest) = oldest.map(|(&number, _)| number) else { break };
            open.files.remove(&oldest);
        }
        open.clock += 1;
        let now = open.clock;
        open.files.insert(number, (file, now));
    }

    /// Closes all that nobody uses just now; how many there were.
    fn close_all(&self) -> usize {
        std::mem::take(&mut self.lock().files).len()
    }

    fn used(&self, number: u32) -> Option<Arc<T>> {
        let mut open = self.lock();
        open.clock += 1;
        let now = open.clock;
        let (file, used) = open.files.get_mut(&number)?;
        *used = now;
        Some(Arc::clone(file))
    }

    /// A thread that panicked leaves the table whole: it holds no half-made entries.
    fn lock(&self) -> MutexGuard<'_, Open<T>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> fmt::Debug for OpenFiles<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenFiles")
            .field("most", &self.most)
            .field("open", &self.lock().files.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use seqfeed_core::Error;

    use super::*;

    #[test]
    fn the_last_used_stay_open() {
        let (files, opened) = (OpenFiles::with_most(2), Cell::new(0));
        let get = |number: u32| {
            files.get(number, || {
                opened.set(opened.get() + 1);
                Ok(number)
            })
        };
        for number in [0, 1, 0, 2, 0] {
            assert_eq!(*get(number).unwrap(), number);
        }
        assert_eq!(opened.get(), 3);
        get(1).unwrap();
        assert_eq!(opened.get(), 4, "it was the oldest when the third came");
    }

    #[test]
    fn want_of_handles_closes_the_others() {
        let files = OpenFiles::with_most(8);
        (0..4).for_each(|number| files.keep(number, Arc::new(number)));
        let no_handles = || Error::io("opening", std::io::Error::from_raw_os_error(24));
        let tried = Cell::new(0);
        let open = || {
            tried.set(tried.get() + 1);
            if tried.get() == 1 { Err(no_handles()) } else { Ok(7) }
        };
        assert_eq!(*files.get(7, open).unwrap(), 7);
        assert_eq!(files.lock().files.len(), 1);
        let alone = OpenFiles::<u32>::with_most(8);
        assert!(alone.get(0, || Err(no_handles())).unwrap_err().is_environment());
    }
}

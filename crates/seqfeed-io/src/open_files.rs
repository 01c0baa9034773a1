//! A cache of open files.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Resource, getrlimit};
use seqfeed_core::Result;

/// The most files that stay open.
const MOST: usize = 128;

/// The open files of all tables of an opener.
#[derive(Default)]
pub(crate) struct Cache(Mutex<Open>);

#[derive(Default)]
struct Open {
    /// By table and number: the file, and the time of its last use.
    files: HashMap<(u64, u32), (Arc<dyn Any + Send + Sync>, u64)>,
    clock: u64,
    tables: u64,
}

/// Files by number, opened when they are asked for. The last used ones stay open: 128 in all tables
/// of an [opener](crate::Opener::open_files), or fewer if the process's limit is low (`ulimit -n`).
///
/// ```
/// use seqfeed_io::Opener;
///
/// let names = ["a", "b", "c"];
/// let files = Opener::default().open_files();
/// let open = |number: u32| Ok(names[number as usize].to_owned());
/// assert_eq!(*files.get(1, || open(1))?, "b");
/// // Still open: it is not opened again.
/// assert_eq!(*files.get(1, || open(2))?, "b");
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
pub struct OpenFiles<T> {
    cache: Arc<Cache>,
    /// The number of this table.
    table: u64,
    most: usize,
    files: PhantomData<fn() -> T>,
}

impl<T: Send + Sync + 'static> OpenFiles<T> {
    /// At most an eighth of the process's limit stays open, since there are other files.
    pub(crate) fn new(cache: &Arc<Cache>) -> Self {
        let allowed = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let share = usize::try_from(allowed / 8).unwrap_or(usize::MAX);
        Self::with_most(cache, MOST.min(share).max(1))
    }

    fn with_most(cache: &Arc<Cache>, most: usize) -> Self {
        let mut open = cache.lock();
        open.tables += 1;
        Self { cache: Arc::clone(cache), table: open.tables, most, files: PhantomData }
    }

    /// A file. `open` opens it if it is not open. If that fails for lack of file handles or memory,
    /// all other files are closed and it is tried again.
    ///
    /// # Errors
    ///
    /// The error of `open`.
    pub fn get(&self, number: u32, open: impl Fn() -> Result<T>) -> Result<Arc<T>> {
        if let Some(file) = self.used(number) {
            return Ok(file);
        }
        // Other threads go on while this one opens the file.
        let file = open().or_else(|error| {
            let had_some = error.is_environment() && self.cache.close_all() > 0;
            if had_some { open() } else { Err(error) }
        })?;
        let file = Arc::new(file);
        self.keep(number, Arc::clone(&file));
        Ok(file)
    }

    /// Keeps a file that was opened in another way.
    pub fn keep(&self, number: u32, file: Arc<T>) {
        let mut open = self.cache.lock();
        while open.files.len() >= self.most {
            let oldest = open.files.iter().min_by_key(|(_, (_, used))| *used);
            let Some(oldest) = oldest.map(|(&place, _)| place) else { break };
            open.files.remove(&oldest);
        }
        open.clock += 1;
        let now = open.clock;
        open.files.insert((self.table, number), (file, now));
    }

    fn used(&self, number: u32) -> Option<Arc<T>> {
        let mut open = self.cache.lock();
        open.clock += 1;
        let now = open.clock;
        let (file, used) = open.files.get_mut(&(self.table, number))?;
        *used = now;
        Arc::clone(file).downcast().ok()
    }
}

impl<T> Drop for OpenFiles<T> {
    fn drop(&mut self) {
        self.cache.lock().files.retain(|(table, _), _| *table != self.table);
    }
}

impl Cache {
    /// Closes all files that nobody uses now. Returns how many there were.
    fn close_all(&self) -> usize {
        std::mem::take(&mut self.lock().files).len()
    }

    /// A thread that panicked leaves the cache valid: it has no half-made entries.
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} files", self.lock().files.len())
    }
}

impl<T> fmt::Debug for OpenFiles<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenFiles").field("most", &self.most).field("open", &self.cache).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use seqfeed_core::Error;

    use super::*;

    #[test]
    fn the_last_used_stay_open() {
        let cache = Arc::default();
        let (files, opened) = (OpenFiles::with_most(&cache, 2), Cell::new(0));
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
        let cache = Arc::default();
        let files = OpenFiles::with_most(&cache, 8);
        (0..4).for_each(|number| files.keep(number, Arc::new(number)));
        let no_handles = || Error::io("opening", std::io::Error::from_raw_os_error(24));
        let tried = Cell::new(0);
        let open = || {
            tried.set(tried.get() + 1);
            if tried.get() == 1 { Err(no_handles()) } else { Ok(7) }
        };
        assert_eq!(*files.get(7, open).unwrap(), 7);
        assert_eq!(cache.lock().files.len(), 1);
        let alone = OpenFiles::<u32>::with_most(&Arc::default(), 8);
        assert!(alone.get(0, || Err(no_handles())).unwrap_err().is_environment());
    }

    #[test]
    fn tables_share_what_may_be_open() {
        let cache = Arc::default();
        let numbers = OpenFiles::<u32>::with_most(&cache, 2);
        let words = OpenFiles::<String>::with_most(&cache, 2);
        numbers.keep(0, Arc::new(7));
        words.keep(0, Arc::new("seven".to_owned()));
        words.keep(1, Arc::new("eight".to_owned()));
        assert_eq!(*numbers.get(0, || Ok(9)).unwrap(), 9, "the oldest of both was closed");
        assert_eq!(*words.get(1, || Ok("nine".to_owned())).unwrap(), "eight");
        drop(words);
        assert_eq!(cache.lock().files.len(), 1);
    }
}

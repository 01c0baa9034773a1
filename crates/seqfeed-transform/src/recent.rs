//! What was used last, within a bound of memory.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Values by number, of which those that were used last are kept.
pub(crate) struct Recent<T> {
    /// The most bytes that are kept.
    most: u64,
    kept: Mutex<Kept<T>>,
}

struct Kept<T> {
    values: HashMap<u32, Value<T>>,
    bytes: u64,
    /// The number of uses.
    uses: u64,
}

struct Value<T> {
    value: T,
    bytes: u64,
    /// The number of its last use.
    used: u64,
}

impl<T: Clone> Recent<T> {
    pub(crate) fn new(most: u64) -> Self {
        Self { most, kept: Mutex::new(Kept { values: HashMap::new(), bytes: 0, uses: 0 }) }
    }

    fn kept(&self) -> MutexGuard<'_, Kept<T>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self, number: u32) -> Option<T> {
        let mut kept = self.kept();
        kept.uses += 1;
        let used = kept.uses;
        let found = kept.values.get_mut(&number)?;
        found.used = used;
        Some(found.value.clone())
    }

    /// Keeps a value of so many bytes. One that is larger than all memory is not kept.
    pub(crate) fn insert(&self, number: u32, value: &T, bytes: u64) {
        let mut kept = self.kept();
        if bytes > self.most || kept.values.contains_key(&number) {
            return;
        }
        while kept.bytes + bytes > self.most {
            let oldest = kept.values.iter().min_by_key(|(_, value)| value.used);
            let Some(number) = oldest.map(|(number, _)| *number) else { break };
            kept.bytes -= kept.values.remove(&number).map_or(0, |value| value.bytes);
        }
        kept.bytes += bytes;
        kept.uses += 1;
        let value = Value { value: value.clone(), bytes, used: kept.uses };
        kept.values.insert(number, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_is_kept() {
        let recent = Recent::new(10);
        recent.insert(1, &'a', 4);
        recent.insert(2, &'b', 4);
        assert_eq!(recent.get(1), Some('a'));
        recent.insert(3, &'c', 4);
        assert_eq!([1, 2, 3].map(|number| recent.get(number)), [Some('a'), None, Some('c')]);
        recent.insert(4, &'d', 11);
        assert_eq!([1, 3, 4].map(|number| recent.get(number)), [Some('a'), Some('c'), None]);
        recent.insert(5, &'e', 10);
        assert_eq!([1, 3, 5].map(|number| recent.get(number)), [None, None, Some('e')]);
    }
}

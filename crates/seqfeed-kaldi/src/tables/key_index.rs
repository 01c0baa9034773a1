//! Finds keys, and the positions of their objects.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use seqfeed_core::Key;

/// Keys, numbered in the order in which they were added. It takes about 30 bytes a key, plus the
/// key itself.
#[derive(Default)]
pub(crate) struct KeyIndex {
    keys: Vec<u8>,
    entries: Vec<IndexEntry>,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

struct IndexEntry {
    key_end: u64,
    value: u64,
}

impl KeyIndex {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn key(&self, number: usize) -> Key<'_> {
        key_of(&self.keys, &self.entries, number)
    }

    pub(crate) fn value(&self, number: usize) -> u64 {
        self.entries[number].value
    }

    /// The number of a key.
    pub(crate) fn find(&self, key: Key<'_>) -> Option<usize> {
        let hash = self.hasher.hash_one(key);
        self.table.find(hash, |&number| self.key(number as usize) == key).map(|&n| n as usize)
    }

    /// Adds a key, unless it is there. Returns its number.
    pub(crate) fn insert(&mut self, key: Key<'_>, value: u64) -> Option<usize> {
        if self.find(key).is_some() {
            return None;
        }
        let number = self.entries.len();
        self.keys.extend_from_slice(key.0);
        self.entries.push(IndexEntry { key_end: self.keys.len() as u64, value });
        let (keys, entries, hasher) = (&self.keys, &self.entries, &self.hasher);
        let rehash = |&number: &u32| hasher.hash_one(key_of(keys, entries, number as usize));
        self.table.insert_unique(hasher.hash_one(key), number as u32, rehash);
        Some(number)
    }
}

fn key_of<'a>(keys: &'a [u8], entries: &[IndexEntry], number: usize) -> Key<'a> {
    let start = number.checked_sub(1).map_or(0, |before| entries[before].key_end);
    Key(&keys[start as usize..entries[number].key_end as usize])
}

//! Finds the keys of one source in another.

use std::cmp::Ordering;
use std::hash::BuildHasher;

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::{Index, Key};

/// The keys of an index, to be looked up.
///
/// Where they ascend, as in tables of Kaldi's, nothing is built: keys that are looked up in the
/// same order are found where the last one was. Other keys are in a hash table of their numbers.
pub(super) struct Lookup<'a> {
    index: &'a Index,
    way: Way,
    /// The number behind the one that was found last.
    next: u32,
}

enum Way {
    /// Each key is greater than the one before.
    Ascending,
    Hashed(HashTable<u32>, DefaultHashBuilder),
}

impl<'a> Lookup<'a> {
    /// Prepares the look-up. If a key is there twice, the first one counts. The second value is
    /// such a key.
    pub(super) fn new(index: &'a Index) -> (Self, Option<Key<'a>>) {
        let sequences = 0..index.len() as u32;
        if sequences.clone().skip(1).all(|number| index.key(number - 1) < index.key(number)) {
            return (Self { index, way: Way::Ascending, next: 0 }, None);
        }
        let (hasher, mut twice) = (DefaultHashBuilder::default(), None);
        let mut table = HashTable::with_capacity(index.len());
        for number in sequences {
            let key = index.key(number);
            let is_same = |&other: &u32| index.key(other) == key;
            let rehash = |&other: &u32| hasher.hash_one(index.key(other));
            match table.entry(hasher.hash_one(key), is_same, rehash) {
                Entry::Vacant(free) => drop(free.insert(number)),
                Entry::Occupied(_) => drop(twice.get_or_insert(key)),
            }
        }
        (Self { index, way: Way::Hashed(table, hasher), next: 0 }, twice)
    }

    /// The number of a key.
    pub(super) fn find(&mut self, key: Key<'_>) -> Option<u32> {
        match &self.way {
            Way::Hashed(table, hasher) => {
                let is_same = |&other: &u32| self.index.key(other) == key;
                table.find(hasher.hash_one(key), is_same).copied()
            }
            Way::Ascending => {
                let number = self.first_from(key);
                let is_there =
                    (number as usize) < self.index.len() && self.index.key(number) == key;
                self.next = number + u32::from(is_there);
                is_there.then_some(number)
            }
        }
    }

    /// The first ascending key that is not less: mostly the next one, or a few behind.
    fn first_from(&self, key: Key<'_>) -> u32 {
        let len = self.index.len() as u32;
        let order = |number: u32| match number < len {
            true => self.index.key(number).cmp(&key),
            false => Ordering::Greater,
        };
        let (mut low, mut high) = match order(self.next) {
            Ordering::Equal => return self.next,
            Ordering::Greater => (0, self.next),
            Ordering::Less => {
                let (mut low, mut step) = (self.next + 1, 1);
                loop {
                    let high = low.saturating_add(step).min(len);
                    if order(high) != Ordering::Less {
                        break (low, high);
                    }
                    (low, step) = (high + 1, step * 2);
                }
            }
        };
        while low < high {
            let middle = low + (high - low) / 2;
            match order(middle) {
                Ordering::Less => low = middle + 1,
                _ => high = middle,
            }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::IndexBuilder;

    fn index(keys: &[u16]) -> Index {
        let mut builder = IndexBuilder::new(10);
        for key in keys {
            builder.push(Key(&key.to_be_bytes()), 1);
        }
        builder.finish()
    }

    proptest! {
        #[test]
        fn finds_what_is_there(
            mut keys in prop::collection::vec(0..200u16, 0..150),
            ascend in any::<bool>(),
            wanted in prop::collection::vec(0..210u16, 0..200),
        ) {
            if ascend {
                keys.sort_unstable();
                keys.dedup();
            }
            let index = index(&keys);
            let (mut lookup, twice) = Lookup::new(&index);
            let mut sorted = keys.clone();
            sorted.sort_unstable();
            prop_assert_eq!(twice.is_some(), sorted.windows(2).any(|pair| pair[0] == pair[1]));
            for key in keys.iter().chain(&wanted) {
                let expected = keys.iter().position(|other| other == key);
                let found = lookup.find(Key(&key.to_be_bytes()));
                prop_assert_eq!(found.map(|number| number as usize), expected);
            }
        }
    }
}

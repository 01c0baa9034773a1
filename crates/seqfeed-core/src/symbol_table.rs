//! The names of labels.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A table of symbols: each has a name, in bytes, and a number, the label that stands for it.
///
/// ```
/// use seqfeed_core::SymbolTable;
///
/// let table = SymbolTable::sorted(["b", "a", "b"].map(|name| name.as_bytes().to_vec()));
/// assert_eq!((table.number(b"b"), table.name(0)), (Some(1), Some(&b"a"[..])));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SymbolTable {
    numbers: HashMap<Arc<[u8]>, i32>,
    names: BTreeMap<i32, Arc<[u8]>>,
}

impl SymbolTable {
    /// The table of these names, sorted bytewise, numbered from 0.
    #[must_use]
    pub fn sorted(names: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let names: std::collections::BTreeSet<Vec<u8>> = names.into_iter().collect();
        let mut table = Self::default();
        for (number, name) in (0..i32::MAX).zip(names) {
            table.insert(&name, number);
        }
        table
    }

    /// Adds a symbol. Several names may have one number: its name is then the first of them.
    /// Returns `false`, and adds nothing, if there is a symbol of this name already.
    pub fn insert(&mut self, name: &[u8], number: i32) -> bool {
        if self.numbers.contains_key(name) {
            return false;
        }
        let name: Arc<[u8]> = name.into();
        self.names.entry(number).or_insert_with(|| Arc::clone(&name));
        self.numbers.insert(name, number);
        true
    }

    /// The number of a name.
    #[must_use]
    pub fn number(&self, name: &[u8]) -> Option<i32> {
        self.numbers.get(name).copied()
    }

    /// The name of a number.
    #[must_use]
    pub fn name(&self, number: i32) -> Option<&[u8]> {
        self.names.get(&number).map(|name| &**name)
    }

    /// The numbers and their names, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (i32, &[u8])> {
        self.names.iter().map(|(number, name)| (*number, &**name))
    }

    /// The number of names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_lead_to_one_another() {
        let mut table = SymbolTable::default();
        assert!(table.insert(b"sil", 7) && table.insert(b"sp", 7) && table.insert(b"a", 2));
        assert!(!table.insert(b"a", 3));
        assert_eq!((table.number(b"sp"), table.name(7)), (Some(7), Some(&b"sil"[..])));
        assert_eq!(table.iter().collect::<Vec<_>>(), [(2, &b"a"[..]), (7, &b"sil"[..])]);
        assert_eq!((table.len(), table.number(b"b"), table.name(0)), (3, None, None));
    }
}

//! Keys of sequences: numbers, numbered names, or hashes of names.

use std::hash::{BuildHasher, Hasher};

use hashbrown::{DefaultHashBuilder, HashTable};

/// The way in which the ids of a file become keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyKind {
    /// Ids are numbers, and are used as keys.
    #[default]
    Numeric,
    /// Ids are words. Keys number them in the order of their first appearance ([`Names`]).
    Symbolic,
    /// Ids are words. Keys are their hashes ([`hash_of_name`]).
    Hashed,
}

/// CNTK's hash of a symbolic id: djb2 with exclusive or, over signed characters.
#[must_use]
pub fn hash_of_name(name: &[u8]) -> u64 {
    name.iter().fold(5381, |hash: u64, &byte| {
        (hash << 5).wrapping_add(hash) ^ i64::from(byte as i8) as u64
    })
}

/// Symbolic ids, numbered in the order of their first appearance.
///
/// All files of a corpus share them, so that equal ids have equal keys.
#[derive(Clone, Default)]
pub struct Names {
    /// All names, one after another.
    bytes: Vec<u8>,
    /// The end of each name.
    ends: Vec<usize>,
    /// The numbers, by the hash of the name.
    numbers: HashTable<u64>,
    hasher: DefaultHashBuilder,
}

impl Names {
    /// No names yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of a name. A new name gets the next number.
    pub fn number(&mut self, name: &[u8]) -> u64 {
        let hash = self.hash(name);
        if let Some(&number) =
            self.numbers.find(hash, |&number| name_at(&self.bytes, &self.ends, number) == name)
        {
            return number;
        }
        let number = self.ends.len() as u64;
        self.bytes.extend_from_slice(name);
        self.ends.push(self.bytes.len());
        let Self { bytes, ends, numbers, hasher } = self;
        numbers
            .insert_unique(hash, number, |&number| hash_with(hasher, name_at(bytes, ends, number)));
        number
    }

    /// The number of a name, if it has one.
    #[must_use]
    pub fn get(&self, name: &[u8]) -> Option<u64> {
        self.numbers
            .find(self.hash(name), |&number| name_at(&self.bytes, &self.ends, number) == name)
            .copied()
    }

    /// The name with a number.
    #[must_use]
    pub fn name(&self, number: u64) -> Option<&[u8]> {
        (number < self.ends.len() as u64).then(|| name_at(&self.bytes, &self.ends, number))
    }

    /// The number of names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no names.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The names, from number 0 on.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len() as u64).map(|number| name_at(&self.bytes, &self.ends, number))
    }

    fn hash(&self, name: &[u8]) -> u64 {
        hash_with(&self.hasher, name)
    }
}

impl std::fmt::Debug for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Names({})", self.len())
    }
}

/// The name with a number that exists.
fn name_at<'a>(bytes: &'a [u8], ends: &[usize], number: u64) -> &'a [u8] {
    let number = number as usize;
    let start = if number == 0 { 0 } else { ends[number - 1] };
    &bytes[start..ends[number]]
}

fn hash_with(hasher: &DefaultHashBuilder, name: &[u8]) -> u64 {
    let mut hasher = hasher.build_hasher();
    hasher.write(name);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbered_in_order() {
        let mut names = Names::new();
        for round in 0..2 {
            for number in 0..1000u64 {
                assert_eq!(names.number(format!("u{number}").as_bytes()), number, "{round}");
            }
        }
        assert_eq!(names.number(b""), 1000);
        assert_eq!((names.len(), names.is_empty()), (1001, false));
        assert_eq!((names.get(b"u17"), names.get(b"u1000")), (Some(17), None));
        assert_eq!(names.name(17), Some(&b"u17"[..]));
        assert_eq!(names.name(1001), None);
        assert_eq!(names.iter().nth(3), Some(&b"u3"[..]));
    }

    #[test]
    fn hashes_are_those_of_cntk() {
        assert_eq!(hash_of_name(b""), 5381);
        assert_eq!(hash_of_name(b"a"), (5381 * 33) ^ 97);
        // A byte beyond ASCII is negative.
        assert_eq!(hash_of_name(b"\xff"), !(5381 * 33));
    }
}

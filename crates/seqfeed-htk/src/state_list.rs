//! Lists of states, which number the names of labels.

use std::hash::BuildHasher;

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use seqfeed_core::{Error, ErrorKind, Key, Result};

/// The most warnings of a list.
const SHOWN: usize = 10;

/// The names of classes: the lines of a file that are not empty, numbered from 0.
///
/// This is CNTK's `labelMappingFile`: for HTK's MLFs a list of the states of its models, such as
/// `ah_s2`. Names are the bytes of their lines, with blanks. CNTK cannot find the last name of a
/// list that does not end with a newline; here it can be found.
///
/// ```
/// use seqfeed_htk::state_list::StateList;
///
/// let states = StateList::parse(b"sil_s2\nsil_s3\nah_s2\n")?;
/// assert_eq!((states.len(), states.get(b"ah_s2"), states.get(b"ah")), (3, Some(2), None));
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct StateList {
    text: Vec<u8>,
    /// The end of each name in the text.
    ends: Vec<usize>,
    hasher: DefaultHashBuilder,
    table: HashTable<u32>,
    duplicates: Vec<DuplicateState>,
}

/// A name that stands twice. As in CNTK, it means the later class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DuplicateState {
    /// The class of the earlier name. No label has it.
    pub first: u32,
    /// The class that labels of this name have.
    pub again: u32,
    /// The line of the later one, from 1.
    pub line: u64,
}

impl StateList {
    /// Parses a list. Lines end with `\n`, `\r\n` or `\r`.
    ///
    /// # Errors
    ///
    /// If there are 2^31 names: classes are 32-bit integers.
    pub fn parse(data: &[u8]) -> Result<Self> {
        let mut list = Self::default();
        let mut number = 1;
        let mut rest = data;
        while !rest.is_empty() {
            let len = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            let (line, behind) = rest.split_at(len);
            if !line.is_empty() {
                list.push(line, number)?;
            }
            let end = if behind.starts_with(b"\r\n") { 2 } else { behind.len().min(1) };
            rest = &behind[end..];
            number += 1;
        }
        Ok(list)
    }

    fn push(&mut self, name: &[u8], line: u64) -> Result<()> {
        let id = i32::try_from(self.ends.len()).map_err(|_| {
            let limit = 1 << 31;
            Error::new(ErrorKind::Limit { what: "names of a state list", wanted: limit + 1, limit })
                .at_line(line)
        })? as u32;
        self.text.extend_from_slice(name);
        self.ends.push(self.text.len());
        let (text, ends, hasher) = (&self.text, &self.ends, &self.hasher);
        let name_of = |&id: &u32| name_in(text, ends, id);
        let same = |other: &u32| name_of(other) == name;
        match self.table.entry(hasher.hash_one(name), same, |id| hasher.hash_one(name_of(id))) {
            Entry::Vacant(place) => {
                place.insert(id);
            }
            Entry::Occupied(mut place) => {
                let first = std::mem::replace(place.get_mut(), id);
                self.duplicates.push(DuplicateState { first, again: id, line });
            }
        }
        Ok(())
    }

    /// The number of classes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no classes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The class of a name.
    #[must_use]
    pub fn get(&self, name: &[u8]) -> Option<u32> {
        let same = |&id: &u32| name_in(&self.text, &self.ends, id) == name;
        self.table.find(self.hasher.hash_one(name), same).copied()
    }

    /// The name of a class.
    #[must_use]
    pub fn name(&self, class: u32) -> Option<&[u8]> {
        ((class as usize) < self.len()).then(|| name_in(&self.text, &self.ends, class))
    }

    /// The names that stand more than once, in the order of their later lines. They deserve a
    /// [warning](Self::warnings).
    #[must_use]
    pub fn duplicates(&self) -> &[DuplicateState] {
        &self.duplicates
    }

    /// Warnings about the list, with the name `file`: names that stand more than once.
    #[must_use]
    pub fn warnings(&self, file: &str) -> Vec<String> {
        let more = self.duplicates.len().saturating_sub(SHOWN);
        let more = (more > 0).then(|| format!("{file}: {more} more names stand twice"));
        let first = self.duplicates.iter().take(SHOWN).map(|duplicate| {
            let name = Key(self.name(duplicate.again).unwrap_or_default());
            format!(
                "{file}:{}: {name} stands twice: its labels are of class {}, none of class {}",
                duplicate.line, duplicate.again, duplicate.first
            )
        });
        first.chain(more).collect()
    }
}

fn name_in<'a>(text: &'a [u8], ends: &[usize], id: u32) -> &'a [u8] {
    let id = id as usize;
    let start = if id == 0 { 0 } else { ends[id - 1] };
    &text[start..ends[id]]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_the_lines_that_are_not_empty() {
        let states = StateList::parse(b"\r\na\n\n b \rc_s2\r\n\na").unwrap();
        let names: Vec<_> = (0..4).map(|class| states.name(class).unwrap()).collect();
        assert_eq!(names, [&b"a"[..], b" b ", b"c_s2", b"a"]);
        assert_eq!(states.name(4), None);
        assert_eq!(
            [b"a".as_slice(), b" b ", b"c_s2", b"b", b""].map(|name| states.get(name)),
            [Some(3), Some(1), Some(2), None, None]
        );
        assert_eq!(states.duplicates(), [DuplicateState { first: 0, again: 3, line: 7 }]);
        let warning = "x:7: a stands twice: its labels are of class 3, none of class 0";
        assert_eq!(states.warnings("x"), [warning]);
    }
}

//! How often each class number occurs.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

/// Class numbers below this are counted in a vector.
const SMALL: usize = 1 << 16;

/// How often each class number occurs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    small: Vec<u64>,
    others: BTreeMap<i32, u64>,
}

impl Counts {
    /// Counts numbers.
    pub(crate) fn add(&mut self, numbers: &[i32]) {
        for &number in numbers {
            match usize::try_from(number) {
                Ok(place) if place < self.small.len() => self.small[place] += 1,
                Ok(place) if place < SMALL => {
                    self.small.resize(place + 1, 0);
                    self.small[place] = 1;
                }
                _ => *self.others.entry(number).or_default() += 1,
            }
        }
    }

    /// Adds the counts of another part.
    pub(crate) fn merge(&mut self, other: &Self) {
        if self.small.len() < other.small.len() {
            self.small.resize(other.small.len(), 0);
        }
        self.small.iter_mut().zip(&other.small).for_each(|(count, more)| *count += more);
        for (&number, count) in &other.others {
            *self.others.entry(number).or_default() += count;
        }
    }

    /// The numbers that occur, ascending, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (i32, u64)> {
        let small = self.small.iter().enumerate().map(|(number, &count)| (number as i32, count));
        let below = self.others.range(..0).map(|(&number, &count)| (number, count));
        let above = self.others.range(0..).map(|(&number, &count)| (number, count));
        below.chain(small.filter(|&(_, count)| count > 0)).chain(above)
    }
}

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_numbers_are_counted_in_order() {
        let (mut counts, mut more) = (Counts::default(), Counts::default());
        counts.add(&[3, 3, -1, 70_000, 0]);
        more.add(&[5, 3, i32::MAX, i32::MIN]);
        counts.merge(&more);
        let found: Vec<_> = counts.iter().collect();
        let expected = [(i32::MIN, 1), (-1, 1), (0, 1), (3, 3), (5, 1), (70_000, 1), (i32::MAX, 1)];
        assert_eq!(found, expected);
    }
}

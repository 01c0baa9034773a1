//! Ascending numbers in little memory.

use std::ops::Range;

/// The number of values that share one base.
const RUN: usize = 64;

/// Ascending numbers: where sequences start, in samples or in bytes.
///
/// Evenly spaced numbers take no memory, for example if each sequence has one sample. Other numbers
/// take a bit more than four bytes each.
///
/// ```
/// use seqfeed_core::Offsets;
///
/// let offsets: Offsets = [0, 5, 7, 7, 1 << 40].into_iter().collect();
/// assert_eq!((offsets.len(), offsets.get(1), offsets.get(4)), (5, 5, 1 << 40));
/// assert_eq!(offsets.partition_point(1..5, |offset| offset <= 7), 4);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offsets {
    len: usize,
    last: u64,
    form: Form,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    /// `first`, `first + step`, ...
    Even {
        first: u64,
        step: u64,
    },
    /// The difference of each number to the base of its run.
    Near {
        bases: Vec<u64>,
        above: Vec<u32>,
    },
    Far(Vec<u64>),
}

impl Default for Form {
    fn default() -> Self {
        Form::Even { first: 0, step: 0 }
    }
}

impl Offsets {
    /// No numbers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The last number; 0 if there is none.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Bytes of memory that they take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match &self.form {
            Form::Even { .. } => 0,
            Form::Near { bases, above } => 8 * bases.capacity() + 4 * above.capacity(),
            Form::Far(numbers) => 8 * numbers.capacity(),
        }
    }

    /// A number.
    ///
    /// # Panics
    ///
    /// If there are no more than `i`.
    #[must_use]
    #[inline]
    pub fn get(&self, i: usize) -> u64 {
        match &self.form {
            Form::Even { first, step } => {
                assert!(i < self.len, "one of the numbers");
                first + step * i as u64
            }
            Form::Near { bases, above } => bases[i / RUN] + u64::from(above[i]),
            Form::Far(numbers) => numbers[i],
        }
    }

    /// Adds a number.
    ///
    /// # Panics
    ///
    /// If it is less than the last one.
    pub fn push(&mut self, number: u64) {
        assert!(number >= self.last, "numbers ascend");
        // The last form takes any number.
        while !self.add(number) {
            self.widen();
        }
        (self.len, self.last) = (self.len + 1, number);
    }

    /// Adds a number if the form allows it.
    fn add(&mut self, number: u64) -> bool {
        match &mut self.form {
            Form::Even { first, .. } if self.len == 0 => *first = number,
            Form::Even { step, .. } if self.len == 1 => *step = number - self.last,
            Form::Even { step, .. } => return number - self.last == *step,
            Form::Near { bases, above } => {
                if self.len.is_multiple_of(RUN) {
                    bases.push(number);
                }
                let base = bases[self.len / RUN];
                let Ok(near) = u32::try_from(number - base) else { return false };
                above.push(near);
            }
            Form::Far(numbers) => numbers.push(number),
        }
        true
    }

    /// Changes to the next form.
    fn widen(&mut self) {
        if let Form::Even { .. } = self.form {
            let mut near =
                Self { form: Form::Near { bases: Vec::new(), above: Vec::new() }, ..Self::new() };
            if (0..self.len).all(|i| {
                let added = near.add(self.get(i));
                near.len += 1;
                added
            }) {
                self.form = near.form;
                return;
            }
        }
        self.form = Form::Far((0..self.len).map(|i| self.get(i)).collect());
    }

    /// Counts all numbers before `range`, and the first numbers of `range` that satisfy a
    /// condition. The condition must hold for the first ones only.
    ///
    /// # Panics
    ///
    /// If the range goes beyond the last number.
    #[must_use]
    pub fn partition_point(&self, range: Range<usize>, holds: impl Fn(u64) -> bool) -> usize {
        let Range { start: mut low, end: mut high } = range;
        while low < high {
            let middle = low + (high - low) / 2;
            match holds(self.get(middle)) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }

    /// Gives back spare memory.
    pub fn shrink_to_fit(&mut self) {
        match &mut self.form {
            Form::Even { .. } => {}
            Form::Near { bases, above } => {
                bases.shrink_to_fit();
                above.shrink_to_fit();
            }
            Form::Far(numbers) => numbers.shrink_to_fit(),
        }
    }
}

impl FromIterator<u64> for Offsets {
    fn from_iter<I: IntoIterator<Item = u64>>(numbers: I) -> Self {
        let mut offsets = Self::new();
        numbers.into_iter().for_each(|number| offsets.push(number));
        offsets
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn evenly_spaced_numbers_take_no_memory() {
        let even: Offsets = (0..1000).map(|i| 7 + 3 * i).collect();
        assert_eq!((even.bytes(), even.get(999), even.last()), (0, 3004, 3004));
        let mut near: Offsets = (0..1000).chain([2000]).collect();
        near.shrink_to_fit();
        assert_eq!((near.bytes(), near.get(999), near.get(1000)), (4 * 1001 + 8 * 16, 999, 2000));
    }

    proptest! {
        #[test]
        fn numbers_come_back(steps in prop::collection::vec(prop_oneof![
            Just(1u64), 0..3u64, 0..1u64 << 20, 0..1u64 << 36
        ], 0..400), same in 0..200usize) {
            let steps = std::iter::repeat_n(4, same).chain(steps);
            let numbers: Vec<u64> = steps.scan(0, |sum, step| { *sum += step; Some(*sum) }).collect();
            let offsets: Offsets = numbers.iter().copied().collect();
            prop_assert_eq!(offsets.len(), numbers.len());
            for (i, &number) in numbers.iter().enumerate() {
                prop_assert_eq!(offsets.get(i), number);
                let below = offsets.partition_point(0..numbers.len(), |other| other < number);
                prop_assert_eq!(below, numbers.partition_point(|&other| other < number));
            }
        }
    }
}

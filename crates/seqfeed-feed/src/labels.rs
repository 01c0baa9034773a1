//! Rules for labels: frames to leave out, and labels to change.

use seqfeed_core::{Block, Given, Output, Result, Stream, Transform};

/// Rules for the labels of one stream.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct LabelRules {
    /// Name of the stream.
    pub stream: String,
    /// Frames with these labels are left out.
    pub ignore: LabelSet,
    /// Labels that change, after frames were left out. Each label changes once.
    pub map: LabelMap,
}

/// A set of labels: sorted ranges that do not touch.
///
/// ```
/// use seqfeed_feed::LabelSet;
///
/// let set = LabelSet::new([(3, 9), (0, 0), (1, 1), (5, 12)]);
/// assert!(set.contains(0) && !set.contains(2) && set.contains(12));
/// assert!(LabelSet::new([(5, 3)]).is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct LabelSet(Vec<(i32, i32)>);

impl LabelSet {
    /// The labels of some ranges, both ends included; a range that ends before it begins is empty.
    #[must_use]
    pub fn new(ranges: impl IntoIterator<Item = (i32, i32)>) -> Self {
        let mut ranges: Vec<_> = ranges.into_iter().filter(|(low, high)| low <= high).collect();
        ranges.sort_unstable();
        let mut set: Vec<(i32, i32)> = Vec::new();
        for (low, high) in ranges {
            match set.last_mut() {
                Some(last) if i64::from(low) <= i64::from(last.1) + 1 => last.1 = last.1.max(high),
                _ => set.push((low, high)),
            }
        }
        Self(set)
    }

    /// Whether no label is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a label is in it.
    #[must_use]
    #[inline]
    pub fn contains(&self, label: i32) -> bool {
        let after = self.0.partition_point(|&(low, _)| low <= label);
        after > 0 && label <= self.0[after - 1].1
    }

    pub(crate) fn ranges(&self) -> &[(i32, i32)] {
        &self.0
    }
}

/// New labels for others, applied all at once: no label changes twice.
///
/// ```
/// use seqfeed_feed::LabelMap;
///
/// let map = LabelMap::new([(1, 1, 2), (2, 2, 1), (4, 6, 0), (5, 5, 7)]);
/// assert_eq!([0, 1, 2, 4, 5, 6].map(|label| map.get(label)), [0, 2, 1, 0, 7, 0]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct LabelMap {
    /// First and last label of a range, and the new label: sorted, disjoint.
    ranges: Vec<(i32, i32, i32)>,
}

impl LabelMap {
    /// Makes a map from ranges (both ends included) with their new labels. Later ranges override
    /// earlier ones.
    #[must_use]
    pub fn new(rules: impl IntoIterator<Item = (i32, i32, i32)>) -> Self {
        let mut ranges: Vec<(i32, i32, i32)> = Vec::new();
        for (low, high, new) in rules {
            if low > high {
                continue;
            }
            // Cut the new range out of the earlier ones.
            let mut left = Vec::with_capacity(ranges.len() + 2);
            for (first, last, label) in ranges {
                if first < low {
                    left.push((first, last.min(low - 1), label));
                }
                if last > high {
                    left.push((first.max(high + 1), last, label));
                }
            }
            left.push((low, high, new));
            ranges = left;
        }
        ranges.sort_unstable();
        Self { ranges }
    }

    /// Whether it changes no label.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The new label.
    #[must_use]
    #[inline]
    pub fn get(&self, label: i32) -> i32 {
        let after = self.ranges.partition_point(|&(low, ..)| low <= label);
        match after.checked_sub(1).map(|at| self.ranges[at]) {
            Some((_, high, new)) if label <= high => new,
            _ => label,
        }
    }
}

/// A transform that changes the labels of a stream.
pub(crate) struct MapLabels {
    /// The name of the stream.
    pub(crate) stream: String,
    pub(crate) map: LabelMap,
}

impl Transform for MapLabels {
    fn name(&self) -> &str {
        "map"
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        Ok(Output::change(streams, |stream| stream.name == self.stream, |stream| stream))
    }

    fn apply(&self, _output: usize, given: &Given<'_>, to: &mut Block) -> Result<()> {
        let labels = given.samples(0);
        let (before, _) = labels.bytes().as_chunks::<4>();
        for (label, before) in to.push_i32(labels.len()).iter_mut().zip(before) {
            *label = self.map.get(i32::from_ne_bytes(*before));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number() -> impl Strategy<Value = i32> {
        prop_oneof![-4..20i32, Just(i32::MIN), Just(i32::MAX)]
    }

    proptest! {
        #[test]
        fn a_set_holds_what_its_ranges_hold(
            ranges in prop::collection::vec((number(), number()), 0..6),
        ) {
            let set = LabelSet::new(ranges.clone());
            for label in (-6..22).chain([i32::MIN, i32::MAX]) {
                let inside = ranges.iter().any(|&(low, high)| (low..=high).contains(&label));
                prop_assert_eq!(set.contains(label), inside);
            }
        }

        #[test]
        fn the_last_rule_of_a_label_counts(
            rules in prop::collection::vec((number(), number(), number()), 0..6),
        ) {
            let map = LabelMap::new(rules.clone());
            for label in (-6..22).chain([i32::MIN, i32::MAX]) {
                let rule = rules.iter().rev().find(|rule| (rule.0..=rule.1).contains(&label));
                prop_assert_eq!(map.get(label), rule.map_or(label, |rule| rule.2));
            }
        }
    }
}

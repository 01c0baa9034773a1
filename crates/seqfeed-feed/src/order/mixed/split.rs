//! Divides positions among the components of a mixture by whole weights.
//!
//! A tree of two-way divisions has the components as its leaves. A division with weights `a` and
//! `b` gives `(p * a + (a + b) / 2) / (a + b)` of its first `p` positions to one side, rounded
//! down, and the rest to the other. So each count is exact in whole numbers, is known for any
//! position at once, and stays within two units of its share.

/// A way to divide positions among components.
pub(super) struct Split(Node);

enum Node {
    Component(usize),
    Fork(Box<Fork>),
}

struct Fork {
    /// The weight of the first side.
    first: u64,
    /// The weight of both sides.
    total: u64,
    /// The remainder of the division at the current position.
    remainder: u64,
    sides: [Node; 2],
}

impl Split {
    /// Divides by weights, one for each component. Their sum is above 0 and below 2^63.
    pub(super) fn new(weights: &[u64]) -> Self {
        let mut nodes: Vec<(u64, Node)> = weights
            .iter()
            .enumerate()
            .filter(|(_, weight)| **weight > 0)
            .map(|(component, weight)| (*weight, Node::Component(component)))
            .collect();
        // As in Huffman's code, heavy components stand near the root. Each division adds an error
        // of half a unit, which all further divisions make smaller.
        while nodes.len() > 1 {
            nodes.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
            let (Some((second, right)), Some((first, left))) = (nodes.pop(), nodes.pop()) else {
                break;
            };
            let total = first + second;
            let fork = Fork { first, total, remainder: total / 2, sides: [left, right] };
            nodes.push((total, Node::Fork(Box::new(fork))));
        }
        Self(nodes.pop().map_or(Node::Component(0), |(_, root)| root))
    }

    /// Goes to a position.
    pub(super) fn go_to(&mut self, position: u64) {
        self.0.go_to(position);
    }

    /// The component of the current position. Goes on to the next one.
    #[inline]
    pub(super) fn next(&mut self) -> usize {
        let mut node = &mut self.0;
        loop {
            match node {
                Node::Component(component) => return *component,
                Node::Fork(fork) => {
                    fork.remainder += fork.first;
                    let side = usize::from(fork.remainder < fork.total);
                    fork.remainder -= if side == 0 { fork.total } else { 0 };
                    node = &mut fork.sides[side];
                }
            }
        }
    }

    /// Adds the number of units that each component has before a position.
    pub(super) fn add_counts(&self, position: u64, counts: &mut [u64]) {
        self.0.add_counts(position, counts);
    }

    /// The first position before which a component has `count` units. `None` if there is none below
    /// 2^64.
    pub(super) fn position_of(&self, component: usize, count: u64) -> Option<u64> {
        match count {
            0 => Some(0),
            count => self.0.position_of(component, count),
        }
    }
}

impl Node {
    fn go_to(&mut self, position: u64) {
        let Self::Fork(fork) = self else { return };
        let (first, remainder) = fork.divide(position);
        fork.remainder = remainder;
        let [left, right] = &mut fork.sides;
        left.go_to(first);
        right.go_to(position - first);
    }

    fn add_counts(&self, position: u64, counts: &mut [u64]) {
        match self {
            Self::Component(component) => counts[*component] += position,
            Self::Fork(fork) => {
                let (first, _) = fork.divide(position);
                fork.sides[0].add_counts(first, counts);
                fork.sides[1].add_counts(position - first, counts);
            }
        }
    }

    fn position_of(&self, component: usize, count: u64) -> Option<u64> {
        match self {
            Self::Component(own) => (*own == component).then_some(count),
            Self::Fork(fork) => {
                let [left, right] = &fork.sides;
                let first = left.position_of(component, count);
                match first {
                    Some(count) => fork.position_of_first(count),
                    None => fork.position_of_second(right.position_of(component, count)?),
                }
            }
        }
    }
}

impl Fork {
    /// The positions of the first side before a position of both, and the remainder.
    fn divide(&self, position: u64) -> (u64, u64) {
        let (first, total) = (u128::from(self.first), u128::from(self.total));
        let product = u128::from(position) * first + total / 2;
        ((product / total) as u64, (product % total) as u64)
    }

    /// The first position before which the first side has `count` positions.
    fn position_of_first(&self, count: u64) -> Option<u64> {
        let (first, total) = (u128::from(self.first), u128::from(self.total));
        let position = (u128::from(count) * total - total / 2).div_ceil(first);
        u64::try_from(position).ok()
    }

    /// The same for the second side.
    fn position_of_second(&self, count: u64) -> Option<u64> {
        let (second, total) = (u128::from(self.total - self.first), u128::from(self.total));
        let position = ((u128::from(count) - 1) * total + 1 + total / 2).div_ceil(second);
        u64::try_from(position).ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn weights() -> impl Strategy<Value = Vec<u64>> {
        let weight = prop_oneof![Just(0u64), 1..10u64, 1..1_000_000_000u64];
        prop::collection::vec(weight, 1..12)
            .prop_filter("a weight", |weights| weights.iter().any(|&weight| weight > 0))
    }

    proptest! {
        #[test]
        fn counts_stay_near_their_shares(weights in weights(), start in 0..1_000_000u64) {
            let mut split = Split::new(&weights);
            let total: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
            let mut counts = vec![0; weights.len()];
            split.add_counts(start, &mut counts);
            split.go_to(start);
            for position in start..start + 300 {
                for (&count, &weight) in counts.iter().zip(&weights) {
                    let share = position as f64 * weight as f64 / total as f64;
                    prop_assert!((count as f64 - share).abs() < 2.0, "{count} for {share}");
                }
                let component = split.next();
                counts[component] += 1;
                let mut again = vec![0; weights.len()];
                split.add_counts(position + 1, &mut again);
                prop_assert_eq!(&again, &counts);
                prop_assert_eq!(
                    split.position_of(component, counts[component]),
                    Some(position + 1)
                );
            }
        }

        #[test]
        fn whole_rounds_are_exact(weights in prop::collection::vec(0..50u64, 1..9)) {
            let total: u64 = weights.iter().sum();
            if total == 0 {
                return Ok(());
            }
            let mut counts = vec![0; weights.len()];
            Split::new(&weights).add_counts(3 * total, &mut counts);
            let expected: Vec<u64> = weights.iter().map(|weight| 3 * weight).collect();
            prop_assert_eq!(counts, expected);
        }
    }

    #[test]
    fn positions_beyond_all_numbers_do_not_exist() {
        let split = Split::new(&[1, 1 << 40]);
        assert_eq!(split.position_of(0, u64::MAX), None);
        assert_eq!(split.position_of(1, 0), Some(0));
    }
}

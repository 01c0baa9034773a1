//! `std::shuffle` of GNU's C++ library with `std::mt19937`: Kaldi's order of shuffled examples.

use rand_mt::Mt;

/// Shuffles as `std::shuffle(begin, end, std::mt19937(seed))` does.
pub(crate) fn shuffle<T>(items: &mut [T], seed: i32) {
    let mut random = Mt::new(seed as u32);
    let count = items.len() as u64;
    if count < 2 {
        return;
    }
    // Two positions are drawn at once if possible.
    let pairs = u64::from(u32::MAX) / count >= count;
    if !pairs {
        for last in 1..items.len() {
            items.swap(last, below(&mut random, last as u64 + 1) as usize);
        }
        return;
    }
    let mut next = 1;
    if count.is_multiple_of(2) {
        items.swap(1, below(&mut random, 2) as usize);
        next = 2;
    }
    while next < items.len() {
        let (first, second) = (next as u64 + 1, next as u64 + 2);
        let drawn = below(&mut random, first * second);
        items.swap(next, (drawn / second) as usize);
        items.swap(next + 1, (drawn % second) as usize);
        next += 2;
    }
}

/// A number from 0 to `count` - 1, as `std::uniform_int_distribution` draws it since GCC 11.
fn below(random: &mut Mt, count: u64) -> u64 {
    if count > u64::from(u32::MAX) {
        // There are more items than 32 bits can number.
        return ((u64::from(random.next_u32()) << 32) | u64::from(random.next_u32())) % count;
    }
    let mut product = u64::from(random.next_u32()) * count;
    let rest = |product: u64| product & u64::from(u32::MAX);
    if rest(product) < count {
        let threshold = ((1 << 32) - count) % count;
        while rest(product) < threshold {
            product = u64::from(random.next_u32()) * count;
        }
    }
    product >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_stay() {
        for count in [0, 1, 2, 5, 100, 70_000] {
            let mut items: Vec<u32> = (0..count).collect();
            shuffle(&mut items, 3);
            assert!(count < 5 || !items.is_sorted());
            items.sort_unstable();
            assert!(items.into_iter().eq(0..count));
        }
    }

    #[test]
    fn order_is_that_of_the_library() {
        // Drawn by a program of C++ for examples of Kaldi.
        let mut items = [0, 1, 2, 3, 4];
        shuffle(&mut items, 1);
        assert_eq!(items, [1, 0, 2, 3, 4]);
    }
}

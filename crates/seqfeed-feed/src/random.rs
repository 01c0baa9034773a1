//! Random numbers that are the same in every version: CNTK's draws, and a permutation with random
//! access.

use rand_mt::{Mt, Mt64};

use crate::settings::Generator;

/// The generators and the uniform draws of CNTK's randomizers.
pub(crate) enum CntkRandom {
    /// C++'s `mt19937_64`, and `a + r % (b - a)` with its slight bias.
    MersenneTwister(Box<Mt64>),
    /// The C library's `rand`; two of its numbers make one.
    Rand(Box<Rand>),
}

impl CntkRandom {
    pub(crate) fn new(generator: Generator, seed: u64) -> Self {
        match generator {
            Generator::MersenneTwister => Self::MersenneTwister(Box::new(Mt64::new(seed))),
            Generator::Rand => Self::Rand(Box::new(Rand::new(seed as u32))),
        }
    }

    /// A number below `n`.
    #[inline]
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        match self {
            Self::MersenneTwister(random) => random.next_u64() % n,
            Self::Rand(random) => {
                // In CNTK the product overflows an `int`, which is then converted to an unsigned
                // number.
                let high = (random.next() as i32).wrapping_mul(RAND_MAX);
                i64::from(high.wrapping_add(random.next() as i32)) as u64 % n
            }
        }
    }
}

/// The order of the chunks of a sweep, as CNTK draws it. Each draw is over the whole range, so the
/// shuffle is not even.
pub(crate) fn chunk_order(random: &mut CntkRandom, chunks: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..chunks as u32).collect();
    for i in 0..chunks {
        order.swap(i, random.below(chunks as u64) as usize);
    }
    order
}

/// The largest number of [`Rand`].
const RAND_MAX: i32 = i32::MAX;

/// `rand` of the GNU C library: each number is the sum of the third and the thirty-first before it.
pub(crate) struct Rand {
    state: [u32; 31],
    at: usize,
}

impl Rand {
    /// The state after `srand(seed)`.
    pub(crate) fn new(seed: u32) -> Self {
        let mut state = [0; 31];
        let mut word = i64::from(seed.max(1) as i32);
        for state in &mut state {
            *state = word as u32;
            word = 16_807 * word % 2_147_483_647;
            if word < 0 {
                word += 2_147_483_647;
            }
        }
        // The three numbers behind them are the first three again.
        let mut random = Self { state, at: 3 };
        for _ in 0..310 {
            random.next();
        }
        random
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u32 {
        let third = self.state[(self.at + 28) % 31];
        let sum = self.state[self.at].wrapping_add(third);
        self.state[self.at] = sum;
        self.at = (self.at + 1) % 31;
        sum >> 1
    }
}

/// The result of `numpy.random.RandomState(seed).shuffle` on `0..n`. All versions of numpy give
/// this order, since programs rely on fixed seeds.
///
/// It is a Fisher-Yates shuffle from the end. An index up to `i` is drawn from the low bits of
/// 32-bit draws; larger numbers are drawn again.
pub(crate) fn numpy_order(seed: u32, n: u32) -> Vec<u32> {
    let mut random = Mt::new(seed);
    let mut order: Vec<u32> = (0..n).collect();
    for i in (1..n).rev() {
        let mask = u32::MAX >> i.leading_zeros();
        let j = loop {
            let j = random.next_u32() & mask;
            if j <= i {
                break j;
            }
        };
        order.swap(i as usize, j as usize);
    }
    order
}

/// Mixes 64 bits (the finalizer of `SplitMix64`).
#[inline]
pub(crate) fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Shuffles a slice evenly, from a seed (Fisher-Yates with `SplitMix64`).
pub(crate) fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut state = seed;
    for i in (1..items.len()).rev() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        // The high half of a product maps 64 random bits onto 0..=i without a division.
        let j = ((u128::from(mix(state)) * (i as u128 + 1)) >> 64) as usize;
        items.swap(i, j);
    }
}

/// A pseudo-random permutation of `0..n` that gives any element at once and needs no table.
///
/// It is a Feistel network of six rounds over the smallest even number of bits that holds `n`. A
/// value outside the range is permuted again until one lies inside (at most four times on average).
pub(crate) struct Permutation {
    n: u64,
    half_bits: u32,
    keys: [u64; 6],
}

impl Permutation {
    pub(crate) fn new(n: u64, seed: u64) -> Self {
        let bits = 64 - n.saturating_sub(1).leading_zeros();
        let mut keys = [0; 6];
        let mut state = seed;
        for key in &mut keys {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            *key = mix(state);
        }
        Self { n, half_bits: bits.div_ceil(2).max(1), keys }
    }

    /// Element number `i` of the permutation.
    #[inline]
    pub(crate) fn at(&self, i: u64) -> u64 {
        debug_assert!(i < self.n);
        let mut x = i;
        loop {
            x = self.encrypt(x);
            if x < self.n {
                return x;
            }
        }
    }

    #[inline]
    fn encrypt(&self, x: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let (mut left, mut right) = (x >> self.half_bits, x & mask);
        for key in self.keys {
            (left, right) = (right, left ^ (mix(right ^ key) & mask));
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_equal_the_standard_generator() {
        // The 10,000th draw of std::mt19937_64 with its default seed is fixed by the C++ standard.
        let mut random = Mt64::new(5489);
        let last = (0..10_000).map(|_| random.next_u64()).last();
        assert_eq!(last, Some(9_981_545_732_273_789_042));
    }

    #[test]
    fn rand_is_that_of_the_c_library() {
        // What a C program prints after srand(1) and srand(42).
        let mut random = Rand::new(1);
        let drawn: Vec<u32> = (0..5).map(|_| random.next()).collect();
        assert_eq!(
            drawn,
            [1_804_289_383, 846_930_886, 1_681_692_777, 1_714_636_915, 1_957_747_793]
        );
        assert_eq!(Rand::new(0).next(), 1_804_289_383);
        let mut random = Rand::new(42);
        assert_eq!([random.next(), random.next()], [71_876_166, 708_592_740]);
    }

    #[test]
    fn a_permutation_has_each_element_once() {
        for n in [1u64, 2, 3, 4, 5, 7, 16, 17, 100, 1000, 4097] {
            let permutation = Permutation::new(n, 42);
            let mut seen = vec![false; n as usize];
            for i in 0..n {
                let x = permutation.at(i) as usize;
                assert!(!std::mem::replace(&mut seen[x], true), "{x} twice of {n}");
            }
        }
    }

    #[test]
    fn a_permutation_looks_random() {
        // Neighbours land far apart, and each of 16 bins gets its share.
        let n = 100_000;
        let permutation = Permutation::new(n, 7);
        let mut distance = 0.0;
        let mut bins = [0u32; 16];
        for i in 0..n - 1 {
            let (a, b) = (permutation.at(i), permutation.at(i + 1));
            distance += a.abs_diff(b) as f64;
            if i < 16_000 {
                bins[(a * 16 / n) as usize] += 1;
            }
        }
        let mean = distance / (n - 1) as f64;
        assert!((mean / n as f64 - 1.0 / 3.0).abs() < 0.01, "mean distance {mean}");
        assert!(bins.iter().all(|&count| (850..1150).contains(&count)), "{bins:?}");
    }

    #[test]
    fn a_shuffle_moves_everything_somewhere() {
        let mut items: Vec<u32> = (0..1000).collect();
        shuffle(&mut items, 3);
        let fixed = items.iter().enumerate().filter(|&(i, &x)| i == x as usize).count();
        assert!(fixed < 10);
        items.sort_unstable();
        assert!(items.iter().enumerate().all(|(i, &x)| i == x as usize));
    }
}

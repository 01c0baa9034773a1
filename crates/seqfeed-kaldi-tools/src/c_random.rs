//! The C library's `rand` (glibc), and Kaldi's draws with it.

/// glibc's `rand` after `srand`: an additive feedback generator, r(i) = r(i - 3) + r(i - 31).
#[derive(Clone, Debug)]
pub(crate) struct CRandom {
    state: [u32; 31],
    next: usize,
}

/// The largest number.
const RAND_MAX: i32 = i32::MAX;

impl CRandom {
    /// The generator after `srand(seed)`.
    pub(crate) fn new(seed: i32) -> Self {
        let seed = if seed == 0 { 1 } else { seed };
        let mut state = [0u32; 31];
        let mut word = i64::from(seed);
        state[0] = seed as u32;
        for slot in &mut state[1..] {
            // By Schrage's method, as in the library. It differs from a modulus if the seed is
            // negative.
            let (high, low) = (word / 127_773, word % 127_773);
            word = 16_807 * low - 2_836 * high;
            if word < 0 {
                word += 2_147_483_647;
            }
            *slot = word as u32;
        }
        let mut random = Self { state, next: 3 };
        for _ in 0..310 {
            random.step();
        }
        random
    }

    /// The generator of a program that never calls `srand`.
    pub(crate) fn never_seeded() -> Self {
        Self::new(1)
    }

    fn step(&mut self) -> u32 {
        let at = self.next;
        let sum = self.state[at].wrapping_add(self.state[(at + 28) % 31]);
        self.state[at] = sum;
        self.next = (at + 1) % 31;
        sum
    }

    /// A number from 0 to 2^31 - 1: C's `rand`.
    pub(crate) fn rand(&mut self) -> i32 {
        (self.step() >> 1) as i32
    }

    /// A number from 0 to `count` - 1: Kaldi's `RandInt`.
    pub(crate) fn below(&mut self, count: i32) -> i32 {
        if count <= 1 { 0 } else { self.rand() % count }
    }

    /// True with a probability: Kaldi's `WithProb`.
    pub(crate) fn with_probability(&mut self, probability: f32) -> bool {
        if probability <= 0.0 {
            return false;
        }
        if probability >= 1.0 {
            // Kaldi draws nothing for 1. For more (which rounding can give) it draws a number that
            // is always below.
            if probability > 1.0 {
                self.rand();
            }
            return true;
        }
        if probability * (RAND_MAX as f32) < 128.0 {
            return self.rand() < RAND_MAX / 128 && self.with_probability(probability * 128.0);
        }
        (self.rand() as f32) < (RAND_MAX as f32 + 1.0) * probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_what_c_draws() {
        let mut random = CRandom::new(1);
        let drawn: Vec<i32> = (0..5).map(|_| random.rand()).collect();
        assert_eq!(
            drawn,
            [1_804_289_383, 846_930_886, 1_681_692_777, 1_714_636_915, 1_957_747_793]
        );
        let mut random = CRandom::new(0);
        assert_eq!(random.rand(), 1_804_289_383);
        let mut random = CRandom::new(42);
        assert_eq!([random.rand(), random.rand()], [71_876_166, 708_592_740]);
    }

    #[test]
    fn probabilities() {
        let mut random = CRandom::new(3);
        assert!(!random.with_probability(0.0));
        assert!(random.with_probability(1.0));
        let hits = (0..10_000).filter(|_| random.with_probability(0.25)).count();
        assert!((2300..2700).contains(&hits), "{hits}");
    }
}

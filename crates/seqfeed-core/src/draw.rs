//! Random numbers of transforms: the same for the same sweep and sequence.

use crate::Key;

/// The seed and the sweep, on which the values of random transforms depend together with the
/// sequence.
///
/// Without a feed it is the draw of seed 0 in sweep 0.
///
/// ```
/// use seqfeed_core::{Draw, Key};
///
/// let draw = Draw::new(7, 2);
/// let first = |key: &str| draw.random(Key(key.as_bytes())).next_u64();
/// assert_eq!(first("utt1"), first("utt1"));
/// assert_ne!(first("utt1"), first("utt2"));
/// assert_ne!(first("utt1"), Draw::new(7, 3).random(Key(b"utt1")).next_u64());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Draw(u64);

impl Draw {
    /// The draw of a sweep (from 0).
    #[must_use]
    pub fn new(seed: u64, sweep: u64) -> Self {
        Self(mix(seed).wrapping_add(mix(sweep.wrapping_mul(STEP))))
    }

    /// The draw of source or transform number `number` inside this one. Each number has a draw of
    /// its own.
    #[must_use]
    pub fn within(self, number: u64) -> Self {
        Self(mix(self.0 ^ WITHIN).wrapping_add(number.wrapping_mul(STEP)))
    }

    /// The random numbers of a sequence. They depend on its key, not on its position.
    #[must_use]
    pub fn random(self, key: Key<'_>) -> Random {
        let words = key.0.chunks(8).map(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        });
        let start = mix(mix(self.0).wrapping_add(key.0.len() as u64));
        Random(words.fold(start, |hash, word| mix(hash ^ word).wrapping_add(STEP)))
    }
}

/// Random numbers, one after another. They are the same on every machine and in every version.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// A number of at least 0 and below 1, with 53 random bits.
    #[inline]
    pub fn next_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A whole number below `n`, each equally likely; 0 if `n` is 0.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        // The high half of a product maps 64 random bits onto the range without a division.
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Two numbers of the normal distribution with mean 0 and deviation 1 (by Box and Muller).
    #[inline]
    pub fn next_normal(&mut self) -> [f64; 2] {
        // The logarithm of 0 is infinite, so 0 must not occur.
        let radius = (-2.0 * (1.0 - self.next_f64()).ln()).sqrt();
        let (sine, cosine) = (std::f64::consts::TAU * self.next_f64()).sin_cos();
        [radius * cosine, radius * sine]
    }
}

/// Separates the draws inside a draw from the draws of other sweeps.
const WITHIN: u64 = 0xd1b5_4a32_d192_ed03;
/// From one state of `SplitMix64` to the next.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes 64 bits (the finalizer of `SplitMix64`).
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_differ_by_seed_sweep_number_and_key() {
        let mut seen = std::collections::HashSet::new();
        for seed in 0..4 {
            for sweep in 0..4 {
                let draw = Draw::new(seed, sweep);
                for draw in [draw, draw.within(0), draw.within(1), draw.within(0).within(1)] {
                    for key in ["", "a", "b", "aaaaaaaa", "aaaaaaaaa", "a\0"] {
                        seen.insert(draw.random(Key(key.as_bytes())).next_u64());
                    }
                }
            }
        }
        assert_eq!(seen.len(), 4 * 4 * 4 * 6);
    }

    #[test]
    fn numbers_are_spread_evenly() {
        let mut random = Draw::new(1, 1).random(Key(b"utt"));
        let mut bins = [0; 10];
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..10_000 {
            bins[random.below(10) as usize] += 1;
            let uniform = random.next_f64();
            assert!((0.0..1.0).contains(&uniform));
            let [a, b] = random.next_normal();
            (sum, squares) = (sum + a + b, squares + a * a + b * b);
        }
        assert!(bins.iter().all(|&count| (850..1150).contains(&count)), "{bins:?}");
        let (mean, variance) = (sum / 20_000.0, squares / 20_000.0);
        assert!(mean.abs() < 0.05 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
        assert_eq!(random.below(0), 0);
    }
}

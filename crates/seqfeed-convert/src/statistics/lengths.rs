//! Lengths of sequences.

use serde::Serialize;

/// The most bins of a histogram.
const BINS: u64 = 16;

/// Lengths of sequences in samples.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Lengths {
    /// The shortest.
    pub min: u32,
    /// The mean.
    pub mean: f64,
    /// The median.
    pub median: u32,
    /// The longest.
    pub max: u32,
}

/// Sequences of about the same length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LengthsBin {
    /// The least length in samples.
    pub from: u32,
    /// The greatest.
    pub to: u32,
    /// The number of sequences.
    pub sequences: u64,
}

impl Lengths {
    pub(super) fn of(mut lengths: Vec<u32>) -> Self {
        if lengths.is_empty() {
            return Self::default();
        }
        lengths.sort_unstable();
        let sum: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
        Self {
            min: lengths[0],
            mean: sum as f64 / lengths.len() as f64,
            median: lengths[lengths.len() / 2],
            max: lengths[lengths.len() - 1],
        }
    }
}

/// The lengths in at most 16 bins of one round width.
pub(super) fn histogram(lengths: &[u32]) -> Vec<LengthsBin> {
    let (Some(&min), Some(&max)) = (lengths.iter().min(), lengths.iter().max()) else {
        return Vec::new();
    };
    let widths = (0..10u32).flat_map(|power| [1u64, 2, 5].map(|digit| digit * 10u64.pow(power)));
    let bins = |width: u64| u64::from(max) / width - u64::from(min) / width + 1;
    let width =
        widths.into_iter().find(|&width| bins(width) <= BINS).unwrap_or(u64::from(u32::MAX));
    let first = u64::from(min) / width;
    let mut counts = vec![0; bins(width) as usize];
    for &length in lengths {
        counts[(u64::from(length) / width - first) as usize] += 1;
    }
    let edge = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let bin = |(number, sequences): (usize, u64)| {
        let from = (first + number as u64) * width;
        LengthsBin { from: edge(from), to: edge(from + width - 1), sequences }
    };
    counts.into_iter().enumerate().map(bin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_round_and_hold_everything() {
        let cases: [(&[u32], usize, (u32, u32)); 5] = [
            (&[], 0, (0, 0)),
            (&[7, 7], 1, (7, 7)),
            (&[110, 315, 200], 11, (100, 119)),
            (&[0, u32::MAX], 9, (0, 499_999_999)),
            (&[1, 16], 16, (1, 1)),
        ];
        for (lengths, bins, first) in cases {
            let found = histogram(lengths);
            assert_eq!(found.len(), bins, "{lengths:?}");
            assert_eq!(found.iter().map(|bin| bin.sequences).sum::<u64>(), lengths.len() as u64);
            if let Some(bin) = found.first() {
                assert_eq!((bin.from, bin.to), first, "{lengths:?}");
            }
        }
    }
}

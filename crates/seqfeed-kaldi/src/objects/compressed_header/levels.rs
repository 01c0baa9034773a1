//! The four levels of a column of the format `CM`. Its values lie between them.

use super::CompressedHeader;

/// Codes of the least value, the lower and the upper quartile and the greatest value of a column.
pub(crate) type LevelCodes = [u16; 4];

/// Their bytes in a file.
pub(crate) const LEVEL_BYTES: usize = 8;

/// The levels before the columns.
pub(crate) fn parse(bytes: [u8; LEVEL_BYTES]) -> LevelCodes {
    let [a, b, c, d, e, f, g, h] = bytes;
    [[a, b], [c, d], [e, f], [g, h]].map(u16::from_le_bytes)
}

/// The values of the codes.
pub(crate) fn values(header: &CompressedHeader, codes: LevelCodes) -> [f32; 4] {
    // Rounded to 32 bits at each step, as by Kaldi.
    let step = header.range * 1.525_902_2e-5_f32;
    codes.map(|code| header.min + step * f32::from(code))
}

/// The levels of a column, from the codes of its values in any order. There must be at least one.
///
/// All levels differ: if the values do not, the codes are spread.
pub(crate) fn of_column(codes: &[u16]) -> LevelCodes {
    let rows = codes.len();
    let mut few = [0; 4];
    let [least, lower, upper, greatest] = if rows < 5 {
        few[..rows].copy_from_slice(codes);
        few[..rows].sort_unstable();
        [0, 1, 2, 3].map(|i| (i < rows).then_some(few[i]))
    } else {
        let quarter = rows / 4;
        quantiles(codes, [quarter, 3 * quarter]).map(Some)
    };
    let least = least.unwrap_or(0).min(65532);
    let lower = lower.map_or(least + 1, |code| code.max(least + 1).min(65533));
    let upper = upper.map_or(lower + 1, |code| code.max(lower + 1).min(65534));
    let greatest = greatest.map_or(upper + 1, |code| code.max(upper + 1));
    [least, lower, upper, greatest]
}

/// The least code, the codes at two places of the sorted codes, and the greatest code.
fn quantiles(codes: &[u16], [low, high]: [usize; 2]) -> LevelCodes {
    let (least, greatest) =
        codes.iter().fold((u16::MAX, 0), |(a, b), &code| (a.min(code), b.max(code)));
    // It goes bit by bit from the first bit in which codes differ. Counting is a loop without
    // branches over neighbours, which is faster here than any sorting.
    let open = 16 - (least ^ greatest).leading_zeros();
    let common = ((u32::from(least) >> open) << open) as u16;
    let (mut a, mut b) = (common, common);
    for bit in (0..open).rev() {
        let (try_a, try_b) = (a | 1 << bit, b | 1 << bit);
        let [below_a, below_b] = count_below(codes, [try_a, try_b]);
        if below_a <= low {
            a = try_a;
        }
        if below_b <= high {
            b = try_b;
        }
    }
    [least, a, b, greatest]
}

/// For each of two codes, the number of codes below it.
fn count_below(codes: &[u16], [a, b]: [u16; 2]) -> [usize; 2] {
    let (mut below_a, mut below_b) = (0, 0);
    // It counts in 16 bits, as wide as the codes, in chunks that do not overflow.
    for codes in codes.chunks(1 << 15) {
        let (mut some_a, mut some_b) = (0u16, 0u16);
        for &code in codes {
            some_a = some_a.wrapping_add(u16::from(code < a));
            some_b = some_b.wrapping_add(u16::from(code < b));
        }
        below_a += usize::from(some_a);
        below_b += usize::from(some_b);
    }
    [below_a, below_b]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_sorting_finds() {
        let mut state = 1u32;
        for rows in (5..300).chain([1000, 70_000]) {
            let mut random = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                state >> 16
            };
            let mask = [0xffff, 0xff00, 0x000f, 0][random() as usize % 4];
            let codes: Vec<u16> = (0..rows).map(|_| (random() as u16) & mask).collect();
            let mut sorted = codes.clone();
            sorted.sort_unstable();
            let quarter = rows / 4;
            let expected = [0, quarter, 3 * quarter, rows - 1].map(|at| sorted[at]);
            assert_eq!(quantiles(&codes, [quarter, 3 * quarter]), expected, "{rows} rows");
        }
    }

    #[test]
    fn levels_differ() {
        assert_eq!(of_column(&[7]), [7, 8, 9, 10]);
        assert_eq!(of_column(&[7; 9]), [7, 8, 9, 10]);
        assert_eq!(of_column(&[65535; 9]), [65532, 65533, 65534, 65535]);
        assert_eq!(of_column(&[9, 5, 700]), [5, 9, 700, 701]);
        assert_eq!(of_column(&[0, 65535, 65535, 65535]), [0, 65533, 65534, 65535]);
    }
}

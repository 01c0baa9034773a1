//! Plain numbers: those with one blank between them, without an exponent, and with at most 15
//! digits. Nearly all numbers are plain.
//!
//! A block of text shows the ends of all its numbers before any of them is read. So a processor
//! works on several numbers at a time, and their lengths and signs, which it cannot predict, cost
//! nothing.
//!
//! All other numbers are left to the loops of `values.rs`, which know all the rules.

use seqfeed_core::number_text::eight_digits;

use super::block::{BEFORE, BLOCK, Block, Window, lowest, window};
use crate::ctf::CtfFloat;
use crate::ctf::number::{nearest, small};

/// Reads plain numbers from `at` on into `row`. Returns their number. The next number would be at
/// `at` then.
#[inline]
pub(super) fn numbers<T: CtfFloat>(text: &[u8], at: &mut usize, row: &mut [T]) -> usize {
    let mut found = 0;
    let mut copy = [0; BEFORE + BLOCK + 8];
    while found < row.len() {
        let window = window(text, *at, &mut copy);
        let block = Block::of(window);
        let misplaced = lowest(block.misplaced());
        let end = lowest(block.stops & !block.blanks);
        let blanks = before(before(block.blanks, end), misplaced);
        let mut tokens = Tokens { window, block, first: 0 };
        let row = &mut row[found..];
        // These are the same for most blocks, unlike the forms of single numbers.
        let signs_or_points = before(block.points | block.minuses, end) != 0;
        let more = if signs_or_points {
            tokens.numbers(blanks, row, Tokens::number)
        } else if block.has_long_numbers() {
            tokens.numbers(blanks, row, Tokens::whole_number)
        } else {
            tokens.short_numbers(blanks, row)
        };
        *at += tokens.first;
        found += more;
        if let Some(end) = end
            && more < row.len()
            && blanks >> tokens.first == 0
            && misplaced.is_none_or(|misplaced| misplaced > end)
        {
            // The last number of the row, or a number before an unusual byte.
            if let Some(value) = tokens.number(end)
                && !matches!(window[BEFORE + end], b'e' | b'E')
            {
                row[more] = value;
                *at += end - tokens.first;
                found += 1;
            }
            break;
        }
        if more == 0 {
            break;
        }
    }
    found
}

/// Reads plain pairs from `at` on, with indices below `dim`. The next pair would be at `at` then.
#[inline]
pub(super) fn pairs<T: CtfFloat>(
    text: &[u8],
    at: &mut usize,
    dim: u32,
    indices: &mut Vec<u32>,
    values: &mut Vec<T>,
) {
    let mut copy = [0; BEFORE + BLOCK + 8];
    loop {
        let window = window(text, *at, &mut copy);
        let block = Block::of(window);
        let mut stops = before(block.stops, lowest(block.misplaced()));
        let start = *at;
        let mut tokens = Tokens { window, block, first: 0 };
        while let Some(colon) = lowest(stops) {
            stops &= stops - 1;
            let Some(end) = lowest(stops) else { break };
            stops &= stops - 1;
            let Some(index) = tokens.digits(tokens.first, colon) else { return };
            if index >= u64::from(dim) || window[BEFORE + colon] != b':' {
                return;
            }
            tokens.first = colon + 1;
            let value = match tokens.digits(tokens.first, end) {
                Some(digits) => T::from_small(digits as u32, false),
                None => match tokens.number(end) {
                    Some(value) => value,
                    None => return,
                },
            };
            let blank = window[BEFORE + end] == b' ';
            if matches!(window[BEFORE + end], b'e' | b'E') {
                return;
            }
            indices.push(index as u32);
            values.push(value);
            tokens.first = end + usize::from(blank);
            *at = start + tokens.first;
            if !blank {
                return;
            }
        }
        if *at == start {
            return;
        }
    }
}

/// The bits below a position.
#[inline(always)]
fn before(bits: u64, place: Option<usize>) -> u64 {
    place.map_or(bits, |place| bits & !(!0 << place))
}

/// The tokens between the stops of a block.
struct Tokens<'t> {
    window: &'t Window,
    block: Block,
    /// The start of the next token in the block.
    first: usize,
}

impl Tokens<'_> {
    /// Reads the tokens that end at `blanks`. Returns their number.
    #[inline(always)]
    fn numbers<T: CtfFloat>(
        &mut self,
        mut blanks: u64,
        row: &mut [T],
        read: impl Fn(&Self, usize) -> Option<T>,
    ) -> usize {
        let mut found = 0;
        for place in row {
            let Some(end) = lowest(blanks) else { break };
            let Some(value) = read(self, end) else { break };
            *place = value;
            found += 1;
            self.first = end + 1;
            blanks &= blanks - 1;
        }
        found
    }

    /// Reads the tokens that end at `blanks`, which all have one to four digits. Returns their
    /// number.
    #[inline(always)]
    fn short_numbers<T: CtfFloat>(&mut self, mut blanks: u64, row: &mut [T]) -> usize {
        const FOUR_OF_ONE_DIGIT: u64 = 0b1010_1010;
        let mut found = 0;
        while let Some(end) = lowest(blanks) {
            let bytes = self.window[BEFORE + self.first..].first_chunk::<8>();
            let Some(bytes) = bytes else { break };
            if (blanks >> self.first) & 0xff == FOUR_OF_ONE_DIGIT
                && let Some(four) = row.get_mut(found..found + 4)
            {
                // In many files many values are 0.
                for (place, digit) in four.iter_mut().zip(bytes.iter().step_by(2)) {
                    *place = T::from_digit(digit.wrapping_sub(b'0'));
                }
                found += 4;
                blanks &= !(0xff << self.first);
                self.first += 8;
                continue;
            }
            let Some(place) = row.get_mut(found) else { break };
            let digits = (u64::from_le_bytes(*bytes) ^ ZEROS as u64) as u32;
            // The bytes before them become zeros.
            let digits = digits << (8 * (4 - (end - self.first)));
            let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff;
            *place = T::from_small(pairs.wrapping_mul(1 + (100 << 16)) >> 16, false);
            found += 1;
            self.first = end + 1;
            blanks &= blanks - 1;
        }
        found
    }

    /// The token up to `end` as a number without a sign or a point. Nothing in it is misplaced.
    #[inline(always)]
    fn whole_number<T: CtfFloat>(&self, end: usize) -> Option<T> {
        Some(T::from_small(self.read_digits(self.first, end)? as u32, false))
    }

    /// One to eight digits.
    #[inline(always)]
    fn digits(&self, first: usize, end: usize) -> Option<u64> {
        let within = !(!0u64 << end);
        if (within & !self.block.digits) >> first != 0 {
            return None;
        }
        self.read_digits(first, end)
    }

    /// One to eight bytes, which are digits.
    #[inline(always)]
    fn read_digits(&self, first: usize, end: usize) -> Option<u64> {
        let len = end - first;
        if len.wrapping_sub(1) >= 8 {
            return None;
        }
        let bytes = self.window[BEFORE + first..].first_chunk()?;
        // The bytes before them become zeros.
        Some(eight_digits((u64::from_le_bytes(*bytes) ^ (ZEROS as u64)) << (64 - 8 * len)))
    }

    /// The token up to `end` as a number that may have a point. Nothing in it is misplaced.
    #[inline(always)]
    fn number<T: CtfFloat>(&self, end: usize) -> Option<T> {
        let negative = (self.block.minuses >> self.first) & 1 != 0;
        let first = self.first + usize::from(negative);
        let len = end - first;
        let behind = 1u64 << len;
        let points = (self.block.points >> first) & (behind - 1);
        // There may be one point, and 15 digits, which make an exact number.
        if points & points.wrapping_sub(1) != 0 || len.wrapping_sub(1) >= 15 {
            return None;
        }
        let bytes = self.window[end..].first_chunk()?;
        let bytes = (u128::from_le_bytes(*bytes) ^ ZEROS) & LAST[len];
        // The number of bytes from the point on.
        let left = len - (points | behind).trailing_zeros() as usize;
        // The digits before the point move to the place of the point.
        let digits = ((bytes & HEAD[left]) << 8) | (bytes & TAIL[left]);
        let digits =
            eight_digits(digits as u64) * 100_000_000 + eight_digits((digits >> 64) as u64);
        // Both are exact, so the single operation rounds correctly.
        nearest(small(digits, negative) / UNITS[left])
    }
}

/// The digit 0 in each byte. An exclusive or with it turns digits into their values.
const ZEROS: u128 = u128::from_ne_bytes([b'0'; 16]);

/// The last bytes of sixteen, by their number.
static LAST: [u128; 16] = {
    let mut masks = [0; 16];
    let mut len = 1;
    while len < 16 {
        masks[len] = !0 << (128 - 8 * len);
        len += 1;
    }
    masks
};

/// The bytes before a point, by the number of bytes from the point on; none if there is no point.
static HEAD: [u128; 16] = {
    let mut masks = [0; 16];
    let mut left = 1;
    while left < 16 {
        masks[left] = !LAST[left];
        left += 1;
    }
    masks
};

/// The bytes after a point, by the number of bytes from the point on; all if there is no point.
static TAIL: [u128; 16] = {
    let mut masks = [!0; 16];
    let mut left = 1;
    while left < 16 {
        masks[left] = LAST[left - 1];
        left += 1;
    }
    masks
};

/// The number of units of the last digit in 1, by the number of bytes from the point on.
static UNITS: [f64; 16] =
    [1.0, 1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ctf::number::number;

    #[test]
    fn plain_numbers_are_read_up_to_what_is_not() {
        let cases: [(&str, &[f64], &str); 11] = [
            ("1 2.5 -3 x", &[1.0, 2.5, -3.0], "x"),
            ("1 2.5|y", &[1.0, 2.5], "|y"),
            ("1.25 22\n", &[1.25, 22.0], "\n"),
            ("1 2  3", &[1.0, 2.0], " 3"),
            ("1 2e5 3", &[1.0], "2e5 3"),
            ("1 .5", &[1.0], ".5"),
            ("1 5. 6", &[1.0, 5.0, 6.0], ""),
            ("1 2-3", &[1.0], "2-3"),
            ("1 +7", &[1.0], "+7"),
            ("1 1.2.3", &[1.0], "1.2.3"),
            (
                "-0.0 123456789012345 1234567890123456",
                &[-0.0, 123456789012345.0],
                "1234567890123456",
            ),
        ];
        for (text, expected, rest) in cases {
            let text = format!("|some longer alias {text}");
            let (mut at, mut row) = (19, [0.0f64; 8]);
            let found = numbers(text.as_bytes(), &mut at, &mut row);
            assert_eq!((&row[..found], &text[at..]), (expected, rest), "{text}");
        }
    }

    #[test]
    fn plain_pairs_are_read_up_to_what_is_not() {
        let cases: [(&str, &[u32], &[f64], &str); 7] = [
            ("1:2 33:0.5 ", &[1, 33], &[2.0, 0.5], ""),
            ("1:2 3:4|", &[1, 3], &[2.0, 4.0], "|"),
            ("1:2 3:4\n", &[1, 3], &[2.0, 4.0], "\n"),
            ("1:2 100:4\n", &[1], &[2.0], "100:4\n"),
            ("1:2 -1:4\n", &[1], &[2.0], "-1:4\n"),
            ("1:2 3:\n", &[1], &[2.0], "3:\n"),
            ("1:2 3 4:1\n", &[1], &[2.0], "3 4:1\n"),
        ];
        for (text, expected_indices, expected, rest) in cases {
            let text = format!("|some longer alias {text}");
            let mut at = 19;
            let (mut indices, mut values) = (Vec::new(), Vec::<f64>::new());
            pairs(text.as_bytes(), &mut at, 100, &mut indices, &mut values);
            let found = (&indices[..], &values[..], &text[at..]);
            assert_eq!(found, (expected_indices, expected, rest), "{text}");
        }
    }

    proptest! {
        #[test]
        fn numbers_are_those_that_are_found_one_by_one(
            text in "[|]alias                ([+-]?[0-9]{0,9}([.][0-9]{0,9})?[ |\t:eEx,]{0,2}){0,30}"
        ) {
            let text = text.as_bytes();
            let (mut at, mut row) = (22, [0.0f32; 25]);
            let found = numbers(text, &mut at, &mut row);
            let mut expected = 22;
            for value in &row[..found] {
                let (number, len) = number::<f32>(&text[expected..]).unwrap();
                prop_assert_eq!(value.to_bits(), number.to_bits());
                expected += len;
                expected += usize::from(text.get(expected) == Some(&b' '));
            }
            prop_assert_eq!(at, expected);
        }
    }
}

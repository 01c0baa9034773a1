//! Processes sixty-four bytes of text at once: finds the ends of numbers, and classifies bytes.

use std::num::NonZeroU64;

use wide::{CmpEq, CmpGt, CmpLt, i8x16};

/// The bytes that are processed at once.
pub(super) const BLOCK: usize = 64;
/// The bytes before them: numbers are read backwards from their ends, or eight bytes forwards.
pub(super) const BEFORE: usize = 16;
/// A block with the bytes around it.
pub(super) type Window = [u8; BEFORE + BLOCK + 8];

/// The window whose block starts at `at`. If the text does not reach that far, it is a copy with
/// line feeds around it.
#[inline(always)]
pub(super) fn window<'t>(text: &'t [u8], at: usize, copy: &'t mut Window) -> &'t Window {
    if let Some(first) = at.checked_sub(BEFORE)
        && let Some(window) = text.get(first..).and_then(<[u8]>::first_chunk)
    {
        return window;
    }
    *copy = [b'\n'; BEFORE + BLOCK + 8];
    let at = at.min(text.len());
    let part = &text[at.saturating_sub(BEFORE)..text.len().min(at + BLOCK + 8)];
    let start = BEFORE - at.min(BEFORE);
    copy[start..start + part.len()].copy_from_slice(part);
    copy
}

/// The classes of a block's bytes. Each has a bit for each byte; the lowest bit is the first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Bytes that end a number: all except digits, points, signs, `,` and `/`.
    pub(super) stops: u64,
    /// Blanks.
    pub(super) blanks: u64,
    /// Digits.
    pub(super) digits: u64,
    /// Decimal points.
    pub(super) points: u64,
    /// `-`.
    pub(super) minuses: u64,
}

impl Block {
    /// The block of a window.
    #[inline(always)]
    pub(super) fn of(window: &Window) -> Self {
        let mut block = Self { stops: 0, blanks: 0, digits: 0, points: 0, minuses: 0 };
        for (part, bytes) in window[BEFORE..BEFORE + BLOCK].as_chunks::<16>().0.iter().enumerate() {
            let bytes: i8x16 = bytemuck::pod_read_unaligned(bytes);
            // Bytes beyond ASCII are negative, so they lie in no range.
            let above = |byte: u8| bytes.cmp_gt(i8x16::splat(byte as i8));
            let below = |byte: u8| bytes.cmp_lt(i8x16::splat(byte as i8));
            let equal = |byte: u8| bytes.cmp_eq(i8x16::splat(byte as i8));
            let bits = |found: i8x16| u64::from(found.move_mask() as u16) << (16 * part);
            let not_above_9 = below(b'9' + 1);
            block.stops |= bits(above(b'+' - 1) & not_above_9);
            block.blanks |= bits(equal(b' '));
            block.digits |= bits(above(b'0' - 1) & not_above_9);
            block.points |= bits(equal(b'.'));
            block.minuses |= bits(equal(b'-'));
        }
        block.stops = !block.stops;
        block
    }

    /// The bytes that cannot stand there in plain numbers between stops: signs not in front, points
    /// in front, stops after stops, `+`, `,` and `/`.
    #[inline(always)]
    pub(super) fn misplaced(&self) -> u64 {
        let fronts = self.stops << 1 | 1;
        let minuses = self.minuses & fronts;
        let behind_fronts = minuses << 1 | fronts & !minuses;
        let points = self.points & !behind_fronts;
        let stops = self.stops & !behind_fronts;
        !(stops | self.digits | minuses | points)
    }

    /// Whether a number has more than four consecutive digits.
    #[inline(always)]
    pub(super) fn has_long_numbers(&self) -> bool {
        let two = self.digits & self.digits >> 1;
        (two & two >> 2 & self.digits >> 4) != 0
    }
}

/// The position of the lowest bit.
#[inline(always)]
pub(super) fn lowest(bits: u64) -> Option<usize> {
    NonZeroU64::new(bits).map(|bits| bits.trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(text: &str) -> Block {
        let mut copy = [0; 88];
        Block::of(window(text.as_bytes(), 0, &mut copy))
    }

    #[test]
    fn bits_say_what_bytes_are() {
        let all: Vec<u8> = (0..16).chain(0..=255).chain(0..72).collect();
        for window in all.windows(88).filter_map(<[u8]>::first_chunk) {
            let mut expected = Block { stops: 0, blanks: 0, digits: 0, points: 0, minuses: 0 };
            for (i, byte) in window[16..80].iter().enumerate() {
                expected.stops |= u64::from(!(b'+'..=b'9').contains(byte)) << i;
                expected.blanks |= u64::from(*byte == b' ') << i;
                expected.digits |= u64::from(byte.is_ascii_digit()) << i;
                expected.points |= u64::from(*byte == b'.') << i;
                expected.minuses |= u64::from(*byte == b'-') << i;
            }
            assert_eq!(Block::of(window), expected);
        }
    }

    #[test]
    fn what_is_misplaced_is_found() {
        assert!(block("1 2345 12345").has_long_numbers());
        assert!(!block("1 2345 1234.5678").has_long_numbers());
        for (text, expected) in [
            ("1 -2 3.5 -4.5 6. 7", ""),
            ("1-2 1", " ^"),
            ("--1", " ^"),
            (".5", "^"),
            ("-.5 7", " ^"),
            ("+1 1,2 /", "^   ^  ^"),
            ("1  2 - ", "  ^   ^"),
        ] {
            let found = block(text).misplaced();
            let found: String =
                (0..text.len()).map(|i| if found >> i & 1 == 1 { '^' } else { ' ' }).collect();
            assert_eq!(found.trim_end(), expected, "{text}");
        }
    }

    #[test]
    fn windows_end_with_the_text() {
        let text: Vec<u8> = (0..200).collect();
        let mut copy = [0; 88];
        for at in 0..=200 {
            let window = window(&text, at, &mut copy);
            for (i, &byte) in window.iter().enumerate() {
                let expected = (at + i).checked_sub(16).and_then(|place| text.get(place));
                assert_eq!(byte, *expected.unwrap_or(&b'\n'), "{at} {i}");
            }
        }
    }
}

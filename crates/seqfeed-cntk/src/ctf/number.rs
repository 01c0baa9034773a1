//! Parses numbers by the rules of CTF.
//!
//! ```text
//! [+-] digits [. [digits]] [(e|E) [+-] digits]        an exponent only behind a digit
//! ```
//!
//! A number goes on as long as it can: `1-2` is `1` and `-2`. `.5`, `nan`, `inf` and `1e` are not
//! numbers; `1.e5` is `1` and then an error.
//!
//! CNTK computes in doubles without regard to rounding. Here values are the nearest ones, as in C's
//! `strtod`. So they sometimes differ from CNTK's in the last bit. CNTK does not accept `0e999`;
//! here it is 0. As in CNTK, a number that is too large is infinite, and `-0` is -0.

use std::ops::Neg;

use fast_float2::FastFloat;
use seqfeed_core::number_text::{POWERS, eight_digits, first_bytes};

/// The powers of ten for up to eight digits.
const INTEGER_POWERS: [u64; 9] =
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// The types of values: `f32` and `f64`.
pub trait CtfFloat: sealed::Float + bytemuck::Pod {}

impl CtfFloat for f32 {}
impl CtfFloat for f64 {}

pub(super) mod sealed {
    /// The operations of a value type that parsing needs.
    pub trait Float:
        super::FastFloat + super::Neg<Output = Self> + Copy + Default + Send + Sync + 'static
    {
        /// A small integer.
        fn from_digit(digit: u8) -> Self;

        /// A number of at most eight digits, with a sign.
        fn from_small(number: u32, negative: bool) -> Self;

        /// The value nearest to a number, from the double nearest to it. The double's magnitude is
        /// 0 or between 1e-37 and 1e38. `None` if the double does not decide it.
        fn from_nearest(value: f64) -> Option<Self>;
    }

    impl Float for f32 {
        #[inline]
        fn from_digit(digit: u8) -> Self {
            Self::from(digit)
        }

        #[inline(always)]
        fn from_small(number: u32, negative: bool) -> Self {
            let value = number as i32 as Self;
            Self::from_bits(value.to_bits() | u32::from(negative) << 31)
        }

        /// The number lies on the same side of each float, and of each midpoint between two floats,
        /// as the double, since these are doubles too. Only if the double is such a midpoint, the
        /// number may lie on either side of it.
        #[inline]
        fn from_nearest(value: f64) -> Option<Self> {
            (value.to_bits() & 0x1fff_ffff != 0x1000_0000).then_some(value as Self)
        }
    }

    impl Float for f64 {
        #[inline]
        fn from_digit(digit: u8) -> Self {
            Self::from(digit)
        }

        #[inline(always)]
        fn from_small(number: u32, negative: bool) -> Self {
            super::small(u64::from(number), negative)
        }

        #[inline]
        fn from_nearest(value: f64) -> Option<Self> {
            Some(value)
        }
    }
}

/// Reads a number at the front of a text. Returns its value and its length.
#[inline(always)]
pub(super) fn number<T: CtfFloat>(text: &[u8]) -> Option<(T, usize)> {
    // In many files most values are labels or sparse.
    if let [digit @ b'0'..=b'9', b' ', ..] = text {
        return Some((T::from_digit(digit - b'0'), 1));
    }
    short_number(text).or_else(|| any_number(text))
}

/// Reads the digits at the front of a text. Returns their value and their number. A value that does
/// not fit becomes the largest number.
#[inline]
pub(super) fn digits(text: &[u8]) -> (u64, usize) {
    if let Some((number, len @ ..8)) = up_to_eight_digits(text, 0) {
        return (number, len);
    }
    let mut number = 0u64;
    let mut len = 0;
    while let Some(digit) = digit(text, len) {
        number = number.saturating_mul(10).saturating_add(u64::from(digit));
        len += 1;
    }
    (number, len)
}

/// A number without an exponent, with at most 7 digits before the point and 8 after it. `None` only
/// means that the slow way is needed.
///
/// All sixteen bytes are processed together. So the end of the number, and the start of the next
/// one, are known long before its value.
#[inline(always)]
fn short_number<T: CtfFloat>(text: &[u8]) -> Option<(T, usize)> {
    let (low, rest) = text.split_first_chunk::<8>()?;
    let high = u64::from_le_bytes(first_bytes(rest));
    let first = low[0];
    let negative = first == b'-';
    // Signs cannot be predicted, so there are no branches. A 0 may take the place of a sign.
    let signed = u64::from(negative | (first == b'+'));
    let low = (u64::from_le_bytes(*low) ^ ZEROS) & !(0xff * signed);
    let high = high ^ ZEROS;
    let whole_ends = others(low);
    let whole = whole_ends.trailing_zeros() / 8;
    if whole <= signed as u32 || whole > 6 {
        return None;
    }
    let whole_digits = eight_digits(low << (64 - 8 * whole));
    let next = (low >> (8 * whole)) as u8;
    if next != b'.' ^ b'0' {
        if (next ^ b'0') | 0x20 == b'e' {
            return None;
        }
        return Some((T::from_nearest(small(whole_digits, negative))?, whole as usize));
    }
    let ends = whole_ends & (whole_ends - 1);
    let end = match ends {
        0 => 8 + others(high).trailing_zeros() / 8,
        ends => ends.trailing_zeros() / 8,
    };
    let fraction = end - whole - 1;
    if fraction == 0 || fraction > 8 || end > 15 {
        return None;
    }
    let at = 8 * (whole + 1);
    let behind = (low >> at) | (high << (64 - at));
    let mantissa = whole_digits * INTEGER_POWERS[fraction as usize]
        + eight_digits(behind << (64 - 8 * fraction));
    // An exponent may follow the digits of a fraction.
    if let Some(b'e' | b'E') = text.get(end as usize) {
        return None;
    }
    // Both are exact, so the single operation rounds correctly.
    let value = small(mantissa, negative) / POWERS[fraction as usize];
    Some((T::from_nearest(value)?, end as usize))
}

/// A number of at most 15 digits, with a sign.
#[inline(always)]
pub(super) fn small(number: u64, negative: bool) -> f64 {
    const SIGNS: [f64; 2] = [1.0, -1.0];
    // Processors convert signed numbers faster.
    number as i64 as f64 * SIGNS[usize::from(negative)]
}

/// The value nearest to a number of at most 15 digits, from the double nearest to it.
#[inline(always)]
pub(super) fn nearest<T: CtfFloat>(value: f64) -> Option<T> {
    T::from_nearest(value)
}

const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The high bit of each byte that is not a digit (0 to 9). A carry comes only out of bytes beyond
/// ASCII. It spoils the bits after them, but no number goes on there.
#[inline(always)]
fn others(bytes: u64) -> u64 {
    (bytes.wrapping_add(0x7676_7676_7676_7676) | bytes) & 0x8080_8080_8080_8080
}

/// At most eight digits at a position: their value and their number. `None` beyond the end.
#[inline(always)]
fn up_to_eight_digits(text: &[u8], at: usize) -> Option<(u64, usize)> {
    let rest = text.get(at..)?;
    let bytes = u64::from_le_bytes(first_bytes(rest)) ^ ZEROS;
    let len = others(bytes).trailing_zeros() / 8;
    // They are moved to the end of eight bytes. It takes two steps, since without digits the shift
    // would be 64 bits.
    let half = 32 - 4 * len;
    Some((eight_digits(bytes << half << half), len as usize))
}

/// Any number, parsed byte by byte.
#[cold]
#[inline(never)]
fn any_number<T: CtfFloat>(text: &[u8]) -> Option<(T, usize)> {
    let negative = text.first() == Some(&b'-');
    let start = usize::from(negative || text.first() == Some(&b'+'));
    let mut decimal = Decimal::default();
    let whole = decimal.digits(text, start);
    if whole == start {
        return None;
    }
    let (mut value_end, mut end) = (whole, whole);
    let mut fraction = 0;
    let mut may_have_exponent = true;
    if text.get(whole) == Some(&b'.') {
        end = decimal.digits(text, whole + 1);
        fraction = end - whole - 1;
        may_have_exponent = fraction > 0;
        value_end = if fraction > 0 { end } else { whole };
    }
    let mut exponent = 0;
    if let Some(b'e' | b'E') = text.get(end)
        && may_have_exponent
    {
        (exponent, end) = read_exponent(text, end + 1)?;
        value_end = end;
    }
    let exponent = exponent - i64::try_from(fraction).ok()?;
    let value = match decimal.value(exponent).and_then(T::from_nearest) {
        Some(value) => value,
        None => fast_float2::parse(&text[start..value_end]).ok()?,
    };
    Some((if negative { -value } else { value }, end))
}

/// The digits of a number.
#[derive(Default)]
struct Decimal {
    mantissa: u64,
    /// The number of digits, without leading zeros.
    count: usize,
}

impl Decimal {
    /// Adds the digits at a position. Returns their end.
    fn digits(&mut self, text: &[u8], start: usize) -> usize {
        let mut at = start;
        while let Some(digit) = digit(text, at) {
            self.mantissa = self.mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
            self.count += usize::from(self.mantissa > 0 || self.count > 0);
            at += 1;
        }
        at
    }

    /// The nearest double, if one exact operation gives it.
    fn value(&self, exponent: i64) -> Option<f64> {
        // 19 digits fit 64 bits.
        if self.count > 19 || self.mantissa > 1 << 53 {
            return None;
        }
        if self.mantissa == 0 {
            return Some(0.0);
        }
        let power = *POWERS.get(usize::try_from(exponent.unsigned_abs()).ok()?)?;
        let mantissa = self.mantissa as f64;
        Some(if exponent < 0 { mantissa / power } else { mantissa * power })
    }
}

/// An exponent, as far as it matters, and its end.
fn read_exponent(text: &[u8], start: usize) -> Option<(i64, usize)> {
    let minus = text.get(start) == Some(&b'-');
    let start = start + usize::from(minus || text.get(start) == Some(&b'+'));
    let (mut exponent, mut at) = (0i64, start);
    while let Some(digit) = digit(text, at) {
        exponent = exponent.saturating_mul(10).saturating_add(i64::from(digit));
        at += 1;
    }
    // A fraction has fewer than 2^62 digits.
    let exponent = exponent.min(1 << 62);
    (at > start).then_some((if minus { -exponent } else { exponent }, at))
}

/// The value of the byte at `at`, if it is a digit.
#[inline]
fn digit(text: &[u8], at: usize) -> Option<u8> {
    text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_end_where_cntk_ends_them() {
        let cases: [(&str, Option<(f64, usize)>); 27] = [
            ("1", Some((1.0, 1))),
            ("-0 ", Some((-0.0, 2))),
            ("+7|", Some((7.0, 2))),
            ("1.", Some((1.0, 2))),
            ("1.e5", Some((1.0, 2))),
            ("12.E5 0000000000000000", Some((12.0, 3))),
            ("1.5.2", Some((1.5, 3))),
            ("1-2", Some((1.0, 1))),
            ("0x10", Some((0.0, 1))),
            ("1e5", Some((1e5, 3))),
            ("1.25E-2z", Some((0.0125, 7))),
            ("1e+03\n", Some((1000.0, 5))),
            ("007", Some((7.0, 3))),
            ("0e999", Some((0.0, 5))),
            ("1e999", Some((f64::INFINITY, 5))),
            ("-1e99999999999999999999999", Some((f64::NEG_INFINITY, 26))),
            ("1e-99999999999999999999999", Some((0.0, 26))),
            ("123456789012345678901234567890.5", Some((123456789012345678901234567890.5, 32))),
            ("0.00000000000000000000000000001", Some((1e-29, 31))),
            ("", None),
            (".5", None),
            ("-.5", None),
            ("+-1", None),
            ("1e", None),
            ("1.5e+", None),
            ("nan", None),
            ("\u{e9}1", None),
        ];
        for (text, expected) in cases {
            let found = number::<f64>(text.as_bytes());
            assert_eq!(found, expected, "{text}");
            assert_eq!(
                found.map(|(value, _)| value.is_sign_negative()),
                expected.map(|(value, _)| value.is_sign_negative())
            );
            let padded = format!("{text}                    ");
            assert_eq!(number::<f64>(padded.as_bytes()), expected, "{text}");
            let single = expected.map(|(value, len)| (value as f32, len));
            assert_eq!(number::<f32>(text.as_bytes()), single, "{text}");
        }
        // The whole number ends with a point and an exponent that is none.
        assert_eq!(any_number::<f32>(b"3.e"), Some((3.0, 2)));
    }

    #[test]
    fn digits_make_numbers() {
        let cases: [(&str, (u64, usize)); 9] = [
            ("", (0, 0)),
            (":", (0, 0)),
            ("-12345678", (0, 0)),
            ("0", (0, 1)),
            ("7:1", (7, 1)),
            ("1234567:1", (1234567, 7)),
            ("12345678:1", (12345678, 8)),
            ("0000000000000000000000123 456", (123, 25)),
            ("99999999999999999999:1", (u64::MAX, 20)),
        ];
        for (text, expected) in cases {
            assert_eq!(digits(text.as_bytes()), expected, "{text}");
            assert_eq!(digits(format!("{text}\u{e9}9999999").as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn middles_between_floats_are_rounded_once() {
        // The nearest double is the middle between two floats; the number lies above or below it.
        for text in ["16777217.0000000001", "16777216.9999999999", "16777217", "9007199791611905"] {
            assert_eq!(number::<f32>(text.as_bytes()).unwrap().0, text.parse::<f32>().unwrap());
        }
    }

    proptest! {
        #[test]
        fn values_are_the_nearest(
            text in "[+-]?[0-9]{1,20}(\\.[0-9]{1,22})?([eE][+-]?[0-9]{1,3})?",
            tail in "[ |\n]?.{0,16}"
        ) {
            let expected = text.parse::<f64>().unwrap();
            prop_assert_eq!(number::<f64>(text.as_bytes()), Some((expected, text.len())));
            let single = text.parse::<f32>().unwrap();
            prop_assert_eq!(number::<f32>(text.as_bytes()), Some((single, text.len())));
            let both = format!("{text}{tail}");
            prop_assert_eq!(number::<f32>(both.as_bytes()), any_number(both.as_bytes()));
        }

        #[test]
        fn both_ways_agree(text in "[0-9.eE+ |-]{0,20}") {
            prop_assert_eq!(number::<f32>(text.as_bytes()), any_number(text.as_bytes()));
            prop_assert_eq!(number::<f64>(text.as_bytes()), any_number(text.as_bytes()));
        }
    }
}

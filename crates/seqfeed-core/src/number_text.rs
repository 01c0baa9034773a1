//! Numbers from text, exactly as C++'s streams read them.
//!
//! The rules are those of `>>` in libstdc++: the longest beginning that is a number is read, and
//! converted with one correct rounding. Kaldi and CNTK read their text so.

/// Digits that always fit 64 bits.
const SAFE_DIGITS: usize = 19;

/// What stands at the front of a text.
struct Decimal {
    negative: bool,
    /// All digits, if there are no more than [`SAFE_DIGITS`].
    digits: Option<u64>,
    exponent: i32,
    len: usize,
}

/// The value of the byte at `at`, if it is a digit.
#[inline]
fn digit(text: &[u8], at: usize) -> Option<u8> {
    text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10)
}

/// Reads digits from `at` on, behind those in `number`: what they make together (if that fits), and
/// where they end.
#[inline]
fn digits(text: &[u8], mut at: usize, mut number: u64) -> (u64, usize) {
    while let Some(eight) = text.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        // Eight bytes at a time: which of them are digits, and what the first of them make.
        let bytes = u64::from_le_bytes(*eight) ^ 0x3030_3030_3030_3030;
        // The high bit of each byte that is no digit. Carries spoil only bytes behind such a one.
        let others = (bytes.wrapping_add(0x7676_7676_7676_7676) | bytes) & 0x8080_8080_8080_8080;
        let count = (others.trailing_zeros() / 8) as usize;
        if count == 0 {
            return (number, at);
        }
        // The digits at the high end, zeros before them; then pairs, fours, all.
        let bytes = bytes << (64 - 8 * count);
        let pairs = bytes.wrapping_mul(10).wrapping_add(bytes >> 8);
        let low = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(0x000f_4240_0000_0064);
        let high = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(0x0000_2710_0000_0001);
        let value = low.wrapping_add(high) >> 32;
        number = number.wrapping_mul(POWERS_U64[count]).wrapping_add(value);
        at += count;
        if count < 8 {
            return (number, at);
        }
    }
    while let Some(digit) = digit(text, at) {
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    (number, at)
}

const POWERS_U64: [u64; 9] =
    [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Reads `[+-]? digits [. digits] [(e|E) [+-]? digits]`. An `e` without digits spoils the number, as
/// it does for C++.
#[inline]
fn scan(text: &[u8]) -> Option<Decimal> {
    let negative = text.first() == Some(&b'-');
    let mut at = usize::from(negative || text.first() == Some(&b'+'));
    let start = at;
    // Few digits stand before the point, mostly.
    let mut number = 0u64;
    while let Some(digit) = digit(text, at) {
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    let mut count = at - start;
    let mut exponent = 0i32;
    if text.get(at) == Some(&b'.') {
        let point = at + 1;
        (number, at) = digits(text, point, number);
        count += at - point;
        exponent = i32::try_from(at - point).map_or(i32::MIN, |fraction| -fraction);
    }
    if count == 0 {
        return None;
    }
    if let Some(b'e' | b'E') = text.get(at) {
        at += 1;
        let minus = text.get(at) == Some(&b'-');
        at += usize::from(minus || text.get(at) == Some(&b'+'));
        let start = at;
        let mut written = 0i32;
        while let Some(digit) = digit(text, at) {
            written = written.saturating_mul(10).saturating_add(i32::from(digit));
            at += 1;
        }
        if at == start {
            return None;
        }
        exponent = exponent.saturating_add(if minus { -written } else { written });
    }
    let digits = (count <= SAFE_DIGITS).then_some(number);
    Some(Decimal { negative, digits, exponent, len: at })
}

/// The powers of ten that 32-bit floats hold exactly.
const POWERS_F32: [f32; 11] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10];

/// The powers of ten that 64-bit floats hold exactly.
const POWERS_F64: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The value with one rounding, where digits and power are exact.
#[inline]
fn quick_f64(decimal: &Decimal) -> Option<f64> {
    let digits = decimal.digits.filter(|&digits| digits < 1 << 53)?;
    let power = *POWERS_F64.get(decimal.exponent.unsigned_abs() as usize)?;
    let digits = digits as f64;
    let value = if decimal.exponent < 0 { digits / power } else { digits * power };
    Some(if decimal.negative { -value } else { value })
}

/// Reads a 32-bit float at the front of a text: its value and its length.
///
/// Nothing if there is no number, or none that fits (`1e40`). What is too small is 0 or subnormal.
/// `inf` and `nan` are no numbers here, as they are none for C++.
///
/// ```
/// use seqfeed_core::number_text::parse_f32;
///
/// assert_eq!(parse_f32(b"1.5e3 next"), Some((1500.0, 5)));
/// assert_eq!(parse_f32(b"1-2"), Some((1.0, 1)));
/// assert_eq!(parse_f32(b"1e"), None);
/// ```
#[must_use]
pub fn parse_f32(text: &[u8]) -> Option<(f32, usize)> {
    let decimal = scan(text)?;
    // The common case: seven digits and a small power.
    if let Some(digits) = decimal.digits.filter(|&digits| digits < 1 << 24)
        && let Some(&power) = POWERS_F32.get(decimal.exponent.unsigned_abs() as usize)
    {
        let digits = digits as f32;
        let value = if decimal.exponent < 0 { digits / power } else { digits * power };
        return Some((if decimal.negative { -value } else { value }, decimal.len));
    }
    if let Some(value) = quick_f64(&decimal) {
        // The double is the nearest one. Rounding it again is right unless it lies where two floats
        // meet; all of these numbers are floats of full precision.
        let below = value.to_bits() & 0x1fff_ffff;
        if !(0x0fff_ffff..=0x1000_0001).contains(&below) {
            return Some((value as f32, decimal.len));
        }
    }
    let value: f32 = fast_float2::parse(unsigned(&text[..decimal.len])).ok()?;
    value.is_finite().then_some((if decimal.negative { -value } else { value }, decimal.len))
}

/// Reads a 64-bit float at the front of a text, as [`parse_f32`] does.
#[must_use]
pub fn parse_f64(text: &[u8]) -> Option<(f64, usize)> {
    let decimal = scan(text)?;
    if let Some(value) = quick_f64(&decimal) {
        return Some((value, decimal.len));
    }
    let value: f64 = fast_float2::parse(unsigned(&text[..decimal.len])).ok()?;
    value.is_finite().then_some((if decimal.negative { -value } else { value }, decimal.len))
}

fn unsigned(text: &[u8]) -> &[u8] {
    match text {
        [b'+' | b'-', rest @ ..] => rest,
        all => all,
    }
}

/// Types of integers that can be read from text.
pub trait ParseInteger: Sized + TryFrom<i128> {
    /// Reads an integer at the front of a text, base 10, perhaps with a sign: its value and its
    /// length. Nothing if there is none, or none that fits the type.
    ///
    /// ```
    /// use seqfeed_core::number_text::ParseInteger;
    ///
    /// assert_eq!(i32::parse_integer(b"+010 next"), Some((10, 4)));
    /// assert_eq!(u8::parse_integer(b"256"), None);
    /// ```
    #[must_use]
    fn parse_integer(text: &[u8]) -> Option<(Self, usize)> {
        let negative = text.first() == Some(&b'-');
        let start = usize::from(negative || text.first() == Some(&b'+'));
        let mut at = start;
        let mut value = 0u64;
        while let Some(digit) = digit(text, at) {
            // Nineteen digits fit always; more are rare.
            value = match at - start < SAFE_DIGITS {
                true => value * 10 + u64::from(digit),
                false => value.checked_mul(10)?.checked_add(u64::from(digit))?,
            };
            at += 1;
        }
        if at == start {
            return None;
        }
        let value = if negative { -i128::from(value) } else { i128::from(value) };
        Self::try_from(value).ok().map(|value| (value, at))
    }
}
impl ParseInteger for i8 {}
impl ParseInteger for i16 {}
impl ParseInteger for i32 {}
impl ParseInteger for i64 {}
impl ParseInteger for u8 {}
impl ParseInteger for u16 {}
impl ParseInteger for u32 {}
impl ParseInteger for u64 {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_as_streams_do() {
        let cases: [(&str, Option<(f32, usize)>); 20] = [
            ("1", Some((1.0, 1))),
            ("-1.5 ", Some((-1.5, 4))),
            (".5", Some((0.5, 2))),
            ("5.", Some((5.0, 2))),
            ("+5", Some((5.0, 2))),
            ("-0", Some((-0.0, 2))),
            ("1e5x", Some((1e5, 3))),
            ("1E-5", Some((1e-5, 4))),
            ("1e+5", Some((1e5, 4))),
            ("0x10", Some((0.0, 1))),
            ("1-2", Some((1.0, 1))),
            ("1e-50", Some((0.0, 5))),
            ("3.4028235e38", Some((f32::MAX, 12))),
            ("0000000000000000000000000000000012", Some((12.0, 34))),
            ("3.4028236e38", None),
            ("1e", None),
            ("1e+", None),
            (".", None),
            ("inf", None),
            ("", None),
        ];
        for (text, expected) in cases {
            let found = parse_f32(text.as_bytes());
            let bits = |found: Option<(f32, usize)>| found.map(|(v, len)| (v.to_bits(), len));
            assert_eq!(bits(found), bits(expected), "{text}");
        }
    }

    #[test]
    fn rounds_once() {
        // Between two floats, and a little to either side: rounding twice would go wrong.
        let middle = "16777217";
        assert_eq!(parse_f32(middle.as_bytes()).unwrap().0, 16_777_216.0);
        for (text, value) in [
            ("16777217.0000000001", 16_777_218.0),
            ("16777216.9999999999", 16_777_216.0),
            ("1.00000005960464477539062", 1.0),
            ("1.00000005960464477539063", 1.000_000_1),
            ("9007199254740993", 9_007_199_300_000_000.0),
        ] {
            assert_eq!(parse_f32(text.as_bytes()).unwrap().0, value, "{text}");
            assert_eq!(parse_f32(text.as_bytes()).unwrap().0, text.parse::<f32>().unwrap());
        }
    }

    proptest! {
        #[test]
        fn equals_the_standard_library(
            text in "[+-]?[0-9]{1,12}(\\.[0-9]{0,14})?([eE][+-]?[0-9]{1,2})?",
            bits: u32,
            wide: u64,
        ) {
            let same = |text: &str| {
                let expected: f32 = text.parse().unwrap();
                let found = parse_f32(text.as_bytes()).map(|(v, len)| (v.to_bits(), len));
                let expected = expected.is_finite().then_some((expected.to_bits(), text.len()));
                assert_eq!(found, expected, "{text}");
                let expected: f64 = text.parse().unwrap();
                let found = parse_f64(text.as_bytes()).map(|(v, len)| (v.to_bits(), len));
                let expected = expected.is_finite().then_some((expected.to_bits(), text.len()));
                assert_eq!(found, expected, "{text}");
            };
            same(&text);
            let float = f32::from_bits(bits);
            if float.is_finite() {
                for digits in [6, 7, 8] {
                    same(&format!("{float:.digits$e}"));
                }
                // Halfway to the next float, exactly.
                let next = f32::from_bits(bits ^ 1);
                if next.is_finite() {
                    same(&format!("{:.60e}", f64::midpoint(f64::from(float), f64::from(next))));
                }
            }
            let double = f64::from_bits(wide);
            if double.is_finite() {
                same(&format!("{double:e}"));
            }
        }

        #[test]
        fn integers(value: i64, other: u64) {
            let text = value.to_string();
            prop_assert_eq!(i64::parse_integer(text.as_bytes()), Some((value, text.len())));
            prop_assert_eq!(i8::parse_integer(text.as_bytes()).map(|v| v.0), text.parse().ok());
            let text = format!("{other}");
            prop_assert_eq!(u64::parse_integer(text.as_bytes()), Some((other, text.len())));
            prop_assert_eq!(i64::parse_integer(text.as_bytes()).map(|v| v.0), text.parse().ok());
            let longer = format!("{text}{text}");
            prop_assert_eq!(u64::parse_integer(longer.as_bytes()).map(|v| v.0), longer.parse().ok());
        }
    }

    #[test]
    fn integers_end_where_they_end() {
        assert_eq!(i32::parse_integer(b"12a"), Some((12, 2)));
        assert_eq!(i32::parse_integer(b"-"), None);
        assert_eq!(i32::parse_integer(b"x"), None);
        assert_eq!(u32::parse_integer(b"-1"), None);
        assert_eq!(i32::parse_integer(b"2147483648"), None);
        assert_eq!(i32::parse_integer(b"-2147483648"), Some((i32::MIN, 11)));
        assert_eq!(i32::parse_integer(b"0x10"), Some((0, 1)));
    }
}

//! Numbers as text, exactly as C prints them.

use std::io::Write;

/// Appends a number as C's `printf("%.{digits}g")` prints it (glibc): `digits` significant digits
/// of the exact binary value, without trailing zeros. The form is scientific if the exponent is
/// below -4, or at least `digits`. Kaldi writes all its text with 7 digits.
///
/// ```
/// use seqfeed_core::float_text::write_g;
///
/// let mut text = Vec::new();
/// for value in [1e10, 1e-5, 0.1 + 0.2, -0.0, f64::NEG_INFINITY] {
///     write_g(&mut text, value, 7);
///     text.push(b' ');
/// }
/// assert_eq!(text, b"1e+10 1e-05 0.3 -0 -inf ");
/// ```
#[inline]
pub fn write_g(out: &mut Vec<u8>, value: f64, digits: usize) {
    let rounded =
        if (1..=MOST_FAST_DIGITS).contains(&digits) { round(value.abs(), digits) } else { None };
    match rounded {
        Some((number, exponent)) => {
            let (Text(low, high), len) =
                lay_out(value.is_sign_negative(), number, exponent, digits);
            // Copying everything and cutting is faster than copying only the used part.
            let text = u128::from(low) | u128::from(high) << 64;
            let start = out.len();
            out.extend_from_slice(&text.to_le_bytes());
            out.truncate(start + len as usize);
        }
        None => write_slowly(out, value, digits.max(1)),
    }
}

/// The most digits for which one operation rounds correctly.
const MOST_FAST_DIGITS: usize = 7;

/// The powers of ten that 64-bit floats hold exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The powers of ten from [`FIRST_BORDER`] on, the nearest doubles.
const BORDERS: [f64; 38] = [
    1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1,
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];
const FIRST_BORDER: i32 = -15;

/// `value` (positive) as a whole number of exactly `digits` digits, and the power of ten of the
/// first digit. `None` if a single rounded operation cannot give it.
///
/// The quotient or product with an exact power of ten is off by at most 2^-30 (half a unit in the
/// last place of a number below 2^24). If it is farther than 2^-28 from a tie, rounding it gives
/// the same as rounding the exact value. Ties and values near them take the slow way, except for
/// products that are exact.
#[inline]
fn round(value: f64, digits: usize) -> Option<(u32, i32)> {
    let binary = (value.to_bits() >> 52) as i32 - 1023;
    // From 1e-15 to 1e21 all needed powers are exact. This also excludes zero, infinities and NaN.
    if !(-50..=70).contains(&binary) {
        return None;
    }
    // log10(2) = 0.30103, so this is the exponent or one less. A border may be inexact, and the
    // value may be just as near to it. Then either exponent will do: the digits come out as
    // 10^digits or 10^(digits-1).
    let less = (binary * 78_913) >> 18;
    let exponent = less + i32::from(value >= BORDERS[(less + 1 - FIRST_BORDER) as usize]);
    let power = digits as i32 - 1 - exponent;
    let number = match power {
        0.. => value * POWERS[power as usize],
        _ => value / POWERS[-power as usize],
    };
    // From 2^52 on doubles are whole numbers. So the sum is rounded to a whole number, ties to
    // even, and the lower bits hold it.
    let sum = number + TWO_TO_52;
    let off = (number - (sum - TWO_TO_52)).abs();
    if off >= 0.5 - TWO_TO_MINUS_28 && !is_exact(value, power) {
        return None;
    }
    let whole = sum.to_bits() as u32;
    if whole == POWERS_U32[digits] {
        return Some((whole / 10, exponent + 1));
    }
    Some((whole, exponent))
}

const TWO_TO_52: f64 = (1u64 << 52) as f64;
const TWO_TO_MINUS_28: f64 = 1.0 / (1 << 28) as f64;

/// Whether the product with that power of ten has no more than 53 bits: 24 bits of a 32-bit float,
/// and 28 of 5^12.
#[cold]
fn is_exact(value: f64, power: i32) -> bool {
    (0..=12).contains(&power) && f64::from(value as f32) == value
}

const POWERS_U32: [u32; 9] =
    [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// The eight digits of a number below 10^8, as bytes from 0 to 9, the first one lowest.
#[inline]
fn eight_digits(number: u32) -> u64 {
    // First two halves of four digits, then pairs, then digits. Each division is one multiplication
    // for all parts.
    let fours = u64::from(number / 10_000) | u64::from(number % 10_000) << 32;
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let pairs = hundreds | (fours - 100 * hundreds) << 16;
    let tens = ((pairs * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | (pairs - 10 * tens) << 8
}

/// Up to sixteen characters, the first one in the lowest byte of the first half.
#[derive(Clone, Copy)]
struct Text(u64, u64);

impl Text {
    /// The same text behind `count` zero bytes, at most seven.
    #[inline]
    fn behind(self, count: u32) -> Self {
        let bits = 8 * count;
        // In two steps, since a shift by 64 bits is not allowed.
        Self(self.0 << bits, self.1 << bits | (self.0 >> 8) >> (56 - bits))
    }

    /// The same text with a point behind the first `whole` characters, at most seven.
    #[inline]
    fn with_point(self, whole: u32) -> Self {
        let point = 1 << (8 * whole);
        let before = self.0 & (point - 1);
        let Self(behind, rest) = Self(self.0 - before, self.1).behind(1);
        Self(before | (point * u64::from(b'.')) | behind, rest)
    }
}

/// The text of a number of `digits` digits, and its length. The first digit stands for
/// `10^exponent`.
///
/// The text is made in registers, without branches on the number of digits: a branch that the
/// processor cannot predict costs more than work that is thrown away.
#[inline]
fn lay_out(negative: bool, number: u32, exponent: i32, digits: usize) -> (Text, u32) {
    const ZEROS: u64 = u64::from_ne_bytes([b'0'; 8]);
    let all = eight_digits(number * POWERS_U32[8 - digits]);
    let significant = 8 - all.leading_zeros() / 8;
    let (text, len);
    if exponent < -4 || exponent >= digits as i32 {
        let used = if significant > 1 { significant + 1 } else { 1 };
        // Two digits suffice: powers here are below 100.
        let sign = if exponent < 0 { b'-' } else { b'+' };
        let power = exponent.unsigned_abs() as u8;
        let power = u32::from_le_bytes([b'e', sign, b'0' + power / 10, b'0' + power % 10]);
        let Text(low, high) = Text(all | ZEROS, ZEROS).with_point(1);
        let all = (u128::from(low) | u128::from(high) << 64) & ((1 << (8 * used)) - 1);
        let all = all | u128::from(power) << (8 * used);
        text = Text(all as u64, (all >> 64) as u64);
        len = used + 4;
    } else {
        // Leading zeros, up to the one before the point.
        let zeros = (-exponent).max(0) as u32;
        let whole = exponent.max(0) as u32 + 1;
        let significant = zeros + significant;
        let Text(low, high) = Text(all, 0).behind(zeros);
        text = Text(low | ZEROS, high | ZEROS).with_point(whole);
        len = if significant > whole { significant + 1 } else { whole };
    }
    let sign = u32::from(negative);
    let Text(low, high) = text.behind(sign);
    (Text(low | (u64::from(b'-') * u64::from(sign)), high), len + sign)
}

/// Takes the exact digits from the standard library, for the few numbers that need it.
#[cold]
fn write_slowly(out: &mut Vec<u8>, value: f64, digits: usize) {
    if value.is_sign_negative() {
        out.push(b'-');
    }
    let value = value.abs();
    if value == 0.0 {
        out.push(b'0');
        return;
    }
    if value.is_nan() || value.is_infinite() {
        out.extend_from_slice(if value.is_nan() { b"nan" } else { b"inf" });
        return;
    }
    // The standard library rounds the exact binary value, ties to even, as C does.
    let mut text = [0u8; 64];
    let mut rest = &mut text[..];
    if write!(rest, "{value:.*e}", (digits - 1).min(40)).is_err() {
        return;
    }
    let length = 64 - rest.len();
    let text = &text[..length];
    let Some(e) = text.iter().position(|&byte| byte == b'e') else { return };
    let exponent = std::str::from_utf8(&text[e + 1..]).ok().and_then(|t| t.parse().ok());
    let exponent: i32 = exponent.unwrap_or(0);
    let mut mantissa: Vec<u8> = text[..e].iter().copied().filter(|&byte| byte != b'.').collect();
    while mantissa.len() > 1 && mantissa.last() == Some(&b'0') {
        mantissa.pop();
    }
    if exponent < -4 || exponent >= digits as i32 {
        out.push(mantissa[0]);
        if mantissa.len() > 1 {
            out.push(b'.');
            out.extend_from_slice(&mantissa[1..]);
        }
        out.push(b'e');
        out.push(if exponent < 0 { b'-' } else { b'+' });
        let exponent = exponent.unsigned_abs();
        if exponent < 10 {
            out.push(b'0');
        }
        out.extend_from_slice(exponent.to_string().as_bytes());
    } else if exponent < 0 {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', -exponent as usize - 1));
        out.extend_from_slice(&mantissa);
    } else {
        let whole = exponent as usize + 1;
        if mantissa.len() <= whole {
            out.extend_from_slice(&mantissa);
            out.extend(std::iter::repeat_n(b'0', whole - mantissa.len()));
        } else {
            out.extend_from_slice(&mantissa[..whole]);
            out.push(b'.');
            out.extend_from_slice(&mantissa[whole..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn g(value: f64, digits: usize) -> String {
        let mut out = Vec::new();
        write_g(&mut out, value, digits);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn prints_as_c_does() {
        // From C's printf.
        let cases = [
            (f64::from(16.586_04_f32), "16.58604", "16.586"),
            (f64::from(2.142_197e-6_f32), "2.142197e-06", "2.1422e-06"),
            (f64::from(0.0001_f32), "0.0001", "0.0001"),
            (9_999_999.5, "1e+07", "1e+07"),
            (16_777_216.0, "1.677722e+07", "1.67772e+07"),
            (f64::from(123_456.7_f32), "123456.7", "123457"),
            (f64::from(f32::from_bits(122)), "1.709584e-43", "1.70958e-43"),
            (f64::from(-2.327_595_5_f32), "-2.327595", "-2.3276"),
            (1234567.0, "1234567", "1.23457e+06"),
            (100.0, "100", "100"),
            (0.0, "0", "0"),
            (1e300, "1e+300", "1e+300"),
        ];
        for (value, seven, six) in cases {
            assert_eq!((g(value, 7), g(value, 6)), (seven.to_owned(), six.to_owned()));
        }
        assert_eq!(g(-f64::NAN, 7), "-nan");
        assert_eq!(g(f64::NAN.abs(), 7), "nan");
    }

    fn check(value: f64, digits: std::ops::RangeInclusive<usize>) {
        for digits in digits {
            let (mut quick, mut slow) = (Vec::with_capacity(64), Vec::with_capacity(64));
            write_g(&mut quick, value, digits);
            write_slowly(&mut slow, value, digits);
            assert!(quick == slow, "{value:e} {digits}: {}", g(value, digits));
        }
    }

    #[test]
    fn both_ways_give_the_same() {
        let mut state = 1u64;
        for _ in 0..200_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // The magnitudes of features, and any bits.
            check(f64::from((state >> 33) as i32 as f32 / 1e6), 6..=7);
            check(f64::from(f32::from_bits((state >> 32) as u32)), 7..=7);
            check(f64::from_bits(state), 7..=7);
            // Sixteenths: ties, many of them.
            check((state >> 37) as f64 / 16.0, 6..=7);
        }
        // Ties, powers of ten and their neighbours, powers of two.
        for power in -60..60 {
            let ten = 10f64.powi(power);
            for tie in [1.0, 0.5, 1.5, 2.5, 9.5, 99.5, 12_345.25, 9_999_999.5, 1_234_567.5] {
                let value = tie * ten;
                for value in [value, value.next_down(), value.next_up(), f64::from(value as f32)] {
                    check(value, 1..=7);
                }
            }
            check(2f64.powi(power), 1..=7);
            check(f64::from(2f32.powi(power).next_down()), 1..=7);
        }
        for power in -330..310 {
            let value: f64 = format!("1e{power}").parse().unwrap();
            for value in [value, value.next_down(), value.next_up(), value * 9.999_999_5] {
                check(value, 1..=7);
                check(f64::from(value as f32), 1..=7);
            }
        }
    }

    /// All 32-bit floats, which takes many minutes; every Nth with `SEQFEED_STRIDE=N`.
    #[test]
    #[ignore = "takes long: cargo test --release -p seqfeed-core -- --ignored"]
    fn both_ways_give_the_same_for_all_floats() {
        let stride = std::env::var("SEQFEED_STRIDE").map_or(1, |stride| stride.parse().unwrap());
        for bits in (0..=u32::MAX).step_by(stride) {
            check(f64::from(f32::from_bits(bits)), 6..=7);
        }
    }

    #[test]
    fn enough_digits_read_back() {
        let mut state = 1u64;
        for _ in 0..2000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let value = f32::from_bits((state >> 32) as u32);
            if value.is_finite() {
                assert_eq!(g(f64::from(value), 9).parse::<f32>().unwrap(), value);
            }
        }
    }
}

//! Numbers from text, exactly as C++'s streams read them, and integers as text.
//!
//! The rules are those of `>>` in libstdc++: the longest prefix that is a number is read, and
//! converted with one correct rounding. Kaldi and CNTK read their text in this way.
//!
//! Most numbers are shorter than sixteen bytes. These are read without a loop. Sixteen bytes are
//! loaded at once. A few operations on all of them find the end of the digits, and six
//! multiplications give the value. So lengths and signs, which no processor can predict, cost no
//! time. All other numbers go to [`fast_float2`].

use fast_float2::FastFloat;

/// The digit 0 in each byte. An exclusive or with it turns digits into their values.
const ZEROS: u128 = u128::from_ne_bytes([b'0'; 16]);

/// The first bytes of a text, filled up with zeros.
#[must_use]
#[inline]
pub fn first_bytes<const N: usize>(text: &[u8]) -> [u8; N] {
    #[cold]
    fn padded<const N: usize>(text: &[u8]) -> [u8; N] {
        let mut bytes = [0; N];
        bytes[..text.len()].copy_from_slice(text);
        bytes
    }
    text.first_chunk().copied().unwrap_or_else(|| padded(text))
}

/// The number of eight digits. Each digit is a byte from 0 to 9; the first one is the lowest byte.
///
/// ```
/// use seqfeed_core::number_text::eight_digits;
///
/// assert_eq!(eight_digits(u64::from_le_bytes([0, 0, 0, 0, 2, 0, 2, 6])), 2026);
/// ```
#[must_use]
#[inline]
pub fn eight_digits(bytes: u64) -> u64 {
    let pairs = bytes.wrapping_mul(10).wrapping_add(bytes >> 8);
    let low = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(100 + (1_000_000 << 32));
    let high = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(1 + (10_000 << 32));
    low.wrapping_add(high) >> 32
}

/// The powers of ten that 64-bit floats hold exactly.
pub const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The number at the front of a text as the nearest double, and its length, if the number is short
/// and its power of ten small. `None` only means that the slow way is needed.
#[inline(always)]
fn parse_quickly(text: &[u8]) -> Option<(f64, usize)> {
    let bytes = u128::from_le_bytes(first_bytes(text)) ^ ZEROS;
    // The high bit of each byte that is not a digit, except for the first byte, which may be a
    // sign. A carry comes only out of bytes beyond ASCII. It spoils the bits behind them, but no
    // number goes on there.
    const ABOVE_9: u128 = u128::from_ne_bytes([0x80 - 10; 16]);
    const HIGH_BITS: u128 = u128::from_ne_bytes([0x80; 16]) & !0xff;
    let others = (bytes.wrapping_add(ABOVE_9) | bytes) & HIGH_BITS;
    if others == 0 {
        return None;
    }
    let first = bytes as u8;
    let signed = is_sign(first);
    if first > 9 && !signed {
        return None;
    }
    // A 0 may take the place of the sign.
    let bytes = bytes & !(0xff * u128::from(signed));
    let whole = (others.trailing_zeros() / 8) as usize;
    let (end, digits, fraction);
    if text.get(whole) == Some(&b'.') {
        let behind = others & (others - 1);
        if behind == 0 {
            return None;
        }
        end = (behind.trailing_zeros() / 8) as usize;
        fraction = end - whole - 1;
        // The digits behind the point move to the place of the point.
        let before = (others ^ (others - 1)) >> 8;
        digits = (bytes & before) | ((bytes >> 8) & !before);
    } else {
        (end, digits, fraction) = (whole, bytes, 0);
    }
    let count = end - usize::from(end > whole);
    if count == usize::from(signed) {
        return None;
    }
    // At most 15 digits, moved to the end of sixteen: the value is below 2^53.
    let digits = digits << (128 - 8 * count);
    let digits = eight_digits(digits as u64) * 100_000_000 + eight_digits((digits >> 64) as u64);
    let digits = digits as f64;
    let (value, len) = if let Some(b'e' | b'E') = text.get(end) {
        scale(digits, fraction, text, end + 1)?
    } else {
        // Both are exact, so the single operation rounds correctly.
        (digits / POWERS[fraction], end)
    };
    let negative = u64::from(first == b'-' ^ b'0');
    Some((f64::from_bits(value.to_bits() | negative << 63), len))
}

/// Whether a byte, exclusively or'ed with `0`, is `+` or `-`.
#[inline]
fn is_sign(byte: u8) -> bool {
    byte == b'-' ^ b'0' || byte == b'+' ^ b'0'
}

/// Scales digits, `fraction` of which are behind the point, by the exponent at `start` in `text`.
/// Returns the value and the end of the exponent.
#[inline(never)]
fn scale(digits: f64, fraction: usize, text: &[u8], start: usize) -> Option<(f64, usize)> {
    let minus = text.get(start) == Some(&b'-');
    let start = start + usize::from(minus || text.get(start) == Some(&b'+'));
    let mut at = start;
    let mut exponent = 0i32;
    while let Some(digit) = digit(text, at) {
        // Larger exponents take the slow way.
        if exponent > 1000 {
            return None;
        }
        exponent = exponent * 10 + i32::from(digit);
        at += 1;
    }
    if at == start {
        return None;
    }
    let exponent = if minus { -exponent } else { exponent } - fraction as i32;
    // Both are exact, so the single operation rounds correctly.
    let power = POWERS.get(exponent.unsigned_abs() as usize)?;
    Some((if exponent < 0 { digits / power } else { digits * power }, at))
}

/// The value of the byte at `at`, if it is a digit.
#[inline]
fn digit(text: &[u8], at: usize) -> Option<u8> {
    text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10)
}

/// Any number at the front of a text, and its length.
#[cold]
#[inline(never)]
fn parse_slowly<T: FastFloat + std::ops::Neg<Output = T>>(text: &[u8]) -> Option<(T, usize)> {
    let negative = text.first() == Some(&b'-');
    let sign = usize::from(negative || text.first() == Some(&b'+'));
    let unsigned = &text[sign..];
    // C++ does not read words, such as infinity, as numbers.
    if !unsigned.first().is_some_and(|&byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let (value, len) = fast_float2::parse_partial::<T, _>(unsigned).ok()?;
    // As in C++, an `e` without an exponent makes the number invalid.
    if let Some(b'e' | b'E') = unsigned.get(len) {
        return None;
    }
    Some((if negative { -value } else { value }, sign + len))
}

/// Reads a 32-bit float at the front of a text: its value and its length.
///
/// Returns `None` if there is no number, or one that does not fit (`1e40`). A number that is too
/// small is 0 or subnormal. As in C++, `inf` and `nan` are not numbers here.
///
/// ```
/// use seqfeed_core::number_text::parse_f32;
///
/// assert_eq!(parse_f32(b"1.5e3 next"), Some((1500.0, 5)));
/// assert_eq!(parse_f32(b"1-2"), Some((1.0, 1)));
/// assert_eq!(parse_f32(b"1e"), None);
/// ```
#[inline]
#[must_use]
pub fn parse_f32(text: &[u8]) -> Option<(f32, usize)> {
    if let Some((value, len)) = parse_quickly(text) {
        // The double is the nearest one. So it lies on the same side of each float, and of each
        // midpoint between two floats, as the exact number, unless it is such a midpoint itself.
        // All these numbers are in the range of floats of full precision.
        if value.to_bits() & 0x1fff_ffff != 0x1000_0000 {
            return Some((value as f32, len));
        }
    }
    parse_slowly(text).filter(|(value, _): &(f32, _)| value.is_finite())
}

/// Reads a 64-bit float at the front of a text, as [`parse_f32`] does.
#[inline]
#[must_use]
pub fn parse_f64(text: &[u8]) -> Option<(f64, usize)> {
    parse_quickly(text)
        .or_else(|| parse_slowly(text).filter(|(value, _): &(f64, _)| value.is_finite()))
}

/// Integer types that can be read from text and written to it.
pub trait ParseInteger: integer::Parts {
    /// Reads an integer at the front of a text, base 10, with or without a sign. Returns its value
    /// and its length, or `None` if there is no integer that fits the type.
    ///
    /// As in C++'s streams, unsigned types take a sign too: `-1` is their largest value. A number
    /// fits if its digits do.
    ///
    /// ```
    /// use seqfeed_core::number_text::ParseInteger;
    ///
    /// assert_eq!(i32::parse_integer(b"+010 next"), Some((10, 4)));
    /// assert_eq!(u16::parse_integer(b"-1"), Some((65535, 2)));
    /// assert_eq!(i16::parse_integer(b"32768"), None);
    /// ```
    #[inline]
    #[must_use]
    fn parse_integer(text: &[u8]) -> Option<(Self, usize)> {
        let (negative, magnitude, len) = parse_magnitude(text)?;
        Self::from_parts(negative, magnitude).map(|value| (value, len))
    }
}

/// Reads an integer at the front of a text: [`ParseInteger::parse_integer`].
#[inline]
#[must_use]
pub fn parse_integer<T: ParseInteger>(text: &[u8]) -> Option<(T, usize)> {
    T::parse_integer(text)
}

/// Whether there is a minus, the value of the digits, and the length.
#[inline]
fn parse_magnitude(text: &[u8]) -> Option<(bool, u64, usize)> {
    // As in `parse_quickly`, with eight bytes.
    let bytes = u64::from_le_bytes(first_bytes(text)) ^ ZEROS as u64;
    let others = (bytes.wrapping_add(0x7676_7676_7676_7676) | bytes) & 0x8080_8080_8080_8000;
    if others == 0 {
        return parse_long_magnitude(text);
    }
    let first = bytes as u8;
    let signed = is_sign(first);
    let end = others.trailing_zeros() / 8;
    if (first > 9 && !signed) || end == u32::from(signed) {
        return None;
    }
    let digits = (bytes & !(0xff * u64::from(signed))) << (64 - 8 * end);
    Some((first == b'-' ^ b'0', eight_digits(digits), end as usize))
}

#[inline(never)]
fn parse_long_magnitude(text: &[u8]) -> Option<(bool, u64, usize)> {
    let negative = text.first() == Some(&b'-');
    let start = usize::from(negative || text.first() == Some(&b'+'));
    let mut at = start;
    let mut magnitude = 0u64;
    while let Some(digit) = digit(text, at) {
        magnitude = magnitude.checked_mul(10)?.checked_add(u64::from(digit))?;
        at += 1;
    }
    (at > start).then_some((negative, magnitude, at))
}

/// Appends an integer, base 10.
///
/// ```
/// use seqfeed_core::number_text::write_integer;
///
/// let mut text = Vec::new();
/// write_integer(&mut text, i64::MIN);
/// assert_eq!(text, b"-9223372036854775808");
/// ```
#[inline]
pub fn write_integer<T: ParseInteger>(out: &mut Vec<u8>, value: T) {
    let (negative, mut left) = value.parts();
    // From the end, two digits at a time. The buffer fits the longest integer with its sign.
    let mut text = [0u8; 24];
    let mut at = text.len();
    while left >= 100 {
        let pair = 2 * (left % 100) as usize;
        left /= 100;
        at -= 2;
        text[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    }
    at -= 2;
    let pair = 2 * left as usize;
    text[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    at += usize::from(left < 10);
    if negative {
        at -= 1;
        text[at] = b'-';
    }
    out.extend_from_slice(&text[at..]);
}

/// Two digits at a time.
const PAIRS: &[u8; 200] = b"0001020304050607080910111213141516171819\
    2021222324252627282930313233343536373839\
    4041424344454647484950515253545556575859\
    6061626364656667686970717273747576777879\
    8081828384858687888990919293949596979899";

mod integer {
    /// The parts of an integer.
    pub trait Parts: Copy {
        /// Whether it is negative, and the value of its digits.
        fn parts(self) -> (bool, u64);

        /// The integer, if the digits fit the type.
        fn from_parts(negative: bool, magnitude: u64) -> Option<Self>;
    }

    macro_rules! signed {
        ($($type:ty)*) => {$(
            impl super::ParseInteger for $type {}
            impl Parts for $type {
                #[inline]
                fn parts(self) -> (bool, u64) {
                    (self < 0, u64::from(self.unsigned_abs()))
                }

                #[inline]
                fn from_parts(negative: bool, magnitude: u64) -> Option<Self> {
                    // The least value has a magnitude of one more than the largest.
                    let most = <$type>::MAX as u64 + u64::from(negative);
                    let value = magnitude as $type;
                    (magnitude <= most).then_some(if negative { value.wrapping_neg() } else { value })
                }
            }
        )*};
    }
    signed!(i8 i16 i32 i64);

    macro_rules! unsigned {
        ($($type:ty)*) => {$(
            impl super::ParseInteger for $type {}
            impl Parts for $type {
                #[inline]
                fn parts(self) -> (bool, u64) {
                    (false, u64::from(self))
                }

                #[inline]
                fn from_parts(negative: bool, magnitude: u64) -> Option<Self> {
                    let value = Self::try_from(magnitude).ok()?;
                    Some(if negative { value.wrapping_neg() } else { value })
                }
            }
        )*};
    }
    unsigned!(u8 u16 u32 u64);
}

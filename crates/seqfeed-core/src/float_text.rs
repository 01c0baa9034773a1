//! Numbers as text, exactly as C prints them.

use std::io::Write;

/// Appends a number as C's `printf("%.{digits}g")` prints it (glibc): `digits` significant digits of
/// the exact binary value, trailing zeros cut, scientific where the exponent is below -4 or not below
/// `digits`. Kaldi writes all its text with 7 digits.
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
pub fn write_g(out: &mut Vec<u8>, value: f64, digits: usize) {
    if value.is_sign_negative() {
        out.push(b'-');
    }
    let value = value.abs();
    if value.is_nan() || value.is_infinite() {
        out.extend_from_slice(if value.is_nan() { b"nan" } else { b"inf" });
        return;
    }
    let digits = digits.max(1);
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

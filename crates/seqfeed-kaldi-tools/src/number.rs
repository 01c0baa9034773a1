//! Numbers in options, segments and messages, in Kaldi's form.

use std::fmt;

use seqfeed_core::float_text::write_g;

/// A number in C++'s default form: with six digits.
pub(crate) struct G(pub(crate) f64);

impl fmt::Display for G {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        write_g(&mut text, self.0, 6);
        f.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

/// An integer of base 10 with white space around it and an optional sign: Kaldi's
/// `ConvertStringToInteger`.
pub(crate) fn integer(text: &str) -> Option<i32> {
    let text = text.trim_matches(is_space);
    // At most one sign: Rust refuses a second one.
    text.parse().ok()
}

/// A real number with white space around it, or one of the names of infinity and NaN: Kaldi's
/// `ConvertStringToReal`. Values beyond the type's range are refused.
pub(crate) fn real(text: &str) -> Option<f64> {
    let text = text.trim_matches(is_space);
    let (negative, magnitude) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let sign = if negative { -1.0 } else { 1.0 };
    match magnitude.to_ascii_lowercase().as_str() {
        "inf" | "infinity" | "1.#inf" => return Some(sign * f64::INFINITY),
        "nan" | "1.#qnan" => return Some(sign * f64::NAN),
        _ => {}
    }
    if !magnitude.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let value: f64 = magnitude.parse().ok()?;
    value.is_finite().then_some(sign * value)
}

/// [`real`] for 32 bits.
pub(crate) fn real32(text: &str) -> Option<f32> {
    let wide = real(text)?;
    if !wide.is_finite() {
        return Some(wide as f32);
    }
    // From the text: rounding twice could give another value.
    let value: f32 = text.trim_matches(is_space).parse().ok()?;
    value.is_finite().then_some(value)
}

/// White space by C's definition.
pub(crate) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\x0b' | '\x0c' | '\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_as_kaldi_does() {
        assert_eq!(integer(" -12 "), Some(-12));
        assert_eq!(integer("+5"), Some(5));
        for bad in ["", "0x10", "1.0", "2147483648", "1 2", "--1"] {
            assert_eq!(integer(bad), None, "{bad}");
        }
        assert_eq!(real("1e-2 "), Some(0.01));
        assert_eq!(real(".5"), Some(0.5));
        assert_eq!(real("-INF"), Some(f64::NEG_INFINITY));
        assert_eq!(real32("0.1"), Some(0.1));
        for bad in ["", "1e400", "1 2", "x", "0x10", "-", "e5", "1e"] {
            assert_eq!(real(bad), None, "{bad}");
        }
        assert_eq!(real32("1e40"), None);
        assert!(real("nan").is_some_and(f64::is_nan));
    }

    #[test]
    fn prints_six_digits() {
        assert_eq!(G(0.907_623_84).to_string(), "0.907624");
        assert_eq!(G(43.0).to_string(), "43");
        assert_eq!(G(1e10).to_string(), "1e+10");
    }
}

use std::fs;

use proptest::prelude::*;
use seqfeed_core::float_text::write_g;

fn g(value: f64, digits: usize) -> String {
    let mut out = Vec::new();
    write_g(&mut out, value, digits);
    String::from_utf8(out).unwrap()
}

/// `%.{digits}g`, put together from the standard library's exact digits as the C standard says.
fn as_the_standard_says(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        let word = if value.is_nan() { "nan" } else { "inf" };
        return format!("{}{word}", if value.is_sign_negative() { "-" } else { "" });
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap();
    let exponent: i32 = exponent.parse().unwrap();
    let cut = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..digits as i32).contains(&exponent) {
        cut(&format!("{value:.*}", (digits as i32 - 1 - exponent) as usize))
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", cut(mantissa), exponent.unsigned_abs())
    }
}

#[test]
fn kaldi_s_floats() {
    let (Some(values), Some(text)) = (super::golden("floats.f32"), super::golden("floats.f32.txt"))
    else {
        return;
    };
    let (values, text) = (fs::read(values).unwrap(), fs::read_to_string(text).unwrap());
    let values = values.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes));
    assert!(values.len() > 30_000 && values.len() == text.lines().count());
    for (value, line) in values.zip(text.lines()) {
        assert_eq!(g(f64::from(value), 7), line);
    }
}

#[test]
fn kaldi_s_doubles() {
    let (Some(values), Some(text)) =
        (super::golden("doubles.f64"), super::golden("doubles.f64.txt"))
    else {
        return;
    };
    let (values, text) = (fs::read(values).unwrap(), fs::read_to_string(text).unwrap());
    let values = values.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes));
    assert!(values.len() == 8000 && values.len() == text.lines().count());
    for (value, line) in values.zip(text.lines()) {
        assert_eq!(g(value, 7), line);
    }
}

#[test]
fn random_bits_of_both_widths() {
    for bits in super::random_bits(30_000) {
        for value in [f64::from(f32::from_bits(bits as u32)), f64::from_bits(bits)] {
            for digits in [6, 7] {
                assert_eq!(g(value, digits), as_the_standard_says(value, digits), "{value:e}");
            }
        }
    }
}

proptest! {
    #[test]
    fn any_number_of_digits(value: f64, digits in 1usize..=17) {
        prop_assert_eq!(g(value, digits), as_the_standard_says(value, digits));
    }

    // Few decimals: exact ties, or almost.
    #[test]
    fn near_ties(whole in -20_000_000i64..20_000_000, power in -12i32..12, digits in 1usize..=8) {
        for value in [whole as f64 / 2.0, whole as f64 / 16.0, whole as f64 * 10f64.powi(power)] {
            prop_assert_eq!(g(value, digits), as_the_standard_says(value, digits));
            let value = f64::from(value as f32);
            prop_assert_eq!(g(value, digits), as_the_standard_says(value, digits));
        }
    }
}

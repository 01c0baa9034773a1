use std::fmt::Debug;
use std::fs;

use proptest::prelude::*;
use seqfeed_core::float_text::write_g;
use seqfeed_core::number_text::{ParseInteger, parse_f32, parse_f64, parse_integer, write_integer};

/// Both widths against the standard library, with different things behind the number.
fn equals_std(text: &str) {
    let single: f32 = text.parse().unwrap();
    let single = single.is_finite().then_some((single.to_bits(), text.len()));
    let double: f64 = text.parse().unwrap();
    let double = double.is_finite().then_some((double.to_bits(), text.len()));
    for behind in ["", " ", "\n-1.5e7 3", " ]\n", "xxxxxxxxxxxxxxxxxxxx", "\u{ff}\u{ff}"] {
        let longer = format!("{text}{behind}");
        let found = parse_f32(longer.as_bytes()).map(|(value, len)| (value.to_bits(), len));
        assert_eq!(found, single, "f32 {longer}");
        let found = parse_f64(longer.as_bytes()).map(|(value, len)| (value.to_bits(), len));
        assert_eq!(found, double, "f64 {longer}");
    }
}

/// What libstdc++'s `stream >> float` does with texts of all sorts: value, failure, place.
#[test]
fn libstdcpp_s_floats() {
    let Some(path) = super::golden("parse_out.txt") else { return };
    let table = fs::read_to_string(path).unwrap();
    for line in table.lines() {
        let (text, rest) = line.strip_prefix('"').unwrap().rsplit_once('"').unwrap();
        let mut rest = rest.split_ascii_whitespace();
        let bits = u32::from_str_radix(rest.next().unwrap(), 16).unwrap();
        let fails = rest.next().unwrap() == "fail=1";
        let len: usize = rest.next().unwrap().strip_prefix("pos=").unwrap().parse().unwrap();
        let found = parse_f32(text.as_bytes()).map(|(value, len)| (value.to_bits(), len));
        assert_eq!(found, (!fails).then_some((bits, len)), "{text}");
    }
    assert!(table.lines().count() > 6000);
}

#[test]
fn longest_beginnings() {
    let cases: [(&str, Option<(f64, usize)>); 44] = [
        ("0", Some((0.0, 1))),
        ("-0", Some((-0.0, 2))),
        ("-0.0e-9", Some((-0.0, 7))),
        ("1", Some((1.0, 1))),
        ("-1.5 ", Some((-1.5, 4))),
        ("+5", Some((5.0, 2))),
        (".5", Some((0.5, 2))),
        ("-.5", Some((-0.5, 3))),
        ("+.5e1", Some((5.0, 5))),
        ("5.", Some((5.0, 2))),
        ("5.e1", Some((50.0, 4))),
        ("1.2.3", Some((1.2, 3))),
        ("1..2", Some((1.0, 2))),
        ("1-2", Some((1.0, 1))),
        ("1+2", Some((1.0, 1))),
        ("1,5", Some((1.0, 1))),
        ("1_0", Some((1.0, 1))),
        ("12abc", Some((12.0, 2))),
        ("0x10", Some((0.0, 1))),
        ("1e5x", Some((1e5, 3))),
        ("1E-5", Some((1e-5, 4))),
        ("1e+05]", Some((1e5, 5))),
        ("1e5.5", Some((1e5, 3))),
        ("1e5e5", Some((1e5, 3))),
        ("1e0000000000000000000000003", Some((1e3, 27))),
        ("0000000000000000000000000000000012.5", Some((12.5, 36))),
        ("1.50000000000000000000000000000000", Some((1.5, 34))),
        ("12\u{ff}3", Some((12.0, 2))),
        ("0e99999999999999999999", Some((0.0, 22))),
        ("", None),
        (" 1", None),
        ("+", None),
        ("-", None),
        (".", None),
        ("-.", None),
        (".e5", None),
        ("e5", None),
        ("+-5", None),
        ("1e", None),
        ("1e+", None),
        ("1.5e-x", None),
        ("12345678901234567890e", None),
        ("inf", None),
        ("-nan", None),
    ];
    for (text, expected) in cases {
        let bits = expected.map(|(value, len)| (value.to_bits(), len));
        let found = parse_f64(text.as_bytes()).map(|(value, len)| (value.to_bits(), len));
        assert_eq!(found, bits, "f64 {text}");
        let bits = expected.map(|(value, len)| ((value as f32).to_bits(), len));
        let found = parse_f32(text.as_bytes()).map(|(value, len)| (value.to_bits(), len));
        assert_eq!(found, bits, "f32 {text}");
    }
}

#[test]
fn the_ends_of_the_ranges() {
    for (text, expected) in [
        ("3.4028235e38", Some(f32::MAX)),
        ("-3.4028235e38", Some(f32::MIN)),
        ("3.4028236e38", None),
        ("1e40", None),
        ("-1e40", None),
        ("1e400", None),
        ("1e99999999999999999999", None),
        ("1e-45", Some(f32::from_bits(1))),
        ("7e-46", Some(0.0)),
        ("7.1e-46", Some(f32::from_bits(1))),
        ("1e-50", Some(0.0)),
        ("-1e-50", Some(-0.0)),
        ("1e-99999999999999999999", Some(0.0)),
        ("1.1754942e-38", Some(f32::from_bits(0x007f_ffff))),
        ("1.1754943e-38", Some(f32::MIN_POSITIVE)),
    ] {
        let found = parse_f32(text.as_bytes());
        let bits = expected.map(|value: f32| (value.to_bits(), text.len()));
        assert_eq!(found.map(|(value, len)| (value.to_bits(), len)), bits, "{text}");
    }
    assert_eq!(parse_f64(b"1.7976931348623157e308"), Some((f64::MAX, 22)));
    assert_eq!(parse_f64(b"1.7976931348623159e308"), None);
    assert_eq!(parse_f64(b"5e-324"), Some((f64::from_bits(1), 6)));
    assert_eq!(parse_f64(b"1e-400"), Some((0.0, 6)));
}

/// Between two floats, exactly and by one in the last digit: rounding twice would go wrong.
#[test]
fn halfway_between_floats() {
    let check = |low: f32| {
        let high = low.next_up();
        let middle = f64::midpoint(f64::from(low), f64::from(high));
        // Doubles have at most 17 significant digits more than they need here: this is exact.
        let exact = format!("{middle:.60e}");
        equals_std(&exact);
        let (mantissa, exponent) = exact.split_once('e').unwrap();
        let mantissa = mantissa.trim_end_matches('0');
        equals_std(&format!("{mantissa}e{exponent}"));
        // The last digit is not 0; its predecessor and what lies behind it.
        let (front, last) = mantissa.split_at(mantissa.len() - 1);
        if let Some(last @ 1..=9) = last.chars().next().and_then(|last| last.to_digit(10)) {
            equals_std(&format!("{front}{}e{exponent}", last - 1));
            equals_std(&format!("{front}{last}1e{exponent}"));
            equals_std(&format!("{front}{}9999999e{exponent}", last - 1));
        }
        // Cut to what fits the quick way.
        for digits in 6..16 {
            equals_std(&format!("{middle:.digits$e}"));
        }
    };
    for bits in super::random_bits(400) {
        // Any float, features, and numbers whose middles are short: from 2^18 to 2^24.
        let unit = (bits >> 40) as f32 / (1 << 24) as f32;
        for low in [f32::from_bits(bits as u32 >> 1), unit, (bits >> 34) as f32 / 64.0] {
            if low.next_up().is_finite() {
                check(low);
            }
        }
    }
    for text in ["16777217", "16777217.0", "16777217.000001", "16777216.999999", "8388609.5"] {
        equals_std(text);
    }
}

#[test]
fn written_floats_read_back() {
    let mut text = Vec::new();
    for bits in super::random_bits(50_000) {
        let single = f32::from_bits(bits as u32);
        let feature = (bits >> 40) as f32 / 1e5 - 80.0;
        for single in [single, feature] {
            if single.is_finite() {
                text.clear();
                write_g(&mut text, f64::from(single), 9);
                let (value, len) = parse_f32(&text).unwrap();
                assert_eq!((value.to_bits(), len), (single.to_bits(), text.len()));
            }
        }
        let double = f64::from_bits(bits);
        if double.is_finite() {
            text.clear();
            write_g(&mut text, double, 17);
            let (value, len) = parse_f64(&text).unwrap();
            assert_eq!((value.to_bits(), len), (double.to_bits(), text.len()));
        }
    }
}

#[test]
fn integers_as_streams_take_them() {
    fn check<T: ParseInteger + PartialEq + Debug>(text: &str, expected: Option<T>, len: usize) {
        let expected = expected.map(|value| (value, len));
        for behind in ["", " ", ".5", " 1234567890", "\u{ff}9"] {
            assert_eq!(parse_integer(format!("{text}{behind}").as_bytes()), expected, "{text}");
        }
    }
    // From libstdc++.
    check("-1", Some(u16::MAX), 2);
    check("-1", Some(u32::MAX), 2);
    check("-1", Some(u64::MAX), 2);
    check("-65535", Some(1u16), 6);
    check::<u16>("-65536", None, 0);
    check("-65536", Some(4_294_901_760u32), 6);
    check::<u16>("65536", None, 0);
    check("-4294967295", Some(1u32), 11);
    check::<u32>("-4294967296", None, 0);
    check("-18446744073709551615", Some(1u64), 21);
    check::<u64>("-18446744073709551616", None, 0);
    check("18446744073709551615", Some(u64::MAX), 20);
    check::<u64>("18446744073709551616", None, 0);
    check("-32768", Some(i16::MIN), 6);
    check::<i16>("-32769", None, 0);
    check::<i16>("32768", None, 0);
    check("-2147483648", Some(i32::MIN), 11);
    check::<i32>("2147483648", None, 0);
    check("-9223372036854775808", Some(i64::MIN), 20);
    check::<i64>("-9223372036854775809", None, 0);
    check::<i64>("9223372036854775808", None, 0);
    check("+5", Some(5), 2);
    check("010", Some(10), 3);
    check("-0", Some(0u64), 2);
    check("00000000000000000000000000012", Some(12i16), 29);
    check("0x10", Some(0), 1);
    check("1e5", Some(1), 1);
    for text in ["", "+-5", "-", "+", "x", " 1", ".5", "-x"] {
        check::<i32>(text, None, 0);
        check::<u64>(text, None, 0);
    }
}

proptest! {
    #[test]
    fn decimal_strings_of_all_shapes(
        whole in "[+-]?[0-9]{1,25}",
        zeros in "(0\\.0{0,30})?",
        fraction in "(\\.[0-9]{0,25})?",
        exponent in "([eE][+-]?[0-9]{1,3})?",
    ) {
        equals_std(&format!("{whole}{fraction}{exponent}"));
        equals_std(&format!("{whole}{exponent}"));
        let digits = whole.trim_start_matches(['+', '-']);
        equals_std(&format!("{zeros}{digits}{exponent}"));
        if fraction.len() > 1 {
            equals_std(&format!("{fraction}{exponent}"));
        }
    }

    #[test]
    fn short_decimal_strings(text in "[+-]?[0-9]{0,5}\\.[0-9]{1,9}([eE][+-]?[0-9]{1,2})?") {
        equals_std(&text);
    }

    #[test]
    fn any_bytes_are_taken(text: Vec<u8>, front in "[-+.0-9eE]{0,20}") {
        let all = [front.as_bytes(), &text].concat();
        let lens = [parse_f32(&all).map(|found| found.1), parse_f64(&all).map(|found| found.1)];
        for len in lens.into_iter().flatten() {
            let number = std::str::from_utf8(&all[..len]).unwrap();
            prop_assert!(number.parse::<f64>().is_ok());
            prop_assert!(!all.get(len).is_some_and(u8::is_ascii_digit));
        }
        if let Some((value, len)) = parse_integer::<i64>(&all) {
            prop_assert_eq!(std::str::from_utf8(&all[..len]).unwrap().parse(), Ok(value));
        }
    }

    #[test]
    fn integers_both_ways(signed: i64, unsigned: u64, shift in 0u32..64) {
        let (signed, unsigned) = (signed >> shift, unsigned >> shift);
        let mut text = Vec::new();
        write_integer(&mut text, signed);
        prop_assert_eq!(std::str::from_utf8(&text), Ok(&*signed.to_string()));
        prop_assert_eq!(parse_integer(&text), Some((signed, text.len())));
        let narrow = |all: &str| (all.parse::<i32>().ok(), all.parse::<i16>().ok());
        let found = (parse_integer::<i32>(&text), parse_integer::<i16>(&text));
        let found = (found.0.map(|(value, _)| value), found.1.map(|(value, _)| value));
        prop_assert_eq!(found, narrow(&signed.to_string()));
        text.clear();
        write_integer(&mut text, unsigned);
        prop_assert_eq!(std::str::from_utf8(&text), Ok(&*unsigned.to_string()));
        prop_assert_eq!(parse_integer(&text), Some((unsigned, text.len())));
        let digits = format!("{unsigned}{signed}").replace('-', "");
        let found = parse_integer::<u64>(digits.as_bytes()).map(|(value, _)| value);
        prop_assert_eq!(found, digits.parse().ok());
    }
}

#[test]
fn integers_of_all_widths_are_written() {
    let mut text = Vec::new();
    write_integer(&mut text, i8::MIN);
    write_integer(&mut text, i16::MIN);
    write_integer(&mut text, i32::MIN);
    write_integer(&mut text, i64::MIN);
    assert_eq!(text, b"-128-32768-2147483648-9223372036854775808");
    text.clear();
    write_integer(&mut text, u8::MAX);
    write_integer(&mut text, u16::MAX);
    write_integer(&mut text, u32::MAX);
    write_integer(&mut text, u64::MAX);
    assert_eq!(text, b"25565535429496729518446744073709551615");
    for value in (0..2000).chain([9999, 10_000, 99_999, 100_000, 999_999_999]) {
        text.clear();
        write_integer(&mut text, value);
        assert_eq!(text, value.to_string().as_bytes());
    }
}
